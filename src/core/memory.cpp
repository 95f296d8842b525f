// Taking blocks from the caches and putting them back.
#include "core/memory.h"

#include <sys/single_threaded.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <unordered_set>

#include "anadrome/compile.h"
#include "core/memory_blocks.h"

#ifdef ANADROME_RECYCLES  // by hand, to run the lists themselves under a sanitizer
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ANADROME_RECYCLES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ANADROME_RECYCLES 0
#endif
#endif
#ifndef ANADROME_RECYCLES
#define ANADROME_RECYCLES 1
#endif

namespace anadrome {
namespace {

constexpr bool recycles = ANADROME_RECYCLES;
/// What a thread keeps of small blocks. When it would keep more, it gives all back and starts anew: sizes that are not
/// asked for any longer leave so.
constexpr std::size_t thread_limit = std::size_t{16} << 20;
constexpr std::size_t node_limit = 4096;
/// What the process keeps of large blocks, together with those alive, unless more was alive at once.
constexpr std::size_t process_limit = std::size_t{1} << 30;
/// No request above is tried.
constexpr std::size_t most_bytes = std::size_t{1} << 60;

struct FreeNode {
  FreeNode* next;
};

/// What one thread keeps. Other threads touch it only to give it back or to count.
struct Cache {
  std::atomic<bool> busy{false};
  bool ended = false;  // keeps nothing
  std::size_t bytes = 0;
  std::array<Buffer*, blocks::small_classes> free{};
  FreeNode* nodes = nullptr;
  std::size_t node_count = 0;
  std::int64_t allocations = 0, allocated = 0;
};

/// Sole use of a cache. A process with one thread needs no locked instruction for it.
class Hold {
 public:
  explicit Hold(Cache& cache) : cache_(cache), shared_(!__libc_single_threaded) {
    if (shared_)
      while (cache_.busy.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  ~Hold() {
    if (shared_) cache_.busy.store(false, std::memory_order_release);
  }
  Hold(const Hold&) = delete;

 private:
  Cache& cache_;
  bool shared_;
};

void free_nodes(FreeNode* first) noexcept {
  while (first) ::operator delete(static_cast<void*>(std::exchange(first, first->next)));
}

/// Empties a cache.
void give_back(Cache& cache) noexcept {
  std::array<Buffer*, blocks::small_classes> lists{};
  FreeNode* nodes = nullptr;
  {
    const Hold hold(cache);
    std::swap(lists, cache.free);
    std::swap(nodes, cache.nodes);
    cache.bytes = cache.node_count = 0;
  }
  for (Buffer* list : lists) blocks::destroy_list(list);
  free_nodes(nodes);
}

/// The caches of all threads, and one for threads that have ended: it only counts.
struct Caches {
  std::mutex mutex;
  std::unordered_set<Cache*> all;
  Cache ended;
  Caches() {
    ended.ended = true;
    all.insert(&ended);
  }
};
/// Never destroyed: arrays may live longer than static objects and threads.
Caches& caches() {
  static Caches& c = *new Caches;
  return c;
}

constinit thread_local Cache* mine = nullptr;

/// Ends the cache of a thread with the thread.
struct CacheOwner {
  Cache* cache = new Cache;
  CacheOwner() {
    const std::lock_guard lock(caches().mutex);
    caches().all.insert(cache);
  }
  ~CacheOwner() {
    mine = &caches().ended;
    {
      const std::lock_guard lock(caches().mutex);
      caches().all.erase(cache);
      const Hold hold(*mine);
      mine->allocations += cache->allocations;
      mine->allocated += cache->allocated;
    }
    give_back(*cache);
    delete cache;
  }
  CacheOwner(const CacheOwner&) = delete;
};

[[gnu::noinline]] Cache& make_cache() {
  thread_local CacheOwner owner;
  return *(mine = owner.cache);
}
inline Cache& this_thread() { return mine ? *mine : make_cache(); }

/// The large blocks that are free, the last one freed first.
class LargeBlocks {
 public:
  /// A kept block of that size, or null; then there is room for one more.
  Buffer* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (Buffer** link = &kept_; *link; link = &(*link)->next)
      if ((*link)->bytes == bytes) {
        Buffer* found = *link;
        *link = found->next;
        kept_bytes_ -= bytes;
        live_ += bytes;
        return found;
      }
    drop_above(std::max({process_limit, peak_, live_ + bytes}) - live_ - bytes);
    return nullptr;
  }
  void made(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    live_ += bytes;
    peak_ = std::max(peak_, live_);
  }
  void put(Buffer* buffer) {
    const std::lock_guard lock(mutex_);
    live_ -= buffer->bytes;
    kept_bytes_ += buffer->bytes;
    buffer->next = kept_;
    kept_ = buffer;
    drop_above(std::max(process_limit, peak_) - live_);
  }
  void give_back() {
    const std::lock_guard lock(mutex_);
    peak_ = live_;
    drop_above(0);
  }
  std::size_t kept_bytes() {
    const std::lock_guard lock(mutex_);
    return kept_bytes_;
  }

 private:
  /// Gives back the oldest blocks until at most `limit` bytes are kept.
  void drop_above(std::size_t limit) {
    if (kept_bytes_ <= limit) return;
    kept_bytes_ = 0;
    Buffer** link = &kept_;
    while (*link && kept_bytes_ + (*link)->bytes <= limit) {
      kept_bytes_ += (*link)->bytes;
      link = &(*link)->next;
    }
    blocks::destroy_list(std::exchange(*link, nullptr));
  }

  std::mutex mutex_;
  Buffer* kept_ = nullptr;
  std::size_t live_ = 0, peak_ = 0, kept_bytes_ = 0;
};
/// Never destroyed, as above.
LargeBlocks& large_blocks() {
  static LargeBlocks& l = *new LargeBlocks;
  return l;
}

std::atomic<GuardedAllocation::Place> guarded{GuardedAllocation::Place::none};

void count(Cache& cache, std::size_t bytes) {
  ++cache.allocations;
  cache.allocated += static_cast<std::int64_t>(bytes);
}

/// A kept block, counted in the cache where `counted` is set; null when there is none.
Buffer* take_small(std::size_t size_class, std::size_t bytes, bool counted) {
  Cache& cache = this_thread();
  const Hold hold(cache);
  if (counted) count(cache, bytes);
  Buffer* buffer = cache.free[size_class];
  if (!buffer) return nullptr;
  cache.free[size_class] = buffer->next;
  cache.bytes -= buffer->bytes;
  return buffer;
}

void count_now(std::size_t bytes) {
  Cache& cache = this_thread();
  const Hold hold(cache);
  count(cache, bytes);
}

Buffer* make(std::size_t bytes, GuardedAllocation::Place place) {
  if (place != GuardedAllocation::Place::none) return blocks::make_guarded(bytes, place);
  if (!recycles) return blocks::make_plain(bytes);
  if (bytes < blocks::large_bytes) return blocks::make_small(blocks::small_class(bytes));
  Buffer* made = blocks::make_large(blocks::large_class_bytes(bytes));
  if (made) large_blocks().made(made->bytes);
  return made;
}

[[gnu::noinline]] BufferPtr make_or_throw(std::size_t bytes, GuardedAllocation::Place place) {
  Buffer* made = bytes <= most_bytes ? make(bytes, place) : nullptr;
  if (!made && bytes <= most_bytes) {
    clear_memory_cache();
    made = make(bytes, place);
  }
  if (!made) throw RunError("out of memory: no " + std::to_string(bytes) + " bytes for an array.");
  return BufferPtr(made);
}

/// A kept block for `bytes`, or null.
Buffer* take_kept(std::size_t bytes, bool counted) {
  if (bytes < blocks::large_bytes) return take_small(blocks::small_class(bytes), bytes, counted);
  if (counted) count_now(bytes);
  return bytes <= most_bytes ? large_blocks().take(blocks::large_class_bytes(bytes)) : nullptr;
}

void put_small(Buffer* buffer) noexcept {
  Cache& cache = this_thread();
  bool full = false;
  {
    const Hold hold(cache);
    if (!cache.ended && cache.bytes + buffer->bytes <= thread_limit) {
      buffer->next = cache.free[buffer->size_class];
      cache.free[buffer->size_class] = buffer;
      cache.bytes += buffer->bytes;
      return;
    }
    full = !cache.ended;
  }
  blocks::destroy(buffer);
  if (full) give_back(cache);
}

}  // namespace

namespace detail {

void retain(Buffer* buffer) noexcept {
  const std::uint32_t now = buffer->references.load(std::memory_order_relaxed);
  if (now == 0 || __libc_single_threaded) buffer->references.store(now + 1, std::memory_order_relaxed);
  else buffer->references.fetch_add(1, std::memory_order_relaxed);
}

void release(Buffer* buffer) noexcept {
  const std::uint32_t now = buffer->references.load(std::memory_order_acquire);
  if (now != 1) {
    if (__libc_single_threaded) return buffer->references.store(now - 1, std::memory_order_relaxed);
    if (buffer->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  }
  buffer->references.store(0, std::memory_order_relaxed);
  if (buffer->origin == Buffer::Origin::small) put_small(buffer);
  else if (buffer->origin == Buffer::Origin::large) large_blocks().put(buffer);
  else blocks::destroy(buffer);
}

}  // namespace detail

BufferPtr allocate(std::size_t bytes) {
  const GuardedAllocation::Place place = guarded.load(std::memory_order_relaxed);
  if (recycles && place == GuardedAllocation::Place::none) {
    if (Buffer* kept = take_kept(bytes, true)) return BufferPtr(kept);
  } else {
    count_now(bytes);
  }
  return make_or_throw(bytes, place);
}

BufferPtr allocate_arena(std::size_t bytes) {
  GuardedAllocation::Place place = guarded.load(std::memory_order_relaxed);
  if (place == GuardedAllocation::Place::exact) place = GuardedAllocation::Place::end;  // kernels rely on its alignment
  if (recycles && place == GuardedAllocation::Place::none)
    if (Buffer* kept = take_kept(bytes, false)) return BufferPtr(kept);
  count_now(bytes);
  return make_or_throw(bytes, place);
}

std::int64_t allocation_count() {
  const std::lock_guard lock(caches().mutex);
  std::int64_t sum = 0;
  for (Cache* cache : caches().all) {
    const Hold hold(*cache);
    sum += cache->allocations;
  }
  return sum;
}

std::int64_t allocated_bytes() {
  const std::lock_guard lock(caches().mutex);
  std::int64_t sum = 0;
  for (Cache* cache : caches().all) {
    const Hold hold(*cache);
    sum += cache->allocated;
  }
  return sum;
}

std::size_t block_bytes(std::size_t bytes) {
  if (!recycles) return bytes;
  if (bytes < blocks::large_bytes) return blocks::small_class_bytes(blocks::small_class(bytes));
  return blocks::large_class_bytes(bytes);
}

std::int64_t kept_bytes() {
  const std::lock_guard lock(caches().mutex);
  std::size_t sum = large_blocks().kept_bytes();
  for (Cache* cache : caches().all) {
    const Hold hold(*cache);
    sum += cache->bytes;
  }
  return static_cast<std::int64_t>(sum);
}

void clear_memory_cache() {
  const std::lock_guard lock(caches().mutex);
  for (Cache* cache : caches().all) give_back(*cache);
  large_blocks().give_back();
}

bool recycles_blocks() { return recycles; }

void* allocate_node(std::size_t bytes) {
  if (recycles) {
    Cache& cache = this_thread();
    const Hold hold(cache);
    if (FreeNode* node = cache.nodes) {
      cache.nodes = node->next;
      --cache.node_count;
      return node;
    }
  }
  return ::operator new(bytes);
}

void free_node(void* memory) noexcept {
  if (recycles) {
    Cache& cache = this_thread();
    const Hold hold(cache);
    if (!cache.ended && cache.node_count < node_limit) {
      cache.nodes = new (memory) FreeNode{cache.nodes};
      ++cache.node_count;
      return;
    }
  }
  ::operator delete(memory);
}

GuardedAllocation::GuardedAllocation(Place place) : before_(guarded.exchange(place)) {}
GuardedAllocation::~GuardedAllocation() { guarded.store(before_); }

}  // namespace anadrome
