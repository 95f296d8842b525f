// What sort and top_k share: keys of elements in sorting order, a stable sort of them, and picking along an
// axis.
#pragma once
#include <algorithm>
#include <bit>

#include "primitives/dispatch.h"
#include "primitives/op.h"

namespace anadrome {

/// An element's place in the order, and where it is.
struct SortEntry {
  std::uint64_t key;
  std::uint64_t index;
};

/// A number that compares as the element sorts: NaN is largest, -0 equals 0. Only the low 8 *
/// sizeof(Compute<T>) bits are used.
template <class T> std::uint64_t sort_key(T element) {
  using C = Compute<T>;
  if constexpr (std::is_floating_point_v<C>) {
    using Bits = std::conditional_t<sizeof(C) == 8, std::uint64_t, std::uint32_t>;
    C x = static_cast<C>(element);
    if (x != x) return ~Bits{0};
    if (x == 0) x = 0;
    const Bits bits = std::bit_cast<Bits>(x), sign = Bits{1} << (8 * sizeof(C) - 1);
    return bits & sign ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | sign);
  } else if constexpr (std::is_same_v<T, bool>) {
    return element;
  } else {
    using Bits = std::make_unsigned_t<T>;
    constexpr Bits sign = std::is_signed_v<T> ? static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1)) : Bits{0};
    return static_cast<Bits>(static_cast<Bits>(element) ^ sign);
  }
}

/// Sorts n entries by key, stable, using `other` (n entries) as working memory. `bytes`: how many low bytes
/// of the keys are used.
void stable_sort(SortEntry* entries, SortEntry* other, std::int64_t n, int bytes);

/// Elements of the tangent `x` along `axis` at `indices` (i32, of its shape but for that axis).
Array pick_along(const Array& x, const Array& indices, std::int64_t axis);

}  // namespace anadrome
