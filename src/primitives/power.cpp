// pow, integer_pow, sqrt, rsqrt, cbrt, hypot.
#include <cmath>

#include "core/builder.h"
#include "math/elementary.h"
#include "primitives/elementwise.h"

namespace anadrome {
namespace {

[[noreturn]] void refuse(const TypeIn& in, const std::string& text) {
  throw TypeError(std::string(in.prim.name) + ": " + text + at_current_source());
}

/// x^n by squaring, n >= 0; integers wrap.
template <class T> T repeated_product(T x, std::uint64_t n) {
  auto base = wide(x);
  decltype(base) product = 1;
  for (; n; n >>= 1) {
    if (n & 1) product *= base;
    base *= base;
  }
  return static_cast<T>(product);
}

/// x^n of integers. A negative n gives the truncated 1 / x^-n, with 1 / 0 = -1 as in div.
template <class T> T power_of_integers(T x, T n) {
  if constexpr (std::is_signed_v<T>) {
    if (n < 0)
      return x == 1 ? T{1} : x == -1 ? static_cast<T>(n % 2 ? -1 : 1) : static_cast<T>(x == 0 ? -1 : 0);
  }
  return repeated_product(x, static_cast<std::uint64_t>(n));
}

/// Base and exponent of one dtype, or a float base with an i32 exponent.
Types type_pow(const TypeIn& in) {
  if (in.x[0].dtype == in.x[1].dtype || in.x[1].dtype != i32) return number_elementwise(in);
  if (!is_float(in.x[0].dtype))
    refuse(in, to_string(in.x[0]) + " to the power " + to_string(in.x[1]) + ". Convert one of them.");
  return {Type{in.x[0].dtype, elementwise_shape(in)}};
}

/// A float base with an i32 exponent.
template <class T> void eval_pow_i32(const EvalIn& in) {
  const T* x = static_cast<const T*>(in.x[0]);
  const auto* n = static_cast<const std::int32_t*>(in.x[1]);
  T* y = static_cast<T*>(in.y[0]);
  const std::int64_t step_x = in.in[0].rank() ? 1 : 0, step_n = in.in[1].rank() ? 1 : 0;
  const std::int64_t count = in.out[0].elements();
  for (std::int64_t i = 0; i < count; ++i) {
    const double base = static_cast<double>(static_cast<Compute<T>>(x[i * step_x]));
    y[i] = static_cast<T>(static_cast<Compute<T>>(std::pow(base, n[i * step_n])));
  }
}

void eval_pow(const EvalIn& in) {
  if (in.in[0].dtype != in.in[1].dtype) {
    dispatch_float(in.in[0].dtype, [&](auto tag) { eval_pow_i32<typename decltype(tag)::type>(in); });
    return;
  }
  eval_number(in, [](auto x, auto n) {
    if constexpr (std::is_floating_point_v<decltype(x)>)
      return std::pow(x, n);
    else
      return power_of_integers(x, n);
  });
}

/// n x^(n-1), for an integer exponent array: 0 where n is 0, at x = 0 too.
Array slope_for_i32(const Array& x, const Array& n) {
  const Array zero = op::number(0, i32), one = op::number(1, i32);
  const Array lowered = op::sub(op::select(op::eq(n, zero), one, n), one);
  return op::mul(op::convert(n, x.dtype()), op::pow(x, lowered));
}

Arrays jvp_pow(const JvpIn& in) {
  const Array &x = in.x[0], &n = in.x[1];
  const auto slope_x = [&] {
    if (is_integer(n.dtype())) return slope_for_i32(x, n);
    return op::mul(n, op::pow(x, op::sub(n, op::number_like(1, n))));
  };
  const auto slope_n = [&] {
    const Array at_zero = op::eq(x, op::number_like(0, x));  // 0^n does not depend on n > 0
    return op::mul(op::log(op::select(at_zero, op::number_like(1, x), x)), in.y[0]);
  };
  return {add_tangents(scaled(in.t[0], slope_x), scaled(in.t[1], slope_n))};
}

Types type_integer_pow(const TypeIn& in) {
  const std::int64_t n = in.as<IntegerPowAttr>().exponent;
  if (n < 0 && is_integer(in.x[0].dtype))
    refuse(in, to_string(in.x[0]) + " to the power " + std::to_string(n) + ". Convert it to a float first.");
  return number_elementwise(in);
}

void eval_integer_pow(const EvalIn& in) {
  const std::int64_t n = in.as<IntegerPowAttr>().exponent;
  const auto with = [&](auto f) { eval_number(in, f); };
  if (n == 2) return with([](auto x) { return static_cast<decltype(x)>(wide(x) * wide(x)); });
  if (n == -1) {
    return dispatch_float(in.in[0].dtype, [&](auto tag) {
      eval_unary<typename decltype(tag)::type>(in, [](auto x) { return decltype(x){1} / x; });
    });
  }
  with([n](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>)
      return math::integer_pow(x, n);
    else
      return repeated_product(x, static_cast<std::uint64_t>(n));
  });
}

Arrays jvp_integer_pow(const JvpIn& in) {
  const std::int64_t n = in.as<IntegerPowAttr>().exponent;
  if (n == 0) return {Array()};
  if (n == 1) return {in.t[0]};
  const Array lowered = n == 2 ? in.x[0] : op::integer_pow(in.x[0], n - 1);
  return {op::mul(in.t[0], op::mul(op::number_like(static_cast<double>(n), in.x[0]), lowered))};
}

}  // namespace

