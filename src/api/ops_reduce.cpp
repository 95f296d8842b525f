// Public reductions, statistics and softmax.
#include <algorithm>
#include <cmath>

#include "anadrome/ops/reduce.h"
#include "api/along.h"

namespace anadrome {

namespace {

/// A reduction with its axes settled.
struct Reduction {
  Array x;
  Ints axes;
  bool keepdims;

  /// How many elements each result is made of.
  std::int64_t count() const {
    std::int64_t n = 1;
    for (std::int64_t a : axes) n *= x.shape()[a];
    return n;
  }
  /// `y`, the reduced value, in the shape asked for.
  Array finish(const Array& y) const { return keepdims ? op::reshape(y, kept_shape()) : y; }
  /// `y` repeated along the reduced axes.
  Array spread(const Array& y) const {
    Ints dims;
    for (int k = 0; k < x.rank(); ++k)
      if (std::find(axes.begin(), axes.end(), k) == axes.end()) dims.push_back(k);
    return op::broadcast_in_dim(y, x.shape(), dims);
  }
  Shape kept_shape() const {
    Shape shape = x.shape();
    for (std::int64_t a : axes) shape[a] = 1;
    return shape;
  }
};

Reduction reduction(const Array& x, const Axes& axes, bool keepdims, std::string_view what) {
  return {x, normalize_axes(axes.list(), x.rank(), what), keepdims};
}

/// The mean in the dtype of x, which for bf16 and f16 is float32 here.
Array mean_of(const Reduction& r) {
  return op::div(op::reduce_sum(r.x, r.axes), op::number_like(static_cast<double>(r.count()), r.x));
}
/// Sum of squared distances from the mean over n - ddof.
Array spread_of(const Reduction& r, std::int64_t ddof) {
  const Array centered = op::sub(r.x, r.spread(mean_of(r)));
  return op::div(op::reduce_sum(op::mul(centered, centered), r.axes),
                 op::number_like(static_cast<double>(r.count() - ddof), r.x));
}

/// The largest elements as constants of differentiation, or 0 where they are not finite.
Array shift_of(const Reduction& r, bool finite) {
  const Array largest = op::reduce_max(op::stop_gradient(r.x), r.axes);
  return finite ? op::select(op::is_finite(largest), largest, op::zeros(largest.type())) : largest;
}

Array quantile_of(const Operand& operand, double q, const Axes& axes, bool keepdims, std::string_view what) {
  if (!(q >= 0 && q <= 1)) refuse(what, "q is " + std::to_string(q) + "; quantiles lie between 0 and 1.");
  const Reduction r = reduction(float_array(operand, what), axes, keepdims, what);
  const std::int64_t n = r.count();
  if (n == 0) return r.finish(op::full(NAN, op::reduce_sum(r.x, r.axes).type()));
  // The reduced axes last, as one.
  Ints perm;
  Shape shape;
  for (int k = 0; k < r.x.rank(); ++k)
    if (std::find(r.axes.begin(), r.axes.end(), k) == r.axes.end())
      perm.push_back(k), shape.push_back(r.x.shape()[k]);
  const Shape result = shape;
  for (std::int64_t a : r.axes) perm.push_back(a);
  shape.push_back(n);
  const int axis = result.rank();
  const Array flat = op::reshape(op::transpose(r.x, perm), shape);
  const Array sorted = op::sort(std::span(&flat, 1), axis, 1)[0];
  const auto at = [&](std::int64_t i) { return op::reshape(cut(sorted, axis, i, i + 1), result); };
  const double place = q * static_cast<double>(n - 1);
  const auto below = static_cast<std::int64_t>(std::floor(place));
  const double weight = place - static_cast<double>(below);
  Array y = at(below);
  if (weight > 0)
    y = op::add(op::mul(y, op::number_like(1 - weight, y)),
                op::mul(at(below + 1), op::number_like(weight, y)));
  const Array last = at(n - 1);  // NaN sorts last
  return r.finish(op::select(op::ne(last, last), last, y));
}

/// root(total); by default 0 with derivative 0 where the total is 0: the norm has no derivative there, but what is computed
/// from it (its square) may have one.
template <class Root>
Array root_of_total(const Array& total, NormAtZero at_zero, Root root) {
  if (at_zero == NormAtZero::nan) return root(total);
  const Array zero = op::eq(total, op::number_like(0, total));
  return op::select(zero, op::number_like(0, total), root(op::select(zero, op::number_like(1, total), total)));
}

Array power_norm(const Reduction& r, double ord, NormAtZero at_zero) {
  const Array magnitude = op::abs(r.x);
  if (ord == 1) return op::reduce_sum(magnitude, r.axes);
  if (ord == 0) return op::reduce_sum(op::convert(op::ne(r.x, op::number_like(0, r.x)), r.x.dtype()), r.axes);
  if (std::isinf(ord)) return ord > 0 ? op::reduce_max(magnitude, r.axes) : op::reduce_min(magnitude, r.axes);
  const Array powers = op::pow(magnitude, op::number_like(ord, r.x));
  const auto root = [&](const Array& total) { return op::pow(total, op::number_like(1 / ord, r.x)); };
  const Array total = op::reduce_sum(powers, r.axes);
  return ord > 0 ? root_of_total(total, at_zero, root) : root(total);
}

Array extremum(const Operand& x, const Axes& axes, bool keepdims, std::string_view what, bool largest) {
  AtSource at(x.source());
  const Reduction r = reduction(as_array(x, what), axes, keepdims, what);
  return r.finish(largest ? op::reduce_max(r.x, r.axes) : op::reduce_min(r.x, r.axes));
}

Array whether(const Operand& x, const Axes& axes, bool keepdims, std::string_view what, bool every) {
  AtSource at(x.source());
  Array a = as_array(x, what);
  if (!is_bool(a.dtype())) a = op::ne(a, op::number_like(0, a));
  const Reduction r = reduction(a, axes, keepdims, what);
  return r.finish(every ? op::reduce_and(a, r.axes) : op::reduce_or(a, r.axes));
}

}  // namespace

Array sum(const Operand& x, const Axes& axes, bool keepdims) {
  AtSource at(x.source());
  const Reduction r = reduction(number_array(x, "sum"), axes, keepdims, "sum");
  return r.finish(op::reduce_sum(r.x, r.axes));
}
Array prod(const Operand& x, const Axes& axes, bool keepdims) {
  AtSource at(x.source());
  const Reduction r = reduction(number_array(x, "prod"), axes, keepdims, "prod");
  return r.finish(op::reduce_prod(r.x, r.axes));
}
Array reduce_max(const Operand& x, const Axes& axes, bool keepdims) {
  return extremum(x, axes, keepdims, "reduce_max", true);
}
Array reduce_min(const Operand& x, const Axes& axes, bool keepdims) {
  return extremum(x, axes, keepdims, "reduce_min", false);
}
Array any(const Operand& x, const Axes& axes, bool keepdims) {
  return whether(x, axes, keepdims, "any", false);
}
Array All::operator()(const Operand& x) const {
  return whether(x, {}, false, "all", true);
}
Array All::operator()(const Operand& x, std::initializer_list<Dim> axes, bool keepdims) const {
  return whether(x, axes, keepdims, "all", true);
}

Array logsumexp(const Operand& x, const Axes& axes, bool keepdims) {
  AtSource at(x.source());
  const Reduction r = reduction(float_array(x, "logsumexp"), axes, keepdims, "logsumexp");
  const Array shift = shift_of(r, true);
  const Array total = op::reduce_sum(op::exp(op::sub(r.x, r.spread(shift))), r.axes);
  return r.finish(op::add(op::log(total), shift));
}

Array mean(const Operand& x, const Axes& axes, bool keepdims) {
  AtSource at(x.source());
  const Array a = float_array(x, "mean");
  const Reduction r = reduction(wide(a), axes, keepdims, "mean");
  return op::convert(r.finish(mean_of(r)), a.dtype());
}
Array var(const Operand& x, const Axes& axes, bool keepdims, std::int64_t ddof) {
  AtSource at(x.source());
  const Array a = float_array(x, "var");
  const Reduction r = reduction(wide(a), axes, keepdims, "var");
  if (r.count() <= ddof) return r.finish(op::full(NAN, {a.dtype(), op::reduce_sum(a, r.axes).shape()}));
  return op::convert(r.finish(spread_of(r, ddof)), a.dtype());
}
Array std(const Operand& x, const Axes& axes, bool keepdims, std::int64_t ddof) {
  AtSource at(x.source());
  const Array a = float_array(x, "std");
  const Reduction r = reduction(wide(a), axes, keepdims, "std");
  return op::convert(r.finish(op::sqrt(spread_of(r, ddof))), a.dtype());
}
Array median(const Operand& x, const Axes& axes, bool keepdims) {
  AtSource at(x.source());
  return quantile_of(x, 0.5, axes, keepdims, "median");
}
Array quantile(const Operand& x, double q, const Axes& axes, bool keepdims) {
  AtSource at(x.source());
  return quantile_of(x, q, axes, keepdims, "quantile");
}
Array norm(const Operand& x, double ord, const Axes& axes, bool keepdims, NormAtZero at_zero) {
  AtSource at(x.source());
  const Reduction r = reduction(float_array(x, "norm"), axes, keepdims, "norm");
  if (ord == 2) return r.finish(root_of_total(op::reduce_sum(op::mul(r.x, r.x), r.axes), at_zero, op::sqrt));
  return r.finish(power_norm(r, ord, at_zero));
}

Array softmax(const Operand& x, Dim axis) {
  AtSource at(x.source());
  const Reduction r = reduction(float_array(x, "softmax"), axis.value, false, "softmax");
  const Array powers = op::exp(op::sub(r.x, r.spread(shift_of(r, false))));
  return op::div(powers, r.spread(op::reduce_sum(powers, r.axes)));
}
Array log_softmax(const Operand& x, Dim axis) {
  AtSource at(x.source());
  const Reduction r = reduction(float_array(x, "log_softmax"), axis.value, false, "log_softmax");
  const Array shifted = op::sub(r.x, r.spread(shift_of(r, false)));
  return op::sub(shifted, r.spread(op::log(op::reduce_sum(op::exp(shifted), r.axes))));
}

}  // namespace anadrome
