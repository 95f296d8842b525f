// The bodies of loop kernels and of other steps that stand for several equations.
#pragma once
#include "optimize/fuse.h"

namespace anadrome {

/// One equation for `members` (equations of `program`, ascending), giving `results`. Numbers other than 0, 1 and -1
/// become operands, so that kernels that differ in them are one.
Equation kernel_equation(const Program& program, const std::vector<std::uint32_t>& members,
                         const std::vector<VarId>& results);
/// One equation for a product and the transpose of its result.
Equation turned_product_equation(const Program& program, std::uint32_t dot, std::uint32_t transpose);
/// One equation for a product step (dot_general or turned_product) and the kernel that adds its result to an array.
Equation added_product_equation(const Program& program, std::uint32_t product, std::uint32_t add);
/// One equation for steps that run block by block; `members` and `results` as for kernel_equation.
Equation blocked_equation(const Program& program, const std::vector<std::uint32_t>& members,
                          const std::vector<VarId>& results);

}  // namespace anadrome
