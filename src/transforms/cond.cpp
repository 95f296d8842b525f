// cond: one of several programs. Transforms give each branch the same operands and results: what one branch lacks is zero.
#include <algorithm>

#include "anadrome/error.h"
#include "core/eval.h"
#include "transforms/backward.h"
#include "transforms/depends.h"
#include "transforms/jvp.h"
#include "transforms/linearize.h"
#include "transforms/sub_programs.h"
#include "transforms/vmap.h"

namespace anadrome {
namespace {

const std::vector<SubProgram>& branches(const Equation& e) { return e.as<CondAttr>().branches; }

Types cond_type(const TypeIn& in) {
  const CondAttr& a = in.as<CondAttr>();
  bool fits = !a.branches.empty() && !in.x.empty() && in.x[0] == Type{DType::i32, {}, false};
  for (const SubProgram& b : a.branches) {
    const std::vector<Type> want = argument_types(*b);
    fits = fits && want.size() + 1 == in.x.size() && std::equal(want.begin(), want.end(), in.x.begin() + 1) &&
           output_types(*b) == output_types(*a.branches[0]);
  }
  if (!fits) throw InternalError("cond: operands do not have the types of the branches' inputs");
  return output_types(*a.branches[0]);
}

void cond_eval(const EvalIn& in) {
  const CondAttr& a = in.as<CondAttr>();
  const auto last = static_cast<std::int64_t>(a.branches.size()) - 1;
  const std::int64_t which = std::clamp<std::int64_t>(*static_cast<const std::int32_t*>(in.x[0]), 0, last);
  Arrays x;
  for (std::size_t i = 1; i < in.x.size(); ++i) x.push_back(borrowed(in.in[i], in.x[i]));
  const Arrays y = evaluate(*a.branches[static_cast<std::size_t>(which)], {}, x);
  for (std::size_t k = 0; k < y.size(); ++k) store(y[k], in.out[k], in.y[k]);
}

/// The outputs that have a tangent in some branch.
Mask active_outputs(const Equation& e, const Mask& active) {
  Mask out(e.results.size(), 0);
  for (const SubProgram& b : branches(e)) {
    const Mask marks = depends(*b, active, {.differentiable = true, .linear_sources = false});
    for (std::size_t k = 0; k < out.size(); ++k) out[k] |= b->outputs[k].is_var() && marks[b->outputs[k].var];
  }
  return out;
}

Arrays cond_jvp(const JvpIn& in) {
  const Mask active = defined(in.t.subspan(1)), wanted = active_outputs(in.eqn, active);
  CondAttr joint;
  Mask out_active;
  for (const SubProgram& b : branches(in.eqn)) {
    const auto j = jvp_program(b.program, active, wanted);
    joint.branches.push_back({j->program, b.sources});
    out_active = j->out_active;
  }
  Arrays operands(in.x.begin(), in.x.end());
  append(operands, only_defined(in.t.subspan(1)));
  const Arrays r = op::cond(joint, operands);
  Arrays out(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(in.out.size()));
  append(out, spread(out_active, part(r, in.out.size(), r.size())));
  return out;
}

// ---- linearization

/// Residuals that branches compute, as further results of all: those of one type share a place.
class Slots {
 public:
  /// The places of a branch's residuals of the given types.
  std::vector<std::size_t> take(const std::vector<Type>& types) {
    std::vector<char> taken(types_.size(), 0);
    std::vector<std::size_t> out;
    for (const Type& type : types) {
      std::size_t i = 0;
      while (i < types_.size() && (taken[i] || types_[i] != type)) ++i;
      if (i == types_.size()) types_.push_back(type), taken.push_back(0);
      taken[i] = 1;
      out.push_back(i);
    }
    return out;
  }
  const std::vector<Type>& types() const { return types_; }

 private:
  std::vector<Type> types_;
};

/// The branches of a cond, linearized so that they have the same tangents.
struct LinearBranches {
  const JvpIn& in;
  std::vector<std::shared_ptr<const Linearized>> lin;
  std::vector<std::vector<std::size_t>> slots;  // of a branch's residuals
  Slots all;

  explicit LinearBranches(const JvpIn& i) : in(i) {
    const Mask active = defined(in.t.subspan(1)), wanted = active_outputs(in.eqn, active);
    for (const SubProgram& b : branches(in.eqn)) {
      lin.push_back(linearize_program(b.program, active, wanted));
      const std::vector<Type> types = lin.back()->primal->output_types();
      slots.push_back(all.take({types.begin() + static_cast<std::ptrdiff_t>(in.out.size()), types.end()}));
    }
  }

