// Public operations along one axis: positions of extremes, scans, sorting, pooling.
#include "anadrome/ops/reduce.h"
#include "api/along.h"

namespace anadrome {

namespace {

using ArgOp = Array (*)(const Array&, std::int64_t);
Array position(const Operand& x, std::optional<std::int64_t> axis, bool keepdims, std::string_view what,
               ArgOp find) {
  AtSource at(x.source());
  const Array a = as_array(x, what);
  Shape kept = a.shape();
  if (axis) {
    const int k = normalize_axis(*axis, a.rank(), what);
    kept[k] = 1;
    const Array y = find(a, k);
    return keepdims ? op::reshape(y, kept) : y;
  }
  for (std::int64_t& d : kept) d = 1;
  const Array y = find(op::reshape(a, {a.size()}), 0);
  return keepdims ? op::reshape(y, kept) : y;
}

using ScanOp = Array (*)(const Array&, std::int64_t, bool);
Array scan_along(const Array& x, Dim axis, bool reverse, std::string_view what, ScanOp scan) {
  return scan(x, normalize_axis(axis.value, x.rank(), what), reverse);
}

/// i32 indices that sort. For descending order: those of the reversed axis, reversed, which keeps equal
/// elements in order.
Array order_of(const Array& x, int axis, bool descending) {
  if (x.shape()[axis] > std::numeric_limits<std::int32_t>::max())
    refuse("argsort",
           "axis " + std::to_string(axis) + " of " + to_string(x.type()) + " is too long for i32 indices.");
  Arrays parts{x, op::iota(i32, x.shape(), axis)};
  if (descending)
    for (Array& p : parts) p = op::rev(p, {axis});
  const Array y = op::sort(parts, axis, 1)[1];
  return descending ? op::rev(y, {axis}) : y;
}

using PoolOp = Array (*)(const Array&, const ReduceWindowAttr&);
Array pool(const Operand& x, const Ints& window, const PoolOptions& options, std::string_view what,
           PoolOp reduce) {
  AtSource at(x.source());
  const Array a = number_array(x, what);
  const auto for_all_axes = [&](const Ints& list, const char* name, std::int64_t other) {
    if (list.rank() > a.rank() || (!list.empty() && list.rank() != window.rank()))
      refuse(what, std::string(name) + " " + to_string(list) + " for a window " + to_string(window) + " of " +
                       to_string(a.type()) +
                       ": one number for each axis of the window, which covers the last axes.");
    Ints full;
    for (int k = 0; k < a.rank() - list.rank(); ++k) full.push_back(other);
    for (std::int64_t v : list) full.push_back(v);
    return full;
  };
  return reduce(a,
                {for_all_axes(window, "window", 1), for_all_axes(options.strides, "strides", 1),
                 for_all_axes(options.low, "low padding", 0), for_all_axes(options.high, "high padding", 0)});
}

}  // namespace

Array argmax(const Operand& x, std::optional<std::int64_t> axis, bool keepdims) {
  return position(x, axis, keepdims, "argmax", op::argmax);
}
Array argmin(const Operand& x, std::optional<std::int64_t> axis, bool keepdims) {
  return position(x, axis, keepdims, "argmin", op::argmin);
}

Array cumsum(const Operand& x, Dim axis, bool reverse) {
  AtSource at(x.source());
  return scan_along(number_array(x, "cumsum"), axis, reverse, "cumsum", op::cumsum);
}
Array cumprod(const Operand& x, Dim axis, bool reverse) {
  AtSource at(x.source());
  return scan_along(number_array(x, "cumprod"), axis, reverse, "cumprod", op::cumprod);
}
Array cummax(const Operand& x, Dim axis, bool reverse) {
  AtSource at(x.source());
  return scan_along(number_array(x, "cummax"), axis, reverse, "cummax", op::cummax);
}
Array cummin(const Operand& x, Dim axis, bool reverse) {
  AtSource at(x.source());
  return scan_along(number_array(x, "cummin"), axis, reverse, "cummin", op::cummin);
}
Array cumlogsumexp(const Operand& x, Dim axis, bool reverse) {
  AtSource at(x.source());
  return scan_along(float_array(x, "cumlogsumexp"), axis, reverse, "cumlogsumexp", op::cumlogsumexp);
}

Array diff(const Operand& x, Dim n, Dim axis) {
  AtSource at(x.source());
  Array y = number_array(x, "diff");
  const int k = normalize_axis(axis.value, y.rank(), "diff");
  if (n.value < 0) refuse("diff", "n is " + std::to_string(n.value) + "; it counts how often, from 0.");
  for (std::int64_t i = 0; i < n.value && y.shape()[k] > 0; ++i) {
    const std::int64_t length = y.shape()[k];
    y = op::sub(cut(y, k, 1, length), cut(y, k, 0, length - 1));
  }
  return y;
}

Array sort(const Operand& x, Dim axis, bool descending) {
  AtSource at(x.source());
  const Array a = as_array(x, "sort");
  const int k = normalize_axis(axis.value, a.rank(), "sort");
  const Array y = op::sort(std::span(&a, 1), k, 1)[0];
  return descending ? op::rev(y, {k}) : y;
}
Array argsort(const Operand& x, Dim axis, bool descending) {
  AtSource at(x.source());
  const Array a = as_array(x, "argsort");
  return order_of(a, normalize_axis(axis.value, a.rank(), "argsort"), descending);
}

std::vector<Array> sort_key_val(const std::vector<Array>& arrays, std::int64_t num_keys, Dim axis,
                                std::source_location source) {
  AtSource at(source);
  if (arrays.empty()) refuse("sort_key_val", "there is no array. Give at least one.");
  for (const Array& a : arrays) check_usable(a, "sort_key_val");
  return op::sort(arrays, normalize_axis(axis.value, arrays[0].rank(), "sort_key_val"), num_keys);
}

TopK top_k(const Operand& x, std::int64_t k) {
  AtSource at(x.source());
  Arrays y = op::top_k(as_array(x, "top_k"), k);
  return {y[0], y[1]};
}

Array max_pool(const Operand& x, const Ints& window, const PoolOptions& options) {
  return pool(x, window, options, "max_pool", op::reduce_window_max);
}
Array min_pool(const Operand& x, const Ints& window, const PoolOptions& options) {
  return pool(x, window, options, "min_pool", op::reduce_window_min);
}
Array sum_pool(const Operand& x, const Ints& window, const PoolOptions& options) {
  return pool(x, window, options, "sum_pool", op::reduce_window_sum);
}

}  // namespace anadrome
