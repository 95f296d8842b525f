// scan: a loop with a fixed number of steps. Its derivatives are loops: forward mode carries tangents beside values;
// linearization stacks what the linear loop needs and hoists what no step changes; the transpose runs the other way round.
#include <algorithm>

#include "anadrome/error.h"
#include "core/eval.h"
#include "transforms/backward.h"
#include "transforms/depends.h"
#include "transforms/jvp.h"
#include "transforms/linearize.h"
#include "transforms/loop_plan.h"
#include "transforms/reversible_scan.h"
#include "transforms/scan_parts.h"
#include "transforms/sub_programs.h"
#include "transforms/vmap.h"

namespace anadrome {
namespace {

Types scan_type(const TypeIn& in) {
  const ScanAttr& a = in.as<ScanAttr>();
  const Program& body = *a.body;
  const std::vector<Type> want = argument_types(body);
  const ScanParts p(a, in.x.size(), body.outputs.size());
  bool fits = want.size() == in.x.size() && p.slices() <= in.x.size() && body.outputs.size() >= p.carries && a.length >= 0;
  for (std::size_t i = 0; fits && i < want.size(); ++i)
    fits = want[i] == (i < p.slices() ? in.x[i] : in.x[i].rank() && in.x[i].shape[0] == a.length ? slice_of(in.x[i]) : Type{});
  Types out = output_types(body);
  for (std::size_t k = 0; fits && k < p.carries; ++k) fits = out[k] == in.x[p.consts + k];
  if (!fits) throw InternalError("scan: operands do not have the types of the body's inputs");
  for (std::size_t k = p.carries; k < out.size(); ++k) out[k] = stack_of(out[k], a.length);
  return out;
}

void scan_eval(const EvalIn& in) {
  const ScanAttr& a = in.as<ScanAttr>();
  const ScanParts p(a, in.x.size(), in.out.size());
  Arrays x(in.x.size());
  for (std::size_t i = 0; i < p.slices(); ++i) x[i] = borrowed(in.in[i], in.x[i]);
  for (std::int64_t step = 0; step < a.length; ++step) {
    const auto at = static_cast<std::size_t>(a.reverse ? a.length - 1 - step : step);
    for (std::size_t i = p.slices(); i < x.size(); ++i) {
      const Type type = slice_of(in.in[i]);
      x[i] = borrowed(type, static_cast<const char*>(in.x[i]) + at * type.bytes());
    }
    const Arrays y = evaluate(*a.body, {}, x);
    for (std::size_t k = 0; k < p.carries; ++k) x[p.consts + k] = y[k];
    for (std::size_t k = p.carries; k < y.size(); ++k) {
      const Type type = slice_of(in.out[k]);
      store(y[k], type, static_cast<char*>(in.y[k]) + at * type.bytes());
    }
  }
  for (std::size_t k = 0; k < p.carries; ++k) store(x[p.consts + k], in.out[k], in.y[k]);
}

// ---- forward mode

/// The tangents of the active operands of [begin, end); `zero` makes those that are symbolic.
template <class Zero> Arrays tangents(const JvpIn& in, const Mask& active, std::size_t begin, std::size_t end, Zero zero) {
  Arrays out;
  for (std::size_t i = begin; i < end; ++i)
    if (active[i]) out.push_back(in.has(i) ? in.dense(i) : zero(in.in[i]));
  return out;
}

/// Numbers of the marked entries of [begin, end) in a list that holds the marked ones behind `offset` others.
void add_marked(const Mask& mask, std::size_t begin, std::size_t end, std::size_t offset, std::vector<std::size_t>& to) {
  std::size_t next = offset + static_cast<std::size_t>(std::count_if(mask.begin(), mask.begin() + static_cast<std::ptrdiff_t>(begin), [](char m) { return m != 0; }));
  for (std::size_t i = begin; i < end; ++i)
    if (mask[i]) to.push_back(next++);
}
void add_range(std::size_t begin, std::size_t end, std::vector<std::size_t>& to) {
  for (std::size_t i = begin; i < end; ++i) to.push_back(i);
}
std::size_t marked(const Mask& mask, std::size_t begin, std::size_t end) {
  return static_cast<std::size_t>(std::count_if(mask.begin() + static_cast<std::ptrdiff_t>(begin), mask.begin() + static_cast<std::ptrdiff_t>(end), [](char m) { return m != 0; }));
}

Arrays scan_jvp(const JvpIn& in) {
  const ScanParts p(in.eqn);
  const Mask active = active_operands(p, defined(in.t));
  const auto joint = jvp_program(p.body(), active, active_carries(p, active));
  std::vector<std::size_t> inputs, outputs;
  Arrays operands;
  for (const auto& [begin, end] : {std::pair(std::size_t{0}, p.consts), {p.consts, p.slices()}, {p.slices(), p.operands}}) {
    add_range(begin, end, inputs);
    add_marked(active, begin, end, p.operands, inputs);
    append(operands, part(in.x, begin, end));
    append(operands, tangents(in, active, begin, end, [](const Type& type) { return op::zeros(type); }));
  }
  for (const auto& [begin, end] : {std::pair(std::size_t{0}, p.carries), {p.carries, p.results}}) {
    add_range(begin, end, outputs);
    add_marked(joint->out_active, begin, end, p.results, outputs);
  }
  const std::size_t consts = p.consts + marked(active, 0, p.consts), carries = p.carries + marked(active, p.consts, p.slices());
  const Arrays r = op::scan(scan_attributes(p.attr, reordered(*joint->program, inputs, outputs), consts, carries), operands);
  Arrays y(p.results), t(p.results);
  std::size_t next = 0;
  for (const auto& [begin, end] : {std::pair(std::size_t{0}, p.carries), {p.carries, p.results}}) {
    for (std::size_t k = begin; k < end; ++k) y[k] = r[next++];
    for (std::size_t k = begin; k < end; ++k)
      if (joint->out_active[k]) t[k] = r[next++];
  }
  append(y, t);
  return y;
}

// ---- linearization

/// Where the linear loop finds the residuals of a step: beside the loop, or stacked.
class Residuals {
 public:
  Residuals(const ScanParts& p, const Linearized& lin, std::span<const Array> x) : p_(p), lin_(lin), x_(x), primal_(*lin.primal) {
    changes_ = Mask(primal_.types.size(), 0);
    makers_.resize(primal_.types.size());
    for (std::size_t i = p.consts; i < p.operands; ++i) changes_[primal_.inputs[i]] = 1;
    for (const Equation& e : primal_.equations) {
      const bool changes = std::any_of(e.operands.begin(), e.operands.end(), [&](const Atom& a) { return a.is_var() && changes_[a.var]; });
      for (std::size_t k = 0; k < e.results.size(); ++k) changes_[e.results[k]] = changes, makers_[e.results[k]] = {&e, k};
    }
    outputs_.assign(primal_.outputs.begin(), primal_.outputs.begin() + static_cast<std::ptrdiff_t>(p.results));
    for (std::size_t r = 0; r < lin.residuals.size(); ++r) place(r);
  }

