// take, gather, the scatters, and what is built on them.
#include <bit>
#include <limits>

#include "anadrome/ops/gather.h"
#include "api/operand.h"
#include "api/place.h"
#include "primitives/op.h"

namespace anadrome {

namespace {

Array index_array(const Operand& indices, const char* what) {
  const Array i = as_array(indices, what);
  if (!is_integer(i.dtype()))
    throw TypeError(std::string(what) + ": indices of type " + to_string(i.type()) +
                    "; they must be integers. Convert them." + at_current_source());
  return i;
}

IndexMode index_mode(TakeMode mode) {
  return mode == TakeMode::fill ? IndexMode::fill_or_drop : IndexMode::clip;
}
IndexMode index_mode(OutOfBounds mode) {
  return mode == OutOfBounds::clip ? IndexMode::clip : IndexMode::fill_or_drop;
}

/// Indices as the gather takes them: wrapped as the mode says, with a last axis for the index vectors.
Array index_column(const Array& indices, std::int64_t extent, TakeMode mode) {
  Array i = indices;
  if (mode != TakeMode::clip && item_size(i.dtype()) < 4) i = op::convert(i, DType::i32);
  if (mode == TakeMode::wrap) i = op::rem(i, op::number(static_cast<double>(extent), i.dtype()));
  if (mode != TakeMode::clip) i = wrap_index(i, extent);
  Shape shape = i.shape();
  shape.push_back(1);
  return op::reshape(i, shape);
}

/// True if nothing is to be read; throws if something is, from an axis without elements.
bool reads_nothing(const Array& x, std::int64_t axis, const Shape& result, const char* what) {
  if (x.shape()[axis] == 0 && result.elements() > 0)
    throw IndexError(std::string(what) + ": axis " + std::to_string(axis) + " of " + to_string(x.type()) +
                     " has no elements, the result " + to_string(result) +
                     " has. Index an axis that has some." + at_current_source());
  return result.elements() == 0;
}

Array take_array(const Array& x, const Array& indices, std::int64_t axis, TakeMode mode) {
  GatherAttr dims{};
  Shape result;
  for (int k = 0; k < x.rank(); ++k) {
    const int after = k > axis ? indices.rank() - 1 : 0;
    if (k != axis) dims.offset_dims.push_back(k + after);
    dims.slice_sizes.push_back(k == axis ? 1 : x.shape()[k]);
    if (k != axis)
      result.push_back(x.shape()[k]);
    else
      for (std::int64_t d : indices.shape()) result.push_back(d);
  }
  if (reads_nothing(x, axis, result, "take")) return op::zeros({x.dtype(), result, false});
  dims.collapsed_dims = dims.start_index_map = {axis};
  dims.mode = index_mode(mode);
  return op::gather(x, index_column(indices, x.shape()[axis], mode), dims);
}

/// x[i] of an array of rank 1, for indices known to fit.
Array elements_at(const Array& x, const Array& i) {
  return take_array(x, i, 0, TakeMode::clip);
}

using ScatterOp = Array (*)(const Array&, const Array&, const Array&, const ScatterAttr&);

Array scatter_with(ScatterOp apply, const char* what, const Operand& x, const Operand& indices,
                   const Operand& updates, const ScatterDims& dims, OutOfBounds mode) {
  const AtSource at(x.source());
  const Array array = as_array(x, what);
  if (common_dtype({&x, &updates}, what) != array.dtype())
    throw TypeError(std::string(what) + ": updates " +
                    (updates.is_literal() ? "" : "of type " + to_string(updates.array().type()) + " ") +
                    "for " + to_string(array.type()) + " would lose their dtype. Convert them." +
                    at_current_source());
  return apply(array, index_array(indices, what), as_dtype(updates, array.dtype(), what),
               {dims.update_window_dims, dims.inserted_window_dims, dims.scatter_dims_to_operand_dims,
                dims.operand_batching_dims, dims.scatter_indices_batching_dims, index_mode(mode)});
}

/// Whether an element stands before a query in the order of searchsorted, NaN last.
Array stands_before(const Array& element, const Array& query, Side side) {
  const Array before = side == Side::left ? op::lt(element, query) : op::le(element, query);
  if (!is_float(element.dtype())) return before;
  const Array query_is_nan = op::ne(query, query);
  if (side == Side::right) return op::bit_or(before, query_is_nan);
  return op::bit_or(before, op::bit_and(query_is_nan, op::eq(element, element)));
}

/// Compares every query with every element.
Array count_before(const Array& sorted, const Array& queries, Side side) {
  Shape all = queries.shape();
  const int last = all.rank();
  all.push_back(sorted.size());
  Ints query_axes;
  for (int k = 0; k < last; ++k) query_axes.push_back(k);
  const Array before = stands_before(op::broadcast_in_dim(sorted, all, {last}),
                                     op::broadcast_in_dim(queries, all, query_axes), side);
  return op::reduce_sum(op::convert(before, DType::i32), {last});
}

/// Bisection: steps of halving length, each taken where the element before its end stands before the query.
Array bisect(const Array& sorted, const Array& queries, Side side) {
  const std::int64_t n = sorted.size();
  const DType dtype = index_dtype({2 * n});
  const auto number = [&](std::int64_t v) { return op::number(static_cast<double>(v), dtype); };
  Array found = op::full(0, {dtype, queries.shape(), false});
  for (auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n))); step > 0;
       step /= 2) {
    const Array end = op::add(found, number(step));
    const Array element = elements_at(sorted, op::sub(end, number(1)));
    const Array taken = op::bit_and(op::le(end, number(n)), stands_before(element, queries, side));
    found = op::select(taken, end, found);
  }
  return found;
}