// pow: x^n as std::pow; of integers by wrapping products. n may be i32 where x is a float.
constinit const Prim prim::pow = {
    .name = "pow",
    .work = Work::elementwise,
    .type = type_pow,
    .eval = eval_pow,
    .jvp = jvp_pow,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// integer_pow: x^n for a fixed n; x^0 is 1, for NaN too. Within 1 ulp (f32), |n| ulp (f64).
constinit const Prim prim::integer_pow = {
    .name = "integer_pow",
    .work = Work::elementwise,
    .type = type_integer_pow,
    .eval = eval_integer_pow,
    .jvp = jvp_integer_pow,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// sqrt: correctly rounded; the derivative at 0 is inf.
constinit const Prim prim::sqrt = {
    .name = "sqrt",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::sqrt(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::mul(in.t[0], op::div(op::number_like(0.5, in.y[0]), in.y[0]))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// rsqrt: 1 / sqrt(x).
constinit const Prim prim::rsqrt = {
    .name = "rsqrt",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return 1 / std::sqrt(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::mul(in.t[0], op::mul(op::number_like(-0.5, in.y[0]), op::div(in.y[0], in.x[0])))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// cbrt: the real cube root; the derivative at 0 is inf.
constinit const Prim prim::cbrt = {
    .name = "cbrt",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::cbrt(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::mul(in.t[0], op::div(op::number_like(1.0 / 3, in.y[0]), op::mul(in.y[0], in.y[0])))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// hypot: sqrt(a^2 + b^2) without overflow.
constinit const Prim prim::hypot = {
    .name = "hypot",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto a, auto b) { return std::hypot(a, b); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {add_tangents(scaled(in.t[0], [&] { return op::div(in.x[0], in.y[0]); }),
                           scaled(in.t[1], [&] { return op::div(in.x[1], in.y[0]); }))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

Array op::pow(const Array& a, const Array& b) {
  return bind1(prim::pow, {a, b});
}
Array op::integer_pow(const Array& x, std::int64_t exponent) {
  return bind1(prim::integer_pow, {x}, IntegerPowAttr{exponent});
}
Array op::sqrt(const Array& x) {
  return bind1(prim::sqrt, {x});
}
Array op::rsqrt(const Array& x) {
  return bind1(prim::rsqrt, {x});
}
Array op::cbrt(const Array& x) {
  return bind1(prim::cbrt, {x});
}
Array op::hypot(const Array& a, const Array& b) {
  return bind1(prim::hypot, {a, b});
}

}  // namespace anadrome
