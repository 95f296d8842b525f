// Loops and conditionals as steps of a compiled program.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "native/kernels.h"
#include "optimize/passes.h"

namespace anadrome {

class ProgramStep {
 public:
  virtual ~ProgramStep() = default;
  virtual std::size_t scratch_bytes() const = 0;
  /// Operands and the results that may lie over them.
  virtual std::vector<std::pair<std::uint32_t, std::uint32_t>> over() const { return {}; }
  /// Pointers: operands, then results, which lie elsewhere but for `over`. Takes no memory beside `scratch`.
  virtual void run(void* const* pointers, char* scratch) const = 0;
  /// What runs, for people, with the schedules of the programs: their kernels are counted on from `kernel`.
  virtual std::string text(std::size_t& kernel) const = 0;
  /// Appends the kernels of the programs, in the order of text.
  virtual void add_kernels(std::vector<KernelPtr>& kernels) const = 0;
};

/// The step of a scan, cond or while_loop, its programs optimised and compiled; null for other equations.
std::unique_ptr<const ProgramStep> program_step(const Program& program, const Equation& e, const OptimizeOptions& options);

}  // namespace anadrome
