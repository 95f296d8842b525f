// fuse: equations that share a loop become one equation, a loop kernel.
#pragma once
#include <span>

#include "optimize/axis_classes.h"

namespace anadrome {

/// The primitive of a loop kernel. Its attributes (CallAttr) hold the body: a program whose values are all computed
/// point by point in one nest of loops. Not in the list of primitives: programs that users see do not contain it.
extern const Prim loop_kernel;

/// The primitive of a product that writes its result transposed. Its attributes (CallAttr) hold the body: dot_general,
/// then transpose. Made where one of the last axes of the factors is the last one of the result.
extern const Prim turned_product;

/// The primitive of a product that is added to an array, its third operand. Its attributes (CallAttr) hold the body:
/// dot_general, perhaps transpose, then add.
extern const Prim added_product;

/// The primitive of steps (loop kernels and products) that run block by block along an axis that they share. Its attributes
/// (CallAttr) hold the body, whose equations are the steps.
extern const Prim blocked_steps;

/// Says whether the code generator can compute an equation.
using CanEmit = bool (*)(const Program& program, const Equation& e);

struct FuseOptions {
  CanEmit can_emit = nullptr;
  /// Says whether a body can be run in one nest of loops; a group that cannot stays as it was.
  bool (*can_loop)(const Program& body) = nullptr;
  /// By argument: a run may write over it. What reads such memory at fixed places is computed before the loops that could
  /// then write over it.
  std::span<const bool> donated = {};
  /// Most equations of a kernel; compile time grows faster than a kernel does.
  int most_equations = 64;
  /// Most vector operations of a kernel, where short axes are unrolled.
  std::int64_t most_operations = 2048;
};

struct Fused {
  Program program;  // canonical
  /// By equation of `program`: the equations of the original that it stands for.
  std::vector<std::vector<std::uint32_t>> members;
};
/// True when a kernel may write result `output` over argument `input`: each point reads the argument only where it
/// writes the result.
bool may_overwrite(const Program& body, std::size_t input, std::size_t output);

/// Groups equations into loop kernels. The order of what is left respects the original one.
Fused fuse(const Program& program, const FuseOptions& options);

}  // namespace anadrome
