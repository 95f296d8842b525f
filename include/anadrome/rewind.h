// Running functions backwards: inverses of programs, and loops whose gradients undo their steps instead of keeping them.
#pragma once
#include <source_location>

#include "anadrome/control.h"
#include "anadrome/transform.h"

namespace anadrome {

/// How many states a reversible_scan keeps for its gradient.
struct Anchors {
  static constexpr std::int64_t automatic = -1;
  std::int64_t count = automatic;
  constexpr Anchors() = default;
  constexpr Anchors(NoAxis) : count(0) {}
  template <std::integral T>
  constexpr Anchors(T n) : count(static_cast<std::int64_t>(n)) {}
};

struct ReversibleScanOptions {
  /// As of a scan.
  std::int64_t length = -1;
  bool reverse = false;
  /// States kept along the way: where undoing steps went wrong, the gradient goes on from them. `none`: then that is an error.
  Anchors anchors = {};
  /// The largest relative error of a state that was had by undoing steps.
  double tolerance = 1e-3;
};

/// What the last gradient of a reversible_scan on this thread met.
struct RewindReport {
  std::int64_t anchors = 0;  // states that were kept
  double predicted = 0;      // the relative error of a rewind between two of them, at least, as far as the program tells it
  double measured = 0;       // the largest one found; no number where a rewind gave none
  std::int64_t reruns = 0;   // segments whose steps were computed again from the state before them
};
/// The report of the last gradient of a reversible_scan that ran on this thread.
RewindReport last_rewind();

namespace functional {
/// From the leaves of the results of `f` to its arguments in `wanted`; the other arguments are as in `x`.
std::function<Arrays(const Arrays&)> invert(const Function& f, const Arrays& x, const Mask& wanted, const Context& context);
/// As scan.
Arrays reversible_scan(const Function& body, const Arrays& init, const Arrays& xs, const ReversibleScanOptions& options,
                       const Context& context);
}  // namespace functional

namespace detail {
template <class Body, class C, class... X>
auto reversible_scan_of(const Body& body, const ReversibleScanOptions& options, std::source_location source, const C& init,
                        const X&... xs) {
  using R = Result<Body, C, X...>;
  static_assert(carries_first<C, R>(), "reversible_scan: the body must return std::pair{carry, y} with the carry type it is given");
  Traced<Body, C, X...> traced(body, "reversible_scan", source, init, xs...);
  const std::vector<Array> carries = leaves_of(init);
  const std::vector<Array> slices(traced.leaves().begin() + static_cast<std::ptrdiff_t>(carries.size()), traced.leaves().end());
  const std::vector<Array> y = functional::reversible_scan(traced.function(), carries, slices, options, traced.context());
  auto out = traced.result(y);
  return std::pair{std::move(out.first), std::move(out.second)};
}
}  // namespace detail

/// The inverse of `f`, found by solving its program equation by equation: sums, products with what is known, exponentials,
/// tanh, movement, and their compositions. `invert(f, example...)` gives the function from results to arguments; only shapes and
/// dtypes of the examples matter. `invert<I...>(f, example...)` solves for some arguments and takes the others as they are in
/// the examples. Results must be ones that `f` can give. Throws NotInvertible naming the equation that cannot be undone.
///
///   auto back = invert([](Array x, Array v) { return std::pair{x + (v + sin(x)), v + sin(x)}; }, x, v);
///   auto [x0, v0] = back({x1, v1});
template <std::size_t... I, class F, Tree... A>
auto invert(const F& f, const A&... a) {
  static_assert(((I < sizeof...(A)) && ...), "invert<I...>: argument number out of range");
  using R = detail::Result<F, A...>;
  auto traced = std::make_shared<detail::Traced<F, A...>>(f, "invert", std::source_location(), a...);
  functional::Mask wanted = traced->everything();
  if constexpr (sizeof...(I) > 0) wanted = traced->template mask<I...>();
  auto back = functional::invert(traced->function(), traced->leaves(), wanted, traced->context());
  return [traced, back = std::move(back)](const R& y) {
    const std::vector<Array> x = back(detail::flatten(y));
    if constexpr (sizeof...(I) > 0) {
      return traced->template pick<I...>(x);
    } else {
      std::tuple<A...> out = *traced->argument_structure();
      detail::rebuild(out, x);
      if constexpr (sizeof...(A) == 1) return std::get<0>(std::move(out));
      else return out;
    }
  };
}

/// As scan, for a body that can be undone: from the new carry (and the slice) back to the carry, `body(carry, x).first` being
/// invertible in the carry. The gradient keeps the last carry and a few states between, the anchors, and has the others again
/// by undoing the steps, so that its memory does not grow with their number. Undoing grows rounding errors: each rewind ends
/// at a state that is known, and is compared with it. Where they differ by more than `tolerance`, the steps since that anchor
/// are computed again from it; without anchors that is a RunError. `last_rewind()` reports. Anchors are placed about the square
/// root of the length apart, nearer where the program shows how fast errors grow. Derivatives of derivatives, and forward mode,
/// are those of a scan. Throws NotInvertible naming the equation that cannot be undone, else as scan.
template <Tree C, Tree X, class Body>
  requires(!std::same_as<X, ReversibleScanOptions>)
auto reversible_scan(const C& init, const X& xs, const ReversibleScanOptions& options, const Body& body,
                     std::source_location source = std::source_location::current()) {
  return detail::reversible_scan_of(body, options, source, init, xs);
}
template <Tree C, Tree X, class Body>
  requires(!std::same_as<X, ReversibleScanOptions>)
auto reversible_scan(const C& init, const X& xs, const Body& body, std::source_location source = std::source_location::current()) {
  return detail::reversible_scan_of(body, {}, source, init, xs);
}
/// The same for `options.length` steps that read no slices: `body(carry)`.
template <Tree C, class Body>
auto reversible_scan(const C& init, const ReversibleScanOptions& options, const Body& body,
                     std::source_location source = std::source_location::current()) {
  return detail::reversible_scan_of(body, options, source, init);
}

}  // namespace anadrome
