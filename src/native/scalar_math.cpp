// Scalar functions for generated code: the arithmetic of the primitives' eval kernels behind plain addresses.
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "math/arith.h"
#include "math/elementary.h"
#include "math/special.h"
#include "math/xla.h"
#include "native/vector_math.h"

namespace anadrome {
namespace {

/// The functions of one primitive, for float and double.
struct Row {
  void *f32, *f64;
  int operands;
};

template <class R, class... X> void* address(R (*function)(X...)) {
  return reinterpret_cast<void*>(function);
}

template <class F> Row unary(F) {
  return {address(+[](float x) -> float { return F{}(x); }), address(+[](double x) -> double { return F{}(x); }), 1};
}
template <class F> Row binary(F) {
  return {address(+[](float a, float b) -> float { return F{}(a, b); }),
          address(+[](double a, double b) -> double { return F{}(a, b); }), 2};
}
template <class F> Row ternary(F) {
  return {address(+[](float a, float b, float c) -> float { return F{}(a, b, c); }),
          address(+[](double a, double b, double c) -> double { return F{}(a, b, c); }), 3};
}
/// The exponent is an integer of type N.
template <class N, class F> Row power(F) {
  return {address(+[](float x, N n) -> float { return F{}(x, n); }),
          address(+[](double x, N n) -> double { return F{}(x, n); }), 2};
}

using Table = std::unordered_map<std::string_view, Row>;

void add_elementary(Table& t) {
  t["exp"] = unary([](auto x) { return std::exp(x); });
  t["exp2"] = unary([](auto x) { return math::xla::exp2(x); });
  t["expm1"] = unary([](auto x) { return std::expm1(x); });
  t["log"] = unary([](auto x) { return std::log(x); });
  t["log2"] = unary([](auto x) { return std::log2(x); });
  t["log10"] = unary([](auto x) { return std::log10(x); });
  t["log1p"] = unary([](auto x) { return std::log1p(x); });
  t["cbrt"] = unary([](auto x) { return std::cbrt(x); });
  t["sin"] = unary([](auto x) { return std::sin(x); });
  t["cos"] = unary([](auto x) { return std::cos(x); });
  t["tan"] = unary([](auto x) { return std::tan(x); });
  t["asin"] = unary([](auto x) { return std::asin(x); });
  t["acos"] = unary([](auto x) { return std::acos(x); });
  t["atan"] = unary([](auto x) { return std::atan(x); });
  t["sinh"] = unary([](auto x) { return math::xla::sinh(x); });
  t["cosh"] = unary([](auto x) { return math::xla::cosh(x); });
  t["tanh"] = unary([](auto x) { return std::tanh(x); });
  t["asinh"] = unary([](auto x) { return std::asinh(x); });
  t["acosh"] = unary([](auto x) { return std::acosh(x); });
  t["atanh"] = unary([](auto x) { return std::atanh(x); });
  t["logistic"] = unary([](auto x) { return math::logistic(x); });
  t["logaddexp"] = binary([](auto a, auto b) { return math::logaddexp(a, b); });
  t["atan2"] = binary([](auto a, auto b) { return std::atan2(a, b); });
  t["hypot"] = binary([](auto a, auto b) { return std::hypot(a, b); });
  t["pow"] = binary([](auto a, auto b) { return std::pow(a, b); });
  t["pow_i32"] = power<std::int32_t>([](auto x, std::int32_t n) {
    return static_cast<decltype(x)>(std::pow(static_cast<double>(x), n));
  });
  t["integer_pow"] = power<std::int64_t>([](auto x, std::int64_t n) { return math::integer_pow(x, n); });
}

void add_special(Table& t) {
  t["erf"] = unary([](auto x) { return std::erf(x); });
  t["erfc"] = unary([](auto x) { return math::erfc(x); });
  t["erf_inv"] = unary([](auto x) { return math::xla::erf_inv(x); });
  t["lgamma"] = unary([](auto x) { return math::xla::lgamma(x); });
  t["digamma"] = unary([](auto x) { return math::xla::digamma(x); });
  t["polygamma"] = binary([](auto n, auto x) { return math::polygamma(n, x); });
  t["zeta"] = binary([](auto s, auto q) { return math::zeta(s, q); });
  t["igamma"] = binary([](auto a, auto x) { return math::xla::igamma(a, x); });
  t["igammac"] = binary([](auto a, auto x) { return math::xla::igammac(a, x); });
  t["igamma_grad_a"] = binary([](auto a, auto x) { return math::xla::igamma_grad_a(a, x); });
  t["betainc"] = ternary([](auto a, auto b, auto x) { return math::xla::betainc(a, b, x); });
  t["bessel_i0e"] = unary([](auto x) { return math::bessel_i0e(x); });
  t["bessel_i1e"] = unary([](auto x) { return math::bessel_i1e(x); });
  t["xlogy"] = binary([](auto a, auto b) { return math::xlogy(a, b); });
  t["nextafter"] = binary([](auto a, auto b) { return math::next_after(a, b); });
  t["rem"] = binary([](auto a, auto b) { return math::rem(a, b); });
  t["round"] = unary([](auto x) { return std::round(x); });
}

const Table& table() {
  static const Table all = [] {
    Table t;
    add_elementary(t);
    add_special(t);
    return t;
  }();
  return all;
}

}  // namespace

std::optional<MathFunction> scalar_function(std::string_view primitive, DType dtype) {
  const auto found = table().find(primitive);
  if (found == table().end() || (dtype != f32 && dtype != f64)) return std::nullopt;
  const Row& row = found->second;
  return MathFunction{"anadrome_" + std::string(primitive) + "_" + std::string(tag(dtype)),
                      dtype == f32 ? row.f32 : row.f64, row.operands};
}

}  // namespace anadrome
