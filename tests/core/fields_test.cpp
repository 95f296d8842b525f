#include "anadrome/detail/fields.h"

#include <gtest/gtest.h>

#include <any>
#include <array>
#include <complex>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace d = anadrome::detail;

namespace {

// A handle like the library's Array: private parts, constrained constructors, no test as a bool.
class Handle {
 public:
  Handle() = default;
  template <class T> requires std::is_arithmetic_v<T> Handle(T x) : value_(static_cast<int>(x)) {}
  explicit operator bool() const = delete;
  bool operator==(const Handle&) const = delete;
  int value() const { return value_; }

 private:
  int value_ = 0;
};
struct FromAnything { FromAnything() = default; template <class T> FromAnything(T) {} };
struct FromList { FromList() = default; FromList(std::initializer_list<float>) {} };
struct NoDefault { explicit NoDefault(float) {} };
struct ExplicitDefault { explicit ExplicitDefault() = default; int x = 0; };

enum class Mode { a, b };
struct Empty {};
struct Layer { Handle w, b; };
struct Defaults { Handle w; int n = 3; std::string s = "x"; bool on = true; Mode mode = Mode::b; };
struct Consts { const Handle w; const int n; Handle b; };
struct Nested { Layer first; std::array<Layer, 2> layers; Handle last; };
struct Standard {
  std::vector<Handle> many;
  std::map<std::string, Layer> named;
  std::optional<Handle> maybe;
  std::optional<Layer> maybe_layer;
  std::tuple<Handle, int> both;
  std::pair<Handle, Layer> two;
  std::string text;
};
struct Arrays { std::array<Handle, 3> a; std::array<int, 1> one; std::array<std::array<Layer, 2>, 2> grid; };
struct Odd {
  Empty empty;
  std::array<int, 0> none;
  FromList list;
  std::unique_ptr<int> own;
  std::function<int(int)> f;
  std::variant<int, Handle> v;
  std::complex<float> z;
  std::any any;
};
struct Greedy { FromAnything a; Layer layer; std::array<Layer, 2> layers; ExplicitDefault x; };
struct Required { NoDefault a; Handle b; NoDefault c; };
struct Immovable { std::mutex m; Handle b; };
struct OneEmpty { Empty e; };
struct OneArray { std::array<Layer, 2> layers; };
template <class A> struct Many {
  A a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3;
};
template <class A> struct Generic { A weight; std::vector<A> others; };

static_assert(d::field_count<Empty> == 0);
static_assert(d::field_count<Layer> == 2);
static_assert(d::field_count<const Layer> == 2);
static_assert(d::field_count<Defaults> == 5);
static_assert(d::field_count<Consts> == 3);
static_assert(d::field_count<Nested> == 3);
static_assert(d::field_count<Standard> == 7);
static_assert(d::field_count<Arrays> == 3);
static_assert(d::field_count<Odd> == 8);
static_assert(d::field_count<Greedy> == 4);
static_assert(d::field_count<Required> == 3);
static_assert(d::field_count<Immovable> == 2);
static_assert(d::field_count<OneEmpty> == 1);
static_assert(d::field_count<OneArray> == 1);
static_assert(d::field_count<Many<Handle>> == 24);
static_assert(d::field_count<Many<std::array<Layer, 2>>> == 24);
static_assert(d::field_count<Generic<Handle>> == 2);

// What is refused, and why.
struct Base { Handle w; };
struct EmptyBase {};
struct Derived : Base { Handle b; };
struct DerivedOnly : Base {};
struct DerivedEmpty : EmptyBase { Handle b; };
struct DerivedHandle : Handle { int n; };
struct DerivedRequired : Base { NoDefault n; };
struct CArray { Handle w[2]; Handle b; };
struct CArrayLast { Handle b; Handle w[3]; };
struct CArrayOne { Handle w[1]; Handle b; };
struct CArrayOfStructs { Empty e; Layer w[2]; };
struct CArrayLong { float w[100]; };
struct CArray2 { Handle b; int w[2][2]; };
struct RefMember { Handle& w; };
struct RefLater { Handle b; int n; Handle& w; };
struct ConstRef { const Handle& w; };
struct RvalueRef { Handle&& w; };
struct Pointer { Handle w; Handle* p; };
struct FunctionPointer { int (*f)(int); };
union Union { int i; float f; };
struct UnionMember { Handle w; Union u; };
struct Constructor { Constructor() {} Handle w; };
class Private { public: Handle w; private: [[maybe_unused]] Handle b; };
struct TooMany { Many<Handle> m; Handle a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6;
                 Handle b7, b8, b9, c0, c1, c2, c3; };
template <class T> constexpr d::fault fault_of = d::struct_fault<T>;

static_assert(fault_of<Derived> == d::fault::base);
static_assert(fault_of<DerivedOnly> == d::fault::base);
static_assert(fault_of<DerivedEmpty> == d::fault::base);
static_assert(fault_of<DerivedHandle> == d::fault::base);
static_assert(fault_of<DerivedRequired> == d::fault::base);
static_assert(fault_of<CArray> == d::fault::c_array);
static_assert(fault_of<CArrayLast> == d::fault::c_array);
static_assert(fault_of<CArrayOne> == d::fault::c_array);
static_assert(fault_of<CArrayOfStructs> == d::fault::c_array);
static_assert(fault_of<CArrayLong> == d::fault::c_array);
static_assert(fault_of<CArray2> == d::fault::c_array);
static_assert(fault_of<RefMember> == d::fault::reference);
static_assert(fault_of<RefLater> == d::fault::reference);
static_assert(fault_of<ConstRef> == d::fault::reference);
static_assert(fault_of<RvalueRef> == d::fault::reference);
static_assert(fault_of<Pointer> == d::fault::pointer);
static_assert(fault_of<FunctionPointer> == d::fault::pointer);
static_assert(fault_of<Union> == d::fault::union_type);
static_assert(fault_of<UnionMember> == d::fault::union_member);
static_assert(fault_of<Constructor> == d::fault::not_aggregate);
static_assert(fault_of<Private> == d::fault::not_aggregate);
static_assert(fault_of<std::array<Layer, 2>> == d::fault::not_aggregate);
static_assert(fault_of<int> == d::fault::not_aggregate);
static_assert(fault_of<TooMany> == d::fault::too_many);
static_assert(d::plain_struct<Layer&> && d::plain_struct<const Nested> && !d::plain_struct<CArray>);

template <class T> std::vector<std::string> names_of() {
  return {d::field_names<T>.begin(), d::field_names<T>.end()};
}
using Names = std::vector<std::string>;

TEST(Fields, Names) {
  EXPECT_EQ(names_of<Empty>(), Names{});
  EXPECT_EQ(names_of<Layer>(), (Names{"w", "b"}));
  EXPECT_EQ(names_of<const Layer>(), (Names{"w", "b"}));
  EXPECT_EQ(names_of<Defaults>(), (Names{"w", "n", "s", "on", "mode"}));
  EXPECT_EQ(names_of<Consts>(), (Names{"w", "n", "b"}));
  EXPECT_EQ(names_of<Nested>(), (Names{"first", "layers", "last"}));
  EXPECT_EQ(names_of<Standard>(), (Names{"many", "named", "maybe", "maybe_layer", "both", "two", "text"}));
  EXPECT_EQ(names_of<Odd>(), (Names{"empty", "none", "list", "own", "f", "v", "z", "any"}));
  EXPECT_EQ(names_of<Required>(), (Names{"a", "b", "c"}));
  EXPECT_EQ(names_of<Generic<Layer>>(), (Names{"weight", "others"}));
  EXPECT_EQ(d::field_names<Many<Handle>>[0], "a0");
  EXPECT_EQ(d::field_names<Many<Handle>>[23], "c3");
}

TEST(Fields, NumbersWhereThereIsNoName) {
  EXPECT_EQ(d::last_name("no braces"), "");
  EXPECT_EQ(d::last_name("f() [P = {&x.value.name_2}]"), "name_2");
  EXPECT_FALSE(d::is_name(""));
  EXPECT_FALSE(d::is_name("12"));
}

TEST(Fields, LocalStructs) {
  struct Inner { Handle w; int n = 7; };
  struct Local { Inner inner; std::array<Inner, 2> pair; std::vector<Inner> more; };
  static_assert(d::field_count<Local> == 3);
  EXPECT_EQ(names_of<Local>(), (Names{"inner", "pair", "more"}));
  const auto in_lambda = [](auto x) {
    struct Deep { decltype(x) value; Local local; };
    return names_of<Deep>();
  };
  EXPECT_EQ(in_lambda(1), (Names{"value", "local"}));
  struct Refused : Inner { Handle b; };
  static_assert(d::struct_fault<Refused> == d::fault::base);
}

TEST(Fields, VisitsInOrderAndChanges) {
  Defaults x;
  std::vector<std::string> kinds;
  d::for_each_field(x, [&]<class T>(T& field) {
    if constexpr (std::same_as<T, Handle>) { kinds.push_back("handle"); field = Handle(5); }
    else if constexpr (std::same_as<T, int>) { kinds.push_back("int"); ++field; }
    else kinds.push_back("other");
  });
  EXPECT_EQ(kinds, (Names{"handle", "int", "other", "other", "other"}));
  EXPECT_EQ(x.w.value(), 5);
  EXPECT_EQ(x.n, 4);
}

TEST(Fields, ConstValuesHaveConstFields) {
  const Layer x{1, 2};
  int sum = 0;
  d::for_each_field(x, [&]<class T>(T& field) {
    static_assert(std::same_as<T, const Handle>);
    sum += field.value();
  });
  EXPECT_EQ(sum, 3);
  Consts y{1, 2, 3};
  int consts = 0;
  d::for_each_field(y, [&]<class T>(T&) { consts += std::is_const_v<T>; });
  EXPECT_EQ(consts, 2);
  int visited = 0;
  d::for_each_field(Layer{4, 5}, [&](auto& field) { visited += field.value(); });
  EXPECT_EQ(visited, 9);
  d::for_each_field(Empty{}, [&](auto&) { ++visited; });
  EXPECT_EQ(visited, 9);
}

// Leaf paths, as errors show them.
template <class T> void paths(const T& x, const std::string& path, std::vector<std::string>& out) {
  if constexpr (std::same_as<T, Handle>) out.push_back(path + "=" + std::to_string(x.value()));
  else if constexpr (requires { x.begin(); }) {
    int i = 0;
    for (const auto& e : x) paths(e, path + "[" + std::to_string(i++) + "]", out);
  } else {
    d::for_each_field_named(x, [&](std::string_view name, const auto& field) {
      paths(field, path + "." + std::string(name), out);
    });
  }
}

TEST(Fields, NestedPaths) {
  const Nested x{{1, 2}, {{{3, 4}, {5, 6}}}, 7};
  std::vector<std::string> out;
  paths(x, "p", out);
  EXPECT_EQ(out, (Names{"p.first.w=1", "p.first.b=2", "p.layers[0].w=3", "p.layers[0].b=4", "p.layers[1].w=5",
                        "p.layers[1].b=6", "p.last=7"}));
}

struct Numbers { int a = 1; int b = 2; };
constexpr int sum_of(Numbers n) {
  int s = 0;
  d::for_each_field(n, [&](int x) { s += x; });
  return s;
}
static_assert(sum_of({3, 4}) == 7);

}  // namespace
