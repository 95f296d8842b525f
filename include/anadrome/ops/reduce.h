// Operations along axes: reductions, statistics, softmax, scans, sorting, pooling.
//
// Negative axes count from the end. `Axes` accepts one axis, a list `{0, 2}`, or nothing: all axes. The
// reduced axes disappear, or stay with extent 1 when `keepdims` is true. Float results are differentiable to
// any order unless a line says otherwise. Every function throws TypeError for an axis that does not exist or
// is named twice, for complex arrays and for an empty handle.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "anadrome/array.h"

namespace anadrome {

/// Axes of an operation: none given means all.
class Axes {
 public:
  Axes() = default;
  template <std::integral T>
  requires(!std::same_as<T, bool>) Axes(T axis) : list_(Ints{axis}) {}
  Axes(std::initializer_list<Dim> axes) : list_(Ints(axes)) {}
  Axes(const Ints& axes) : list_(axes) {}
  Axes(const std::optional<Ints>& axes) : list_(axes) {}
  const std::optional<Ints>& list() const { return list_; }

 private:
  std::optional<Ints> list_;
};

// ---- reductions
// -----------------------------------------------------------------------------------------------------

/// The sum; integers keep their dtype (and wrap), b1 gives i32. Floats are summed in double and rounded once.
Array sum(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// The product; integers keep their dtype (and wrap), b1 gives i32. The derivative is right where factors are
/// zero.
Array prod(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// The largest element, NaN if there is one. The derivative is shared evenly by all elements that attain it.
Array reduce_max(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// The smallest element, NaN if there is one. The derivative is shared evenly by all elements that attain it.
Array reduce_min(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// True where some element differs from 0; b1. `all(x, axes, keepdims)` is its counterpart.
Array any(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// log(sum(exp(x))) without overflow; integers give f32. -inf for no elements or where all are -inf.
Array logsumexp(const Operand& x, const Axes& axes = {}, bool keepdims = false);

// ---- statistics
// -----------------------------------------------------------------------------------------------------

/// The mean; integers and b1 give f32. NaN for no elements.
Array mean(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// The mean of squared distances from the mean, divided by n - ddof; integers give f32. NaN where n <= ddof.
Array var(const Operand& x, const Axes& axes = {}, bool keepdims = false, std::int64_t ddof = 0);
/// The square root of the variance; its derivative is NaN where all elements are equal.
Array std(const Operand& x, const Axes& axes = {}, bool keepdims = false, std::int64_t ddof = 0);
/// The middle element of the sorted ones, or the mean of the two in the middle; integers give f32. NaN where
/// an element is NaN.
Array median(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// The q-quantile, q in [0, 1], linear between neighbours of the sorted elements; integers give f32. NaN
/// where an element is NaN.
Array quantile(const Operand& x, double q, const Axes& axes = {}, bool keepdims = false);
/// The gradient of a norm of order 2 or p > 1 at 0: 0, a subgradient, with which functions of the norm that do have a
/// derivative there (its square) get the right one; or NaN, as JAX has it, to notice that a norm became 0.
enum class NormAtZero : std::uint8_t { subgradient, nan };
/// (sum |x|^ord)^(1/ord) over the axes: 2 is the Euclidean (of a matrix the Frobenius) norm; 1, 0 (how many
/// differ from 0), infinity and -infinity (largest and smallest magnitude) are meant as in numpy for vectors.
/// Integers give f32. There is no derivative at 0: `at_zero` says what stands for it.
Array norm(const Operand& x, double ord = 2, const Axes& axes = {}, bool keepdims = false,
           NormAtZero at_zero = NormAtZero::subgradient);

// ---- softmax
// --------------------------------------------------------------------------------------------------------

/// exp(x) / sum(exp(x)) along an axis; integers give f32.
Array softmax(const Operand& x, Dim axis = -1);
/// log(softmax(x)), accurate where softmax is small; integers give f32.
Array log_softmax(const Operand& x, Dim axis = -1);

// ---- positions
// ------------------------------------------------------------------------------------------------------

/// i32 index of the first largest element (the first NaN, if any) along the axis, or of all elements in
/// row-major order. Throws TypeError where there is no element. Not differentiable.
Array argmax(const Operand& x, std::optional<std::int64_t> axis = {}, bool keepdims = false);
/// i32 index of the first smallest element (the first NaN, if any).
Array argmin(const Operand& x, std::optional<std::int64_t> axis = {}, bool keepdims = false);

// ---- scans: inclusive, from the front or in reverse
// ---------------------------------------------------------------

/// Running sums; integers keep their dtype, b1 gives i32.
Array cumsum(const Operand& x, Dim axis = 0, bool reverse = false);
/// Running products; integers keep their dtype, b1 gives i32.
Array cumprod(const Operand& x, Dim axis = 0, bool reverse = false);
/// Running maxima; NaN stays from where it appears on.
Array cummax(const Operand& x, Dim axis = 0, bool reverse = false);
/// Running minima; NaN stays from where it appears on.
Array cummin(const Operand& x, Dim axis = 0, bool reverse = false);
/// Running log(sum(exp(x))); integers give f32.
Array cumlogsumexp(const Operand& x, Dim axis = 0, bool reverse = false);
/// Differences of neighbours, n times; integers keep their dtype.
Array diff(const Operand& x, Dim n = 1, Dim axis = -1);

// ---- sorting
// --------------------------------------------------------------------------------------------------------

/// The elements in ascending order, NaN last, -0 equal to 0; stable. Descending: exactly the reverse.
Array sort(const Operand& x, Dim axis = -1, bool descending = false);
/// i32 indices that sort; stable in both directions, so that equal elements keep their order. Not
/// differentiable.
Array argsort(const Operand& x, Dim axis = -1, bool descending = false);
/// Sorts arrays of one shape together by the first `num_keys` of them.
std::vector<Array> sort_key_val(const std::vector<Array>& arrays, std::int64_t num_keys = 1, Dim axis = -1,
                                std::source_location source = std::source_location::current());
/// The k largest along the last axis and their i32 indices, largest first; NaN counts as largest.
struct TopK {
  Array values, indices;
};
TopK top_k(const Operand& x, std::int64_t k);

// ---- pooling: `window` (and strides, padding) for the last axes; no strides: 1; padding counts as the
// neutral element

/// Strides (none: 1), and padding in front of each axis and behind it (none: 0).
struct PoolOptions {
  Ints strides, low, high;
};
/// The largest element of each window; where several attain it the first one carries the derivative.
Array max_pool(const Operand& x, const Ints& window, const PoolOptions& options = {});
/// The smallest element of each window.
Array min_pool(const Operand& x, const Ints& window, const PoolOptions& options = {});
/// The sum of each window.
Array sum_pool(const Operand& x, const Ints& window, const PoolOptions& options = {});

}  // namespace anadrome
