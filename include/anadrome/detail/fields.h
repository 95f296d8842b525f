#pragma once
// The fields of a plain aggregate at compile time: how many, what types, what names, and a visit in order.
//
// Fields are counted by aggregate initialisation, reached by structured bindings, and named by what the
// compiler prints for a pointer to a field of an object that is declared and never defined. What must not be
// in a parameter struct (C arrays, references, pointers, unions, bases) is found first: see struct_fault<T>.

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace anadrome::detail {

inline constexpr std::size_t max_fields = 24;

// ---- counting ----------------------------------------------------------------------------------------
// Converts to a value of any type; to any lvalue; to any base of D; to nothing. Never called
// (the bodies are for clang, which wants them where T has no linkage).
struct any_field {
  constexpr any_field(std::size_t) {}
  template <class T> operator T() const { __builtin_trap(); }
};
struct any_lvalue {
  constexpr any_lvalue(std::size_t) {}
  template <class T> operator T&() const { __builtin_trap(); }
};
template <class D> struct any_base {
  template <class B> requires (std::is_base_of_v<B, D> && !std::is_same_v<B, D>)
  operator B() const { __builtin_trap(); }
};
struct no_field {};

// A tuple-like class has its own bindings; a union has no fields.
template <class T>
concept aggregate = std::is_aggregate_v<T> && std::is_class_v<T> && !requires { std::tuple_size<T>::value; };

// T{any, any, ...}, where a C array takes one for each element.
template <class T, class Any, std::size_t... I> constexpr bool takes_flat(std::index_sequence<I...>) {
  return requires { T{Any(I)...}; };
}
// T{{any}, {any}, ...}, where a C array takes one, and an empty struct none.
template <class T, class Any, std::size_t... I> constexpr bool takes_braced(std::index_sequence<I...>) {
  return requires { T{{Any(I)}...}; };
}
// The same with the first fields flat, the next in braces, the rest flat.
template <class T, std::size_t... I, std::size_t... J>
constexpr bool takes_one_braced(std::index_sequence<I...>, std::index_sequence<J...>) {
  return requires { T{any_field(I)..., {any_field(0)}, any_field(J)...}; };
}
template <class T, class First, std::size_t... I> constexpr bool takes_first(std::index_sequence<I...>) {
  return requires { T{First(), any_field(I)...}; } || requires { T{First(), {any_field(I)}...}; };
}
// A member that can be made of anything takes any_base too; it takes no_field as well.
template <class T, std::size_t N> constexpr bool has_base() {
  using Rest = std::make_index_sequence<N - 1>;
  return takes_first<T, any_base<T>>(Rest()) && !takes_first<T, no_field>(Rest());
}
template <class T, class Any, std::size_t N> constexpr bool takes =
    takes_flat<T, Any>(std::make_index_sequence<N>()) || takes_braced<T, Any>(std::make_index_sequence<N>());

inline constexpr std::size_t not_counted = static_cast<std::size_t>(-1);

// The largest N that T takes. More are always refused, fewer may be (a member without a default).
template <class T, class Any, std::size_t N = 0, bool Found = false>
constexpr std::size_t count_initialisers() {
  if constexpr (N > max_fields + 1) return Found ? max_fields + 1 : not_counted;
  else if constexpr (takes<T, Any, N>) return count_initialisers<T, Any, N + 1, true>();
  else if constexpr (Found) return N - 1;
  else return count_initialisers<T, Any, N + 1, false>();
}
template <class T> inline constexpr std::size_t initialiser_count = count_initialisers<T, any_field>();

// A C array at I takes one initialiser in braces but M > 1 flat ones.
template <class T, std::size_t N, std::size_t I> constexpr bool array_at() {
  using Before = std::make_index_sequence<I>;
  if constexpr (takes_one_braced<T>(Before(), std::make_index_sequence<N - I - 1>())) return false;
  else
    return []<std::size_t... M>(std::index_sequence<M...>) {
      return (takes_one_braced<T>(Before(), std::make_index_sequence<M>()) || ...);
    }(std::make_index_sequence<N - I - 1>());
}
template <class T, std::size_t N> constexpr bool has_array() {
  if constexpr (takes_braced<T, any_field>(std::make_index_sequence<N>())) return false;
  else
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (array_at<T, N, I>() || ...);
    }(std::make_index_sequence<N>());
}

// ---- reaching the fields -----------------------------------------------------------------------------
template <class... T> struct type_list {};

