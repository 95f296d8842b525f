// The one dependence analysis: which values depend on marked arguments.
#pragma once
#include "transforms/common.h"

namespace anadrome {

/// Marks, by variable, the values that depend on the marked arguments of a program, through sub-programs. Results that a
/// tangent cannot reach (integers, stop_gradient) are marked only when `differentiable` is false.
struct DependsOptions {
  bool differentiable = false;
  bool linear_sources = false;  // zero tangents count as marked: what is linear in a tangent program
};
Mask depends(const Program& program, const Mask& marked, DependsOptions options = {});

}  // namespace anadrome