Array search(const Array& sorted, const Array& queries, Side side) {
  constexpr std::int64_t few = 32;
  return sorted.size() <= few ? count_before(sorted, queries, side) : bisect(sorted, queries, side);
}

}  // namespace

Array take(const Operand& x, const Operand& indices, std::int64_t axis, TakeMode mode) {
  const AtSource at(x.source());
  const Array array = as_array(x, "take");
  return take_array(array, index_array(indices, "take"), normalize_axis(axis, array.rank(), "take"), mode);
}

Array take(const Operand& x, const Operand& indices, TakeMode mode) {
  const AtSource at(x.source());
  const Array array = as_array(x, "take");
  return take_array(op::reshape(array, {array.size()}), index_array(indices, "take"), 0, mode);
}

Array take_along_axis(const Operand& x, const Operand& indices, std::int64_t axis, TakeMode mode) {
  constexpr const char* what = "take_along_axis";
  const AtSource at(x.source());
  Array array = as_array(x, what), index = index_array(indices, what);
  if (array.rank() != index.rank())
    throw TypeError(std::string(what) + ": indices " + to_string(index.type()) + " for " +
                    to_string(array.type()) + "; they must have the same number of axes." +
                    at_current_source());
  const int a = normalize_axis(axis, array.rank(), what);
  Shape x_rest = array.shape(), index_rest = index.shape();
  x_rest[a] = index_rest[a] = 1;
  Shape shape = broadcast_shapes(x_rest, index_rest, what), x_shape = shape;
  shape[a] = index.shape()[a];
  x_shape[a] = array.shape()[a];
  array = broadcast_to_shape(array, x_shape, what);
  index = broadcast_to_shape(index, shape, what);
  if (reads_nothing(array, a, shape, what)) return op::zeros({array.dtype(), shape, false});
  GatherAttr dims{};
  for (int k = 0; k < array.rank(); ++k) {
    dims.slice_sizes.push_back(1);
    if (k != a) dims.operand_batching_dims.push_back(k);
  }
  dims.indices_batching_dims = dims.operand_batching_dims;
  dims.collapsed_dims = dims.start_index_map = {a};
  dims.mode = index_mode(mode);
  return op::gather(array, index_column(index, array.shape()[a], mode), dims);
}

Array gather(const Operand& x, const Operand& indices, const GatherDims& dims, const Ints& slice_sizes,
             GatherMode mode) {
  const AtSource at(x.source());
  return op::gather(as_array(x, "gather"), index_array(indices, "gather"),
                    {dims.offset_dims, dims.collapsed_slice_dims, dims.start_index_map,
                     dims.operand_batching_dims, dims.start_indices_batching_dims, slice_sizes,
                     mode == GatherMode::clip ? IndexMode::clip : IndexMode::fill_or_drop});
}

Array scatter(const Operand& x, const Operand& indices, const Operand& updates, const ScatterDims& dims,
              OutOfBounds mode) {
  return scatter_with(op::scatter, "scatter", x, indices, updates, dims, mode);
}
Array scatter_add(const Operand& x, const Operand& indices, const Operand& updates, const ScatterDims& dims,
                  OutOfBounds mode) {
  return scatter_with(op::scatter_add, "scatter_add", x, indices, updates, dims, mode);
}
Array scatter_mul(const Operand& x, const Operand& indices, const Operand& updates, const ScatterDims& dims,
                  OutOfBounds mode) {
  return scatter_with(op::scatter_mul, "scatter_mul", x, indices, updates, dims, mode);
}
Array scatter_min(const Operand& x, const Operand& indices, const Operand& updates, const ScatterDims& dims,
                  OutOfBounds mode) {
  return scatter_with(op::scatter_min, "scatter_min", x, indices, updates, dims, mode);
}
Array scatter_max(const Operand& x, const Operand& indices, const Operand& updates, const ScatterDims& dims,
                  OutOfBounds mode) {
  return scatter_with(op::scatter_max, "scatter_max", x, indices, updates, dims, mode);
}

