// Transforms of functions: grad, vjp, jvp, linearize, Jacobians, vmap, linear_transpose.
#pragma once
#include <source_location>

#include "anadrome/detail/traced.h"

namespace anadrome {

// ---- results with names; structured bindings work on all of them -----------------------------------------------------
template <class V, class G>
struct ValueGrad {
  V value;
  G grad;
};
template <class G, class Aux>
struct GradAux {
  G grad;
  Aux aux;
};
template <class V, class T>
struct ValueTangent {
  V value;
  T tangent;
};
template <class V, class P>
struct ValuePullback {
  V value;
  P pullback;
};
template <class V, class F>
struct ValueLinear {
  V value;
  F linear;
};

/// The function returns std::pair{loss, auxiliary}: `grad(f, has_aux)`, `value_and_grad(f, has_aux)`.
struct HasAux {};
inline constexpr HasAux has_aux{};

/// The tangent or cotangent of an integer or bool value.
struct NoGradient {};
inline constexpr NoGradient no_gradient{};

template <class... T>
struct At_ {
  std::tuple<T...> values;
};
template <class... T>
struct Along {
  std::tuple<T...> values;
};
/// The point of a jvp: `at(params, x)`.
template <Tree... T>
At_<T...> at(T... x) {
  return {{std::move(x)...}};
}
/// The direction of a jvp: a tangent per argument; `no_gradient` for arguments without one.
template <class... T>
Along<T...> along(T... x) {
  return {{std::move(x)...}};
}

// ---- reverse mode ------------------------------------------------------------------------------------------------------
/// The function that returns value and gradient of `f`, in one pass. `f` returns one number (rank 0, float).
/// `value_and_grad(f)(args...)` differentiates in the first argument and gives ValueGrad{value, grad}, grad of the
/// argument's type; `value_and_grad<0, 2>(f)` gives a tuple of gradients. Differentiable again.
/// Throws TypeError naming the field path for an integer or bool leaf, and for a value that is not one float number.
template <std::size_t... I, class F>
auto value_and_grad(F f, std::source_location source = std::source_location::current()) {
  return [f = std::move(f), source]<Tree... A>(const A&... a) {
    static_assert(((I < sizeof...(A)) && ...), "value_and_grad<I...>: argument number out of range");
    using R = detail::Result<F, A...>;
    static_assert(std::same_as<R, Array>, "grad: the function must return one scalar Array (or pass has_aux)");
    detail::Traced<F, A...> traced(f, "grad", source, a...);
    const auto r = functional::grad(traced.function(), traced.leaves(), traced.template mask<I...>(), true,
                                    traced.call_context());
    return ValueGrad<R, detail::Picked<std::tuple<A...>, I...>>{r.y[0], traced.template pick<I...>(r.grads)};
  };
}
/// The gradient of `f`, by reverse mode: see value_and_grad. The value itself is not computed where it is not needed.
/// Example: `Array g = grad(loss)(params);`
template <std::size_t... I, class F>
auto grad(F f, std::source_location source = std::source_location::current()) {
  return [f = std::move(f), source]<Tree... A>(const A&... a) {
    static_assert(((I < sizeof...(A)) && ...), "grad<I...>: argument number out of range");
    static_assert(std::same_as<detail::Result<F, A...>, Array>,
                  "grad: the function must return one scalar Array (or pass has_aux)");
    detail::Traced<F, A...> traced(f, "grad", source, a...);
    const auto r = functional::grad(traced.function(), traced.leaves(), traced.template mask<I...>(), false,
                                    traced.call_context());
    return traced.template pick<I...>(r.grads);
  };
}
/// value_and_grad of a function that returns std::pair{value, aux}: gives ValueGrad{std::pair{value, aux}, grad}.
template <std::size_t... I, class F>
auto value_and_grad(F f, HasAux, std::source_location source = std::source_location::current()) {
  return [f = std::move(f), source]<Tree... A>(const A&... a) {
    static_assert(((I < sizeof...(A)) && ...), "value_and_grad<I...>: argument number out of range");
    using R = detail::Result<F, A...>;
    static_assert(std::same_as<std::remove_cvref_t<decltype(std::declval<R>().first)>, Array>,
                  "grad with has_aux: the function must return std::pair{scalar Array, auxiliary}");
    detail::Traced<F, A...> traced(f, "grad", source, a...);
    const auto r = functional::grad(traced.function(), traced.leaves(), traced.template mask<I...>(), true,
                                    traced.call_context());
    return ValueGrad<R, detail::Picked<std::tuple<A...>, I...>>{traced.result(r.y),
                                                                traced.template pick<I...>(r.grads)};
  };
}
/// grad of a function that returns std::pair{value, aux}: gives GradAux{grad, aux}.
template <std::size_t... I, class F>
auto grad(F f, HasAux aux, std::source_location source = std::source_location::current()) {
  return [vg = value_and_grad<I...>(std::move(f), aux, source)]<Tree... A>(const A&... a) {
    auto r = vg(a...);
    return GradAux<decltype(r.grad), decltype(r.value.second)>{std::move(r.grad), std::move(r.value.second)};
  };
}

/// Pulls cotangents of the outputs of a function back to its arguments; made by vjp. Copies share.
template <class R, class... A>
class Pullback {
 public:
  Pullback(functional::LinearMap linear, std::shared_ptr<const std::tuple<A...>> arguments)
      : linear_(std::move(linear)), arguments_(std::move(arguments)) {}
  /// `ct` has the type and shapes of the value. Gives the argument's cotangent, or a tuple of them; integer leaves are
  /// no_gradient. Throws TypeError when a cotangent does not match its output.
  auto operator()(const R& ct) const {
    std::tuple<A...> out = *arguments_;
    detail::rebuild(out, linear_.pull(detail::flatten(ct)));
    if constexpr (sizeof...(A) == 1) return std::get<0>(std::move(out));
    else return out;
  }
  /// The linear program behind it: captures are the residuals that were kept.
  const Program& program() const { return linear_.program(); }

