// dead_code: a backward sweep over what is needed.
#include "optimize/passes.h"
#include "optimize/rewrite.h"

namespace anadrome {

Program dead_code(const Program& program) {
  std::vector<bool> needed(program.types.size()), kept(program.equations.size());
  for (const Atom& a : program.outputs)
    if (a.is_var()) needed[a.var] = true;
  for (std::size_t i = program.equations.size(); i-- > 0;) {
    const Equation& e = program.equations[i];
    kept[i] = std::any_of(e.results.begin(), e.results.end(), [&](VarId v) { return needed[v]; });
    if (!kept[i]) continue;
    for (const Atom& a : e.operands)
      if (a.is_var()) needed[a.var] = true;
  }
  Program out = without_equations(program);
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i]) out.equations.push_back(program.equations[i]);
  canonicalize(out);
  return out;
}

}  // namespace anadrome
