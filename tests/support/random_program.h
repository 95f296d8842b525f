// Small random programs of many primitives, the same for the same seed.
#pragma once
#include <cstdint>

#include "core/node.h"

namespace anadrome::testing {

/// A program over f32 matrices and vectors with numbers that stay of order 1. Its outputs may repeat, and may be
/// inputs or literals.
Program random_program(std::uint32_t seed, int equations);
/// Inputs for it.
Arrays random_inputs(const Program& program, std::uint32_t seed);
/// True when two arrays have the same type and bits.
bool same_bits(const Array& a, const Array& b);

}  // namespace anadrome::testing
