// The reverse walk with accumulators. A known equation is emitted only when the walk first needs its value, so that what
// residual selection moved into the tangent program is computed again late and lives briefly.
#include "transforms/backward.h"

#include <deque>

#include "primitives/op.h"
#include "primitives/prims.h"
#include "transforms/depends.h"
#include "transforms/loop_plan.h"
#include "transforms/memo.h"

namespace anadrome {
namespace {

/// A cotangent as one of its operand's type: rank 0 serves every element; elementwise operands of rank 0 get the sum.
Array fit_cotangent(const Array& ct, const Type& type) {
  Array out = ct;
  if (out.shape() != type.shape) {
    if (type.rank() == 0) {
      Ints axes;
      for (int k = 0; k < out.rank(); ++k) axes.push_back(k);
      out = op::reduce_sum(out, axes);
    } else {
      out = op::broadcast_scalar(out, type.shape);
    }
  }
  if (out.type() != type)
    throw InternalError("a transpose rule gave a cotangent " + to_string(ct.type()) + " for an operand " +
                        to_string(type) + at_current_source());
  return out;
}

/// Adds up contributions; nothing is held before the first.
class Sum final : public Accumulator {
 public:
  Sum(Type type, bool wanted) : type_(std::move(type)), wanted_(wanted) {}
  bool wants() const override { return wanted_; }
  void add(const Array& cotangent) override {
    if (!wanted_ || !cotangent.defined()) return;
    const Array ct = fit_cotangent(cotangent, type_);
    sum_ = sum_.defined() ? op::add(sum_, ct) : ct;
  }
  void add_into(const std::function<Array(const Array&)>& update) override {
    if (!wanted_) return;
    sum_ = update(sum_.defined() ? sum_ : op::zeros(type_));
  }
  Array so_far() const override { return sum_.defined() ? sum_ : op::zeros(type_); }
  void replace(const Array& sum) override { sum_ = sum; }
  const Array& sum() const { return sum_; }

 private:
  Type type_;
  bool wanted_;
  Array sum_;
};

class Backward {
 public:
  Backward(const Program& p, const Mask& linear, const Mask& wanted, std::span<const Array> known)
      : p_(p), args_(arguments(p)), value_(p.types.size()), sum_(p.types.size(), nullptr), producer_(p.types.size(), 0) {
    linear_ = depends(p, linear, {.differentiable = false, .linear_sources = true});
    wanted_ = depends(p, wanted);
    for (std::size_t i = 0; i < args_.size(); ++i)
      if (!linear[i]) value_[args_[i]] = known[i];
    for (std::size_t k = 0; k < p.equations.size(); ++k)
      for (VarId r : p.equations[k].results) producer_[r] = k;
  }

  Arrays run(std::span<const Array> ct, std::span<const Array> start) {
    for (std::size_t i = 0; i < start.size(); ++i)
      if (start[i].defined()) accumulator(args_[i])->replace(start[i]);
    for (std::size_t i = 0; i < ct.size(); ++i) {
      const Atom& a = p_.outputs[i];
      if (ct[i].defined() && a.is_var() && linear_[a.var]) accumulator(a.var)->add(ct[i]);
    }
    for (std::size_t k = p_.equations.size(); k-- > 0;) {
      AtEquation at(p_, p_.equations[k], regions_);
      step(p_.equations[k]);
    }
    Arrays out;
    for (VarId v : args_) out.push_back(sum_[v] && wanted_[v] ? sum_[v]->sum() : Array());
    return out;
  }

 private:
  Sum* accumulator(VarId v) {
    if (!sum_[v]) sum_[v] = &store_.emplace_back(p_.types[v], wanted_[v] != 0);
    return sum_[v];
  }

  void step(const Equation& e) {
    if (e.prim->linear_source) return;
    bool any = false, wanted = false;
    Arrays ct;
    for (VarId r : e.results) {
      ct.push_back(linear_[r] && sum_[r] ? sum_[r]->sum() : Array());
      any |= ct.back().defined();
    }
    for (const Atom& a : e.operands) wanted |= a.is_var() && wanted_[a.var];
    if (!any || !wanted) return;
    Arrays x;
    std::vector<Type> in, out;
    std::vector<Accumulator*> acc;
    for (const Atom& a : e.operands) {
      const bool is_linear = a.is_var() && linear_[a.var];
      if (a.is_var() && !is_linear) force(a.var);
      x.push_back(is_linear ? Array() : a.is_var() ? value_[a.var] : literal(a.literal));
      in.push_back(p_.type(a));
      acc.push_back(is_linear ? accumulator(a.var) : nullptr);
    }
    for (VarId r : e.results) out.push_back(p_.types[r]);
    check_linear(e, in, acc);
    need<&Prim::transpose>(*e.prim)({e, in, out, x, ct, acc});
  }

