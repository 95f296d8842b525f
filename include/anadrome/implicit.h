// Solutions of equations, with derivatives that come from the equations: custom_root, custom_linear_solve, fixed_point.
#pragma once
#include <source_location>

#include "anadrome/control.h"

namespace anadrome {

namespace functional {
/// Solves the linear system of `map` for a right side.
using LinearSolver = std::function<Arrays(const Function& map, const Arrays& b)>;
Arrays custom_root(const Function& f, const Function& solve, const LinearSolver& tangent_solve, const Arrays& x0, const Context& context);
Arrays custom_linear_solve(const Function& matvec, const LinearSolver& solve, const LinearSolver& transposed_solve, const Arrays& b, const Context& context);
/// Whether an element of `change` is not within `tolerance` times the largest of `x`, or 1.
Array is_large(const Arrays& change, const Arrays& x, double tolerance);
}  // namespace functional

namespace detail {
/// A linear function on trees like `like`.
template <class X>
auto linear_function(const functional::Function& map, const X& like) {
  return [&map, &like](const X& v) { return with_leaves(like, map(leaves_of(v))); };
}
template <class X, class Solve>
functional::LinearSolver tree_solver(const X& like, const Solve& solve) {
  static_assert(std::same_as<Result<Solve, std::function<X(const X&)>, X>, X>,
                "custom_root, custom_linear_solve: a solver takes (linear function, right side) and must return what the right side is");
  return [&like, &solve](const functional::Function& map, const std::vector<Array>& b) {
    const std::function<X(const X&)> g = linear_function(map, like);
    return leaves_of(solve(g, with_leaves(like, b)));
  };
}
}  // namespace detail

/// The x with f(x) = 0, f from a tree of floats to one of the same types, as `solve(f, x0)` finds it. Its derivative in whatever `f`
/// captures is that of the root, in both modes and to all orders: `tangent_solve(g, b)` returns the x with g(x) = b for a linear g, the
/// derivative of f at the root or its transpose. How `solve` works, from where, and how exactly, does not enter. Throws TypeError
/// where f, solve or tangent_solve returns other types than x0's. Source: the implicit function theorem.
///
///   Array root = custom_root([&](Array x) { return x * x - a; }, scalar(1.0),
///                            [](auto f, Array x) { return fori_loop(0, 20, x, [&](Array, Array r) { return r - f(r) / (2 * r); }); },
///                            [](auto g, Array b) { return b / g(ones_like(b)); });
template <Tree X, class F, class Solve, class TangentSolve>
X custom_root(const F& f, const X& x0, const Solve& solve, const TangentSolve& tangent_solve,
              std::source_location source = std::source_location::current()) {
  static_assert(std::same_as<detail::Result<F, X>, X>, "custom_root: the function must return the type it is given");
  static_assert(std::same_as<std::remove_cvref_t<std::invoke_result_t<const Solve&, const F&, const X&>>, X>,
                "custom_root: solve takes (function, start) and must return what the start is");
  const auto solved = [&](const X& start) { return solve(f, start); };
  detail::Traced<F, X> function(f, "custom_root", source, x0);
  detail::Traced<decltype(solved), X> solver(solved, "custom_root", source, x0);
  return detail::with_leaves(x0, functional::custom_root(function.function(), solver.function(), detail::tree_solver(x0, tangent_solve),
                                                         function.leaves(), function.context()));
}

/// The x with matvec(x) = b, for a linear `matvec` from a tree to one of the same types, as `solve(matvec, b)` finds it. Linear in b,
/// and differentiable in whatever `matvec` captures, in both modes and to all orders; `transposed_solve` solves for the transpose,
/// and may be left out where `solve` serves it too. Throws TypeError where a function returns other types than b's.
template <Tree X, class Matvec, class Solve, class TransposedSolve>
X custom_linear_solve(const Matvec& matvec, const X& b, const Solve& solve, const TransposedSolve& transposed_solve,
                      std::source_location source = std::source_location::current()) {
  static_assert(std::same_as<detail::Result<Matvec, X>, X>, "custom_linear_solve: the linear function must return the type it is given");
  detail::Traced<Matvec, X> map(matvec, "custom_linear_solve", source, b);
  return detail::with_leaves(b, functional::custom_linear_solve(map.function(), detail::tree_solver(b, solve), detail::tree_solver(b, transposed_solve),
                                                                map.leaves(), map.context()));
}
template <Tree X, class Matvec, class Solve>
X custom_linear_solve(const Matvec& matvec, const X& b, const Solve& solve, std::source_location source = std::source_location::current()) {
  return custom_linear_solve(matvec, b, solve, solve, source);
}

struct FixedPointOptions {
  /// The most iterations; more make the run throw RunError.
  std::int64_t max_steps = 1000;
  /// Iteration ends where no element changes by more than this times the largest element, or times 1.
  double tolerance = 1e-6;
};
/// The x with x = f(x), by iterating a contraction `f` from `x0`. Its derivative in whatever `f` captures is that of the fixed point,
/// found by iterating too, in both modes and to all orders, and keeps nothing of the iterations. A run that does not settle throws
/// RunError.
///
///   Array z = fixed_point([&](Array x) { return tanh(matmul(w, x) + u); }, zeros({3}));
template <Tree X, class F>
X fixed_point(const F& f, const X& x0, const FixedPointOptions& options = {}, std::source_location source = std::source_location::current()) {
  using Iterate = std::pair<X, X>;  // a point, and the step from it
  // Iterates x + step(x) until the step is small.
  const auto iterate = [options, source](const X& from, const auto& step) {
    return while_loop(Iterate{from, step(from)}, {.max_steps = options.max_steps},
                      [&](const Iterate& s) { return functional::is_large(detail::leaves_of(s.second), detail::leaves_of(s.first), options.tolerance); },
                      [&](const Iterate& s) {
                        const X x = map_leaves(s.first, s.second, [](const Array& a, const Array& b) { return a + b; });
                        return Iterate{x, step(x)};
                      },
                      source).first;
  };
  const auto minus = [](const Array& a, const Array& b) { return a - b; };
  const auto error = [&](const X& x) { return map_leaves(f(x), x, minus); };
  const auto solve = [&](const auto& g, const X& start) { return iterate(start, g); };
  // g is the derivative of error, f' - 1, or its transpose: x - (b - g(x)) is f' x - b.
  const auto tangent_solve = [&](const auto& g, const X& b) {
    return iterate(zeros_like(b), [&](const X& x) { return map_leaves(g(x), b, minus); });
  };
  return custom_root(error, x0, solve, tangent_solve, source);
}

}  // namespace anadrome
