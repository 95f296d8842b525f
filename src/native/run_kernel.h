// Running a compiled loop kernel: its ranges over threads, its partial sums.
#pragma once
#include "native/kernels.h"

namespace anadrome {

/// Ranges of the loop nest.ranged() begin at multiples of this: whole vectors, and whole copies of an unrolled body.
std::int64_t range_step(const LoopNest& nest);
/// Nanoseconds that a kernel is estimated to take for one index of its outermost loop.
double item_nanoseconds(const LoopNest& nest);
/// Bytes of scratch memory that a run needs: the partial sums of its blocks.
std::size_t kernel_scratch_bytes(const CompiledKernel& kernel);
/// Runs the kernel. Pointers: arguments, then results. The result does not depend on the number of threads.
void run_kernel(const CompiledKernel& kernel, char* const* pointers, char* scratch);

}  // namespace anadrome
