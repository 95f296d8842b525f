// reversible_scan: a scan in every respect but linearization, which keeps the last carries and a few states; loop_tangent: its
// tangents, one equation, whose transpose undoes the steps; rewound: the gradient, derived again as that of a plain scan.
#include "transforms/reversible_scan.h"

#include "transforms/called_rules.h"
#include "transforms/custom_rules.h"
#include "transforms/depends.h"
#include "transforms/vmap.h"

namespace anadrome {
namespace {

const SubProgram& loop(const Attrs& attrs) { return attrs.as<ReversibleScanAttr>().loop; }
const SubProgram& tangents(const Attrs& attrs) { return attrs.as<LoopTangentAttr>().tangent; }
const SubProgram& plain(const Attrs& attrs) { return attrs.as<RewoundAttr>().plain; }
Record again(const Equation& e, const SubProgram& body) { return as_call(std::string(e.prim->name), body); }

// ---- reversible_scan

/// Inputs: the operands of loop_tangent. Outputs: the tangents of the active results.
SubProgram tangent_program(const SubProgram& loop, const Mask& active, const std::vector<Type>& types) {
  const Equation& e = loop_of(loop);
  const ScanParts p(e);
  std::vector<Type> out_types;
  for (VarId r : e.results) out_types.push_back(loop->types[r]);
  const auto tangents = build_program("tangent", types, loop.sources, [&](const Arrays& x) {
    const std::span<const Array> all(x);
    const std::vector<Type> in_types(types.begin(), types.begin() + static_cast<std::ptrdiff_t>(p.operands));
    const std::size_t first = types.size() - static_cast<std::size_t>(std::count(active.begin(), active.end(), 1));
    const Arrays t = spread(active, all.subspan(first));
    const Arrays r = prim::scan.jvp({e, in_types, out_types, part(all, 0, p.operands), {}, t});
    return only_defined(part(r, p.results, r.size()));
  });
  return {tangents, loop.sources};
}

LinearizeOut reversible_linearize(const JvpIn& in) {
  const ReversibleScanAttr& attr = in.as<ReversibleScanAttr>();
  if (loop_of(attr.loop).as<ScanAttr>().length == 0) return linearize_of_body(in, attr.loop.program, again(in.eqn, attr.loop));
  return deferred_linearize(in, attr.loop, attr.anchors, attr.tolerance.value, -1);
}

/// The batch of the loop, its scan reversible again.
BatchOut reversible_batch(const BatchIn& in) {
  const ReversibleScanAttr& attr = in.as<ReversibleScanAttr>();
  const auto v = vmap_program(attr.loop.program, {in.axis.begin(), in.axis.end()}, in.size, in.axis_name);
  const Program& program = *v->program;
  Arrays value(program.types.size());
  for (std::size_t i = 0; i < in.x.size(); ++i) value[program.inputs[i]] = in.x[i];
  RegionMap regions;
  for (const Equation& e : program.equations) {
    AtEquation at(program, e, regions);
    Arrays x;
    for (const Atom& a : e.operands) x.push_back(a.is_var() ? value[a.var] : literal(a.literal));
    const Arrays y = e.prim == &prim::scan
                         ? op::reversible_scan({loop_program(e.as<ScanAttr>(), types_of(x)), attr.anchors, attr.tolerance}, x)
                         : bind_all(*e.prim, x, e.attrs);
    for (std::size_t i = 0; i < y.size(); ++i) value[e.results[i]] = y[i];
  }
  BatchOut out;
  for (const Atom& a : program.outputs) out.y.push_back(a.is_var() ? value[a.var] : literal(a.literal));
  out.axis.assign(v->out_axis.begin(), v->out_axis.end());
  return out;
}

// ---- loop_tangent

void tangent_transpose(const TransposeIn& in) {
  const LoopTangentAttr& attr = in.as<LoopTangentAttr>();
  const std::size_t n = loop_of(attr.loop).operands.size();
  RewindTask task{attr.loop, {}, {}, defined(in.ct), attr.anchors, attr.tolerance.value, attr.slots};
  const std::size_t first = in.acc.size() - static_cast<std::size_t>(std::count(attr.active.begin(), attr.active.end(), 1));
  bool all_linear = true;
  for (std::size_t i = 0, t = first; i < n; ++i) {
    const bool active = attr.active[static_cast<int>(i)] != 0;
    task.active.push_back(active);
    task.wanted.push_back(active && in.wants(t));
    if (active) all_linear = all_linear && in.linear(t++);
  }
  if (!all_linear) return transpose_of_body(in, attr.tangent.program, again(in.eqn, attr.tangent));
  Arrays operands(in.x.begin(), in.x.begin() + static_cast<std::ptrdiff_t>(first));
  append(operands, only_defined(in.ct));
  const std::vector<Type> types = types_of(operands);
  const ProgramPtr run = attr.slots < 0 ? rewinding_gradient(task, types) : recomputing_gradient(task, types);
  const RewoundAttr programs{{run, attr.loop.sources}, {storing_gradient(task, types), attr.loop.sources}};
  const Arrays g = op::rewound(programs, operands);
  std::size_t next = 0;
  for (std::size_t i = 0, t = first; i < n; ++i) {
    if (task.wanted[i]) in.acc[t]->add(g[next++]);
    t += task.active[i] != 0;
  }
}

// ---- rewound

/// Both programs on batches, with each result's batch axis in front.
BatchOut rewound_batch(const BatchIn& in) {
  const RewoundAttr& attr = in.as<RewoundAttr>();
  const auto batched = [&](const SubProgram& program) -> SubProgram {
    const auto v = vmap_program(program.program, {in.axis.begin(), in.axis.end()}, in.size, in.axis_name);
    const Mask all(program->outputs.size(), 1);
    return {build_program("vmap", argument_types(*v->program), program.sources,
                          [&](const Arrays& x) { return batched_results(v->program, x, v->out_axis, all, in.size, program.sources.get()); }),
            program.sources};
  };
  return {op::rewound({batched(attr.run), batched(attr.plain)}, in.x), 0};
}

}  // namespace

SubProgram loop_program(const ScanAttr& loop, std::span<const Type> operands) {
  return {build_program("loop", operands, loop.body.sources, [&](const Arrays& x) { return op::scan(loop, x); }), loop.body.sources};
}

LinearizeOut deferred_linearize(const JvpIn& in, const SubProgram& loop, std::int64_t anchors, double tolerance, std::int64_t slots) {
  const Equation& e = loop_of(loop);
  const ScanParts p(e);
  const Mask active = active_operands(p, defined(in.t));
  const Arrays kept = slots >= 0 ? op::scan(p.attr, in.x) : run_and_keep(p, rewind_layout(e, types_of(in.x), anchors, tolerance), in.x);
  Arrays operands(in.x.begin(), in.x.end());
  append(operands, part(kept, p.results, kept.size()));
  LoopTangentAttr tangent{{}, loop, {}, anchors, {tolerance}, slots};
  for (std::size_t i = 0; i < p.operands; ++i) {
    tangent.active.push_back(active[i]);
    if (active[i]) operands.push_back(in.has(i) ? in.dense(i) : op::zero_tangent(in.in[i]));
  }
  tangent.tangent = tangent_program(loop, active, types_of(operands));
  Mask differentiable = active_carries(p, active);
  const Mask marks = depends(*p.body(), active, {.differentiable = true, .linear_sources = false});
  for (std::size_t k = 0; k < p.results; ++k) {
    const Atom& a = p.body()->outputs[k];
    differentiable[k] = differentiable[k] || (a.is_var() && marks[a.var]);
  }
  LinearizeOut out;
  out.y.assign(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(p.results));
  out.t = spread(differentiable, op::loop_tangent(tangent, operands));
  return out;
}

constinit const Prim prim::reversible_scan = {
    .name = "reversible_scan",
    .work = Work::call,
    .type = [](const TypeIn& in) { return type_of_body(in, {&loop(in.attrs)}); },
    .eval = [](const EvalIn& in) { eval_of_body(in, {&loop(in.attrs)}); },
    .jvp = [](const JvpIn& in) { return jvp_of_body(in, loop(in.eqn.attrs).program, again(in.eqn, loop(in.eqn.attrs))); },
    .transpose = [](const TransposeIn& in) { transpose_of_body(in, loop(in.eqn.attrs).program, again(in.eqn, loop(in.eqn.attrs))); },
    .linearize = reversible_linearize,
    .batch = reversible_batch,
    .cost = [](const CostIn& in) { return program_cost(loop(in.attrs).program); }};

constinit const Prim prim::loop_tangent = {
    .name = "loop_tangent",
    .work = Work::call,
    .type = [](const TypeIn& in) { return type_of_body(in, {&tangents(in.attrs)}); },
    .eval = [](const EvalIn& in) { eval_of_body(in, {&tangents(in.attrs)}); },
    .jvp = [](const JvpIn& in) { return jvp_of_body(in, tangents(in.eqn.attrs).program, again(in.eqn, tangents(in.eqn.attrs))); },
    .transpose = tangent_transpose,
    .linearize = [](const JvpIn& in) { return linearize_of_body(in, tangents(in.eqn.attrs).program, again(in.eqn, tangents(in.eqn.attrs))); },
    .batch = [](const BatchIn& in) { return batch_of_body(in, tangents(in.eqn.attrs).program, again(in.eqn, tangents(in.eqn.attrs))); },
    .cost = [](const CostIn& in) { return program_cost(tangents(in.attrs).program); }};

constinit const Prim prim::rewound = {
    .name = "rewound",
    .work = Work::call,
    .type = [](const TypeIn& in) { return type_of_body(in, {&in.as<RewoundAttr>().run}); },
    .eval = [](const EvalIn& in) { eval_of_body(in, {&in.as<RewoundAttr>().run}); },
    .jvp = [](const JvpIn& in) { return jvp_of_body(in, plain(in.eqn.attrs).program, again(in.eqn, plain(in.eqn.attrs))); },
    .transpose = [](const TransposeIn& in) { transpose_of_body(in, plain(in.eqn.attrs).program, again(in.eqn, plain(in.eqn.attrs))); },
    .linearize = [](const JvpIn& in) { return linearize_of_body(in, plain(in.eqn.attrs).program, again(in.eqn, plain(in.eqn.attrs))); },
    .batch = rewound_batch,
    .cost = [](const CostIn& in) { return program_cost(in.as<RewoundAttr>().run.program); }};

Arrays op::reversible_scan(const ReversibleScanAttr& loop, std::span<const Array> operands) { return bind_all(prim::reversible_scan, operands, loop); }
Arrays op::loop_tangent(const LoopTangentAttr& loop, std::span<const Array> operands) { return bind_all(prim::loop_tangent, operands, loop); }
Arrays op::rewound(const RewoundAttr& programs, std::span<const Array> operands) { return bind_all(prim::rewound, operands, programs); }

}  // namespace anadrome
