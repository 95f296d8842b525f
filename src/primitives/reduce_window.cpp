// reduce_window_sum, _max, _min: reductions over sliding windows; padding counts as the neutral element.
// Where several elements of a window attain the extremum, the first one carries the derivative.
#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"
#include "primitives/reduce_kernel.h"

namespace anadrome {

namespace {

Types type_window(const TypeIn& in) {
  refuse_complex(in);
  const Type& x = in.x[0];
  const auto& [window, strides, low, high] = in.as<ReduceWindowAttr>();
  if (!is_integer(x.dtype) && !is_float(x.dtype))
    refuse(in, "needs integers or floats, got " + to_string(x) + ".");
  require_per_axis(in, window, "the window"), require_per_axis(in, strides, "the strides");
  require_per_axis(in, low, "the low padding"), require_per_axis(in, high, "the high padding");
  Type y{x.dtype, {}};
  for (int k = 0; k < x.rank(); ++k) {
    if (window[k] < 1 || strides[k] < 1 || low[k] < 0 || high[k] < 0)
      refuse(in, "axis " + std::to_string(k) + " has window " + std::to_string(window[k]) + ", stride " +
                     std::to_string(strides[k]) + ", padding " + std::to_string(low[k]) + " and " +
                     std::to_string(high[k]) +
                     ". Windows and strides are positive, padding is not negative.");
    const std::int64_t padded = x.shape[k] + low[k] + high[k];
    y.shape.push_back(padded < window[k] ? 0 : (padded - window[k]) / strides[k] + 1);
  }
  return {y};
}

/// Calls f(at) for every position of a grid, the last axis fastest. No call for an empty grid.
template <class F> void for_each_position(const std::int64_t* extent, int rank, F f) {
  for (int k = 0; k < rank; ++k)
    if (extent[k] == 0) return;
  Strides at{};
  for (;;) {
    f(at);
    int k = rank - 1;
    for (; k >= 0; --k) {
      if (++at[k] < extent[k]) break;
      at[k] = 0;
    }
    if (k < 0) return;
  }
}

/// One row of results: the running values in `total` take in one row of the operand for each place of the
/// last axis of the window.
template <class Op, class T>
void add_row(const T* x, std::int64_t n, std::int64_t results, std::int64_t window, std::int64_t stride,
             std::int64_t low, typename Op::Accumulator* total) {
  for (std::int64_t w = 0; w < window; ++w) {
    const std::int64_t shift = w - low;  // result o reads element o * stride + shift
    const std::int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    const std::int64_t last = shift >= n ? 0 : std::min(results, (n - 1 - shift) / stride + 1);
    for (std::int64_t o = first; o < last; ++o)
      total[o] = Op::combine(total[o], reduction::widen<typename Op::Accumulator>(x[o * stride + shift]));
  }
}

template <class Op, class T> void eval_rows(const EvalIn& in) {
  using A = typename Op::Accumulator;
  const auto& [window, strides, low, high] = in.as<ReduceWindowAttr>();
  const Shape &from = in.in[0].shape, &to = in.out[0].shape;
  const T* x = static_cast<const T*>(in.x[0]);
  T* y = static_cast<T*>(in.y[0]);
  const int last = from.rank() - 1;
  if (last < 0) {
    *y = *x;
    return;
  }
  if (to.elements() == 0) return;
  A* total = static_cast<A*>(in.scratch);
  const Strides steps = row_major(from);
  for_each_position(to.data(), last, [&](const Strides& at) {
    std::fill_n(total, to[last], A{Op::identity});
    for_each_position(window.data(), last, [&](const Strides& w) {
      std::int64_t offset = 0;
      for (int k = 0; k < last; ++k) {
        const std::int64_t i = at[k] * strides[k] + w[k] - low[k];
        if (i < 0 || i >= from[k]) return;
        offset += i * steps[k];
      }
      add_row<Op>(x + offset, from[last], to[last], window[last], strides[last], low[last], total);
    });
    for (std::int64_t o = 0; o < to[last]; ++o) *y++ = reduction::narrow<T>(total[o]);
  });
}
template <template <class> class Op> void eval_window(const EvalIn& in) {
  dispatch_number(in.in[0].dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    eval_rows<Op<T>, T>(in);
  });
}
std::size_t scratch_row(const CostIn& in) {
  return in.out[0].rank() == 0 ? 0 : sizeof(double) * static_cast<std::size_t>(in.out[0].shape.back());
}

Ints filled(int rank, std::int64_t value) {
  Ints list;
  list.resize(static_cast<std::size_t>(rank), value);
  return list;
}

/// The cotangent of element i is the sum of the cotangents of the windows over it: again a sliding sum, over
/// the cotangents spread out by the strides.
void transpose_sum(const TransposeIn& in) {
  if (!in.wants(0)) return;
  const auto& [window, strides, low, high] = in.as<ReduceWindowAttr>();
  const int rank = in.in[0].rank();
  const Shape &x = in.in[0].shape, &y = in.out[0].shape;
  if (y.elements() == 0) return in.acc[0]->add(op::zeros(in.in[0]));
  Ints before = filled(rank, 0), after = before, between = before;
  for (int k = 0; k < rank; ++k) {
    between[k] = strides[k] - 1;
    before[k] = window[k] - 1 - low[k];
    after[k] = x[k] + window[k] - 1 - before[k] - ((y[k] - 1) * strides[k] + 1);
  }
  const Array spread = op::pad(in.ct[0], op::number_like(0, in.ct[0]), before, after, between);
  in.acc[0]->add(op::reduce_window_sum(spread, {window, filled(rank, 1), filled(rank, 0), filled(rank, 0)}));
}

/// The elements that lie at place `w` of each window.
Array at_place(const Array& padded, const Strides& w, const Shape& y, const Ints& strides) {
  Ints start, limit;
  for (int k = 0; k < y.rank(); ++k) {
    start.push_back(w[k]);
    limit.push_back(w[k] + (y[k] - 1) * strides[k] + 1);
  }
  return op::slice(padded, start, limit, strides);
}

/// Goes through the places of the window from the last to the first, so that the first element that attains
/// the extremum is chosen last.
Arrays jvp_extremum(const JvpIn& in, double neutral) {
  const auto& [window, strides, low, high] = in.as<ReduceWindowAttr>();
  const Shape& y = in.out[0].shape;
  if (y.elements() == 0) return {Array()};
  const Ints none = filled(y.rank(), 0);
  const Array x = op::pad(in.x[0], op::number_like(neutral, in.x[0]), low, high, none);
  const Array t = op::pad(in.t[0], op::number_like(0, in.t[0]), low, high, none);
  Array tangent;
  for_each_position(window.data(), window.rank(), [&](const Strides& from_last) {
    Strides w{};
    for (int k = 0; k < window.rank(); ++k) w[k] = window[k] - 1 - from_last[k];
    const Array here = at_place(t, w, y, strides);
    tangent =
        tangent.defined() ? op::select(op::eq(at_place(x, w, y, strides), in.y[0]), here, tangent) : here;
  });
  return {tangent};
}

BatchOut batch_window(const BatchIn& in) {
  ReduceWindowAttr attr = in.as<ReduceWindowAttr>();
  const int batch = in.axis[0];
  attr.window = inserted(attr.window, batch, 1), attr.strides = inserted(attr.strides, batch, 1);
  attr.low = inserted(attr.low, batch, 0), attr.high = inserted(attr.high, batch, 0);
  return {bind1(*in.eqn.prim, {in.x[0]}, attr), batch};
}

Cost cost_window(const CostIn& in) {
  const double places = static_cast<double>(in.as<ReduceWindowAttr>().window.elements());
  return {.flops = static_cast<double>(in.out[0].elements()) * (places - 1)};
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

constinit const Prim prim::reduce_window_sum = {
    .name = "reduce_window_sum",
    .type = type_window,
    .eval = eval_window<reduction::Sum>,
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::reduce_window_sum(in.t[0], in.as<ReduceWindowAttr>())};
    },
    .transpose = transpose_sum,
    .batch = batch_window,
    .cost = cost_window,
    .scratch = scratch_row};
