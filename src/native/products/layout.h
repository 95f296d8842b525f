// From dot_general to loops around one matrix product.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/attrs.h"
#include "primitives/strided.h"

namespace anadrome::products {

/// An axis that several matrices lie along; strides count elements, 0 where an operand does not move.
struct Loop {
  std::int64_t extent, lhs, rhs, out;
  friend bool operator==(const Loop&, const Loop&) = default;
};

/// out [m][n] = lhs [m][k] rhs [k][n], at every position of the loops.
struct Layout {
  std::vector<Loop> outer;  // batch, and row axes that do not merge with the innermost
  std::vector<Loop> inner;  // column axes that do not merge with the innermost
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t lhs_row = 1, lhs_column = 1, rhs_row = 1, rhs_column = 1, out_row = 1, out_column = 1;
  bool swapped = false;  // lhs and rhs have changed places, since the result lies the other way round
  /// Copies that come first: to a row-major operand, where axes that belong together do not run on.
  std::optional<Loops> lhs_copy, rhs_copy;
};

/// How an operand or result lies in memory: elements between neighbours along each axis; empty means
/// row-major.
using View = std::span<const std::int64_t>;

/// Axes of extent 1 vanish, neighbouring axes that run on in all operands become one.
Layout layout_of(const DotAttr& dims, const Shape& lhs, const Shape& rhs, View lhs_view = {},
                 View rhs_view = {}, View out_view = {});

}  // namespace anadrome::products
