// The walk shared by jvp and linearize: replays a program with tangents.
#pragma once
#include "transforms/common.h"

namespace anadrome {

struct Walked {
  Arrays y;  // outputs
  Arrays t;  // their tangents; empty = zero
};
/// Walks `program` in the current scope on its arguments and their tangents (empty = zero). Primal equations are
/// recorded in the scope's primal builder; an operation made by a rule goes to the tangent builder exactly when one of
/// its operands belongs there.
Walked walk(const Program& program, std::span<const Array> x, std::span<const Array> t);

/// `t` as a tangent of a value of type `type`: a rank-0 tangent serves every element. Checks the type.
Array fit_tangent(const Array& t, const Type& type, const Prim& prim);

}  // namespace anadrome
