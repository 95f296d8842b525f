// while_loop: a loop whose number of steps its values decide. Forward mode and batching only: a reverse pass would have to
// know how many steps to undo.
#include <algorithm>

#include "anadrome/error.h"
#include "core/eval.h"
#include "transforms/depends.h"
#include "transforms/jvp.h"
#include "transforms/sub_programs.h"
#include "transforms/vmap.h"

namespace anadrome {
namespace {

struct Parts {
  const WhileAttr& attr;
  std::size_t condition_consts, body_consts, operands;
  explicit Parts(const WhileAttr& a, std::size_t n)
      : attr(a), condition_consts(static_cast<std::size_t>(a.condition_consts)), body_consts(static_cast<std::size_t>(a.body_consts)), operands(n) {}
  explicit Parts(const Equation& e) : Parts(e.as<WhileAttr>(), e.operands.size()) {}
  std::size_t first() const { return condition_consts + body_consts; }  // carry
  std::size_t carries() const { return operands - first(); }
};

Types while_type(const TypeIn& in) {
  const Parts p(in.as<WhileAttr>(), in.x.size());
  const Program &condition = *p.attr.condition, &body = *p.attr.body;
  std::vector<Type> for_condition, for_body, carries;
  for (std::size_t i = 0; i < in.x.size(); ++i) {
    if (i < p.condition_consts) for_condition.push_back(in.x[i]);
    else if (i < p.first()) for_body.push_back(in.x[i]);
    else carries.push_back(in.x[i]);
  }
  for_condition.insert(for_condition.end(), carries.begin(), carries.end());
  for_body.insert(for_body.end(), carries.begin(), carries.end());
  const bool fits = p.first() <= in.x.size() && argument_types(condition) == for_condition && argument_types(body) == for_body &&
                    condition.output_types() == std::vector<Type>{{DType::b1, {}, false}} && body.output_types() == carries;
  if (!fits) throw InternalError("while_loop: operands do not have the types of the inputs of condition and body");
  return {carries.begin(), carries.end()};
}

void while_eval(const EvalIn& in) {
  const Parts p(in.as<WhileAttr>(), in.x.size());
  Arrays x;
  for (std::size_t i = 0; i < in.x.size(); ++i) x.push_back(borrowed(in.in[i], in.x[i]));
  const auto arguments = [&](std::size_t begin, std::size_t end) {
    Arrays out(x.begin() + static_cast<std::ptrdiff_t>(begin), x.begin() + static_cast<std::ptrdiff_t>(end));
    out.insert(out.end(), x.begin() + static_cast<std::ptrdiff_t>(p.first()), x.end());
    return out;
  };
  for (;;) {
    bool more = false;
    store(evaluate(*p.attr.condition, {}, arguments(0, p.condition_consts))[0], {DType::b1, {}, false}, &more);
    if (!more) break;
    const Arrays y = evaluate(*p.attr.body, {}, arguments(p.condition_consts, p.first()));
    std::copy(y.begin(), y.end(), x.begin() + static_cast<std::ptrdiff_t>(p.first()));
  }
  for (std::size_t k = 0; k < p.carries(); ++k) store(x[p.first() + k], in.out[k], in.y[k]);
}

Mask active_operands(const Parts& p, std::span<const Array> t) {
  Mask active = defined(t.subspan(p.condition_consts));
  for (bool grew = true; grew;) {
    grew = false;
    const Mask marks = depends(*p.attr.body, active, {.differentiable = true, .linear_sources = false});
    for (std::size_t k = 0; k < p.carries(); ++k) {
      const Atom& a = p.attr.body->outputs[k];
      if (a.is_var() && marks[a.var] && !active[p.body_consts + k]) active[p.body_consts + k] = grew = true;
    }
  }
  return active;  // of the body's inputs
}

/// Values, then tangents, of the loop that carries both. `zero` makes tangents of carries that have none yet.
template <class Zero> Arrays joint_loop(const JvpIn& in, const Parts& p, const Mask& active, Zero zero) {
  Mask instantiate(active.begin() + static_cast<std::ptrdiff_t>(p.body_consts), active.end());
  const auto joint = jvp_program(p.attr.body.program, active, instantiate);
  const std::size_t body_inputs = p.operands - p.condition_consts;
  std::vector<std::size_t> place(body_inputs), inputs, outputs;  // place: of the tangent among the inputs
  std::size_t next = body_inputs;
  for (std::size_t i = 0; i < body_inputs; ++i)
    if (active[i]) place[i] = next++;
  Arrays operands(in.x.begin(), in.x.begin() + static_cast<std::ptrdiff_t>(p.first()));
  for (std::size_t i = 0; i < p.body_consts; ++i) inputs.push_back(i);
  for (std::size_t i = 0; i < p.body_consts; ++i)
    if (active[i]) inputs.push_back(place[i]), operands.push_back(in.dense(p.condition_consts + i));
  const std::size_t body_consts = inputs.size();
  for (std::size_t i = p.body_consts; i < body_inputs; ++i) inputs.push_back(i), operands.push_back(in.x[p.condition_consts + i]);
  for (std::size_t i = p.body_consts; i < body_inputs; ++i) {
    if (!active[i]) continue;
    const std::size_t operand = p.condition_consts + i;
    inputs.push_back(place[i]);
    operands.push_back(in.has(operand) ? in.dense(operand) : zero(in.in[operand]));
  }
  for (std::size_t k = 0; k < joint->program->outputs.size(); ++k) outputs.push_back(k);

  Program condition = *p.attr.condition;  // reads the values alone
  for (std::size_t k = 0; k < p.carries(); ++k) {
    if (!active[p.body_consts + k]) continue;
    condition.types.push_back(in.out[k]);
    condition.inputs.push_back(static_cast<VarId>(condition.types.size() - 1));
  }
  const WhileAttr attr{{intern(std::move(condition)), p.attr.condition.sources},
                       {reordered(*joint->program, inputs, outputs), p.attr.body.sources},
                       p.attr.condition_consts,
                       static_cast<std::int64_t>(body_consts),
                       p.attr.max_steps};
  const Arrays r = op::while_loop(attr, operands);
  Arrays out(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(p.carries()));
  append(out, spread(instantiate, part(r, p.carries(), r.size())));
  return out;
}

Arrays while_jvp(const JvpIn& in) {
  const Parts p(in.eqn);
  return joint_loop(in, p, active_operands(p, in.t), [](const Type& type) { return op::zeros(type); });
}

/// A scan that goes through the steps there can be; those that the condition no longer allows keep the carries.
ScanAttr as_scan(const Parts& p) {
  const std::vector<Type> types = argument_types(*p.attr.body);
  const SourceTable* lines = p.attr.body.sources.get();
  const ProgramPtr stay = build_program("stay", types, nullptr, [&](const Arrays& x) { return Arrays(x.begin() + static_cast<std::ptrdiff_t>(p.body_consts), x.end()); });
  std::vector<Type> all = argument_types(*p.attr.condition);
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(p.condition_consts), types.begin(), types.begin() + static_cast<std::ptrdiff_t>(p.body_consts));
  const ProgramPtr step = build_program("while_loop", all, p.attr.body.sources, [&](const Arrays& in) {
    const std::span<const Array> x(in);
    Arrays test(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(p.condition_consts));
    append(test, x.subspan(p.first()));
    const Array goes_on = inline_program(*p.attr.condition, {}, test, lines)[0];
    Arrays operands{op::convert(goes_on, DType::i32)};
    append(operands, x.subspan(p.condition_consts));
    return op::cond({{{stay, nullptr}, p.attr.body}}, operands);
  });
  return {{step, p.attr.body.sources}, p.attr.max_steps, static_cast<std::int64_t>(p.first()), static_cast<std::int64_t>(p.carries()), false};
}

/// Without a limit the linear part runs the loop again, with the values beside the tangents, since how many values it would have
/// to keep is not known: it has no transpose.
LinearizeOut while_linearize(const JvpIn& in) {
  const Parts p(in.eqn);
  if (p.attr.max_steps >= 0) {
    Equation loop = in.eqn;
    loop.prim = &prim::scan;
    loop.attrs = as_scan(p);
    return prim::scan.linearize({loop, in.in, in.out, in.x, {}, in.t});
  }
  LinearizeOut out;
  out.y = op::while_loop(p.attr, in.x);
  const Arrays joint = joint_loop(in, p, active_operands(p, in.t), [](const Type& type) { return op::zero_tangent(type); });
  out.t.assign(joint.begin() + static_cast<std::ptrdiff_t>(p.carries()), joint.end());
  return out;
}

constexpr const char* no_reverse =
    "reverse mode does not know how many steps to undo. Give while_loop the option .max_steps, or use fori_loop with numbers as bounds, or scan";

// ---- batching

BatchOut while_batch(const BatchIn& in) {
  const Parts p(in.eqn);
  std::vector<int> body_axis, condition_axis(in.axis.begin(), in.axis.begin() + static_cast<std::ptrdiff_t>(p.condition_consts));
  for (std::size_t i = p.condition_consts; i < p.operands; ++i)
    body_axis.push_back(i < p.first() || !in.batched(i) ? in.axis[i] : 0);
  const auto carry_axis = [&](std::size_t k) -> int& { return body_axis[p.body_consts + k]; };
  std::shared_ptr<const VmapProgram> body, condition;
  for (bool grew = true; grew;) {
    grew = false;
    body = vmap_program(p.attr.body.program, body_axis, in.size, in.axis_name);
    std::vector<int> axis = condition_axis;
    for (std::size_t k = 0; k < p.carries(); ++k) axis.push_back(carry_axis(k));
    condition = vmap_program(p.attr.condition.program, axis, in.size, in.axis_name);
    for (std::size_t k = 0; k < p.carries(); ++k)
      if (carry_axis(k) == unbatched && (body->out_axis[k] != unbatched || condition->out_axis[0] != unbatched))
        carry_axis(k) = 0, grew = true;
  }
  const bool masked = condition->out_axis[0] != unbatched;
  // A masked loop asks each example whether it goes on, and keeps the values of those that do not.
  const auto goes_on = [&](std::span<const Array> consts, std::span<const Array> carries) {
    Arrays x(consts.begin(), consts.end());
    append(x, carries);
    return inline_program(*condition->program, {}, x, p.attr.condition.sources.get())[0];
  };
  std::vector<Type> types = argument_types(*body->program), condition_types = argument_types(*condition->program);
  const std::size_t own = masked ? p.condition_consts : 0;  // the body of a masked loop reads what the condition reads
  std::vector<Type> body_types(condition_types.begin(), condition_types.begin() + static_cast<std::ptrdiff_t>(own));
  body_types.insert(body_types.end(), types.begin(), types.end());
  const auto new_body = build_program("vmap", body_types, p.attr.body.sources, [&](const Arrays& x) {
    const std::span<const Array> all(x);
    const auto carries = all.subspan(own + p.body_consts);
    Arrays y = inline_program(*body->program, {}, all.subspan(own), p.attr.body.sources.get());
    const Array mask = masked ? goes_on(all.subspan(0, own), carries) : Array();
    for (std::size_t k = 0; k < y.size(); ++k) {
      if (carry_axis(k) == unbatched) continue;
      y[k] = batch_axis_at(y[k], body->out_axis[k], in.size, 0);
      if (masked) y[k] = op::select(op::broadcast_in_dim(mask, y[k].shape(), {0}), y[k], carries[k]);
    }
    return y;
  });
  const auto new_condition = build_program("vmap", condition_types, p.attr.condition.sources, [&](const Arrays& x) {
    const std::span<const Array> all(x);
    const Array mask = goes_on(all.subspan(0, p.condition_consts), all.subspan(p.condition_consts));
    return Arrays{masked ? op::reduce_or(mask, {0}) : mask};
  });
  Arrays operands(in.x.begin(), in.x.begin() + static_cast<std::ptrdiff_t>(p.condition_consts));
  append(operands, in.x.subspan(0, own));
  append(operands, part(in.x, p.condition_consts, p.first()));
  for (std::size_t k = 0; k < p.carries(); ++k)
    operands.push_back(carry_axis(k) == unbatched ? in.x[p.first() + k] : in.front_dense(p.first() + k));
  BatchOut out;
  out.y = op::while_loop({{new_condition, p.attr.condition.sources}, {new_body, p.attr.body.sources}, p.attr.condition_consts,
                          static_cast<std::int64_t>(own + p.body_consts), p.attr.max_steps},
                         operands);
  out.axis.assign(body_axis.begin() + static_cast<std::ptrdiff_t>(p.body_consts), body_axis.end());
  return out;
}

/// One step: how many there are is not known.
Cost while_cost(const CostIn& in) {
  const WhileAttr& a = in.as<WhileAttr>();
  const Cost condition = program_cost(a.condition.program), body = program_cost(a.body.program);
  return {condition.flops + body.flops, condition.transcendentals + body.transcendentals};
}

}  // namespace

constinit const Prim prim::while_loop = {
    .name = "while_loop",
    .work = Work::call,
    .type = while_type,
    .eval = while_eval,
    .jvp = while_jvp,
    .transpose = no_rule(no_reverse),
    .linearize = while_linearize,
    .batch = while_batch,
    .cost = while_cost};

Arrays op::while_loop(const WhileAttr& loop, std::span<const Array> operands) { return bind_all(prim::while_loop, operands, loop); }

}  // namespace anadrome
