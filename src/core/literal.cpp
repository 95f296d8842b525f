// Numbers written into programs: rounding to a dtype, canonical bits, elements in memory.
#include <bit>
#include <complex>
#include <cstring>
#include <limits>

#include "anadrome/error.h"
#include "anadrome/program.h"
#include "math/arith.h"
#include "math/half.h"

namespace anadrome {
namespace {

/// Every NaN has the same bits, so that programs with NaN compare equal.
std::uint64_t real_bits(double value) {
  return std::bit_cast<std::uint64_t>(value != value ? std::numeric_limits<double>::quiet_NaN() : value);
}

/// Rounds once, also from a 64-bit integer.
template <class T> double rounded(T value, DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return static_cast<float>(math::BFloat16(value));
    case DType::f16:
      return static_cast<float>(math::Float16(value));
    case DType::f32:
    case DType::c64:
      return static_cast<float>(value);
    default:
      return static_cast<double>(value);
  }
}

template <class T> std::uint64_t extended(std::uint64_t value) {
  return static_cast<std::uint64_t>(static_cast<T>(value));
}

/// Keeps the low bits and extends them by sign or by zeros.
std::uint64_t wrapped(std::uint64_t value, DType dtype) {
  switch (dtype) {
    case DType::b1:
      return value != 0;
    case DType::i8:
      return extended<std::int8_t>(value);
    case DType::i16:
      return extended<std::int16_t>(value);
    case DType::i32:
      return extended<std::int32_t>(value);
    case DType::u8:
      return extended<std::uint8_t>(value);
    case DType::u16:
      return extended<std::uint16_t>(value);
    case DType::u32:
      return extended<std::uint32_t>(value);
    default:
      return value;
  }
}

bool is_real_or_complex(DType dtype) {
  return is_float(dtype) || is_complex(dtype);
}

template <class T> void put(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
}
template <class T> T get(const void* in) {
  T value;
  std::memcpy(&value, in, sizeof value);
  return value;
}

template <class T> double real_part(const void* in) {
  const auto value = get<std::complex<T>>(in);
  if (value.imag() != 0) throw TypeError("literal: a complex number with an imaginary part. Use an Array.");
  return value.real();
}

}  // namespace

Literal Literal::of(double value, DType dtype) {
  if (is_real_or_complex(dtype)) return {dtype, real_bits(rounded(value, dtype))};
  if (dtype == DType::b1) return {dtype, value != 0};
  if (dtype == DType::u64) return {dtype, math::saturating_cast<std::uint64_t>(value)};
  return {dtype, wrapped(static_cast<std::uint64_t>(math::saturating_cast<std::int64_t>(value)), dtype)};
}

Literal Literal::of_integer(std::int64_t value, DType dtype) {
  if (is_real_or_complex(dtype)) return {dtype, real_bits(rounded(value, dtype))};
  return {dtype, wrapped(static_cast<std::uint64_t>(value), dtype)};
}

double Literal::as_double() const {
  if (is_real_or_complex(dtype)) return std::bit_cast<double>(bits);
  return is_signed(dtype) ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
}

std::int64_t Literal::as_integer() const {
  if (is_real_or_complex(dtype)) return math::saturating_cast<std::int64_t>(std::bit_cast<double>(bits));
  return static_cast<std::int64_t>(bits);
}

void Literal::store(void* out) const {
  const double real = as_double();
  switch (dtype) {
    case DType::b1:
      return put(out, static_cast<std::uint8_t>(bits != 0));
    case DType::i8:
    case DType::u8:
      return put(out, static_cast<std::uint8_t>(bits));
    case DType::i16:
    case DType::u16:
      return put(out, static_cast<std::uint16_t>(bits));
    case DType::i32:
    case DType::u32:
      return put(out, static_cast<std::uint32_t>(bits));
    case DType::i64:
    case DType::u64:
      return put(out, bits);
    case DType::bf16:
      return put(out, math::BFloat16(real).bits);
    case DType::f16:
      return put(out, math::Float16(real).bits);
    case DType::f32:
      return put(out, static_cast<float>(real));
    case DType::f64:
      return put(out, real);
    case DType::c64:
      return put(out, std::complex<float>(static_cast<float>(real)));
    case DType::c128:
      return put(out, std::complex<double>(real));
  }
}

Literal Literal::load(DType dtype, const void* in) {
  switch (dtype) {
    case DType::b1:
      return of_integer(get<std::uint8_t>(in), dtype);
    case DType::i8:
    case DType::u8:
      return of_integer(get<std::int8_t>(in), dtype);
    case DType::i16:
    case DType::u16:
      return of_integer(get<std::int16_t>(in), dtype);
    case DType::i32:
    case DType::u32:
      return of_integer(get<std::int32_t>(in), dtype);
    case DType::i64:
    case DType::u64:
      return of_integer(get<std::int64_t>(in), dtype);
    case DType::bf16:
      return of(static_cast<float>(math::BFloat16::from_bits(get<std::uint16_t>(in))), dtype);
    case DType::f16:
      return of(static_cast<float>(math::Float16::from_bits(get<std::uint16_t>(in))), dtype);
    case DType::f32:
      return of(get<float>(in), dtype);
    case DType::f64:
      return of(get<double>(in), dtype);
    case DType::c64:
      return of(real_part<float>(in), dtype);
    case DType::c128:
      return of(real_part<double>(in), dtype);
  }
  throw InternalError("literal: no such dtype: " + std::to_string(static_cast<int>(dtype)));
}

}  // namespace anadrome
