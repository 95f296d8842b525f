// Products of vectors, matrices and higher arrays. Operands are promoted to one dtype (b1 alone becomes i32);
// integers wrap; bf16 and f16 are multiplied and summed in float32. All are differentiable to any order.
// Every function throws TypeError for extents that do not fit, for complex arrays and for an empty handle.
#pragma once
#include <string_view>

#include "anadrome/array.h"

namespace anadrome {

/// numpy's dot: the last axis of `a` with the second-to-last (or only) axis of `b`; the product for rank 0.
/// dot(f32[2,3], f32[3,5]) is f32[2,5]. Records one contraction.
Array dot(const Operand& a, const Operand& b);
/// numpy's matmul: matrices in the last two axes, axes before them broadcast; a vector is a row on the left,
/// a column on the right. Throws TypeError for rank 0.
Array matmul(const Operand& a, const Operand& b);

/// Axes of `dot_general`, in pairs: contract_lhs[i] with contract_rhs[i], batch_lhs[i] with batch_rhs[i].
struct DotAxes {
  Ints contract_lhs, contract_rhs, batch_lhs, batch_rhs;
};
/// Multiplies and sums over the contracted pairs, for each position of the batch pairs. Result axes: batch,
/// the other axes of `lhs`, the other axes of `rhs`.
Array dot_general(const Operand& lhs, const Operand& rhs, const DotAxes& axes);

/// Sums over the last `axes` axes of `a` with the first ones of `b`; 0 gives all products.
Array tensordot(const Operand& a, const Operand& b, std::int64_t axes = 2);
/// Sums over pairs of named axes.
Array tensordot(const Operand& a, const Operand& b, const Ints& a_axes, const Ints& b_axes);
/// Einstein summation: `einsum("ij,jk->ik", a, b)`. Letters that are missing on the right are summed; without
/// "->" the letters that occur once stay, in alphabetic order. "..." stands for axes that broadcast; a letter
/// twice in one operand takes its diagonal. Three operands are multiplied pairwise, cheapest pair first.
Array einsum(std::string_view subscripts, const Operand& a);
Array einsum(std::string_view subscripts, const Operand& a, const Operand& b);
Array einsum(std::string_view subscripts, const Operand& a, const Operand& b, const Operand& c);

/// All products of the elements of `a` and of `b`: a matrix.
Array outer(const Operand& a, const Operand& b);
/// Sums over the last axes of both.
Array inner(const Operand& a, const Operand& b);
/// The sum of the products of all elements. Throws TypeError for different sizes.
Array vdot(const Operand& a, const Operand& b);
/// The Kronecker product.
Array kron(const Operand& a, const Operand& b);
/// The vector product of vectors of 3 in the last axes, which broadcast before them.
Array cross(const Operand& a, const Operand& b);
/// The polynomial with coefficients `p` (highest power first, rank 1) at x.
Array polyval(const Operand& p, const Operand& x);

}  // namespace anadrome
