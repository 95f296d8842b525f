#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>

namespace anadrome::math {

namespace detail {

/// condition ? yes : no, by masks: unlike branches around floating-point operations it lets loops vectorise.
constexpr std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t mask = 0u - static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

/// Rounds a double to float "to odd": an inexact result gets an odd last bit. Rounding that float once more,
/// to a format with at least two bits less, gives what a direct rounding of the double would have given.
constexpr float round_to_odd(double x) {
  constexpr double largest = std::numeric_limits<float>::max();
  if (x > largest && x < std::numeric_limits<double>::infinity()) return std::numeric_limits<float>::max();
  if (x < -largest && x > -std::numeric_limits<double>::infinity())
    return std::numeric_limits<float>::lowest();
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  if (back == x || x != x) return nearest;
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (bits & 1u) return nearest;
  const bool too_large = (back > x) != ((bits >> 31) != 0);  // in magnitude
  // A result of zero keeps its sign bit and is never too large, so the decrement cannot wrap.
  return std::bit_cast<float>(too_large ? bits - 1u : bits + 1u);
}

/// Integer to double, rounded to odd where it has more than 53 significant bits (see round_to_odd).
template <std::integral I> constexpr double integer_to_odd_double(I value) {
  if constexpr (sizeof(I) < 8) {
    return static_cast<double>(value);
  } else {
    const bool negative = value < I{0};
    std::uint64_t magnitude = static_cast<std::uint64_t>(value);
    if (negative) magnitude = std::uint64_t{0} - magnitude;
    if (magnitude >> 53) {
      // The lowest 11 bits can only break a tie; keep whether any of them was set.
      const std::uint64_t sticky = (magnitude & 0x7FFu) ? 0x800u : 0u;
      magnitude = (magnitude & ~std::uint64_t{0x7FF}) | sticky;
    }
    const double result = static_cast<double>(magnitude);
    return negative ? -result : result;
  }
}

}  // namespace detail

/// bfloat16: 1 sign, 8 exponent and 7 mantissa bits. Arithmetic goes through the implicit conversion to
/// float.
struct BFloat16 {
  std::uint16_t bits;

  BFloat16() = default;

  /// Nearest bfloat16, ties to even; overflow gives infinity, NaN a quiet NaN with the upper payload bits.
  explicit constexpr BFloat16(float x) : bits(round(std::bit_cast<std::uint32_t>(x))) {}

  /// Nearest bfloat16 with a single rounding, ties to even.
  explicit constexpr BFloat16(double x) : BFloat16(detail::round_to_odd(x)) {}

  /// Nearest bfloat16 to the integer with a single rounding, ties to even.
  template <std::integral I> explicit constexpr BFloat16(I x) : BFloat16(detail::integer_to_odd_double(x)) {}

  /// The number with the given bit pattern.
  static constexpr BFloat16 from_bits(std::uint16_t pattern) {
    BFloat16 result(0.0f);
    result.bits = pattern;
    return result;
  }

  /// Exact.
  constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

 private:
  static constexpr std::uint16_t round(std::uint32_t u) {
    const std::uint32_t rounded = (u + 0x7FFFu + ((u >> 16) & 1u)) >> 16;
    const std::uint32_t quiet = (u >> 16) | 0x40u;
    return static_cast<std::uint16_t>((u & 0x7FFFFFFFu) > 0x7F800000u ? quiet : rounded);
  }
};

/// IEEE binary16: 1 sign, 5 exponent and 10 mantissa bits. Arithmetic goes through the implicit conversion to
/// float.
struct Float16 {
  std::uint16_t bits;

  Float16() = default;

  /// Nearest binary16, ties to even; overflow gives infinity, NaN a quiet NaN with the upper payload bits.
  explicit constexpr Float16(float x) : bits(round(std::bit_cast<std::uint32_t>(x))) {}

  /// Nearest binary16 with a single rounding, ties to even.
  explicit constexpr Float16(double x) : Float16(detail::round_to_odd(x)) {}

  /// Nearest binary16 to the integer with a single rounding, ties to even.
  template <std::integral I> explicit constexpr Float16(I x) : Float16(detail::integer_to_odd_double(x)) {}

  /// The number with the given bit pattern.
  static constexpr Float16 from_bits(std::uint16_t pattern) {
    Float16 result(0.0f);
    result.bits = pattern;
    return result;
  }

  /// Exact.
  constexpr operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t shifted = static_cast<std::uint32_t>(bits & 0x7FFFu) << 13;
    const std::uint32_t exponent = shifted & 0x0F800000u;
    // Moves the bias from 15 to 127; infinity and NaN need the distance twice.
    const std::uint32_t normal = shifted + 0x38000000u + (exponent == 0x0F800000u ? 0x38000000u : 0u);
    // A subnormal is put behind the leading bit of 2^-14, which the subtraction takes away again.
    const float tiny = std::bit_cast<float>(shifted + 0x38800000u) - 0x1p-14f;
    const std::uint32_t magnitude = detail::select(exponent == 0, std::bit_cast<std::uint32_t>(tiny), normal);
    return std::bit_cast<float>(magnitude | sign);
  }

 private:
  static constexpr std::uint16_t round(std::uint32_t u) {
    const std::uint32_t sign = (u >> 16) & 0x8000u;
    const std::uint32_t magnitude = u & 0x7FFFFFFFu;
    // All cases are computed and one is selected, without branches, so that loops vectorise.
    const std::uint32_t normal = (magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
    // Adding 1/2, whose last bit weighs as much as that of a binary16 subnormal, makes the hardware round.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u;
    const std::uint32_t quiet = 0x7E00u | ((magnitude >> 13) & 0x3FFu);
    std::uint32_t result = detail::select(magnitude < 0x38800000u, subnormal, normal);
    result = detail::select(magnitude >= 0x47800000u, 0x7C00u, result);
    result = detail::select(magnitude > 0x7F800000u, quiet, result);
    return static_cast<std::uint16_t>(sign | result);
  }
};

/// Whether T is one of the two 16-bit floating-point types.
template <class T> inline constexpr bool is_half = std::same_as<T, BFloat16> || std::same_as<T, Float16>;

}  // namespace anadrome::math

/// Limits of bfloat16, as for the built-in types.
template <> class std::numeric_limits<anadrome::math::BFloat16> {
  using T = anadrome::math::BFloat16;

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr int radix = 2, digits = 8, min_exponent = -125, max_exponent = 128;
  static constexpr T min() { return T::from_bits(0x0080); }
  static constexpr T max() { return T::from_bits(0x7F7F); }
  static constexpr T lowest() { return T::from_bits(0xFF7F); }
  static constexpr T epsilon() { return T::from_bits(0x3C00); }
  static constexpr T infinity() { return T::from_bits(0x7F80); }
  static constexpr T quiet_NaN() { return T::from_bits(0x7FC0); }
  static constexpr T denorm_min() { return T::from_bits(0x0001); }
};

/// Limits of binary16, as for the built-in types.
template <> class std::numeric_limits<anadrome::math::Float16> {
  using T = anadrome::math::Float16;

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr int radix = 2, digits = 11, min_exponent = -13, max_exponent = 16;
  static constexpr T min() { return T::from_bits(0x0400); }
  static constexpr T max() { return T::from_bits(0x7BFF); }
  static constexpr T lowest() { return T::from_bits(0xFBFF); }
  static constexpr T epsilon() { return T::from_bits(0x1400); }
  static constexpr T infinity() { return T::from_bits(0x7C00); }
  static constexpr T quiet_NaN() { return T::from_bits(0x7E00); }
  static constexpr T denorm_min() { return T::from_bits(0x0001); }
};
