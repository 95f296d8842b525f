// checkpoint: a call that its derivative makes again. The primal program of a linearization calls the body for its results and
// for what the policy saves; the linear part is one checkpoint that computes the other residuals again, from the arguments and
// the saved values, and then the tangents. Its transpose and its derivatives are checkpoints too. checkpoint_name names a value.
#include <algorithm>
#include <cstring>

#include "optimize/passes.h"
#include "transforms/called_rules.h"
#include "transforms/linearize.h"

namespace anadrome {
namespace {

const ProgramPtr& body(const Equation& e) { return e.as<CheckpointAttr>().body.program; }

Record again(const Equation& e) {
  return [attr = e.as<CheckpointAttr>()](const ProgramPtr& program, std::span<const Array> operands) {
    CheckpointAttr transformed = attr;
    transformed.body.program = program;
    return op::checkpoint(transformed, operands);
  };
}

// ---- linearization

bool saves(const CheckpointAttr& a, const Equation& e) {
  if (a.save == Save::dots) return e.prim == &prim::dot_general;
  if (a.save == Save::names && e.prim == &prim::checkpoint_name)
    return std::find(a.names.begin(), a.names.end(), e.as<NameAttr>().name) != a.names.end();
  return false;
}

/// The values, among those that the extra outputs of `primal` are computed from, that the policy saves: the last on each way.
std::vector<VarId> saved_values(const CheckpointAttr& a, const Program& primal, std::size_t results) {
  Mask needed(primal.types.size(), 0);
  std::vector<VarId> out;
  for (std::size_t i = results; i < primal.outputs.size(); ++i) {
    const Atom& extra = primal.outputs[i];
    if (!extra.is_var()) continue;
    if (a.save == Save::everything) out.push_back(extra.var);
    else needed[extra.var] = 1;
  }
  for (auto e = primal.equations.rbegin(); e != primal.equations.rend(); ++e) {
    if (std::none_of(e->results.begin(), e->results.end(), [&](VarId v) { return needed[v]; })) continue;
    if (saves(a, *e)) out.insert(out.end(), e->results.begin(), e->results.end());
    else
      for (const Atom& x : e->operands)
        if (x.is_var()) needed[x.var] = 1;
  }
  return out;
}

/// `primal` without the computation of the saved values, which become inputs behind its own. Gives the residuals.
Program recomputation(const Program& primal, std::span<const VarId> saved, const std::vector<Atom>& residuals) {
  Program out = primal;
  Mask is_saved(primal.types.size(), 0);
  for (VarId v : saved) is_saved[v] = 1, out.inputs.push_back(v);
  out.outputs = residuals;
  std::erase_if(out.equations, [&](const Equation& e) {
    return std::any_of(e.results.begin(), e.results.end(), [&](VarId v) { return is_saved[v]; });
  });
  return without_dead_equations(out);
}

std::vector<Atom> residual_atoms(const Linearized& lin) {
  const Program& p = *lin.primal;
  std::vector<Atom> out;
  for (const Residual& r : lin.residuals) {
    if (r.from == Residual::From::argument) out.push_back(Atom::variable(p.inputs[r.index]));
    else out.push_back(p.outputs[r.index + (r.from == Residual::From::extra ? lin.out_active.size() : 0)]);
  }
  return out;
}

/// Which inputs of a program its equations and outputs read.
Mask used_inputs(const Program& program) {
  Mask used(program.types.size(), 0), out;
  for (const Equation& e : program.equations)
    for (const Atom& a : e.operands)
      if (a.is_var()) used[a.var] = 1;
  for (const Atom& a : program.outputs)
    if (a.is_var()) used[a.var] = 1;
  for (VarId v : program.inputs) out.push_back(used[v]);
  return out;
}

/// Tangents of the results by a checkpoint on `operands`, of which the unused ones are dropped: an operand is kept alive.
Arrays linear_checkpoint(const Equation& e, const ProgramPtr& program, std::span<const Array> operands) {
  const Mask used = used_inputs(*program);
  Arrays x;
  std::vector<std::size_t> inputs, outputs;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (used[i]) inputs.push_back(i), x.push_back(operands[i]);
  for (std::size_t k = 0; k < program->outputs.size(); ++k) outputs.push_back(k);
  return again(e)(reordered(*program, inputs, outputs), x);
}

LinearizeOut checkpoint_linearize(const JvpIn& in) {
  const auto& attr = in.as<CheckpointAttr>();
  const Mask active = defined(in.t);
  const auto lin = linearize_program(intern(inline_calls(*body(in.eqn), Inlined::calls)), active);
  const std::size_t results = in.out.size();
  Program primal = *lin->primal;
  const std::vector<VarId> saved = saved_values(attr, primal, results);
  const ProgramPtr again = intern(recomputation(primal, saved, residual_atoms(*lin)));
  primal.outputs.resize(results);
  for (VarId v : saved) primal.outputs.push_back(Atom::variable(v));
  const Arrays r = op::call({"checkpoint", {intern(without_dead_equations(primal)), attr.body.sources}}, in.x);

  std::vector<Type> types = argument_types(*again);
  for (std::size_t i = 0; i < active.size(); ++i)
    if (active[i]) types.push_back(in.in[i]);
  const std::size_t known = again->inputs.size();
  const ProgramPtr tangent = build_program("checkpoint", types, attr.body.sources, [&](const Arrays& x) {
    const std::span<const Array> all(x);
    Arrays operands = inline_program(*again, {}, all.subspan(0, known), attr.body.sources.get());
    append(operands, all.subspan(known));
    return inline_program(*closed(lin->tangent), {}, operands, attr.body.sources.get());
  });
  Arrays operands(in.x.begin(), in.x.end());
  append(operands, part(r, results, r.size()));
  append(operands, only_defined(in.t));
  LinearizeOut out;
  out.y.assign(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(results));
  out.t = spread(lin->out_active, linear_checkpoint(in.eqn, tangent, operands));
  return out;
}

}  // namespace

constinit const Prim prim::checkpoint = {
    .name = "checkpoint",
    .work = Work::call,
    .type = [](const TypeIn& in) { return type_of_body(in, {&in.as<CheckpointAttr>().body}); },
    .eval = [](const EvalIn& in) { eval_of_body(in, {&in.as<CheckpointAttr>().body}); },
    .jvp = [](const JvpIn& in) { return jvp_of_body(in, body(in.eqn), again(in.eqn)); },
    .transpose = [](const TransposeIn& in) { transpose_of_body(in, body(in.eqn), again(in.eqn)); },
    .linearize = checkpoint_linearize,
    .batch = [](const BatchIn& in) { return batch_of_body(in, body(in.eqn), again(in.eqn)); },
    .cost = [](const CostIn& in) { return program_cost(in.as<CheckpointAttr>().body.program); }};

constinit const Prim prim::checkpoint_name = {
    .name = "checkpoint_name",
    .work = Work::other,  // not computed again as a part of something else: it would lose its name
    .type = [](const TypeIn& in) -> Types { return {in.x[0]}; },
    .eval =
        [](const EvalIn& in) {
          if (in.y[0] != in.x[0]) std::memcpy(in.y[0], in.x[0], in.out[0].bytes());
        },
    .jvp = [](const JvpIn& in) -> Arrays { return {in.t[0]}; },
    .transpose = [](const TransposeIn& in) { if (in.wants(0)) in.acc[0]->add(in.ct[0]); },
    .batch = [](const BatchIn& in) -> BatchOut { return {op::checkpoint_name(in.x[0], in.as<NameAttr>().name), in.axis[0]}; },
    .cost = [](const CostIn&) { return Cost{}; },
    .in_place = 0};

Arrays op::checkpoint(const CheckpointAttr& body, std::span<const Array> operands) { return bind_all(prim::checkpoint, operands, body); }
Array op::checkpoint_name(const Array& x, std::string_view name) { return bind1(prim::checkpoint_name, {x}, NameAttr{std::string(name)}); }

}  // namespace anadrome
