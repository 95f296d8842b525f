// Loops whose body is small enough to be one kernel: the steps run inside generated code, the carries stay in registers.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "native/program_step.h"

namespace anadrome {

/// How such a kernel runs. Every value of the body is a single number or has `elements` of them, and each depends on those
/// at its place alone: so a few vectors at a time run through all the steps.
struct StepLoop {
  std::int64_t elements = 1;
  int lanes = 1;    // numbers of a vector
  int vectors = 1;  // that run through the steps side by side
  std::int64_t groups = 1;  // of so many vectors; the last one begins where it ends with the elements
  double operations = 1;    // that are written, for the time that compiling takes
};

/// True for what the kernel of such a loop is made from: a program of one scan, of one step. The number of steps is an
/// argument of the kernel.
bool is_step_loop(const Program& program);

/// How the scan of such a program runs on vectors of `vector_bytes`; empty where it cannot be one kernel: where its body has
/// more than a few equations, others than elementwise ones, or values that are large or of different sizes.
std::optional<StepLoop> make_step_loop(const Program& program, int vector_bytes);

/// "steps of 64 by 8 lanes, 4 vectors at a time".
std::string step_loop_text(const StepLoop& loop);

/// The step of a scan that is one kernel; null where it cannot be one.
std::unique_ptr<const ProgramStep> one_kernel_scan(const Program& program, const Equation& e, const OptimizeOptions& options);

}  // namespace anadrome
