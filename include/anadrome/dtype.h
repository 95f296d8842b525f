// Element types: tags, sizes, and the one promotion table.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace anadrome {

/// Type of the elements of an array. The tag (b1, i32, f64 ...) is the same in code, printing, errors and JSON.
/// float16 and bfloat16 are stored narrow and computed in float32.
enum class DType : std::uint8_t { b1, i8, i16, i32, i64, u8, u16, u32, u64, bf16, f16, f32, f64, c64, c128 };

inline constexpr DType b1 = DType::b1, i8 = DType::i8, i16 = DType::i16, i32 = DType::i32, i64 = DType::i64;
inline constexpr DType u8 = DType::u8, u16 = DType::u16, u32 = DType::u32, u64 = DType::u64;
inline constexpr DType bf16 = DType::bf16, f16 = DType::f16, f32 = DType::f32, f64 = DType::f64;
inline constexpr DType c64 = DType::c64, c128 = DType::c128;

/// The tag of a dtype: "f32".
std::string_view tag(DType dtype);
/// Bytes of one element.
std::size_t item_size(DType dtype);

constexpr bool is_bool(DType t) { return t == DType::b1; }
constexpr bool is_signed(DType t) { return t >= DType::i8 && t <= DType::i64; }
constexpr bool is_unsigned(DType t) { return t >= DType::u8 && t <= DType::u64; }
constexpr bool is_integer(DType t) { return is_signed(t) || is_unsigned(t); }
constexpr bool is_float(DType t) { return t >= DType::bf16 && t <= DType::f64; }
constexpr bool is_complex(DType t) { return t >= DType::c64; }
/// True for the types that carry derivatives: floats and complex numbers.
constexpr bool is_differentiable(DType t) { return t >= DType::bf16; }

/// The dtype of a result of arrays of dtypes `a` and `b`: b1 < integers < floats < complex; an integer with a float
/// gives that float; unsigned with signed gives the smallest signed type holding both; bf16 with f16 gives f32;
/// f64 with c64 gives c128. Throws TypeError for u64 with a signed integer.
DType promote(DType a, DType b);

namespace detail {
template <class T>
constexpr DType dtype_of_impl() {
  if constexpr (std::is_same_v<T, bool>) return DType::b1;
  else if constexpr (std::is_integral_v<T>) {
    constexpr bool s = std::is_signed_v<T>;
    switch (sizeof(T)) {
      case 1: return s ? DType::i8 : DType::u8;
      case 2: return s ? DType::i16 : DType::u16;
      case 4: return s ? DType::i32 : DType::u32;
      default: return s ? DType::i64 : DType::u64;
    }
  } else if constexpr (std::is_same_v<T, float>) return DType::f32;
  else if constexpr (std::is_same_v<T, double>) return DType::f64;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return DType::c64;
  else {
    static_assert(std::is_same_v<T, std::complex<double>>, "anadrome: no dtype for this C++ type");
    return DType::c128;
  }
}
}  // namespace detail
/// The dtype of a C++ element type: dtype_of<float> is f32.
template <class T>
inline constexpr DType dtype_of = detail::dtype_of_impl<T>();

}  // namespace anadrome
