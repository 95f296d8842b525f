// Public products of vectors, matrices and higher arrays.
#include <algorithm>

#include "anadrome/ops/linear.h"
#include "api/contract.h"
#include "primitives/batching.h"

namespace anadrome {

namespace {

/// The operands in their common dtype; b1 becomes i32.
std::pair<Array, Array> numbers(const Operand& a, const Operand& b, std::string_view what) {
  DType dtype = common_dtype({&a, &b}, what);
  if (is_bool(dtype)) dtype = i32;
  return {as_dtype(a, dtype, what), as_dtype(b, dtype, what)};
}

void check_contracted(const Array& a, std::int64_t a_axis, const Array& b, std::int64_t b_axis,
                      std::string_view what) {
  if (a.shape()[a_axis] == b.shape()[b_axis]) return;
  refuse(what, "contracted axes differ: axis " + std::to_string(a_axis) + " of the left operand has " +
                   std::to_string(a.shape()[a_axis]) + ", axis " + std::to_string(b_axis) +
                   " of the right has " + std::to_string(b.shape()[b_axis]) + " (" + to_string(a.type()) +
                   " x " + to_string(b.type()) + "). Transpose or reshape one of them.");
}

Array dot_axes(const Array& a, const Ints& a_axes, const Array& b, const Ints& b_axes,
               std::string_view what) {
  if (a_axes.size() != b_axes.size())
    refuse(what, std::to_string(a_axes.size()) + " axes of the left operand, " +
                     std::to_string(b_axes.size()) + " of the right. Give them in pairs.");
  for (std::size_t i = 0; i < a_axes.size(); ++i) check_contracted(a, a_axes[i], b, b_axes[i], what);
  return op::dot_general(a, b, {a_axes, b_axes, {}, {}});
}

Ints wrapped(const Ints& axes, int rank, std::string_view what) {
  Ints list;
  for (std::int64_t axis : axes) list.push_back(normalize_axis(axis, rank, what));
  return list;
}

Array flat(const Array& x) {
  return op::reshape(x, {x.size()});
}

/// `x` with its axes interleaved with axes of extent 1, after them (left) or before them (right), spread to
/// `shape`.
Array interleaved(const Array& x, const Shape& shape, bool left) {
  Ints dims;
  for (int k = 0; k < x.rank(); ++k) dims.push_back(shape.rank() - 2 * (x.rank() - k) + (left ? 0 : 1));
  return op::broadcast_in_dim(x, shape, dims);
}

/// Component i of vectors in the last axis.
Array component(const Array& x, std::int64_t i) {
  const int last = x.rank() - 1;
  return cut(x, last, i, i + 1);
}

}  // namespace

Array dot(const Operand& left, const Operand& right) {
  AtSource at(left.source());
  const auto [a, b] = numbers(left, right, "dot");
  if (a.rank() == 0 || b.rank() == 0) return op::mul(a, b);
  return dot_axes(a, {a.rank() - 1}, b, {std::max(b.rank() - 2, 0)}, "dot");
}

Array matmul(const Operand& left, const Operand& right) {
  AtSource at(left.source());
  const auto [a, b] = numbers(left, right, "matmul");
  if (a.rank() == 0 || b.rank() == 0)
    refuse("matmul", "needs at least one axis (" + to_string(a.type()) + " x " + to_string(b.type()) +
                         "). Write a * b for a number.");
  check_contracted(a, a.rank() - 1, b, std::max(b.rank() - 2, 0), "matmul");
  if (a.rank() <= 2 && b.rank() <= 2)
    return op::dot_general(a, b, {{a.rank() - 1}, {std::max(b.rank() - 2, 0)}, {}, {}});
  // Labels: batch axes are negative, counted from the last one; rows 0, contracted 1, columns 2.
  const auto batches = [](int n) { return axes_between(-n, 0); };
  const int a_batches = std::max(a.rank() - 2, 0), b_batches = std::max(b.rank() - 2, 0);
  Ints a_labels = batches(a_batches), b_labels = batches(b_batches),
       result = batches(std::max(a_batches, b_batches));
  if (a.rank() > 1) a_labels.push_back(0), result.push_back(0);
  a_labels.push_back(1), b_labels.push_back(1);
  if (b.rank() > 1) b_labels.push_back(2), result.push_back(2);
  return contract({{a, a_labels}, {b, b_labels}}, result, "matmul");
}

Array dot_general(const Operand& lhs, const Operand& rhs, const DotAxes& axes) {
  AtSource at(lhs.source());
  const auto [a, b] = numbers(lhs, rhs, "dot_general");
  return op::dot_general(
      a, b,
      {wrapped(axes.contract_lhs, a.rank(), "dot_general"),
       wrapped(axes.contract_rhs, b.rank(), "dot_general"), wrapped(axes.batch_lhs, a.rank(), "dot_general"),
       wrapped(axes.batch_rhs, b.rank(), "dot_general")});
}

Array tensordot(const Operand& left, const Operand& right, std::int64_t axes) {
  AtSource at(left.source());
  const auto [a, b] = numbers(left, right, "tensordot");
  if (axes < 0 || axes > a.rank() || axes > b.rank())
    refuse("tensordot",
           std::to_string(axes) + " axes of " + to_string(a.type()) + " and " + to_string(b.type()) + ".");
  return dot_axes(a, axes_between(a.rank() - axes, a.rank()), b, axes_between(0, axes), "tensordot");
}
Array tensordot(const Operand& left, const Operand& right, const Ints& a_axes, const Ints& b_axes) {
  AtSource at(left.source());
  const auto [a, b] = numbers(left, right, "tensordot");
  return dot_axes(a, wrapped(a_axes, a.rank(), "tensordot"), b, wrapped(b_axes, b.rank(), "tensordot"),
                  "tensordot");
}

Array outer(const Operand& left, const Operand& right) {
  AtSource at(left.source());
  const auto [a, b] = numbers(left, right, "outer");
  return op::dot_general(flat(a), flat(b), {});
}

Array inner(const Operand& left, const Operand& right) {
  AtSource at(left.source());
  const auto [a, b] = numbers(left, right, "inner");
  if (a.rank() == 0 || b.rank() == 0) return op::mul(a, b);
  return dot_axes(a, {a.rank() - 1}, b, {b.rank() - 1}, "inner");
}

Array vdot(const Operand& left, const Operand& right) {
  AtSource at(left.source());
  const auto [a, b] = numbers(left, right, "vdot");
  return dot_axes(flat(a), {0}, flat(b), {0}, "vdot");
}

Array kron(const Operand& left, const Operand& right) {
  AtSource at(left.source());
  const auto [a, b] = numbers(left, right, "kron");
  const int rank = std::max(a.rank(), b.rank());
  Shape pairs, result;
  for (int k = 0; k < rank; ++k) {
    const int i = k - (rank - a.rank()), j = k - (rank - b.rank());
    pairs.push_back(i < 0 ? 1 : a.shape()[i]);
    pairs.push_back(j < 0 ? 1 : b.shape()[j]);
    result.push_back(pairs[2 * k] * pairs[2 * k + 1]);
  }
  return op::reshape(op::mul(interleaved(a, pairs, true), interleaved(b, pairs, false)), result);
}

Array cross(const Operand& left, const Operand& right) {
  AtSource at(left.source());
  const Arrays x = promoted({&left, &right}, "cross");
  for (const Array& v : x)
    if (v.rank() == 0 || v.shape().back() != 3)
      refuse("cross", "needs vectors of 3 in the last axis (" + to_string(x[0].type()) + " x " +
                          to_string(x[1].type()) + ").");
  Arrays parts;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    parts.push_back(op::sub(op::mul(component(x[0], j), component(x[1], k)),
                            op::mul(component(x[0], k), component(x[1], j))));
  }
  return op::concatenate(parts, x[0].rank() - 1);
}

Array polyval(const Operand& coefficients, const Operand& at_points) {
  AtSource at(coefficients.source());
  const auto [p, x] = numbers(coefficients, at_points, "polyval");
  if (p.rank() != 1)
    refuse("polyval", "coefficients of type " + to_string(p.type()) + "; they need one axis.");
  if (p.size() == 0) return op::zeros(x.type());
  const auto coefficient = [&p = p](std::int64_t i) { return op::reshape(cut(p, 0, i, i + 1), Shape{}); };
  Array y = op::broadcast_scalar(coefficient(0), x.shape());
  for (std::int64_t i = 1; i < p.size(); ++i) y = op::add(op::mul(y, x), coefficient(i));
  return y;
}

}  // namespace anadrome
