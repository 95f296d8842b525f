// Rewriter: builds a program from another one, equation by equation. What every pass is made of.
#pragma once
#include <optional>

#include "core/intern.h"
#include "primitives/prims.h"

namespace anadrome {

class Rewriter {
 public:
  /// Starts with the captures and inputs of `from`, which must outlive the rewriter.
  explicit Rewriter(const Program& from);

  const Program& from() const { return from_; }
  /// What stands in the new program for an atom of the old one.
  Atom operator[](const Atom& old) const { return old.is_var() ? value_[old.var] : old; }
  void replace(VarId old, const Atom& value) { value_[old] = value; }
  /// `e` with the operands that stand for its own.
  Equation mapped(const Equation& e) const;
  /// Appends `e`, mapped already, whose results are still those of the old program.
  void append(Equation e);
  void copy(const Equation& e) { append(mapped(e)); }

  /// Region and origin of `e` go to what is emitted next.
  void stamp(const Equation& e) { region_ = e.region, origin_ = e.origin; }
  /// Appends an equation with one result.
  Atom emit(const Prim& prim, const Attrs& attrs, std::span<const Atom> operands);
  Atom emit(const Prim& prim, const Attrs& attrs, std::initializer_list<Atom> operands) {
    return emit(prim, attrs, std::span<const Atom>(operands.begin(), operands.size()));
  }
  /// Appends an equation with results of these types; its operands are atoms of the new program.
  std::vector<Atom> emit_all(Equation e, std::span<const Type> results);
  // Movement; nothing is emitted where nothing moves.
  Atom reshape(const Atom& x, const Shape& shape);
  Atom transpose(const Atom& x, const Ints& perm);
  Atom broadcast(const Atom& x, const Shape& shape, const Ints& dims);

  Type type(const Atom& a) const { return to_.type(a); }
  /// The equation of the new program that defines `a`, or null. Valid until the next one is appended.
  const Equation* definition(const Atom& a) const;
  /// The new program, canonical.
  Program finish();

 private:
  VarId new_var(const Type& type, std::int64_t definition);

  const Program& from_;
  Program to_;
  std::vector<Atom> value_;             // by variable of from_
  std::vector<std::int64_t> defined_;   // by variable of to_: its equation, or -1
  std::uint32_t region_ = 0, origin_ = 0;
};

/// The arguments, results and types of a program.
Program without_equations(const Program& program);

/// Result types of a primitive by its type rule.
Types result_types(const Prim& prim, const Attrs& attrs, std::span<const Type> operands);

}  // namespace anadrome
