// custom_root and linear_solve: solutions of equations, whose derivatives come from the equations, not from how they were
// solved. The tangent of a root solves a linear system; a linear system is linear in its right side, and its transpose is the
// system of the transposed map. Source: the implicit function theorem; Griewank & Walther, chapter 15.
#include "transforms/implicit.h"

#include "anadrome/error.h"
#include "transforms/backward.h"
#include "transforms/called_rules.h"
#include "transforms/custom_rules.h"
#include "transforms/jvp.h"
#include "transforms/linearize.h"
#include "transforms/vmap.h"

namespace anadrome {
namespace {

std::vector<Type> joined(std::vector<Type> a, const std::vector<Type>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
std::vector<Type> last_types(const Program& p, std::size_t first) {
  std::vector<Type> all = argument_types(p);
  return {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()};
}

}  // namespace

ProgramPtr derivative_map(const SubProgram& program, std::size_t consts) {
  const std::vector<Type> types = argument_types(*program), x = last_types(*program, consts);
  Mask active(types.size(), 1);
  for (std::size_t i = 0; i < consts; ++i) active[i] = 0;
  const auto joint = jvp_program(program.program, active, Mask(program->outputs.size(), 1));
  std::vector<std::size_t> inputs, outputs;
  for (std::size_t i = 0; i < joint->program->inputs.size(); ++i) inputs.push_back(i);
  for (std::size_t k = program->outputs.size(); k < joint->program->outputs.size(); ++k) outputs.push_back(k);
  return intern(without_dead_equations(*reordered(*joint->program, inputs, outputs)));
}
ProgramPtr transposed_map(const SubProgram& program, std::size_t consts) {
  const std::vector<Type> types = argument_types(*program);
  Mask active(types.size(), 1);
  for (std::size_t i = 0; i < consts; ++i) active[i] = 0;
  const auto lin = linearize_program(program.program, active, Mask(program->outputs.size(), 1));
  return build_program("transpose", joined(types, program->output_types()), program.sources, [&](const Arrays& in) {
    const std::span<const Array> all(in), arguments = all.subspan(0, types.size());
    const Arrays r = inline_program(*lin->primal, {}, arguments, program.sources.get());
    Arrays known = lin->residual_values(arguments, r);
    Mask linear(known.size(), 0);
    linear.resize(known.size() + types.size() - consts, 1);
    const std::size_t first = known.size();
    known.resize(linear.size());
    Arrays g = backward(*lin->tangent, linear, linear, known, all.subspan(types.size()));
    Arrays out(g.begin() + static_cast<std::ptrdiff_t>(first), g.end());
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!out[i].defined()) out[i] = op::zeros(types[consts + i]);
    return out;
  });
}

ProgramPtr transposed_at_zero(const SubProgram& program, std::size_t consts) {
  const ProgramPtr at_any = transposed_map(program, consts);
  const std::vector<Type> types = argument_types(*program), ct = program->output_types();
  std::vector<Type> inputs(types.begin(), types.begin() + static_cast<std::ptrdiff_t>(consts));
  inputs.insert(inputs.end(), ct.begin(), ct.end());
  return build_program("transpose", inputs, program.sources, [&](const Arrays& in) {
    Arrays x(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(consts));
    for (std::size_t i = consts; i < types.size(); ++i) x.push_back(op::zeros(types[i]));
    append(x, std::span<const Array>(in).subspan(consts));
    return inline_program(*at_any, {}, x, program.sources.get());
  });
}

namespace {

/// How a program changes with its arguments before `consts`, in the directions `t` (empty = zero), at `x`; a tangent per output,
/// empty where none.
Arrays directional(const SubProgram& program, std::span<const Array> x, std::span<const Array> t) {
  Mask active = defined(t);
  active.resize(x.size(), 0);
  const auto lin = linearize_program(program.program, active);
  const Arrays r = op::call({"implicit", {lin->primal, program.sources}}, x);
  Arrays operands = lin->residual_values(x, r);
  append(operands, only_defined(t));
  return spread(lin->out_active, op::call({"implicit", {closed(lin->tangent), program.sources}}, operands));
}

/// A program with a batch axis in front of its results; `axis` of its first arguments, the others in front.
SubProgram batched(const SubProgram& program, std::vector<int> axis, const BatchIn& in) {
  axis.resize(argument_types(*program).size(), 0);
  const auto v = vmap_program(program.program, axis, in.size, in.axis_name);
  const Mask all(program->outputs.size(), 1);
  return {build_program("vmap", argument_types(*v->program), program.sources,
                        [&](const Arrays& x) { return batched_results(v->program, x, v->out_axis, all, in.size, program.sources.get()); }),
          program.sources};
}
std::vector<int> axes_of_consts(const BatchIn& in, std::int64_t consts) { return {in.axis.begin(), in.axis.begin() + consts}; }
Arrays batched_operands(const BatchIn& in, std::int64_t consts) {
  Arrays out = list(in.x.subspan(0, static_cast<std::size_t>(consts)));
  for (std::size_t i = out.size(); i < in.x.size(); ++i) out.push_back(in.front_dense(i));
  return out;
}

// ---- the root

Arrays root_jvp(const JvpIn& in) {
  const auto& a = in.as<CustomRootAttr>();
  const auto consts = static_cast<std::size_t>(a.consts);
  Arrays at_root = list(in.x.subspan(0, consts));
  append(at_root, in.y);
  const Arrays change = directional(a.function, at_root, in.t.subspan(0, consts));
  if (only_defined(change).empty()) return Arrays(in.out.size());
  for (std::size_t k = 0; k < change.size(); ++k)
    at_root.push_back(change[k].defined() ? op::neg(change[k]) : op::zeros(a.function->type(a.function->outputs[k])));
  const LinearSolveAttr system{{derivative_map(a.function, consts), a.function.sources}, {transposed_map(a.function, consts), a.function.sources},
                               a.tangent_solver, a.transposed_solver, static_cast<std::int64_t>(consts + in.y.size())};
  return op::linear_solve(system, at_root);
}

BatchOut root_batch(const BatchIn& in) {
  const auto& a = in.as<CustomRootAttr>();
  const std::vector<int> axis = axes_of_consts(in, a.consts);
  const CustomRootAttr attr{batched(a.function, axis, in), batched(a.solver, axis, in), batched(a.tangent_solver, axis, in),
                            batched(a.transposed_solver, axis, in), a.consts};
  return {op::custom_root(attr, batched_operands(in, a.consts)), 0};
}

// ---- the linear system

Arrays solve_jvp(const JvpIn& in) {
  const auto& a = in.as<LinearSolveAttr>();
  const auto consts = static_cast<std::size_t>(a.consts);
  Arrays at_solution = list(in.x.subspan(0, consts));
  append(at_solution, in.y);
  Arrays change(in.out.size()), side = list(in.x.subspan(0, consts));
  if (!only_defined(in.t.subspan(0, consts)).empty()) change = directional(a.matvec, at_solution, in.t.subspan(0, consts));
  for (std::size_t k = 0; k < change.size(); ++k) {
    const Array t = in.t[consts + k];
    if (!change[k].defined()) side.push_back(t.defined() ? t : op::zero_tangent(in.out[k]));
    else side.push_back(t.defined() ? op::sub(t, change[k]) : op::neg(change[k]));
  }
  return op::linear_solve(a, side);
}

void solve_transpose(const TransposeIn& in) {
  const auto& a = in.as<LinearSolveAttr>();
  const auto consts = static_cast<std::size_t>(a.consts);
  Arrays x;
  for (std::size_t i = 0; i < consts; ++i) {
    if (in.linear(i)) throw RuleError("linear_solve is not linear in its matrix, which depends on the arguments." + at_current_source());
    x.push_back(in.x[i]);
  }
  for (std::size_t k = 0; k < in.ct.size(); ++k) x.push_back(in.ct[k].defined() ? in.ct[k] : op::zeros(in.out[k]));
  const Arrays g = op::linear_solve({a.transposed, a.matvec, a.transposed_solve, a.solve, a.consts}, x);
  for (std::size_t k = 0; k < g.size(); ++k)
    if (in.wants(consts + k)) in.acc[consts + k]->add(g[k]);
}

BatchOut solve_batch(const BatchIn& in) {
  const auto& a = in.as<LinearSolveAttr>();
  const std::vector<int> axis = axes_of_consts(in, a.consts);
  const LinearSolveAttr attr{batched(a.matvec, axis, in), batched(a.transposed, axis, in), batched(a.solve, axis, in),
                             batched(a.transposed_solve, axis, in), a.consts};
  return {op::linear_solve(attr, batched_operands(in, a.consts)), 0};
}

}  // namespace

constinit const Prim prim::custom_root = {
    .name = "custom_root",
    .work = Work::call,
    .type = [](const TypeIn& in) { return type_of_body(in, {&in.as<CustomRootAttr>().solver}); },
    .eval = [](const EvalIn& in) { eval_of_body(in, {&in.as<CustomRootAttr>().solver}); },
    .jvp = root_jvp,
    .transpose = no_rule("a root is not linear in what it is a root of"),
    .batch = root_batch,
    .cost = [](const CostIn& in) { return program_cost(in.as<CustomRootAttr>().solver.program); }};
constinit const Prim prim::linear_solve = {
    .name = "linear_solve",
    .work = Work::call,
    .type = [](const TypeIn& in) { return type_of_body(in, {&in.as<LinearSolveAttr>().solve}); },
    .eval = [](const EvalIn& in) { eval_of_body(in, {&in.as<LinearSolveAttr>().solve}); },
    .jvp = solve_jvp,
    .transpose = solve_transpose,
    .batch = solve_batch,
    .cost = [](const CostIn& in) { return program_cost(in.as<LinearSolveAttr>().solve.program); }};

Arrays op::custom_root(const CustomRootAttr& root, std::span<const Array> operands) { return bind_all(prim::custom_root, operands, root); }
Arrays op::linear_solve(const LinearSolveAttr& system, std::span<const Array> operands) { return bind_all(prim::linear_solve, operands, system); }

}  // namespace anadrome
