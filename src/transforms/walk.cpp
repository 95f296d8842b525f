// Forward walk with tangents.
#include "transforms/walk.h"

#include "primitives/op.h"

namespace anadrome {

Array fit_tangent(const Array& t, const Type& type, const Prim& prim) {
  if (!t.defined()) return t;
  Array out = t.shape() == type.shape ? t : op::broadcast_scalar(t, type.shape);
  if (out.type() != type)
    throw InternalError("the jvp rule of " + std::string(prim.name) + " gave a tangent " + to_string(t.type()) +
                        " for a result " + to_string(type) + at_current_source());
  return out;
}

namespace {

class Walk {
 public:
  explicit Walk(const Program& program) : p_(program), value_(program.types.size()), tangent_(program.types.size()) {}

  Walked run(std::span<const Array> x, std::span<const Array> t) {
    const std::vector<VarId> args = arguments(p_);
    if (args.size() != x.size() || args.size() != t.size()) throw InternalError("walk: wrong number of arguments");
    for (std::size_t i = 0; i < args.size(); ++i) {
      value_[args[i]] = x[i];
      tangent_[args[i]] = t[i];
    }
    RegionMap regions;
    for (const Equation& e : p_.equations) {
      AtEquation at(p_, e, regions);
      step(e);
    }
    Walked out;
    for (const Atom& a : p_.outputs) {
      out.y.push_back(a.is_var() ? value_[a.var] : literal(a.literal));
      out.t.push_back(a.is_var() ? tangent_[a.var] : Array());
    }
    return out;
  }

 private:
  void step(const Equation& e) {
    x_.clear();
    t_.clear();
    in_.clear();
    out_.clear();
    bool active = false;
    for (const Atom& a : e.operands) {
      x_.push_back(a.is_var() ? value_[a.var] : literal(a.literal));
      t_.push_back(a.is_var() ? tangent_[a.var] : Array());
      in_.push_back(p_.type(a));
      active |= t_.back().defined();
    }
    for (VarId r : e.results) out_.push_back(p_.types[r]);
    Builder& primal = *current_scope()->primal;
    if (e.prim->linear_source) return set(e, {op::full(0, out_[0])}, {Array()});
    if (!active) return set(e, primal.record(*e.prim, x_, e.attrs), Arrays(e.results.size()));
    JvpIn in{e, in_, out_, x_, {}, t_};
    if (e.prim->linearize) return step_call(e, in);
    const Arrays y = primal.record(*e.prim, x_, e.attrs);
    in.y = y;
    Arrays t = need<&Prim::jvp>(*e.prim)(in);
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = fit_tangent(t[i], out_[i], *e.prim);
    set(e, y, t);
  }

  void step_call(const Equation& e, const JvpIn& in) {
    if (current_scope()->tangent) {
      LinearizeOut out = e.prim->linearize(in);
      return set(e, out.y, out.t);
    }
    Arrays both = need<&Prim::jvp>(*e.prim)(in);
    const auto n = static_cast<std::ptrdiff_t>(e.results.size());
    set(e, Arrays(both.begin(), both.begin() + n), Arrays(both.begin() + n, both.end()));
  }

  void set(const Equation& e, const Arrays& y, const Arrays& t) {
    for (std::size_t i = 0; i < e.results.size(); ++i) {
      value_[e.results[i]] = y[i];
      tangent_[e.results[i]] = t[i];
    }
  }

  const Program& p_;
  Arrays value_, tangent_;
  Arrays x_, t_;
  std::vector<Type> in_, out_;
};

}  // namespace

Walked walk(const Program& program, std::span<const Array> x, std::span<const Array> t) {
  return Walk(program).run(x, t);
}

}  // namespace anadrome