  /// The primal branches with the slots as further results.
  CondAttr primal() const {
    CondAttr out;
    const std::vector<Type> types(in.in.begin() + 1, in.in.end());
    const std::size_t n = in.out.size();
    for (std::size_t b = 0; b < lin.size(); ++b) {
      const auto& sources = branches(in.eqn)[b].sources;
      out.branches.push_back({build_program("branch", types, sources, [&](const Arrays& x) {
        const Arrays r = inline_program(*lin[b]->primal, {}, x, sources.get());
        Arrays y(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(n));
        for (const Type& type : all.types()) y.push_back(op::zeros(type));
        for (std::size_t i = 0; i < slots[b].size(); ++i) y[n + slots[b][i]] = r[n + i];
        return y;
      }), sources});
    }
    return out;
  }
  /// The linear branches. Each takes the operands, the results of the primal cond with the slots, and the tangents.
  CondAttr tangent(const std::vector<Type>& types) const {
    CondAttr out;
    const std::size_t arguments = in.x.size() - 1, results = arguments + in.out.size(), known = results + all.types().size();
    for (std::size_t b = 0; b < lin.size(); ++b) {
      const auto& sources = branches(in.eqn)[b].sources;
      out.branches.push_back({build_program("branch", types, sources, [&](const Arrays& x) {
        const std::span<const Array> values(x);
        const auto first = part(values, arguments, results);
        Arrays y(first.begin(), first.end());
        for (std::size_t slot : slots[b]) y.push_back(x[results + slot]);
        return inline_program(*lin[b]->tangent, lin[b]->residual_values(part(values, 0, arguments), y), values.subspan(known), sources.get());
      }), sources});
    }
    return out;
  }
};

/// Leaves out inputs before `known` that no branch reads. Returns the numbers of those that stay.
std::vector<std::size_t> drop_unread(CondAttr& attr, std::size_t known) {
  const std::size_t n = attr.branches[0]->inputs.size();
  Mask read(n, 0);
  for (const SubProgram& b : attr.branches) {
    const auto mark = [&](const Atom& a) {
      for (std::size_t i = 0; i < n; ++i) read[i] |= a == Atom::variable(b->inputs[i]);
    };
    for (const Equation& e : b->equations) std::for_each(e.operands.begin(), e.operands.end(), mark);
    std::for_each(b->outputs.begin(), b->outputs.end(), mark);
  }
  std::vector<std::size_t> inputs, outputs;
  for (std::size_t i = 0; i < n; ++i)
    if (read[i] || i >= known) inputs.push_back(i);
  for (std::size_t k = 0; k < attr.branches[0]->outputs.size(); ++k) outputs.push_back(k);
  for (SubProgram& b : attr.branches) b.program = reordered(*b, inputs, outputs);
  return inputs;
}

LinearizeOut cond_linearize(const JvpIn& in) {
  const LinearBranches linear(in);
  const Arrays r = op::cond(linear.primal(), in.x);
  Arrays operands(in.x.begin() + 1, in.x.end());
  append(operands, r);
  const std::size_t known = operands.size();
  append(operands, only_defined(in.t.subspan(1)));
  std::vector<Type> types;
  for (const Array& x : operands) types.push_back(x.type());
  CondAttr tangent = linear.tangent(types);
  Arrays handed{in.x[0]};
  for (std::size_t i : drop_unread(tangent, known)) handed.push_back(operands[i]);
  LinearizeOut out;
  out.y.assign(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(in.out.size()));
  out.t = spread(linear.lin[0]->out_active, op::cond(tangent, handed));
  return out;
}

// ---- transposition, batching

void cond_transpose(const TransposeIn& in) {
  Mask linear, wanted;
  Arrays operands{in.x[0]};
  std::vector<Type> types;
  const std::size_t n = in.acc.size() - 1;
  for (std::size_t i = 1; i <= n; ++i) {
    linear.push_back(in.linear(i));
    wanted.push_back(in.wants(i));
    if (!in.linear(i)) operands.push_back(in.x[i]), types.push_back(in.in[i]);
  }
  append(operands, only_defined(in.ct));
  for (std::size_t k = 0; k < in.ct.size(); ++k)
    if (in.ct[k].defined()) types.push_back(in.out[k]);
  std::vector<std::shared_ptr<const BackwardProgram>> back;
  Mask reached(n, 0);
  for (const SubProgram& b : branches(in.eqn)) {
    back.push_back(backward_program(b.program, linear, wanted, defined(in.ct)));
    for (std::size_t i = 0; i < n; ++i) reached[i] |= back.back()->reached[i];
  }
  CondAttr attr;
  for (std::size_t b = 0; b < back.size(); ++b) {
    const auto& sources = branches(in.eqn)[b].sources;
    attr.branches.push_back({build_program("branch", types, sources, [&](const Arrays& x) {
      const Arrays g = spread(back[b]->reached, inline_program(*back[b]->program, {}, x, sources.get()));
      Arrays out;
      for (std::size_t i = 0; i < n; ++i)
        if (reached[i]) out.push_back(g[i].defined() ? g[i] : op::zeros(in.in[i + 1]));
      return out;
    }), sources});
  }
  const Arrays g = spread(reached, op::cond(attr, operands));
  for (std::size_t i = 0; i < n; ++i)
    if (g[i].defined()) in.acc[i + 1]->add(g[i]);
}

/// A batched index: every branch runs on all, and each result is chosen; its batch axis is the first one. Examples that take
/// another branch give theirs without derivatives, so that an infinite one is not multiplied by zero there.
Arrays select_branches(const BatchIn& in) {
  const auto count = static_cast<std::int64_t>(branches(in.eqn).size());
  const Array index = op::clamp(op::number(0, DType::i32), in.front(0), op::number(static_cast<double>(count - 1), DType::i32));
  std::vector<int> axis;
  for (std::size_t i = 1; i < in.x.size(); ++i) axis.push_back(is_differentiable(in.x[i].dtype()) ? 0 : in.axis[i]);
  std::vector<Arrays> y;
  for (const SubProgram& branch : branches(in.eqn)) {
    const Array taken = op::eq(index, op::number(static_cast<double>(y.size()), DType::i32));
    Arrays operands;
    for (std::size_t i = 1; i < in.x.size(); ++i) {
      operands.push_back(in.x[i]);
      if (!is_differentiable(in.x[i].dtype())) continue;
      const Array x = in.front_dense(i);
      operands.back() = op::select(op::broadcast_in_dim(taken, x.shape(), {0}), x, op::stop_gradient(x));
    }
    const auto v = vmap_program(branch.program, axis, in.size, in.axis_name);
    Arrays& results = y.emplace_back(inline_program(*v->program, {}, operands, branch.sources.get()));
    for (std::size_t k = 0; k < results.size(); ++k) results[k] = batch_axis_at(results[k], v->out_axis[k], in.size, 0);
  }
  Arrays chosen;
  for (std::size_t k = 0; k < y[0].size(); ++k) {
    const Array which = op::broadcast_in_dim(index, y[0][k].shape(), {0});
    Arrays cases;
    for (const Arrays& branch : y) cases.push_back(branch[k]);
    chosen.push_back(cases.size() == 1 ? cases[0] : op::select_n(cases.size() == 2 ? op::ne(which, op::number(0, DType::i32)) : which, cases));
  }
  return chosen;
}

BatchOut cond_batch(const BatchIn& in) {
  BatchOut out;
  if (in.batched(0)) {
    out.y = select_branches(in);
    out.axis.assign(out.y.size(), 0);
    return out;
  }
  const std::vector<int> axis(in.axis.begin() + 1, in.axis.end());
  std::vector<std::shared_ptr<const VmapProgram>> v;
  for (const SubProgram& b : branches(in.eqn)) v.push_back(vmap_program(b.program, axis, in.size, in.axis_name));
  Mask batched(v[0]->out_axis.size(), 0);
  for (const auto& b : v)
    for (std::size_t k = 0; k < batched.size(); ++k) batched[k] |= b->out_axis[k] != unbatched;
  CondAttr attr;
  for (std::size_t b = 0; b < v.size(); ++b) {
    const auto& sources = branches(in.eqn)[b].sources;
    attr.branches.push_back({build_program("branch", argument_types(*v[b]->program), sources, [&](const Arrays& x) {
      Arrays y = inline_program(*v[b]->program, {}, x, sources.get());
      for (std::size_t k = 0; k < y.size(); ++k)
        if (batched[k]) y[k] = batch_axis_at(y[k], v[b]->out_axis[k], in.size, 0);
      return y;
    }), sources});
  }
  out.y = op::cond(attr, in.x);
  std::vector<int> out_axis;
  for (char b : batched) out_axis.push_back(b ? 0 : unbatched);
  out.axis.assign(out_axis.begin(), out_axis.end());
  return out;
}

/// The dearest branch.
Cost cond_cost(const CostIn& in) {
  Cost out;
  for (const SubProgram& b : in.as<CondAttr>().branches) {
    const Cost c = program_cost(b.program);
    out.flops = std::max(out.flops, c.flops);
    out.transcendentals = std::max(out.transcendentals, c.transcendentals);
  }
  return out;
}

}  // namespace

constinit const Prim prim::cond = {
    .name = "cond",
    .work = Work::call,
    .type = cond_type,
    .eval = cond_eval,
    .jvp = cond_jvp,
    .transpose = cond_transpose,
    .linearize = cond_linearize,
    .batch = cond_batch,
    .cost = cond_cost};

Arrays op::cond(const CondAttr& attr, std::span<const Array> operands) { return bind_all(prim::cond, operands, attr); }

}  // namespace anadrome
