// One kept arena a thread, in an atomic slot so that clear_memory_cache() can take it from any thread.
#include "native/arena.h"

#include <atomic>
#include <mutex>
#include <unordered_set>

#include "anadrome/compile.h"
#include "core/node.h"

namespace anadrome {

struct Arena::Block {
  std::shared_ptr<void> memory;
  std::uint64_t bytes = 0;
};

namespace {

std::atomic<std::int64_t> kept_bytes{0};

/// The slot of a thread. Whoever exchanges the pointer owns the block.
struct Slot {
  std::atomic<Arena::Block*> kept{nullptr};
  Slot();
  ~Slot();
  std::unique_ptr<Arena::Block> take() {
    std::unique_ptr<Arena::Block> block(kept.exchange(nullptr, std::memory_order_acq_rel));
    if (block) kept_bytes.fetch_sub(static_cast<std::int64_t>(block->bytes), std::memory_order_relaxed);
    return block;
  }
  void keep(std::unique_ptr<Arena::Block> block) {
    const auto bytes = static_cast<std::int64_t>(block->bytes);
    Arena::Block* none = nullptr;
    kept_bytes.fetch_add(bytes, std::memory_order_relaxed);
    if (kept.compare_exchange_strong(none, block.get(), std::memory_order_acq_rel)) (void)block.release();
    else kept_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  }
};

struct Slots {
  std::mutex mutex;
  std::unordered_set<Slot*> all;
};
/// Never destroyed: threads may end after static objects do.
Slots& slots() {
  static Slots& s = *new Slots;
  return s;
}

Slot::Slot() {
  const std::lock_guard lock(slots().mutex);
  slots().all.insert(this);
}
Slot::~Slot() {
  const std::lock_guard lock(slots().mutex);
  slots().all.erase(this);
  take();
}

Slot& this_thread() {
  thread_local Slot slot;
  return slot;
}

}  // namespace

Arena::Arena(std::uint64_t bytes) {
  if (bytes == 0) return;
  block_ = this_thread().take();
  if (block_ && block_->bytes >= bytes) return;
  block_.reset();  // first, so that both are never held at once
  block_ = std::make_unique<Block>(Block{allocate(bytes), bytes});
}

Arena::~Arena() {
  if (block_) this_thread().keep(std::move(block_));
}

char* Arena::data() const { return block_ ? static_cast<char*>(block_->memory.get()) : nullptr; }

std::int64_t kept_arena_bytes() { return kept_bytes.load(std::memory_order_relaxed); }

void clear_memory_cache() {
  const std::lock_guard lock(slots().mutex);
  for (Slot* slot : slots().all) slot->take();
}

}  // namespace anadrome
