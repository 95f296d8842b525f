#include "transforms/custom_rules.h"

#include "anadrome/error.h"
#include "transforms/vmap.h"

namespace anadrome {

Mask differentiable(std::span<const Type> types) {
  Mask out;
  for (const Type& t : types) out.push_back(is_differentiable(t.dtype));
  return out;
}
Types differentiable_types(std::span<const Type> types) {
  Types out;
  for (const Type& t : types)
    if (is_differentiable(t.dtype)) out.push_back(t);
  return out;
}
Arrays picked(const Mask& mask, std::span<const Array> values) {
  Arrays out;
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) out.push_back(values[i]);
  return out;
}

void refuse_captured_tangents(const JvpIn& in, std::size_t consts, const std::string& name) {
  for (std::size_t i = 0; i < consts; ++i)
    if (in.has(i))
      throw RuleError(name + ": the function or its rule captures a value of type " + to_string(in.in[i]) +
                      " that is being differentiated, and the rule gives no derivative for it. Pass the value as an argument, or "
                      "capture stop_gradient of it." +
                      at_current_source());
}

std::string batched_key(const LateRule& rule, std::span<const int> axis, std::int64_t size, std::string_view axis_name) {
  std::string out = "vmap of " + rule.key() + " by " + std::to_string(size) + " along";
  for (int a : axis) out += ' ' + std::to_string(a);
  return out.append(" ").append(axis_name);
}

Arrays batched_results(const ProgramPtr& program, std::span<const Array> x, const std::vector<int>& out_axis, const Mask& batched,
                       std::int64_t size, const SourceTable* sources) {
  Arrays y = inline_program(*program, {}, x, sources);
  for (std::size_t k = 0; k < batched.size(); ++k)
    if (batched[k]) y[k] = batch_axis_at(y[k], out_axis[k], size, 0);
  return y;
}

}  // namespace anadrome
