// Functions with derivative rules of their own: custom_jvp, custom_vjp; and what is computed again instead of kept: checkpoint.
#pragma once
#include <source_location>

#include "anadrome/transform.h"

namespace anadrome {

/// An argument of the forward rule of a custom_vjp with `symbolic_zeros`.
template <class T>
struct Perturbed {
  T value;
  std::vector<bool> perturbed;  // by Array of `value`: it has a derivative in what is being differentiated
};
/// The cotangent that its backward rule is given.
template <class T>
struct Cotangent {
  T value;
  std::vector<bool> zero;  // by Array of `value`: no derivative reaches this result, and it holds zeros
};

struct CustomVjpOptions {
  /// The forward rule takes a Perturbed for each argument and the backward rule a Cotangent. Both are recorded when a derivative
  /// asks for them, and must not capture Arrays.
  bool symbolic_zeros = false;
};

/// What checkpoint keeps for the derivative.
class CheckpointPolicy {
 public:
  enum class Kind : std::uint8_t { nothing, everything, dots, names };
  CheckpointPolicy(Kind kind, std::vector<std::string> names = {}) : kind_(kind), names_(std::move(names)) {}
  Kind kind() const { return kind_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  Kind kind_;
  std::vector<std::string> names_;
};
/// All is computed again from the arguments.
inline const CheckpointPolicy save_nothing(CheckpointPolicy::Kind::nothing);
/// As without checkpoint.
inline const CheckpointPolicy save_everything(CheckpointPolicy::Kind::everything);
/// Results of matrix products are kept, elementwise work is done again.
inline const CheckpointPolicy save_dots(CheckpointPolicy::Kind::dots);
/// Values that went through checkpoint_name with one of these names are kept.
inline CheckpointPolicy save_names(std::vector<std::string> names) { return {CheckpointPolicy::Kind::names, std::move(names)}; }

namespace functional {
/// A function with a rule, on the leaves of its arguments and results; what it needs lives as long as it does.
class CustomRule {
 public:
  virtual ~CustomRule() = default;
  /// One address for each function object, and what else decides how its rule is recorded.
  virtual const void* object() const = 0;
  virtual std::string structure() const = 0;
  virtual Arrays function(const Arrays& x) = 0;
  /// The name of a leaf of the last results of `function`.
  virtual std::string result_name(std::size_t leaf) const = 0;
};
class CustomJvpRule : public CustomRule {
 public:
  /// Results and their tangents; `t` has an entry per argument, no_gradient for integers.
  virtual std::pair<Arrays, Arrays> tangents(const Arrays& x, const Arrays& t) = 0;
};
class CustomVjpRule : public CustomRule {
 public:
  /// The structure of results and residuals.
  using Structure = std::shared_ptr<const void>;
  virtual bool symbolic_zeros() const = 0;
  /// Results, then residuals. `perturbed`: by leaf.
  virtual Arrays forward(const Arrays& x, const Mask& perturbed, Structure& structure) = 0;
  /// A cotangent per leaf of the arguments, empty for zero. `ct` and `zero`: by leaf of the results. Throws RuleError where
  /// the rule gives an argument another number of Arrays.
  virtual Arrays backward(const Structure& structure, const Arrays& residuals, const Arrays& ct, const Mask& zero, const Context& context) = 0;
};
Arrays custom_jvp(const std::shared_ptr<CustomJvpRule>& rule, const Arrays& x, const Context& context);
Arrays custom_vjp(const std::shared_ptr<CustomVjpRule>& rule, const Arrays& x, const Context& context);
Arrays checkpoint(const Function& f, const CheckpointPolicy& policy, const Arrays& x, const Context& context);
}  // namespace functional

namespace detail {
/// An argument of a function with a rule: a tree, or a static number, bool, enum or string.
template <class T>
concept RuleArgument = Tree<T> || static_leaf<T>;

/// The static values and the sizes of containers, as text.
struct StructureText : IgnoreAll {
  template <class V>
  void fixed(const V& v) {
    if constexpr (std::same_as<V, std::string>) text += v;
    else if constexpr (is_static<V>::value) text += std::to_string(v.value);
    else text += std::to_string(static_cast<long long>(v));
    text += ';';
  }
  void count(std::size_t n) { text += '#' + std::to_string(n) + ';'; }
  std::string text;
};

/// A tuple without its static elements.
template <class... A>
auto traced_arguments(const std::tuple<A...>& all) {
  return std::apply(
      [](const auto&... a) {
        const auto keep = []<class T>(const T& x) {
          if constexpr (static_leaf<T>) return std::tuple<>();
          else return std::tuple<T>(x);
        };
        return std::tuple_cat(keep(a)...);
      },
      all);
}
template <class... A>
using TracedArguments = decltype(traced_arguments(std::declval<std::tuple<A...>>()));

/// The leaves of what a backward rule returns for argument k: as they are, or none.
template <class A, class G>
void append_cotangent(std::size_t k, const A& argument, const G& g, const functional::Context& context, std::vector<Array>& out) {
  static_assert(std::same_as<G, A> || std::same_as<G, NoGradient>,
                "custom_vjp: the backward rule must return, for each argument that is not static, a cotangent of its type, or "
                "no_gradient: the cotangent itself for one argument, a std::tuple for several");
  if constexpr (std::same_as<G, NoGradient>) {
    out.resize(out.size() + leaf_count(argument));
  } else {
    if (leaf_count(g) != leaf_count(argument))
      throw RuleError(context.name + ": the backward rule returns " + std::to_string(leaf_count(g)) + " Arrays as cotangent " + std::to_string(k) +
                      ", and the argument holds " + std::to_string(leaf_count(argument)) +
                      ". Give the containers in a cotangent the sizes of the argument's." + at_source(context.source));
    flatten_into(g, out);
  }
}
template <class Arguments, class G>
std::vector<Array> cotangent_leaves(const Arguments& arguments, const G& g, const functional::Context& context) {
  std::vector<Array> out;
  constexpr std::size_t n = std::tuple_size_v<Arguments>;
  if constexpr (n == 1) {
    append_cotangent(0, std::get<0>(arguments), g, context, out);
  } else {
    static_assert(is_tuple<G>::value, "custom_vjp: the backward rule must return a std::tuple or std::pair with a cotangent per argument");
    static_assert(std::tuple_size_v<G> == n, "custom_vjp: the backward rule must return as many cotangents as there are arguments that are not static");
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (append_cotangent(K, std::get<K>(arguments), std::get<K>(g), context, out), ...);
    }(std::make_index_sequence<n>());
  }
  return out;
}

/// What rules on trees share. `Functions` is shared by the copies of a custom_jvp or custom_vjp object.
template <class Base, class Functions, class... A>
class TreeRule : public Base {
 public:
  using R = std::remove_cvref_t<decltype(std::declval<const Functions&>().f(std::declval<const A&>()...))>;
  TreeRule(std::shared_ptr<const Functions> functions, const A&... a) : functions_(std::move(functions)), arguments_(without_arrays(a)...) {}
  const void* object() const override { return functions_.get(); }
  std::string structure() const override {
    StructureText text;
    std::apply([&](const auto&... a) { (walk_tree(a, text), ...); }, arguments_);
    return text.text;
  }
  std::vector<Array> function(const std::vector<Array>& x) override {
    result_.emplace(std::apply(functions_->f, with(x)));
    return flatten(*result_);
  }
  std::string result_name(std::size_t leaf) const override {
    const std::vector<std::string> names = leaf_names(*result_);
    return leaf < names.size() ? names[leaf] : "";
  }
  /// The result of the call, from its leaves.
  R result(const std::vector<Array>& leaves) const {
    R out = *result_;
    rebuild(out, leaves);
    return out;
  }

