// Public operations that make arrays from numbers and memory.
#include <cmath>
#include <cstring>
#include <limits>

#include "anadrome/ops/shape.h"
#include "anadrome/tree.h"
#include "api/operand.h"
#include "primitives/op.h"

namespace anadrome {

namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw TypeError(text + at_current_source());
}

void check_dtype(DType dtype, const char* what) {
  if (is_complex(dtype)) refuse(std::string(what) + ": no support for " + std::string(tag(dtype)) + " yet.");
}

/// Outside every recorded function a bare literal becomes an ordinary array.
Array settled(const Array& a) {
  if (!is_literal(a) || current_scope()) return a;
  Array result = uninitialized(a.type());
  a.node()->literal.store(mutable_data(result));
  return result;
}

bool holds(DType dtype, std::int64_t v) {
  if (dtype == DType::b1) return v == 0 || v == 1;
  if (!is_integer(dtype)) return true;
  const int bits = 8 * static_cast<int>(item_size(dtype));
  if (is_signed(dtype))
    return bits == 64 || (v >= -(std::int64_t{1} << (bits - 1)) && v < (std::int64_t{1} << (bits - 1)));
  return v >= 0 && (bits == 64 || v < (std::int64_t{1} << bits));
}

Literal element_of(const Number& n, DType dtype, const char* what) {
  if (is_float(dtype)) return Literal::of(n.real, dtype);
  const bool whole = n.integral || (std::abs(n.real) < 9e18 && std::trunc(n.real) == n.real);
  const std::int64_t v = n.integral ? n.integer : whole ? static_cast<std::int64_t>(n.real) : 0;
  const bool wide = dtype == DType::u64 && n.integral && n.real >= 0;  // all 64 bits
  if (!whole || !(wide || holds(dtype, v)))
    refuse(std::string(what) + ": " + (n.integral ? std::to_string(n.integer) : std::to_string(n.real)) +
           " is not a value of " + std::string(tag(dtype)) + ". Give another dtype as the last argument.");
  return Literal::of_integer(v, dtype);
}

/// The extents that the first row of each level has.
void find_shape(const std::initializer_list<NestedNumbers>& rows, Shape& shape) {
  shape.push_back(static_cast<std::int64_t>(rows.size()));
  if (rows.size() > 0 && !rows.begin()->leaf()) find_shape(rows.begin()->rows(), shape);
}

void write_rows(const std::initializer_list<NestedNumbers>& rows, const Type& type, int axis, char*& out) {
  if (static_cast<std::int64_t>(rows.size()) != type.shape[axis])
    refuse("array: one row has " + std::to_string(type.shape[axis]) + " entries, another has " +
           std::to_string(rows.size()) + ". All rows of an axis must have the same length.");
  for (const NestedNumbers& row : rows) {
    if (row.leaf() != (axis + 1 == type.rank()))
      refuse("array: numbers and braces stand side by side. Nest all rows to the same depth.");
    if (!row.leaf()) {
      write_rows(row.rows(), type, axis + 1, out);
      continue;
    }
    element_of(row.number(), type.dtype, "array").store(out);
    out += item_size(type.dtype);
  }
}

void check_count(std::size_t count, const Shape& shape, const char* what) {
  for (std::int64_t d : shape)
    if (d < 0) refuse(std::string(what) + ": negative extent in " + to_string(shape) + ".");
  if (static_cast<std::int64_t>(count) != shape.elements())
    refuse(std::string(what) + ": " + std::to_string(count) + " elements were given, the shape " +
           to_string(shape) + " holds " + std::to_string(shape.elements()) + ".");
}

Array integer_literal(std::int64_t v, DType dtype) {
  return literal(Literal::of_integer(v, dtype));
}

/// lo + step * (0, 1, ..., count - 1).
Array counted(std::int64_t lo, std::int64_t step, std::int64_t count, DType dtype) {
  if (lo == 0 && step == 1 && (!is_integer(dtype) || item_size(dtype) >= 4))
    return op::iota(dtype, {count}, 0);
  const bool narrow =
      holds(DType::i32, lo) && holds(DType::i32, step) && holds(DType::i32, lo + step * count);
  const DType wide = narrow ? DType::i32 : DType::i64;
  Array x = op::iota(wide, {count}, 0);
  if (step != 1) x = op::mul(x, integer_literal(step, wide));
  if (lo != 0) x = op::add(x, integer_literal(lo, wide));
  return op::convert(x, dtype);
}

}  // namespace

Array array(std::initializer_list<NestedNumbers> rows, DType dtype, std::source_location source) {
  AtSource at(source);
  check_dtype(dtype, "array");
  Type type{dtype, {}};
  find_shape(rows, type.shape);
  Array result = uninitialized(type);
  char* out = static_cast<char*>(mutable_data(result));
  write_rows(rows, type, 0, out);
  return result;
}

Array detail::copied_array(DType dtype, const void* values, std::size_t count, const Shape& shape,
                           std::source_location source) {
  AtSource at(source);
  check_dtype(dtype, "array");
  check_count(count, shape, "array");
  Array result = uninitialized(Type{dtype, shape});
  if (count > 0) std::memcpy(mutable_data(result), values, count * item_size(dtype));
  return result;
}

Array detail::borrowed_array(DType dtype, const void* values, std::size_t count, const Shape& shape,
                             std::source_location source) {
  AtSource at(source);
  check_dtype(dtype, "borrow");
  check_count(count, shape, "borrow");
  if (count == 0 || reinterpret_cast<std::uintptr_t>(values) % 64 != 0)
    return copied_array(dtype, values, count, shape, source);
  return concrete(Type{dtype, shape}, nullptr, const_cast<void*>(values));
}

