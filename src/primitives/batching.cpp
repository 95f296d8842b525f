// Operands of batch rules with their batch axis in front; dense tangents of jvp rules.
#include "primitives/batching.h"

namespace anadrome {

Array BatchIn::front(std::size_t i) const {
  return batched(i) ? op::move_axis(x[i], axis[i], 0) : x[i];
}

Array BatchIn::front_dense(std::size_t i) const {
  return batched(i) ? front(i) : op::broadcast_axis(x[i], 0, size);
}

Array JvpIn::dense(std::size_t i) const {
  return has(i) ? t[i] : op::zero_tangent(in[i]);
}

}  // namespace anadrome
