// Exact identities, by primitive. Each gives the atom that an equation's result equals, or nothing.
#pragma once
#include "optimize/rewrite.h"

namespace anadrome {

/// An equation about to be copied: operands are those of the new program.
struct IdentityIn {
  Rewriter& r;
  const Equation& e;
  const Type& out;  // of result 0

  const Atom& x(std::size_t i) const { return e.operands[i]; }
  Type type(std::size_t i) const { return r.type(e.operands[i]); }
  template <class T>
  const T& as() const {
    return e.attrs.as<T>();
  }
  /// The equation that defines operand i if it is one of `prim`, else null. Copy what you need before emitting.
  const Equation* made_by(std::size_t i, const Prim& prim) const {
    const Equation* d = r.definition(e.operands[i]);
    return d && d->prim == &prim ? d : nullptr;
  }
  /// The scalar that fills operand i, if one does.
  std::optional<Atom> uniform(std::size_t i) const;
  /// The literal that fills operand i, if one does.
  std::optional<Literal> number(std::size_t i) const;
  /// True when operand i is filled with exactly `value`; zeros differ by their sign.
  bool is(std::size_t i, double value) const;
  /// `a`, rank 0 or of the result's shape, as the result.
  Atom as_result(const Atom& a) const { return r.broadcast(a, out.shape, {}); }
};

using Identity = std::optional<Atom> (*)(const IdentityIn&);
using IdentityTable = std::span<const std::pair<const Prim*, Identity>>;
IdentityTable arithmetic_identities();
IdentityTable movement_identities();

}  // namespace anadrome
