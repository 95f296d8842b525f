// BlockedSteps: the blocks over threads, the steps of a block one after another.
#include "native/blocks/blocked_steps.h"

#include "anadrome/error.h"
#include "native/pool.h"

namespace anadrome::blocks {
namespace {

BlockPlan planned(const Program& body, std::span<const KernelPtr> kernels, int threads) {
  std::vector<const LoopNest*> nests;
  for (const KernelPtr& k : kernels) nests.push_back(k ? &k->nest : nullptr);
  auto plan = plan_blocks(body, nests, threads);
  if (!plan) throw InternalError("blocks: steps that were grouped share no axis");
  return std::move(*plan);
}

}  // namespace

struct BlockedSteps::Memory {
  void* const* pointers;
  char* shared;
  char* block;
};

BlockedSteps::BlockedSteps(const Program& body, std::vector<KernelPtr> kernels, int threads)
    : kernels_(std::move(kernels)), threads_(threads), plan_(planned(body, kernels_, threads)) {
  std::uint32_t pointer = 0;
  for (const BlockStep& s : plan_.steps)
    for (const Operand& o : s.at) {
      if (o.step) moving_.push_back({pointer, plan_.size * o.step});
      ++pointer;
    }
}

/// Where an operand of the block that begins at `begin` is. What lies in the memory of a block begins before that memory for
/// a kernel that counts from the beginning of the array: a number until the kernel adds its range.
std::uintptr_t BlockedSteps::address(const Operand& o, const Memory& memory, std::int64_t begin) const {
  const void* base = nullptr;
  switch (o.base) {
    case Operand::Base::pointer: base = memory.pointers[o.index]; break;
    case Operand::Base::constant: base = plan_.constants.data(); break;
    case Operand::Base::shared: base = memory.shared; break;
    default: base = memory.block;
  }
  return reinterpret_cast<std::uintptr_t>(base) + o.offset + static_cast<std::uintptr_t>(begin * o.step);
}

void BlockedSteps::run_block(const Memory& memory, std::int64_t begin, std::int64_t end) const {
  void* const* at = reinterpret_cast<void* const*>(memory.block);
  for (const BlockStep& s : plan_.steps) {
    if (const KernelPtr& k = kernels_[s.equation]) {
      const std::int64_t first = s.counts ? begin : 0;
      k->run(reinterpret_cast<char* const*>(at), first * s.per_index, (first + end - begin) * s.per_index);
    } else {
      const auto& product = end - begin == plan_.size ? s.product : s.last_product;
      product->run(at[0], at[1], at[2], memory.block + s.scratch, 1);
    }
    at += s.at.size();
  }
}

void BlockedSteps::run_blocks(const Memory& memory, std::atomic<std::int64_t>& next) const {
  const std::int64_t count = plan_.count();
  auto* const table = reinterpret_cast<std::uintptr_t*>(memory.block);
  std::uintptr_t* entry = table;
  for (const BlockStep& s : plan_.steps)
    for (const Operand& o : s.at) *entry++ = address(o, memory, 0);
  for (std::int64_t at = 0, b; (b = next.fetch_add(1, std::memory_order_relaxed)) < count; at = b) {
    if (b != at)
      for (const auto& [pointer, step] : moving_) table[pointer] += static_cast<std::uintptr_t>((b - at) * step);
    run_block(memory, b * plan_.size, std::min(plan_.extent, (b + 1) * plan_.size));
  }
}

[[gnu::noinline]] void BlockedSteps::run_on_stack(const Memory& whole, std::atomic<std::int64_t>& next) const {
  alignas(64) char block[stack_bytes];
  run_blocks({whole.pointers, whole.shared, block}, next);
}

void BlockedSteps::run(void* const* pointers, char* scratch) const {
  const Memory whole{pointers, scratch, nullptr};
  for (const Reordered& r : plan_.reordered)
    copy_strided(r.dtype, reinterpret_cast<void*>(address(r.to, whole, 0)), reinterpret_cast<const void*>(address(r.from, whole, 0)), r.loops);
  std::atomic<std::int64_t> next{0};
  const auto run_chunk = [&](std::int64_t c) {
    if (plan_.uses_stack()) return run_on_stack(whole, next);
    run_blocks({pointers, scratch, scratch + plan_.shared_bytes + static_cast<std::size_t>(c) * plan_.block_bytes}, next);
  };
  if (worth_spreading(plan_.nanoseconds)) parallel_for(plan_.chunks(threads_), run_chunk);
  else run_chunk(0);
}

}  // namespace anadrome::blocks
