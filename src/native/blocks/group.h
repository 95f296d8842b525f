// Products and the kernels around them become one step, done block by block.
#pragma once
#include "optimize/fuse.h"

namespace anadrome::blocks {

/// Groups each large product with the kernel that alone reads it, and with further steps that hand each other values, where
/// all run along one axis: then what they hand over is still in the cache when it is read, and need not exist as a whole.
Fused grouped(Fused steps, int vector_bytes, int threads);

}  // namespace anadrome::blocks
