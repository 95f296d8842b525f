// max, min, clamp: NaN propagates and 0 is larger than -0.
#include <cmath>

#include "core/builder.h"
#include "primitives/elementwise.h"

namespace anadrome {
namespace {

template <class T> bool negative_zero_or_less(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::signbit(x);
  else
    return false;
}
template <class T> T larger(T a, T b) {
  return a > b || (a == b && !negative_zero_or_less(a)) || a != a ? a : b;
}
template <class T> T smaller(T a, T b) {
  return a < b || (a == b && negative_zero_or_less(a)) || a != a ? a : b;
}

/// 1 where `wins` holds, one half at ties, 0 elsewhere (also beside NaN).
Array tie_weight(const JvpIn& in, const Array& wins) {
  const auto number = [&](double value) { return op::number_like(value, in.y[0]); };
  const Array tied = op::eq(in.x[0], in.x[1]);
  return op::select(wins, number(1), op::select(tied, number(0.5), number(0)));
}

/// clamp is evaluated here because each of its operands may be a scalar.
template <class T> void eval_clamp(const EvalIn& in) {
  const T* p[3];
  std::int64_t step[3];
  for (int k = 0; k < 3; ++k) {
    p[k] = static_cast<const T*>(in.x[k]);
    step[k] = in.in[k].rank() == 0 ? 0 : 1;
  }
  T* y = static_cast<T*>(in.y[0]);
  using C = Compute<T>;
  const std::int64_t n = in.out[0].elements();
  for (std::int64_t i = 0; i < n; ++i) {
    const C lo = static_cast<C>(p[0][i * step[0]]), x = static_cast<C>(p[1][i * step[1]]);
    const C hi = static_cast<C>(p[2][i * step[2]]);
    y[i] = static_cast<T>(smaller(larger(lo, x), hi));
  }
}

Arrays jvp_clamp(const JvpIn& in) {
  const Array &lo = in.x[0], &x = in.x[1], &hi = in.x[2];
  const Array zero = op::number_like(0, in.y[0]);
  Array sum;
  if (in.has(0)) sum = op::select(op::gt(lo, x), in.t[0], zero);
  if (in.has(1)) {
    const Array inside = op::bit_and(op::gt(x, lo), op::lt(x, hi));
    sum = add_tangents(sum, op::select(inside, in.t[1], zero));
  }
  if (in.has(2)) sum = add_tangents(sum, op::select(op::lt(hi, x), in.t[2], zero));
  return {sum};
}

}  // namespace

// max: the larger; the derivative is shared at ties.
constinit const Prim prim::max = {
    .name = "max",
    .work = Work::elementwise,
    .type = real_elementwise,
    .eval =
        [](const EvalIn& in) {
          dispatch_real(in.in[0].dtype, [&](auto tag) {
            eval_binary<typename decltype(tag)::type>(in, [](auto a, auto b) { return larger(a, b); });
          });
        },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {add_tangents(scaled(in.t[0], [&] { return tie_weight(in, op::gt(in.x[0], in.x[1])); }),
                           scaled(in.t[1], [&] { return tie_weight(in, op::lt(in.x[0], in.x[1])); }))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// min: the smaller; the derivative is shared at ties.
constinit const Prim prim::min = {
    .name = "min",
    .work = Work::elementwise,
    .type = real_elementwise,
    .eval =
        [](const EvalIn& in) {
          dispatch_real(in.in[0].dtype, [&](auto tag) {
            eval_binary<typename decltype(tag)::type>(in, [](auto a, auto b) { return smaller(a, b); });
          });
        },
    .jvp = [](const JvpIn& in) -> Arrays {
      return {add_tangents(scaled(in.t[0], [&] { return tie_weight(in, op::lt(in.x[0], in.x[1])); }),
                           scaled(in.t[1], [&] { return tie_weight(in, op::gt(in.x[0], in.x[1])); }))};
    },
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// clamp: min(max(lo, x), hi), operands (lo, x, hi); the derivative of x is 0 at and beyond a bound.
constinit const Prim prim::clamp = {
    .name = "clamp",
    .work = Work::elementwise,
    .type = number_elementwise,
    .eval =
        [](const EvalIn& in) {
          dispatch_number(in.in[0].dtype, [&](auto tag) { eval_clamp<typename decltype(tag)::type>(in); });
        },
    .jvp = jvp_clamp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

Array op::max(const Array& a, const Array& b) {
  return bind1(prim::max, {a, b});
}
Array op::min(const Array& a, const Array& b) {
  return bind1(prim::min, {a, b});
}
Array op::clamp(const Array& lo, const Array& x, const Array& hi) {
  return bind1(prim::clamp, {lo, x, hi});
}

}  // namespace anadrome
