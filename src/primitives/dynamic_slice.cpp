// dynamic_slice, dynamic_update_slice, dynamic_add_slice: a window whose place is a value of the program. A
// start outside is clamped so that the window fits; negative starts are wrapped by the public functions, not
// here.
#include <cstring>

#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

/// Checks the window and its starts, operands `first` and later.
void check_window(const TypeIn& in, const Shape& window, std::size_t first) {
  const Type& x = in.x[0];
  for (int k = 0; k < x.rank(); ++k)
    if (window[k] < 0 || window[k] > x.shape[k])
      refuse(in, "a window " + to_string(window) + " does not fit into " + to_string(x) + ".");
  if (in.x.size() != first + static_cast<std::size_t>(x.rank()))
    refuse(in, std::to_string(in.x.size() - first) + " starts for " + to_string(x) + ". Give one per axis.");
  for (std::size_t i = first; i < in.x.size(); ++i)
    if (in.x[i].rank() != 0 || !is_integer(in.x[i].dtype))
      refuse(in, "a start must be an integer scalar, not " + to_string(in.x[i]) + ".");
}

Types type_dynamic_slice(const TypeIn& in) {
  refuse_complex(in);
  const Ints& sizes = in.as<WindowSliceAttr>().sizes;
  require_per_axis(in, sizes, "sizes");
  check_window(in, sizes, 1);
  return {Type{in.x[0].dtype, sizes}};
}

Types type_update(const TypeIn& in) {
  refuse_complex(in);
  require_one_dtype(in, 0, 2);
  if (in.x[1].rank() != in.x[0].rank())
    refuse(in, "the update " + to_string(in.x[1]) + " must have as many axes as " + to_string(in.x[0]) + ".");
  check_window(in, in.x[1].shape, 2);
  return {in.x[0]};
}

Types type_dynamic_add(const TypeIn& in) {
  if (is_bool(in.x[0].dtype)) refuse(in, "cannot add truth values (" + to_string(in.x[0]) + ").");
  return type_update(in);
}

/// The start on one axis, clamped to [0, last].
std::int64_t clamped_start(DType dtype, const void* start, std::int64_t last) {
  return dispatch_integer(dtype, [&](auto tag) -> std::int64_t {
    using T = typename decltype(tag)::type;
    const T v = *static_cast<const T*>(start);
    if (std::cmp_less(v, 0)) return 0;
    return std::cmp_greater(v, last) ? last : static_cast<std::int64_t>(v);
  });
}

/// Offset of the first element of the window; the starts are operands `first` and later.
std::int64_t window_offset(const EvalIn& in, const Shape& window, std::size_t first) {
  const Shape& x = in.in[0].shape;
  const Strides strides = row_major(x);
  std::int64_t offset = 0;
  for (std::size_t k = 0; k < window.size(); ++k)
    offset += strides[k] * clamped_start(in.in[first + k].dtype, in.x[first + k], x[k] - window[k]);
  return offset;
}

Loops window_loops(const Shape& to, const Shape& from, const Shape& window) {
  const Strides t = row_major(to), f = row_major(from);
  Loops loops;
  for (int k = 0; k < window.rank(); ++k) loops.add(window[k], t[k], f[k]);
  return loops;
}

void eval_dynamic_slice(const EvalIn& in) {
  const Type& y = in.out[0];
  if (y.elements() == 0) return;
  const void* from = element(y.dtype, in.x[0], window_offset(in, y.shape, 1));
  copy_strided(y.dtype, in.y[0], from, window_loops(y.shape, in.in[0].shape, y.shape));
}

template <bool add> void eval_update(const EvalIn& in) {
  const Type& y = in.out[0];
  if (in.y[0] != in.x[0]) std::memcpy(in.y[0], in.x[0], y.bytes());
  const Shape& window = in.in[1].shape;
  if (window.elements() == 0) return;
  void* to = element(y.dtype, in.y[0], window_offset(in, window, 2));
  const Loops loops = window_loops(y.shape, window, window);
  if constexpr (add)
    add_strided(y.dtype, to, in.x[1], loops);
  else
    copy_strided(y.dtype, to, in.x[1], loops);
}

// ---- batching

bool any_batched(const BatchIn& in, std::size_t first) {
  for (std::size_t i = first; i < in.x.size(); ++i)
    if (in.batched(i)) return true;
  return false;
}

/// The starts with a start of 0 for the batch axis at place `axis`.
Arrays starts_with_batch(const BatchIn& in, std::size_t first, int axis) {
  Arrays starts(in.x.begin() + static_cast<std::ptrdiff_t>(first), in.x.end());
  starts.insert(starts.begin() + axis, op::number(0, DType::i32));
  return starts;
}

/// One start for every example as index vectors [size, rank]; i64 where a start may not fit i32.
Array start_vectors(const BatchIn& in, std::size_t first) {
  const auto narrow = [](DType t) { return item_size(t) < 4 || t == DType::i32; };
  const Shape& x = in.x[0].shape();
  DType dtype = DType::i32;
  for (std::size_t i = first; i < in.x.size(); ++i)
    if (!narrow(in.x[i].dtype())) dtype = DType::i64;
  Arrays columns;
  for (std::size_t i = first; i < in.x.size(); ++i) {
    Array start = in.front_dense(i);
    if (start.dtype() == DType::u64)
      start = op::min(start, op::number(static_cast<double>(x.elements()), DType::u64));
    columns.push_back(op::reshape(op::convert(start, dtype), {in.size, 1}));
  }
  return op::concatenate(columns, 1);
}