  /// The body of the primal loop: the carries, the slices, the residuals that are stacked.
  ProgramPtr body() const {
    Program out = primal_;
    out.outputs = outputs_;
    return intern(without_dead_equations(out));
  }
  /// By residual: true when it is the same in every step.
  const Mask& invariant() const { return invariant_; }
  /// The values for the linear loop, by residual, given the results of the primal loop.
  Arrays values(const Equation& e, std::span<const Array> results) const {
    const Arrays hoisted = hoist(e);
    Arrays out;
    for (const Source& s : sources_)
      out.push_back(s.kind == Source::operand ? x_[s.index] : s.kind == Source::result ? results[s.index] : hoisted[s.index]);
    return out;
  }

 private:
  struct Source {
    enum Kind { operand, result, hoisted } kind;
    std::size_t index;
  };

  void place(std::size_t r) {
    const Residual& residual = lin_.residuals[r];
    if (residual.from == Residual::From::argument && !p_.is_carry(residual.index)) {
      invariant_.push_back(p_.is_const(residual.index));
      sources_.push_back({Source::operand, residual.index});
      return;
    }
    if (residual.from == Residual::From::output && residual.index >= p_.carries) {
      invariant_.push_back(0);
      sources_.push_back({Source::result, residual.index});
      return;
    }
    const Atom atom = handed_through(residual.from == Residual::From::argument ? Atom::variable(primal_.inputs[residual.index])
                                     : residual.from == Residual::From::output ? primal_.outputs[residual.index]
                                                                               : primal_.outputs[p_.results + residual.index]);
    const auto input = std::find_if(primal_.inputs.begin(), primal_.inputs.end(), [&](VarId v) { return atom == Atom::variable(v); });
    const auto index = static_cast<std::size_t>(input - primal_.inputs.begin());
    if (index < p_.operands && !p_.is_carry(index)) {
      invariant_.push_back(p_.is_const(index));
      sources_.push_back({Source::operand, index});
      return;
    }
    const bool hoists = !atom.is_var() || !changes_[atom.var];
    invariant_.push_back(hoists);
    sources_.push_back(hoists ? Source{Source::hoisted, hoisted_.size()} : Source{Source::result, outputs_.size()});
    (hoists ? hoisted_ : outputs_).push_back(atom);
  }

