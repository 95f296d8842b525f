// What elementwise primitives share: type rules, batching, cost.
#include "primitives/elementwise.h"

#include <string>

#include "core/builder.h"

namespace anadrome {
namespace {

[[noreturn]] void refuse(const TypeIn& in, const std::string& text) {
  throw TypeError(std::string(in.prim.name) + ": " + text + at_current_source());
}

/// Checks the dtype of one operand; `wanted` says in words what `accepts` accepts.
void check_dtype(const TypeIn& in, const Type& x, bool (*accepts)(DType), const char* wanted) {
  if (x.is_ref) refuse(in, "an operand is the reference " + to_string(x) + ". Read it first: r[all].");
  if (is_complex(x.dtype))
    refuse(in, "an operand is " + to_string(x) +
                   ", and complex numbers have no code here. Compute with real and imaginary parts.");
  if (!accepts(x.dtype))
    refuse(in, "an operand is " + to_string(x) + ". It takes " + wanted + ": convert it.");
}

Types same_dtype(const TypeIn& in, bool (*accepts)(DType), const char* wanted) {
  for (const Type& x : in.x) {
    check_dtype(in, x, accepts, wanted);
    if (x.dtype != in.x[0].dtype)
      refuse(in, "operands of two dtypes: " + to_string(in.x[0]) + " and " + to_string(x) +
                     ". Convert one of them.");
  }
  return {Type{in.x[0].dtype, elementwise_shape(in)}};
}

bool accepts_number(DType t) {
  return is_integer(t) || is_float(t);
}
bool accepts_real(DType t) {
  return !is_complex(t);
}
bool accepts_bits(DType t) {
  return is_bool(t) || is_integer(t);
}

}  // namespace

Shape elementwise_shape(const TypeIn& in) {
  const Type* whole = nullptr;
  for (const Type& x : in.x) {
    if (x.rank() == 0) continue;
    if (whole && x.shape != whole->shape)
      refuse(in, "operands of two shapes: " + to_string(*whole) + " and " + to_string(x) +
                     ". Broadcast one of them, or make it a scalar.");
    whole = &x;
  }
  return whole ? whole->shape : Shape{};
}

void check_real(const TypeIn& in, const Type& x) {
  check_dtype(in, x, accepts_real, "real numbers");
}

Types float_elementwise(const TypeIn& in) {
  return same_dtype(in, is_float, "floats");
}
Types number_elementwise(const TypeIn& in) {
  return same_dtype(in, accepts_number, "integers and floats");
}
Types real_elementwise(const TypeIn& in) {
  return same_dtype(in, accepts_real, "real numbers");
}
Types bits_elementwise(const TypeIn& in) {
  return same_dtype(in, accepts_bits, "b1 and integers");
}
Types integer_elementwise(const TypeIn& in) {
  return same_dtype(in, is_integer, "integers");
}
Types compare_elementwise(const TypeIn& in) {
  Types out = real_elementwise(in);
  out[0].dtype = b1;
  return out;
}

namespace {

/// The operand of an equation whose result has its batch axis at `axis`. `shape` is the result's (batch axis
/// included).
Array batched_operand(const BatchIn& in, std::size_t i, int axis, const Shape& shape) {
  const Array& x = in.x[i];
  const bool scalar = in.rank(i) == 0;
  if (!in.batched(i)) return scalar ? x : op::broadcast_axis(x, axis, in.size);
  if (scalar && shape.rank() > 1) return op::broadcast_in_dim(x, shape, {axis});
  return op::move_axis(x, in.axis[i], axis);
}

}  // namespace

BatchOut batch_elementwise(const BatchIn& in) {
  std::size_t model = in.x.size();  // an operand of the result's rank, batched if there is one
  for (std::size_t i = 0; i < in.x.size(); ++i) {
    if (model == in.x.size() || in.rank(i) > in.rank(model)) model = i;
    if (in.rank(i) == in.rank(model) && in.batched(i) && !in.batched(model)) model = i;
  }
  const int axis = in.batched(model) ? in.axis[model] : 0;
  Shape shape = in.x[model].shape();
  if (!in.batched(model)) shape.insert(0, in.size);
  Arrays operands;
  for (std::size_t i = 0; i < in.x.size(); ++i) operands.push_back(batched_operand(in, i, axis, shape));
  return BatchOut(bind1(*in.eqn.prim, operands, in.eqn.attrs), axis);
}

Cost cost_flop(const CostIn& in) {
  return {.flops = static_cast<double>(in.out[0].elements())};
}
Cost cost_transcendental(const CostIn& in) {
  return {.transcendentals = static_cast<double>(in.out[0].elements())};
}
Cost cost_free(const CostIn&) {
  return {};
}

Array add_tangents(const Array& a, const Array& b) {
  if (!a.defined()) return b;
  return b.defined() ? op::add(a, b) : a;
}

}  // namespace anadrome
