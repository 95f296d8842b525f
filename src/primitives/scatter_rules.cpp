// Rules that all scatters share: types, batching, cost.
#include "primitives/scatter.h"

namespace anadrome {

Types type_scatter(const TypeIn& in) {
  const auto& s = in.as<ScatterAttr>();
  const Type &x = in.x[0], &indices = in.x[1], &updates = in.x[2];
  if (x.dtype != updates.dtype)
    refuse(in, "updates of type " + to_string(updates) + " for " + to_string(x) + ". Convert one of them.");
  const Ints sizes = window_sizes(s, updates.shape, x.rank());
  check_index_dims(in, index_dims(s), sizes);
  const Shape want = windowed_shape(indices.shape, index_dims(s), sizes);
  if (updates.shape != want)
    refuse(in, "updates of type " + to_string(updates) + " for indices " + to_string(indices) +
                   "; with these dimension numbers they have shape " + to_string(want) + ".");
  return {x};
}

Types type_scatter_number(const TypeIn& in) {
  if (is_bool(in.x[0].dtype))
    refuse(in, "no arithmetic on " + to_string(in.x[0]) + ". Convert it to an integer type.");
  return type_scatter(in);
}

BatchOut batch_scatter(const BatchIn& in) {
  ScatterAttr s = in.as<ScatterAttr>();
  s.update_window_dims = past_batch(s.update_window_dims, 0);
  s.inserted_dims = past_batch(s.inserted_dims, 0);
  s.scatter_dims = past_batch(s.scatter_dims, 0);
  s.operand_batching_dims = past_batch(s.operand_batching_dims, 0);
  if (in.batched(1)) {
    s.indices_batching_dims = inserted(past_batch(s.indices_batching_dims, 0), 0, 0);
    s.operand_batching_dims = inserted(s.operand_batching_dims, 0, 0);
  } else {
    s.update_window_dims = inserted(s.update_window_dims, 0, 0);
  }
  const Array operands[] = {in.front_dense(0), in.front(1), in.front_dense(2)};
  return {bind1(*in.eqn.prim, operands, s), 0};
}

Cost cost_scatter(const CostIn& in) {
  return {static_cast<double>(in.in[2].elements()), 0};
}

}  // namespace anadrome
