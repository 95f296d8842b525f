// with_memory_budget: compiles under one plan after the other, from the fastest to the smallest.
#include "anadrome/budget.h"

#include <algorithm>
#include <ostream>

#include "api/prepare.h"
#include "transforms/loop_plan.h"

namespace anadrome {

std::string to_string(const MemoryBudgetReport& report) {
  std::string out = "temporary memory: " + std::to_string(report.planned) + " bytes of a budget of " + std::to_string(report.budget) + "\n";
  const auto cell = [](std::string text, std::size_t width) { return text + std::string(width > text.size() ? width - text.size() : 1, ' '); };
  out += cell("steps", 12) + cell("gradient", 24) + "loop\n";
  for (const LoopChoice& c : report.loops) out += cell(std::to_string(c.length), 12) + cell(c.strategy, 24) + c.loop + "\n";
  return out;
}
std::ostream& operator<<(std::ostream& out, const MemoryBudgetReport& report) { return out << to_string(report); }

namespace functional {
namespace {

std::string text(const LoopStrategy& s) {
  switch (s.kind) {
    case LoopStrategy::Kind::store: return "stores every step";
    case LoopStrategy::Kind::undo: return "undoes steps";
    case LoopStrategy::Kind::recompute: return "recomputes, " + std::to_string(s.slots) + " states";
  }
  return "";
}

/// From the fastest to the smallest.
std::vector<LoopPlan::Level> levels() {
  std::vector<LoopPlan::Level> out{{true, false, 0, {}}};
  for (const std::int64_t slots : {32, 16, 8}) out.push_back({false, true, slots, {}});
  for (const std::int64_t slots : {64, 32, 24, 16, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1}) out.push_back({false, false, slots, {}});
  return out;
}

class Search {
 public:
  Search(const std::function<Recorded()>& record, std::int64_t bytes, const CompileOptions& options)
      : record_(record), bytes_(bytes), options_(options) {}

  Budgeted run(const Context& context) {
    std::vector<LoopPlan::Loop> before;
    for (const LoopPlan::Level& level : levels()) {
      if (!before.empty() && same(before, strategies(level))) continue;
      Budgeted tried = compiled(level);
      smallest_ = smallest_ < 0 ? tried.report.planned : std::min(smallest_, tried.report.planned);
      if (tried.report.planned <= bytes_) return relaxed(level, std::move(tried));
      if (loops_.empty()) break;
      before = loops_;
    }
    throw BudgetError(context.name + ": the smallest budget that can be kept is " + std::to_string(smallest_) + " bytes of temporary memory; given are " +
                      std::to_string(bytes_) + "." + at(context));
  }

 private:
  Budgeted compiled(const LoopPlan::Level& level) {
    LoopPlan plan(level);
    Budgeted out;
    {
      UseLoopPlan use(&plan);
      out.recorded = record_();
    }
    out.executable = compile_recorded(out.recorded, options_, out.recorded.donated);
    out.report = {bytes_, out.executable->memory_analysis().temp_size_in_bytes, {}};
    loops_ = plan.loops();
    for (const LoopPlan::Loop& l : loops_) out.report.loops.push_back({l.where.starts_with(" at ") ? l.where.substr(4) : l.where, l.length, text(l.strategy)});
    return out;
  }
  /// What the loops would do at a level, recorded only.
  std::vector<LoopPlan::Loop> strategies(const LoopPlan::Level& level) {
    LoopPlan plan(level);
    UseLoopPlan use(&plan);
    record_();
    return plan.loops();
  }
  static bool same(const std::vector<LoopPlan::Loop>& a, const std::vector<LoopPlan::Loop>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return x.key == y.key && x.strategy == y.strategy; });
  }
  /// Lets one loop after the other store every step, as long as the budget holds.
  Budgeted relaxed(LoopPlan::Level level, Budgeted best) {
    const std::vector<LoopPlan::Loop> all = loops_;
    if (level.store || all.size() < 2) return best;
    for (const LoopPlan::Loop& loop : all) {
      if (loop.strategy.kind == LoopStrategy::Kind::store) continue;
      LoopPlan::Level more = level;
      more.stored.insert(loop.key);
      Budgeted tried = compiled(more);
      if (tried.report.planned > bytes_) continue;
      level = more;
      best = std::move(tried);
    }
    return best;
  }

  const std::function<Recorded()>& record_;
  std::int64_t bytes_, smallest_ = -1;
  const CompileOptions& options_;
  std::vector<LoopPlan::Loop> loops_;
};

}  // namespace

Budgeted plan_within(const std::function<Recorded()>& record, std::int64_t bytes, const CompileOptions& options, const Context& context) {
  return Search(record, bytes, options).run(context);
}

}  // namespace functional
}  // namespace anadrome
