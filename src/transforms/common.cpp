// Closed programs, dead equations, origins.
#include "transforms/common.h"

namespace anadrome {

std::vector<VarId> arguments(const Program& program) {
  std::vector<VarId> out = program.captures;
  out.insert(out.end(), program.inputs.begin(), program.inputs.end());
  return out;
}

std::vector<Type> argument_types(const Program& program) {
  std::vector<Type> out;
  for (VarId v : program.captures) out.push_back(program.types[v]);
  for (VarId v : program.inputs) out.push_back(program.types[v]);
  return out;
}

ProgramPtr closed(const ProgramPtr& program) {
  if (program->captures.empty()) return intern(program);
  Program p = *program;
  p.inputs = arguments(*program);
  p.captures.clear();
  return intern(std::move(p));
}

Program without_dead_equations(const Program& program) {
  std::vector<char> needed(program.types.size(), 0);
  for (const Atom& a : program.outputs)
    if (a.is_var()) needed[a.var] = 1;
  std::vector<char> keep(program.equations.size(), 0);
  for (std::size_t k = program.equations.size(); k-- > 0;) {
    const Equation& e = program.equations[k];
    for (VarId r : e.results) keep[k] |= needed[r];
    if (!keep[k]) continue;
    for (const Atom& a : e.operands)
      if (a.is_var()) needed[a.var] = 1;
  }
  Program out = program;
  out.equations.clear();
  for (std::size_t k = 0; k < keep.size(); ++k)
    if (keep[k]) out.equations.push_back(program.equations[k]);
  return out;
}

AtEquation::AtEquation(const Program& program, const Equation& e, RegionMap& regions) : region_(regions, e.region) {
  if (program.sources && e.origin < program.sources->size()) source_.emplace((*program.sources)[e.origin]);
  const Scope* scope = current_scope();
  if (!scope) return;
  builders_ = {scope->primal, scope->tangent};
  for (int i = 0; i < 2; ++i)
    if (builders_[i] && builders_[i]->origin) saved_[i] = std::exchange(builders_[i]->origin, e.origin);
}
AtEquation::~AtEquation() {
  for (int i = 0; i < 2; ++i)
    if (builders_[i] && saved_[i]) builders_[i]->origin = saved_[i];
}

ProgramPtr build_program(std::string name, std::span<const Type> inputs, const std::shared_ptr<const SourceTable>& sources,
                         const std::function<Arrays(const Arrays&)>& body) {
  LeaveScopes closed_program;
  Builder builder(std::move(name));
  builder.origin = 0;
  Arrays x;
  for (const Type& t : inputs) x.push_back(builder.input(t));
  Arrays y;
  {
    EnterScope scope({&builder});
    y = body(x);
  }
  Recording recording = builder.finish(y);
  if (!recording.captures.empty()) throw InternalError("a transform captured a value from outside its program");
  Program p = without_dead_equations(std::move(*recording.program));
  p.sources = sources;
#ifndef NDEBUG
  verify(p);
#endif
  return intern(std::move(p));
}

}  // namespace anadrome
