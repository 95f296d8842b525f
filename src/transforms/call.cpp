// call: a jitted function inside another program. Its rules are the transforms of its body, each memoised, so that
// nesting costs linear time. It has no numbers of its own: executables replace it by its body.
#include <algorithm>

#include "core/eval.h"
#include "transforms/backward.h"
#include "transforms/jvp.h"
#include "transforms/linearize.h"
#include "transforms/sub_programs.h"
#include "transforms/vmap.h"

namespace anadrome {
namespace {

const ProgramPtr& body(const Equation& e) { return e.as<CallAttr>().body.program; }

Arrays call_program(const Equation& e, const ProgramPtr& program, std::span<const Array> operands) {
  const CallAttr& attr = e.as<CallAttr>();
  return op::call({attr.name, {program, attr.body.sources}}, operands);
}

Types call_type(const TypeIn& in) {
  const Program& p = *in.as<CallAttr>().body;
  const std::vector<Type> want = argument_types(p);
  if (want.size() != in.x.size() || !std::equal(want.begin(), want.end(), in.x.begin()))
    throw InternalError("call: operands do not have the types of the body's inputs");
  return output_types(p);
}

void call_eval(const EvalIn& in) {
  Arrays x;
  for (std::size_t i = 0; i < in.x.size(); ++i) x.push_back(borrowed(in.in[i], in.x[i]));
  const Arrays y = evaluate(*in.as<CallAttr>().body, {}, x);
  for (std::size_t i = 0; i < y.size(); ++i) store(y[i], in.out[i], in.y[i]);
}

Arrays call_jvp(const JvpIn& in) {
  const auto joint = jvp_program(body(in.eqn), defined(in.t));
  Arrays operands(in.x.begin(), in.x.end());
  append(operands, only_defined(in.t));
  const Arrays r = call_program(in.eqn, joint->program, operands);
  const auto n = static_cast<std::ptrdiff_t>(in.out.size());
  Arrays out(r.begin(), r.begin() + n);
  append(out, spread(joint->out_active, std::span(r).subspan(in.out.size())));
  return out;
}

LinearizeOut call_linearize(const JvpIn& in) {
  const auto lin = linearize_program(body(in.eqn), defined(in.t));
  const Arrays r = call_program(in.eqn, lin->primal, in.x);
  // The tangent program's captures become leading operands.
  Arrays operands = lin->residual_values(in.x, r);
  append(operands, only_defined(in.t));
  LinearizeOut out;
  out.y.assign(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(in.out.size()));
  out.t = spread(lin->out_active, call_program(in.eqn, closed(lin->tangent), operands));
  return out;
}

void call_transpose(const TransposeIn& in) {
  Mask linear, wanted;
  Arrays operands;
  for (std::size_t i = 0; i < in.acc.size(); ++i) {
    linear.push_back(in.linear(i));
    wanted.push_back(in.wants(i));
    if (!in.linear(i)) operands.push_back(in.x[i]);
  }
  const auto back = backward_program(body(in.eqn), linear, wanted, defined(in.ct));
  append(operands, only_defined(in.ct));
  const Arrays g = spread(back->reached, call_program(in.eqn, back->program, operands));
  for (std::size_t i = 0; i < g.size(); ++i)
    if (g[i].defined()) in.acc[i]->add(g[i]);
}

BatchOut call_batch(const BatchIn& in) {
  const auto v = vmap_program(body(in.eqn), {in.axis.begin(), in.axis.end()}, in.size, in.axis_name);
  BatchOut out;
  out.y = call_program(in.eqn, v->program, in.x);
  out.axis.assign(v->out_axis.begin(), v->out_axis.end());
  return out;
}

}  // namespace

constinit const Prim prim::call = {
    .name = "call",
    .work = Work::call,
    .type = call_type,
    .eval = call_eval,
    .jvp = call_jvp,
    .transpose = call_transpose,
    .linearize = call_linearize,
    .batch = call_batch,
    .cost = [](const CostIn& in) { return program_cost(in.as<CallAttr>().body.program); }};

Arrays op::call(const CallAttr& body, std::span<const Array> operands) {
  return bind_all(prim::call, operands, body);
}

}  // namespace anadrome
