// How steps that share an axis run block by block: where each finds its operands, and what memory the blocks need.
#pragma once
#include <algorithm>
#include <optional>
#include <utility>

#include "native/blocks/axes.h"
#include "native/products/product.h"

namespace anadrome::blocks {

/// The memory of a block is on the stack if it is not more.
inline constexpr std::uint64_t stack_bytes = 64 << 10;

/// Where a step finds an operand or puts a result.
struct Operand {
  enum class Base : std::uint8_t {
    pointer,   // an operand or result of the whole: by number
    constant,  // a number: by number
    shared,    // memory that all blocks share
    block      // memory of one block, which begins with the addresses of all operands
  };
  Base base = Base::pointer;
  std::uint32_t index = 0;
  std::uint64_t offset = 0;  // bytes
  std::int64_t step = 0;     // bytes to move for each index of the axis before the block
};

struct BlockStep {
  std::uint32_t equation = 0;
  std::optional<products::Product> product, last_product;  // of a whole block, and of the last one; none: a kernel
  std::int64_t per_index = 1;                              // of a kernel
  bool counts = false;  // a kernel that is given its range; others get blocks as if they began at 0
  std::vector<Operand> at;                                 // operands, then results
  std::uint64_t scratch = 0;                               // in the memory of a block
};

/// An operand that the blocks want in another order, copied once.
struct Reordered {
  Operand from, to;
  DType dtype = DType::f32;
  Loops loops;
};

struct BlockPlan {
  std::int64_t extent = 1, size = 1;  // of the axis, and of a block
  std::vector<Reordered> reordered;
  std::vector<BlockStep> steps;
  std::vector<std::uint64_t> constants;  // one number a word
  std::uint64_t shared_bytes = 0, block_bytes = 0;
  std::uint64_t handed_whole = 0;  // bytes, of shared_bytes, of values that steps hand to each other
  double nanoseconds = 0;  // estimated, on one thread
  /// Operands and results: a block of the operand is not needed any more when that of the result is written, which may lie
  /// over it.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> over;

  /// A block works on the stack where that suffices.
  bool uses_stack() const { return block_bytes <= stack_bytes; }
  std::int64_t count() const { return (extent + size - 1) / size; }
  std::int64_t chunks(int threads) const { return std::min<std::int64_t>(threads, count()); }
  std::size_t scratch_bytes(int threads) const {
    return shared_bytes + (uses_stack() ? 0 : block_bytes * static_cast<std::size_t>(chunks(threads)));
  }
};

/// The plan of a body whose equations are loop kernels (with `nests`) and products (null); empty where its steps share no
/// axis, or where blocks would not give the bits of the whole.
std::optional<BlockPlan> plan_blocks(const Program& body, const std::vector<const LoopNest*>& nests, int threads);

}  // namespace anadrome::blocks
