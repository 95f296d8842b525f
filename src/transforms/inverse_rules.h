// How equations are undone: from a result and the other operands back to one operand.
#pragma once
#include "core/prim.h"

namespace anadrome {

/// An equation with a known result, to be solved for one operand.
struct InverseIn {
  const Equation& eqn;
  std::span<const Type> in, out;
  std::span<const Array> x;  // known operands; the others are empty
  const Array& y;            // result 0
  std::size_t unknown;       // the operand asked for
};
/// The operand; empty where these operands cannot be undone. `amplification`: how much at least a relative error of the
/// result grows, as far as literals tell, 1 or more.
struct Undone {
  Array x;
  double amplification = 1;
};
struct InverseRule {
  Undone (*undo)(const InverseIn& in);
  bool each = false;  // every operand can be had without the others
};
/// The rule of a primitive, or null where its result does not tell its operands.
const InverseRule* inverse_rule(const Prim& prim);

}  // namespace anadrome
