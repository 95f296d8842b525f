// jit, lower, compile, make_program.
#pragma once
#include <map>
#include <mutex>
#include <shared_mutex>
#include <source_location>
#include <string>
#include <vector>

#include "anadrome/compile.h"
#include "anadrome/detail/traced.h"

namespace anadrome {

/// Records `f` on the arguments and returns the program; prints as text. Arguments may be `abstract(dtype, shape)`.
/// Captured concrete arrays appear as captures, before the `;`.
template <class F, Tree... A>
Program make_program(const F& f, const A&... a) {
  detail::Traced<F, A...> traced(f, "make_program", {}, a...);
  return functional::make_program(traced.function(), traced.leaves(), traced.context());
}

struct JitOptions {
  /// Positions of arguments that a call gives up: their memory is used for results of the same size, and every later
  /// use of those Arrays throws TypeError. A call inside another recorded function gives nothing up.
  std::vector<int> donate = {};
  CompileOptions compile = {};
};

/// What a jitted function takes: trees of Arrays, and static values (part of the key: one program per value).
template <class T>
concept JitArgument = Tree<T> || detail::static_leaf<T>;

template <class Signature>
class Compiled;
/// A compiled function of fixed types: what `lower(...).compile()` returns. Safe to call from several threads.
template <class R, class... A>
class Compiled<R(A...)> {
 public:
  Compiled(functional::Recorded recorded, std::shared_ptr<const Executable> executable, R result)
      : recorded_(std::move(recorded)), executable_(std::move(executable)), result_(std::move(result)) {}
  /// Throws TypeError naming the field path when an argument has another type than it was lowered for.
  R operator()(const A&... a) const {
    std::vector<Array> x;
    (detail::flatten_into(a, x), ...);
    R out = result_;
    const std::tuple<const A&...> arguments(a...);
    const auto leaf = [&arguments](std::size_t i) { return detail::leaf_name(arguments, i); };
    detail::rebuild(out, functional::run_recorded(recorded_, *executable_, x, {"compiled function", {}, leaf}));
    return out;
  }
  /// Operations of the optimised program.
  CostAnalysis cost_analysis() const { return executable_->cost_analysis(); }
  /// Bytes of one run; temp_size_in_bytes is exact.
  MemoryAnalysis memory_analysis() const { return executable_->memory_analysis(); }
  /// The optimised program.
  const Program& program() const { return executable_->optimized_program(); }
  const Executable& executable() const { return *executable_; }

 private:
  functional::Recorded recorded_;
  std::shared_ptr<const Executable> executable_;
  R result_;
};

template <class Signature>
class Lowered;
/// A recorded function of fixed types: its program, its cost before optimisation, and compile().
template <class R, class... A>
class Lowered<R(A...)> {
 public:
  Lowered(functional::Recorded recorded, R result, functional::Mask donated)
      : recorded_(std::move(recorded)), result_(std::move(result)), donated_(std::move(donated)) {}
  const Program& program() const { return *recorded_.program; }
  /// Operations of the program as written, before optimisation.
  CostAnalysis cost_analysis() const { return functional::cost_of(program()); }
  /// Optimises, plans memory, and builds the steps to run. Throws CompileError for an unknown backend.
  Compiled<R(A...)> compile(const CompileOptions& options = {}) const {
    return {recorded_, functional::compile_recorded(recorded_, options, donated_), result_};
  }

 private:
  functional::Recorded recorded_;
  R result_;
  functional::Mask donated_;
};

namespace detail {
/// Static arguments stay as they are; trees are traced.
template <class T>
constexpr bool traced_argument = !static_leaf<T>;
}  // namespace detail

/// A function that is recorded and compiled once per structure and types of its arguments, and per value of its static
/// ones; later calls run compiled code and record nothing. Inside another recorded function a call becomes one equation.
/// Copies share their compiled programs. Captured concrete Arrays are inputs bound at recording: assigning another Array
/// to the C++ variable later is not seen.
template <class F>
class Jitted {
 public:
  Jitted(F f, JitOptions options, std::source_location source)
      : state_(std::make_shared<State>(std::move(f), std::move(options), source)) {}

