// Blocks of rows through loops: where rows never mix but in sums, a part of them runs through all steps of all loops, forward and
// back, before the next part does. Their values stay near, and those that a backward loop reads take the memory of one part.
#pragma once
#include "optimize/passes.h"
#include "optimize/rewrite.h"

namespace anadrome {

/// A scan over blocks of rows whose carries are sums: blocks may run at the same time, each sum beginning with zeros but one.
extern const Prim row_blocks;

/// The program with one row_blocks in place of its loops and what belongs to them, where that is possible and worth it for so many
/// threads; else the program as it is. Source: batch outside, depth inside, as loop interchange.
Program with_row_blocks(const Program& program, const OptimizeOptions& options, int threads);

}  // namespace anadrome
