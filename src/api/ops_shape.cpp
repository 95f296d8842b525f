// Public operations that move elements: shapes, axes, joining, cutting, padding, diagonals.
#include <algorithm>

#include "anadrome/ops/shape.h"
#include "api/operand.h"
#include "primitives/batching.h"

namespace anadrome {

namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw TypeError(text + at_current_source());
}

Ints filled(int rank, std::int64_t value) {
  Ints list;
  list.resize(static_cast<std::size_t>(rank), value);
  return list;
}

/// Elements [from, to) along one axis.
Array cut(const Array& x, int axis, std::int64_t from, std::int64_t to) {
  Ints start = filled(x.rank(), 0), limit = x.shape();
  start[axis] = from;
  limit[axis] = to;
  return op::slice(x, start, limit, filled(x.rank(), 1));
}

/// Wrapped axes in the given order; an axis named twice is refused.
Ints ordered_axes(const Ints& axes, int rank, const char* what) {
  Ints result;
  for (std::int64_t a : axes) {
    const std::int64_t axis = normalize_axis(a, rank, what);
    if (std::find(result.begin(), result.end(), axis) != result.end())
      refuse(std::string(what) + ": axis " + std::to_string(a) + " is named twice in " + to_string(axes) +
             ".");
    result.push_back(axis);
  }
  return result;
}

Array with_new_axes(const Array& x, const Ints& axes, const char* what) {
  Ints places = ordered_axes(axes, x.rank() + static_cast<int>(axes.size()), what);
  std::sort(places.begin(), places.end());
  Shape shape = x.shape();
  for (std::int64_t p : places) shape.insert(static_cast<std::size_t>(p), 1);
  return op::reshape(x, shape);
}

Array without_axes(const Array& x, const Ints& axes, const char* what) {
  Ints gone = ordered_axes(axes, x.rank(), what);
  std::sort(gone.begin(), gone.end());
  Shape shape = x.shape();
  for (std::size_t i = gone.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(gone[i]);
    if (shape[axis] != 1)
      refuse(std::string(what) + ": axis " + std::to_string(axis) + " of " + to_string(x.type()) +
             " has extent " + std::to_string(shape[axis]) + ". Only axes of extent 1 can be dropped.");
    shape.erase(axis);
  }
  return op::reshape(x, shape);
}

Array rolled(const Array& x, std::int64_t shift, int axis) {
  const std::int64_t n = x.shape()[axis];
  if (n == 0) return x;
  const std::int64_t k = ((shift % n) + n) % n;
  if (k == 0) return x;
  return op::concatenate(Arrays{cut(x, axis, n - k, n), cut(x, axis, 0, n - k)}, axis);
}

/// The parts as arrays of their common dtype.
Arrays joinable(const std::vector<Array>& parts, const char* what) {
  if (parts.empty()) refuse(std::string(what) + ": no parts. Give at least one array.");
  Arrays result;
  DType dtype{};
  for (const Array& part : parts) {
    result.push_back(as_array(part, what));
    dtype = result.size() == 1 ? part.dtype() : promote(dtype, part.dtype());
  }
  for (Array& part : result) part = op::convert(part, dtype);
  return result;
}

std::vector<Array> pieces(const Array& x, int axis, const Ints& bounds) {
  const std::int64_t n = x.shape()[axis];
  std::vector<Array> result;
  std::int64_t from = 0;
  for (std::size_t i = 0; i <= bounds.size(); ++i) {
    std::int64_t to = i < bounds.size() ? bounds[i] : n;
    if (to < 0) to += n;
    to = std::clamp<std::int64_t>(to, 0, n);
    result.push_back(cut(x, axis, std::min(from, to), to));
    from = to;
  }
  return result;
}

/// A start with negative values counted from the end.
Array wrapped_start(const Operand& start, std::int64_t extent, const char* what) {
  if (start.is_literal()) {
    if (start.literal_kind() != DType::i64 && start.literal_kind() != DType::u64)
      refuse(std::string(what) + ": a start must be an integer.");
    std::int64_t v = start.integer();
    if (v < 0 && start.literal_kind() == DType::i64) v += extent;
    const bool huge = v < 0 && start.literal_kind() == DType::u64;
    return literal(Literal::of_integer(huge ? extent : std::clamp<std::int64_t>(v, 0, extent),
                                       extent > std::numeric_limits<std::int32_t>::max() ? i64 : i32));
  }
  Array s = as_array(start, what);
  if (s.rank() != 0 || !is_integer(s.dtype()))
    refuse(std::string(what) + ": a start must be an integer scalar, not " + to_string(s.type()) + ".");
  if (is_unsigned(s.dtype())) return s;
  const DType wide = extent > std::numeric_limits<std::int32_t>::max() || s.dtype() == i64 ? i64 : i32;
  s = op::convert(s, wide);
  const Array n = literal(Literal::of_integer(extent, wide));
  return op::select(op::lt(s, op::number_like(0, s)), op::add(s, n), s);
}

