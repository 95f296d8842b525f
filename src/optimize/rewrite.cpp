// Rewriter: variables, equations, and movement that is left out where it does nothing.
#include "optimize/rewrite.h"

#include <numeric>

namespace anadrome {

Program without_equations(const Program& program) {
  Program out;
  out.types = program.types;
  out.captures = program.captures;
  out.inputs = program.inputs;
  out.outputs = program.outputs;
  out.sources = program.sources;
  return out;
}

Types result_types(const Prim& prim, const Attrs& attrs, std::span<const Type> operands) {
  return need<&Prim::type>(prim)({prim, attrs, TypePointers(operands)});
}

Rewriter::Rewriter(const Program& from) : from_(from), value_(from.types.size()) {
  to_.types.reserve(from.types.size());
  to_.equations.reserve(from.equations.size());
  to_.sources = from.sources;
  for (VarId v : from.captures) to_.captures.push_back((value_[v] = Atom::variable(new_var(from.type(v), -1))).var);
  for (VarId v : from.inputs) to_.inputs.push_back((value_[v] = Atom::variable(new_var(from.type(v), -1))).var);
}

VarId Rewriter::new_var(const Type& type, std::int64_t definition) {
  to_.types.push_back(type);
  defined_.push_back(definition);
  return static_cast<VarId>(to_.types.size() - 1);
}

Equation Rewriter::mapped(const Equation& e) const {
  Equation out = e;
  for (Atom& a : out.operands) a = (*this)[a];
  return out;
}

void Rewriter::append(Equation e) {
  const auto place = static_cast<std::int64_t>(to_.equations.size());
  for (VarId& v : e.results) {
    const VarId id = new_var(from_.type(v), place);
    value_[v] = Atom::variable(id);
    v = id;
  }
  to_.equations.push_back(std::move(e));
}

Atom Rewriter::emit(const Prim& prim, const Attrs& attrs, std::span<const Atom> operands) {
  boost::container::small_vector<Type, 4> in;
  for (const Atom& a : operands) in.push_back(type(a));
  const Types out = result_types(prim, attrs, view(in));
  Equation e;
  e.prim = &prim;
  e.attrs = attrs;
  for (const Atom& a : operands) e.operands.push_back(a);
  e.region = region_;
  e.origin = origin_;
  const VarId id = new_var(out[0], static_cast<std::int64_t>(to_.equations.size()));
  e.results.push_back(id);
  to_.equations.push_back(std::move(e));
  return Atom::variable(id);
}

std::vector<Atom> Rewriter::emit_all(Equation e, std::span<const Type> results) {
  std::vector<Atom> out;
  for (const Type& t : results) {
    const VarId id = new_var(t, static_cast<std::int64_t>(to_.equations.size()));
    e.results.push_back(id);
    out.push_back(Atom::variable(id));
  }
  to_.equations.push_back(std::move(e));
  return out;
}

Atom Rewriter::reshape(const Atom& x, const Shape& shape) {
  if (type(x).shape == shape) return x;
  if (!x.is_var()) return broadcast(x, shape, {});
  return emit(prim::reshape, ShapeAttr{shape}, {x});
}

Atom Rewriter::transpose(const Atom& x, const Ints& perm) {
  Ints same(perm.begin(), perm.end());
  std::iota(same.begin(), same.end(), 0);
  return perm == same ? x : emit(prim::transpose, PermutationAttr{perm}, {x});
}

Atom Rewriter::broadcast(const Atom& x, const Shape& shape, const Ints& dims) {
  if (type(x).shape == shape) return x;
  return emit(prim::broadcast_in_dim, BroadcastAttr{shape, dims}, {x});
}

const Equation* Rewriter::definition(const Atom& a) const {
  if (!a.is_var() || defined_[a.var] < 0) return nullptr;
  return &to_.equations[static_cast<std::size_t>(defined_[a.var])];
}

Program Rewriter::finish() {
  for (const Atom& a : from_.outputs) to_.outputs.push_back((*this)[a]);
  canonicalize(to_);
  return std::move(to_);
}

}  // namespace anadrome
