// Trees: parameter structs and containers of Arrays, flattened and rebuilt without registration.
#pragma once
#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "anadrome/array.h"
#include "anadrome/detail/fields.h"

namespace anadrome {

/// A value that is part of the structure, not of the numbers: a transform sees it as it is, jit compiles once per value.
/// Needed for floating-point members; integers, enums, bool and strings are static by themselves.
template <class T>
struct Static {
  T value;
  operator const T&() const { return value; }
};

namespace detail {

template <class T>
struct is_tuple : std::false_type {};
template <class... T>
struct is_tuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct is_tuple<std::pair<A, B>> : std::true_type {};
template <class T>
struct is_sequence : std::false_type {};
template <class T, class A>
struct is_sequence<std::vector<T, A>> : std::true_type {};
template <class T, std::size_t N>
struct is_sequence<std::array<T, N>> : std::true_type {};
template <class T>
struct is_map : std::false_type {};
template <class K, class T, class C, class A>
struct is_map<std::map<K, T, C, A>> : std::true_type {};
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_static : std::false_type {};
template <class T>
struct is_static<Static<T>> : std::true_type {};

template <class T>
concept static_leaf = std::integral<T> || std::is_enum_v<T> || std::same_as<T, std::string> || is_static<T>::value;

/// Explains at compile time why T is no tree. Always true where it compiles.
template <class T>
constexpr bool require_tree() {
  static_assert(!std::floating_point<T>,
                "anadrome: a floating-point member is neither traced nor static; use Array, or Static<double>");
  static_assert(!std::is_pointer_v<T> && !std::is_reference_v<T>,
                "anadrome: pointers and references cannot be part of a parameter struct");
  static_assert(aggregate<T>, "anadrome: not a tree: it takes Arrays, standard containers, and plain aggregates");
  return require_plain_struct<T>();
}

/// Calls f.array(a), f.fixed(v), f.count(n) and f.key(k) in order, descending through containers and structs; `f.enter`
/// and `f.leave` bracket each step down with its name.
template <class T, class F>
void walk_tree(T& tree, F& f) {
  using U = std::remove_const_t<T>;
  if constexpr (std::same_as<U, Array>) {
    f.array(tree);
  } else if constexpr (static_leaf<U>) {
    f.fixed(tree);
  } else if constexpr (is_tuple<U>::value) {
    std::apply(
        [&](auto&... x) {
          std::size_t i = 0;
          ((f.enter_index(i++), walk_tree(x, f), f.leave()), ...);
        },
        tree);
  } else if constexpr (is_optional<U>::value) {
    f.count(tree ? 1 : 0);
    if (tree) walk_tree(*tree, f);
  } else if constexpr (is_map<U>::value) {
    f.count(tree.size());
    for (auto& [key, value] : tree) {
      f.enter_key(key);
      walk_tree(value, f);
      f.leave();
    }
  } else if constexpr (is_sequence<U>::value) {
    f.count(tree.size());
    std::size_t i = 0;
    for (auto& x : tree) {
      f.enter_index(i++);
      walk_tree(x, f);
      f.leave();
    }
  } else if constexpr (require_tree<U>()) {
    for_each_field_named(tree, [&](std::string_view name, auto& x) {
      f.enter_field(name);
      walk_tree(x, f);
      f.leave();
    });
  }
}

/// A visitor that ignores everything; derive and override what is needed.
struct IgnoreAll {
  template <class A>
  void array(A&) {}
  template <class V>
  void fixed(const V&) {}
  void count(std::size_t) {}
  void enter_index(std::size_t) {}
  template <class K>
  void enter_key(const K&) {}
  void enter_field(std::string_view) {}
  void leave() {}
};

struct Flatten : IgnoreAll {
  explicit Flatten(std::vector<Array>& to) : out(to) {}
  void array(const Array& a) { out.push_back(a); }
  std::vector<Array>& out;
};
struct Rebuild : IgnoreAll {
  Rebuild(const std::vector<Array>& values, std::size_t first) : from(values), next(first) {}
  void array(Array& a) { a = from[next++]; }
  const std::vector<Array>& from;
  std::size_t next;
};

struct Clear : IgnoreAll {
  void array(Array& a) { a = Array(); }
};

/// Names of leaves: "layers[1].w".
struct NameLeaves : IgnoreAll {
  template <class A>
  void array(A&) {
    names.push_back(path);
  }
  void enter_index(std::size_t i) { push("[" + std::to_string(i) + "]"); }
  template <class K>
  void enter_key(const K& key) {
    if constexpr (std::is_convertible_v<K, std::string>) push("[\"" + std::string(key) + "\"]");
    else if constexpr (std::is_arithmetic_v<K>) push("[" + std::to_string(key) + "]");
    else push("[...]");
  }
  void enter_field(std::string_view name) { push(path.empty() ? std::string(name) : "." + std::string(name)); }
  void leave() {
    path.resize(lengths.back());
    lengths.pop_back();
  }
  void push(const std::string& step) {
    lengths.push_back(path.size());
    path += step;
  }
  std::vector<std::string> names;
  std::string path;
  std::vector<std::size_t> lengths;
};

template <class T>
void flatten_into(const T& tree, std::vector<Array>& out) {
  Flatten f(out);
  walk_tree(tree, f);
}
template <class T>
std::vector<Array> flatten(const T& tree) {
  std::vector<Array> out;
  flatten_into(tree, out);
  return out;
}
/// `tree` with its Arrays replaced by values[first], values[first + 1] ...
template <class T>
void rebuild(T& tree, const std::vector<Array>& values, std::size_t first = 0) {
  Rebuild f(values, first);
  walk_tree(tree, f);
}
/// The structure of a tree with empty Arrays: what is kept where the numbers must not be.
template <class T>
T without_arrays(T tree) {
  Clear f;
  walk_tree(tree, f);
  return tree;
}
template <class T>
std::size_t leaf_count(const T& tree) {
  return flatten(tree).size();
}
template <class T>
std::vector<std::string> leaf_names(const T& tree) {
  NameLeaves f;
  walk_tree(tree, f);
  return f.names;
}

}  // namespace detail

/// An Array, or a standard container or plain struct of trees.
template <class T>
concept Tree = std::same_as<T, Array> || detail::is_tuple<T>::value || detail::is_sequence<T>::value ||
               detail::is_map<T>::value || detail::is_optional<T>::value ||
               (std::is_aggregate_v<T> && std::is_class_v<T> && !detail::is_static<T>::value);

/// Applies `f` to every Array of a tree and returns the tree of the results.
/// Example: `Net half = map_leaves(net, [](const Array& a) { return a / 2; });`
template <Tree T, class F>
T map_leaves(T tree, const F& f) {
  std::vector<Array> leaves = detail::flatten(tree);
  for (Array& a : leaves) a = f(a);
  detail::rebuild(tree, leaves);
  return tree;
}
/// Applies `f` to the Arrays at the same places of two trees of one structure. Throws TypeError when leaf counts differ.
/// Example: `net = map_leaves(net, grads, [](Array p, Array g) { return p - 0.1 * g; });`
template <Tree T, class F>
T map_leaves(T a, const T& b, const F& f) {
  std::vector<Array> x = detail::flatten(a), y = detail::flatten(b);
  if (x.size() != y.size())
    throw TypeError("map_leaves: the trees differ: " + std::to_string(x.size()) + " and " + std::to_string(y.size()) +
                    " Arrays. Give two trees of one structure.");
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = f(x[i], y[i]);
  detail::rebuild(a, x);
  return a;
}

namespace detail {
Array filled_like(const Array& a, double value);
}
/// Zeros of the shapes and dtypes of a tree.
template <Tree T>
T zeros_like(const T& tree) {
  return map_leaves(tree, [](const Array& a) { return detail::filled_like(a, 0); });
}
/// Ones of the shapes and dtypes of a tree.
template <Tree T>
T ones_like(const T& tree) {
  return map_leaves(tree, [](const Array& a) { return detail::filled_like(a, 1); });
}

}  // namespace anadrome
