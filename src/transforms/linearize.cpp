// linearize: one walk with two builders. The captures of the tangent builder are the residuals; a cut then decides which
// of them are kept and which are computed again.
#include "transforms/linearize.h"

#include <algorithm>

#include "primitives/op.h"
#include "transforms/loop_plan.h"
#include "transforms/memo.h"
#include "transforms/residuals.h"
#include "transforms/walk.h"

namespace anadrome {
namespace {

/// Both recordings of a walk, before residual selection. The residuals are the last outputs of `primal`.
struct Split {
  ProgramPtr primal, tangent;
  Mask out_active;
};

Split split(const ProgramPtr& program, const Mask& active, const Mask& instantiate) {
  LeaveScopes closed_program;
  Builder primal("primal"), tangent("tangent", &primal);
  primal.origin = tangent.origin = 0;
  const std::vector<Type> types = argument_types(*program);
  Arrays x, t(types.size());
  for (const Type& type : types) x.push_back(primal.input(type));
  for (std::size_t i = 0; i < types.size(); ++i)
    if (active[i]) t[i] = tangent.input(types[i]);
  Split out;
  Walked w;
  Arrays tangents;
  {
    EnterScope scope({&primal, &tangent});
    w = walk(*program, x, t);
    for (std::size_t i = 0; i < w.t.size(); ++i) {
      const bool forced = !instantiate.empty() && instantiate[i];
      if (!w.t[i].defined() && forced) w.t[i] = op::zero_tangent(program->type(program->outputs[i]));
      out.out_active.push_back(w.t[i].defined());
      if (w.t[i].defined()) tangents.push_back(w.t[i]);
    }
  }
  Recording b = tangent.finish(tangents);
  Arrays outputs = w.y;
  outputs.insert(outputs.end(), b.captures.begin(), b.captures.end());
  out.tangent = b.program;
  out.primal = primal.finish(outputs).program;
  return out;
}

/// Assembles the tangent program that starts from the kept values and computes the others again.
class TangentProgram {
 public:
  TangentProgram(const Program& a, const Program& b, std::size_t outputs) : a_(a), b_(b) {
    for (std::size_t i = outputs; i < a.outputs.size(); ++i) wanted_.push_back(a.outputs[i].var);
  }
  const std::vector<VarId>& wanted() const { return wanted_; }

  Program build(const ResidualChoice& choice) {
    from_a_.assign(a_.types.size(), Atom::no_var);
    for (VarId v : choice.saved) out_.captures.push_back(from_a_[v] = add(a_.types[v]));
    std::uint32_t region = 1;
    for (const Equation& e : b_.equations) region = std::max(region, e.region + 1);
    for (std::size_t k : choice.redone) redo(a_.equations[k], region);
    append_tangent();
    return std::move(out_);
  }

 private:
  VarId add(const Type& type) {
    out_.types.push_back(type);
    return static_cast<VarId>(out_.types.size() - 1);
  }
  void copy(const Equation& from, std::vector<VarId>& names, const Program& program, std::uint32_t region) {
    Equation e = from;
    e.region = region;
    for (Atom& a : e.operands)
      if (a.is_var()) a.var = names[a.var];
    for (VarId& r : e.results) r = names[r] = add(program.types[r]);
    out_.equations.push_back(std::move(e));
  }
  void redo(const Equation& e, std::uint32_t region) { copy(e, from_a_, a_, region); }

  void append_tangent() {
    std::vector<VarId> names(b_.types.size(), Atom::no_var);
    for (std::size_t i = 0; i < b_.captures.size(); ++i) names[b_.captures[i]] = from_a_[wanted_[i]];
    for (VarId v : b_.inputs) out_.inputs.push_back(names[v] = add(b_.types[v]));
    for (const Equation& e : b_.equations) copy(e, names, b_, e.region);
    for (Atom a : b_.outputs) {
      if (a.is_var()) a.var = names[a.var];
      out_.outputs.push_back(a);
    }
  }

  const Program &a_, &b_;
  std::vector<VarId> wanted_, from_a_;
  Program out_;
};

std::shared_ptr<const Linearized> make_linearized(const ProgramPtr& program, const Mask& active,
                                                  const Mask& instantiate, const Costly& costly) {
  Split s = split(program, active, instantiate);
  Program a = *s.primal;
  const Program b = without_dead_equations(*s.tangent);
  const std::size_t n = program->outputs.size();
  std::vector<char> free(a.types.size(), 0);
  const auto costs = [](const Mask& mask, std::size_t i) { return i < mask.size() && mask[i]; };
  for (std::size_t i = 0; i < n; ++i)
    if (a.outputs[i].is_var() && !costs(costly.outputs, i)) free[a.outputs[i].var] = 1;
  for (std::size_t i = 0; i < a.inputs.size(); ++i)
    if (!costs(costly.arguments, i)) free[a.inputs[i]] = 1;
  TangentProgram assembly(a, b, n);
  const ResidualChoice choice = choose_residuals(a, assembly.wanted(), free);
  auto out = std::make_shared<Linearized>();
  out->out_active = s.out_active;
  Program tangent = assembly.build(choice);
  tangent.sources = a.sources = program->sources;
  out->tangent = intern(std::move(tangent));
  a.outputs.resize(n);
  for (VarId v : choice.saved) {
    const auto input = std::find(a.inputs.begin(), a.inputs.end(), v);
    const auto output = std::find(a.outputs.begin(), a.outputs.begin() + static_cast<std::ptrdiff_t>(n), Atom::variable(v));
    if (input != a.inputs.end()) {
      out->residuals.push_back({Residual::From::argument, static_cast<std::size_t>(input - a.inputs.begin())});
    } else if (output != a.outputs.begin() + static_cast<std::ptrdiff_t>(n)) {
      out->residuals.push_back({Residual::From::output, static_cast<std::size_t>(output - a.outputs.begin())});
    } else {
      out->residuals.push_back({Residual::From::extra, a.outputs.size() - n});
      a.outputs.push_back(Atom::variable(v));
    }
  }
  out->primal = intern(without_dead_equations(a));
#ifndef NDEBUG
  verify(*out->tangent);
  verify(*out->primal);
#endif
  return out;
}

}  // namespace

Arrays Linearized::residual_values(std::span<const Array> arguments, std::span<const Array> results) const {
  const std::size_t n = out_active.size();
  Arrays out;
  for (const Residual& r : residuals) {
    switch (r.from) {
      case Residual::From::argument: out.push_back(arguments[r.index]); break;
      case Residual::From::output: out.push_back(results[r.index]); break;
      case Residual::From::extra: out.push_back(results[n + r.index]); break;
    }
  }
  return out;
}

std::size_t Linearized::extra_count() const { return primal->outputs.size() - out_active.size(); }

std::shared_ptr<const Linearized> linearize_program(const ProgramPtr& program, const Mask& active,
                                                    const Mask& instantiate, const Costly& costly) {
  std::vector<std::int64_t> key(active.begin(), active.end());
  for (const Mask* mask : {&instantiate, &costly.arguments, &costly.outputs}) {
    key.push_back(-1);
    key.insert(key.end(), mask->begin(), mask->end());
  }
  key.push_back(loop_plan_number());
  return Memo::instance().get<Linearized>(
      program, MemoKind::linearize, key, [&] { return make_linearized(program, active, instantiate, costly); },
      [](const Linearized& r) { return program_bytes(*r.primal) + program_bytes(*r.tangent); });
}

}  // namespace anadrome
