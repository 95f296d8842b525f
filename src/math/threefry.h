#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace anadrome::math {

/// The two 32-bit words of a random key, or of a cipher block.
using Words = std::array<std::uint32_t, 2>;

/// Threefry-2x32 with 20 rounds: the block (x0, x1) enciphered under the key.
constexpr Words threefry2x32(Words key, std::uint32_t x0, std::uint32_t x1) {
  // Written out round by round, without tables, so that loops over it vectorise.
  const std::uint32_t k0 = key[0], k1 = key[1], k2 = k0 ^ k1 ^ 0x1BD11BDAu;
  const auto four = [&x0, &x1](int a, int b, int c, int d) {
    x0 += x1;
    x1 = std::rotl(x1, a) ^ x0;
    x0 += x1;
    x1 = std::rotl(x1, b) ^ x0;
    x0 += x1;
    x1 = std::rotl(x1, c) ^ x0;
    x0 += x1;
    x1 = std::rotl(x1, d) ^ x0;
  };
  x0 += k0;
  x1 += k1;
  four(13, 15, 26, 6);
  x0 += k1;
  x1 += k2 + 1u;
  four(17, 29, 16, 24);
  x0 += k2;
  x1 += k0 + 2u;
  four(13, 15, 26, 6);
  x0 += k0;
  x1 += k1 + 3u;
  four(17, 29, 16, 24);
  x0 += k1;
  x1 += k2 + 4u;
  four(13, 15, 26, 6);
  x0 += k2;
  x1 += k0 + 5u;
  return {x0, x1};
}

/// The key of an integer seed: its high and low word.
constexpr Words threefry_key(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(seed)};
}

/// 32 random bits of element `index` under the key (narrower types take the low bits).
constexpr std::uint32_t threefry_bits32(Words key, std::uint64_t index) {
  const Words w =
      threefry2x32(key, static_cast<std::uint32_t>(index >> 32), static_cast<std::uint32_t>(index));
  return w[0] ^ w[1];
}

/// 64 random bits of element `index` under the key.
constexpr std::uint64_t threefry_bits64(Words key, std::uint64_t index) {
  const Words w =
      threefry2x32(key, static_cast<std::uint32_t>(index >> 32), static_cast<std::uint32_t>(index));
  return (static_cast<std::uint64_t>(w[0]) << 32) | w[1];
}

/// Fills `out` with the 32-bit values of the elements first, first + 1, ...
inline void threefry_fill32(Words key, std::uint64_t first, std::span<std::uint32_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = threefry_bits32(key, first + i);
}

/// Fills `out` with the 64-bit values of the elements first, first + 1, ...
inline void threefry_fill64(Words key, std::uint64_t first, std::span<std::uint64_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = threefry_bits64(key, first + i);
}

}  // namespace anadrome::math