  /// A product is linear in one factor while the other is known, a quotient in its numerator. Only a function given to
  /// linear_transpose can break this.
  static void check_linear(const Equation& e, const std::vector<Type>& in, const std::vector<Accumulator*>& acc) {
    const bool product = e.prim == &prim::mul || e.prim == &prim::dot_general;
    const bool broken = (product && acc[0] && acc[1]) || (e.prim == &prim::div && acc[1]);
    if (broken)
      throw RuleError(std::string(e.prim->name) + " of " + to_string(in[0]) + " and " + to_string(in[1]) +
                      " is not linear: " + (product ? "both factors depend" : "the denominator depends") +
                      " on the arguments.");
  }

  /// Emits the known equations that `v` needs and that have not been emitted, in order.
  void force(VarId v) {
    std::vector<VarId> stack{v};
    while (!stack.empty()) {
      const VarId top = stack.back();
      if (value_[top].defined()) {
        stack.pop_back();
        continue;
      }
      const Equation& e = p_.equations[producer_[top]];
      bool ready = true;
      for (const Atom& a : e.operands)
        if (a.is_var() && !value_[a.var].defined()) {
          stack.push_back(a.var);
          ready = false;
        }
      if (!ready) continue;
      emit(e);
      stack.pop_back();
    }
  }
  void emit(const Equation& e) {
    AtEquation at(p_, e, regions_);
    Arrays x;
    for (const Atom& a : e.operands) x.push_back(a.is_var() ? value_[a.var] : literal(a.literal));
    const Arrays y = bind_all(*e.prim, x, e.attrs);
    for (std::size_t i = 0; i < y.size(); ++i) value_[e.results[i]] = y[i];
  }

  const Program& p_;
  std::vector<VarId> args_;
  Arrays value_;  // known values, emitted on demand
  std::vector<Sum*> sum_;
  std::deque<Sum> store_;
  Mask linear_, wanted_;
  std::vector<std::size_t> producer_;
  RegionMap regions_;
};

std::shared_ptr<const BackwardProgram> make_backward(const ProgramPtr& program, const Mask& linear, const Mask& wanted,
                                                     const Mask& given, const Mask& started) {
  auto out = std::make_shared<BackwardProgram>();
  const std::vector<Type> types = argument_types(*program);
  std::vector<Type> inputs;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (!linear[i]) inputs.push_back(types[i]);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i]) inputs.push_back(program->type(program->outputs[i]));
  for (std::size_t i = 0; i < started.size(); ++i)
    if (started[i]) inputs.push_back(types[i]);
  out->program = build_program("backward", inputs, program->sources, [&](const Arrays& in) {
    Arrays known(types.size()), ct(given.size()), start(started.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < types.size(); ++i)
      if (!linear[i]) known[i] = in[next++];
    for (std::size_t i = 0; i < given.size(); ++i)
      if (given[i]) ct[i] = in[next++];
    for (std::size_t i = 0; i < started.size(); ++i)
      if (started[i]) start[i] = in[next++];
    Arrays outputs;
    for (const Array& g : backward(*program, linear, wanted, known, ct, start)) {
      out->reached.push_back(g.defined());
      if (g.defined()) outputs.push_back(g);
    }
    return outputs;
  });
  return out;
}

}  // namespace

Arrays backward(const Program& program, const Mask& linear, const Mask& wanted, std::span<const Array> known,
                std::span<const Array> ct, std::span<const Array> start) {
  return Backward(program, linear, wanted, known).run(ct, start);
}

std::shared_ptr<const BackwardProgram> backward_program(const ProgramPtr& program, const Mask& linear,
                                                        const Mask& wanted, const Mask& given, const Mask& started) {
  std::vector<std::int64_t> key(linear.begin(), linear.end());
  key.insert(key.end(), wanted.begin(), wanted.end());
  key.insert(key.end(), given.begin(), given.end());
  key.insert(key.end(), started.begin(), started.end());
  key.push_back(loop_plan_number());
  return Memo::instance().get<BackwardProgram>(
      program, MemoKind::backward, key, [&] { return make_backward(program, linear, wanted, given, started); },
      [](const BackwardProgram& r) { return program_bytes(*r.program); });
}

}  // namespace anadrome
