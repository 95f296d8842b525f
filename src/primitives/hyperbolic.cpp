// sinh, cosh, tanh, asinh, acosh, atanh.
#include <cmath>

#include "core/builder.h"
#include "math/xla.h"
#include "primitives/elementwise.h"

namespace anadrome {

// sinh: the hyperbolic sine (errors: math/xla.h).
constinit const Prim prim::sinh = {
    .name = "sinh",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return math::xla::sinh(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::mul(in.t[0], op::cosh(in.x[0]))}; },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// cosh: the hyperbolic cosine (errors: math/xla.h).
constinit const Prim prim::cosh = {
    .name = "cosh",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return math::xla::cosh(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::mul(in.t[0], op::sinh(in.x[0]))}; },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// tanh: the hyperbolic tangent. The derivative is made of y, which reverse mode usually keeps anyway.
constinit const Prim prim::tanh = {
    .name = "tanh",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::tanh(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::mul(in.t[0], op::sub(op::number_like(1, in.y[0]), op::mul(in.y[0], in.y[0])))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// asinh: the inverse of sinh.
constinit const Prim prim::asinh = {
    .name = "asinh",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::asinh(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::mul(in.t[0], op::rsqrt(op::add(op::mul(in.x[0], in.x[0]), op::number_like(1, in.x[0]))))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// acosh: NaN below 1.
constinit const Prim prim::acosh = {
    .name = "acosh",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::acosh(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      const Array one = op::number_like(1, in.x[0]);
      // Two roots, since the product overflows for large x.
      return {op::mul(in.t[0], op::mul(op::rsqrt(op::sub(in.x[0], one)), op::rsqrt(op::add(in.x[0], one))))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

// atanh: NaN outside [-1, 1].
constinit const Prim prim::atanh = {
    .name = "atanh",
    .work = Work::elementwise,
    .type = float_elementwise,
    .eval = [](const EvalIn& in) { eval_float(in, [](auto x) { return std::atanh(x); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      const Array one = op::number_like(1, in.x[0]);
      return {op::div(in.t[0], op::mul(op::sub(one, in.x[0]), op::add(one, in.x[0])))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_transcendental,
};

Array op::sinh(const Array& x) {
  return bind1(prim::sinh, {x});
}
Array op::cosh(const Array& x) {
  return bind1(prim::cosh, {x});
}
Array op::tanh(const Array& x) {
  return bind1(prim::tanh, {x});
}
Array op::asinh(const Array& x) {
  return bind1(prim::asinh, {x});
}
Array op::acosh(const Array& x) {
  return bind1(prim::acosh, {x});
}
Array op::atanh(const Array& x) {
  return bind1(prim::atanh, {x});
}

}  // namespace anadrome
