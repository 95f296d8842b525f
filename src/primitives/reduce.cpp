// Reductions over any set of axes: sum, prod, max, min of numbers, and, or of bits. An empty reduction gives
// the neutral element; max and min of floats propagate NaN. Floats are summed in double and rounded once.
#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"
#include "primitives/reduce_kernel.h"

namespace anadrome {

namespace {

Types type_reduced(const TypeIn& in, bool allowed, const char* wanted) {
  refuse_complex(in);
  const Type& x = in.x[0];
  const Ints& axes = in.as<AxesAttr>().axes;
  if (!allowed) refuse(in, std::string("needs ") + wanted + ", got " + to_string(x) + ". Convert it first.");
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] < 0 || axes[i] >= x.rank() || (i && axes[i] <= axes[i - 1]))
      refuse(in, "axes " + to_string(axes) + " of " + to_string(x) + ": each must exist, ascending, once.");
  Type y{x.dtype, {}};
  for (int k = 0; k < x.rank(); ++k)
    if (std::find(axes.begin(), axes.end(), k) == axes.end()) y.shape.push_back(x.shape[k]);
  return {y};
}
Types type_number(const TypeIn& in) {
  return type_reduced(in, is_integer(in.x[0].dtype) || is_float(in.x[0].dtype), "integers or floats");
}
Types type_real(const TypeIn& in) {
  return type_reduced(in, true, "");
}
Types type_bits(const TypeIn& in) {
  return type_reduced(in, is_bool(in.x[0].dtype) || is_integer(in.x[0].dtype), "b1 or integers");
}

template <template <class> class Op> void eval_number(const EvalIn& in) {
  dispatch_number(in.in[0].dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    reduction::fold<Op<T>, T>(in.x[0], in.y[0], in.in[0].shape, in.as<AxesAttr>().axes);
  });
}
template <template <class> class Op> void eval_real(const EvalIn& in) {
  if (!is_bool(in.in[0].dtype)) return eval_number<Op>(in);
  // b1 is stored as 0 and 1, which compare as they should.
  reduction::fold<Op<std::uint8_t>, std::uint8_t>(in.x[0], in.y[0], in.in[0].shape, in.as<AxesAttr>().axes);
  const std::int64_t n = in.out[0].elements();
  for (std::int64_t i = 0; i < n; ++i) {  // the neutral element of an empty reduction is 255
    auto* y = static_cast<std::uint8_t*>(in.y[0]);
    y[i] = y[i] != 0;
  }
}
template <template <class> class Op> void eval_bits(const EvalIn& in) {
  const Ints& axes = in.as<AxesAttr>().axes;
  if (is_bool(in.in[0].dtype)) return reduction::fold<Op<bool>, bool>(in.x[0], in.y[0], in.in[0].shape, axes);
  dispatch_integer(in.in[0].dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    reduction::fold<Op<T>, T>(in.x[0], in.y[0], in.in[0].shape, axes);
  });
}

Cost cost_reduce(const CostIn& in) {
  const double n = static_cast<double>(in.in[0].elements() - in.out[0].elements());
  return {.flops = n > 0 ? n : 0};
}

BatchOut batch_reduce(const BatchIn& in) {
  const Ints axes = past_batch(in.as<AxesAttr>().axes, in.axis[0]);
  const auto before = std::count_if(axes.begin(), axes.end(), [&](std::int64_t a) { return a < in.axis[0]; });
  return {bind1(*in.eqn.prim, {in.x[0]}, AxesAttr{axes}), in.axis[0] - static_cast<int>(before)};
}

/// Repeats a reduced value along the axes that were reduced.
Array spread(const Array& y, const Shape& shape, const Ints& axes) {
  Ints dims;
  for (int k = 0; k < shape.rank(); ++k)
    if (std::find(axes.begin(), axes.end(), k) == axes.end()) dims.push_back(k);
  return op::broadcast_in_dim(y, shape, dims);
}

/// The tangent is the mean of the tangents of all elements that attain the extremum.
Arrays jvp_extremum(const JvpIn& in) {
  const Ints& axes = in.as<AxesAttr>().axes;
  const DType dtype = in.in[0].dtype;
  const Array attains = op::convert(op::eq(in.x[0], spread(in.y[0], in.in[0].shape, axes)), dtype);
  const Array count = op::reduce_sum(attains, axes);
  return {op::div(op::reduce_sum(op::mul(in.t[0], attains), axes), count)};
}

