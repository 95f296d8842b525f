// Steps that run block by block.
#pragma once
#include <atomic>
#include <span>

#include "native/blocks/plan.h"
#include "native/kernels.h"

namespace anadrome::blocks {

class BlockedSteps {
 public:
  /// The steps of a body that `grouped` made; kernels by equation, null for products.
  BlockedSteps(const Program& body, std::vector<KernelPtr> kernels, int threads);

  std::size_t scratch_bytes() const { return plan_.scratch_bytes(threads_); }
  /// Pointers: operands, then results. scratch has scratch_bytes(), aligned to 64 bytes. The results do not depend on the
  /// number of threads.
  void run(void* const* pointers, char* scratch) const;
  const BlockPlan& plan() const { return plan_; }
  std::span<const KernelPtr> kernels() const { return kernels_; }

 private:
  struct Memory;
  std::uintptr_t address(const Operand& o, const Memory& memory, std::int64_t begin) const;
  void run_block(const Memory& memory, std::int64_t begin, std::int64_t end) const;  // indices of the axis
  /// Blocks that no other thread has taken, until there are none; the table of addresses follows them.
  void run_blocks(const Memory& memory, std::atomic<std::int64_t>& next) const;
  void run_on_stack(const Memory& whole, std::atomic<std::int64_t>& next) const;

  std::vector<KernelPtr> kernels_;
  int threads_;
  BlockPlan plan_;
  /// Operands, counted through all steps, that lie elsewhere for each block, and by how many bytes.
  std::vector<std::pair<std::uint32_t, std::int64_t>> moving_;
};

}  // namespace anadrome::blocks
