// What the transform templates share: a function and its arguments as lists of arrays.
#pragma once
#include <memory>
#include <optional>
#include <source_location>

#include "anadrome/detail/functional.h"
#include "anadrome/tree.h"

namespace anadrome {
struct NoGradient;
}

namespace anadrome::detail {

template <class F, class... A>
using Result = std::remove_cvref_t<std::invoke_result_t<const F&, const A&...>>;

/// No index: the first argument's type; one: that argument's; several: a tuple.
template <class Tuple, std::size_t... I>
struct PickedType {
  using type = std::tuple<std::tuple_element_t<I, Tuple>...>;
};
template <class Tuple>
struct PickedType<Tuple> {
  using type = std::tuple_element_t<0, Tuple>;
};
template <class Tuple, std::size_t K>
struct PickedType<Tuple, K> {
  using type = std::tuple_element_t<K, Tuple>;
};
template <class Tuple, std::size_t... I>
using Picked = typename PickedType<Tuple, I...>::type;

template <class T, class A>
void append_tangent(const T& t, const A& argument, std::vector<Array>& out) {
  if constexpr (std::same_as<T, NoGradient>) out.resize(out.size() + leaf_count(argument));
  else flatten_into(t, out);
}

/// The name of leaf i of a tuple of arguments: "argument 0: layers[1].w".
template <class Arguments>
std::string leaf_name(const Arguments& arguments, std::size_t i) {
  std::string out;
  std::size_t argument = 0, seen = 0;
  std::apply(
      [&](const auto&... a) {
        [[maybe_unused]] auto look = [&](const auto& tree) {
          const std::vector<std::string> names = leaf_names(tree);
          if (i >= seen && i < seen + names.size())
            out = "argument " + std::to_string(argument) + (names[i - seen].empty() ? "" : ": " + names[i - seen]);
          seen += names.size();
          ++argument;
        };
        (look(a), ...);
      },
      arguments);
  return out;
}

/// A function with arguments of types A..., seen as a function of lists of arrays. The result's tree is kept from the
/// last recording, so that lists can be turned back.
template <class F, class... A>
class Traced {
 public:
  using R = Result<F, A...>;
  Traced(const F& f, const char* name, std::source_location source, const A&... a)
      : f_(&f), name_(name), source_(source), arguments_(std::make_shared<std::tuple<A...>>(without_arrays(a)...)) {
    (count(a), ...);
  }

  const std::vector<Array>& leaves() const { return leaves_; }
  functional::Context context() const {
    return {name_, source_, [arguments = arguments_](std::size_t i) { return leaf_name(*arguments, i); }};
  }
  /// The same, cheaper: valid while this object lives.
  functional::Context call_context() const {
    return {name_, source_, [arguments = arguments_.get()](std::size_t i) { return leaf_name(*arguments, i); }};
  }
  /// Records into `result_`; valid while this object lives.
  functional::Function function() {
    return [this](const std::vector<Array>& x) {
      std::tuple<A...> a = *arguments_;
      rebuild(a, x);
      result_.emplace(std::apply(*f_, a));
      return flatten(*result_);
    };
  }
  template <std::size_t... I>
  functional::Mask mask() const {
    functional::Mask out(leaves_.size(), false);
    auto mark = [&](std::size_t k) {
      for (std::size_t i = first_[k]; i < first_[k + 1]; ++i) out[i] = true;
    };
    if constexpr (sizeof...(I) == 0) mark(0);
    else (mark(I), ...);
    return out;
  }
  functional::Mask everything() const { return functional::Mask(leaves_.size(), true); }

  /// The arguments I... with their arrays replaced by `values` (in the order of the arguments' leaves).
  template <std::size_t... I>
  Picked<std::tuple<A...>, I...> pick(const std::vector<Array>& values) const {
    std::vector<Array> all = leaves_;
    const functional::Mask wanted = mask<I...>();
    for (std::size_t i = 0, next = 0; i < all.size(); ++i)
      if (wanted[i]) all[i] = values[next++];
    std::tuple<A...> a = *arguments_;
    rebuild(a, all);
    if constexpr (sizeof...(I) == 0) return std::get<0>(std::move(a));
    else if constexpr (sizeof...(I) == 1) return (std::get<I>(std::move(a)), ...);
    else return {std::get<I>(a)...};
  }
  /// The structure of the recorded result.
  R result_structure() const { return without_arrays(*result_); }
  std::shared_ptr<const std::tuple<A...>> argument_structure() const { return arguments_; }
  R result(const std::vector<Array>& values) const {
    R out = *result_;
    rebuild(out, values);
    return out;
  }

  template <std::size_t... I>
  auto jacobian_result(const std::vector<std::vector<Array>>& blocks) const {
    using P = Picked<std::tuple<A...>, I...>;
    if constexpr (std::same_as<R, Array>) {
      return pick<I...>(blocks[0]);
    } else if constexpr (std::same_as<P, Array>) {
      std::vector<Array> by_output;
      for (const auto& b : blocks) by_output.push_back(b[0]);
      return result(by_output);
    } else {
      std::vector<P> out;
      for (const auto& b : blocks) out.push_back(pick<I...>(b));
      return out;
    }
  }

  /// Batch axes by leaf from entries by argument (one entry serves all arguments).
  template <class AxisEntries>
  std::vector<int> axes(const AxisEntries& entries) const {
    const std::size_t n = sizeof...(A);
    if (entries.size() != 1 && entries.size() != n)
      throw TypeError(std::string(name_) + ": " + std::to_string(entries.size()) + " batch axes for " +
                      std::to_string(n) + " arguments; give one for each, or one for all." + at_source(source_));
    std::vector<int> out;
    for (std::size_t k = 0; k < n; ++k) {
      const std::vector<int>& leaves = entries[entries.size() == 1 ? 0 : k].leaves;
      const std::size_t count = first_[k + 1] - first_[k];
      if (leaves.size() != 1 && leaves.size() != count)
        throw TypeError(std::string(name_) + ": leaf_axes has " + std::to_string(leaves.size()) +
                        " entries for argument " + std::to_string(k) + ", which has " + std::to_string(count) +
                        " Arrays; give one entry for each, or one for all." + at_source(source_));
      for (std::size_t i = 0; i < count; ++i) out.push_back(leaves[leaves.size() == 1 ? 0 : i]);
    }
    return out;
  }

  /// Batch axes by leaf of the result: one entry serves all; else one per element of a tuple, or one per leaf.
  template <class AxisEntries>
  std::vector<int> out_axes(const AxisEntries& entries) const {
    std::vector<int> out;
    if (entries.size() == 1 && entries[0].leaves.size() == 1) return entries[0].leaves;
    if constexpr (is_tuple<R>::value) {
      if (std::tuple_size_v<R> == entries.size()) {
        std::size_t k = 0;
        std::apply(
            [&](const auto&... x) {
              ((out.resize(out.size() + leaf_count(x), entries[k].leaves[0]), ++k), ...);
            },
            *result_);
        return out;
      }
    }
    for (const auto& e : entries) out.insert(out.end(), e.leaves.begin(), e.leaves.end());
    return out;
  }

 private:
  template <class T>
  void count(const T& tree) {
    flatten_into(tree, leaves_);
    first_.push_back(leaves_.size());
  }
  const F* f_;
  const char* name_;
  std::source_location source_;
  std::shared_ptr<const std::tuple<A...>> arguments_;
  std::vector<Array> leaves_;
  std::vector<std::size_t> first_{0};
  std::optional<R> result_;
};

}  // namespace anadrome::detail
