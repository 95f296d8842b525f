// neg, abs, sign, add, sub, mul, div, rem: integers wrap, floats are IEEE.
#include <cmath>

#include "core/builder.h"
#include "math/arith.h"
#include "primitives/elementwise.h"

namespace anadrome {
namespace {

/// A batch over one divisor multiplies by its reciprocal: fewer divisions, one more rounding.
BatchOut batch_div(const BatchIn& in) {
  const bool one_divisor = !in.batched(1) && in.rank(1) > 0 && in.rank(0) == in.rank(1);
  if (!one_divisor || !is_float(in.x[0].dtype())) return batch_elementwise(in);
  const Array reciprocal = op::integer_pow(in.x[1], -1);
  return BatchOut(op::mul(in.x[0], op::broadcast_axis(reciprocal, in.axis[0], in.size)), in.axis[0]);
}

}  // namespace

// neg: -x; integers wrap. Linear.
constinit const Prim prim::neg = {
    .name = "neg",
    .work = Work::elementwise,
    .type = number_elementwise,
    .eval =
        [](const EvalIn& in) { eval_number(in, [](auto x) { return static_cast<decltype(x)>(-wide(x)); }); },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::neg(in.t[0])}; },
    .transpose =
        [](const TransposeIn& in) {
          if (in.wants(0)) in.acc[0]->add(op::neg(in.ct[0]));
        },
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// abs: |x|; the smallest integer is its own. The derivative at 0 and -0 is 1.
constinit const Prim prim::abs = {
    .name = "abs",
    .work = Work::elementwise,
    .type = number_elementwise,
    .eval =
        [](const EvalIn& in) {
          eval_number(in, [](auto x) {
            using T = decltype(x);
            if constexpr (std::is_floating_point_v<T>)
              return std::fabs(x);
            else
              return x < T{0} ? static_cast<T>(-wide(x)) : x;
          });
        },
    .jvp = [](const JvpIn& in) -> Arrays {
      const Array positive = op::ge(in.x[0], op::number_like(0, in.x[0]));
      return {op::select(positive, in.t[0], op::neg(in.t[0]))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// sign: -1, 0 or 1; NaN and the sign of a zero are kept.
constinit const Prim prim::sign = {
    .name = "sign",
    .work = Work::elementwise,
    .type = number_elementwise,
    .eval =
        [](const EvalIn& in) {
          eval_number(in, [](auto x) {
            using T = decltype(x);
            return x > T{0} ? T{1} : x < T{0} ? static_cast<T>(-1) : x;
          });
        },
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// add: a + b; integers wrap. Linear in both.
constinit const Prim prim::add = {
    .name = "add",
    .work = Work::elementwise,
    .type = number_elementwise,
    .eval =
        [](const EvalIn& in) {
          eval_number(in, [](auto a, auto b) { return static_cast<decltype(a)>(wide(a) + wide(b)); });
        },
    .jvp = [](const JvpIn& in) -> Arrays { return {add_tangents(in.t[0], in.t[1])}; },
    .transpose =
        [](const TransposeIn& in) {
          for (std::size_t i : {0u, 1u})
            if (in.wants(i)) in.acc[i]->add(in.ct[0]);
        },
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// sub: a - b; integers wrap. Linear in both.
constinit const Prim prim::sub = {
    .name = "sub",
    .work = Work::elementwise,
    .type = number_elementwise,
    .eval =
        [](const EvalIn& in) {
          eval_number(in, [](auto a, auto b) { return static_cast<decltype(a)>(wide(a) - wide(b)); });
        },
    .jvp = [](const JvpIn& in) -> Arrays {
      if (!in.has(1)) return {in.t[0]};
      return {in.has(0) ? op::sub(in.t[0], in.t[1]) : op::neg(in.t[1])};
    },
    .transpose =
        [](const TransposeIn& in) {
          if (in.wants(0)) in.acc[0]->add(in.ct[0]);
          if (in.wants(1)) in.acc[1]->add(op::neg(in.ct[0]));
        },
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// mul: a * b; integers wrap. Linear in each.
constinit const Prim prim::mul = {
    .name = "mul",
    .work = Work::elementwise,
    .type = number_elementwise,
    .eval =
        [](const EvalIn& in) {
          eval_number(in, [](auto a, auto b) { return static_cast<decltype(a)>(wide(a) * wide(b)); });
        },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {
          add_tangents(scaled(in.t[0], [&] { return in.x[1]; }), scaled(in.t[1], [&] { return in.x[0]; }))};
    },
    .transpose =
        [](const TransposeIn& in) {
          if (in.wants(0)) in.acc[0]->add(op::mul(in.ct[0], in.x[1]));
          if (in.wants(1)) in.acc[1]->add(op::mul(in.ct[0], in.x[0]));
        },
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// div: a / b; of integers the truncated quotient, x / 0 = -1 (all bits set). Linear in a.
constinit const Prim prim::div = {
    .name = "div",
    .work = Work::elementwise,
    .type = number_elementwise,
    .eval = [](const EvalIn& in) { eval_number(in, [](auto a, auto b) { return math::div(a, b); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      const Array ta = in.has(0) ? op::div(in.t[0], in.x[1]) : Array();
      if (!in.has(1)) return {ta};
      const Array tb = op::mul(op::mul(op::neg(in.t[1]), in.x[0]), op::integer_pow(in.x[1], -2));
      return {add_tangents(ta, tb)};
    },
    .transpose =
        [](const TransposeIn& in) {
          if (in.wants(0)) in.acc[0]->add(op::div(in.ct[0], in.x[1]));
        },
    .batch = batch_div,
    .cost = cost_flop,
};

// rem: the remainder of the truncated quotient, with the sign of a; of integers x rem 0 = x.
constinit const Prim prim::rem = {
    .name = "rem",
    .work = Work::elementwise,
    .type = number_elementwise,
    .eval = [](const EvalIn& in) { eval_number(in, [](auto a, auto b) { return math::rem(a, b); }); },
    .jvp = [](const JvpIn& in) -> Arrays {
      const auto quotient = [&] { return op::neg(op::trunc(op::div(in.x[0], in.x[1]))); };
      return {add_tangents(in.t[0], scaled(in.t[1], quotient))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

Array op::neg(const Array& x) {
  return bind1(prim::neg, {x});
}
Array op::abs(const Array& x) {
  return bind1(prim::abs, {x});
}
Array op::sign(const Array& x) {
  return bind1(prim::sign, {x});
}
Array op::add(const Array& a, const Array& b) {
  return bind1(prim::add, {a, b});
}
Array op::sub(const Array& a, const Array& b) {
  return bind1(prim::sub, {a, b});
}
Array op::mul(const Array& a, const Array& b) {
  return bind1(prim::mul, {a, b});
}
Array op::div(const Array& a, const Array& b) {
  return bind1(prim::div, {a, b});
}
Array op::rem(const Array& a, const Array& b) {
  return bind1(prim::rem, {a, b});
}

}  // namespace anadrome