Arrays wrapped_starts(const std::vector<Operand>& starts, const Shape& shape, const char* what) {
  if (starts.size() != shape.size())
    refuse(std::string(what) + ": " + std::to_string(starts.size()) + " starts for the shape " +
           to_string(shape) + ". Give one per axis.");
  Arrays result;
  for (std::size_t k = 0; k < starts.size(); ++k) result.push_back(wrapped_start(starts[k], shape[k], what));
  return result;
}

/// x where row + k >= column (or row + k < column) in the last two axes, else 0.
Array triangle(const Operand& operand, std::int64_t k, bool lower, const char* what) {
  const Array x = as_array(operand, what);
  if (x.rank() < 2) refuse(std::string(what) + ": needs a matrix, not " + to_string(x.type()) + ".");
  const Shape matrix(x.shape().end() - 2, x.shape().end());
  const Array row = op::add(op::iota(i32, matrix, 0), op::number(static_cast<double>(k), i32));
  const Array column = op::iota(i32, matrix, 1);
  const Array keep = lower ? op::ge(row, column) : op::le(row, column);
  const Array mask = op::broadcast_in_dim(keep, x.shape(), axes_between(x.rank() - 2, x.rank()));
  return op::select(mask, x, op::number_like(0, x));
}

/// The k-th diagonal of the last two axes: a strided slice of the rows that meet it, laid end to end.
Array last_diagonal(const Array& x, std::int64_t k) {
  const int rank = x.rank();
  const std::int64_t n = x.shape()[rank - 2], m = x.shape()[rank - 1];
  const std::int64_t row = std::clamp<std::int64_t>(-k, 0, n), column = std::clamp<std::int64_t>(k, 0, m);
  const std::int64_t length = std::min(n - row, m - column);
  const Array block = cut(cut(x, rank - 2, row, row + length), rank - 1, column, m);
  Shape flat(block.shape().begin(), block.shape().end() - 1);
  flat[rank - 2] = length * (m - column);
  Ints limit = flat, strides = filled(rank - 1, 1);
  strides[rank - 2] = m - column + 1;
  limit[rank - 2] = length == 0 ? 0 : (length - 1) * (m - column + 1) + 1;
  return op::slice(op::reshape(block, flat), filled(rank - 1, 0), limit, strides);
}

/// The matrix with a vector on its k-th diagonal: padding alone.
Array on_diagonal(const Array& v, std::int64_t k) {
  const std::int64_t n = v.size(), shift = k < 0 ? -k : k;
  const Array zero = op::number_like(0, v);
  Array square = op::reshape(op::pad(v, zero, {0}, {0}, {n}), {n, n});
  return k < 0 ? op::pad(square, zero, {shift, 0}, {0, shift}, {0, 0})
               : op::pad(square, zero, {0, shift}, {shift, 0}, {0, 0});
}

Array diagonal_of(const Array& x, std::int64_t k, std::int64_t axis1, std::int64_t axis2, const char* what) {
  if (x.rank() < 2) refuse(std::string(what) + ": needs two axes, not " + to_string(x.type()) + ".");
  const int a = normalize_axis(axis1, x.rank(), what), b = normalize_axis(axis2, x.rank(), what);
  if (a == b) refuse(std::string(what) + ": axis " + std::to_string(a) + " is named twice. Name two axes.");
  Ints perm;
  for (int d = 0; d < x.rank(); ++d)
    if (d != a && d != b) perm.push_back(d);
  perm.push_back(a);
  perm.push_back(b);
  return last_diagonal(op::transpose(x, perm), k);
}

}  // namespace

// ---- shapes and axes
// ------------------------------------------------------------------------------------------------

Array reshape(const Operand& operand, const Shape& wanted) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "reshape");
  Shape shape = wanted;
  int open = -1;
  std::int64_t known = 1;
  for (int k = 0; k < shape.rank(); ++k) {
    if (shape[k] == -1 && open < 0)
      open = k;
    else
      known *= shape[k];
  }
  if (open >= 0) {
    if (known <= 0 || x.size() % known != 0)
      refuse("reshape: " + to_string(x.type()) + " has " + std::to_string(x.size()) + " elements; -1 in " +
             to_string(wanted) + " has no value that fits. Give every extent.");
    shape[open] = x.size() / known;
  }
  return op::reshape(x, shape);
}

Array ravel(const Operand& operand) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "ravel");
  return op::reshape(x, {x.size()});
}

Array transpose(const Operand& operand) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "transpose");
  Ints perm = axes_between(0, x.rank());
  std::reverse(perm.begin(), perm.end());
  return op::transpose(x, perm);
}

