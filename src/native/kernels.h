// Compiled loop kernels: one for each structure in the process.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "native/loop_nest.h"

namespace anadrome {

/// Keeps machine code in memory.
class KernelCode;

struct StepLoop;  // native/step_loop.h

struct CompiledKernel {
  /// Runs [begin, end) of the loop nest.ranged(). Pointers: arguments of the body, then results.
  void (*run)(char* const* pointers, std::int64_t begin, std::int64_t end) = nullptr;
  LoopNest nest;
  /// Set for the kernel of a whole loop: then `run` takes 0 and the number of steps, and there is no nest.
  std::shared_ptr<const StepLoop> steps;
  double item_nanoseconds = 0;  // estimate for one index of the loop nest.ranged()
  ProgramPtr body;
  std::string name;
  std::size_t code_bytes = 0;
  std::shared_ptr<const KernelCode> code;
};
using KernelPtr = std::shared_ptr<const CompiledKernel>;

/// Bytes of the vectors that generated code uses on this machine.
int vector_bytes();

/// The kernels of the bodies (interned programs), in their order; those that the process has not met before are
/// compiled together. A body of one scan (native/step_loop.h) gives the kernel of that loop. Safe to call from several
/// threads. Throws CompileError where a body has no nest of loops.
std::vector<KernelPtr> compile_kernels(std::span<const ProgramPtr> bodies);

/// The LLVM text of a kernel.
std::string kernel_ir(const Program& body);

/// Kernels that the process keeps for later executables, and how many were compiled and loaded from disk so far.
struct KernelStatistics {
  std::int64_t kept = 0, compiled = 0, loaded = 0;
};
KernelStatistics kernel_statistics();

}  // namespace anadrome
