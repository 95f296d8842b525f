// Shapes: extents of an array; also the type of every list of integers in the attributes of primitives.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "anadrome/detail/inline_vector.h"
#include "anadrome/dtype.h"

namespace anadrome {

/// One extent. Accepts any integer type, so that `{v.size(), 3}` is not a narrowing error.
struct Dim {
  std::int64_t value;
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr Dim(T v) : value(static_cast<std::int64_t>(v)) {}
};

/// The extents of an array, outermost first. Rank 0 and extent 0 are ordinary.
class Shape : public detail::InlineVector<std::int64_t, 4> {
  using Base = detail::InlineVector<std::int64_t, 4>;

 public:
  Shape() = default;
  Shape(std::initializer_list<Dim> dims) {
    reserve(static_cast<std::uint32_t>(dims.size()));
    for (Dim d : dims) push_back(d.value);
  }
  template <std::forward_iterator It>
  Shape(It first, It last) : Base(first, last) {}

  /// Number of axes.
  int rank() const { return static_cast<int>(size()); }
  /// Number of elements: the product of the extents, 1 for rank 0.
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (std::int64_t d : *this) n *= d;
    return n;
  }
  friend bool operator==(const Shape& a, const Shape& b) {
    return static_cast<const Base&>(a) == static_cast<const Base&>(b);
  }
};
/// A list of integers: axes, starts, strides.
using Ints = Shape;

/// "[2,3]".
std::string to_string(const Shape& shape);

/// The type of a value of a program: dtype, shape, and whether it is a mutable reference.
struct Type {
  DType dtype = DType::f32;
  Shape shape;
  bool is_ref = false;

  int rank() const { return shape.rank(); }
  std::int64_t elements() const { return shape.elements(); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * item_size(dtype); }
  friend bool operator==(const Type&, const Type&) = default;
};
/// "f32[2,3]"; references read "Ref{f32[2,3]}".
std::string to_string(const Type& type);

}  // namespace anadrome