 private:
  functional::LinearMap linear_;
  std::shared_ptr<const std::tuple<A...>> arguments_;  // the structure only
};
/// Evaluates `f` and returns ValuePullback{value, pullback}; the pullback takes a cotangent of the value's type.
/// Source: reverse mode as linearize then transpose (autodidax part 4; Radul et al. 2022).
/// Example: `auto [y, pull] = vjp(f, x); Array dx = pull(ones_like(y));`
template <class F, Tree... A>
auto vjp(const F& f, const A&... a) {
  using R = detail::Result<F, A...>;
  detail::Traced<F, A...> traced(f, "vjp", {}, a...);
  auto r = functional::linearize(traced.function(), traced.leaves(), traced.everything(), traced.context());
  return ValuePullback<R, Pullback<R, A...>>{traced.result(r.y), {std::move(r.linear), traced.argument_structure()}};
}

// ---- forward mode ------------------------------------------------------------------------------------------------------
/// Pushes tangents through `f`: value and directional derivative at `x` along `dx`. Every tangent has the type of its
/// argument (no_gradient for integers). Differentiable again.
/// Throws TypeError naming the field path when a tangent does not match. Source: Griewank & Walther, chapter 3.
/// Example: `auto [y, dy] = jvp(loss, at(params, x), along(dparams, dx));`
template <class F, class... A, class... T>
auto jvp(const F& f, const At_<A...>& x, const Along<T...>& dx) {
  static_assert(sizeof...(A) == sizeof...(T), "jvp: give one tangent per argument");
  static_assert(((std::same_as<A, T> || std::same_as<T, NoGradient>)&&...),
                "jvp: tangents must have the types of the arguments (or be no_gradient)");
  using R = detail::Result<F, A...>;
  return std::apply(
      [&](const A&... a) {
        detail::Traced<F, A...> traced(f, "jvp", {}, a...);
        std::vector<Array> tangents;
        [&]<std::size_t... K>(std::index_sequence<K...>) {
          (detail::append_tangent(std::get<K>(dx.values), std::get<K>(x.values), tangents), ...);
        }(std::index_sequence_for<A...>{});
        auto r = functional::jvp(traced.function(), traced.leaves(), tangents, traced.context());
        return ValueTangent<R, R>{traced.result(r.y), traced.result(r.t)};
      },
      x.values);
}

/// The derivative of a function at a point as a linear function of tangents; made by linearize. Copies share.
template <class R, class... A>
class Linear {
 public:
  Linear(functional::LinearMap map, R result) : map_(std::move(map)), result_(std::move(result)) {}
  /// Tangents of the arguments to the tangent of the value.
  R operator()(const A&... t) const {
    std::vector<Array> tangents;
    (detail::flatten_into(t, tangents), ...);
    R out = result_;
    detail::rebuild(out, map_.push(tangents));
    return out;
  }
  /// `{ lambda residuals ; tangents . let ... }`: the captures are exactly what a backward pass has to keep.
  const Program& program() const { return map_.program(); }
  /// The arrays kept, in the order of the program's captures.
  const std::vector<Array>& residuals() const { return map_.residuals(); }

