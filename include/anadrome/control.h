// Loops and conditionals: scan, fori_loop, while_loop, cond, switch_, map. Each becomes one equation that holds programs, and
// every transform goes through it. What their functions capture is read as it is at the call. associative_scan is no equation:
// it is made of slices and the function it is given.
#pragma once
#include <source_location>

#include "anadrome/detail/traced.h"
#include "anadrome/ops/elementwise.h"

namespace anadrome {

struct ScanOptions {
  /// The number of steps; needed where no array is read slice by slice.
  std::int64_t length = -1;
  /// From the last slice to the first; results are stacked in the order of the slices.
  bool reverse = false;
  /// How many steps the body is written out for, at least 1: fewer, longer steps, and more code.
  std::int64_t unroll = 1;
};
struct WhileOptions {
  /// The most steps the loop takes: with it a reverse derivative exists, and takes the memory of as many. A loop whose condition
  /// still holds after them makes the run throw RunError. -1: no limit.
  std::int64_t max_steps = -1;
};

namespace functional {
/// `body` takes the carries and one slice of each of `xs`, and gives the new carries and slices of results. Returns the last
/// carries, then the stacked results. `init` and `xs` are the first and the other leaves that `context` names.
Arrays scan(const Function& body, const Arrays& init, const Arrays& xs, const ScanOptions& options, const Context& context);
/// One of `branches` on `operands`, by the integer or bool `index`, clamped.
Arrays cond(const Array& index, const std::vector<Function>& branches, const Arrays& operands, const Context& context);
/// `body` on the carries as long as `condition` gives true.
Arrays while_loop(const Function& condition, const Function& body, const Arrays& init, const WhileOptions& options, const Context& context);
/// lo, lo + 1, ... hi - 1, as i32.
Array counters(std::int64_t lo, std::int64_t hi, const Context& context);
/// 0, 1, ... n - 1, as i32. Throws TypeError for a negative count.
Array counted(std::int64_t n, const Context& context);
/// The two bounds of a counter as single integers of one dtype. Throws TypeError where they are none.
std::pair<Array, Array> counter_bounds(const Operand& lo, const Operand& hi, const Context& context);
/// `op` takes the leaves of its first, then those of its second argument.
Arrays associative_scan(const Function& op, const Arrays& xs, std::int64_t axis, bool reverse, const Context& context);
}  // namespace functional

namespace detail {
/// A predicate or an index with the line of the call, which has no place after any number of operands.
struct Choice {
  Array value;
  std::source_location source;
  template <std::convertible_to<Array> T>
  Choice(const T& v, std::source_location s = std::source_location::current()) : value(v), source(s) {}
};

template <class C, class R>
constexpr bool carries_first() {
  if constexpr (requires(R r) { r.first, r.second; }) return std::same_as<std::remove_cvref_t<decltype(std::declval<R>().first)>, C>;
  else return false;
}
template <class T>
std::vector<Array> leaves_of(const T& tree) {
  std::vector<Array> out;
  flatten_into(tree, out);
  return out;
}

template <class T>
T with_leaves(T tree, const std::vector<Array>& leaves) {
  rebuild(tree, leaves);
  return tree;
}

template <class Body, class C, class... X>
auto scan_of(const Body& body, const ScanOptions& options, std::source_location source, const C& init, const X&... xs) {
  using R = Result<Body, C, X...>;
  static_assert(carries_first<C, R>(), "scan: the body must return std::pair{carry, y} with the carry type it is given");
  Traced<Body, C, X...> traced(body, "scan", source, init, xs...);
  const std::vector<Array> carries = leaves_of(init);
  const std::vector<Array> slices(traced.leaves().begin() + static_cast<std::ptrdiff_t>(carries.size()), traced.leaves().end());
  const std::vector<Array> y = functional::scan(traced.function(), carries, slices, options, traced.context());
  auto out = traced.result(y);
  return std::pair{std::move(out.first), std::move(out.second)};
}

/// `branches[index](operands...)` as one equation.
template <class First, class... Rest, Tree... A>
auto choose(const Array& index, const std::tuple<First, Rest...>& branches, std::source_location source, const char* name,
            const A&... operands) {
  using R = Result<First, A...>;
  static_assert((std::same_as<R, Result<Rest, A...>> && ...), "cond, switch_: all branches must return one type");
  return std::apply(
      [&](const auto&... f) {
        auto traced = std::tuple<Traced<std::remove_cvref_t<decltype(f)>, A...>...>(
            Traced<std::remove_cvref_t<decltype(f)>, A...>(f, name, source, operands...)...);
        return std::apply(
            [&](auto& first, auto&... rest) {
              const std::vector<Array> y = functional::cond(index, {first.function(), rest.function()...}, first.leaves(), first.context());
              return first.result(y);
            },
            traced);
      },
      branches);
}
}  // namespace detail

/// A loop over the slices of `xs` along axis 0 of its leaves: `body(carry, x)` gives `std::pair{carry, y}`. Returns the last
/// carry and the stacked y. The carry keeps its structure, shapes and dtypes; a loop of no steps returns `init`.
/// Differentiable in everything, in forward and reverse mode, to all orders; the gradient keeps the values of the body that
/// its derivative needs, the fewest bytes, stacked. Throws TypeError naming the field where the carry changes, where lengths
/// differ, or where there is no length.
///
///   auto [last, sums] = scan(scalar(0), xs, [](Array total, Array x) { return std::pair{total + x, total}; });
template <Tree C, Tree X, class Body>
  requires(!std::same_as<X, ScanOptions>)
auto scan(const C& init, const X& xs, const ScanOptions& options, const Body& body,
          std::source_location source = std::source_location::current()) {
  return detail::scan_of(body, options, source, init, xs);
}
template <Tree C, Tree X, class Body>
  requires(!std::same_as<X, ScanOptions>)
auto scan(const C& init, const X& xs, const Body& body, std::source_location source = std::source_location::current()) {
  return detail::scan_of(body, {}, source, init, xs);
}
/// The same for `options.length` steps that read no slices: `body(carry)`.
template <Tree C, class Body>
auto scan(const C& init, const ScanOptions& options, const Body& body,
          std::source_location source = std::source_location::current()) {
  return detail::scan_of(body, options, source, init);
}

/// `body(i, x)` for i = lo ... hi - 1, an i32, each on the result of the one before; `init` where there is none. A scan, so
/// differentiable like one. Throws TypeError naming the field where the type changes.
template <std::integral Lo, std::integral Hi, Tree C, class Body>
C fori_loop(Lo lo, Hi hi, const C& init, const Body& body, std::source_location source = std::source_location::current()) {
  static_assert(std::same_as<detail::Result<Body, Array, C>, C>, "fori_loop: the body must return the type it is given");
  const auto step = [&body](const C& carry, const Array& i) { return std::pair{C(body(i, carry)), std::tuple<>{}}; };
  detail::Traced<decltype(step), C, Array> traced(step, "fori_loop", source, init, Array());
  const Array i = functional::counters(lo, hi, traced.call_context());
  return traced.result(functional::scan(traced.function(), detail::leaves_of(init), {i}, {}, traced.context())).first;
}

/// The same with bounds that are values of the program, single integers; i has their dtype. A while_loop, so differentiable
/// like one: in forward mode, and a reverse derivative throws RuleError. Throws TypeError for bounds that are no integers.
template <Tree C, class Body>
C fori_loop(const Operand& lo, const Operand& hi, const C& init, const Body& body,
            std::source_location source = std::source_location::current()) {
  static_assert(std::same_as<detail::Result<Body, Array, C>, C>, "fori_loop: the body must return the type it is given");
  const std::pair<Array, Array> bounds = functional::counter_bounds(lo, hi, {"fori_loop", source, {}});
  const auto goes_on = [&bounds](const C&, const Array& i) { return i < bounds.second; };
  const auto step = [&body](const C& x, const Array& i) { return std::pair{C(body(i, x)), i + 1}; };
  detail::Traced<decltype(goes_on), C, Array> test(goes_on, "fori_loop", source, init, bounds.first);
  detail::Traced<decltype(step), C, Array> traced(step, "fori_loop", source, init, bounds.first);
  return traced.result(functional::while_loop(test.function(), traced.function(), traced.leaves(), {}, traced.context())).first;
}

/// `body(x)` again and again as long as `condition(x)` gives true, from `init` on; `init` where it never does. Differentiable in
/// forward mode, and with `.max_steps` in reverse mode too, where every run goes through that many steps, the last of them idle;
/// without it a reverse derivative throws RuleError. Throws TypeError naming the field where the type changes, or where the
/// condition is no single bool; a run throws RunError where the condition still holds after `max_steps`.
///
///   Array root = while_loop(x, {.max_steps = 20}, [&](Array r) { return abs(r * r - x) > 1e-6 * x; },
///                           [&](Array r) { return 0.5 * (r + x / r); });
template <Tree C, class Condition, class Body>
C while_loop(const C& init, const WhileOptions& options, const Condition& condition, const Body& body,
             std::source_location source = std::source_location::current()) {
  static_assert(std::same_as<detail::Result<Body, C>, C>, "while_loop: the body must return the type it is given");
  static_assert(std::same_as<detail::Result<Condition, C>, Array>, "while_loop: the condition must return an Array");
  detail::Traced<Condition, C> test(condition, "while_loop", source, init);
  detail::Traced<Body, C> traced(body, "while_loop", source, init);
  return traced.result(functional::while_loop(test.function(), traced.function(), traced.leaves(), options, traced.context()));
}
template <Tree C, class Condition, class Body>
C while_loop(const C& init, const Condition& condition, const Body& body,
             std::source_location source = std::source_location::current()) {
  return while_loop(init, WhileOptions{}, condition, body, source);
}

/// The result of branch number `index`, `f0()`, `f1()` ...: only the chosen branch runs. The index is an integer, clamped to the branches there are. All
/// branches give the same structure, shapes and dtypes. Differentiable in what the branches capture. With
/// a batched index, under vmap, all branches run and each example takes its own. Throws TypeError naming the field where
/// branches differ.
///
///   Array y = switch_(i, [&] { return x; }, [&] { return sin(x); });
template <class... F>
  requires(sizeof...(F) > 0 && (std::invocable<const F&> && ...))
auto switch_(const detail::Choice& index, const F&... branches) {
  return detail::choose(index.value, std::tuple<F...>(branches...), index.source, "switch_");
}
/// `then()` where the bool `predicate` holds, else `otherwise()`: as switch_.
template <class Then, class Else>
auto cond(const Array& predicate, const Then& then, const Else& otherwise, std::source_location source = std::source_location::current()) {
  return detail::choose(predicate, std::tuple<Else, Then>(otherwise, then), source, "cond");
}
/// The same on operands: `then(x...)`, `otherwise(x...)`.
template <class Then, class Else, Tree... A>
  requires(sizeof...(A) > 0 && std::invocable<const Then&, const A&...>)
auto cond(const detail::Choice& predicate, const Then& then, const Else& otherwise, const A&... operands) {
  return detail::choose(predicate.value, std::tuple<Else, Then>(otherwise, then), predicate.source, "cond", operands...);
}

namespace detail {
template <class F, class... X>
auto map_of(const char* name, const F& f, std::source_location source, const X&... xs) {
  Traced<F, X...> traced(f, name, source, xs...);
  return traced.result(functional::scan(traced.function(), {}, traced.leaves(), {}, traced.context()));
}
}  // namespace detail

/// `f` on each slice of `xs` along axis 0 of its leaves, one after another; the results are stacked. Differentiable. Takes the
/// memory of one slice at a time where vmap takes that of all.
template <class F, Tree X>
auto map(const F& f, const X& xs, std::source_location source = std::source_location::current()) {
  return detail::map_of("map", f, source, xs);
}

/// `body(x)` for each slice of `xs` along axis 0 of its leaves, in order; with several trees one slice of each, `body(x, y)`. With a
/// count instead, `body(k)` for k = 0 ... n - 1, an i32. Gives the stacked results. Differentiable; a map under another name, for
/// bodies that are written as statements. Throws TypeError where lengths differ, and for a negative count.
///
///   Array squares = foreach(4, [&](Array k) { return k * k; });
template <Tree X, class Body>
auto foreach(const X& xs, const Body& body, std::source_location source = std::source_location::current()) {
  return detail::map_of("foreach", body, source, xs);
}
template <Tree X, Tree Y, class Body>
auto foreach(const X& xs, const Y& ys, const Body& body, std::source_location source = std::source_location::current()) {
  return detail::map_of("foreach", body, source, xs, ys);
}
template <std::integral N, class Body>
auto foreach(N n, const Body& body, std::source_location source = std::source_location::current()) {
  const functional::Context context{"foreach", source, {}};
  return detail::map_of("foreach", body, source, functional::counted(n, context));
}

/// The results of combining all elements up to each one, along an axis of the leaves of `xs`: x0, op(x0, x1),
/// op(op(x0, x1), x2) ... with the calls of `op`, which must be associative, in a tree of logarithmic depth. `op(a, b)` takes
/// several elements at once, along the same axis: write it element by element, or as the vmap of what combines two. With
/// `reverse` from the last element to the first: op(op(x3, x2), x1) stands where x1 does. Differentiable as `op` is. Throws
/// TypeError naming the field where lengths differ, where there is no such axis, or where `op` changes a type.
///
///   Array products = associative_scan([](Array a, Array b) { return matmul(a, b); }, matrices);
template <class Op, Tree X>
X associative_scan(const Op& op, const X& xs, Dim axis = 0, bool reverse = false,
                   std::source_location source = std::source_location::current()) {
  static_assert(std::same_as<detail::Result<Op, X, X>, X>, "associative_scan: the function must return the type of its arguments");
  detail::Traced<Op, X, X> traced(op, "associative_scan", source, xs, xs);
  const std::vector<Array> leaves = detail::leaves_of(xs);
  return detail::with_leaves(xs, functional::associative_scan(traced.function(), leaves, axis.value, reverse, traced.context()));
}

}  // namespace anadrome
