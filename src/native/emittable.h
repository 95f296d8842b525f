// Which equations the code generator can write.
#pragma once
#include "core/prim.h"

namespace anadrome {

/// True when the equation can be part of a loop kernel. The rest runs on the kernels of `eval`: see kernel_reasons.
bool can_emit(const Program& program, const Equation& e);

/// How an elementwise primitive is emitted.
enum class Emission : std::uint8_t {
  none,
  instructions,  // a few machine instructions
  function       // a call of a function on vectors or numbers
};
Emission emission(const Prim& prim);

/// Why a primitive, or some of its equations, runs on the kernel of `eval` in a compiled program.
struct KernelReason {
  const Prim* prim;
  std::string_view when;  // which equations; empty: all
  std::string_view why;   // with what was measured: docs/kernels.md
};
/// At most one a primitive; none for those that are always emitted.
std::span<const KernelReason> kernel_reasons();

}  // namespace anadrome
