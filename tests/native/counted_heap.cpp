// operator new and delete of the program, which count.
#include "native/counted_heap.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::int64_t> bytes_so_far{0};
}

std::int64_t anadrome::testing::heap_bytes() { return bytes_so_far; }

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t bytes) {
  bytes_so_far += static_cast<std::int64_t>(bytes);
  if (void* p = std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif
