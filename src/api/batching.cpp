// vmap and the Jacobians on lists of arrays.
#include "api/prepare.h"
#include "primitives/op.h"
#include "transforms/backward.h"
#include "transforms/linearize.h"
#include "transforms/loop_plan.h"
#include "transforms/memo.h"
#include "transforms/vmap.h"

namespace anadrome::functional {
namespace {

/// The batch axis of input i counted from the front, or `unbatched`.
int front_axis(const Array& x, int axis, std::size_t i, const Context& context) {
  if (axis == not_batched) return unbatched;
  const int wrapped = axis < 0 ? axis + x.rank() : axis;
  if (wrapped < 0 || wrapped >= x.rank())
    throw TypeError(context.name + ": the batch axis " + std::to_string(axis) + " of " + leaf_name(context, i) +
                    " is out of range: it is " + to_string(x.type()) + " with " + std::to_string(x.rank()) +
                    " axes. Use an axis in [-" + std::to_string(x.rank()) + ", " + std::to_string(x.rank()) +
                    "), or none for what is shared." + at(context));
  return wrapped;
}

/// The common extent of the batch axes.
std::int64_t batch_size(const Arrays& x, const std::vector<int>& axis, std::int64_t size, const Context& context) {
  std::size_t first = x.size();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (axis[i] == unbatched) continue;
    const std::int64_t n = x[i].shape()[static_cast<std::size_t>(axis[i])];
    if (size >= 0 && n != size)
      throw TypeError(context.name + ": batch sizes differ: " +
                      (first < i ? leaf_name(context, first) + " has " + std::to_string(size) + " along axis " +
                                       std::to_string(axis[first])
                                 : "the size asked for is " + std::to_string(size)) +
                      ", " + leaf_name(context, i) + " has " + std::to_string(n) + " along axis " +
                      std::to_string(axis[i]) + ". Batched arguments share one size; mark shared ones with none." +
                      at(context));
    if (size < 0) first = i;
    size = n;
  }
  if (size < 0)
    throw TypeError(context.name + ": no argument is batched: every batch axis is none. Give at least one argument a "
                                   "batch axis, or the option .size." +
                    at(context));
  return size;
}

int output_axis(const std::vector<int>& out, std::size_t i, std::size_t count, int rank, const Context& context) {
  if (out.size() != 1 && out.size() != count)
    throw TypeError(context.name + ": there are " + std::to_string(out.size()) + " output axes for " +
                    std::to_string(count) + " outputs; give one for all, or one each." + at(context));
  const int axis = out[out.size() == 1 ? 0 : i];
  if (axis == not_batched) return axis;
  const int wrapped = axis < 0 ? axis + rank + 1 : axis;
  if (wrapped < 0 || wrapped > rank)
    throw TypeError(context.name + ": the output axis " + std::to_string(axis) + " is out of range for output " +
                    std::to_string(i) + " with " + std::to_string(rank) + " axes of its own." + at(context));
  return wrapped;
}

}  // namespace

Arrays vmap(const Function& f, const Arrays& x, const VmapSpec& spec, const Context& context) {
  std::vector<Type> types = checked_types(x, context);
  if (spec.in.size() != x.size())
    throw TypeError(context.name + ": there are " + std::to_string(spec.in.size()) + " batch axes for " +
                    std::to_string(x.size()) + " array arguments; give one for each." + at(context));
  std::vector<int> axis;
  for (std::size_t i = 0; i < x.size(); ++i) axis.push_back(front_axis(x[i], spec.in[i], i, context));
  const std::int64_t size = batch_size(x, axis, spec.size, context);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (axis[i] != unbatched) types[i].shape.erase(static_cast<std::size_t>(axis[i]));
  const Prepared p = prepare_types(context, f, types, {});
  std::vector<int> all(p.leading.size(), unbatched);
  all.insert(all.end(), axis.begin(), axis.end());
  const auto v = vmap_program(p.program, all, size, spec.axis_name);
  Arrays y = apply(v->program, p.arguments(x), p.sources);
  const std::vector<int> out = spec.out();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const int rank = p.program->type(p.program->outputs[i]).rank();
    const int to = output_axis(out, i, y.size(), rank, context);
    if (to != not_batched) y[i] = batch_axis_at(y[i], v->out_axis[i], size, to);
    else if (v->out_axis[i] != unbatched)
      throw TypeError(context.name + ": output " + std::to_string(i) +
                      " depends on a batched argument, but its output axis is none. Give it an axis." + at(context));
  }
  return y;
}

Arrays vmap(const Function& f, const Arrays& x, const std::vector<int>& axes, int out_axis,
            const std::string& axis_name) {
  const auto out = [out_axis] { return std::vector<int>{out_axis}; };
  return vmap(f, x, VmapSpec{axes, out, axis_name, -1}, {.name = "vmap", .source = {}, .leaf = {}});
}

namespace {

/// The standard basis of a value of type `type`, one element a row: [n, shape...].
Array basis(const Type& type) {
  Shape shape = type.shape;
  shape.insert(0, type.elements());
  return op::reshape(op::identity(type.dtype, type.elements()), shape);
}

/// A batched derivative [.., n at `axis`, ..] of a value with shape `out`, as [out..., in...]; zero where empty.
Array columns_last(const Array& t, int axis, const Type& out, const Shape& in) {
  Shape shape = out.shape;
  shape = Shape(shape.begin(), shape.end());
  for (std::int64_t d : in) shape.push_back(d);
  if (!t.defined()) return op::zeros({out.dtype, shape, false});
  return op::reshape(batch_axis_at(t, axis, in.elements(), out.rank()), shape);
}

/// Jacobian blocks by output, by active argument: one vmapped tangent program per argument.
Arrays forward_blocks(const Program& program, const ProgramPtr& shared, const Arrays& x, const anadrome::Mask& active) {
  std::vector<Arrays> by_argument;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!active[i]) continue;
    anadrome::Mask one(active.size(), 0);
    one[i] = 1;
    const auto lin = linearize_program(shared, one);
    Arrays args = lin->residual_values(x, inline_program(*lin->primal, {}, x));
    std::vector<int> axis(args.size(), unbatched);
    const bool one_column = x[i].rank() == 0;  // its basis is the number 1: nothing to batch
    args.push_back(one_column ? op::number(1, x[i].dtype()) : basis(x[i].type()));
    axis.push_back(one_column ? unbatched : 0);
    const auto v = vmap_program(closed(lin->tangent), axis, x[i].size());
    const Arrays t = inline_program(*v->program, {}, args);
    Arrays blocks;
    std::size_t next = 0;
    for (std::size_t o = 0; o < program.outputs.size(); ++o) {
      const Type out = program.type(program.outputs[o]);
      const bool has = lin->out_active[o];
      blocks.push_back(columns_last(has ? t[next] : Array(), has ? v->out_axis[next] : unbatched, out, x[i].shape()));
      next += has;
    }
    by_argument.push_back(std::move(blocks));
  }
  Arrays out;
  for (std::size_t o = 0; o < program.outputs.size(); ++o)
    for (const Arrays& blocks : by_argument) out.push_back(blocks[o]);
  return out;
}

/// The same by reverse mode: one vmapped backward program per output.
Arrays reverse_blocks(const Program& program, const ProgramPtr& shared, const Arrays& x, const anadrome::Mask& active) {
  const auto lin = linearize_program(shared, active);
  const Arrays known = lin->residual_values(x, inline_program(*lin->primal, {}, x));
  anadrome::Mask linear(known.size(), 0);
  for (char a : active)
    if (a) linear.push_back(1);
  Arrays out;
  std::size_t place = 0;
  for (std::size_t o = 0; o < program.outputs.size(); ++o) {
    const Type type = program.type(program.outputs[o]);
    anadrome::Mask given(lin->tangent->outputs.size(), 0);
    const bool has = lin->out_active[o];
    if (has) given[place++] = 1;
    const auto back = backward_program(closed(lin->tangent), linear, linear, given);
    Arrays args = known, g;
    std::vector<int> axis(known.size(), unbatched), g_axis;
    if (has) {
      const bool one_row = type.rank() == 0;
      args.push_back(one_row ? op::number(1, type.dtype) : basis(type));
      axis.push_back(one_row ? unbatched : 0);
      const auto v = vmap_program(back->program, axis, type.elements());
      g = inline_program(*v->program, {}, args);
      g_axis = v->out_axis;
    }
    std::size_t next = 0, argument = known.size();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!active[i]) continue;
      Shape shape = type.shape;
      for (std::int64_t d : x[i].shape()) shape.push_back(d);
      const bool reached = has && back->reached[argument];
      ++argument;
      out.push_back(reached ? op::reshape(batch_axis_at(g[next], g_axis[next], type.elements(), 0), shape)
                            : op::zeros({type.dtype, shape, false}));
      next += reached;
    }
  }
  return out;
}

ProgramPtr jacobian_program(const ProgramPtr& program, const anadrome::Mask& active, JacobianMode mode) {
  std::vector<std::int64_t> key(active.begin(), active.end());
  key.push_back(static_cast<std::int64_t>(mode));
  key.push_back(loop_plan_number());
  const auto holder = Memo::instance().get<ProgramPtr>(
      program, MemoKind::jacobian, key,
      [&] {
        const bool forward = mode == JacobianMode::forward;
        return std::make_shared<const ProgramPtr>(build_program(
            forward ? "jacfwd" : "jacrev", argument_types(*program), program->sources, [&](const Arrays& x) {
              return forward ? forward_blocks(*program, program, x, active)
                             : reverse_blocks(*program, program, x, active);
            }));
      },
      [](const ProgramPtr& p) { return program_bytes(*p); });
  return *holder;
}

}  // namespace

std::vector<Arrays> jacobian(const Function& f, const Arrays& x, const Mask& wanted, JacobianMode mode,
                             const Context& context) {
  checked_types(x, context);
  std::size_t columns = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!wanted[i]) continue;
    ++columns;
    if (!is_differentiable(x[i].dtype()))
      throw TypeError(context.name + ": " + leaf_name(context, i) + " is " + to_string(x[i].type()) +
                      "; only float arguments have a Jacobian." + at(context));
  }
  const Prepared p = prepare(context, f, x, true);
  for (const Atom& a : p.program->outputs)
    if (!is_differentiable(p.program->type(a).dtype))
      throw TypeError(context.name + ": the function returns " + to_string(p.program->type(a)) +
                      ", which carries no derivative; its outputs must be floats." +
                      (at(context).empty() ? at_source(p.source) : at(context)));
  const ProgramPtr program = jacobian_program(p.program, p.argument_mask(wanted), mode);
  const Arrays r = apply(program, p.arguments(x), p.sources);
  std::vector<Arrays> out(p.program->outputs.size());
  for (std::size_t k = 0; k < r.size(); ++k) out[k / columns].push_back(r[k]);
  return out;
}

}  // namespace anadrome::functional
