// Copies between strided views.
#include "primitives/strided.h"

#include <algorithm>
#include <cstring>

#include "primitives/dispatch.h"

namespace anadrome {

namespace {

constexpr std::int64_t tile = 8;     // a constant, so that the loops over a tile unroll
constexpr std::int64_t block = 128;  // few enough pages on both sides for the address cache

template <class T>
void copy_run(T* to, const T* from, std::int64_t n, std::int64_t to_stride, std::int64_t from_stride) {
  if (to_stride == 1 && from_stride == 1)
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
  else if (to_stride == 1 && from_stride == 0)
    std::fill_n(to, n, *from);
  else if (to_stride == 1 && from_stride == -1)
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[-i];
  else
    for (std::int64_t i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
}

/// Sum that wraps for integers.
template <class T> T wrapping_sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}

/// to[r * to_stride + k] = from[r + k * from_stride].
template <class T>
void copy_tile(T* to, const T* from, std::int64_t rows, std::int64_t n, std::int64_t to_stride,
               std::int64_t from_stride) {
  if (rows == tile && n == tile) {
    for (std::int64_t r = 0; r < tile; ++r)
      for (std::int64_t k = 0; k < tile; ++k) to[r * to_stride + k] = from[r + k * from_stride];
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < n; ++k) to[r * to_stride + k] = from[r + k * from_stride];
}

/// Copies the two innermost loops in tiles: `from` runs along the first of them, `to` along the second.
template <class T> void copy_tiles(T* to, const T* from, const Loops& loops) {
  const int a = loops.rank - 2, b = loops.rank - 1;
  const std::int64_t rows = loops.extent[a], n = loops.extent[b], step_to = loops.to[a],
                     step_from = loops.from[b];
  for (std::int64_t i0 = 0; i0 < rows; i0 += block)
    for (std::int64_t j0 = 0; j0 < n; j0 += block)
      for (std::int64_t i = i0; i < std::min(i0 + block, rows); i += tile)
        for (std::int64_t j = j0; j < std::min(j0 + block, n); j += tile)
          copy_tile(to + i * step_to + j, from + i + j * step_from, std::min(tile, rows - i),
                    std::min(tile, n - j), step_to, step_from);
}

/// Where the innermost loop jumps in `from`, puts the loop that runs along `from` next to it. True if there
/// is one.
bool pair_for_tiles(Loops& loops) {
  const int last = loops.rank - 1;
  if (loops.rank < 2 || loops.to[last] != 1 || loops.from[last] == 0 || loops.from[last] == 1) return false;
  for (int k = 0; k < last; ++k) {
    if (loops.from[k] != 1 || loops.extent[k] < 4 || loops.extent[last] < 4) continue;
    for (Strides* s : {&loops.extent, &loops.to, &loops.from})
      std::rotate(s->begin() + k, s->begin() + k + 1, s->begin() + last);
    return true;
  }
  return false;
}

}  // namespace

Strides row_major(const Shape& shape) {
  if (shape.rank() > max_rank)
    throw TypeError("arrays have at most 32 axes, this one " + to_string(shape) + ".");
  Strides strides{};
  std::int64_t step = 1;
  for (int k = shape.rank() - 1; k >= 0; --k) {
    strides[k] = step;
    step *= shape[k];
  }
  return strides;
}

void Loops::add(std::int64_t n, std::int64_t to_stride, std::int64_t from_stride) {
  if (n == 0) empty = true;
  if (n == 1) return;
  if (rank > 0 && to[rank - 1] == n * to_stride && from[rank - 1] == n * from_stride) {
    extent[rank - 1] *= n;
    to[rank - 1] = to_stride;
    from[rank - 1] = from_stride;
    return;
  }
  extent[rank] = n;
  to[rank] = to_stride;
  from[rank] = from_stride;
  ++rank;
}

void copy_strided(DType dtype, void* to, const void* from, Loops loops) {
  const bool tiled = pair_for_tiles(loops);
  dispatch_size(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = static_cast<T*>(to);
    const T* in = static_cast<const T*>(from);
    if (tiled) {
      for_each_run(loops, 2, [&](std::int64_t t, std::int64_t f) { copy_tiles(out + t, in + f, loops); });
      return;
    }
    const int last = loops.rank - 1;
    const std::int64_t n = last < 0 ? 1 : loops.extent[last];
    const std::int64_t step_to = last < 0 ? 1 : loops.to[last], step_from = last < 0 ? 1 : loops.from[last];
    for_each_run(loops, 1,
                 [&](std::int64_t t, std::int64_t f) { copy_run(out + t, in + f, n, step_to, step_from); });
  });
}

void add_strided(DType dtype, void* to, const void* from, const Loops& loops) {
  dispatch_number(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    T* out = static_cast<T*>(to);
    const T* in = static_cast<const T*>(from);
    const int last = loops.rank - 1;
    const std::int64_t n = last < 0 ? 1 : loops.extent[last];
    const std::int64_t step_to = last < 0 ? 1 : loops.to[last], step_from = last < 0 ? 1 : loops.from[last];
    for_each_run(loops, 1, [&](std::int64_t t, std::int64_t f) {
      for (std::int64_t i = 0; i < n; ++i) {
        T& y = out[t + i * step_to];
        y = static_cast<T>(wrapping_sum(static_cast<C>(y), static_cast<C>(in[f + i * step_from])));
      }
    });
  });
}

void fill_elements(DType dtype, void* to, const void* value, std::int64_t count) {
  dispatch_size(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(static_cast<T*>(to), count, *static_cast<const T*>(value));
  });
}

}  // namespace anadrome