  template <class... A>
  auto operator()(const A&... a) const {
    check<A...>();
    using R = detail::Result<F, A...>;
    std::string key;
    std::vector<Array> leaves;
    append_key(key, leaves, a...);
    const std::tuple<const A&...> arguments(a...);
    const functional::Context context{
        "jit", state_->source, [&arguments](std::size_t i) { return detail::leaf_name(arguments, i); }};
    const auto entry = find<R>(key, leaves, context, a...);
    R out = entry->result;
    detail::rebuild(out, functional::recording()
                             ? functional::call_recorded(entry->recorded, leaves, "jit")
                             : functional::run_recorded(entry->recorded, *entry->executable, leaves, context));
    return out;
  }
  /// Records for the types of these arguments (Arrays or abstract(dtype, shape)) without running.
  template <class... A>
  auto lower(const A&... a) const {
    check<A...>();
    using R = detail::Result<F, A...>;
    std::vector<Array> leaves;
    std::string key;
    append_key(key, leaves, a...);
    auto entry = record<R>(a...);
    return Lowered<R(A...)>(entry.recorded, entry.result, donated(a...));
  }

 private:
  template <class R>
  struct Entry {
    functional::Recorded recorded;
    R result;
    std::shared_ptr<const Executable> executable;
  };
  struct State {
    F f;
    JitOptions options;
    std::source_location source;
    std::shared_mutex mutex;
    std::map<std::string, std::shared_ptr<const void>> entries;
    State(F function, JitOptions o, std::source_location s)
        : f(std::move(function)), options(std::move(o)), source(s) {}
  };

  template <class... A>
  static void check() {
    static_assert((!std::floating_point<A> && ...),
                  "jit: a floating-point argument is neither traced nor static; pass scalar(v) to trace it");
    static_assert((JitArgument<A> && ...),
                  "jit: every argument must be a tree of Arrays or a static integer, enum, bool or string");
  }
  template <class... A>
  static void append_key(std::string& key, std::vector<Array>& leaves, const A&... a) {
    detail::StructureKey visitor(key, leaves);
    (detail::walk_tree(a, visitor), ...);
    functional::append_types(key, leaves);
  }
  template <class... A>
  functional::Mask donated(const A&... a) const {
    functional::Mask out;
    for (int d : state_->options.donate)
      if (d < 0 || d >= static_cast<int>(sizeof...(A)))
        throw TypeError("jit: .donate names argument " + std::to_string(d) + " of a call with " +
                        std::to_string(sizeof...(A)) + " arguments. Positions count from 0." +
                        at_source(state_->source));
    int k = 0;
    auto mark = [&](const auto& x) {
      bool give = false;
      for (int d : state_->options.donate) give |= d == k;
      out.resize(out.size() + detail::leaf_count(x), give);
      ++k;
    };
    (mark(a), ...);
    return out;
  }
  template <class R, class... A>
  Entry<R> record(const A&... a) const {
    detail::Traced<F, A...> traced(state_->f, "jit", state_->source, a...);
    auto recorded = functional::record_for_jit(traced.function(), traced.leaves(), traced.context());
    recorded.donated = donated(a...);
    return {std::move(recorded), traced.result_structure(), nullptr};
  }
  template <class R, class... A>
  std::shared_ptr<const Entry<R>> find(std::string& key, const std::vector<Array>& leaves,
                                       const functional::Context& context, const A&... a) const {
    const bool inside = functional::recording();
    key += inside ? 'i' : 'o';
    {
      std::shared_lock lock(state_->mutex);
      if (auto it = state_->entries.find(key); it != state_->entries.end())
        return std::static_pointer_cast<const Entry<R>>(it->second);
    }
    functional::check_leaves(leaves, context);
    auto entry = std::make_shared<Entry<R>>(record<R>(a...));
    if (!inside)
      entry->executable = functional::compile_recorded(entry->recorded, state_->options.compile, donated(a...));
    if (!entry->recorded.reusable) return entry;
    std::unique_lock lock(state_->mutex);
    return std::static_pointer_cast<const Entry<R>>(state_->entries.emplace(key, entry).first->second);
  }

  std::shared_ptr<State> state_;
};

/// Compiles a function: see Jitted. Example: `auto step = jit(update, {.donate = {0}});`
template <class F>
Jitted<F> jit(F f, JitOptions options = {}, std::source_location source = std::source_location::current()) {
  return {std::move(f), std::move(options), source};
}

}  // namespace anadrome
