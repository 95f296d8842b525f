// floor, ceil, round, rint, trunc, nextafter, is_finite, reduce_precision.
#include <algorithm>
#include <cmath>

#include "core/builder.h"
#include "math/arith.h"
#include "primitives/elementwise.h"

namespace anadrome {
namespace {

Types type_is_finite(const TypeIn& in) {
  Types out = float_elementwise(in);
  out[0].dtype = b1;
  return out;
}

void eval_is_finite(const EvalIn& in) {
  dispatch_float(in.in[0].dtype, [&](auto tag) {
    eval_unary<typename decltype(tag)::type>(in, [](auto x) -> bool { return x - x == 0; });
  });
}

/// Works on the stored type: the neighbour of a 16-bit float is not one of float.
void eval_nextafter(const EvalIn& in) {
  dispatch_float(in.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *a = static_cast<const T*>(in.x[0]), *b = static_cast<const T*>(in.x[1]);
    const std::int64_t step_a = in.in[0].rank() ? 1 : 0, step_b = in.in[1].rank() ? 1 : 0;
    T* y = static_cast<T*>(in.y[0]);
    const std::int64_t n = in.out[0].elements();
    for (std::int64_t i = 0; i < n; ++i) y[i] = math::next_after(a[i * step_a], b[i * step_b]);
  });
}

Types type_reduce_precision(const TypeIn& in) {
  const auto [exponent, mantissa] = in.as<PrecisionAttr>();
  if (exponent < 1 || mantissa < 0)
    throw TypeError("reduce_precision: " + std::to_string(exponent) + " exponent bits and " +
                    std::to_string(mantissa) + " mantissa bits. Give at least 1 and 0." +
                    at_current_source());
  return float_elementwise(in);
}

void eval_reduce_precision(const EvalIn& in) {
  const auto exponent = static_cast<int>(std::min<std::int64_t>(in.as<PrecisionAttr>().exponent_bits, 11));
  const auto mantissa = static_cast<int>(std::min<std::int64_t>(in.as<PrecisionAttr>().mantissa_bits, 52));
  dispatch_float(in.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = static_cast<const T*>(in.x[0]);
    T* y = static_cast<T*>(in.y[0]);
    const std::int64_t n = in.out[0].elements();
    for (std::int64_t i = 0; i < n; ++i) y[i] = math::reduce_precision(x[i], exponent, mantissa);
  });
}

Array reduced(const Array& x, const Attrs& attrs) {
  return bind1(prim::reduce_precision, {x}, attrs);
}

}  // namespace

// floor: the largest integer that is not larger.
constinit const Prim prim::floor = {
    .name = "floor",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::floor(x); }); },
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// ceil: the smallest integer that is not smaller.
constinit const Prim prim::ceil = {
    .name = "ceil",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::ceil(x); }); },
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// round: the nearest integer, halves away from zero.
constinit const Prim prim::round = {
    .name = "round",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::round(x); }); },
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// rint: the nearest integer, halves to even.
constinit const Prim prim::rint = {
    .name = "rint",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::rint(x); }); },
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// trunc: the integer part.
constinit const Prim prim::trunc = {
    .name = "trunc",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::trunc(x); }); },
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// nextafter: the neighbour of a in the direction of b.
constinit const Prim prim::nextafter = {
    .name = "nextafter",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = eval_nextafter,
    .jvp = no_rule("a step to the next number has no derivative"),
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// is_finite: neither infinite nor NaN.
constinit const Prim prim::is_finite = {
    .name = "is_finite",
    .work = Work::elementwise,
    .type = type_is_finite,
    .eval = eval_is_finite,
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// reduce_precision: rounded to a float format with fewer bits. Tangents and cotangents are rounded alike.
constinit const Prim prim::reduce_precision = {
    .name = "reduce_precision",
    .work = Work::elementwise,
    .type = type_reduce_precision,
    .eval = eval_reduce_precision,
    .jvp = [](const JvpIn& in) -> Arrays { return {reduced(in.t[0], in.eqn.attrs)}; },
    .transpose =
        [](const TransposeIn& in) {
          if (in.wants(0)) in.acc[0]->add(reduced(in.ct[0], in.eqn.attrs));
        },
    .batch = batch_elementwise,
    .cost = cost_flop,
};

Array op::floor(const Array& x) {
  return bind1(prim::floor, {x});
}
Array op::ceil(const Array& x) {
  return bind1(prim::ceil, {x});
}
Array op::round(const Array& x) {
  return bind1(prim::round, {x});
}
Array op::rint(const Array& x) {
  return bind1(prim::rint, {x});
}
Array op::trunc(const Array& x) {
  return bind1(prim::trunc, {x});
}
Array op::nextafter(const Array& a, const Array& b) {
  return bind1(prim::nextafter, {a, b});
}
Array op::is_finite(const Array& x) {
  return bind1(prim::is_finite, {x});
}
Array op::reduce_precision(const Array& x, std::int64_t exponent_bits, std::int64_t mantissa_bits) {
  return bind1(prim::reduce_precision, {x}, PrecisionAttr{exponent_bits, mantissa_bits});
}

}  // namespace anadrome
