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

/// Whether `x` replaces `best`: only what is strictly better, and NaN unless there is one already. Without branches.
template <bool largest, class C> bool better(C x, C best) {
  const bool beyond = largest ? x > best : x < best;
  if constexpr (std::is_floating_point_v<C>) return beyond | ((x != x) & (best == best));
  return beyond;
}

constexpr std::int64_t block = 64;

/// The best of each of up to `block` neighbouring columns of a [n][width] matrix, and the first row that has it.
template <class C> struct Best {
  C value[block];
  std::int32_t row[block];
};
template <bool largest, class T>
void find_rows(const T* x, std::int64_t n, std::int64_t width, std::int64_t columns, Best<Compute<T>>& best) {
  using C = Compute<T>;
  for (std::int64_t j = 0; j < columns; ++j) best.value[j] = static_cast<C>(x[j]), best.row[j] = 0;
  for (std::int64_t i = 1; i < n; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const C v = static_cast<C>(x[i * width + j]);
      const bool replaces = better<largest>(v, best.value[j]);
      best.value[j] = replaces ? v : best.value[j];
      best.row[j] = replaces ? static_cast<std::int32_t>(i) : best.row[j];
    }
}

/// The place of the best of n elements: of `block` columns first, then of those and the rest.
template <bool largest, class T> std::int32_t find_one(const T* x, std::int64_t n) {
  using C = Compute<T>;
  std::int64_t at = 0, next = 1;
  if (n >= 2 * block) {
    Best<C> best;
    find_rows<largest>(x, n / block, block, block, best);
    at = best.row[0] * block;
    for (std::int64_t j = 1; j < block; ++j) {
      const C v = best.value[j], known = static_cast<C>(x[at]);
      const std::int64_t place = best.row[j] * block + j;
      const bool same = !better<largest>(known, v) && !better<largest>(v, known);
      if (better<largest>(v, known) || (same && place < at)) at = place;
    }
    next = n / block * block;
  }
  for (std::int64_t i = next; i < n; ++i)
    if (better<largest>(static_cast<C>(x[i]), static_cast<C>(x[at]))) at = i;
  return static_cast<std::int32_t>(at);
}

template <bool largest, class T>
void find_columns(const T* x, std::int64_t n, std::int64_t inner, std::int32_t* y) {
  if (inner == 1) {
    *y = find_one<largest>(x, n);
    return;
  }
  Best<Compute<T>> best;
  for (std::int64_t c = 0; c < inner; c += block) {
    const std::int64_t m = std::min(block, inner - c);
    find_rows<largest>(x + c, n, inner, m, best);
    std::copy_n(best.row, m, y + c);
  }
}

template <bool largest> void eval_arg(const EvalIn& in) {
  const Shape& shape = in.in[0].shape;
  const std::int64_t axis = in.as<AxisAttr>().axis, n = shape[axis], inner = row_major(shape)[axis];
  const std::int64_t outer = in.out[0].elements() / std::max<std::int64_t>(inner, 1);
  dispatch_real(in.in[0].dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    for (std::int64_t o = 0; o < outer; ++o)
      find_columns<largest>(static_cast<const T*>(in.x[0]) + o * n * inner, n, inner,
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
