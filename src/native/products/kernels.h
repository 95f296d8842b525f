// The inner kernels of products, compiled once per instruction set and chosen when the program starts.
//
// Rule of sums, the same in every kernel that goes through tiles, so that results do not depend on how the
// work is cut, packed or vectorised: the contracted axis is cut into blocks of `depth_block`; in a block each
// element of the result is one chain of fused multiply-adds, ascending, from zero; the sums of blocks are
// added in order. Kernels that compute dot products of two contiguous rows sum in lanes instead, in an order
// fixed by the plan.
#pragma once
#include <cstdint>

namespace anadrome::products {

/// A block of the contracted axis; callers cut there and add.
inline constexpr std::int64_t depth_block = 256;
/// The most rows that `stream` computes at once.
inline constexpr std::int64_t stream_rows = 8;

/// c [m][n] (=|+=) a [m][k] b [k][n] for k <= depth_block. Strides count elements; neighbouring columns of b
/// (unless packed) and c are neighbours in memory.
template <class T> struct Block {
  const T* a;
  std::int64_t a_row, a_column;
  const T* b;
  std::int64_t b_row;
  T* c;
  std::int64_t c_row;
  std::int64_t m, n, k;
  bool a_packed, b_packed;  // written by pack_rows, pack: their strides are unused
  bool add;
};

/// out[i * out_x + j * out_y] (=|+=) the dot product of row i of x and row j of y, rows being contiguous.
template <class T> struct Dots {
  const T* x;
  std::int64_t x_row;
  const T* y;
  std::int64_t y_row;
  T* out;
  std::int64_t out_x, out_y;
  std::int64_t xs, ys, k;
  bool single;  // the plan has one y: more lanes for each sum
  bool add;
};

/// From one matrix of a batch to the next.
struct Steps {
  std::int64_t a, b, c;
};

template <class T> struct Kernels {
  void (*block)(const Block<T>&);
  /// block for `count` matrices, none of them packed.
  void (*batch)(const Block<T>& first, std::int64_t count, const Steps& steps);
  /// As block for m <= stream_rows, in the order in which b, not packed, lies in memory: for one from far
  /// away.
  void (*stream)(const Block<T>&);
  void (*dots)(const Dots<T>&);
  /// Copies b [k][n] with any strides to panels, k * packed_columns(n) elements.
  void (*pack)(const T* b, std::int64_t row, std::int64_t column, std::int64_t k, std::int64_t n, T* to);
  /// Copies a [m][k] so that the rows of a tile of `block`, called for the same m, are neighbours; m * k
  /// elements.
  void (*pack_rows)(const T* a, std::int64_t row, std::int64_t column, std::int64_t m, std::int64_t k, T* to);
  int lanes, panel, tile_rows;  // elements of a vector, columns of a packed panel, rows of a tile

  /// Columns after filling up the last vector.
  std::int64_t packed_columns(std::int64_t n) const { return (n + lanes - 1) / lanes * lanes; }
};

struct KernelSet {
  const char* name;
  Kernels<float> f32;
  Kernels<double> f64;
  template <class T> const Kernels<T>& of() const;
};
template <> inline const Kernels<float>& KernelSet::of<float>() const {
  return f32;
}
template <> inline const Kernels<double>& KernelSet::of<double>() const {
  return f64;
}

extern const KernelSet generic_kernels;
#if defined(__x86_64__)
extern const KernelSet avx2_kernels, avx512_kernels;
#endif

/// The widest set that this machine runs.
const KernelSet& kernels();
/// All sets that this machine runs: for tests. Ends with nullptr.
const KernelSet* const* all_kernels();

}  // namespace anadrome::products
