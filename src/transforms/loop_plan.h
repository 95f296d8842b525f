// How loops are differentiated while a memory budget is looked for.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/prim.h"

namespace anadrome {

struct LoopStrategy {
  enum class Kind : std::uint8_t { store, undo, recompute };
  Kind kind = Kind::store;
  std::int64_t slots = 0;  // states kept for recompute, beside the first one
  friend bool operator==(const LoopStrategy&, const LoopStrategy&) = default;
};

/// What every loop met by linearize does on this thread while the plan is in use.
class LoopPlan {
 public:
  /// The most that is allowed: keep everything; undo steps where they can be; keep at most `slots` states.
  struct Level {
    bool store = true, undo = false;
    std::int64_t slots = 0;
    std::set<std::uint64_t> stored = {};  // loops that keep everything all the same
  };
  struct Loop {
    std::uint64_t key;
    std::string where;
    std::int64_t length;
    LoopStrategy strategy;
  };
  explicit LoopPlan(Level level);
  LoopStrategy choose(const Equation& scan);
  /// The loops met, in order.
  const std::vector<Loop>& loops() const { return loops_; }
  /// A number of this plan, for the keys of what is memoised.
  std::int64_t number() const { return number_; }

 private:
  Level level_;
  std::vector<Loop> loops_;
  std::int64_t number_;
};

/// The plan in use on this thread, or null.
LoopPlan* current_loop_plan();
/// Its number, 0 without one.
std::int64_t loop_plan_number();
/// Puts a plan to use, or none, for its lifetime.
class UseLoopPlan {
 public:
  explicit UseLoopPlan(LoopPlan* plan);
  ~UseLoopPlan();
  UseLoopPlan(const UseLoopPlan&) = delete;

 private:
  LoopPlan* saved_;
};

}  // namespace anadrome
