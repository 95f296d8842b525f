// jit, lower, compile, make_program.
#pragma once
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

namespace detail {
/// Collects what a call is recognised by.
struct GatherCall : IgnoreAll {
  explicit GatherCall(functional::Call& c) : call(c) {}
  void array(const Array& a) { call.leaves.push_back(&a); }
  template <class V>
  void fixed(const V& v) {
    if constexpr (is_static<V>::value) {
      fixed(v.value);
    } else if constexpr (std::same_as<V, std::string>) {
      count(v.size());
      bytes(v.data(), v.size());
    } else {
      static_assert(std::is_trivially_copyable_v<V>, "anadrome: Static<T> takes numbers, enums and strings");
      bytes(reinterpret_cast<const char*>(&v), sizeof v);
    }
  }
  void count(std::size_t n) { bytes(reinterpret_cast<const char*>(&n), sizeof n); }
  template <class K>
  void enter_key(const K& k) {
    fixed(k);
  }
  void bytes(const char* p, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) call.structure.push_back(p[i]);
  }
  functional::Call& call;
};
/// Collects where the Arrays of a result are.
struct GatherPlaces : IgnoreAll {
  void array(Array& a) { places.push_back(&a); }
  InlineVector<Array*, 16> places;
};
template <class R>
void run_into(const functional::Entry& entry, const functional::Call& call, R& out, const std::source_location& source) {
  GatherPlaces gather;
  walk_tree(out, gather);
  functional::run_accepted(entry, {call.leaves.data(), call.leaves.size()}, {gather.places.data(), gather.places.size()},
                           source);
}
/// Its address stands for the types of a result and of arguments.
template <class... T>
inline constexpr char form = 0;
}  // namespace detail

template <class Signature>
class Compiled;
/// A compiled function of fixed types: what `lower(...).compile()` returns. Safe to call from several threads.
template <class R, class... A>
class Compiled<R(A...)> {
 public:
  Compiled(functional::Recorded recorded, std::shared_ptr<const Executable> executable, R result)
      : entry_(std::make_shared<functional::Entry>(std::move(recorded), std::move(executable))),
        result_(std::move(result)) {}
  /// Throws TypeError naming the field path when an argument has another type than it was lowered for.
  R operator()(const A&... a) const {
    functional::Call call;
    detail::GatherCall gather(call);
    (detail::walk_tree(a, gather), ...);
    R out = result_;
    if (functional::accepts(*entry_, {call.leaves.data(), call.leaves.size()})) {
      detail::run_into(*entry_, call, out, {});
      return out;
    }
    std::vector<Array> x;
    for (const Array* leaf : call.leaves) x.push_back(*leaf);
    const std::tuple<const A&...> arguments(a...);
    const auto leaf = [&arguments](std::size_t i) { return detail::leaf_name(arguments, i); };
    detail::rebuild(out, functional::run_recorded(entry_->recorded, *entry_->executable, x,
                                                  {"compiled function", {}, leaf}));
    return out;
  }
  /// Operations of the optimised program.
  CostAnalysis cost_analysis() const { return executable().cost_analysis(); }
  /// Bytes of one run; temp_size_in_bytes is exact.
  MemoryAnalysis memory_analysis() const { return executable().memory_analysis(); }
  /// The optimised program.
  const Program& program() const { return executable().optimized_program(); }
  /// The schedule that runs: kernels with their equations and C++ lines, products, offsets in the arena.
  std::string text() const { return executable().text(); }
  /// The LLVM text of loop kernel `k` of text(). Throws TypeError when there is none.
  std::string kernel_ir(std::size_t k) const { return executable().kernel_ir(k); }
  const Executable& executable() const { return *entry_->executable; }

 private:
  std::shared_ptr<const functional::Entry> entry_;
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
    functional::Call call;
    call.form = &detail::form<R, A...>;
    detail::GatherCall gather(call);
    (detail::walk_tree(a, gather), ...);
    call.recorded = functional::recording();
    if (const functional::Entry* known = state_->cache.ready(call)) {
      R out = static_cast<const Entry<R>*>(known)->result;
      detail::run_into(*known, call, out, state_->source);
      return out;
    }
    return checked_call<R>(call, a...);
  }
  /// Records for the types of these arguments (Arrays or abstract(dtype, shape)) without running.
  template <class... A>
  auto lower(const A&... a) const {
    check<A...>();
    using R = detail::Result<F, A...>;
    auto [recorded, result] = record<R>(a...);
    return Lowered<R(A...)>(std::move(recorded), std::move(result), donated(a...));
  }

 private:
  template <class R>
  struct Entry : functional::Entry {
    Entry(functional::Recorded r, R structure, std::shared_ptr<const Executable> e)
        : functional::Entry(std::move(r), std::move(e)), result(std::move(structure)) {}
    R result;
  };
  struct State {
    F f;
    JitOptions options;
    std::source_location source;
    functional::CallCache cache;
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
  std::pair<functional::Recorded, R> record(const A&... a) const {
    detail::Traced<F, A...> traced(state_->f, "jit", state_->source, a...);
    auto recorded = functional::record_for_jit(traced.function(), traced.leaves(), traced.context());
    recorded.donated = donated(a...);
    return {std::move(recorded), traced.result_structure()};
  }
  /// A call inside a recorded function, the first call of its kind, or one that is wrong.
  template <class R, class... A>
  [[gnu::noinline]] R checked_call(const functional::Call& call, const A&... a) const {
    const std::tuple<const A&...> arguments(a...);
    const functional::Context context{
        "jit", state_->source, [&arguments](std::size_t i) { return detail::leaf_name(arguments, i); }};
    std::vector<Array> leaves;
    for (const Array* leaf : call.leaves) leaves.push_back(*leaf);
    const std::shared_ptr<const Entry<R>> entry = find<R>(call, leaves, context, a...);
    R out = entry->result;
    detail::rebuild(out, call.recorded
                             ? functional::call_recorded(entry->recorded, leaves, "jit")
                             : functional::run_recorded(entry->recorded, *entry->executable, leaves, context));
    return out;
  }
  template <class R, class... A>
  std::shared_ptr<const Entry<R>> find(const functional::Call& call, const std::vector<Array>& leaves,
                                       const functional::Context& context, const A&... a) const {
    if (auto known = state_->cache.find(call)) return std::static_pointer_cast<const Entry<R>>(known);
    functional::check_leaves(leaves, context);
    auto [recorded, result] = record<R>(a...);
    std::shared_ptr<const Executable> executable;
    if (!call.recorded)
      executable = functional::compile_recorded(recorded, state_->options.compile, recorded.donated);
    auto entry = std::make_shared<const Entry<R>>(std::move(recorded), std::move(result), std::move(executable));
    if (!entry->recorded.reusable) return entry;
    return std::static_pointer_cast<const Entry<R>>(state_->cache.keep(call, std::move(entry)));
  }

  std::shared_ptr<State> state_;
};

/// Compiles a function: see Jitted. Example: `auto step = jit(update, {.donate = {0}});`
template <class F>
Jitted<F> jit(F f, JitOptions options = {}, std::source_location source = std::source_location::current()) {
  return {std::move(f), std::move(options), source};
}

}  // namespace anadrome
