// Arenas of runs, kept for the next one.
#pragma once
#include <cstdint>
#include <memory>

namespace anadrome {

/// Memory for one run, aligned to 64 bytes. Each thread keeps the arena of its last run and takes it again, without a
/// lock, when it is large enough. Throws RunError when there is no memory.
class Arena {
 public:
  explicit Arena(std::uint64_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  char* data() const;

  struct Block;

 private:
  std::unique_ptr<Block> block_;
};

/// Bytes of the arenas that threads keep now.
std::int64_t kept_arena_bytes();

}  // namespace anadrome
