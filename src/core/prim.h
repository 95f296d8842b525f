// Prim: a primitive and all its rules. A transform reaches a rule through `need` only.
#pragma once
#include <boost/container/small_vector.hpp>
#include <functional>
#include <span>
#include <string_view>

#include "core/attrs.h"
#include "core/node.h"

namespace anadrome {

using Types = boost::container::small_vector<Type, 2>;
/// The elements of a small_vector, whose iterators std::span does not take.
template <class T, std::size_t N>
std::span<const T> view(const boost::container::small_vector<T, N>& v) {
  return {v.data(), v.size()};
}

/// The types of operands where they stand, in the nodes or programs that hold them: nothing is copied.
class TypeRefs {
 public:
  class iterator {
   public:
    using value_type = Type;
    using difference_type = std::ptrdiff_t;
    using reference = const Type&;
    using pointer = const Type*;
    using iterator_category = std::random_access_iterator_tag;
    iterator() = default;
    explicit iterator(const Type* const* at) : at_(at) {}
    const Type& operator*() const { return **at_; }
    const Type* operator->() const { return *at_; }
    iterator& operator++() { return *this += 1; }
    iterator operator++(int) { return iterator(at_++); }
    iterator& operator--() { return *this += -1; }
    iterator& operator+=(std::ptrdiff_t n) {
      at_ += n;
      return *this;
    }
    friend iterator operator+(iterator i, std::ptrdiff_t n) { return i += n; }
    friend std::ptrdiff_t operator-(iterator a, iterator b) { return a.at_ - b.at_; }
    friend bool operator==(iterator, iterator) = default;

   private:
    const Type* const* at_ = nullptr;
  };
  TypeRefs(const Type* const* types, std::size_t size) : types_(types), size_(size) {}
  const Type& operator[](std::size_t i) const { return *types_[i]; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  iterator begin() const { return iterator(types_); }
  iterator end() const { return iterator(types_ + size_); }
  const Type& back() const { return *types_[size_ - 1]; }
  TypeRefs subspan(std::size_t first) const { return {types_ + first, size_ - first}; }

 private:
  const Type* const* types_;
  std::size_t size_;
};
/// Pointers to types, for TypeRefs.
class TypePointers {
 public:
  TypePointers() = default;
  explicit TypePointers(std::span<const Type> types) {
    for (const Type& t : types) add(t);
  }
  void add(const Type& type) { pointers_.push_back(&type); }
  operator TypeRefs() const { return {pointers_.data(), pointers_.size()}; }

