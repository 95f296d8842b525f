// optimize: the order of the passes.
#include "optimize/passes.h"

namespace anadrome {
namespace {

constexpr int max_rounds = 8;

/// Every pass that makes a program smaller, until its hash stays the same.
Program settle(Program program) {
  for (int round = 0; round < max_rounds; ++round) {
    const std::uint64_t before = program.hash;
    program = dead_code(common_subexpressions(fold(simplify(program))));
    if (program.hash == before) break;
  }
  return program;
}

}  // namespace

Program optimize(const Program& program, const OptimizeOptions& options) {
  Program flat = settle(hoist_invariants(dead_code(inline_calls(program))));
  if (!options.structured_tangents || flat.count("identity") == 0) return flat;
  return settle(structured_tangents(flat));
}

}  // namespace anadrome