Array scalar(Number value, DType dtype, std::source_location source) {
  AtSource at(source);
  check_dtype(dtype, "scalar");
  return settled(literal(element_of(value, dtype, "scalar")));
}

Array zeros(const Shape& shape, DType dtype, std::source_location source) {
  AtSource at(source);
  check_dtype(dtype, "zeros");
  return settled(op::full(0, Type{dtype, shape}));
}

Array ones(const Shape& shape, DType dtype, std::source_location source) {
  AtSource at(source);
  check_dtype(dtype, "ones");
  return settled(op::full(1, Type{dtype, shape}));
}

Array detail::filled_like(const Array& a, double value) {
  if (a.is_no_gradient()) return a;
  check_dtype(a.dtype(), "zeros_like");
  return settled(op::full(value, Type{a.dtype(), a.shape()}));
}

Array full(const Shape& shape, const Operand& value, std::optional<DType> dtype) {
  AtSource at(value.source());
  const DType wanted = dtype ? *dtype : value.is_literal() ? f32 : as_array(value, "full").dtype();
  check_dtype(wanted, "full");
  return settled(broadcast_to_shape(as_dtype(value, wanted, "full"), shape, "full"));
}

Array arange(Dim n, DType dtype, std::source_location source) {
  return arange(0, n, 1, dtype, source);
}

Array arange(Dim lo, Dim hi, Dim step, DType dtype, std::source_location source) {
  AtSource at(source);
  check_dtype(dtype, "arange");
  const std::int64_t s = step.value, span = hi.value - lo.value;
  if (s == 0) refuse("arange: step 0 never arrives. Give another step.");
  const std::int64_t count = (s > 0) == (span > 0) && span != 0 ? (span - (s > 0 ? 1 : -1)) / s + 1 : 0;
  const std::int64_t last = lo.value + s * (count - 1);
  if (count > 0 && (!holds(dtype, lo.value) || !holds(dtype, last)))
    refuse("arange: " + std::to_string(holds(dtype, lo.value) ? last : lo.value) + " is not a value of " +
           std::string(tag(dtype)) + ". Give a wider dtype, i64 for instance.");
  return counted(lo.value, s, count, dtype);
}

Array detail::real_range(double lo, double hi, double step, DType dtype, std::source_location source) {
  AtSource at(source);
  check_dtype(dtype, "arange");
  if (!is_float(dtype))
    refuse("arange: real bounds and " + std::string(tag(dtype)) + " do not go together. Give a float dtype.");
  const double count = std::ceil((hi - lo) / step);
  if (step == 0 || !std::isfinite(count)) refuse("arange: the step never arrives. Give another step.");
  Array result = uninitialized(Type{dtype, {count > 0 ? static_cast<std::int64_t>(count) : 0}});
  char* out = static_cast<char*>(mutable_data(result));
  // As numpy fills: the first two elements are rounded to the dtype, and their difference is the step of the
  // others.
  const auto rounded = [dtype](double v) { return Literal::of(v, dtype).as_double(); };
  const double first = rounded(lo), delta = rounded(rounded(lo + step) - first);
  for (std::int64_t i = 0; i < result.size(); ++i, out += item_size(dtype))
    Literal::of(first + rounded(static_cast<double>(i) * delta), dtype).store(out);
  return result;
}

Array linspace(double start, double stop, Dim num, bool endpoint, DType dtype, std::source_location source) {
  AtSource at(source);
  check_dtype(dtype, "linspace");
  if (num.value < 0) refuse("linspace: negative count " + std::to_string(num.value) + ".");
  const std::int64_t n = num.value, parts = endpoint ? n - 1 : n;
  Array result = uninitialized(Type{dtype, {n}});
  char* out = static_cast<char*>(mutable_data(result));
  for (std::int64_t i = 0; i < n; ++i, out += item_size(dtype)) {
    const double t = parts > 0 ? static_cast<double>(i) / static_cast<double>(parts) : 0;
    const double v = endpoint && i == parts && i > 0 ? stop : start * (1 - t) + stop * t;
    (is_float(dtype) ? Literal::of(v, dtype)
                     : Literal::of_integer(static_cast<std::int64_t>(std::floor(v)), dtype))
        .store(out);
  }
  return result;
}

Array identity(Dim n, DType dtype, std::source_location source) {
  AtSource at(source);
  return op::identity(dtype, n.value);
}

Array eye(Dim n, DType dtype, std::source_location source) {
  return identity(n, dtype, source);
}

Array eye(Dim n, Dim m, Dim k, DType dtype, std::source_location source) {
  AtSource at(source);
  check_dtype(dtype, "eye");
  if (n.value == m.value && k.value == 0) return op::identity(dtype, n.value);
  const Shape shape{n, m};
  const Array row = op::add(op::iota(i32, shape, 0), integer_literal(k.value, i32));
  return op::convert(op::eq(row, op::iota(i32, shape, 1)), dtype);
}

Array iota(DType dtype, const Shape& shape, Dim axis, std::source_location source) {
  AtSource at(source);
  return op::iota(dtype, shape, normalize_axis(axis.value, shape.rank(), "iota"));
}

Array abstract(DType dtype, const Shape& shape) {
  return abstract_array(Type{dtype, shape});
}

}  // namespace anadrome
