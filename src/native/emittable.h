// Which equations the code generator can write.
#pragma once
#include "core/prim.h"

namespace anadrome {

/// True when the equation can be part of a loop kernel. The rest runs on the kernels of `eval`, for the reasons that
/// the table test lists.
bool can_emit(const Program& program, const Equation& e);

/// How an elementwise primitive is emitted.
enum class Emission : std::uint8_t {
  none,
  instructions,  // a few machine instructions
  function       // a call of a function on vectors or numbers
};
Emission emission(const Prim& prim);

}  // namespace anadrome