 protected:
  std::tuple<A...> with(const std::vector<Array>& leaves) const {
    std::tuple<A...> out = arguments_;
    rebuild(out, leaves);
    return out;
  }
  const Functions& functions() const { return *functions_; }
  const std::tuple<A...>& arguments() const { return arguments_; }  // without their Arrays

 private:
  std::shared_ptr<const Functions> functions_;
  std::tuple<A...> arguments_;
  std::optional<R> result_;
};

template <class F, class Rule>
struct JvpFunctions {
  F f;
  Rule rule;
};
template <class F, class Rule, class... A>
class TreeJvpRule final : public TreeRule<functional::CustomJvpRule, JvpFunctions<F, Rule>, A...> {
 public:
  using Parent = TreeRule<functional::CustomJvpRule, JvpFunctions<F, Rule>, A...>;
  using Parent::Parent;
  std::pair<std::vector<Array>, std::vector<Array>> tangents(const std::vector<Array>& x, const std::vector<Array>& t) override {
    const std::tuple<A...> primals = this->with(x), directions = this->with(t);
    const auto out = [&] {
      if constexpr (sizeof...(A) == 1) return this->functions().rule(std::get<0>(primals), std::get<0>(directions));
      else return this->functions().rule(primals, directions);
    }();
    static_assert(std::same_as<std::remove_cvref_t<decltype(out)>, std::pair<typename Parent::R, typename Parent::R>>,
                  "custom_jvp: the rule must return std::pair{value, tangent}, both of the function's result type");
    return {flatten(out.first), flatten(out.second)};
  }
};

/// What a forward rule returns, whether it takes arguments or Perturbed ones.
template <class Fwd, class... A>
struct ForwardResult {
  static_assert(std::invocable<const Fwd&, const Perturbed<A>&...>,
                "custom_vjp: the forward rule must take the arguments of the function (with symbolic_zeros: a Perturbed of each)");
  using type = Result<Fwd, Perturbed<A>...>;
};
template <class Fwd, class... A>
  requires std::invocable<const Fwd&, const A&...>
struct ForwardResult<Fwd, A...> {
  using type = Result<Fwd, A...>;
};
template <class R, class Made>
constexpr bool is_value_with_residuals() {
  if constexpr (requires(Made m) { m.first, m.second; }) return std::same_as<std::remove_cvref_t<decltype(std::declval<Made>().first)>, R>;
  else return false;
}

template <class F, class Fwd, class Bwd>
struct VjpFunctions {
  F f;
  Fwd forward;
  Bwd backward;
  CustomVjpOptions options;
};
template <class F, class Fwd, class Bwd, class... A>
class TreeVjpRule final : public TreeRule<functional::CustomVjpRule, VjpFunctions<F, Fwd, Bwd>, A...> {
 public:
  using Parent = TreeRule<functional::CustomVjpRule, VjpFunctions<F, Fwd, Bwd>, A...>;
  using R = typename Parent::R;
  using Parent::Parent;
  bool symbolic_zeros() const override { return this->functions().options.symbolic_zeros; }

