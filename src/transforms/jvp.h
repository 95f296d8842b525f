// Forward mode: a program that computes outputs and tangents together.
#pragma once
#include "transforms/common.h"

namespace anadrome {

struct JvpProgram {
  /// Inputs: the arguments, then the tangents of the active ones. Outputs: the outputs, then the tangents of the outputs
  /// marked in `out_active`.
  ProgramPtr program;
  Mask out_active;
};
/// Pushes tangents of the `active` arguments through a closed program. Outputs marked in `instantiate` (may be empty)
/// get a tangent even where it is zero. Memoised.
std::shared_ptr<const JvpProgram> jvp_program(const ProgramPtr& program, const Mask& active,
                                              const Mask& instantiate = {});

}  // namespace anadrome