  /// What calls only hand through, as it was before them: the residuals of a rule are often arguments.
  Atom handed_through(Atom atom) const {
    while (atom.is_var() && makers_[atom.var].equation) {
      const auto [e, result] = makers_[atom.var];
      const Called c = called(*e);
      if (!c) break;
      const Program& body = **c.body;
      const Atom& output = body.outputs[result];
      if (!output.is_var()) return output;
      const auto input = std::find(body.inputs.begin(), body.inputs.end(), output.var);
      if (input == body.inputs.end()) break;
      atom = e->operands[c.operand(static_cast<std::size_t>(input - body.inputs.begin()))];
    }
    return atom;
  }

  /// Computes once what no step changes.
  Arrays hoist(const Equation& e) const {
    if (hoisted_.empty()) return {};
    Program once = primal_;
    once.outputs = hoisted_;
    once.inputs.resize(p_.consts);
    const SubProgram body{intern(without_dead_equations(once)), e.as<ScanAttr>().body.sources};
    return op::call({"hoisted", body}, x_.subspan(0, p_.consts));
  }

  const ScanParts& p_;
  const Linearized& lin_;
  std::span<const Array> x_;
  struct Maker {
    const Equation* equation = nullptr;
    std::size_t result = 0;
  };

  const Program& primal_;
  Mask changes_;  // by variable: a step changes it, or what it is made of
  std::vector<Maker> makers_;
  Mask invariant_;
  std::vector<Atom> outputs_, hoisted_;
  std::vector<Source> sources_;
};

LinearizeOut scan_linearize(const JvpIn& in) {
  const ScanParts p(in.eqn);
  if (LoopPlan* plan = current_loop_plan()) {
    const LoopStrategy strategy = plan->choose(in.eqn);
    if (strategy.kind != LoopStrategy::Kind::store)
      return deferred_linearize(in, loop_program(p.attr, in.in), -1, 1e-3, strategy.kind == LoopStrategy::Kind::undo ? -1 : strategy.slots);
  }
  const Mask active = active_operands(p, defined(in.t));
  Costly stacked{Mask(p.operands, 0), Mask(p.results, 0)};  // slices and stacks are there, carries are not
  std::fill_n(stacked.arguments.begin() + static_cast<std::ptrdiff_t>(p.consts), p.carries, char{1});
  std::fill_n(stacked.outputs.begin(), p.carries, char{1});
  const auto lin = linearize_program(p.body(), active, active_carries(p, active), stacked);
  const Residuals residuals(p, *lin, in.x);
  const Arrays r = op::scan(scan_attributes(p.attr, residuals.body(), p.consts, p.carries), in.x);
  const Arrays values = residuals.values(in.eqn, r);

  const ProgramPtr tangent = closed(lin->tangent);  // residuals, then tangents
  const Mask& invariant = residuals.invariant();
  const auto zero = [](const Type& type) { return op::zero_tangent(type); };
  std::vector<std::size_t> inputs, outputs;
  Arrays operands;
  const auto add_residuals = [&](bool which) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if ((invariant[i] != 0) == which) inputs.push_back(i), operands.push_back(values[i]);
  };
  const auto add_tangents = [&](std::size_t begin, std::size_t end) {
    add_marked(active, begin, end, values.size(), inputs);
    append(operands, tangents(in, active, begin, end, zero));
  };
  add_residuals(true);
  add_tangents(0, p.consts);
  const std::size_t consts = inputs.size();
  add_tangents(p.consts, p.slices());
  const std::size_t carries = inputs.size() - consts;
  add_residuals(false);
  add_tangents(p.slices(), p.operands);
  add_range(0, tangent->outputs.size(), outputs);
  LinearizeOut out;
  out.y.assign(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(p.results));
  out.t = spread(lin->out_active, op::scan(scan_attributes(p.attr, reordered(*tangent, inputs, outputs), consts, carries), operands));
  return out;
}

// ---- transposition

/// What a backward loop computes a step from, and gives: the transpose of the body, whose sums for constants go on from step to
/// step.
struct Backwards {
  Mask linear, given;  // by operand; by result
  std::shared_ptr<const BackwardProgram> program;
};
Backwards backwards(const TransposeIn& in, const ScanParts& p) {
  Backwards out{{}, Mask(p.results, 1), nullptr};
  Mask wanted, started(p.operands, 0);
  for (std::size_t i = 0; i < p.operands; ++i) {
    out.linear.push_back(in.linear(i));
    wanted.push_back(p.is_carry(i) ? 1 : in.wants(i));
    if (p.is_carry(i) && !in.linear(i))
      throw RuleError("scan: a carry of type " + to_string(in.in[i]) +
                      " is not linear in the arguments, beside others that are. Write the loop so that what does not depend on "
                      "them is read from arrays instead.");
  }
  for (std::size_t k = p.carries; k < p.results; ++k) out.given[k] = in.ct[k].defined();
  const auto plain = backward_program(p.body(), out.linear, wanted, out.given);
  for (std::size_t i = 0; i < p.consts; ++i) started[i] = plain->reached[i];
  out.program = backward_program(p.body(), out.linear, wanted, out.given, started);
  return out;
}

/// The loop goes on adding to what a constant has gathered; to each once, since one may stand for several operands.
bool goes_on(const TransposeIn& in, std::size_t i) {
  const auto end = in.acc.begin() + static_cast<std::ptrdiff_t>(i);
  return std::find(in.acc.begin(), end, in.acc[i]) == end;
}

void add_to_accumulators(const TransposeIn& in, const ScanParts& p, const Mask& reached, const Arrays& r) {
  std::size_t next = p.carries;
  for (std::size_t i = 0; i < p.consts; ++i) {
    if (!reached[i]) continue;
    if (goes_on(in, i)) in.acc[i]->replace(r[next++]);
    else in.acc[i]->add(r[next++]);
  }
  for (std::size_t k = 0; k < p.carries; ++k)
    if (in.wants(p.consts + k)) in.acc[p.consts + k]->add(r[k]);
  for (std::size_t i = p.slices(); i < p.operands; ++i)
    if (reached[i]) in.acc[i]->add(r[next++]);
}

void scan_transpose(const TransposeIn& in) {
  const ScanParts p(in.eqn);
  const auto [linear, given, back] = backwards(in, p);

  // The body of the backward loop. Constants: known ones. Carries: cotangents of the carries, sums for the linear
  // constants. Slices: known ones, cotangents of slices.
  std::vector<Type> types;
  Arrays operands;
  const auto add = [&](const Array& value, Type type) { operands.push_back(value), types.push_back(std::move(type)); };
  for (std::size_t i = 0; i < p.consts; ++i)
    if (!linear[i]) add(in.x[i], in.in[i]);
  const std::size_t known_consts = types.size();
  for (std::size_t k = 0; k < p.carries; ++k) add(in.ct[k].defined() ? in.ct[k] : op::zeros(in.out[k]), in.out[k]);
  for (std::size_t i = 0; i < p.consts; ++i)
    if (back->reached[i]) add(goes_on(in, i) ? in.acc[i]->so_far() : op::zeros(in.in[i]), in.in[i]);
  const std::size_t carries = types.size() - known_consts;
  for (std::size_t i = p.slices(); i < p.operands; ++i)
    if (!linear[i]) add(in.x[i], slice_of(in.in[i]));
  const std::size_t known_slices = types.size() - known_consts - carries;
  for (std::size_t k = p.carries; k < p.results; ++k)
    if (given[k]) add(in.ct[k], slice_of(in.out[k]));

  const auto body = [&](const Arrays& x) {
    const std::span<const Array> all(x);
    const std::size_t sums = known_consts + p.carries, slices = known_consts + carries;
    Arrays known(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(known_consts));
    append(known, part(all, slices, slices + known_slices));
    append(known, part(all, known_consts, sums));
    append(known, all.subspan(slices + known_slices));
    append(known, part(all, sums, slices));
    const Arrays g = spread(back->reached, inline_program(*back->program, {}, known, p.attr.body.sources.get()));
    Arrays out;
    for (std::size_t k = 0; k < p.carries; ++k) out.push_back(g[p.consts + k].defined() ? g[p.consts + k] : op::zeros(in.out[k]));
    for (std::size_t i = 0; i < p.consts; ++i)
      if (g[i].defined()) out.push_back(g[i]);
    for (std::size_t i = p.slices(); i < p.operands; ++i)
      if (g[i].defined()) out.push_back(g[i]);
    return out;
  };
  ScanAttr attr = scan_attributes(p.attr, build_program("backward", types, p.attr.body.sources, body), known_consts, carries);
  attr.reverse = !p.attr.reverse;
  const Arrays r = op::scan(attr, operands);
  add_to_accumulators(in, p, back->reached, r);
}

// ---- batching

BatchOut scan_batch(const BatchIn& in) {
  const ScanParts p(in.eqn);
  std::vector<int> axis;  // of the body's inputs
  for (std::size_t i = 0; i < p.operands; ++i)
    axis.push_back(!in.batched(i) ? unbatched : p.is_const(i) ? in.axis[i] : p.is_carry(i) ? 0 : std::max(in.axis[i] - 1, 0));
  auto v = vmap_program(p.body(), axis, in.size, in.axis_name);
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t k = 0; k < p.carries; ++k)
      if (v->out_axis[k] != unbatched && axis[p.consts + k] == unbatched) axis[p.consts + k] = 0, grew = true;
    if (grew) v = vmap_program(p.body(), axis, in.size, in.axis_name);
  }
  const auto body = build_program("vmap", argument_types(*v->program), p.attr.body.sources, [&](const Arrays& x) {
    Arrays y = inline_program(*v->program, {}, x, p.attr.body.sources.get());
    for (std::size_t k = 0; k < p.carries; ++k)
      if (axis[p.consts + k] != unbatched) y[k] = batch_axis_at(y[k], v->out_axis[k], in.size, 0);
    return y;
  });
  Arrays operands;
  for (std::size_t i = 0; i < p.operands; ++i) {
    if (p.is_const(i) || axis[i] == unbatched) operands.push_back(in.x[i]);
    else if (p.is_carry(i)) operands.push_back(in.front_dense(i));
    else operands.push_back(in.axis[i] == 0 ? op::move_axis(in.x[i], 0, 1) : in.x[i]);
  }
  BatchOut out;
  out.y = op::scan(scan_attributes(p.attr, body, p.consts, p.carries), operands);
  std::vector<int> out_axis;
  for (std::size_t k = 0; k < p.results; ++k) {
    if (k < p.carries) out_axis.push_back(axis[p.consts + k] == unbatched ? unbatched : 0);
    else out_axis.push_back(v->out_axis[k] == unbatched ? unbatched : v->out_axis[k] + 1);
  }
  out.axis.assign(out_axis.begin(), out_axis.end());
  return out;
}

Cost scan_cost(const CostIn& in) {
  const ScanAttr& a = in.as<ScanAttr>();
  const Cost step = program_cost(a.body.program);
  const auto n = static_cast<double>(a.length);
  return {n * step.flops, n * step.transcendentals};
}

}  // namespace

constinit const Prim prim::scan = {
    .name = "scan",
    .work = Work::call,
    .type = scan_type,
    .eval = scan_eval,
    .jvp = scan_jvp,
    .transpose = scan_transpose,
    .linearize = scan_linearize,
    .batch = scan_batch,
    .cost = scan_cost};

Arrays op::scan(const ScanAttr& loop, std::span<const Array> operands) { return bind_all(prim::scan, operands, loop); }

}  // namespace anadrome