  std::vector<Array> forward(const std::vector<Array>& x, const functional::Mask& perturbed,
                             functional::CustomVjpRule::Structure& structure) override {
    if constexpr (std::invocable<const Fwd&, const A&...>) {
      return flattened(std::apply(this->functions().forward, this->with(x)), structure);
    } else {
      std::size_t next = 0;
      const auto one = [&]<class T>(const T& value) {
        const std::size_t first = next;
        next += leaf_count(value);
        return Perturbed<T>{value, std::vector<bool>(perturbed.begin() + static_cast<std::ptrdiff_t>(first), perturbed.begin() + static_cast<std::ptrdiff_t>(next))};
      };
      return std::apply(
          [&](const A&... a) {
            const std::tuple<Perturbed<A>...> flagged{one(a)...};
            return flattened(std::apply(this->functions().forward, flagged), structure);
          },
          this->with(x));
    }
  }
  std::vector<Array> backward(const functional::CustomVjpRule::Structure& structure, const std::vector<Array>& residuals,
                              const std::vector<Array>& ct, const functional::Mask& zero, const functional::Context& context) override {
    auto [result, residual] = *static_cast<const Made*>(structure.get());
    rebuild(result, ct);
    rebuild(residual, residuals);
    const auto arguments = traced_arguments(this->arguments());
    if constexpr (std::invocable<const Bwd&, const Residual&, const R&>) {
      return cotangent_leaves(arguments, this->functions().backward(residual, result), context);
    } else {
      static_assert(std::invocable<const Bwd&, const Residual&, const Cotangent<R>&>,
                    "custom_vjp: the backward rule must take (residuals, cotangent of the result); with symbolic_zeros the second is a Cotangent");
      return cotangent_leaves(arguments, this->functions().backward(residual, Cotangent<R>{result, zero}), context);
    }
  }

 private:
  using FwdResult = typename ForwardResult<Fwd, A...>::type;
  static_assert(is_value_with_residuals<R, FwdResult>(),
                "custom_vjp: the forward rule must return std::pair{value, residuals} with the function's result type first");
  using Residual = std::remove_cvref_t<decltype(std::declval<FwdResult>().second)>;
  using Made = std::pair<R, Residual>;

  static std::vector<Array> flattened(const FwdResult& made, functional::CustomVjpRule::Structure& structure) {
    structure = std::make_shared<Made>(without_arrays(made.first), without_arrays(made.second));
    std::vector<Array> out = flatten(made.first);
    flatten_into(made.second, out);
    return out;
  }
};

}  // namespace detail

/// A function with a tangent rule of its own: see custom_jvp. Copies share.
template <class F, class Rule>
class CustomJvp {
 public:
  CustomJvp(F f, Rule rule, std::source_location source)
      : functions_(std::make_shared<const detail::JvpFunctions<F, Rule>>(detail::JvpFunctions<F, Rule>{std::move(f), std::move(rule)})), source_(source) {}
  template <detail::RuleArgument... A>
  auto operator()(const A&... a) const {
    auto rule = std::make_shared<detail::TreeJvpRule<F, Rule, A...>>(functions_, a...);
    detail::Traced<F, A...> traced(functions_->f, "custom_jvp", source_, a...);
    return rule->result(functional::custom_jvp(rule, traced.leaves(), traced.context()));
  }

