// Diagonal: an array that is zero except where some of its axes agree, kept as the numbers that are not zero.
#pragma once
#include "optimize/rewrite.h"

namespace anadrome {

/// The axes of the array are made of *factors*, named 0, 1, ... in order of their first place; the extents of the
/// factors of an axis multiply to its own (none for extent 1). A factor at two places ties them: elements whose indices
/// differ there are zero. `value` holds the others; its axes are the factors `order`, rising; it does not depend on
/// factors it lacks. An identity matrix is axes {{0}, {0}} with the value 1.
struct Diagonal {
  std::vector<Ints> axes;
  Shape extent;  // by factor
  Atom value;
  Ints order;
};

/// Numbers that depend on some factors.
struct Spread {
  Atom value;
  Ints order;
};

inline bool has(const Ints& list, std::int64_t v) { return std::find(list.begin(), list.end(), v) != list.end(); }
/// All factors in the order of the axes, with repeats.
Ints flattened(const std::vector<Ints>& axes);
/// The factors at more than one place.
Ints tied(const Diagonal& d);
Shape shape_of(const Diagonal& d);
/// The extents of `factors`.
Shape extents(const Shape& extent, const Ints& factors);
bool is_one(const Atom& a);

/// Transposes `x` so that its factors rise.
Spread sorted(Rewriter& r, const Spread& x);
/// `x`, whose factors rise, with the factors `order`, rising, a superset; rank 0 stays rank 0.
Atom spread_to(Rewriter& r, const Spread& x, const Ints& order, const Shape& extent);
/// An elementwise primitive on numbers spread over factors.
Spread combine(Rewriter& r, const Prim& prim, const Attrs& attrs, std::span<const Spread> operands,
               const Shape& extent);
/// Names the factors by first place, and joins those that always stand together.
Diagonal normal(Rewriter& r, Diagonal d);
/// The factors of a reshaped array, splitting where needed; nothing if the shapes cut factors unevenly.
std::optional<Diagonal> reshaped(Rewriter& r, Diagonal d, const Shape& shape);
/// The array with its zeros: padding and movement only.
Atom dense(Rewriter& r, const Diagonal& d);

}  // namespace anadrome
