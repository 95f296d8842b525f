// From a dtype to a C++ element type.
#pragma once
#include <cstdint>
#include <string>
#include <type_traits>

#include "anadrome/dtype.h"
#include "anadrome/error.h"
#include "math/half.h"

namespace anadrome {

template <class T>
struct TypeTag {
  using type = T;
};

/// Type in which elements stored as T are computed: float for the 16-bit floats.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, math::BFloat16> || std::is_same_v<T, math::Float16>, float, T>;
template <class T>
inline constexpr bool is_half = !std::is_same_v<T, Compute<T>>;
template <class T>
inline constexpr bool is_floating = std::is_floating_point_v<Compute<T>>;

/// f(TypeTag<T>) for float types; anything else is an internal error (type rules refuse it before).
template <class F>
decltype(auto) dispatch_float(DType t, F&& f) {
  switch (t) {
    case DType::f32: return f(TypeTag<float>{});
    case DType::f64: return f(TypeTag<double>{});
    case DType::bf16: return f(TypeTag<math::BFloat16>{});
    case DType::f16: return f(TypeTag<math::Float16>{});
    default: throw InternalError("no float code for dtype " + std::string(tag(t)));
  }
}
/// f(TypeTag<T>) for integers.
template <class F>
decltype(auto) dispatch_integer(DType t, F&& f) {
  switch (t) {
    case DType::i8: return f(TypeTag<std::int8_t>{});
    case DType::i16: return f(TypeTag<std::int16_t>{});
    case DType::i32: return f(TypeTag<std::int32_t>{});
    case DType::i64: return f(TypeTag<std::int64_t>{});
    case DType::u8: return f(TypeTag<std::uint8_t>{});
    case DType::u16: return f(TypeTag<std::uint16_t>{});
    case DType::u32: return f(TypeTag<std::uint32_t>{});
    case DType::u64: return f(TypeTag<std::uint64_t>{});
    default: throw InternalError("no integer code for dtype " + std::string(tag(t)));
  }
}
/// f(TypeTag<T>) for integers and floats.
template <class F>
decltype(auto) dispatch_number(DType t, F&& f) {
  return is_float(t) ? dispatch_float(t, f) : dispatch_integer(t, f);
}
/// f(TypeTag<T>) for b1 (as `bool`), integers and floats.
template <class F>
decltype(auto) dispatch_real(DType t, F&& f) {
  return t == DType::b1 ? f(TypeTag<bool>{}) : dispatch_number(t, f);
}
/// f(TypeTag<U>) with an unsigned type of the element's size, for code that only moves elements.
template <class F>
decltype(auto) dispatch_size(DType t, F&& f) {
  switch (item_size(t)) {
    case 1: return f(TypeTag<std::uint8_t>{});
    case 2: return f(TypeTag<std::uint16_t>{});
    case 4: return f(TypeTag<std::uint32_t>{});
    case 8: return f(TypeTag<std::uint64_t>{});
    default: throw InternalError("no code for elements of dtype " + std::string(tag(t)));
  }
}

}  // namespace anadrome
