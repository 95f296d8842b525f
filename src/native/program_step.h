// Loops and conditionals as steps of a compiled program.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "core/prim.h"

namespace anadrome {

class ProgramStep {
 public:
  virtual ~ProgramStep() = default;
  virtual std::size_t scratch_bytes() const = 0;
  /// Pointers: operands, then results, which lie elsewhere. Takes no memory beside `scratch`.
  virtual void run(void* const* pointers, char* scratch) const = 0;
  /// What runs, for people, with the schedules of the programs.
  virtual std::string text() const = 0;
};

/// The step of a scan, cond or while_loop, its programs compiled; null for other equations.
std::unique_ptr<const ProgramStep> program_step(const Program& program, const Equation& e);

}  // namespace anadrome
