// Array: an immutable value, one pointer wide: concrete numbers, or a variable of a program being recorded.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "anadrome/dtype.h"
#include "anadrome/error.h"
#include "anadrome/shape.h"

namespace anadrome {

namespace detail {
struct Node;
void retain(const Node* node) noexcept;
void release(const Node* node) noexcept;

/// Counted pointer to a node.
class NodePtr {
 public:
  NodePtr() = default;
  explicit NodePtr(Node* node) noexcept : node_(node) {
    if (node_) retain(node_);
  }
  NodePtr(const NodePtr& o) noexcept : NodePtr(o.node_) {}
  NodePtr(NodePtr&& o) noexcept : node_(std::exchange(o.node_, nullptr)) {}
  NodePtr& operator=(NodePtr o) noexcept {
    std::swap(node_, o.node_);
    return *this;
  }
  ~NodePtr() {
    if (node_) release(node_);
  }
  Node* get() const { return node_; }
  Node* operator->() const { return node_; }

 private:
  Node* node_ = nullptr;
};
}  // namespace detail

class Index;
class At;

/// An n-dimensional array of numbers: an immutable value; copies share. Inside a function that is being transformed or
/// compiled it stands for a value of the program that is recorded. A default-constructed Array is empty, and every use
/// of it throws TypeError.
class [[nodiscard]] Array {
 public:
  Array() = default;
  Array(const Array&) = default;
  Array(Array&&) noexcept = default;
  Array& operator=(const Array&) & = default;
  Array& operator=(Array&&) & noexcept = default;
  explicit operator bool() const = delete;  // write all(a == b).item<bool>()

  /// False for an empty handle.
  bool defined() const { return node_.get() != nullptr; }
  /// The extents. Throws TypeError on an empty Array.
  const Shape& shape() const;
  /// The element type. Throws TypeError on an empty Array.
  DType dtype() const;
  const Type& type() const;
  int rank() const { return shape().rank(); }
  std::int64_t size() const { return shape().elements(); }
  /// True while the value is recorded rather than concrete.
  bool traced() const;

  /// Reads as numpy does: integers, slices, `all`, `newaxis`, `ellipsis`, index arrays, dynamic slices. A C++ integer
  /// outside [-n, n) throws IndexError at once; traced indices wrap once and clamp. Differentiable.
  Array operator[](const Index& index) const;
  Array operator[](std::initializer_list<Index> indices) const;
  /// The place `a.at(i)` of an updated copy: `.set(v)`, `.add(v)`, `.multiply(v)`, `.min(v)`, `.max(v)`.
  At at(const Index& index) const;
  At at(std::initializer_list<Index> indices) const;

  /// The single element as a C++ number (converted). Throws TypeError if there is not exactly one element, and
  /// TraceError for a recorded value that has no number while recording (under jit or vmap).
  template <class T>
  T item(std::source_location source = std::source_location::current()) const {
    static_assert(std::is_arithmetic_v<T>, "anadrome: item<T> gives a C++ number");
    if constexpr (std::is_same_v<T, bool>) return item_double(source) != 0;
    else if constexpr (std::is_integral_v<T>) return static_cast<T>(item_int(source));
    else return static_cast<T>(item_double(source));
  }
  /// All elements, row-major. `T` must match the dtype (float also reads bf16 and f16). Throws TypeError otherwise and
  /// TraceError on a recorded value.
  template <class T>
  std::vector<T> to_vector(std::source_location source = std::source_location::current()) const {
    std::vector<T> out(static_cast<std::size_t>(size()));
    if constexpr (std::is_same_v<T, bool>) {
      const auto* p = static_cast<const unsigned char*>(checked_data(DType::b1, source));
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = p[i] != 0;
    } else {
      copy_out(dtype_of<T>, out.data(), source);
    }
    return out;
  }
  /// The elements in place, row-major, without a copy; valid while this Array (or a copy) lives.
  template <class T>
  std::span<const T> span(std::source_location source = std::source_location::current()) const {
    return {static_cast<const T*>(checked_data(dtype_of<T>, source)), static_cast<std::size_t>(size())};
  }

  /// The gradient of an integer or bool leaf: it has a shape and no numbers; any arithmetic with it throws TypeError.
  static Array no_gradient(const Shape& shape);
  bool is_no_gradient() const;

  // For the library's own use.
  explicit Array(detail::NodePtr node) : node_(std::move(node)) {}
  detail::Node* node() const { return node_.get(); }