Array half_of(const Array& x, std::int64_t axis, bool second) {
  Ints start = axes_between(0, x.rank()), limit = x.shape(), strides = start;
  for (std::int64_t& s : start) s = 0;
  for (std::int64_t& s : strides) s = 1;
  const std::int64_t half = x.shape()[axis] / 2;
  if (second)
    start[axis] = half;
  else
    limit[axis] = half;
  return op::slice(x, start, limit, strides);
}
Array made_even(const Array& x, std::int64_t axis, double neutral) {
  if (x.shape()[axis] % 2 == 0) return x;
  Ints none = x.shape();
  for (std::int64_t& s : none) s = 0;
  Ints high = none;
  high[axis] = 1;
  return op::pad(x, op::number_like(neutral, x), none, high, none);
}
/// Multiplies halves of the axis until one element is left, with the product rule in each step: right also
/// where factors are zero, at every order, with work proportional to the elements.
Arrays jvp_prod(const JvpIn& in) {
  if (in.in[0].elements() == 0) return {Array()};
  Array x = in.x[0], t = in.t[0];
  for (std::int64_t axis : in.as<AxesAttr>().axes)
    while (x.shape()[axis] > 1) {
      x = made_even(x, axis, 1), t = made_even(t, axis, 0);
      const Array a = half_of(x, axis, false), b = half_of(x, axis, true);
      t = op::add(op::mul(half_of(t, axis, false), b), op::mul(half_of(t, axis, true), a));
      x = op::mul(a, b);
    }
  return {op::reshape(t, in.out[0].shape)};
}

Arrays jvp_none(const JvpIn&) {
  return {Array()};
}

constexpr auto not_linear = no_rule("not linear; its tangent is made of linear primitives");

Array reduced(const Prim& prim, const Array& x, const Ints& axes) {
  return axes.empty() ? x : bind1(prim, {x}, AxesAttr{axes});
}

}  // namespace

constinit const Prim prim::reduce_sum = {
    .name = "reduce_sum",
    .type = type_number,
    .eval = eval_number<reduction::Sum>,
    .jvp = [](const JvpIn& in) -> Arrays { return {op::reduce_sum(in.t[0], in.as<AxesAttr>().axes)}; },
    .transpose =
        [](const TransposeIn& in) {
          if (in.wants(0)) in.acc[0]->add(spread(in.ct[0], in.in[0].shape, in.as<AxesAttr>().axes));
        },
    .batch = batch_reduce,
    .cost = cost_reduce};
constinit const Prim prim::reduce_prod = {.name = "reduce_prod",
                                          .type = type_number,
                                          .eval = eval_number<reduction::Product>,
                                          .jvp = jvp_prod,
                                          .transpose = not_linear,
                                          .batch = batch_reduce,
                                          .cost = cost_reduce};
constinit const Prim prim::reduce_max = {.name = "reduce_max",
                                         .type = type_real,
                                         .eval = eval_real<reduction::Max>,
                                         .jvp = jvp_extremum,
                                         .transpose = not_linear,
                                         .batch = batch_reduce,
                                         .cost = cost_reduce};
constinit const Prim prim::reduce_min = {.name = "reduce_min",
                                         .type = type_real,
                                         .eval = eval_real<reduction::Min>,
                                         .jvp = jvp_extremum,
                                         .transpose = not_linear,
                                         .batch = batch_reduce,
                                         .cost = cost_reduce};
constinit const Prim prim::reduce_and = {.name = "reduce_and",
                                         .type = type_bits,
                                         .eval = eval_bits<reduction::And>,
                                         .jvp = jvp_none,
                                         .transpose = not_linear,
                                         .batch = batch_reduce,
                                         .cost = cost_reduce};
constinit const Prim prim::reduce_or = {.name = "reduce_or",
                                        .type = type_bits,
                                        .eval = eval_bits<reduction::Or>,
                                        .jvp = jvp_none,
                                        .transpose = not_linear,
                                        .batch = batch_reduce,
                                        .cost = cost_reduce};

Array op::reduce_sum(const Array& x, const Ints& axes) {
  return reduced(prim::reduce_sum, x, axes);
}
Array op::reduce_prod(const Array& x, const Ints& axes) {
  return reduced(prim::reduce_prod, x, axes);
}
Array op::reduce_max(const Array& x, const Ints& axes) {
  return reduced(prim::reduce_max, x, axes);
}
Array op::reduce_min(const Array& x, const Ints& axes) {
  return reduced(prim::reduce_min, x, axes);
}
Array op::reduce_and(const Array& x, const Ints& axes) {
  return reduced(prim::reduce_and, x, axes);
}
Array op::reduce_or(const Array& x, const Ints& axes) {
  return reduced(prim::reduce_or, x, axes);
}

}  // namespace anadrome
