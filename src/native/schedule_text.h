// What a compiled program does, as text.
#pragma once
#include "native/blocks/blocked_steps.h"
#include "native/kernels.h"
#include "native/program_step.h"
#include "optimize/plan.h"

namespace anadrome {

struct ScheduleStep {
  const Equation* equation;
  const CompiledKernel* kernel = nullptr;  // of a loop kernel
  const blocks::BlockedSteps* blocked = nullptr;
  const ProgramStep* programs = nullptr;   // of a loop or conditional
  std::string product;                     // of a product of matrices: which kernels run
  std::vector<std::uint32_t> members;  // equations of the optimised program
};

/// Every step in order: what it computes from where to where, with the equations of each kernel, their C++ lines, its
/// loops, and the offsets in the arena. Kernels are counted on from `kernel`.
std::string schedule_text(const Program& optimized, const Program& steps, const Plan& plan,
                          const std::vector<ScheduleStep>& list, std::size_t& kernel);

}  // namespace anadrome