Array transpose(const Operand& operand, const Ints& perm) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "transpose");
  return op::transpose(x, ordered_axes(perm, x.rank(), "transpose"));
}

Array swapaxes(const Operand& operand, Dim a, Dim b) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "swapaxes");
  Ints perm = axes_between(0, x.rank());
  std::swap(perm[normalize_axis(a.value, x.rank(), "swapaxes")],
            perm[normalize_axis(b.value, x.rank(), "swapaxes")]);
  return op::transpose(x, perm);
}

Array moveaxis(const Operand& operand, Dim from, Dim to) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "moveaxis");
  return op::move_axis(x, normalize_axis(from.value, x.rank(), "moveaxis"),
                       normalize_axis(to.value, x.rank(), "moveaxis"));
}

Array expand_dims(const Operand& x, const Ints& axes) {
  AtSource at(x.source());
  return with_new_axes(as_array(x, "expand_dims"), axes, "expand_dims");
}
Array expand_dims(const Operand& x, Dim axis) {
  return expand_dims(x, Ints{axis});
}

Array squeeze(const Operand& operand) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "squeeze");
  Shape shape;
  for (std::int64_t d : x.shape())
    if (d != 1) shape.push_back(d);
  return op::reshape(x, shape);
}
Array squeeze(const Operand& x, const Ints& axes) {
  AtSource at(x.source());
  return without_axes(as_array(x, "squeeze"), axes, "squeeze");
}
Array squeeze(const Operand& x, Dim axis) {
  return squeeze(x, Ints{axis});
}

Array broadcast_in_dim(const Operand& x, const Shape& shape, const Ints& dims) {
  AtSource at(x.source());
  return op::broadcast_in_dim(as_array(x, "broadcast_in_dim"), shape, dims);
}

Array broadcast_to(const Operand& x, const Shape& shape) {
  AtSource at(x.source());
  return broadcast_to_shape(as_array(x, "broadcast_to"), shape, "broadcast_to");
}

Array rev(const Operand& operand, const Ints& axes) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "rev");
  return op::rev(x, ordered_axes(axes, x.rank(), "rev"));
}

Array flip(const Operand& operand) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "flip");
  return op::rev(x, axes_between(0, x.rank()));
}
Array flip(const Operand& x, const Ints& axes) {
  AtSource at(x.source());
  return rev(x, axes);
}

Array roll(const Operand& operand, Dim shift) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "roll");
  return op::reshape(rolled(op::reshape(x, {x.size()}), shift.value, 0), x.shape());
}
Array roll(const Operand& operand, const Ints& shifts, const Ints& axes) {
  AtSource at(operand.source());
  Array x = as_array(operand, "roll");
  if (shifts.size() != axes.size())
    refuse("roll: " + std::to_string(shifts.size()) + " shifts and " + std::to_string(axes.size()) +
           " axes. Give one shift per axis.");
  for (std::size_t i = 0; i < axes.size(); ++i)
    x = rolled(x, shifts[i], normalize_axis(axes[i], x.rank(), "roll"));
  return x;
}

// ---- joining, repeating, cutting
// --------------------------------------------------------------------------------------

Array concatenate(const std::vector<Array>& parts, Dim axis, std::source_location source) {
  AtSource at(source);
  const Arrays arrays = joinable(parts, "concatenate");
  return op::concatenate(arrays, normalize_axis(axis.value, arrays[0].rank(), "concatenate"));
}

Array stack(const std::vector<Array>& parts, Dim axis, std::source_location source) {
  AtSource at(source);
  Arrays arrays = joinable(parts, "stack");
  const int place = normalize_axis(axis.value, arrays[0].rank() + 1, "stack");
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (parts[i].shape() != parts[0].shape())
      refuse("stack: part 0 is " + to_string(parts[0].type()) + ", part " + std::to_string(i) + " is " +
             to_string(parts[i].type()) + "; parts must have one shape.");
    arrays[i] = with_new_axes(arrays[i], {place}, "stack");
  }
  return op::concatenate(arrays, place);
}

std::vector<Array> split(const Operand& operand, const Ints& indices, Dim axis) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "split");
  return pieces(x, normalize_axis(axis.value, x.rank(), "split"), indices);
}

std::vector<Array> detail::split_sections(const Operand& operand, std::int64_t sections, std::int64_t along) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "split");
  const int axis = normalize_axis(along, x.rank(), "split");
  const std::int64_t n = x.shape()[axis];
  if (sections <= 0 || n % sections != 0)
    refuse("split: axis " + std::to_string(axis) + " of " + to_string(x.type()) + " has " +
           std::to_string(n) + " elements, which " + std::to_string(sections) +
           " equal pieces do not make. Give the indices instead.");
  Ints bounds;
  for (std::int64_t i = 1; i < sections; ++i) bounds.push_back(i * (n / sections));
  return pieces(x, axis, bounds);
}

