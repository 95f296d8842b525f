// Public operations across the examples of a vmap with a named axis.
#include "anadrome/ops/collective.h"
#include "api/operand.h"
#include "primitives/op.h"

namespace anadrome {

namespace {

constexpr std::int64_t unknown_size = 0;  // the vmap that replaces these knows it

}  // namespace

Array psum(const Operand& x, std::string_view axis_name) {
  AtSource at(x.source());
  return op::psum(as_array(x, "psum"), axis_name, unknown_size);
}

Array pmean(const Operand& operand, std::string_view axis_name) {
  AtSource at(operand.source());
  Array x = as_array(operand, "pmean");
  if (!is_differentiable(x.dtype())) x = op::convert(x, f32);
  const Array count = op::psum(op::number_like(1, x), axis_name, unknown_size);
  return op::div(op::psum(x, axis_name, unknown_size), count);
}

Array axis_index(std::string_view axis_name, std::source_location source) {
  AtSource at(source);
  return op::axis_index(axis_name, unknown_size);
}

}  // namespace anadrome