constinit const Prim prim::reduce_window_max = {
    .name = "reduce_window_max",
    .type = type_window,
    .eval = eval_window<reduction::Max>,
    .jvp = [](const JvpIn& in) -> Arrays { return jvp_extremum(in, -infinity); },
    .transpose = no_rule("not linear; its tangent is made of linear primitives"),
    .batch = batch_window,
    .cost = cost_window,
    .scratch = scratch_row};
constinit const Prim prim::reduce_window_min = {
    .name = "reduce_window_min",
    .type = type_window,
    .eval = eval_window<reduction::Min>,
    .jvp = [](const JvpIn& in) -> Arrays { return jvp_extremum(in, infinity); },
    .transpose = no_rule("not linear; its tangent is made of linear primitives"),
    .batch = batch_window,
    .cost = cost_window,
    .scratch = scratch_row};

Array op::reduce_window_sum(const Array& x, const ReduceWindowAttr& window) {
  return bind1(prim::reduce_window_sum, {x}, window);
}
Array op::reduce_window_max(const Array& x, const ReduceWindowAttr& window) {
  return bind1(prim::reduce_window_max, {x}, window);
}
Array op::reduce_window_min(const Array& x, const ReduceWindowAttr& window) {
  return bind1(prim::reduce_window_min, {x}, window);
}

}  // namespace anadrome
