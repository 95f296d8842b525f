#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "half.h"

namespace anadrome::math {

/// Integer types of the library; bool has no arithmetic.
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

namespace detail {

/// Layout of a binary floating-point type.
template <class T> struct FloatBits;
template <> struct FloatBits<float> {
  using Bits = std::uint32_t;
  static constexpr int exponent = 8, mantissa = 23;
};
template <> struct FloatBits<double> {
  using Bits = std::uint64_t;
  static constexpr int exponent = 11, mantissa = 52;
};
template <> struct FloatBits<BFloat16> {
  using Bits = std::uint16_t;
  static constexpr int exponent = 8, mantissa = 7;
};
template <> struct FloatBits<Float16> {
  using Bits = std::uint16_t;
  static constexpr int exponent = 5, mantissa = 10;
};

}  // namespace detail

/// Integer quotient, truncated. x / 0 is -1 (all bits set if unsigned), smallest / -1 is the smallest value.
template <Integer T> constexpr T div(T x, T y) {
  if (y == 0) return static_cast<T>(-1);
  if constexpr (std::signed_integral<T>) {
    // Negating through the unsigned type wraps, where the smallest value has no counterpart.
    using U = std::make_unsigned_t<T>;
    if (y == T{-1}) return static_cast<T>(static_cast<U>(U{0} - static_cast<U>(x)));
  }
  return static_cast<T>(x / y);
}

/// Remainder of the truncated quotient, with the sign of x. x rem 0 is x, and the smallest value rem -1 is 0.
template <Integer T> constexpr T rem(T x, T y) {
  if (y == 0) return x;
  if constexpr (std::signed_integral<T>) {
    if (y == T{-1}) return T{0};
  }
  return static_cast<T>(x % y);
}

/// IEEE quotient, rounded once for float and double.
template <std::floating_point T> constexpr T div(T x, T y) {
  return x / y;
}

/// Exact remainder of the truncated quotient, with the sign of x (std::fmod). NaN for y = 0 or infinite x.
template <std::floating_point T> inline T rem(T x, T y) {
  return std::fmod(x, y);
}

/// Integer quotient rounded toward minus infinity. Division by 0 gives -1 (all bits set if unsigned), as div
/// does.
template <Integer T> constexpr T floor_div(T x, T y) {
  const T quotient = div(x, y);
  if constexpr (std::signed_integral<T>) {
    if (y != 0 && rem(x, y) != 0 && (x < 0) != (y < 0)) return static_cast<T>(quotient - 1);
  }
  return quotient;
}

/// Integer remainder of floor_div, with the sign of y. x mod 0 is x.
template <Integer T> constexpr T mod(T x, T y) {
  const T r = rem(x, y);
  if constexpr (std::signed_integral<T>) {
    if (y != 0 && r != 0 && (r < 0) != (y < 0)) return static_cast<T>(r + y);
  }
  return r;
}

/// Remainder with the sign of y, rounded once (the true value may need more bits). A zero result keeps the
/// sign of x; infinite y of the other sign than x gives y; y = 0 or infinite x give NaN.
template <std::floating_point T> inline T mod(T x, T y) {
  const T r = std::fmod(x, y);
  return r != T{0} && (r < T{0}) != (y < T{0}) ? r + y : r;
}

/// Quotient rounded toward minus infinity, consistent with mod: round((x - mod) / y), so within 2 ulp once
/// the quotient exceeds the precision. y = 0 gives x / y; infinite x over nonzero y gives NaN.
template <std::floating_point T> inline T floor_div(T x, T y) {
  if (y == T{0}) return x / y;
  const T r = std::fmod(x, y);
  const T quotient = (x - r) / y;
  return std::round(r != T{0} && (r < T{0}) != (y < T{0}) ? quotient - T{1} : quotient);
}

/// rem, mod, floor_div and div of 16-bit floats: evaluated in float and rounded once more.
template <class T>
requires is_half<T>
inline T rem(T x, T y) {
  return T(rem(static_cast<float>(x), static_cast<float>(y)));
}
template <class T>
requires is_half<T>
inline T mod(T x, T y) {
  return T(mod(static_cast<float>(x), static_cast<float>(y)));
}
template <class T>
requires is_half<T>
inline T floor_div(T x, T y) {
  return T(floor_div(static_cast<float>(x), static_cast<float>(y)));
}
template <class T>
requires is_half<T>
constexpr T div(T x, T y) {
  return T(static_cast<float>(x) / static_cast<float>(y));
}

/// x shifted left by n; 0 if n (read as unsigned) is at least the width.
template <Integer T> constexpr T shift_left(T x, T n) {
  using U = std::make_unsigned_t<T>;
  constexpr U width = sizeof(T) * 8;
  const U count = static_cast<U>(n);
  return count < width ? static_cast<T>(static_cast<U>(static_cast<U>(x) << count)) : T{0};
}

/// x shifted right by n with zero fill; 0 if n (read as unsigned) is at least the width.
template <Integer T> constexpr T shift_right_logical(T x, T n) {
  using U = std::make_unsigned_t<T>;
  constexpr U width = sizeof(T) * 8;
  const U count = static_cast<U>(n);
  return count < width ? static_cast<T>(static_cast<U>(x) >> count) : T{0};
}

/// x shifted right by n, filled with the sign bit (also for unsigned types); all fill if n is at least the
/// width.
template <Integer T> constexpr T shift_right_arithmetic(T x, T n) {
  using U = std::make_unsigned_t<T>;
  using S = std::make_signed_t<T>;
  constexpr U last = sizeof(T) * 8 - 1;
  const U count = static_cast<U>(n) < last ? static_cast<U>(n) : last;
  return static_cast<T>(static_cast<S>(x) >> count);
}

/// Number of bits set.
template <Integer T> constexpr T population_count(T x) {
  return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
}

/// Number of leading zero bits; the width for 0.
template <Integer T> constexpr T clz(T x) {
  return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(x)));
}

