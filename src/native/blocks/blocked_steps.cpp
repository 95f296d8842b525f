// BlockedSteps: the blocks over threads, the steps of a block one after another.
#include "native/blocks/blocked_steps.h"

#include <boost/container/small_vector.hpp>

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
    : kernels_(std::move(kernels)), threads_(threads), plan_(planned(body, kernels_, threads)) {}

/// Where an operand of the block is. What lies in the memory of a block begins before that memory for a kernel, which
/// counts from the beginning of the array: a number until the kernel adds its range.
void* BlockedSteps::address(const Operand& o, const Memory& memory, std::int64_t begin) const {
  const char* base = nullptr;
  switch (o.base) {
    case Operand::Base::pointer: base = static_cast<const char*>(memory.pointers[o.index]); break;
    case Operand::Base::constant: base = reinterpret_cast<const char*>(plan_.constants.data()); break;
    case Operand::Base::shared: base = memory.shared; break;
    default: base = memory.block;
  }
  const auto moved = reinterpret_cast<std::uintptr_t>(base) + o.offset + static_cast<std::uintptr_t>(begin * o.step);
  return reinterpret_cast<void*>(moved);
}

void BlockedSteps::run_block(const Memory& memory, std::int64_t begin, std::int64_t end) const {
  boost::container::small_vector<void*, 16> at;
  for (const BlockStep& s : plan_.steps) {
    at.clear();
    for (const Operand& o : s.at) at.push_back(address(o, memory, begin));
    if (const KernelPtr& k = kernels_[s.equation]) {
      k->run(reinterpret_cast<char* const*>(at.data()), begin * s.per_index, end * s.per_index);
    } else {
      const auto& product = end - begin == plan_.size ? s.product : s.last_product;
      product->run(at[0], at[1], at[2], memory.block + s.scratch, 1);
    }
  }
}

void BlockedSteps::run(void* const* pointers, char* scratch) const {
  const Memory whole{pointers, scratch, nullptr};
  for (const Reordered& r : plan_.reordered)
    copy_strided(r.dtype, address(r.to, whole, 0), address(r.from, whole, 0), r.loops);
  const std::int64_t count = plan_.count(), chunks = plan_.chunks(threads_);
  const auto run_chunk = [&](std::int64_t c) {
    const Memory memory{pointers, scratch, scratch + plan_.shared_bytes + static_cast<std::size_t>(c) * plan_.block_bytes};
    for (std::int64_t b = count * c / chunks; b < count * (c + 1) / chunks; ++b)
      run_block(memory, b * plan_.size, std::min(plan_.extent, (b + 1) * plan_.size));
  };
  if (worth_spreading(plan_.nanoseconds)) return parallel_for(chunks, run_chunk);
  for (std::int64_t c = 0; c < chunks; ++c) run_chunk(c);
}

}  // namespace anadrome::blocks
