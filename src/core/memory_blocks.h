// Where blocks come from: small ones before their elements, large ones in huge pages, guarded ones between
// inaccessible pages. Each `make_` returns null when there is no memory.
#pragma once
#include "core/memory.h"

namespace anadrome::blocks {

constexpr std::size_t alignment = 64;
constexpr std::size_t large_bytes = std::size_t{1} << 20;  // from here on: huge pages
constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Classes up to 512 bytes go by 64; from there each doubling has four, so that at most a fifth of a block is unused.
constexpr std::size_t small_classes = 52;
std::size_t small_class(std::size_t bytes);
std::size_t small_class_bytes(std::size_t size_class);
/// Whole huge pages; above 16 MB each doubling has eight classes.
std::size_t large_class_bytes(std::size_t bytes);

Buffer* make_small(std::size_t size_class);
Buffer* make_large(std::size_t bytes);
Buffer* make_plain(std::size_t bytes);
Buffer* make_guarded(std::size_t bytes, GuardedAllocation::Place place);
/// Gives the block back to the system.
void destroy(Buffer* buffer) noexcept;
/// Destroys a list of blocks linked by `next`.
void destroy_list(Buffer* first) noexcept;

}  // namespace anadrome::blocks
