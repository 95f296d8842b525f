// custom_root and custom_linear_solve on lists of arrays.
#include "anadrome/implicit.h"

#include <algorithm>

#include "anadrome/ops/reduce.h"
#include "api/captures.h"
#include "api/prepare.h"
#include "primitives/op.h"
#include "transforms/implicit.h"

namespace anadrome::functional {
namespace {

/// Throws TypeError where a function returns other types than it must.
void check_same(const Program& program, std::span<const Type> want, const char* what, const Context& context) {
  const std::vector<Type> got = program.output_types();
  for (std::size_t i = 0; i < want.size(); ++i)
    if (got[i] != want[i])
      throw TypeError(context.name + ": " + what + " returns " + to_string(got[i]) + " for " + leaf_name(context, i) + ", which is " +
                      to_string(want[i]) + ". Return the same shapes and dtypes." + at(context));
}
void check_floats(std::span<const Type> types, const Context& context) {
  for (std::size_t i = 0; i < types.size(); ++i)
    if (!is_differentiable(types[i].dtype))
      throw TypeError(context.name + ": " + leaf_name(context, i) + " is " + to_string(types[i]) + "; unknowns are floats. Convert it, or capture it." +
                      at(context));
}

/// `program` on captures and what comes behind them, as a function.
Function applied(const SubProgram& program, const Arrays& leading) {
  return [&](const Arrays& v) {
    Arrays x = leading;
    x.insert(x.end(), v.begin(), v.end());
    return inline_program(*program, {}, x, program.sources.get());
  };
}
std::vector<Type> twice(const std::vector<Type>& types) {
  std::vector<Type> out = types;
  out.insert(out.end(), types.begin(), types.end());
  return out;
}

}  // namespace

Arrays custom_root(const Function& f, const Function& solve, const LinearSolver& tangent_solve, const Arrays& x0, const Context& context) {
  const std::vector<Type> types = checked_types(x0, context);
  check_floats(types, context);
  if (!current_scope()) return solve(x0);  // no derivative is being taken
  SetSource at_call(context.source);
  const Recording function = record(context.name, f, types), solver = record(context.name + " solve", solve, types);
  check_same(*function.program, types, "the function", context);
  check_same(*solver.program, types, "solve", context);
  const SubProgram closed_function{closed(function.program), function.program->sources};
  const auto recorded_solver = [&](const ProgramPtr& map) {
    const SubProgram linear{map, function.program->sources};
    Recording r = record(context.name + " tangent solve",
                         [&](const Arrays& in) {
                           const auto half = in.begin() + static_cast<std::ptrdiff_t>(types.size());
                           Arrays leading = function.captures;
                           leading.insert(leading.end(), in.begin(), half);
                           return tangent_solve(applied(linear, leading), Arrays(half, in.end()));
                         },
                         twice(types));
    check_same(*r.program, types, "tangent_solve", context);
    return r;
  };
  const std::size_t consts = function.captures.size();
  const SharedCaptures all = with_shared_captures({function, solver, recorded_solver(derivative_map(closed_function, consts)),
                                                   recorded_solver(transposed_map(closed_function, consts))});
  Arrays operands = all.captures;
  operands.insert(operands.end(), x0.begin(), x0.end());
  return bind_all(prim::custom_root, operands,
                  CustomRootAttr{all.programs[0], all.programs[1], all.programs[2], all.programs[3], static_cast<std::int64_t>(all.captures.size())});
}

Arrays custom_linear_solve(const Function& matvec, const LinearSolver& solve, const LinearSolver& transposed_solve, const Arrays& b, const Context& context) {
  const std::vector<Type> types = checked_types(b, context);
  check_floats(types, context);
  if (!current_scope()) return solve(matvec, b);  // no derivative is being taken
  SetSource at_call(context.source);
  const Recording map = record(context.name, matvec, types);
  check_same(*map.program, types, "the linear function", context);
  const SubProgram closed_map{closed(map.program), map.program->sources};
  const SubProgram transposed{transposed_at_zero(closed_map, map.captures.size()), map.program->sources};
  const auto recorded = [&](const SubProgram& linear, const LinearSolver& solver, const char* what) {
    Recording r = record(context.name, [&](const Arrays& in) { return solver(applied(linear, map.captures), in); }, types);
    check_same(*r.program, types, what, context);
    return r;
  };
  const Recording back = record(context.name, [&](const Arrays& in) { return applied(transposed, map.captures)(in); }, types);
  const SharedCaptures all = with_shared_captures({map, back, recorded(closed_map, solve, "solve"), recorded(transposed, transposed_solve, "transposed_solve")});
  Arrays operands = all.captures;
  operands.insert(operands.end(), b.begin(), b.end());
  return bind_all(prim::linear_solve, operands,
                  LinearSolveAttr{all.programs[0], all.programs[1], all.programs[2], all.programs[3], static_cast<std::int64_t>(all.captures.size())});
}

Array is_large(const Arrays& change, const Arrays& x, double tolerance) {
  Array small;
  for (std::size_t i = 0; i < change.size(); ++i) {
    const Array one = reduce_max(abs(change[i])) <= tolerance * max(reduce_max(abs(x[i])), 1);
    small = small.defined() ? small & one : one;
  }
  return op::bit_not(small);
}

}  // namespace anadrome::functional
