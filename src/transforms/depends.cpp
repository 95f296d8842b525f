// Forward propagation of marks. Sub-programs are memoised by (program, marks), so nested calls cost linear time.
#include "transforms/depends.h"

#include <algorithm>

#include "primitives/prims.h"
#include "transforms/memo.h"
#include "transforms/sub_programs.h"

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

Mask joined(Mask a, const Mask& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] |= b[i];
  return a;
}

/// Marks the outputs of a loop body until the carries, inputs from `first` on and the first outputs, stay as they are.
Mask loop_marks(const ProgramPtr& body, Mask in, std::size_t first, std::size_t carries, DependsOptions options) {
  for (;;) {
    const Mask out = output_marks(body, in, options);
    bool grew = false;
    for (std::size_t k = 0; k < carries; ++k)
      if (out[k] && !in[first + k]) in[first + k] = 1, grew = true;
    if (!grew) {
      Mask marks = out;
      for (std::size_t k = 0; k < carries; ++k) marks[k] |= in[first + k];
      return marks;
    }
  }
}

Mask scan_marks(const ScanAttr& a, const Mask& in, DependsOptions options) {
  return loop_marks(a.body.program, in, static_cast<std::size_t>(a.consts), static_cast<std::size_t>(a.carries), options);
}
Mask while_marks(const WhileAttr& a, const Mask& in, DependsOptions options) {
  const auto first = in.begin() + a.condition_consts;
  const Mask body(first, in.end());
  const auto consts = static_cast<std::size_t>(a.body_consts);
  Mask out = loop_marks(a.body.program, body, consts, body.size() - consts, options);
  if (options.differentiable) return out;
  Mask condition(in.begin(), first);
  condition.insert(condition.end(), out.begin(), out.end());
  if (output_marks(a.condition.program, condition, options)[0]) out.assign(out.size(), 1);
  return out;
}
Mask cond_marks(const CondAttr& a, const Mask& in, DependsOptions options) {
  const Mask operands(in.begin() + 1, in.end());
  Mask out;
  for (const SubProgram& branch : a.branches) {
    const Mask marks = output_marks(branch.program, operands, options);
    out = out.empty() ? marks : joined(out, marks);
  }
  if (in[0] && !options.differentiable) out.assign(out.size(), 1);
  return out;
}

/// The results that are marked, of an equation with marked operands or programs inside.
Mask result_marks(const Equation& e, const Mask& in, DependsOptions options) {
  if (e.prim == &prim::call || e.prim == &prim::checkpoint) return output_marks(called(e).body->program, in, options);
  if (e.prim == &prim::rewound) return output_marks(e.as<RewoundAttr>().plain.program, in, options);
  if (const SubProgram* body = replacement(e.attrs)) return output_marks(body->program, in, options);
  if (called(e))  // its derivative rule decides, not its function
    return Mask(e.results.size(), std::find(in.begin(), in.end(), 1) != in.end());
  if (e.prim == &prim::scan) return scan_marks(e.as<ScanAttr>(), in, options);
  if (e.prim == &prim::while_loop) return while_marks(e.as<WhileAttr>(), in, options);
  if (e.prim == &prim::cond) return cond_marks(e.as<CondAttr>(), in, options);
  return Mask(e.results.size(), 1);
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
    if (options.linear_sources && e.prim->work == Work::call) any = true;
    if (!any || (options.differentiable && e.prim == &prim::stop_gradient)) continue;
    const Mask out = result_marks(e, in, options);
    for (std::size_t i = 0; i < e.results.size(); ++i)
      if (out[i] && (!options.differentiable || is_differentiable(program.types[e.results[i]].dtype)))
        marks[e.results[i]] = 1;
  }
  return marks;
}

}  // namespace anadrome