 private:
  boost::container::small_vector<const Type*, 4> pointers_;
};

/// Operand types and attributes; the rule gives the result types and raises every error a user can cause.
struct TypeIn {
  const Prim& prim;
  const Attrs& attrs;
  TypeRefs x;
  template <class T>
  const T& as() const {
    return attrs.as<T>();
  }
};

/// Reference evaluation: contiguous row-major buffers in and out. `scratch` has the bytes the `scratch` rule asked for.
/// Must not allocate. An output may be the same memory as an operand only where `in_place` says so.
struct EvalIn {
  const Attrs& attrs;
  std::span<const Type> in, out;
  std::span<const void* const> x;
  std::span<void* const> y;
  void* scratch;
  template <class T>
  const T& as() const {
    return attrs.as<T>();
  }
};

/// Primals, results and tangents. An empty tangent handle is a symbolic zero.
struct JvpIn {
  const Equation& eqn;
  std::span<const Type> in, out;
  std::span<const Array> x, y, t;  // y is empty for call-like primitives, which record the primal themselves
  template <class T>
  const T& as() const {
    return eqn.attrs.as<T>();
  }
  bool has(std::size_t i) const { return t[i].defined(); }
  /// The tangent of operand i, zeros where it is symbolic.
  Array dense(std::size_t i) const;
};
/// Results and tangents of a call-like primitive; an empty tangent is a symbolic zero.
struct LinearizeOut {
  Arrays y, t;
};

/// Where the cotangent of one linear operand is gathered.
class Accumulator {
 public:
  virtual ~Accumulator() = default;
  /// False when nobody asked for this cotangent: the rule must not compute it.
  virtual bool wants() const = 0;
  virtual void add(const Array& cotangent) = 0;
  /// A contribution to a part: `update(base)` returns `base` with the part added, which happens in place.
  virtual void add_into(const std::function<Array(const Array& base)>& update) = 0;
  /// The sum so far, zeros before the first contribution, and another in its place: for rules that go on adding to several.
  virtual Array so_far() const = 0;
  virtual void replace(const Array& sum) = 0;
};

/// A linear equation to be transposed. acc[i] is null where operand i is known; then x[i] holds its value.
struct TransposeIn {
  const Equation& eqn;
  std::span<const Type> in, out;
  std::span<const Array> x;
  std::span<const Array> ct;  // one per result; empty = zero
  std::span<Accumulator* const> acc;
  template <class T>
  const T& as() const {
    return eqn.attrs.as<T>();
  }
  bool linear(std::size_t i) const { return acc[i] != nullptr; }
  bool wants(std::size_t i) const { return acc[i] != nullptr && acc[i]->wants(); }
};

inline constexpr int unbatched = -1;
/// Operands with their batch axes (`unbatched` for none; at least one is batched).
struct BatchIn {
  const Equation& eqn;
  std::span<const Array> x;
  std::span<const int> axis;
  std::int64_t size;
  std::string_view axis_name;
  template <class T>
  const T& as() const {
    return eqn.attrs.as<T>();
  }
  bool batched(std::size_t i) const { return axis[i] != unbatched; }
  /// Operand i with its batch axis moved to the front; unbatched operands as they are.
  Array front(std::size_t i) const;
  /// The same, but an unbatched operand is broadcast along a new front axis.
  Array front_dense(std::size_t i) const;
  /// Rank of operand i without its batch axis.
  int rank(std::size_t i) const { return x[i].rank() - (batched(i) ? 1 : 0); }
};
struct BatchOut {
  Arrays y;
  boost::container::small_vector<int, 2> axis;
  BatchOut() = default;
  /// One result.
  BatchOut(Array value, int axis) : y{std::move(value)}, axis{axis} {}
  /// Several results that share an axis.
  BatchOut(Arrays values, int shared_axis) : y(std::move(values)), axis(y.size(), shared_axis) {}
};

/// What an equation costs: see docs/cost.md for the table.
struct Cost {
  double flops = 0, transcendentals = 0;
};
struct CostIn {
  const Attrs& attrs;
  std::span<const Type> in, out;
  template <class T>
  const T& as() const {
    return attrs.as<T>();
  }
};

/// Why a primitive has no rule of a kind.
struct NoRule {
  const char* why;
};
constexpr NoRule no_rule(const char* why) { return {why}; }

template <class Signature>
struct Rule;
template <class R, class A>
struct Rule<R(A)> {
  R (*function)(A) = nullptr;
  const char* why = "not stated";
  constexpr Rule() = default;
  constexpr Rule(NoRule none) : why(none.why) {}
  template <class F>
    requires std::convertible_to<F, R (*)(A)>
  constexpr Rule(F f) : function(f) {}
  constexpr explicit operator bool() const { return function != nullptr; }
  R operator()(A a) const { return function(a); }
};

/// What kind of work an equation does; residual selection and the planner ask.
enum class Work : std::uint8_t {
  elementwise,  // each result element depends on the elements at its place (rank-0 operands serve all places)
  movement,     // moves, repeats or makes elements without arithmetic
  other,        // reductions, contractions, sorting
  call          // holds sub-programs
};

struct Prim {
  std::string_view name;
  Work work = Work::other;
  Rule<Types(const TypeIn&)> type;
  Rule<void(const EvalIn&)> eval;
  Rule<Arrays(const JvpIn&)> jvp;  // one tangent per result; call-like: results, then tangents
  Rule<void(const TransposeIn&)> transpose;
  Rule<LinearizeOut(const JvpIn&)> linearize = {};  // call-like primitives only; the default is jvp with routing
  Rule<BatchOut(const BatchIn&)> batch;
  Rule<Cost(const CostIn&)> cost;
  /// Bytes of scratch memory `eval` needs; absent: none.
  Rule<std::size_t(const CostIn&)> scratch = {};
  /// Result 0 may be written over operand `in_place` when that operand dies here and has the same bytes (-1: never;
  /// elementwise primitives: any operand).
  int in_place = -1;
  /// A source of tangents that are zero; linear, its cotangent is dropped.
  bool linear_source = false;
};

namespace detail {
[[noreturn]] void throw_no_rule(const Prim& prim, std::string_view rule, const char* why);
template <auto Field>
constexpr std::string_view rule_name = "";
template <>
inline constexpr std::string_view rule_name<&Prim::type> = "type";
template <>
inline constexpr std::string_view rule_name<&Prim::eval> = "eval";
template <>
inline constexpr std::string_view rule_name<&Prim::jvp> = "jvp";
template <>
inline constexpr std::string_view rule_name<&Prim::transpose> = "transpose";
template <>
inline constexpr std::string_view rule_name<&Prim::linearize> = "linearize";
template <>
inline constexpr std::string_view rule_name<&Prim::batch> = "batch";
template <>
inline constexpr std::string_view rule_name<&Prim::cost> = "cost";
}  // namespace detail

/// The rule `Field` of a primitive. Throws RuleError with the stated reason when there is none.
template <auto Field>
const auto& need(const Prim& prim) {
  const auto& rule = prim.*Field;
  if (!rule) detail::throw_no_rule(prim, detail::rule_name<Field>, rule.why);
  return rule;
}

/// All primitives, in the order of primitives/list.inc.
std::span<const Prim* const> all_primitives();
/// The primitive of that name, or null.
const Prim* find_primitive(std::string_view name);

}  // namespace anadrome
