// call: a jitted function inside another program. Its rules are the transforms of its body, each memoised, so that
// nesting costs linear time. It has no numbers of its own: executables replace it by its body.
#include "transforms/called_rules.h"

namespace anadrome {
namespace {

const ProgramPtr& body(const Equation& e) { return e.as<CallAttr>().body.program; }
Record again(const Equation& e) { return as_call(e.as<CallAttr>().name, e.as<CallAttr>().body); }

}  // namespace

constinit const Prim prim::call = {
    .name = "call",
    .work = Work::call,
    .type = [](const TypeIn& in) { return type_of_body(in, {&in.as<CallAttr>().body}); },
    .eval = [](const EvalIn& in) { eval_of_body(in, {&in.as<CallAttr>().body}); },
    .jvp = [](const JvpIn& in) { return jvp_of_body(in, body(in.eqn), again(in.eqn)); },
    .transpose = [](const TransposeIn& in) { transpose_of_body(in, body(in.eqn), again(in.eqn)); },
    .linearize = [](const JvpIn& in) { return linearize_of_body(in, body(in.eqn), again(in.eqn)); },
    .batch = [](const BatchIn& in) { return batch_of_body(in, body(in.eqn), again(in.eqn)); },
    .cost = [](const CostIn& in) { return program_cost(in.as<CallAttr>().body.program); }};

Arrays op::call(const CallAttr& body, std::span<const Array> operands) {
  return bind_all(prim::call, operands, body);
}

}  // namespace anadrome