BatchOut batch_dynamic_slice(const BatchIn& in) {
  const Ints& sizes = in.as<WindowSliceAttr>().sizes;
  const int rank = sizes.rank();
  if (!any_batched(in, 1)) {
    const int at = in.axis[0];
    return {op::dynamic_slice(in.x[0], starts_with_batch(in, 1, at), inserted(sizes, at, in.size)), at};
  }
  GatherAttr dims{.offset_dims = axes_between(1, rank + 1),
                  .collapsed_dims = {},
                  .start_index_map = axes_between(0, rank),
                  .operand_batching_dims = {},
                  .indices_batching_dims = {},
                  .slice_sizes = sizes,
                  .mode = IndexMode::clip};
  if (in.batched(0)) {
    dims.start_index_map = axes_between(1, rank + 1);
    dims.operand_batching_dims = dims.indices_batching_dims = {0};
    dims.slice_sizes = inserted(sizes, 0, 1);
  }
  return {op::gather(in.front(0), start_vectors(in, 1), dims), 0};
}

using WindowUpdate = Array (*)(const Array&, const Array&, std::span<const Array>);
using Scatter = Array (*)(const Array&, const Array&, const Array&, const ScatterAttr&);

BatchOut batch_update(const BatchIn& in, WindowUpdate update, Scatter scatter) {
  const int rank = in.rank(0);
  const Array x = in.front_dense(0), u = in.front_dense(1);
  if (!any_batched(in, 2)) return {update(x, u, starts_with_batch(in, 2, 0)), 0};
  const ScatterAttr dims{.update_window_dims = axes_between(1, rank + 1),
                         .inserted_dims = {},
                         .scatter_dims = axes_between(1, rank + 1),
                         .operand_batching_dims = {0},
                         .indices_batching_dims = {0},
                         .mode = IndexMode::clip};
  return {scatter(x, start_vectors(in, 2), u, dims), 0};
}

// ---- derivatives

Arrays jvp_dynamic_add(const JvpIn& in) {
  if (!in.has(1)) return {in.t[0]};
  return {op::dynamic_add_slice(in.dense(0), in.t[1], in.x.subspan(2))};
}

void transpose_dynamic_slice(const TransposeIn& in) {
  if (!in.wants(0)) return;
  in.acc[0]->add_into([ct = in.ct[0], starts = Arrays(in.x.begin() + 1, in.x.end())](const Array& base) {
    return op::dynamic_add_slice(base, ct, starts);
  });
}

void transpose_update(const TransposeIn& in) {
  const auto starts = in.x.subspan(2);
  if (in.wants(0)) in.acc[0]->add(op::dynamic_update_slice(in.ct[0], op::zeros(in.in[1]), starts));
  if (in.wants(1)) in.acc[1]->add(op::dynamic_slice(in.ct[0], starts, in.in[1].shape));
}

void transpose_dynamic_add(const TransposeIn& in) {
  if (in.wants(0)) in.acc[0]->add(in.ct[0]);
  if (in.wants(1)) in.acc[1]->add(op::dynamic_slice(in.ct[0], in.x.subspan(2), in.in[1].shape));
}

Arrays with_starts(Arrays operands, std::span<const Array> starts) {
  operands.insert(operands.end(), starts.begin(), starts.end());
  return operands;
}

}  // namespace

constinit const Prim prim::dynamic_slice = {
    .name = "dynamic_slice",
    .work = Work::movement,
    .type = type_dynamic_slice,
    .eval = eval_dynamic_slice,
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::dynamic_slice(in.t[0], in.x.subspan(1), in.as<WindowSliceAttr>().sizes)};
    },
    .transpose = transpose_dynamic_slice,
    .batch = batch_dynamic_slice,
    .cost = cost_free};

constinit const Prim prim::dynamic_update_slice = {
    .name = "dynamic_update_slice",
    .work = Work::movement,
    .type = type_update,
    .eval = eval_update<false>,
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::dynamic_update_slice(in.dense(0), in.dense(1), in.x.subspan(2))};
    },
    .transpose = transpose_update,
    .batch = [](const BatchIn& in) -> BatchOut {
      return batch_update(in, op::dynamic_update_slice, op::scatter);
    },
    .cost = cost_free,
    .in_place = 0};

constinit const Prim prim::dynamic_add_slice = {
    .name = "dynamic_add_slice",
    .work = Work::movement,
    .type = type_dynamic_add,
    .eval = eval_update<true>,
    .jvp = jvp_dynamic_add,
    .transpose = transpose_dynamic_add,
    .batch = [](const BatchIn& in) -> BatchOut {
      return batch_update(in, op::dynamic_add_slice, op::scatter_add);
    },
    .cost = [](const CostIn& in) { return Cost{.flops = static_cast<double>(in.in[1].elements())}; },
    .in_place = 0};

Array op::dynamic_slice(const Array& x, std::span<const Array> starts, const Ints& sizes) {
  if (sizes == x.shape()) return x;  // every start is clamped to 0
  return bind1(prim::dynamic_slice, with_starts({x}, starts), WindowSliceAttr{sizes});
}

Array op::dynamic_update_slice(const Array& x, const Array& update, std::span<const Array> starts) {
  return bind1(prim::dynamic_update_slice, with_starts({x, update}, starts));
}

Array op::dynamic_add_slice(const Array& x, const Array& update, std::span<const Array> starts) {
  return bind1(prim::dynamic_add_slice, with_starts({x, update}, starts));
}

}  // namespace anadrome
