// What the primitives that hold programs share: calls, loops, conditionals.
#pragma once
#include "primitives/op.h"
#include "transforms/common.h"

namespace anadrome {

/// Which are defined.
Mask defined(std::span<const Array> values);
Arrays only_defined(std::span<const Array> values);
/// Spreads `values` over the places marked in `mask`; empty elsewhere.
Arrays spread(const Mask& mask, std::span<const Array> values);
void append(Arrays& to, std::span<const Array> more);
/// The types of values, and a copy of a list.
std::vector<Type> types_of(std::span<const Array> values);
inline Arrays list(std::span<const Array> values) { return {values.begin(), values.end()}; }
/// The elements [begin, end).
inline std::span<const Array> part(std::span<const Array> values, std::size_t begin, std::size_t end) {
  return values.subspan(begin, end - begin);
}

/// The results of a program: their types.
Types output_types(const Program& program);
/// The memory of an operand of `eval` as an array, not owned.
Array borrowed(const Type& type, const void* memory);
/// Writes the bytes of a result to `to`.
void store(const Array& value, const Type& type, void* to);

/// The program with its inputs and outputs (by number) in another order, interned.
ProgramPtr reordered(const Program& program, std::span<const std::size_t> inputs, std::span<const std::size_t> outputs);

/// The program that gives the results of an equation which holds several, or derivative rules beside it: call, checkpoint,
/// custom_jvp, custom_vjp, custom_root, linear_solve, what is about loops run backwards. Its arguments are the operands but those of
/// [consts, consts + rules). Null for other equations.
struct Called {
  const SubProgram* body = nullptr;
  std::size_t consts = 0, rules = 0;
  explicit operator bool() const { return body != nullptr; }
  std::size_t operand(std::size_t argument) const { return argument < consts ? argument : argument + rules; }
};
Called called(const Equation& e);
/// Of the operands of such an equation, those that are its arguments.
Arrays called_operands(const Called& c, std::span<const Array> operands);

/// The cost of a program run once. Memoised.
Cost program_cost(const ProgramPtr& program);

}  // namespace anadrome