 private:
  functional::LinearMap map_;
  R result_;
};
/// Evaluates `f` once and returns ValueLinear{value, linear}; applying `linear` many times repeats none of the nonlinear
/// work. Source: "You Only Linearize Once" (Radul et al. 2022).
template <class F, Tree... A>
auto linearize(const F& f, const A&... a) {
  using R = detail::Result<F, A...>;
  detail::Traced<F, A...> traced(f, "linearize", {}, a...);
  auto r = functional::linearize(traced.function(), traced.leaves(), traced.everything(), traced.context());
  return ValueLinear<R, Linear<R, A...>>{traced.result(r.y), {std::move(r.linear), traced.result_structure()}};
}
/// The transpose of a linear function: `linear_transpose(f, example)(ct)`. Only shapes and dtypes of the examples matter.
/// Throws TypeError when `f` is not linear in its arguments.
template <class F, Tree... A>
auto linear_transpose(const F& f, const A&... a) {
  using R = detail::Result<F, A...>;
  detail::Traced<F, A...> traced(f, "linear_transpose", {}, a...);
  auto pull = functional::linear_transpose(traced.function(), traced.leaves(), traced.context());
  return [pull = std::move(pull), arguments = traced.argument_structure()](const R& ct) {
    std::tuple<A...> out = *arguments;
    detail::rebuild(out, pull(detail::flatten(ct)));
    if constexpr (sizeof...(A) == 1) return std::get<0>(std::move(out));
    else return out;
  };
}

// ---- Jacobians -----------------------------------------------------------------------------------------------------------
namespace detail {
template <functional::JacobianMode mode, std::size_t... I, class F>
auto jacobian(F f, const char* name, std::source_location source) {
  return [f = std::move(f), name, source]<Tree... A>(const A&... a) {
    static_assert(((I < sizeof...(A)) && ...), "jacfwd/jacrev<I...>: argument number out of range");
    Traced<F, A...> traced(f, name, source, a...);
    const auto blocks = functional::jacobian(traced.function(), traced.leaves(), traced.template mask<I...>(), mode,
                                             traced.context());
    return traced.template jacobian_result<I...>(blocks);
  };
}
}  // namespace detail
/// The Jacobian of `f` by forward mode: one pass per element of the argument (cheap for few inputs). The result has shape
/// [output shape..., input shape...]; for a struct argument it is that struct with a block per leaf; for a struct output
/// that struct; for both a vector of argument structs, one per output leaf.
template <std::size_t... I, class F>
auto jacfwd(F f, std::source_location source = std::source_location::current()) {
  return detail::jacobian<functional::JacobianMode::forward, I...>(std::move(f), "jacfwd", source);
}
/// The Jacobian of `f` by reverse mode: one pass per element of the output (cheap for few outputs). Shapes as jacfwd.
template <std::size_t... I, class F>
auto jacrev(F f, std::source_location source = std::source_location::current()) {
  return detail::jacobian<functional::JacobianMode::reverse, I...>(std::move(f), "jacrev", source);
}
/// The Hessian of a scalar function: jacfwd of the gradient; shape [input shape..., input shape...].
template <class F>
auto hessian(F f, std::source_location source = std::source_location::current()) {
  return jacfwd(jacrev(std::move(f), source), source);
}

// ---- batching --------------------------------------------------------------------------------------------------------------
/// No batch axis: the argument is shared.
struct NoAxis {};
inline constexpr NoAxis none{};
/// The batch axes of one argument: a number or none for all its leaves, or one entry per leaf.
struct Axis {
  std::vector<int> leaves;  // one entry: for all
  Axis(int axis) : leaves{axis} {}
  Axis(NoAxis) : leaves{functional::not_batched} {}
  explicit Axis(std::vector<int> per_leaf) : leaves(std::move(per_leaf)) {}
};
/// Batch axes leaf by leaf: `vmap(f, {.in = {leaf_axes({0, none}), 0}})`.
inline Axis leaf_axes(std::initializer_list<Axis> leaves) {
  std::vector<int> out;
  for (const Axis& a : leaves) out.push_back(a.leaves[0]);
  return Axis(std::move(out));
}
/// Batch axes of all arguments, or of all outputs; a single entry serves every one.
struct BatchAxes {
  std::vector<Axis> entries;
  BatchAxes(int axis) : entries{Axis(axis)} {}
  BatchAxes(NoAxis n) : entries{Axis(n)} {}
  BatchAxes(std::initializer_list<Axis> list) : entries(list) {}
};
struct VmapOptions {
  BatchAxes in = 0;
  BatchAxes out = 0;
  std::string axis_name = {};  // for psum, pmean and axis_index
  std::int64_t size = -1;      // needed only when no argument is batched
};
/// The function on batches: `vmap(f)(xs)` is f on every slice of xs along the batch axis, stacked, with each operation
/// done once for the whole batch. Axes may be negative. Composes with every transform.
/// Throws TypeError for batch sizes that differ, an axis out of range, and when nothing is batched.
/// Example: `auto per_example = vmap(grad(loss), {.in = {none, 0, 0}});`
template <class F>
auto vmap(F f, VmapOptions options = {}, std::source_location source = std::source_location::current()) {
  return [f = std::move(f), options = std::move(options), source]<Tree... A>(const A&... a) {
    detail::Traced<F, A...> traced(f, "vmap", source, a...);
    functional::VmapSpec spec;
    spec.in = traced.axes(options.in.entries);
    spec.out = [&] { return traced.out_axes(options.out.entries); };
    spec.axis_name = options.axis_name;
    spec.size = options.size;
    auto function = traced.function();
    const auto y = functional::vmap(function, traced.leaves(), spec, traced.context());
    return traced.result(y);
  };
}

}  // namespace anadrome
