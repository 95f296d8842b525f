// When to advance and which states to keep, so that a loop can be gone through backwards with few states in memory.
#pragma once
#include <cstdint>
#include <vector>

namespace anadrome {

/// One row: take the state of `slot` (0: the first one), which stands before step `from`, and go `count` steps on; then keep the
/// state in slot `keep`, or, where that is -1, do the step backwards.
struct ScheduleRow {
  std::int32_t slot, from, count, keep;
};
/// The schedule for `length` steps and `slots` states beside the first one, with the fewest steps in all. Source: "Algorithm 799:
/// revolve" (Griewank and Walther, 2000): where the number of repetitions is as even as it can be, any split is optimal.
std::vector<ScheduleRow> checkpoint_schedule(std::int64_t length, std::int64_t slots);

}  // namespace anadrome
