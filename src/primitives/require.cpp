// require: a value that a run gives unless a condition is violated; then the run fails. So does one that computes its derivative
// alone: tangents and cotangents are required too. The operand says what fails, so that the zeros that a conditional keeps for the
// branches it did not take fail nothing.
#include <cstring>

#include "anadrome/error.h"
#include "primitives/checks.h"
#include "primitives/op.h"

namespace anadrome {

constinit const Prim prim::require = {
    .name = "require",
    .type = [](const TypeIn& in) -> Types { return {in.x[1]}; },
    .eval =
        [](const EvalIn& in) {
          if (*static_cast<const bool*>(in.x[0])) throw RunError(in.as<NameAttr>().name);
          if (in.y[0] != in.x[1]) std::memcpy(in.y[0], in.x[1], in.out[0].bytes());
        },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::require(in.x[0], in.t[1], in.as<NameAttr>().name)}; },
    .transpose =
        [](const TransposeIn& in) {
          if (in.wants(1)) in.acc[1]->add(op::require(in.x[0], in.ct[0], in.as<NameAttr>().name));
        },
    .batch =
        [](const BatchIn& in) -> BatchOut {
      const Array violated = in.batched(0) ? op::reduce_or(in.x[0], {in.axis[0]}) : in.x[0];
      return {op::require(violated, in.x[1], in.as<NameAttr>().name), in.axis[1]};
    },
    .cost = [](const CostIn&) { return Cost{}; },
    .in_place = 1};

Array op::require(const Array& violated, const Array& x, std::string_view message) {
  return bind1(prim::require, {violated, x}, NameAttr{std::string(message)});
}

}  // namespace anadrome
