// Making arrays, and moving their elements: shapes, axes, joining, cutting, padding.
#pragma once
#include <optional>
#include <type_traits>

#include "anadrome/array.h"

namespace anadrome {

// ---- making arrays
// ---------------------------------------------------------------------------------------------------

/// A C++ number of any kind; integers keep all their bits.
struct Number {
  bool integral;
  std::int64_t integer;
  double real;
  template <ArithmeticLiteral T>
  constexpr Number(T v)
      : integral(std::is_integral_v<T>),
        integer(integral ? static_cast<std::int64_t>(v) : 0),
        real(static_cast<double>(v)) {}
};

/// Numbers in nested braces: `{1, 2}`, `{{1, 2}, {3, 4}}`, and so on.
class NestedNumbers {
 public:
  template <ArithmeticLiteral T> constexpr NestedNumbers(T v) : number_(v) {}
  constexpr NestedNumbers(std::initializer_list<NestedNumbers> rows)
      : number_(0), rows_(rows), leaf_(false) {}
  bool leaf() const { return leaf_; }
  const Number& number() const { return number_; }
  const std::initializer_list<NestedNumbers>& rows() const { return rows_; }

 private:
  Number number_;
  std::initializer_list<NestedNumbers> rows_;
  bool leaf_ = true;
};

namespace detail {
Array copied_array(DType dtype, const void* data, std::size_t count, const Shape& shape,
                   std::source_location source);
Array borrowed_array(DType dtype, const void* data, std::size_t count, const Shape& shape,
                     std::source_location source);
}  // namespace detail

/// `array({1, 2, 3})`, `array({{1, 2}, {3, 4}}, i32)`: the numbers in braces, nested once per axis. f32
/// unless a dtype is given. Throws TypeError for rows of different lengths and for numbers that the dtype
/// cannot hold.
Array array(std::initializer_list<NestedNumbers> rows, DType dtype = f32,
            std::source_location source = std::source_location::current());
/// The elements of a vector, of its element type, row-major in the given shape. Throws TypeError when the
/// shape holds another number of elements.
template <ArithmeticLiteral T>
Array array(const std::vector<T>& values, const Shape& shape,
            std::source_location source = std::source_location::current()) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<unsigned char> bytes(values.begin(), values.end());
    return detail::copied_array(DType::b1, bytes.data(), bytes.size(), shape, source);
  } else {
    return detail::copied_array(dtype_of<T>, values.data(), values.size(), shape, source);
  }
}
/// The same with one axis.
template <ArithmeticLiteral T>
Array array(const std::vector<T>& values, std::source_location source = std::source_location::current()) {
  return array(values, Shape{values.size()}, source);
}
/// A copy of the elements of a span, row-major, of its element type. Throws TypeError when the sizes differ.
template <class T>
Array array(std::span<T> values, const Shape& shape,
            std::source_location source = std::source_location::current()) {
  return detail::copied_array(dtype_of<std::remove_const_t<T>>, values.data(), values.size(), shape, source);
}
/// An array on the caller's own memory, without a copy where that is 64-byte aligned (else it copies). The
/// memory must outlive the array and all its copies, and must not change meanwhile.
template <class T>
Array borrow(std::span<T> values, const Shape& shape,
             std::source_location source = std::source_location::current()) {
  return detail::borrowed_array(dtype_of<std::remove_const_t<T>>, values.data(), values.size(), shape,
                                source);
}
/// An array of rank 0. f32 unless a dtype is given. Throws TypeError for a number that the dtype cannot hold.
Array scalar(Number value, DType dtype = f32, std::source_location source = std::source_location::current());
/// Zeros. f32 unless a dtype is given.
Array zeros(const Shape& shape, DType dtype = f32,
            std::source_location source = std::source_location::current());
/// Ones. f32 unless a dtype is given.
Array ones(const Shape& shape, DType dtype = f32,
           std::source_location source = std::source_location::current());
