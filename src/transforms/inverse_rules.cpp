// The table of inverse rules. A rule may rely on what its primitive's range promises (a logarithm of an exponential): values
// outside it give NaN, as the mathematics does.
#include "transforms/inverse_rules.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "primitives/op.h"

namespace anadrome {
namespace {

// ---- arithmetic

/// |x| of a literal that is a finite number other than 0; else 1.
double known_size(const Array& x) {
  if (!is_literal(x)) return 1;
  const double v = std::abs(x.node()->literal.as_double());
  return v > 0 && std::isfinite(v) ? v : 1;
}

Undone undo_add(const InverseIn& in) {
  if (is_bool(in.out[0].dtype)) return {};
  return {op::sub(in.y, in.x[1 - in.unknown])};
}
Undone undo_sub(const InverseIn& in) {
  return {in.unknown == 0 ? op::add(in.y, in.x[1]) : op::sub(in.x[0], in.y)};
}
Undone undo_mul(const InverseIn& in) {
  if (!is_float(in.out[0].dtype)) return {};
  const Array& factor = in.x[1 - in.unknown];
  return {op::div(in.y, factor), std::max(1.0, 1 / known_size(factor))};
}
Undone undo_div(const InverseIn& in) {
  if (!is_float(in.out[0].dtype)) return {};
  if (in.unknown == 1) return {op::div(in.x[0], in.y)};
  return {op::mul(in.y, in.x[1]), std::max(1.0, known_size(in.x[1]))};
}
/// Odd powers: the root with the sign of y.
Undone undo_integer_pow(const InverseIn& in) {
  const std::int64_t n = in.eqn.as<IntegerPowAttr>().exponent;
  if (!is_float(in.out[0].dtype) || n % 2 == 0) return {};
  const Array y = n < 0 ? op::div(op::number_like(1, in.y), in.y) : in.y;
  if (std::abs(n) == 1) return {y};
  if (std::abs(n) == 3) return {op::cbrt(y)};
  return {op::mul(op::sign(y), op::pow(op::abs(y), op::number_like(1 / static_cast<double>(std::abs(n)), y)))};
}
Undone undo_bit_xor(const InverseIn& in) { return {op::bit_xor(in.y, in.x[1 - in.unknown])}; }

// ---- functions

using Unary = Array (*)(const Array&);
template <Unary f> Undone by(const InverseIn& in) { return {f(in.y)}; }

Array squared(const Array& y) { return op::mul(y, y); }
Array inverse_square(const Array& y) { return op::div(op::number_like(1, y), op::mul(y, y)); }
Array cubed(const Array& y) { return op::integer_pow(y, 3); }
Array exp10(const Array& y) { return op::exp(op::mul(y, op::number_like(std::numbers::ln10, y))); }
Array logit(const Array& y) { return op::sub(op::log(y), op::log1p(op::neg(y))); }

// ---- representation

/// Bits of the whole numbers that a dtype holds without gaps.
int digits(DType d) {
  switch (d) {
    case DType::b1: return 1;
    case DType::bf16: return 8;
    case DType::f16: return 11;
    case DType::f32: return 24;
    case DType::f64: return 53;
    default: return static_cast<int>(8 * item_size(d)) - (is_signed(d) ? 1 : 0);
  }
}
int exponent_bits(DType d) { return d == DType::f64 ? 11 : d == DType::f16 ? 5 : 8; }

/// True when each value of `from` is one of `to`.
bool holds_all(DType from, DType to) {
  if (is_bool(to) || is_complex(from) || is_complex(to)) return from == to;
  if (digits(from) > digits(to)) return false;
  if (is_float(from)) return is_float(to) && exponent_bits(from) <= exponent_bits(to);
  return is_float(to) || is_signed(to) || !is_signed(from);
}
Undone undo_convert(const InverseIn& in) {
  if (!holds_all(in.in[0].dtype, in.out[0].dtype)) return {};
  return {op::convert(in.y, in.in[0].dtype)};
}
Undone undo_bitcast(const InverseIn& in) {
  if (in.in[0].shape != in.out[0].shape || is_bool(in.in[0].dtype)) return {};
  return {op::bitcast(in.y, in.in[0].dtype)};
}

// ---- movement

Ints zeros_of(int rank, std::int64_t value) {
  Ints out;
  for (int k = 0; k < rank; ++k) out.push_back(value);
  return out;
}
Undone undo_reshape(const InverseIn& in) { return {op::reshape(in.y, in.in[0].shape)}; }
Undone undo_rev(const InverseIn& in) { return {op::rev(in.y, in.eqn.as<AxesAttr>().axes)}; }
Undone undo_transpose(const InverseIn& in) {
  const Ints& perm = in.eqn.as<PermutationAttr>().perm;
  Ints back = perm;
  for (int k = 0; k < perm.rank(); ++k) back[static_cast<int>(perm[k])] = k;
  return {op::transpose(in.y, back)};
}
/// The first of the repeated elements.
Undone undo_broadcast(const InverseIn& in) {
  if (in.out[0].elements() == 0) return {};
  const Ints& dims = in.eqn.as<BroadcastAttr>().dims;
  const int rank = in.out[0].rank();
  Ints limit = zeros_of(rank, 1);
  for (int k = 0; k < dims.rank(); ++k) limit[static_cast<int>(dims[k])] = in.in[0].shape[k];
  return {op::reshape(op::slice(in.y, zeros_of(rank, 0), limit, zeros_of(rank, 1)), in.in[0].shape)};
}
Undone undo_concatenate(const InverseIn& in) {
  const auto axis = static_cast<int>(in.eqn.as<AxisAttr>().axis);
  const int rank = in.out[0].rank();
  Ints start = zeros_of(rank, 0), limit(in.out[0].shape);
  for (std::size_t i = 0; i < in.unknown; ++i) start[axis] += in.in[i].shape[axis];
  limit[axis] = start[axis] + in.in[in.unknown].shape[axis];
  return {op::slice(in.y, start, limit, zeros_of(rank, 1))};
}
/// Padding that cuts nothing.
Undone undo_pad(const InverseIn& in) {
  const auto& [low, high, interior] = in.eqn.as<PadAttr>();
  if (in.unknown != 0) return {};
  Ints limit = low, strides = low;
  for (int k = 0; k < low.rank(); ++k) {
    if (low[k] < 0 || high[k] < 0) return {};
    strides[k] = interior[k] + 1;
    limit[k] = in.in[0].shape[k] == 0 ? low[k] : low[k] + (in.in[0].shape[k] - 1) * strides[k] + 1;
  }
  return {op::slice(in.y, low, limit, strides)};
}
/// What was added to a part is subtracted from it.
Undone undo_add_slice(const InverseIn& in) {
  if (in.unknown != 0) return {};
  const SliceAttr& a = in.eqn.as<SliceAttr>();
  return {op::add_slice(in.y, op::neg(in.x[1]), a.start, a.strides)};
}
Undone undo_dynamic_add_slice(const InverseIn& in) {
  if (in.unknown != 0) return {};
  return {op::dynamic_add_slice(in.y, op::neg(in.x[1]), in.x.subspan(2))};
}
Undone undo_scatter_add(const InverseIn& in) {
  if (in.unknown != 0) return {};
  return {op::scatter_add(in.y, in.x[1], op::neg(in.x[2]), in.eqn.as<ScatterAttr>())};
}

const std::unordered_map<const Prim*, InverseRule>& table() {
  static const std::unordered_map<const Prim*, InverseRule> rules = {
      {&prim::add, {undo_add}},
      {&prim::sub, {undo_sub}},
      {&prim::mul, {undo_mul}},
      {&prim::div, {undo_div}},
      {&prim::integer_pow, {undo_integer_pow}},
      {&prim::bit_xor, {undo_bit_xor}},
      {&prim::bit_not, {by<op::bit_not>}},
      {&prim::neg, {by<op::neg>}},
      {&prim::sqrt, {by<squared>}},
      {&prim::rsqrt, {by<inverse_square>}},
      {&prim::cbrt, {by<cubed>}},
      {&prim::exp, {by<op::log>}},
      {&prim::exp2, {by<op::log2>}},
      {&prim::expm1, {by<op::log1p>}},
      {&prim::log, {by<op::exp>}},
      {&prim::log2, {by<op::exp2>}},
      {&prim::log10, {by<exp10>}},
      {&prim::log1p, {by<op::expm1>}},
      {&prim::logistic, {by<logit>}},
      {&prim::asin, {by<op::sin>}},
      {&prim::acos, {by<op::cos>}},
      {&prim::atan, {by<op::tan>}},
      {&prim::sinh, {by<op::asinh>}},
      {&prim::asinh, {by<op::sinh>}},
      {&prim::acosh, {by<op::cosh>}},
      {&prim::tanh, {by<op::atanh>}},
      {&prim::atanh, {by<op::tanh>}},
      {&prim::erf, {by<op::erf_inv>}},
      {&prim::erf_inv, {by<op::erf>}},
      {&prim::convert, {undo_convert}},
      {&prim::bitcast, {undo_bitcast}},
      {&prim::reshape, {undo_reshape}},
      {&prim::rev, {undo_rev}},
      {&prim::transpose, {undo_transpose}},
      {&prim::broadcast_in_dim, {undo_broadcast}},
      {&prim::concatenate, {undo_concatenate, true}},
      {&prim::pad, {undo_pad, true}},
      {&prim::add_slice, {undo_add_slice}},
      {&prim::dynamic_add_slice, {undo_dynamic_add_slice}},
      {&prim::scatter_add, {undo_scatter_add}},
  };
  return rules;
}

}  // namespace

const InverseRule* inverse_rule(const Prim& prim) {
  const auto it = table().find(&prim);
  return it == table().end() ? nullptr : &it->second;
}

}  // namespace anadrome
