// checkpoint_schedule: binomial checkpointing as a table of rows.
#include "primitives/checkpoint_schedule.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

/// Steps that `states` (the first one too) undo when none is taken more than `times` times: binomial(states + times, states).
std::int64_t reach(std::int64_t states, std::int64_t times) {
  if (times < 0) return 0;
  std::int64_t out = 1;
  for (std::int64_t i = 1; i <= std::min(states, times); ++i) {
    if (out > std::numeric_limits<std::int64_t>::max() / 2 / (states + times)) return std::numeric_limits<std::int64_t>::max() / 2;
    out = out * (states + times + 1 - i) / i;
  }
  return out;
}

/// How many of `length` steps to go before the next state is kept, with `states` of them (the first one too, so 2 or more).
std::int64_t split(std::int64_t length, std::int64_t states) {
  std::int64_t times = 0;
  while (reach(states, times) < length) ++times;
  const std::int64_t least = std::max<std::int64_t>({1, reach(states, times - 2), length - reach(states - 1, times)});
  return std::min(least, length - 1);
}

/// A stretch of steps to undo, from the state in `slot`, with the slots from `next` on.
struct Stretch {
  std::int64_t begin, end, slot, next;
};

}  // namespace

std::vector<ScheduleRow> checkpoint_schedule(std::int64_t length, std::int64_t slots) {
  std::vector<ScheduleRow> out;
  const auto row = [&](const Stretch& s, std::int64_t count, std::int64_t keep) {
    out.push_back({static_cast<std::int32_t>(s.slot), static_cast<std::int32_t>(s.begin), static_cast<std::int32_t>(count), static_cast<std::int32_t>(keep)});
  };
  std::vector<Stretch> open;
  if (length > 0) open.push_back({0, length, 0, 1});
  while (!open.empty()) {
    const Stretch s = open.back();
    open.pop_back();
    const std::int64_t n = s.end - s.begin;
    if (n == 1 || s.next > slots) {
      for (std::int64_t i = n; i-- > 0;) row(s, i, -1);
      continue;
    }
    const std::int64_t ahead = split(n, slots - s.next + 2);
    row(s, ahead, s.next);
    open.push_back({s.begin, s.begin + ahead, s.slot, s.next});
    open.push_back({s.begin + ahead, s.end, s.next, s.next + 1});
  }
  return out;
}

// checkpoint_schedule: i32[rows,4]; the columns are those of ScheduleRow.
constinit const Prim prim::checkpoint_schedule = {
    .name = "checkpoint_schedule",
    .work = Work::movement,
    .type = [](const TypeIn& in) -> Types {
      const auto& [length, slots] = in.as<CheckpointScheduleAttr>();
      if (length < 0 || slots < 0 || length > std::numeric_limits<std::int32_t>::max())
        refuse(in, "length " + std::to_string(length) + ", slots " + std::to_string(slots) + ": neither may be negative, and steps are counted in i32.");
      return {Type{DType::i32, {static_cast<std::int64_t>(anadrome::checkpoint_schedule(length, slots).size()), 4}, false}};
    },
    .eval =
        [](const EvalIn& in) {
          const auto& [length, slots] = in.as<CheckpointScheduleAttr>();
          const std::vector<ScheduleRow> rows = anadrome::checkpoint_schedule(length, slots);
          if (!rows.empty()) std::memcpy(in.y[0], rows.data(), rows.size() * sizeof(ScheduleRow));
        },
    .jvp = [](const JvpIn&) -> Arrays { return {Array()}; },
    .transpose = no_rule("it has no operands"),
    .batch = no_rule("it has no operands"),
    .cost = cost_free};

Array op::checkpoint_schedule(std::int64_t length, std::int64_t slots) {
  return bind1(prim::checkpoint_schedule, {}, CheckpointScheduleAttr{length, slots});
}

}  // namespace anadrome