/// `value` everywhere; a number gives f32 and an array (broadcast to the shape) its dtype, unless one is
/// given. Differentiable in the value.
Array full(const Shape& shape, const Operand& value, std::optional<DType> dtype = {});
/// 0, 1, ..., n - 1. i32 unless a dtype is given. Throws TypeError when the dtype cannot hold the last
/// number.
Array arange(Dim n, DType dtype = i32, std::source_location source = std::source_location::current());
/// lo, lo + step, ..., before hi. i32 unless a dtype is given. Throws TypeError for step 0 and for numbers
/// that the dtype cannot hold.
Array arange(Dim lo, Dim hi, Dim step = 1, DType dtype = i32,
             std::source_location source = std::source_location::current());
namespace detail {
Array real_range(double lo, double hi, double step, DType dtype, std::source_location source);
}
/// lo, lo + step, ... of real numbers, before hi: `arange(0.0, 1.0, 0.1)`. f32 unless a dtype is given.
/// Throws TypeError for step 0 and for a dtype that is not a float.
template <ArithmeticLiteral A, ArithmeticLiteral B, ArithmeticLiteral C = int>
requires(std::floating_point<A> || std::floating_point<B> || std::floating_point<C>) Array
    arange(A lo, B hi, C step = 1, DType dtype = f32,
           std::source_location source = std::source_location::current()) {
  return detail::real_range(static_cast<double>(lo), static_cast<double>(hi), static_cast<double>(step),
                            dtype, source);
}
/// `num` numbers evenly spaced from start to stop, with stop itself when `endpoint`. f32 unless a dtype is
/// given.
Array linspace(double start, double stop, Dim num, bool endpoint = true, DType dtype = f32,
               std::source_location source = std::source_location::current());
/// The n x n identity matrix. f32 unless a dtype is given.
Array identity(Dim n, DType dtype = f32, std::source_location source = std::source_location::current());
Array eye(Dim n, DType dtype = f32, std::source_location source = std::source_location::current());
/// An n x m matrix with ones on the k-th diagonal (above the main one for positive k).
Array eye(Dim n, Dim m, Dim k = 0, DType dtype = f32,
          std::source_location source = std::source_location::current());
/// The index along one axis, in every element of an array of this shape. Integers and floats.
Array iota(DType dtype, const Shape& shape, Dim axis = 0,
           std::source_location source = std::source_location::current());
/// An array with a type and no elements, to lower a function for.
Array abstract(DType dtype, const Shape& shape);

// ---- shapes and axes (negative axes count from the end; all of these keep the dtype and are differentiable)
// ----------

/// The same elements, row-major, in another shape; one extent may be -1. Throws TypeError when the counts
/// differ.
Array reshape(const Operand& x, const Shape& shape);
/// The elements as one axis.
Array ravel(const Operand& x);
/// The axes in reverse order.
Array transpose(const Operand& x);
/// Result axis k is axis perm[k] of x. Throws TypeError when `perm` is not a permutation.
Array transpose(const Operand& x, const Ints& perm);
/// Axes a and b exchanged.
Array swapaxes(const Operand& x, Dim a, Dim b);
/// Axis `from` moved to place `to`; the others keep their order.
Array moveaxis(const Operand& x, Dim from, Dim to);
/// New axes of extent 1, at these places of the result. Throws TypeError for a place named twice.
Array expand_dims(const Operand& x, const Ints& axes);
template <std::integral T> Array expand_dims(const Operand& x, T axis) {
  return expand_dims(x, Ints{axis});
}
/// Without the axes of extent 1. Naming one of another extent throws TypeError.
Array squeeze(const Operand& x);
Array squeeze(const Operand& x, const Ints& axes);
template <std::integral T> Array squeeze(const Operand& x, T axis) {
  return squeeze(x, Ints{axis});
}
/// Axis k of x becomes axis dims[k] of the result (rising); axes of extent 1 and new axes repeat.
Array broadcast_in_dim(const Operand& x, const Shape& shape, const Ints& dims);
/// Repeats x to a shape as numpy does.
Array broadcast_to(const Operand& x, const Shape& shape);
/// The elements along these axes in reverse order; `flip(x)`: along all axes.
Array rev(const Operand& x, const Ints& axes);
Array flip(const Operand& x);
Array flip(const Operand& x, const Ints& axes);
/// Elements shifted along the axes and wrapped around; without an axis, in the flattened order.
Array roll(const Operand& x, Dim shift);
Array roll(const Operand& x, const Ints& shifts, const Ints& axes);
template <std::integral S, std::integral A> Array roll(const Operand& x, S shift, A axis) {
  return roll(x, Ints{shift}, Ints{axis});
}

