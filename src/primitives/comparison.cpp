// eq, ne, lt, le, gt, ge: comparisons of b1 (false < true), integers and floats; the result is b1.
#include "core/builder.h"
#include "primitives/elementwise.h"

namespace anadrome {
namespace {

template <class F> void eval_compare(const EvalIn& in, F f) {
  dispatch_real(in.in[0].dtype, [&](auto tag) { eval_binary<typename decltype(tag)::type>(in, f); });
}

}  // namespace

// eq: a == b; NaN equals nothing.
constinit const Prim prim::eq = {
    .name = "eq",
    .work = Work::elementwise,
    .type = compare_elementwise,
    .eval = [](const EvalIn& in) { eval_compare(in, [](auto a, auto b) -> bool { return a == b; }); },
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// ne: a != b; NaN differs from everything.
constinit const Prim prim::ne = {
    .name = "ne",
    .work = Work::elementwise,
    .type = compare_elementwise,
    .eval = [](const EvalIn& in) { eval_compare(in, [](auto a, auto b) -> bool { return a != b; }); },
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// lt: a < b; false beside NaN.
constinit const Prim prim::lt = {
    .name = "lt",
    .work = Work::elementwise,
    .type = compare_elementwise,
    .eval = [](const EvalIn& in) { eval_compare(in, [](auto a, auto b) -> bool { return a < b; }); },
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// le: a <= b; false beside NaN.
constinit const Prim prim::le = {
    .name = "le",
    .work = Work::elementwise,
    .type = compare_elementwise,
    .eval = [](const EvalIn& in) { eval_compare(in, [](auto a, auto b) -> bool { return a <= b; }); },
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// gt: a > b; false beside NaN.
constinit const Prim prim::gt = {
    .name = "gt",
    .work = Work::elementwise,
    .type = compare_elementwise,
    .eval = [](const EvalIn& in) { eval_compare(in, [](auto a, auto b) -> bool { return a > b; }); },
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// ge: a >= b; false beside NaN.
constinit const Prim prim::ge = {
    .name = "ge",
    .work = Work::elementwise,
    .type = compare_elementwise,
    .eval = [](const EvalIn& in) { eval_compare(in, [](auto a, auto b) -> bool { return a >= b; }); },
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

Array op::eq(const Array& a, const Array& b) {
  return bind1(prim::eq, {a, b});
}
Array op::ne(const Array& a, const Array& b) {
  return bind1(prim::ne, {a, b});
}
Array op::lt(const Array& a, const Array& b) {
  return bind1(prim::lt, {a, b});
}
Array op::le(const Array& a, const Array& b) {
  return bind1(prim::le, {a, b});
}
Array op::gt(const Array& a, const Array& b) {
  return bind1(prim::gt, {a, b});
}
Array op::ge(const Array& a, const Array& b) {
  return bind1(prim::ge, {a, b});
}

}  // namespace anadrome