Array tile(const Operand& operand, const Ints& repeats) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "tile");
  Ints counts = repeats;
  Shape shape = x.shape();
  while (counts.rank() < shape.rank()) counts.insert(0, 1);
  while (shape.rank() < counts.rank()) shape.insert(0, 1);
  Shape spread, result;
  Ints dims;
  for (int k = 0; k < shape.rank(); ++k) {
    if (counts[k] < 0) refuse("tile: negative count in " + to_string(repeats) + ".");
    if (counts[k] != 1) spread.push_back(counts[k]);
    dims.push_back(spread.rank());
    spread.push_back(shape[k]);
    result.push_back(counts[k] * shape[k]);
  }
  return op::reshape(op::broadcast_in_dim(op::reshape(x, shape), spread, dims), result);
}

Array repeat(const Operand& operand, Dim repeats) {
  AtSource at(operand.source());
  return repeat(ravel(operand), repeats, 0);
}

Array repeat(const Operand& operand, Dim repeats, Dim along) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "repeat");
  const int axis = normalize_axis(along.value, x.rank(), "repeat");
  if (repeats.value < 0) refuse("repeat: negative count " + std::to_string(repeats.value) + ".");
  Shape result = x.shape();
  result[axis] *= repeats.value;
  return op::reshape(op::broadcast_axis(x, axis + 1, repeats.value), result);
}

Array pad(const Operand& operand, const Operand& value, const std::vector<PadWidth>& widths) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "pad");
  Ints low, high, interior;
  for (const PadWidth& w : widths) {
    low.push_back(w.low.value);
    high.push_back(w.high.value);
    interior.push_back(w.interior.value);
  }
  return op::pad(x, as_dtype(value, x.dtype(), "pad"), low, high, interior);
}

Array static_slice(const Operand& x, const Ints& start, const Ints& limit) {
  AtSource at(x.source());
  return static_slice(x, start, limit, filled(start.rank(), 1));
}
Array static_slice(const Operand& x, const Ints& start, const Ints& limit, const Ints& strides) {
  AtSource at(x.source());
  return op::slice(as_array(x, "static_slice"), start, limit, strides);
}

Array dynamic_slice(const Operand& operand, const std::vector<Operand>& starts, const Ints& sizes) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "dynamic_slice");
  return op::dynamic_slice(x, wrapped_starts(starts, x.shape(), "dynamic_slice"), sizes);
}

Array dynamic_update_slice(const Operand& operand, const Operand& update,
                           const std::vector<Operand>& starts) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "dynamic_update_slice");
  return op::dynamic_update_slice(x, as_dtype(update, x.dtype(), "dynamic_update_slice"),
                                  wrapped_starts(starts, x.shape(), "dynamic_update_slice"));
}

// ---- matrices
// ---------------------------------------------------------------------------------------------------------

Array tril(const Operand& x, Dim k) {
  AtSource at(x.source());
  return triangle(x, k.value, true, "tril");
}

Array triu(const Operand& x, Dim k) {
  AtSource at(x.source());
  return triangle(x, k.value, false, "triu");
}

Array diag(const Operand& operand, Dim k) {
  AtSource at(operand.source());
  const Array x = as_array(operand, "diag");
  if (x.rank() == 1) return on_diagonal(x, k.value);
  if (x.rank() == 2) return last_diagonal(x, k.value);
  refuse("diag: needs a vector or a matrix, not " + to_string(x.type()) + ". Use diagonal for more axes.");
}

Array diagonal(const Operand& x, Dim k, Dim axis1, Dim axis2) {
  AtSource at(x.source());
  return diagonal_of(as_array(x, "diagonal"), k.value, axis1.value, axis2.value, "diagonal");
}

Array trace(const Operand& x, Dim k, Dim axis1, Dim axis2) {
  AtSource at(x.source());
  Array d = diagonal_of(as_array(x, "trace"), k.value, axis1.value, axis2.value, "trace");
  if (is_bool(d.dtype())) d = op::convert(d, i32);
  return op::reduce_sum(d, {d.rank() - 1});
}

Array one_hot(const Operand& operand, Dim n, DType dtype, Dim axis) {
  AtSource at(operand.source());
  Array x = as_array(operand, "one_hot");
  if (!is_integer(x.dtype())) refuse("one_hot: needs integers, not " + to_string(x.type()) + ".");
  if (item_size(x.dtype()) < 4) x = op::convert(x, i32);  // so that the count fits
  const int place = normalize_axis(axis.value, x.rank() + 1, "one_hot");
  const Array spread = op::broadcast_axis(x, place, n.value);
  return op::convert(op::eq(spread, op::iota(x.dtype(), spread.shape(), place)), dtype);
}

}  // namespace anadrome
