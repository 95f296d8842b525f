// Along which axes the operands and results of a step run, when the step is done range by range.
#pragma once
#include <optional>
#include <vector>

#include "native/loop_nest.h"
#include "primitives/strided.h"

namespace anadrome::blocks {

/// An operand of which every range needs all.
inline constexpr int whole = -1;

/// How a step is cut: what range [begin, end) of `extent` reads and writes.
struct StepAxes {
  std::int64_t extent = 1;
  std::vector<int> operands, results;  // the axis of each that the range cuts, or whole
  std::int64_t per_index = 1;          // of a kernel: indices of its ranged loop for one of the axis
  std::int64_t multiple = 1;           // ranges begin at multiples of this
  std::int64_t least = 1;              // the last range is at least so long
  bool counts = false;                 // a kernel that needs to know where its range begins
};

/// The axes of a loop kernel along the loop of which its code runs a range; empty where a range would read or write
/// elsewhere too.
std::optional<StepAxes> kernel_axes(const Program& body, const LoopNest& nest);

/// The axes of a product (dot_general or turned_product) whose result is cut along `axis`.
StepAxes product_axes(const Program& program, const Equation& product, int axis);

/// The dimension numbers of a product (dot_general, turned_product, added_product), and which axis of it each axis of the
/// result is.
struct ProductAxes {
  DotAttr dims;
  Ints perm;
};
ProductAxes product_of(const Program& program, const Equation& product);
/// Elements between neighbours of the row-major result along each axis of the product.
Strides product_view(const ProductAxes& product, const Shape& result);

/// For the equations of `body`, whose loop kernels have `nests` (null for products): axes that cut what is handed from one
/// to another the same way. Empty if there are none.
std::optional<std::vector<StepAxes>> shared_axes(const Program& body, const std::vector<const LoopNest*>& nests);

}  // namespace anadrome::blocks
