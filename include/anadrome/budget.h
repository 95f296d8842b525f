// Gradients of loops within a budget of memory.
#pragma once
#include <any>
#include <iosfwd>
#include <map>
#include <mutex>
#include <source_location>
#include <string>
#include <vector>

#include "anadrome/jit.h"

namespace anadrome {

/// How one loop is differentiated.
struct LoopChoice {
  std::string loop;  // its line
  std::int64_t length = 0;
  std::string strategy;
};
/// What with_memory_budget chose. Prints as a table.
struct MemoryBudgetReport {
  std::int64_t budget = 0, planned = 0;  // bytes of temporary memory
  std::vector<LoopChoice> loops;
};
std::string to_string(const MemoryBudgetReport& report);
std::ostream& operator<<(std::ostream& out, const MemoryBudgetReport& report);

namespace functional {
struct Budgeted {
  Recorded recorded;
  std::shared_ptr<const Executable> executable;
  MemoryBudgetReport report;
};
/// Calls `record` under one choice after the other until the compiled program fits. Throws BudgetError.
Budgeted plan_within(const std::function<Recorded()>& record, std::int64_t bytes, const CompileOptions& options, const Context& context);
}  // namespace functional

/// A function compiled for arguments of fixed types, and how it keeps to its budget.
template <class Signature>
struct WithinBudget {
  Compiled<Signature> compiled;
  MemoryBudgetReport report;
};

/// A compiled function whose loops are differentiated so that a run takes at most so much memory beside arguments and results.
template <class F>
class MemoryBudget {
 public:
  MemoryBudget(F f, std::int64_t bytes, CompileOptions options, std::source_location source)
      : state_(std::make_shared<State>(std::move(f), bytes, std::move(options), source)) {}

  /// Runs, compiled once per types of arguments. Inside a recorded function it is the function itself.
  template <Tree... A>
  auto operator()(const A&... a) const {
    if (functional::recording()) return state_->f(a...);
    return plan(a...).compiled(a...);
  }
  /// What is compiled for arguments of these types. Throws BudgetError naming the smallest budget that can be kept.
  template <Tree... A>
  const auto& plan(const A&... a) const {
    using R = detail::Result<F, A...>;
    using Plan = WithinBudget<R(A...)>;
    functional::Call call;
    detail::GatherCall gather(call);
    (detail::walk_tree(a, gather), ...);
    std::string key = std::to_string(reinterpret_cast<std::uintptr_t>(&detail::form<R, A...>)) + std::string(call.structure.begin(), call.structure.end());
    for (const Array* leaf : call.leaves) key += to_string(leaf->type());
    std::lock_guard lock(state_->mutex);
    std::any& known = state_->plans[key];
    if (!known.has_value()) known = std::make_shared<const Plan>(make<R, A...>(a...));
    return *std::any_cast<const std::shared_ptr<const Plan>&>(known);
  }

 private:
  struct State {
    F f;
    std::int64_t bytes;
    CompileOptions options;
    std::source_location source;
    std::mutex mutex;
    std::map<std::string, std::any> plans;
    State(F function, std::int64_t b, CompileOptions o, std::source_location s) : f(std::move(function)), bytes(b), options(std::move(o)), source(s) {}
  };
  template <class R, class... A>
  WithinBudget<R(A...)> make(const A&... a) const {
    detail::Traced<F, A...> traced(state_->f, "with_memory_budget", state_->source, a...);
    const std::function<functional::Recorded()> record = [&] {
      functional::Recorded out = functional::record_for_jit(traced.function(), traced.leaves(), traced.context());
      out.donated.assign(traced.leaves().size(), false);
      return out;
    };
    functional::Budgeted r = functional::plan_within(record, state_->bytes, state_->options, traced.context());
    return {Compiled<R(A...)>(std::move(r.recorded), std::move(r.executable), traced.result_structure()), std::move(r.report)};
  }

  std::shared_ptr<State> state_;
};

/// Compiles `f`, usually a gradient, so that a run takes at most `bytes` of temporary memory: each loop in it that is
/// differentiated keeps what its gradient reads where that fits, else undoes its steps where they can be undone
/// (reversible_scan), else keeps a few states and computes the others again from them, as few times as that number allows. The
/// gradient is the same. `plan(args...).report` tells the choices. Throws BudgetError naming the smallest budget that can be kept.
///
///   auto step = with_memory_budget(grad(loss), 8'000'000);
template <class F>
MemoryBudget<F> with_memory_budget(F f, std::int64_t bytes, CompileOptions options = {},
                                   std::source_location source = std::source_location::current()) {
  return {std::move(f), bytes, std::move(options), source};
}

}  // namespace anadrome
