// Element types: tags, sizes, promotion; and the text of shapes and types.
#include "anadrome/dtype.h"

#include <algorithm>
#include <array>

#include "anadrome/shape.h"
#include "core/builder.h"

namespace anadrome {
namespace {

struct Facts {
  std::string_view tag;
  std::size_t size;
};
constexpr std::array<Facts, 15> facts = {{{"b1", 1},
                                          {"i8", 1},
                                          {"i16", 2},
                                          {"i32", 4},
                                          {"i64", 8},
                                          {"u8", 1},
                                          {"u16", 2},
                                          {"u32", 4},
                                          {"u64", 8},
                                          {"bf16", 2},
                                          {"f16", 2},
                                          {"f32", 4},
                                          {"f64", 8},
                                          {"c64", 8},
                                          {"c128", 16}}};

/// b1 < integers < floats < complex.
int kind_of(DType t) {
  return is_bool(t) ? 0 : is_integer(t) ? 1 : is_float(t) ? 2 : 3;
}

DType promote_integers(DType a, DType b) {
  if (is_signed(a) == is_signed(b)) return std::max(a, b);
  const DType s = is_signed(a) ? a : b, u = is_signed(a) ? b : a;
  if (u == u64)
    throw TypeError("promotion: u64 with " + std::string(tag(s)) +
                    ": no integer type holds both. Convert one of them first." + at_current_source());
  const DType holds_u = u == u8 ? i16 : u == u16 ? i32 : i64;
  return std::max(s, holds_u);
}

DType promote_floats(DType a, DType b) {
  if (a == b) return a;
  return a <= f16 && b <= f16 ? f32 : std::max(a, b);
}

}  // namespace

std::string_view tag(DType dtype) {
  return facts[static_cast<std::size_t>(dtype)].tag;
}
std::size_t item_size(DType dtype) {
  return facts[static_cast<std::size_t>(dtype)].size;
}

DType promote(DType a, DType b) {
  const int ka = kind_of(a), kb = kind_of(b);
  if (ka != kb) {
    const DType higher = ka > kb ? a : b, lower = ka > kb ? b : a;
    return higher == c64 && lower == f64 ? c128 : higher;
  }
  if (ka == 1) return promote_integers(a, b);
  if (ka == 2) return promote_floats(a, b);
  return std::max(a, b);
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string to_string(const Type& type) {
  std::string text(type.is_ref ? "Ref{" : "");
  text += tag(type.dtype);
  text += to_string(type.shape);
  if (type.is_ref) text += '}';
  return text;
}

}  // namespace anadrome
