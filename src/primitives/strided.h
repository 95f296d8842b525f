// Copies between strided views: what transpose, broadcast, slice, pad and their relatives evaluate with.
#pragma once
#include <array>
#include <cstdint>

#include "anadrome/shape.h"

namespace anadrome {

/// The most axes an array may have.
inline constexpr int max_rank = 32;
/// One number an axis, without allocation.
using Strides = std::array<std::int64_t, max_rank>;

/// Elements between neighbours along each axis of a row-major array.
Strides row_major(const Shape& shape);

/// The loops of a copy, outermost first; strides count elements. Axes of extent 1 vanish, and neighbouring
/// axes that run on in both views become one, so that the innermost loop is as long as it can be.
struct Loops {
  int rank = 0;
  bool empty = false;
  Strides extent, to, from;

  void add(std::int64_t n, std::int64_t to_stride, std::int64_t from_stride);
};

/// Calls inner(to, from) with the offsets of every position of all loops but the innermost `inner_rank`.
template <class Inner> void for_each_run(const Loops& loops, int inner_rank, Inner inner) {
  if (loops.empty) return;
  const int outer = loops.rank > inner_rank ? loops.rank - inner_rank : 0;
  Strides at{};
  std::int64_t to = 0, from = 0;
  for (;;) {
    inner(to, from);
    int axis = outer - 1;
    for (; axis >= 0; --axis) {
      to += loops.to[axis];
      from += loops.from[axis];
      if (++at[axis] < loops.extent[axis]) break;
      to -= loops.to[axis] * loops.extent[axis];
      from -= loops.from[axis] * loops.extent[axis];
      at[axis] = 0;
    }
    if (axis < 0) return;
  }
}

/// to[...] = from[...]; both point at the first element of their view.
void copy_strided(DType dtype, void* to, const void* from, Loops loops);
/// to[...] += from[...] for integers and floats.
void add_strided(DType dtype, void* to, const void* from, const Loops& loops);
/// Fills `count` elements with the one at `value`.
void fill_elements(DType dtype, void* to, const void* value, std::int64_t count);

/// The address `offset` elements after `base`.
inline void* element(DType dtype, void* base, std::int64_t offset) {
  return static_cast<char*>(base) + offset * static_cast<std::int64_t>(item_size(dtype));
}
inline const void* element(DType dtype, const void* base, std::int64_t offset) {
  return static_cast<const char*>(base) + offset * static_cast<std::int64_t>(item_size(dtype));
}

}  // namespace anadrome
