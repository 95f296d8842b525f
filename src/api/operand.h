// From the arguments of public operations to operands of primitives: weak literals, promotion, broadcasting.
#pragma once
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "core/builder.h"

namespace anadrome {

/// The array of an operand; a number alone becomes a scalar literal (i32, f32 or b1). Checks that it can be used.
Array as_array(const Operand& x, std::string_view what);
/// The dtype that operands meet in: arrays by `promote`, numbers weakly. Throws TypeError naming `what`.
DType common_dtype(std::initializer_list<const Operand*> xs, std::string_view what);
/// The operands converted to `dtype`; numbers become literals of it. Throws TypeError for an integer that does not fit.
Array as_dtype(const Operand& x, DType dtype, std::string_view what);
/// Operands promoted to their common dtype (floats for integers when `to_float`) and broadcast to one shape as numpy
/// does; rank-0 operands stay rank 0 beside arrays.
Arrays promoted(std::initializer_list<const Operand*> xs, std::string_view what, bool to_float = false);
/// Broadcasts arrays to one shape as numpy does; rank-0 arrays stay.
void broadcast_together(Arrays& xs, std::string_view what);
/// numpy's broadcast of two shapes. Throws TypeError naming `what` and both.
Shape broadcast_shapes(const Shape& a, const Shape& b, std::string_view what);
/// numpy's broadcast_to.
Array broadcast_to_shape(const Array& x, const Shape& shape, std::string_view what);
/// Wraps a negative axis; throws TypeError naming the axis and the rank.
int normalize_axis(std::int64_t axis, int rank, std::string_view what);
/// Wrapped, sorted, without repeats; all axes for an empty optional.
Ints normalize_axes(const std::optional<Ints>& axes, int rank, std::string_view what);

}  // namespace anadrome
