// Blocks from the system and back.
#include "core/memory_blocks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <new>

namespace anadrome::blocks {
namespace {

constexpr std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

static_assert(sizeof(Buffer) <= alignment, "a header takes one line before the elements");

char* map(std::size_t bytes, int protection) {
  void* memory = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// A header of its own for memory that `undo` frees when there is none for the header.
template <class Undo>
Buffer* header(void* mapped, void* data, std::size_t bytes, Buffer::Origin origin, Undo undo) {
  auto* buffer = mapped ? new (std::nothrow) Buffer : nullptr;
  if (!buffer) {
    if (mapped) undo();
    return nullptr;
  }
  buffer->origin = origin;
  buffer->data = data;
  buffer->bytes = bytes;
  buffer->mapped = mapped;
  return buffer;
}

void free_aligned(void* memory) noexcept { ::operator delete(memory, std::align_val_t(alignment)); }
void* new_aligned(std::size_t bytes) { return ::operator new(bytes, std::align_val_t(alignment), std::nothrow); }

/// A guarded block with the inaccessible pages on both sides.
std::size_t guarded_pages(std::size_t bytes) { return round_up(bytes ? bytes : 1, page_bytes()) + 2 * page_bytes(); }

}  // namespace

std::size_t small_class(std::size_t bytes) {
  const std::size_t last = bytes ? bytes - 1 : 0;
  if (last < 512) return last / alignment;
  const auto width = static_cast<std::size_t>(std::bit_width(last));  // 2^(width-1) <= last < 2^width
  return 8 + (width - 10) * 4 + ((last >> (width - 3)) & 3);
}

std::size_t small_class_bytes(std::size_t size_class) {
  if (size_class < 8) return (size_class + 1) * alignment;
  const std::size_t doubling = (size_class - 8) / 4, quarter = (size_class - 8) % 4;
  return (std::size_t{128} << doubling) * (5 + quarter);
}

std::size_t large_class_bytes(std::size_t bytes) {
  const auto width = static_cast<std::size_t>(std::bit_width(bytes));  // at least 21
  return round_up(bytes, std::max(huge_page, std::size_t{1} << (width - 4)));
}

Buffer* make_small(std::size_t size_class) {
  const std::size_t bytes = small_class_bytes(size_class);
  auto* memory = static_cast<char*>(new_aligned(alignment + bytes));
  if (!memory) return nullptr;
  auto* buffer = new (memory) Buffer;
  buffer->origin = Buffer::Origin::small;
  buffer->size_class = static_cast<std::uint8_t>(size_class);
  buffer->data = memory + alignment;
  buffer->bytes = bytes;
  return buffer;
}

Buffer* make_large(std::size_t bytes) {
  char* memory = map(bytes + huge_page, PROT_READ | PROT_WRITE);
  if (!memory) return nullptr;
  const std::size_t before = round_up(reinterpret_cast<std::uintptr_t>(memory), huge_page) -
                             reinterpret_cast<std::uintptr_t>(memory);
  if (before) munmap(memory, before);
  if (before < huge_page) munmap(memory + before + bytes, huge_page - before);
  memory += before;
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);  // a refusal costs time, nothing else
#endif
  return header(memory, memory, bytes, Buffer::Origin::large, [&] { munmap(memory, bytes); });
}

Buffer* make_plain(std::size_t bytes) {
  constexpr std::size_t most = std::size_t{1} << 39;  // beyond it the sanitizers' operator new ends the program
  if (bytes > most) return nullptr;
  void* memory = new_aligned(bytes ? bytes : 1);
  return header(memory, memory, bytes, Buffer::Origin::plain, [&] { free_aligned(memory); });
}

Buffer* make_guarded(std::size_t bytes, GuardedAllocation::Place place) {
  const std::size_t all = guarded_pages(bytes);
  char* memory = map(all, PROT_NONE);
  if (!memory) return nullptr;
  char *first = memory + page_bytes(), *last = memory + all - page_bytes();
  if (mprotect(first, static_cast<std::size_t>(last - first), PROT_READ | PROT_WRITE) != 0) {
    munmap(memory, all);
    return nullptr;
  }
  char* data = first;
  if (place == GuardedAllocation::Place::end) data = last - round_up(bytes, alignment);
  if (place == GuardedAllocation::Place::exact) data = last - bytes;
  return header(memory, data, bytes, Buffer::Origin::guarded, [&] { munmap(memory, all); });
}

void destroy(Buffer* buffer) noexcept {
  switch (buffer->origin) {
    case Buffer::Origin::small: return free_aligned(buffer);
    case Buffer::Origin::large: munmap(buffer->mapped, buffer->bytes); break;
    case Buffer::Origin::plain: free_aligned(buffer->mapped); break;
    case Buffer::Origin::guarded: munmap(buffer->mapped, guarded_pages(buffer->bytes)); break;
  }
  delete buffer;
}

void destroy_list(Buffer* first) noexcept {
  while (first) destroy(std::exchange(first, first->next));
}

}  // namespace anadrome::blocks
