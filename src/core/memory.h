// Memory of arrays and of arenas: blocks in size classes, recycled.
//
// Below 1 MB each thread keeps what it frees, up to 16 MB, and takes it again without a lock. Above, blocks are whole
// huge pages, kept by the process: alive and kept ones together stay within 1 GB or the most that was alive at once.
// Under the sanitizers nothing is recycled, so that they see each use of freed memory.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace anadrome {

/// A counted block of memory.
struct Buffer {
  enum class Origin : std::uint8_t { small, large, plain, guarded };
  std::atomic<std::uint32_t> references{0};
  Origin origin = Origin::plain;
  std::uint8_t size_class = 0;  // of small ones
  void* data = nullptr;
  std::size_t bytes = 0;   // usable: what was asked for, rounded up
  void* mapped = nullptr;  // what goes back to the system
  Buffer* next = nullptr;  // in a list of free blocks
};

namespace detail {
void retain(Buffer* buffer) noexcept;
void release(Buffer* buffer) noexcept;
}  // namespace detail

/// Counted pointer to a Buffer.
class BufferPtr {
 public:
  BufferPtr() = default;
  BufferPtr(std::nullptr_t) noexcept {}
  explicit BufferPtr(Buffer* buffer) noexcept : buffer_(buffer) {
    if (buffer_) detail::retain(buffer_);
  }
  BufferPtr(const BufferPtr& o) noexcept : BufferPtr(o.buffer_) {}
  BufferPtr(BufferPtr&& o) noexcept : buffer_(std::exchange(o.buffer_, nullptr)) {}
  BufferPtr& operator=(BufferPtr o) noexcept {
    std::swap(buffer_, o.buffer_);
    return *this;
  }
  ~BufferPtr() {
    if (buffer_) detail::release(buffer_);
  }
  explicit operator bool() const { return buffer_ != nullptr; }
  void* data() const { return buffer_ ? buffer_->data : nullptr; }
  std::size_t bytes() const { return buffer_ ? buffer_->bytes : 0; }
  void reset() { *this = BufferPtr(); }
  friend bool operator==(const BufferPtr&, const BufferPtr&) = default;

 private:
  Buffer* buffer_ = nullptr;
};

/// Memory for `bytes`, 64-byte aligned, never null. Throws RunError when there is none.
BufferPtr allocate(std::size_t bytes);
/// The same for an arena: counted below only when it was not kept from before.
BufferPtr allocate_arena(std::size_t bytes);
/// Calls of `allocate` so far in the process, and the bytes they asked for: tests check what a run takes.
std::int64_t allocation_count();
std::int64_t allocated_bytes();

/// Bytes of the block that a request for `bytes` takes.
std::size_t block_bytes(std::size_t bytes);
/// Bytes of the blocks that are free and kept by all threads; clear_memory_cache() gives them back.
std::int64_t kept_bytes();
/// False under the sanitizers.
bool recycles_blocks();

/// Memory for one small object that is made and destroyed often; `bytes` is the same at every call.
void* allocate_node(std::size_t bytes);
void free_node(void* memory) noexcept;

/// For tests: while one lives, each block is mapped alone between inaccessible pages, so that an access outside faults.
class GuardedAllocation {
 public:
  enum class Place : std::uint8_t {
    none,
    start,  // the first byte follows an inaccessible page
    end,    // 64-byte aligned; the last byte is less than 64 bytes before an inaccessible page
    exact   // aligned to 64 bytes only if the size is; an inaccessible page follows the last byte
  };
  explicit GuardedAllocation(Place place);
  ~GuardedAllocation();
  GuardedAllocation(const GuardedAllocation&) = delete;

 private:
  Place before_;
};

}  // namespace anadrome
