// scatter_mul, scatter_min, scatter_max: windows of an array multiplied by, or compared with, updates.
#include <cmath>

#include "primitives/elementwise.h"
#include "primitives/scatter.h"

namespace anadrome {

namespace {

void eval_scatter_mul(const EvalIn& in) {
  dispatch_number(in.out[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    scatter_windows<T>(in, [](T x, T update) {
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(update));
      } else {
        return static_cast<T>(static_cast<Compute<T>>(x) * static_cast<Compute<T>>(update));
      }
    });
  });
}

/// The larger (or smaller) of two, NaN if one is; 0 is larger than -0.
template <bool Largest, class T> T extreme(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return a + b;
    if (a == b) return std::signbit(a) == Largest ? b : a;
  }
  return (a < b) == Largest ? b : a;
}

template <bool Largest> void eval_scatter_extreme(const EvalIn& in) {
  dispatch_number(in.out[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    scatter_windows<T>(in, [](T x, T update) {
      return static_cast<T>(extreme<Largest>(static_cast<Compute<T>>(x), static_cast<Compute<T>>(update)));
    });
  });
}

/// For each element of the updates, the product of the others at its place and of the element of `x` there.
Array product_of_others(const Array& x, const Array& indices, const Array& updates, const ScatterAttr& s) {
  const GatherAttr read = gather_of(s, updates.shape(), x.rank(), IndexMode::clip);
  const Array own = op::gather(x, indices, read);
  if (index_count(indices.shape()) == 1) return own;
  const Type type = updates.type();
  const Array one = op::number_like(1, x), none = op::number_like(0, x);
  const auto count = [&](const Array& what) {
    return op::gather(op::scatter_add(op::zeros(x.type()), indices, what, s), indices, read);
  };
  // Zeros are counted apart, so that the others' product is a quotient by a number that is not zero; a place
  // with a single update reads `x` itself and stays exact.
  const Array is_zero = op::eq(updates, none);
  const Array safe = op::select(is_zero, op::full(1, type), updates);
  const Array quotient = op::div(op::gather(op::scatter_mul(x, indices, safe, s), indices, read), safe);
  const Array other_zeros = op::sub(count(op::convert(is_zero, x.dtype())), op::convert(is_zero, x.dtype()));
  const Array product = op::select(op::eq(other_zeros, none), quotient, op::zeros(type));
  return op::select(op::eq(count(op::full(1, type)), one), own, product);
}

Arrays jvp_scatter_mul(const JvpIn& in) {
  const auto& s = in.as<ScatterAttr>();
  const Array t = in.has(0) ? op::scatter_mul(in.t[0], in.x[1], in.x[2], s) : in.dense(0);
  if (!in.has(2)) return {t};
  const Array part = op::mul(in.t[2], product_of_others(in.x[0], in.x[1], in.x[2], s));
  return {op::scatter_add(t, in.x[1], part, s)};
}

void transpose_scatter_mul(const TransposeIn& in) {
  if (in.linear(2)) throw InternalError("scatter_mul: linear in its updates");
  if (in.wants(0)) in.acc[0]->add(op::scatter_mul(in.ct[0], in.x[1], in.x[2], in.as<ScatterAttr>()));
}

/// All that reach the extreme value of a place share its tangent evenly.
template <bool Largest> Arrays jvp_scatter_extreme(const JvpIn& in) {
  const auto& s = in.as<ScatterAttr>();
  const Array &x = in.x[0], &indices = in.x[1], &updates = in.x[2], &y = in.y[0];
  const auto reaches = [&](const Array& value, const Array& result) {
    // Not "equal", which would leave nobody where the result is NaN.
    return op::bit_not(Largest ? op::lt(value, result) : op::gt(value, result));
  };
  const Array at_place = op::gather(y, indices, gather_of(s, updates.shape(), x.rank(), IndexMode::clip));
  const Array mask_x = op::convert(reaches(x, y), x.dtype());
  const Array mask_updates = op::convert(reaches(updates, at_place), x.dtype());
  const Array number = op::scatter_add(mask_x, indices, mask_updates, s);
  Array t = in.has(0) ? op::mul(in.t[0], mask_x) : in.dense(0);
  if (in.has(2)) t = op::scatter_add(t, indices, op::mul(in.t[2], mask_updates), s);
  return {op::div(t, number)};
}

}  // namespace

constinit const Prim prim::scatter_mul = {.name = "scatter_mul",
                                          .type = type_scatter_number,
                                          .eval = eval_scatter_mul,
                                          .jvp = jvp_scatter_mul,
                                          .transpose = transpose_scatter_mul,
                                          .batch = batch_scatter,
                                          .cost = cost_scatter,
                                          .in_place = 0};

constinit const Prim prim::scatter_min = {
    .name = "scatter_min",
    .type = type_scatter_number,
    .eval = eval_scatter_extreme<false>,
    .jvp = jvp_scatter_extreme<false>,
    .transpose = no_rule("a minimum is not linear; its tangent is made of scatter_add"),
    .batch = batch_scatter,
    .cost = cost_scatter,
    .in_place = 0};

constinit const Prim prim::scatter_max = {
    .name = "scatter_max",
    .type = type_scatter_number,
    .eval = eval_scatter_extreme<true>,
    .jvp = jvp_scatter_extreme<true>,
    .transpose = no_rule("a maximum is not linear; its tangent is made of scatter_add"),
    .batch = batch_scatter,
    .cost = cost_scatter,
    .in_place = 0};

Array op::scatter_mul(const Array& x, const Array& indices, const Array& updates, const ScatterAttr& dims) {
  return bind1(prim::scatter_mul, {x, indices, updates}, dims);
}
Array op::scatter_min(const Array& x, const Array& indices, const Array& updates, const ScatterAttr& dims) {
  return bind1(prim::scatter_min, {x, indices, updates}, dims);
}
Array op::scatter_max(const Array& x, const Array& indices, const Array& updates, const ScatterAttr& dims) {
  return bind1(prim::scatter_max, {x, indices, updates}, dims);
}

}  // namespace anadrome
