// What public operations along axes share.
#pragma once
#include <string>

#include "api/operand.h"
#include "primitives/op.h"

namespace anadrome {

/// Throws TypeError "<what>: <text> at <line>".
[[noreturn]] inline void refuse(std::string_view what, const std::string& text) {
  throw TypeError(std::string(what) + ": " + text + at_current_source());
}

/// The operand as integers or floats: b1 becomes i32.
inline Array number_array(const Operand& x, std::string_view what) {
  const Array a = as_array(x, what);
  return is_bool(a.dtype()) ? op::convert(a, i32) : a;
}
/// The operand as floats: b1 and integers become f32.
inline Array float_array(const Operand& x, std::string_view what) {
  const Array a = as_array(x, what);
  return is_differentiable(a.dtype()) ? a : op::convert(a, f32);
}
/// bf16 and f16 as f32, for a chain of operations that is rounded once.
inline Array wide(const Array& x) {
  return x.dtype() == bf16 || x.dtype() == f16 ? op::convert(x, f32) : x;
}
/// Elements [from, to) of one axis.
inline Array cut(const Array& x, int axis, std::int64_t from, std::int64_t to) {
  Ints start, strides;
  start.resize(x.shape().size(), 0), strides.resize(x.shape().size(), 1);
  Ints limit = x.shape();
  start[axis] = from;
  limit[axis] = to;
  return op::slice(x, start, limit, strides);
}

}  // namespace anadrome