// ---- joining, repeating, cutting
// -------------------------------------------------------------------------------------

/// Arrays one after the other along an axis; dtypes are promoted. Throws TypeError where the other axes
/// differ.
Array concatenate(const std::vector<Array>& parts, Dim axis = 0,
                  std::source_location source = std::source_location::current());
/// Arrays of one shape along a new axis; dtypes are promoted.
Array stack(const std::vector<Array>& parts, Dim axis = 0,
            std::source_location source = std::source_location::current());
/// Pieces between the indices: `split(x, {1, 3})` gives x[:1], x[1:3], x[3:].
std::vector<Array> split(const Operand& x, const Ints& indices, Dim axis = 0);
namespace detail {
std::vector<Array> split_sections(const Operand& x, std::int64_t sections, std::int64_t axis);
}
/// Equal pieces. Throws TypeError when the extent is not a multiple of the number of pieces.
template <std::integral T> std::vector<Array> split(const Operand& x, T sections, Dim axis = 0) {
  return detail::split_sections(x, static_cast<std::int64_t>(sections), axis.value);
}
/// The whole array repeated along each axis, as numpy does.
Array tile(const Operand& x, const Ints& repeats);
/// Each element repeated along an axis; without one, in the flattened order.
Array repeat(const Operand& x, Dim repeats);
Array repeat(const Operand& x, Dim repeats, Dim axis);

/// How one axis is padded: elements before, after, and between; negative low and high cut.
struct PadWidth {
  Dim low, high, interior = 0;
};
/// `pad(x, 0, {{1, 2}, {0, 0, 1}})`: one entry per axis. The value takes the dtype of x. Differentiable in
/// both.
Array pad(const Operand& x, const Operand& value, const std::vector<PadWidth>& widths);
/// The elements from start to before limit, every strides-th of them (1 when absent), on every axis. Throws
/// TypeError where that does not lie inside x.
Array static_slice(const Operand& x, const Ints& start, const Ints& limit);
Array static_slice(const Operand& x, const Ints& start, const Ints& limit, const Ints& strides);
/// A window of static sizes at starts that may be values of the program: a negative start counts from the
/// end, and then the window is moved to fit. Differentiable in x.
Array dynamic_slice(const Operand& x, const std::vector<Operand>& starts, const Ints& sizes);
/// x with such a window replaced by `update`. Differentiable in x and update.
Array dynamic_update_slice(const Operand& x, const Operand& update, const std::vector<Operand>& starts);

// ---- matrices
// --------------------------------------------------------------------------------------------------------

/// Zeros above the k-th diagonal of the last two axes.
Array tril(const Operand& x, Dim k = 0);
/// Zeros below the k-th diagonal of the last two axes.
Array triu(const Operand& x, Dim k = 0);
/// The k-th diagonal of a matrix, or the matrix with a vector there.
Array diag(const Operand& x, Dim k = 0);
/// The k-th diagonal of two axes, as the last axis of the result.
Array diagonal(const Operand& x, Dim k = 0, Dim axis1 = 0, Dim axis2 = 1);
/// The sum of that diagonal; integers stay integers.
Array trace(const Operand& x, Dim k = 0, Dim axis1 = 0, Dim axis2 = 1);
/// Along a new axis of extent n, one where the axis's index equals x and zero elsewhere. x must be integer.
/// f32 unless a dtype is given.
Array one_hot(const Operand& x, Dim n, DType dtype = f32, Dim axis = -1);

}  // namespace anadrome
