#include "transforms/called_rules.h"

#include "anadrome/error.h"
#include "core/eval.h"
#include "transforms/backward.h"
#include "transforms/jvp.h"
#include "transforms/linearize.h"
#include "transforms/vmap.h"

namespace anadrome {

Record as_call(std::string name, const SubProgram& body) {
  return [name = std::move(name), sources = body.sources](const ProgramPtr& program, std::span<const Array> operands) {
    return op::call({name, {program, sources}}, operands);
  };
}

Types type_of_body(const TypeIn& in, const Called& called) {
  const std::vector<Type> want = argument_types(**called.body);
  bool fits = want.size() + called.rules == in.x.size();
  for (std::size_t i = 0; fits && i < want.size(); ++i) fits = want[i] == in.x[called.operand(i)];
  if (!fits) throw InternalError(std::string(in.prim.name) + ": operands do not have the types of the program's inputs");
  return output_types(**called.body);
}

void eval_of_body(const EvalIn& in, const Called& called) {
  Arrays x;
  for (std::size_t i = 0; i < in.x.size(); ++i) x.push_back(borrowed(in.in[i], in.x[i]));
  const Arrays y = evaluate(**called.body, {}, called_operands(called, x));
  for (std::size_t i = 0; i < y.size(); ++i) store(y[i], in.out[i], in.y[i]);
}

Arrays jvp_of_body(const JvpIn& in, const ProgramPtr& body, const Record& record) {
  const auto joint = jvp_program(body, defined(in.t));
  Arrays operands(in.x.begin(), in.x.end());
  append(operands, only_defined(in.t));
  const Arrays r = record(joint->program, operands);
  Arrays out(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(in.out.size()));
  append(out, spread(joint->out_active, part(r, in.out.size(), r.size())));
  return out;
}

LinearizeOut linearize_of_body(const JvpIn& in, const ProgramPtr& body, const Record& record) {
  const auto lin = linearize_program(body, defined(in.t));
  const Arrays r = record(lin->primal, in.x);
  // The tangent program's captures become leading operands.
  Arrays operands = lin->residual_values(in.x, r);
  append(operands, only_defined(in.t));
  LinearizeOut out;
  out.y.assign(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(in.out.size()));
  out.t = spread(lin->out_active, record(closed(lin->tangent), operands));
  return out;
}

void transpose_of_body(const TransposeIn& in, const ProgramPtr& body, const Record& record) {
  Mask linear, wanted;
  Arrays operands;
  for (std::size_t i = 0; i < in.acc.size(); ++i) {
    linear.push_back(in.linear(i));
    wanted.push_back(in.wants(i));
    if (!in.linear(i)) operands.push_back(in.x[i]);
  }
  const auto back = backward_program(body, linear, wanted, defined(in.ct));
  append(operands, only_defined(in.ct));
  const Arrays g = spread(back->reached, record(back->program, operands));
  for (std::size_t i = 0; i < g.size(); ++i)
    if (g[i].defined()) in.acc[i]->add(g[i]);
}

BatchOut batch_of_body(const BatchIn& in, const ProgramPtr& body, const Record& record) {
  const auto v = vmap_program(body, {in.axis.begin(), in.axis.end()}, in.size, in.axis_name);
  BatchOut out;
  out.y = record(v->program, in.x);
  out.axis.assign(v->out_axis.begin(), v->out_axis.end());
  return out;
}

}  // namespace anadrome
