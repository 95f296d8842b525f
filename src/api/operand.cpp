// From the arguments of public operations to operands of primitives: weak literals, promotion, broadcasting.
#include "api/operand.h"

#include <algorithm>
#include <limits>

#include "primitives/op.h"

namespace anadrome {
namespace {

[[noreturn]] void refuse(std::string_view what, const std::string& text) {
  throw TypeError(std::string(what) + ": " + text + at_current_source());
}

bool is_integer_literal(const Operand& x) {
  return x.literal_kind() == i64 || x.literal_kind() == u64;
}

std::string text_of_integer(const Operand& x) {
  return x.literal_kind() == u64 ? std::to_string(static_cast<std::uint64_t>(x.integer()))
                                 : std::to_string(x.integer());
}

/// Whether an integer literal has a value of the integer type `dtype`.
bool fits(const Operand& x, DType dtype) {
  const int bits = static_cast<int>(item_size(dtype)) * 8;
  if (x.literal_kind() == u64 && x.integer() < 0) return dtype == u64;  // 2^63 and more
  const std::int64_t value = x.integer();
  if (is_unsigned(dtype)) return value >= 0 && (bits == 64 || value >> bits == 0);
  return bits == 64 || (value >= -(std::int64_t{1} << (bits - 1)) && value < std::int64_t{1} << (bits - 1));
}

double as_double(const Operand& x) {
  switch (x.literal_kind()) {
    case DType::f64:
      return x.real();
    case DType::u64:
      return static_cast<double>(static_cast<std::uint64_t>(x.integer()));
    default:
      return static_cast<double>(x.integer());
  }
}

Array literal_as(const Operand& x, DType dtype, std::string_view what) {
  if (is_float(dtype) || is_complex(dtype)) return literal(Literal::of(as_double(x), dtype));
  if (x.literal_kind() == f64)
    refuse(what, "the number " + std::to_string(x.real()) + " as " + std::string(tag(dtype)) +
                     ". Write an integer, or convert the array to a float dtype.");
  if (is_integer(dtype) && !fits(x, dtype))
    refuse(what, "the number " + text_of_integer(x) + " does not fit " + std::string(tag(dtype)) +
                     ". Convert the array to a wider dtype first.");
  return literal(Literal::of_integer(is_bool(dtype) ? x.integer() != 0 : x.integer(), dtype));
}

/// The dtype of literals of this kind where no array decides.
DType alone(const Operand& x) {
  return x.literal_kind() == b1 ? b1 : is_integer_literal(x) ? i32 : f32;
}

/// The dtype of an array of `dtype` that meets a literal.
DType with_literal(DType dtype, const Operand& x) {
  const DType own = alone(x);
  if (own == f32 && !is_differentiable(dtype)) return f32;
  return own == i32 && is_bool(dtype) ? i32 : dtype;
}

}  // namespace

Array as_array(const Operand& x, std::string_view what) {
  if (x.is_literal()) return literal_as(x, alone(x), what);
  check_usable(x.array(), what);
  return x.array();
}

DType common_dtype(std::initializer_list<const Operand*> xs, std::string_view what) {
  bool any_array = false;
  DType dtype = b1;
  for (const Operand* x : xs) {
    if (x->is_literal()) continue;
    check_usable(x->array(), what);
    dtype = any_array ? promote(dtype, x->array().dtype()) : x->array().dtype();
    any_array = true;
  }
  for (const Operand* x : xs)
    if (x->is_literal()) dtype = with_literal(dtype, *x);
  return dtype;
}

Array as_dtype(const Operand& x, DType dtype, std::string_view what) {
  if (x.is_literal()) return literal_as(x, dtype, what);
  check_usable(x.array(), what);
  return op::convert(x.array(), dtype);
}

Arrays promoted(std::initializer_list<const Operand*> xs, std::string_view what, bool to_float) {
  DType dtype = common_dtype(xs, what);
  if (to_float && !is_differentiable(dtype)) dtype = f32;
  Arrays out;
  out.reserve(xs.size());
  for (const Operand* x : xs) out.push_back(as_dtype(*x, dtype, what));
  broadcast_together(out, what);
  return out;
}

void broadcast_together(Arrays& xs, std::string_view what) {
  Shape shape;
  for (const Array& x : xs) shape = broadcast_shapes(shape, x.shape(), what);
  for (Array& x : xs)
    if (x.rank() != 0) x = broadcast_to_shape(x, shape, what);
}

Shape broadcast_shapes(const Shape& a, const Shape& b, std::string_view what) {
  if (a == b || b.rank() == 0) return a;
  if (a.rank() == 0) return b;
  const Shape &longer = a.rank() >= b.rank() ? a : b, &shorter = a.rank() >= b.rank() ? b : a;
  Shape out = longer;
  const int shift = longer.rank() - shorter.rank();
  for (int k = 0; k < shorter.rank(); ++k) {
    const std::int64_t x = shorter[k], y = out[k + shift];
    if (x != y && x != 1 && y != 1)
      refuse(what, "shapes " + to_string(a) + " and " + to_string(b) +
                       " do not broadcast: counted from the last axis, extents must be equal or 1. "
                       "Reshape one of them, or add an axis: x[{all, newaxis}].");
    if (y == 1) out[k + shift] = x;
  }
  return out;
}

Array broadcast_to_shape(const Array& x, const Shape& shape, std::string_view what) {
  if (x.shape() == shape) return x;
  if (x.rank() > shape.rank() || broadcast_shapes(x.shape(), shape, what) != shape)
    refuse(what, to_string(x.type()) + " does not broadcast to " + to_string(shape) +
                     ": its axes are the last ones there, with the same extent or 1. Reshape it first.");
  Ints dims;
  for (int k = 0; k < x.rank(); ++k) dims.push_back(shape.rank() - x.rank() + k);
  return op::broadcast_in_dim(x, shape, dims);
}

int normalize_axis(std::int64_t axis, int rank, std::string_view what) {
  if (axis < -rank || axis >= rank)
    refuse(
        what,
        "axis " + std::to_string(axis) + " of an array of rank " + std::to_string(rank) + "." +
            (rank ? " Axes go from " + std::to_string(-rank) + " to " + std::to_string(rank - 1) + "." : ""));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Ints normalize_axes(const std::optional<Ints>& axes, int rank, std::string_view what) {
  Ints out;
  if (!axes) {
    for (int k = 0; k < rank; ++k) out.push_back(k);
    return out;
  }
  for (std::int64_t axis : *axes) out.push_back(normalize_axis(axis, rank, what));
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end())
    refuse(what, "axes " + to_string(*axes) + " name an axis twice. Give each axis once.");
  return out;
}

}  // namespace anadrome
