// gather: windows of an array at computed places. Linear in the array; its transpose is scatter_add.
#include <cmath>
#include <cstring>
#include <limits>

#include "primitives/batching.h"
#include "primitives/elementwise.h"
#include "primitives/indexed.h"

namespace anadrome {

namespace {

Types type_gather(const TypeIn& in) {
  const auto& g = in.as<GatherAttr>();
  check_index_dims(in, index_dims(g), g.slice_sizes);
  const Shape shape = windowed_shape(in.x[1].shape, index_dims(g), g.slice_sizes);
  require_shape(in, shape);
  return {{in.x[0].dtype, shape, false}};
}

}  // namespace

Literal fill_value(DType dtype, IndexMode mode) {
  if (mode != IndexMode::fill_or_drop) return Literal::of(0, dtype);
  if (is_float(dtype)) return Literal::of(std::numeric_limits<double>::quiet_NaN(), dtype);
  if (is_bool(dtype)) return Literal::of_integer(1, dtype);
  const int bits = 8 * static_cast<int>(item_size(dtype));
  if (is_unsigned(dtype)) return Literal::of_integer(bits == 64 ? -1 : (std::int64_t{1} << bits) - 1, dtype);
  return Literal::of_integer(std::numeric_limits<std::int64_t>::min() >> (64 - bits), dtype);
}

namespace {

template <class T> void gather_windows(const IndexWalk& walk, const EvalIn& in, T fill) {
  const T* x = static_cast<const T*>(in.x[0]);
  T* y = static_cast<T*>(in.y[0]);
  const Loops& window = walk.window;
  const int last = window.rank - 1;
  const std::int64_t run = last < 0 ? 1 : window.extent[last];
  const std::int64_t to = last < 0 ? 1 : window.to[last], from = last < 0 ? 1 : window.from[last];
  const bool row = window.rank == 1 && to == 1 && from == 1;
  for_each_index(walk, in.in[1].dtype, in.x[1], [&](std::int64_t out, std::int64_t place, bool fits) {
    if (fits && last < 0) {
      y[out] = x[place];
    } else if (fits && row) {
      std::memcpy(y + out, x + place, static_cast<std::size_t>(run) * sizeof(T));
    } else {
      for_each_run(window, 1, [&](std::int64_t t, std::int64_t f) {
        for (std::int64_t i = 0; i < run; ++i) y[out + t + i * to] = fits ? x[place + f + i * from] : fill;
      });
    }
  });
}

void eval_gather(const EvalIn& in) {
  const auto& g = in.as<GatherAttr>();
  const IndexWalk walk =
      index_walk(index_dims(g), g.slice_sizes, in.in[0].shape, in.in[1].shape, in.out[0].shape);
  const DType dtype = in.out[0].dtype;
  std::uint64_t fill_bits = 0;
  fill_value(dtype, g.mode).store(&fill_bits);
  dispatch_size(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T fill;
    std::memcpy(&fill, &fill_bits, sizeof fill);
    gather_windows<T>(walk, in, fill);
  });
}

Arrays jvp_gather(const JvpIn& in) {
  if (!in.has(0)) return {Array()};
  GatherAttr g = in.as<GatherAttr>();
  if (g.mode == IndexMode::fill_or_drop) g.mode = IndexMode::zero_or_drop;
  return {op::gather(in.t[0], in.x[1], g)};
}

void transpose_gather(const TransposeIn& in) {
  if (!in.wants(0)) return;
  const Array ct = in.ct[0], indices = in.x[1];
  const ScatterAttr dims = scatter_of(in.as<GatherAttr>());
  in.acc[0]->add_into([&](const Array& base) { return op::scatter_add(base, indices, ct, dims); });
}

BatchOut batch_gather(const BatchIn& in) {
  GatherAttr g = in.as<GatherAttr>();
  const bool both = in.batched(0) && in.batched(1);
  g.offset_dims = past_batch(g.offset_dims, 0);
  if (in.batched(0)) {
    g.collapsed_dims = past_batch(g.collapsed_dims, 0);
    g.start_index_map = past_batch(g.start_index_map, 0);
    g.operand_batching_dims = past_batch(g.operand_batching_dims, 0);
    g.slice_sizes = inserted(g.slice_sizes, 0, both ? 1 : in.size);
    if (!both) g.offset_dims = inserted(g.offset_dims, 0, 0);
  }
  if (in.batched(1)) g.indices_batching_dims = past_batch(g.indices_batching_dims, 0);
  if (both) {
    g.operand_batching_dims = inserted(g.operand_batching_dims, 0, 0);
    g.indices_batching_dims = inserted(g.indices_batching_dims, 0, 0);
  }
  return {op::gather(in.front(0), in.front(1), g), 0};
}

}  // namespace

constinit const Prim prim::gather = {.name = "gather",
                                     .work = Work::movement,
                                     .type = type_gather,
                                     .eval = eval_gather,
                                     .jvp = jvp_gather,
                                     .transpose = transpose_gather,
                                     .batch = batch_gather,
                                     .cost = cost_free};

Array op::gather(const Array& x, const Array& indices, const GatherAttr& dims) {
  return bind1(prim::gather, {x, indices}, dims);
}

}  // namespace anadrome
