// The plan of a thread, and its choices.
#include "transforms/loop_plan.h"

#include <algorithm>
#include <atomic>

#include "anadrome/error.h"
#include "core/builder.h"
#include "transforms/reversible_scan.h"

namespace anadrome {
namespace {

thread_local LoopPlan* in_use = nullptr;

bool can_be_undone(const Equation& scan) {
  try {
    inverse_body(ScanParts(scan), "with_memory_budget");
    return true;
  } catch (const NotInvertible&) {
    return false;
  }
}

}  // namespace

LoopPlan::LoopPlan(Level level) : level_(std::move(level)) {
  static std::atomic<std::int64_t> plans = 0;
  number_ = ++plans;
}

LoopStrategy LoopPlan::choose(const Equation& scan) {
  const std::uint64_t key = hash(scan.attrs);
  for (const Loop& loop : loops_)
    if (loop.key == key) return loop.strategy;
  const std::int64_t length = scan.as<ScanAttr>().length;
  LoopStrategy out;
  if (!level_.store && !level_.stored.contains(key) && length > 2) {
    if (level_.undo && can_be_undone(scan)) out = {LoopStrategy::Kind::undo, 0};
    else out = {LoopStrategy::Kind::recompute, std::min(level_.slots, length - 1)};
  }
  loops_.push_back({key, at_current_source(), length, out});
  return out;
}

LoopPlan* current_loop_plan() { return in_use; }
std::int64_t loop_plan_number() { return in_use ? in_use->number() : 0; }

UseLoopPlan::UseLoopPlan(LoopPlan* plan) : saved_(in_use) { in_use = plan; }
UseLoopPlan::~UseLoopPlan() { in_use = saved_; }

}  // namespace anadrome
