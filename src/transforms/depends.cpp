// Forward propagation of marks. Sub-programs are memoised by (program, marks), so nested calls cost linear time.
#include "transforms/depends.h"

#include "primitives/prims.h"
#include "transforms/memo.h"

namespace anadrome {
namespace {

/// Which outputs of a sub-program are marked.
Mask output_marks(const ProgramPtr& program, const Mask& marked, DependsOptions options) {
  std::vector<std::int64_t> key(marked.begin(), marked.end());
  key.push_back(options.differentiable * 2 + options.linear_sources);
  return *Memo::instance().get<Mask>(
      program, MemoKind::depends, key,
      [&] {
        const Mask marks = depends(*program, marked, options);
        auto out = std::make_shared<Mask>();
        for (const Atom& a : program->outputs) out->push_back(a.is_var() && marks[a.var]);
        return std::shared_ptr<const Mask>(out);
      },
      [](const Mask& m) { return m.size(); });
}

}  // namespace

Mask depends(const Program& program, const Mask& marked, DependsOptions options) {
  Mask marks(program.types.size(), 0);
  const std::vector<VarId> args = arguments(program);
  for (std::size_t i = 0; i < args.size(); ++i) marks[args[i]] = marked[i];
  Mask in;
  for (const Equation& e : program.equations) {
    bool any = options.linear_sources && e.prim->linear_source;
    in.clear();
    for (const Atom& a : e.operands) {
      in.push_back(a.is_var() && marks[a.var]);
      any |= in.back() != 0;
    }
    if (options.linear_sources && e.prim == &prim::call) any = true;
    if (!any || (options.differentiable && e.prim == &prim::stop_gradient)) continue;
    Mask out(e.results.size(), 1);
    if (e.prim == &prim::call) out = output_marks(e.as<CallAttr>().body.program, in, options);
    for (std::size_t i = 0; i < e.results.size(); ++i)
      if (out[i] && (!options.differentiable || is_differentiable(program.types[e.results[i]].dtype)))
        marks[e.results[i]] = 1;
  }
  return marks;
}

}  // namespace anadrome
