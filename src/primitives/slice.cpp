// slice: a box of an array with strides; add_slice: the same box added to in place, its transpose.
#include <cstring>

#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

/// The extents of the slice; throws where it does not lie inside `x`.
Shape slice_shape(const TypeIn& in) {
  const auto& [start, limit, strides] = in.as<SliceAttr>();
  const Type& x = in.x[0];
  require_per_axis(in, start, "start");
  require_per_axis(in, limit, "limit");
  require_per_axis(in, strides, "strides");
  Shape shape;
  for (int k = 0; k < x.rank(); ++k) {
    if (strides[k] < 1)
      refuse(in, "strides " + to_string(strides) + " must be positive; use rev to reverse.");
    if (start[k] < 0 || limit[k] < start[k] || limit[k] > x.shape[k])
      refuse(in, "[" + std::to_string(start[k]) + ", " + std::to_string(limit[k]) + ") on axis " +
                     std::to_string(k) + " does not lie inside " + to_string(x) + ".");
    shape.push_back((limit[k] - start[k] + strides[k] - 1) / strides[k]);
  }
  return shape;
}

Types type_slice(const TypeIn& in) {
  refuse_complex(in);
  return {Type{in.x[0].dtype, slice_shape(in)}};
}

Types type_add_slice(const TypeIn& in) {
  refuse_complex(in);
  require_one_dtype(in, 0, 2);
  const Shape shape = slice_shape(in);
  if (is_bool(in.x[0].dtype)) refuse(in, "cannot add truth values (" + to_string(in.x[0]) + ").");
  if (in.x[1].shape != shape)
    refuse(in, "the update is " + to_string(in.x[1]) + ", the slice has the shape " + to_string(shape) + ".");
  return {in.x[0]};
}

/// Loops over a slice of an array of shape `x`, and the offset of its first element.
Loops slice_loops(const Shape& x, const Shape& slice, const SliceAttr& attrs, bool into,
                  std::int64_t& offset) {
  const Strides dense = row_major(slice), strided = row_major(x);
  Loops loops;
  offset = 0;
  for (int k = 0; k < x.rank(); ++k) {
    const std::int64_t step = strided[k] * attrs.strides[k];
    loops.add(slice[k], into ? step : dense[k], into ? dense[k] : step);
    offset += attrs.start[k] * strided[k];
  }
  return loops;
}

void eval_slice(const EvalIn& in) {
  std::int64_t offset;
  const Loops loops = slice_loops(in.in[0].shape, in.out[0].shape, in.as<SliceAttr>(), false, offset);
  if (loops.empty) return;
  copy_strided(in.out[0].dtype, in.y[0], element(in.out[0].dtype, in.x[0], offset), loops);
}

void eval_add_slice(const EvalIn& in) {
  const Type& y = in.out[0];
  if (in.y[0] != in.x[0]) std::memcpy(in.y[0], in.x[0], y.bytes());
  std::int64_t offset;
  const Loops loops = slice_loops(y.shape, in.in[1].shape, in.as<SliceAttr>(), true, offset);
  if (!loops.empty) add_strided(y.dtype, element(y.dtype, in.y[0], offset), in.x[1], loops);
}

void transpose_slice(const TransposeIn& in) {
  if (!in.wants(0)) return;
  in.acc[0]->add_into([ct = in.ct[0], attrs = in.as<SliceAttr>()](const Array& base) {
    return op::add_slice(base, ct, attrs.start, attrs.strides);
  });
}

BatchOut batch_slice(const BatchIn& in) {
  const auto& [start, limit, strides] = in.as<SliceAttr>();
  const int at = in.axis[0];
  return {op::slice(in.x[0], inserted(start, at, 0), inserted(limit, at, in.size), inserted(strides, at, 1)),
          at};
}

Arrays jvp_add_slice(const JvpIn& in) {
  const SliceAttr& attrs = in.as<SliceAttr>();
  if (!in.has(1)) return {in.t[0]};
  return {op::add_slice(in.dense(0), in.t[1], attrs.start, attrs.strides)};
}

void transpose_add_slice(const TransposeIn& in) {
  const auto& [start, limit, strides] = in.as<SliceAttr>();
  if (in.wants(0)) in.acc[0]->add(in.ct[0]);
  if (in.wants(1)) in.acc[1]->add(op::slice(in.ct[0], start, limit, strides));
}

}  // namespace

constinit const Prim prim::slice = {.name = "slice",
                                    .work = Work::movement,
                                    .type = type_slice,
                                    .eval = eval_slice,
                                    .jvp = [](const JvpIn& in) -> Arrays {
                                      const auto& [start, limit, strides] = in.as<SliceAttr>();
                                      return {op::slice(in.t[0], start, limit, strides)};
                                    },
                                    .transpose = transpose_slice,
                                    .batch = batch_slice,
                                    .cost = cost_free};

constinit const Prim prim::add_slice = {
    .name = "add_slice",
    .work = Work::movement,
    .type = type_add_slice,
    .eval = eval_add_slice,
    .jvp = jvp_add_slice,
    .transpose = transpose_add_slice,
    .batch = [](const BatchIn& in) -> BatchOut {
      const SliceAttr& attrs = in.as<SliceAttr>();
      return {op::add_slice(in.front_dense(0), in.front_dense(1), inserted(attrs.start, 0, 0),
                            inserted(attrs.strides, 0, 1)),
              0};
    },
    .cost = [](const CostIn& in) { return Cost{.flops = static_cast<double>(in.in[1].elements())}; },
    .in_place = 0};

Array op::slice(const Array& x, const Ints& start, const Ints& limit, const Ints& strides) {
  bool whole = limit == x.shape() && start.rank() == x.rank() && strides.rank() == x.rank();
  for (int k = 0; whole && k < x.rank(); ++k) whole = start[k] == 0 && strides[k] == 1;
  return whole ? x : bind1(prim::slice, {x}, SliceAttr{start, limit, strides});
}

Array op::add_slice(const Array& x, const Array& update, const Ints& start, const Ints& strides) {
  Ints limit = start;
  for (int k = 0; k < start.rank() && k < update.rank() && k < strides.rank(); ++k)
    if (update.shape()[k] > 0) limit[k] += (update.shape()[k] - 1) * strides[k] + 1;
  return bind1(prim::add_slice, {x, update}, SliceAttr{start, limit, strides});
}

}  // namespace anadrome
