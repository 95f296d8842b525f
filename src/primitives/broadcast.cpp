// broadcast_in_dim: repeats an array along new axes and along axes of extent 1.
#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

Types type_broadcast(const TypeIn& in) {
  refuse_complex(in);
  const auto& [shape, dims] = in.as<BroadcastAttr>();
  const Type& x = in.x[0];
  require_shape(in, shape);
  require_per_axis(in, dims, "dims");
  for (int k = 0; k < x.rank(); ++k) {
    const std::int64_t d = dims[k];
    if (d < 0 || d >= shape.rank() || (k > 0 && d <= dims[k - 1]))
      refuse(in,
             "dims " + to_string(dims) + " must rise and name axes of the result " + to_string(shape) + ".");
    if (x.shape[k] != 1 && x.shape[k] != shape[d])
      refuse(in, "axis " + std::to_string(k) + " of " + to_string(x) + " has extent " +
                     std::to_string(x.shape[k]) + ", the result " + to_string(shape) + " has " +
                     std::to_string(shape[d]) + " there. Only an axis of extent 1 can be repeated.");
  }
  return {Type{x.dtype, shape}};
}

void eval_broadcast(const EvalIn& in) {
  const auto& [shape, dims] = in.as<BroadcastAttr>();
  const Strides to = row_major(shape), x = row_major(in.in[0].shape);
  Strides from{};
  for (int k = 0; k < in.in[0].rank(); ++k)
    if (in.in[0].shape[k] != 1) from[dims[k]] = x[k];
  Loops loops;
  for (int k = 0; k < shape.rank(); ++k) loops.add(shape[k], to[k], from[k]);
  copy_strided(in.out[0].dtype, in.y[0], in.x[0], loops);
}

/// Sums the cotangent over every axis along which the operand was repeated.
void transpose_broadcast(const TransposeIn& in) {
  if (!in.wants(0)) return;
  const auto& [shape, dims] = in.as<BroadcastAttr>();
  const Shape& x = in.in[0].shape;
  Ints repeated;
  int k = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool kept = k < x.rank() && dims[k] == d;
    if (!kept || x[k] != shape[d]) repeated.push_back(d);
    if (kept) ++k;
  }
  Array ct = in.ct[0];
  if (!repeated.empty()) ct = op::reduce_sum(ct, repeated);
  in.acc[0]->add(op::reshape(ct, x));
}

/// The batch axis keeps its place among the operand's axes, so nothing has to be moved.
BatchOut batch_broadcast(const BatchIn& in) {
  const auto& [shape, dims] = in.as<BroadcastAttr>();
  const int batch = in.axis[0];
  const int place = batch == 0 ? 0 : static_cast<int>(dims[batch - 1]) + 1;
  return {op::broadcast_in_dim(in.x[0], inserted(shape, place, in.size),
                               inserted(past_batch(dims, place), batch, place)),
          place};
}

}  // namespace

constinit const Prim prim::broadcast_in_dim = {.name = "broadcast_in_dim",
                                               .work = Work::movement,
                                               .type = type_broadcast,
                                               .eval = eval_broadcast,
                                               .jvp = [](const JvpIn& in) -> Arrays {
                                                 const auto& [shape, dims] = in.as<BroadcastAttr>();
                                                 return {op::broadcast_in_dim(in.t[0], shape, dims)};
                                               },
                                               .transpose = transpose_broadcast,
                                               .batch = batch_broadcast,
                                               .cost = cost_free};

Array op::broadcast_in_dim(const Array& x, const Shape& shape, const Ints& dims) {
  if (x.shape() == shape) return x;
  return bind1(prim::broadcast_in_dim, {x}, BroadcastAttr{shape, dims});
}

Array op::broadcast_axis(const Array& x, int axis, std::int64_t size) {
  return broadcast_in_dim(x, inserted(x.shape(), axis, size), past_batch(axes_between(0, x.rank()), axis));
}

Array op::broadcast_scalar(const Array& x, const Shape& shape) {
  return x.shape() == shape ? x : broadcast_in_dim(x, shape, {});
}

}  // namespace anadrome