Array searchsorted(const Operand& sorted, const Operand& queries, Side side) {
  constexpr const char* what = "searchsorted";
  const AtSource at(sorted.source());
  const DType dtype = common_dtype({&sorted, &queries}, what);
  const Array a = as_dtype(sorted, dtype, what), q = as_dtype(queries, dtype, what);
  if (a.rank() != 1)
    throw TypeError(std::string(what) + ": sorted values of type " + to_string(a.type()) +
                    "; they must have one axis. Use vmap for several rows." + at_current_source());
  return search(op::stop_gradient(a), op::stop_gradient(q), side);
}

Array segment_sum(const Operand& x, const Operand& ids, std::int64_t num_segments) {
  constexpr const char* what = "segment_sum";
  const AtSource at(x.source());
  const Array array = as_array(x, what), segments = index_array(ids, what);
  if (array.rank() == 0 || segments.rank() != 1 || segments.shape()[0] != array.shape()[0] ||
      num_segments < 0)
    throw TypeError(std::string(what) + ": ids of type " + to_string(segments.type()) + " and " +
                    std::to_string(num_segments) + " segments for " + to_string(array.type()) +
                    "; give one id for each entry of axis 0, and no negative number of segments." +
                    at_current_source());
  Type type = array.type();
  type.shape[0] = num_segments;
  if (type.elements() == 0 || array.size() == 0) return op::zeros(type);
  ScatterAttr dims{};
  for (int k = 1; k < array.rank(); ++k) dims.update_window_dims.push_back(k);
  dims.inserted_dims = dims.scatter_dims = {0};
  dims.mode = IndexMode::fill_or_drop;
  return op::scatter_add(op::zeros(type), op::reshape(segments, {segments.size(), 1}), array, dims);
}

Array interp(const Operand& x, const Operand& xp, const Operand& fp) {
  constexpr const char* what = "interp";
  const AtSource at(x.source());
  DType dtype = common_dtype({&x, &xp, &fp}, what);
  if (!is_float(dtype)) dtype = DType::f32;
  const Array at_x = as_dtype(x, dtype, what), knots = as_dtype(xp, dtype, what),
              values = as_dtype(fp, dtype, what);
  if (knots.rank() != 1 || knots.shape() != values.shape() || knots.size() == 0)
    throw TypeError(std::string(what) + ": points of types " + to_string(knots.type()) + " and " +
                    to_string(values.type()) + "; give two arrays of one axis, equally long and not empty." +
                    at_current_source());
  const std::int64_t n = knots.size();
  const Array first = op::reshape(op::slice(values, {0}, {1}, {1}), {});
  const Array last = op::reshape(op::slice(values, {n - 1}, {n}, {1}), {});
  if (n == 1) return op::broadcast_scalar(first, at_x.shape());
  const Array found = search(op::stop_gradient(knots), op::stop_gradient(at_x), Side::right);
  const auto number = [&](std::int64_t v) { return op::number(static_cast<double>(v), found.dtype()); };
  const Array right = op::clamp(number(1), found, number(n - 1)), left = op::sub(right, number(1));
  const Array x0 = elements_at(knots, left), y0 = elements_at(values, left);
  const Array dx = op::sub(elements_at(knots, right), x0), dy = op::sub(elements_at(values, right), y0);
  const Array one = op::full(1, dx.type()), zero = op::number_like(0, dx);
  const Array flat = op::eq(dx, zero);  // repeated knots: a jump
  const Array slope_part = op::mul(op::div(op::sub(at_x, x0), op::select(flat, one, dx)), dy);
  const Array inner = op::select(flat, y0, op::add(y0, slope_part));
  const Array begin = op::reshape(op::slice(knots, {0}, {1}, {1}), {});
  const Array end = op::reshape(op::slice(knots, {n - 1}, {n}, {1}), {});
  const Array low = op::select(op::lt(at_x, begin), op::broadcast_scalar(first, at_x.shape()), inner);
  return op::select(op::gt(at_x, end), op::broadcast_scalar(last, at_x.shape()), low);
}

}  // namespace anadrome