 private:
  std::shared_ptr<const detail::JvpFunctions<F, Rule>> functions_;
  std::source_location source_;
};
/// `f` with a derivative given by `rule(x, dx)`, which returns std::pair{value, tangent} and is linear in dx; for several
/// arguments it takes two tuples, of the arguments and of their tangents. Static arguments (integers, bool, enums, strings) stand
/// in both. All modes and orders follow from the rule, under every transform; the value alone runs `f`. The rule may call the
/// function it belongs to. Throws RuleError where the rule gives other types than the function, and where a value that the
/// function or the rule captures is differentiated.
///
///   auto softplus = custom_jvp([](Array x) { return log(1 + exp(x)); },
///                              [](Array x, Array dx) { return std::pair{logaddexp(x, 0), dx / (1 + exp(-x))}; });
template <class F, class Rule>
CustomJvp<F, Rule> custom_jvp(F f, Rule rule, std::source_location source = std::source_location::current()) {
  return {std::move(f), std::move(rule), source};
}

/// A function with a reverse rule of its own: see custom_vjp. Copies share.
template <class F, class Fwd, class Bwd>
class CustomVjp {
 public:
  CustomVjp(F f, Fwd forward, Bwd backward, CustomVjpOptions options, std::source_location source)
      : functions_(std::make_shared<const Functions>(Functions{std::move(f), std::move(forward), std::move(backward), options})), source_(source) {}
  template <detail::RuleArgument... A>
  auto operator()(const A&... a) const {
    auto rule = std::make_shared<detail::TreeVjpRule<F, Fwd, Bwd, A...>>(functions_, a...);
    detail::Traced<F, A...> traced(functions_->f, "custom_vjp", source_, a...);
    return rule->result(functional::custom_vjp(rule, traced.leaves(), traced.context()));
  }

 private:
  using Functions = detail::VjpFunctions<F, Fwd, Bwd>;
  std::shared_ptr<const Functions> functions_;
  std::source_location source_;
};
/// `f` with a reverse rule: `forward(x...)` returns std::pair{value, residuals}, any tree, and `backward(residuals, ct)` the
/// cotangent of each argument that is not static, of the argument's type or no_gradient: the cotangent itself for one argument, a
/// tuple for several. Reverse mode to all orders, under every transform; a forward derivative throws RuleError. Calling it records
/// the three; a call within its own rule records that rule when a derivative asks for it, and such a rule captures no Arrays. Throws
/// RuleError where values, residuals or cotangents have other types than they must, naming both; and where a captured value is
/// differentiated.
///
///   auto clipped = custom_vjp([](Array x) { return x; }, [](Array x) { return std::pair{x, std::tuple<>{}}; },
///                             [](std::tuple<>, Array ct) { return clip(ct, -1, 1); });
template <class F, class Fwd, class Bwd>
CustomVjp<F, Fwd, Bwd> custom_vjp(F f, Fwd forward, Bwd backward, CustomVjpOptions options = {},
                                  std::source_location source = std::source_location::current()) {
  return {std::move(f), std::move(forward), std::move(backward), options, source};
}

/// `f`, whose derivative keeps no values of it but those that the policy names, and computes the others again. Values and
/// derivatives are those of `f`; composes with every transform, and is again a checkpoint in derivatives. Loops and jitted
/// functions inside keep what they keep within the computation that is done again.
///
///   auto layer = checkpoint([](Array x, Array w) { return tanh(matmul(x, w)); }, save_dots);
template <class F>
auto checkpoint(F f, CheckpointPolicy policy = save_nothing, std::source_location source = std::source_location::current()) {
  return [f = std::move(f), policy = std::move(policy), source]<detail::RuleArgument... A>(const A&... a) {
    detail::Traced<F, A...> traced(f, "checkpoint", source, a...);
    return traced.result(functional::checkpoint(traced.function(), policy, traced.leaves(), traced.context()));
  };
}
/// `x` under a name that save_names knows. Differentiable; nothing else changes.
Array checkpoint_name(const Array& x, std::string_view name, std::source_location source = std::source_location::current());

}  // namespace anadrome
