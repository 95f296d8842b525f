// exp, exp2, expm1, log, log2, log10, log1p, logaddexp, logistic. Derivatives use y where that is kept
// anyway.
#include <cmath>
#include <limits>
#include <numbers>

#include "core/builder.h"
#include "math/elementary.h"
#include "math/xla.h"
#include "primitives/elementwise.h"

namespace anadrome {
namespace {

/// 2^x. The 16-bit floats round the product x log 2 too, as XLA does.
void eval_exp2(const EvalIn& in) {
  dispatch_float(in.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    eval_unary<T>(in, [](auto x) {
      if constexpr (is_half<T>)
        return std::exp(static_cast<float>(T(x * static_cast<float>(T(std::numbers::ln2_v<float>)))));
      else
        return math::xla::exp2(x);
    });
  });
}

/// e^x / (e^x + e^y), the share of the operand x in the sum y of both logarithms: of finite operands as a logistic,
/// which is accurate in both tails, and so are its derivatives. Where one is infinite, or both are equal and so large
/// that the sum is no different, it is exp(x - sum), as JAX has it, with +inf counted as 0 so that it is not NaN.
Array share(const Array& x, const Array& y, const Array& sum) {
  const auto finite = [](const Array& v) {
    const Array top = op::number_like(std::numeric_limits<double>::infinity(), v);
    return op::select(op::eq(v, top), op::number_like(0, v), v);
  };
  const Array lost = op::bit_and(op::eq(x, y), op::eq(x, sum));
  const Array both = op::bit_and(op::bit_and(op::is_finite(x), op::is_finite(y)), op::bit_not(lost));
  const Array difference = op::sub(x, y);
  return op::select(both, op::logistic(op::select(both, difference, op::number_like(0, difference))),
                    op::exp(op::sub(finite(x), finite(sum))));
}

}  // namespace

// exp: e^x.
constinit const Prim prim::exp = {
    .name = "exp",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::exp(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::mul(in.t[0], in.y[0])}; },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// exp2: 2^x (errors: math/xla.h).
constinit const Prim prim::exp2 = {
    .name = "exp2",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = eval_exp2,
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::mul(in.t[0], op::mul(op::number_like(std::numbers::ln2, in.y[0]), in.y[0]))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// expm1: e^x - 1.
constinit const Prim prim::expm1 = {
    .name = "expm1",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::expm1(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {  // y + 1 would be 0 where y rounds to -1
      return {op::mul(in.t[0], op::exp(in.x[0]))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// log: the natural logarithm.
constinit const Prim prim::log = {
    .name = "log",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::log(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::div(in.t[0], in.x[0])}; },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// log2: the logarithm to base 2.
constinit const Prim prim::log2 = {
    .name = "log2",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::log2(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::div(in.t[0], op::mul(op::number_like(std::numbers::ln2, in.x[0]), in.x[0]))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// log10: the logarithm to base 10.
constinit const Prim prim::log10 = {
    .name = "log10",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::log10(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::div(in.t[0], op::mul(op::number_like(std::numbers::ln10, in.x[0]), in.x[0]))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// log1p: log(1 + x).
constinit const Prim prim::log1p = {
    .name = "log1p",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::log1p(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::div(in.t[0], op::add(in.x[0], op::number_like(1, in.x[0])))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// logaddexp: log(e^a + e^b), without overflow.
constinit const Prim prim::logaddexp = {
    .name = "logaddexp",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto a, auto b) { return math::logaddexp(a, b); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {add_tangents(scaled(in.t[0], [&] { return share(in.x[0], in.x[1], in.y[0]); }),
                           scaled(in.t[1], [&] { return share(in.x[1], in.x[0], in.y[0]); }))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// logistic: 1 / (1 + e^-x).
constinit const Prim prim::logistic = {
    .name = "logistic",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return math::logistic(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {  // 1 - y would be 0 where y rounds to 1
      return {op::mul(in.t[0], op::mul(in.y[0], op::logistic(op::neg(in.x[0]))))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

Array op::exp(const Array& x) {
  return bind1(prim::exp, {x});
}
Array op::exp2(const Array& x) {
  return bind1(prim::exp2, {x});
}
Array op::expm1(const Array& x) {
  return bind1(prim::expm1, {x});
}
Array op::log(const Array& x) {
  return bind1(prim::log, {x});
}
Array op::log2(const Array& x) {
  return bind1(prim::log2, {x});
}
Array op::log10(const Array& x) {
  return bind1(prim::log10, {x});
}
Array op::log1p(const Array& x) {
  return bind1(prim::log1p, {x});
}
Array op::logaddexp(const Array& a, const Array& b) {
  return bind1(prim::logaddexp, {a, b});
}
Array op::logistic(const Array& x) {
  return bind1(prim::logistic, {x});
}

}  // namespace anadrome