/// Float to integer: truncation; values outside the target's range saturate and NaN gives 0.
template <Integer To, std::floating_point From> constexpr To saturating_cast(From x) {
  constexpr To smallest = std::numeric_limits<To>::min(), largest = std::numeric_limits<To>::max();
  // 2^digits, the first value too large, is exact in From while the largest integer itself may not be.
  constexpr From limit = static_cast<From>(largest / 2 + 1) * From{2};
  if (x != x) return To{0};
  if (x >= limit) return largest;
  if (x < static_cast<From>(smallest)) return smallest;
  return static_cast<To>(x);
}

/// 16-bit float to integer: truncation; values outside the target's range saturate and NaN gives 0.
template <Integer To, class From>
requires is_half<From>
constexpr To saturating_cast(From x) {
  return saturating_cast<To>(static_cast<float>(x));
}

/// The neighbour of x in the direction of y (std::nextafter): y if they are equal, NaN if one of them is.
template <std::floating_point T> inline T next_after(T x, T y) {
  return std::nextafter(x, y);
}

/// The neighbour of x in the direction of y in the 16-bit format: y if they are equal, NaN if one of them is.
template <class T>
requires is_half<T>
constexpr T next_after(T x, T y) {
  const float from = x, to = y;
  if (from != from || to != to) return std::numeric_limits<T>::quiet_NaN();
  if (from == to) return y;
  if (from == 0.0f) return T::from_bits(static_cast<std::uint16_t>((y.bits & 0x8000u) | 1u));
  const bool away_from_zero = (from < to) == (from > 0.0f);
  return T::from_bits(static_cast<std::uint16_t>(away_from_zero ? x.bits + 1 : x.bits - 1));
}

/// Rounds to a format with the given numbers of exponent and mantissa bits (at most those of T are used),
/// ties to even: overflow gives infinity, results below the format's smallest normal number a signed zero,
/// NaN stays.
template <class T>
requires std::floating_point<T> || is_half<T>
constexpr T reduce_precision(T x, int exponent_bits, int mantissa_bits) {
  using Layout = detail::FloatBits<T>;
  using U = typename Layout::Bits;
  constexpr int mantissa = Layout::mantissa;
  constexpr U one = 1, sign_bit = static_cast<U>(one << (sizeof(U) * 8 - 1));
  constexpr U infinity = static_cast<U>(((one << Layout::exponent) - 1) << mantissa);
  U bits = std::bit_cast<U>(x);
  const U sign = static_cast<U>(bits & sign_bit);
  bits = static_cast<U>(bits ^ sign);
  if (bits > infinity) return x;
  if (const int dropped = mantissa - mantissa_bits; dropped > 0) {
    const U unit = static_cast<U>(one << dropped);
    const U tie = static_cast<U>((unit >> 1) - 1 + ((bits >> dropped) & 1));
    bits = static_cast<U>((bits + tie) & ~(unit - 1));
  }
  if (exponent_bits < Layout::exponent) {
    const int bias = (1 << (Layout::exponent - 1)) - 1, reduced_bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(bits >> mantissa);
    if (exponent > bias + reduced_bias) bits = infinity;
    if (exponent <= bias - reduced_bias) bits = 0;
  }
  return std::bit_cast<T>(static_cast<U>(bits | sign));
}

}  // namespace anadrome::math
