// Random programs over all primitives, for comparing backends: generator, comparison, and shrinking of failures.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/node.h"

namespace anadrome::testing {

/// A program without captures, and arrays for its inputs.
struct FuzzCase {
  Program program;
  Arrays inputs;
  /// Compile with CompileOptions::structured_tangents, under which 0 * inf may be 0: only where all values are finite.
  bool structured = false;
};

/// The same case for the same seed. One in seven is a gradient, batch or tangent of a random function.
FuzzCase fuzz_case(std::uint64_t seed);

/// What differs between the native backend and `eval`, and between two native runs; empty when nothing does.
///
/// Where no operation of the program rounds in a way that compiled code may change, the bits must be equal. Elsewhere
/// the bound comes from the operations: the program is evaluated again with each such result moved by what its
/// documented error allows (and sums taken in another order), and the results may differ by a multiple of what that
/// moves. Elements that flip between NaN, infinities and numbers when moved are not compared.
std::optional<std::string> backends_differ(const FuzzCase& fuzz);

/// The values of all variables of a program without calls, by evaluation.
Arrays all_values(const Program& program, const Arrays& inputs);

/// A smaller case that still fails: unneeded equations dropped, values replaced by inputs.
FuzzCase shrink(FuzzCase fuzz, const std::function<bool(const FuzzCase&)>& fails);

/// Seed, program, inputs and difference, as text.
std::string describe(const FuzzCase& fuzz, std::uint64_t seed);

/// Compares `count` programs from `first_seed` on, on two threads. Buffers stand between inaccessible pages in three of
/// four programs. Reports failures to GoogleTest, each shrunk; stops after three. A crash names the seed.
void fuzz(std::uint64_t first_seed, int count);

}  // namespace anadrome::testing
