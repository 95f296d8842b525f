// with_memory_budget: the planned memory keeps to the budget, the gradient stays the same.
#include "anadrome/budget.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "anadrome/anadrome.h"
#include "api/loop_laws.h"
#include "primitives/checkpoint_schedule.h"
#include "support/messages.h"

namespace anadrome::testing {
namespace {

// ---- the schedule

/// The fewest steps, those undone left out, that undo `length` of them with the first state and `slots` others.
std::int64_t fewest(std::int64_t length, std::int64_t slots) {
  static std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> known;
  if (length <= 1) return 0;
  if (slots == 0) return length * (length - 1) / 2;
  auto it = known.find({length, slots});
  if (it != known.end()) return it->second;
  std::int64_t best = -1;
  for (std::int64_t m = 1; m < length; ++m) {
    const std::int64_t cost = m + fewest(length - m, slots - 1) + fewest(m, slots);
    if (best < 0 || cost < best) best = cost;
  }
  return known[{length, slots}] = best;
}

TEST(CheckpointSchedule, GoesThroughAllStepsBackwardsWithTheFewestSteps) {
  for (const std::int64_t length : {1, 2, 3, 5, 8, 13, 40, 71})
    for (const std::int64_t slots : {0, 1, 2, 3, 5, 80}) {
      std::map<int, std::int64_t> kept{{0, 0}};
      std::int64_t next = length, steps = 0;
      for (const ScheduleRow& row : checkpoint_schedule(length, slots)) {
        ASSERT_TRUE(kept.contains(row.slot) && kept[row.slot] == row.from) << length << ' ' << slots;
        steps += row.count;
        if (row.keep >= 0) {
          ASSERT_TRUE(row.keep >= 1 && row.keep <= slots);
          kept[row.keep] = row.from + row.count;
        } else {
          ASSERT_EQ(row.from + row.count, --next) << length << ' ' << slots;
        }
      }
      EXPECT_EQ(next, 0);
      EXPECT_EQ(steps, fewest(length, slots)) << length << ' ' << slots;
    }
}

// ---- budgets

/// Layers that lose information, with slices and results.
Array layers(const Array& w, const Array& x, const Array& shifts) {
  auto [last, norms] = scan(x, shifts, [&](const Array& h, const Array& shift) {
    const Array y = max(tanh(matmul(h, w)) + shift, 0.1 * h);
    return std::pair{y, sum(y * y)};
  });
  return sum(last) + sum(norms);
}
/// Momentum, which can be undone.
Array momentum(const Array& w, const Array& x, const Array& shifts) {
  const auto last = scan(std::pair{x, zeros_like(x)}, shifts, [&](const std::pair<Array, Array>& s, const Array& shift) {
    const Array v = 0.9 * s.second + tanh(matmul(s.first, w)) * shift;
    return std::pair{std::pair{s.first + v, v}, std::tuple<>{}};
  }).first;
  return sum(last.first * last.first);
}
struct Arguments {
  Array w = random_values({8, 8}, 1), x = random_values({4, 8}, 2), shifts = random_values({100, 8}, 3);
};
template <class F>
void expect_within(const F& f, std::int64_t bytes, const std::string& strategy) {
  const Arguments a;
  const auto step = with_memory_budget(grad<0, 1, 2>(f), bytes);
  const auto got = step(a.w, a.x, a.shifts), want = jit(grad<0, 1, 2>(f))(a.w, a.x, a.shifts);
  EXPECT_LT(difference(std::get<0>(got), std::get<0>(want)), 1e-9) << bytes;
  EXPECT_LT(difference(std::get<1>(got), std::get<1>(want)), 1e-9) << bytes;
  EXPECT_LT(difference(std::get<2>(got), std::get<2>(want)), 1e-9) << bytes;
  const auto& plan = step.plan(a.w, a.x, a.shifts);
  EXPECT_LE(plan.compiled.memory_analysis().temp_size_in_bytes, bytes);
  EXPECT_EQ(plan.report.planned, plan.compiled.memory_analysis().temp_size_in_bytes);
  ASSERT_EQ(plan.report.loops.size(), 1u);
  EXPECT_NE(plan.report.loops[0].strategy.find(strategy), std::string::npos) << plan.report;
}

TEST(MemoryBudget, KeepsEverythingWhereItFits) {
  expect_within(layers, 1'000'000, "stores every step");
  expect_within(momentum, 1'000'000, "stores every step");
}
TEST(MemoryBudget, UndoesStepsWhereTheyCanBe) { expect_within(momentum, 20'000, "undoes steps"); }
TEST(MemoryBudget, RecomputesFromFewStates) {
  for (const std::int64_t bytes : {25'000, 12'000, 8'000}) expect_within(layers, bytes, "recomputes, ");
}

TEST(MemoryBudget, TellsTheSmallestThatCanBeKept) {
  const Arguments a;
  const auto smallest = [&](std::int64_t bytes) {
    const std::string text = message<BudgetError>([&] { return with_memory_budget(grad(layers), bytes)(a.w, a.x, a.shifts); });
    expect_contains(text, {"with_memory_budget: the smallest budget that can be kept is ", " bytes of temporary memory; given are " + std::to_string(bytes), this_file()});
    return std::stoll(text.substr(text.find("is ") + 3));
  };
  const std::int64_t bytes = smallest(100);
  EXPECT_EQ(smallest(bytes - 1), bytes);
  EXPECT_NO_THROW(with_memory_budget(grad(layers), bytes)(a.w, a.x, a.shifts));
}

TEST(MemoryBudget, ChoosesForEachLoop) {
  const Arguments a;
  const auto both = [](const Array& w, const Array& x, const Array& shifts) {
    const Array small = scan(matmul(x, w), {.length = 5}, [](const Array& h) { return std::pair{sin(h), std::tuple<>{}}; }).first;
    return layers(w, small, shifts);
  };
  const auto step = with_memory_budget(grad(both), 14'000);
  EXPECT_LT(difference(step(a.w, a.x, a.shifts), grad(both)(a.w, a.x, a.shifts)), 1e-9);
  const MemoryBudgetReport& report = step.plan(a.w, a.x, a.shifts).report;
  ASSERT_EQ(report.loops.size(), 2u);
  std::ostringstream text;
  text << report;
  expect_contains(text.str(), {"bytes of a budget of 14000", "stores every step", "recomputes, ", this_file()});
}

TEST(MemoryBudget, DerivativesOfDerivativesAreThoseOfAScan) {
  const Arguments a;
  const auto step = with_memory_budget(grad([&](const Array& w) { return sum(square(grad(layers)(w, a.x, a.shifts))); }), 100'000'000);
  EXPECT_LT(difference(step(a.w), grad([&](const Array& w) { return sum(square(grad(layers)(w, a.x, a.shifts))); })(a.w)), 1e-9);
}

TEST(MemoryBudget, InsideAnotherFunctionItIsThatFunction) {
  const Arguments a;
  const auto step = with_memory_budget(grad(layers), 12'000);
  EXPECT_LT(difference(jit([&](const Array& w) { return step(w, a.x, a.shifts) * 2; })(a.w), 2 * grad(layers)(a.w, a.x, a.shifts)), 1e-9);
}

}  // namespace
}  // namespace anadrome::testing