 private:
  double item_double(std::source_location source) const;
  std::int64_t item_int(std::source_location source) const;
  const void* checked_data(DType want, std::source_location source) const;
  void copy_out(DType want, void* out, std::source_location source) const;
  detail::NodePtr node_;
};

/// Prints as numpy's str does; a recorded value prints as `f32[3] (traced)`.
std::ostream& operator<<(std::ostream& out, const Array& a);
std::string to_string(const Array& a);

template <class T>
concept ArithmeticLiteral = std::is_arithmetic_v<T>;

/// Argument of an operation: an Array or a C++ number. A number is weakly typed: it takes the dtype of the array it
/// meets when its kind is lower or equal (an integer that does not fit: TypeError); a float with an integer array gives
/// f32, an integer with b1 gives i32; numbers alone are i32 or f32. Remembers the line of the call for error messages.
class Operand {
 public:
  using Source = std::source_location;
  Operand(const Array& a, Source source = Source::current()) : array_(a), source_(source) {}
  template <ArithmeticLiteral T>
  Operand(T value, Source source = Source::current()) : source_(source), literal_(true) {
    if constexpr (std::is_same_v<T, bool>) kind_ = DType::b1, integer_ = value;
    else if constexpr (std::is_integral_v<T>) {
      kind_ = std::is_signed_v<T> ? DType::i64 : DType::u64;
      integer_ = static_cast<std::int64_t>(value);
    } else {
      kind_ = DType::f64;
      real_ = static_cast<double>(value);
    }
  }
  bool is_literal() const { return literal_; }
  const Array& array() const { return array_; }
  /// b1, i64, u64 or f64: the kind of a literal.
  DType literal_kind() const { return kind_; }
  std::int64_t integer() const { return integer_; }
  double real() const { return real_; }
  const Source& source() const { return source_; }

 private:
  Array array_;
  Source source_;
  bool literal_ = false;
  DType kind_ = DType::f64;
  std::int64_t integer_ = 0;
  double real_ = 0;
};

// ---- index items ----------------------------------------------------------------------------------------------------

inline constexpr std::int64_t open_end = std::numeric_limits<std::int64_t>::max();
/// A static slice [lo, hi) with a step, cut to the axis as in numpy; negative values count from the end.
struct Slice {
  std::optional<std::int64_t> lo, hi;
  std::int64_t step = 1;
};
/// `slice(lo, hi, step)`: numpy's `lo:hi:step`.
constexpr Slice slice(std::int64_t lo, std::int64_t hi, std::int64_t step = 1) { return {lo, hi, step}; }
/// `from(lo)`: numpy's `lo:`; `from(lo, step)`: `lo::step`.
constexpr Slice from(std::int64_t lo, std::int64_t step = 1) { return {lo, std::nullopt, step}; }
/// `until(hi)`: numpy's `:hi`.
constexpr Slice until(std::int64_t hi) { return {std::nullopt, hi, 1}; }
/// `every(step)`: numpy's `::step`; `every(-1)` reverses.
constexpr Slice every(std::int64_t step) { return {std::nullopt, std::nullopt, step}; }
/// A slice whose start is a value of the program and whose size is static.
struct DynamicSlice {
  Array start;
  std::int64_t size;
};
/// `dslice(start, size)`: `size` elements from `start`; a start outside is clamped so that the window fits.
inline DynamicSlice dslice(Array start, std::int64_t size) { return {std::move(start), size}; }
/// `a[all]` is the whole axis; `all(x)` is true where every element is.
struct All {
  Array operator()(const Operand& x) const;
  Array operator()(const Operand& x, std::initializer_list<Dim> axes, bool keepdims = false) const;
};
inline constexpr All all{};
struct NewAxis {};
inline constexpr NewAxis newaxis{};
struct Ellipsis {};
inline constexpr Ellipsis ellipsis{};

/// One item of an index.
class Index {
 public:
  using Source = std::source_location;
  enum class Kind : std::uint8_t { integer, slice, dynamic_slice, array, newaxis, ellipsis };
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Index(T i, Source source = Source::current())
      : kind(Kind::integer), integer(static_cast<std::int64_t>(i)), source(source) {}
  Index(const Array& i, Source source = Source::current()) : kind(Kind::array), array(i), source(source) {}
  Index(const DynamicSlice& s, Source source = Source::current())
      : kind(Kind::dynamic_slice), integer(s.size), array(s.start), source(source) {}
  Index(Slice s, Source source = Source::current()) : kind(Kind::slice), range(s), source(source) {}
  Index(All, Source source = Source::current()) : kind(Kind::slice), source(source) {}
  Index(NewAxis, Source source = Source::current()) : kind(Kind::newaxis), source(source) {}
  Index(Ellipsis, Source source = Source::current()) : kind(Kind::ellipsis), source(source) {}

  Kind kind;
  std::int64_t integer = 0;  // the index, or the size of a dynamic slice
  Slice range;
  Array array;  // the index array, or the start of a dynamic slice
  Source source;
};

/// How an update treats index arrays that point outside: drop them, or clip them into the array.
enum class OutOfBounds : std::uint8_t { drop, clip };

/// A place in an Array; each update gives a changed copy, done in place where the original is no longer needed.
class At {
 public:
  At(Array base, std::vector<Index> indices) : base_(std::move(base)), indices_(std::move(indices)) {}
  /// The value at the place: same as `a[i]`.
  Array get() const;
  /// `a` with the place replaced by `v` (broadcast to it). With repeated indices the last one wins.
  Array set(const Operand& v, OutOfBounds mode = OutOfBounds::drop) const;
  Array add(const Operand& v, OutOfBounds mode = OutOfBounds::drop) const;
  Array multiply(const Operand& v, OutOfBounds mode = OutOfBounds::drop) const;
  Array min(const Operand& v, OutOfBounds mode = OutOfBounds::drop) const;
  Array max(const Operand& v, OutOfBounds mode = OutOfBounds::drop) const;

 private:
  Array base_;
  std::vector<Index> indices_;
};

}  // namespace anadrome
