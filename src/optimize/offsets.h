// Offsets of buffers with known lifetimes in one arena.
#pragma once
#include <cstdint>
#include <vector>

namespace anadrome {

/// Memory that is needed from step `first` to step `last`, both included.
struct Lifetime {
  std::int64_t first, last;
  std::uint64_t bytes;
};
struct Layout {
  std::vector<std::uint64_t> offset;  // by buffer
  std::uint64_t bytes = 0;            // of the arena
};
inline constexpr std::uint64_t arena_alignment = 64;
constexpr std::uint64_t in_lines(std::uint64_t bytes) { return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment; }
/// Places buffers so that those alive at the same time do not overlap; offsets are multiples of 64.
Layout lay_out(const std::vector<Lifetime>& buffers);

}  // namespace anadrome
