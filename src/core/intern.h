// Structural identity of programs.
#pragma once
#include "core/prim.h"

namespace anadrome {

/// Renumbers variables (captures, inputs, results in order) and regions (by first occurrence), drops unused type slots,
/// and sets the hash.
void canonicalize(Program& program);
/// The one shared copy of a program with this structure (made canonical). Sources and origins are those of the first.
ProgramPtr intern(Program program);
ProgramPtr intern(const ProgramPtr& program);

/// Mixes a value into a hash.
constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9E3779B97F4A7C15ull + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 32);
}
/// The same in every process.
constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}

}  // namespace anadrome
