// argmax, argmin: i32 index of the first extreme element along an axis; the first NaN counts as the extreme.
#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

Types type_arg(const TypeIn& in) {
  refuse_complex(in);
  const Type& x = in.x[0];
  const std::int64_t axis = in.as<AxisAttr>().axis;
  if (axis < 0 || axis >= x.rank()) refuse(in, "axis " + std::to_string(axis) + " of " + to_string(x) + ".");
  const std::int64_t n = x.shape[axis];
  if (n == 0)
    refuse(in, "axis " + std::to_string(axis) + " of " + to_string(x) + " is empty: it has no such element.");
  if (n > std::numeric_limits<std::int32_t>::max())
    refuse(in, "axis " + std::to_string(axis) + " of " + to_string(x) + " is too long for an i32 index.");
  Type y{i32, x.shape};
  y.shape.erase(static_cast<std::size_t>(axis));
  return {y};
}

/// Whether `x` replaces `best`: only what is strictly better, and NaN unless there is one already.
template <bool largest, class C> bool better(C x, C best) {
  if constexpr (std::is_floating_point_v<C>)
    if (x != x) return best == best;
  return largest ? x > best : x < best;
}

/// One block of neighbouring columns of a [n][width] matrix.
template <bool largest, class T>
void find_columns(const T* x, std::int64_t n, std::int64_t width, std::int64_t columns, std::int32_t* y) {
  using C = Compute<T>;
  constexpr std::int64_t block = 64;
  for (std::int64_t c = 0; c < columns; c += block) {
    const std::int64_t m = std::min(block, columns - c);
    C best[block];
    for (std::int64_t j = 0; j < m; ++j) best[j] = static_cast<C>(x[c + j]), y[c + j] = 0;
    for (std::int64_t i = 1; i < n; ++i)
      for (std::int64_t j = 0; j < m; ++j) {
        const C v = static_cast<C>(x[i * width + c + j]);
        if (better<largest>(v, best[j])) best[j] = v, y[c + j] = static_cast<std::int32_t>(i);
      }
  }
}

template <bool largest> void eval_arg(const EvalIn& in) {
  const Shape& shape = in.in[0].shape;
  const std::int64_t axis = in.as<AxisAttr>().axis, n = shape[axis], inner = row_major(shape)[axis];
  const std::int64_t outer = in.out[0].elements() / std::max<std::int64_t>(inner, 1);
  dispatch_real(in.in[0].dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    for (std::int64_t o = 0; o < outer; ++o)
      find_columns<largest>(static_cast<const T*>(in.x[0]) + o * n * inner, n, inner, inner,
                            static_cast<std::int32_t*>(in.y[0]) + o * inner);
  });
}

BatchOut batch_arg(const BatchIn& in) {
  const std::int64_t axis = in.as<AxisAttr>().axis;
  const bool behind = axis >= in.axis[0];
  return {bind1(*in.eqn.prim, {in.x[0]}, AxisAttr{axis + behind}), behind ? in.axis[0] : in.axis[0] - 1};
}

Cost cost_arg(const CostIn& in) {
  return {.flops = static_cast<double>(in.in[0].elements() - in.out[0].elements())};
}

}  // namespace

constinit const Prim prim::argmax = {.name = "argmax",
                                     .type = type_arg,
                                     .eval = eval_arg<true>,
                                     .jvp = [](const JvpIn&) -> Arrays { return {Array()}; },
                                     .transpose = no_rule("an index is not linear in the elements"),
                                     .batch = batch_arg,
                                     .cost = cost_arg};
constinit const Prim prim::argmin = {.name = "argmin",
                                     .type = type_arg,
                                     .eval = eval_arg<false>,
                                     .jvp = [](const JvpIn&) -> Arrays { return {Array()}; },
                                     .transpose = no_rule("an index is not linear in the elements"),
                                     .batch = batch_arg,
                                     .cost = cost_arg};

Array op::argmax(const Array& x, std::int64_t axis) {
  return bind1(prim::argmax, {x}, AxisAttr{axis});
}
Array op::argmin(const Array& x, std::int64_t axis) {
  return bind1(prim::argmin, {x}, AxisAttr{axis});
}

}  // namespace anadrome
