// scatter and scatter_add: an array with windows replaced, or added to, at computed places. Both are linear
// in the array and the updates together. Index vectors are taken in order: with repeated places the last
// update wins.
#include "primitives/scatter.h"

#include "primitives/elementwise.h"

namespace anadrome {

namespace {

void eval_scatter(const EvalIn& in) {
  dispatch_size(in.out[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    scatter_windows<T>(in, [](T, T update) { return update; });
  });
}

void eval_scatter_add(const EvalIn& in) {
  dispatch_number(in.out[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    scatter_windows<T>(in, [](T x, T update) {
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(update));
      } else {
        return static_cast<T>(static_cast<Compute<T>>(x) + static_cast<Compute<T>>(update));
      }
    });
  });
}

/// b1 of the updates' shape: true where an update is the last one at its place.
Array winners(const Array& indices, const Type& x, const Shape& updates, const ScatterAttr& s) {
  // Writes the number of each index vector at its places and reads it back: who finds their own number has
  // won.
  Shape batch(indices.shape().begin(), indices.shape().end() - 1);
  const std::int64_t count = batch.elements();
  const DType dtype = count > std::numeric_limits<std::int32_t>::max() ? DType::i64 : DType::i32;
  Ints batch_axes;
  for (int k = 0; k < updates.rank(); ++k)
    if (!contains(s.update_window_dims, k)) batch_axes.push_back(k);
  const Array numbers = op::reshape(op::iota(dtype, {count}, 0), batch);
  const Array ids = op::broadcast_in_dim(numbers, updates, batch_axes);
  const Array written = op::scatter(op::full(-1, {dtype, x.shape, false}), indices, ids, s);
  return op::eq(op::gather(written, indices, gather_of(s, updates, x.rank(), IndexMode::clip)), ids);
}

Arrays jvp_scatter(const JvpIn& in) {
  // As the last update wins, so does its tangent.
  return {op::scatter(in.dense(0), in.x[1], in.dense(2), in.as<ScatterAttr>())};
}

Arrays jvp_scatter_add(const JvpIn& in) {
  if (!in.has(2)) return {in.t[0]};
  return {op::scatter_add(in.dense(0), in.x[1], in.t[2], in.as<ScatterAttr>())};
}

IndexMode read_back(IndexMode mode) {
  return mode == IndexMode::clip ? IndexMode::clip : IndexMode::zero_or_drop;
}

void transpose_scatter(const TransposeIn& in) {
  const auto& s = in.as<ScatterAttr>();
  const Array& ct = in.ct[0];
  const Type& updates = in.in[2];
  if (in.wants(0)) in.acc[0]->add(op::scatter(ct, in.x[1], op::zeros(updates), s));
  if (!in.wants(2)) return;
  const GatherAttr read = gather_of(s, updates.shape, in.in[0].rank(), read_back(s.mode));
  Array part = op::gather(ct, in.x[1], read);
  if (index_count(in.in[1].shape) > 1)
    part = op::select(winners(in.x[1], in.in[0], updates.shape, s), part, op::zeros(updates));
  in.acc[2]->add(part);
}

void transpose_scatter_add(const TransposeIn& in) {
  const auto& s = in.as<ScatterAttr>();
  if (in.wants(0)) in.acc[0]->add(in.ct[0]);
  if (in.wants(2))
    in.acc[2]->add(
        op::gather(in.ct[0], in.x[1], gather_of(s, in.in[2].shape, in.in[0].rank(), read_back(s.mode))));
}

}  // namespace

constinit const Prim prim::scatter = {.name = "scatter",
                                      .work = Work::movement,
                                      .type = type_scatter,
                                      .eval = eval_scatter,
                                      .jvp = jvp_scatter,
                                      .transpose = transpose_scatter,
                                      .batch = batch_scatter,
                                      .cost = cost_free,
                                      .in_place = 0};

constinit const Prim prim::scatter_add = {.name = "scatter_add",
                                          .type = type_scatter_number,
                                          .eval = eval_scatter_add,
                                          .jvp = jvp_scatter_add,
                                          .transpose = transpose_scatter_add,
                                          .batch = batch_scatter,
                                          .cost = cost_scatter,
                                          .in_place = 0};

Array op::scatter(const Array& x, const Array& indices, const Array& updates, const ScatterAttr& dims) {
  return bind1(prim::scatter, {x, indices, updates}, dims);
}
Array op::scatter_add(const Array& x, const Array& indices, const Array& updates, const ScatterAttr& dims) {
  return bind1(prim::scatter_add, {x, indices, updates}, dims);
}

}  // namespace anadrome
