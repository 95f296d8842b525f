// Reference evaluation of primitives and programs on concrete arrays.
#pragma once
#include "core/builder.h"

namespace anadrome {

/// Runs one primitive on concrete arrays and literals.
Arrays evaluate(const Prim& prim, const Attrs& attrs, std::span<const Array> operands);
/// Runs a program equation by equation: the oracle for compiled code.
Arrays evaluate(const Program& program, std::span<const Array> captures, std::span<const Array> inputs);

}  // namespace anadrome