#define ANADROME_PARENS ()
#define ANADROME_EXPAND(...) ANADROME_EXPAND2(ANADROME_EXPAND2(ANADROME_EXPAND2(__VA_ARGS__)))
#define ANADROME_EXPAND2(...) ANADROME_EXPAND3(ANADROME_EXPAND3(ANADROME_EXPAND3(__VA_ARGS__)))
#define ANADROME_EXPAND3(...) ANADROME_EXPAND4(ANADROME_EXPAND4(ANADROME_EXPAND4(__VA_ARGS__)))
#define ANADROME_EXPAND4(...) __VA_ARGS__
#define ANADROME_TYPES(x, ...) decltype(x) __VA_OPT__(, ANADROME_TYPES_AGAIN ANADROME_PARENS (__VA_ARGS__))
#define ANADROME_TYPES_AGAIN() ANADROME_TYPES
#define ANADROME_FIELDS(n, ...)                                                      \
  else if constexpr (N == n) {                                                       \
    auto& [__VA_ARGS__] = value;                                                     \
    return g(type_list<ANADROME_EXPAND(ANADROME_TYPES(__VA_ARGS__))>(), __VA_ARGS__); \
  }

// g(type_list<declared types...>(), fields...)
template <std::size_t N, class T, class G> constexpr decltype(auto) with_fields(T& value, G&& g) {
  static_assert(N <= max_fields);
  if constexpr (N == 0) return g(type_list<>());
  ANADROME_FIELDS(1, a)
  ANADROME_FIELDS(2, a, b)
  ANADROME_FIELDS(3, a, b, c)
  ANADROME_FIELDS(4, a, b, c, d)
  ANADROME_FIELDS(5, a, b, c, d, e)
  ANADROME_FIELDS(6, a, b, c, d, e, f)
  ANADROME_FIELDS(7, a, b, c, d, e, f, h)
  ANADROME_FIELDS(8, a, b, c, d, e, f, h, i)
  ANADROME_FIELDS(9, a, b, c, d, e, f, h, i, j)
  ANADROME_FIELDS(10, a, b, c, d, e, f, h, i, j, k)
  ANADROME_FIELDS(11, a, b, c, d, e, f, h, i, j, k, l)
  ANADROME_FIELDS(12, a, b, c, d, e, f, h, i, j, k, l, m)
  ANADROME_FIELDS(13, a, b, c, d, e, f, h, i, j, k, l, m, n)
  ANADROME_FIELDS(14, a, b, c, d, e, f, h, i, j, k, l, m, n, o)
  ANADROME_FIELDS(15, a, b, c, d, e, f, h, i, j, k, l, m, n, o, p)
  ANADROME_FIELDS(16, a, b, c, d, e, f, h, i, j, k, l, m, n, o, p, q)
  ANADROME_FIELDS(17, a, b, c, d, e, f, h, i, j, k, l, m, n, o, p, q, r)
  ANADROME_FIELDS(18, a, b, c, d, e, f, h, i, j, k, l, m, n, o, p, q, r, s)
  ANADROME_FIELDS(19, a, b, c, d, e, f, h, i, j, k, l, m, n, o, p, q, r, s, t)
  ANADROME_FIELDS(20, a, b, c, d, e, f, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
  ANADROME_FIELDS(21, a, b, c, d, e, f, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
  ANADROME_FIELDS(22, a, b, c, d, e, f, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
  ANADROME_FIELDS(23, a, b, c, d, e, f, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
  ANADROME_FIELDS(24, a, b, c, d, e, f, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)
}
#undef ANADROME_PARENS
#undef ANADROME_EXPAND
#undef ANADROME_EXPAND2
#undef ANADROME_EXPAND3
#undef ANADROME_EXPAND4
#undef ANADROME_TYPES
#undef ANADROME_TYPES_AGAIN
#undef ANADROME_FIELDS

// ---- what a parameter struct must not have -----------------------------------------------------------
enum class fault { none, not_aggregate, union_type, base, c_array, reference, pointer, union_member, too_many,
                   not_countable };

template <class... F> constexpr fault field_fault(type_list<F...>) {
  if ((std::is_array_v<F> || ...)) return fault::c_array;
  if ((std::is_reference_v<F> || ...)) return fault::reference;
  if ((std::is_pointer_v<F> || ...)) return fault::pointer;
  if ((std::is_union_v<F> || ...)) return fault::union_member;
  return fault::none;
}
template <class T> constexpr fault find_fault() {
  if constexpr (std::is_union_v<T>) return fault::union_type;
  else if constexpr (!aggregate<T>) return fault::not_aggregate;
  else {
    constexpr std::size_t n = initialiser_count<T>;
    if constexpr (n == not_counted) {
      constexpr bool counted = count_initialisers<T, any_lvalue>() != not_counted;
      return counted ? fault::reference : fault::not_countable;
    } else if constexpr (n > max_fields) {
      return takes_braced<T, any_field>(std::make_index_sequence<n>()) ? fault::too_many : fault::c_array;
    } else if constexpr (n == 0) return fault::none;
    else if constexpr (has_base<T, n>()) return fault::base;
    else if constexpr (has_array<T, n>()) return fault::c_array;
    else {
      using Types = decltype(with_fields<n>(std::declval<T&>(), [](auto types, auto&...) { return types; }));
      return field_fault(Types());
    }
  }
}
// The first thing found that keeps T from being a parameter struct.
template <class T> inline constexpr fault struct_fault = find_fault<std::remove_cvref_t<T>>();

// An aggregate whose fields can be visited.
template <class T> concept plain_struct = struct_fault<T> == fault::none;

// Refuses by name what is not a plain_struct. Returns true, so that it can stand in a constant expression.
template <class T> constexpr bool require_plain_struct() {
  constexpr fault f = struct_fault<T>;
  static_assert(f != fault::union_type, "anadrome: a union must not be a parameter struct");
  static_assert(f != fault::not_aggregate,
                "anadrome: a parameter struct must be an aggregate: no constructors, no private or protected "
                "members, no virtual functions");
  static_assert(f != fault::base,
                "anadrome: a parameter struct must not have base classes; make the base a member");
  static_assert(f != fault::c_array,
                "anadrome: a parameter struct must not have C array members; use std::array");
  static_assert(f != fault::reference, "anadrome: a parameter struct must not have reference members");
  static_assert(f != fault::pointer, "anadrome: a parameter struct must not have pointer members");
  static_assert(f != fault::union_member, "anadrome: a parameter struct must not have union members");
  static_assert(f != fault::too_many,
                "anadrome: a parameter struct must not have more than 24 members; nest structs");
  static_assert(f != fault::not_countable,
                "anadrome: the members of this parameter struct cannot be counted: it has reference members, "
                "or a member that cannot be initialised from a value of its own type");
  return true;
}

// The number of fields of an aggregate; 0 for what is refused.
template <class T>
inline constexpr std::size_t field_count = plain_struct<T> ? initialiser_count<std::remove_cvref_t<T>> : 0;

// f(field) for each field in order; fields of a const value are const.
template <class T, class F> constexpr void for_each_field(T&& value, F&& f) {
  using U = std::remove_cvref_t<T>;
  if constexpr (require_plain_struct<U>() && plain_struct<U>)
    with_fields<field_count<U>>(value, [&f](auto, auto&... field) { (static_cast<void>(f(field)), ...); });
}

// ---- names -------------------------------------------------------------------------------------------
template <class T> struct named_object { T value; };
template <class P> struct field_pointer { P pointer; };
template <class P> field_pointer(P) -> field_pointer<P>;

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class T> extern const named_object<T> no_object;   // only its address is taken, at compile time

template <class T, std::size_t I> constexpr auto pointer_to_field() {
  return with_fields<field_count<T>>(no_object<T>.value, [](auto, auto&... field) {
    return field_pointer{std::get<I>(std::tuple(std::addressof(field)...))};
  });
}
template <field_pointer P> constexpr auto printed_field() { return std::string_view(__PRETTY_FUNCTION__); }

// The last name in "...{(& no_object<T>.named_object<T>::value.T::name)}]" (g++) or
// "...{&no_object.value.name}]" (clang).
constexpr std::string_view last_name(std::string_view text) {
  const auto in_name = [](char c) {
    return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 128;
  };
  std::size_t end = text.rfind('}');
  if (end == std::string_view::npos) return {};
  while (end > 0 && !in_name(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && in_name(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}
constexpr bool is_name(std::string_view s) { return !s.empty() && !(s[0] >= '0' && s[0] <= '9'); }

template <std::size_t I> inline constexpr std::array<char, 2> digits = {static_cast<char>('0' + I / 10),
                                                                        static_cast<char>('0' + I % 10)};

template <std::size_t> struct field_constant {};

// The field's name, or its number where the compiler does not tell.
template <class T, std::size_t I> constexpr std::string_view field_name() {
  if constexpr (requires { typename field_constant<printed_field<pointer_to_field<T, I>()>().size()>; }) {
    constexpr std::string_view name = last_name(printed_field<pointer_to_field<T, I>()>());
    if (is_name(name)) return name;
  }
  return std::string_view(digits<I>.data(), 2).substr(I < 10 ? 1 : 0);
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

template <class T> inline constexpr std::array<std::string_view, field_count<T>> field_names =
    []<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<std::string_view, sizeof...(I)>{field_name<std::remove_cvref_t<T>, I>()...};
    }(std::make_index_sequence<field_count<T>>());

// f(name, field) for each field in order.
template <class T, class F> constexpr void for_each_field_named(T&& value, F&& f) {
  constexpr auto& names = field_names<std::remove_cvref_t<T>>;
  std::size_t i = 0;
  for_each_field(value, [&](auto& field) { static_cast<void>(f(names[i++], field)); });
}

}  // namespace anadrome::detail
