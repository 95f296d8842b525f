// Activations and other functions derived from elementwise primitives.
#include <cmath>
#include <limits>
#include <numbers>

#include "anadrome/ops/elementwise.h"
#include "api/operand.h"
#include "primitives/op.h"

namespace anadrome {
namespace {

using Unary = Array (*)(const Array&);

Array number(double value, const Array& like) {
  return op::number_like(value, like);
}

Array derived(Unary f, const Operand& x, std::string_view what) {
  AtSource at(x.source());
  return f(promoted({&x}, what, true)[0]);
}

/// Long chains of operations on 16-bit floats are computed in f32 and rounded once.
Array derived_in_f32(Unary f, const Operand& x, std::string_view what) {
  AtSource at(x.source());
  const Array p = promoted({&x}, what, true)[0];
  const bool half = p.dtype() == bf16 || p.dtype() == f16;
  return half ? op::convert(f(op::convert(p, f32)), p.dtype()) : f(p);
}

Array gelu_tanh_of(const Array& x) {
  const Array cube = op::mul(number(0.044715, x), op::integer_pow(x, 3));
  const Array inner = op::mul(number(std::sqrt(2 / std::numbers::pi), x), op::add(x, cube));
  return op::mul(x, op::mul(number(0.5, x), op::add(number(1, x), op::tanh(inner))));
}

Array gelu_erf_of(const Array& x) {
  const Array tail = op::erfc(op::mul(number(-std::sqrt(0.5), x), x));
  return op::mul(op::mul(number(0.5, x), x), tail);
}

/// The power series of sinc, for |x| <= 1/2.
Array sinc_beside_zero(const Array& x) {
  const int terms = x.dtype() == f64 ? 13 : 9;
  double coefficient[13] = {1};
  for (int k = 1; k < terms; ++k)
    coefficient[k] = -coefficient[k - 1] * std::numbers::pi * std::numbers::pi / (2 * k * (2 * k + 1));
  const Array square = op::mul(x, x);
  Array sum = op::mul(number(coefficient[terms - 1], x), square);
  for (int k = terms - 2; k > 0; --k) sum = op::mul(op::add(number(coefficient[k], x), sum), square);
  return op::add(number(1, x), sum);
}

/// sin(pi x) / (pi x) away from 0; the nearest integer is taken off first, so that the zeros are exact.
Array sinc_away_from_zero(const Array& x) {
  const Array nearest = op::rint(x);
  const Array infinite = op::eq(op::abs(x), number(std::numeric_limits<double>::infinity(), x));
  const Array rest = op::select(infinite, number(0, x), op::sub(x, nearest));
  const Array sine = op::sin(op::mul(number(std::numbers::pi, x), rest));
  const Array odd = op::ne(op::rem(nearest, number(2, x)), number(0, x));
  return op::div(op::select(odd, op::sub(number(0, x), sine), sine), op::mul(number(std::numbers::pi, x), x));
}

/// Each branch gets a harmless argument where the other one is taken, so that no NaN enters the derivatives.
Array sinc_of(const Array& x) {
  const Array near = op::lt(op::abs(x), number(0.5, x));
  const Array inner = op::select(near, x, number(0, x)), outer = op::select(near, number(1, x), x);
  return op::select(near, sinc_beside_zero(inner), sinc_away_from_zero(outer));
}

}  // namespace

Array relu(const Operand& x) {
  AtSource at(x.source());
  const DType dtype = common_dtype({&x}, "relu");
  const Array p = as_dtype(x, is_bool(dtype) ? i32 : dtype, "relu");
  const Array zero = number(0, p);
  if (!is_float(p.dtype())) return op::max(p, zero);
  // The max alone has the derivative one half at 0; of the constant only NaN gets past it.
  return op::select(op::gt(p, zero), p, op::max(op::stop_gradient(p), zero));
}

Array leaky_relu(const Operand& x, double slope) {
  AtSource at(x.source());
  const Array p = promoted({&x}, "leaky_relu", true)[0];
  return op::select(op::ge(p, number(0, p)), p, op::mul(number(slope, p), p));
}

Array elu(const Operand& x, double alpha) {
  AtSource at(x.source());
  const Array p = promoted({&x}, "elu", true)[0];
  const Array positive = op::gt(p, number(0, p));
  const Array growth = op::expm1(op::select(positive, number(0, p), p));  // never overflows
  return op::select(positive, p, alpha == 1 ? growth : op::mul(number(alpha, p), growth));
}

Array silu(const Operand& x) {
  return derived([](const Array& p) { return op::mul(p, op::logistic(p)); }, x, "silu");
}
Array gelu_tanh(const Operand& x) {
  return derived(gelu_tanh_of, x, "gelu_tanh");
}
Array gelu_erf(const Operand& x) {
  return derived_in_f32(gelu_erf_of, x, "gelu_erf");
}
Array softplus(const Operand& x) {
  return derived([](const Array& p) { return op::logaddexp(p, number(0, p)); }, x, "softplus");
}
Array log_sigmoid(const Operand& x) {
  return derived([](const Array& p) { return op::neg(op::logaddexp(op::neg(p), number(0, p))); }, x,
                 "log_sigmoid");
}
Array sinc(const Operand& x) {
  return derived_in_f32(sinc_of, x, "sinc");
}

Array stop_gradient(const Operand& x) {
  AtSource at(x.source());
  return op::stop_gradient(as_array(x, "stop_gradient"));
}

}  // namespace anadrome
