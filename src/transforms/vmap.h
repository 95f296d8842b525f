// Batching: a program on many values at once.
#pragma once
#include "transforms/common.h"

namespace anadrome {

struct VmapProgram {
  ProgramPtr program;
  std::vector<int> out_axis;  // by output; `unbatched` where no batched argument reaches it
};
/// Batches a closed program: argument i has a batch axis `axis[i]` of extent `size` (or `unbatched`). What does not
/// depend on a batched argument stays unbatched. `axis_name` serves psum and axis_index. Memoised.
std::shared_ptr<const VmapProgram> vmap_program(const ProgramPtr& program, const std::vector<int>& axis,
                                                std::int64_t size, std::string_view axis_name = {});

/// A batched result with its batch axis at `to`; an unbatched one is repeated.
Array batch_axis_at(const Array& x, int axis, std::int64_t size, int to);

}  // namespace anadrome
