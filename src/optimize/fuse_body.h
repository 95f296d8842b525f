// The body of a loop kernel.
#pragma once
#include "optimize/fuse.h"

namespace anadrome {

/// One equation for `members` (equations of `program`, ascending), giving `results`. Numbers other than 0, 1 and -1
/// become operands, so that kernels that differ in them are one.
Equation kernel_equation(const Program& program, const std::vector<std::uint32_t>& members,
                         const std::vector<VarId>& results);
/// One equation for a product and the transpose of its result.
Equation turned_product_equation(const Program& program, std::uint32_t dot, std::uint32_t transpose);

}  // namespace anadrome
