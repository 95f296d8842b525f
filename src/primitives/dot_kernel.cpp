// Matrix products: c is cut into tiles of 6 rows and 2 vectors that stay in registers while the contracted
// axis runs by. b is packed into panels two vectors wide, so that a tile reads it in order whatever its
// layout; elements of a are broadcast from where they are.
#include "primitives/dot_kernel.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define ANADROME_FMA 1
#else
#define ANADROME_FMA 0
#endif

namespace anadrome::contraction {

namespace {

constexpr std::int64_t depth_block = 256;    // a panel of this depth stays in the first cache
constexpr std::int64_t column_block = 2048;  // packed at a time
constexpr std::int64_t row_block = 240;      // rows of a that stay in the second cache
constexpr int tile_rows = 6;

template <class T> struct VectorOf { typedef T type __attribute__((vector_size(32))); };
template <class T> using Vector = typename VectorOf<T>::type;
template <class T> constexpr int lanes = 32 / static_cast<int>(sizeof(T));
template <class T> constexpr int panel = 2 * lanes<T>;

template <class T> Vector<T> load(const T* p) {
  Vector<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T> void store(T* p, Vector<T> v) {
  std::memcpy(p, &v, sizeof v);
}
template <class T> Vector<T> broadcast(T x) {
#if ANADROME_FMA
  if constexpr (std::is_same_v<T, float>)
    return _mm256_set1_ps(x);
  else if constexpr (std::is_same_v<T, double>)
    return _mm256_set1_pd(x);
  else
#endif
    return x - Vector<T>{};  // not 0 + x, which would lose the sign of -0
}
/// a * b + c, rounded once where the machine can.
template <class T> Vector<T> multiply_add(Vector<T> a, Vector<T> b, Vector<T> c) {
#if ANADROME_FMA
  if constexpr (std::is_same_v<T, float>)
    return _mm256_fmadd_ps(a, b, c);
  else if constexpr (std::is_same_v<T, double>)
    return _mm256_fmadd_pd(a, b, c);
  else
#endif
    return a * b + c;
}
template <class T> T multiply_add_one(T a, T b, T c) {
#if ANADROME_FMA
  if constexpr (std::is_same_v<T, float>)
    return __builtin_fmaf(a, b, c);
  else if constexpr (std::is_same_v<T, double>)
    return __builtin_fma(a, b, c);
  else
#endif
    return static_cast<T>(a * b + c);
}
template <class T> T sum_of(Vector<T> v) {
  T lane[lanes<T>];
  store(lane, v);
  for (int width = lanes<T> / 2; width > 0; width /= 2)
    for (int j = 0; j < width; ++j) lane[j] = static_cast<T>(lane[j] + lane[j + width]);
  return lane[0];
}

/// One tile: rows x (up to) two vectors of c, set when `fresh`, else added to.
template <class T, int rows>
void tile(std::int64_t depth, const T* a, std::int64_t a_row, std::int64_t a_column, const T* b,
          std::int64_t b_row, T* c, std::int64_t c_row, std::int64_t columns, bool fresh) {
  constexpr int n = lanes<T>;
  Vector<T> sum[rows][2] = {};
  for (std::int64_t p = 0; p < depth; ++p, a += a_column, b += b_row) {
    const Vector<T> b0 = load(b), b1 = load(b + n);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const Vector<T> x = broadcast(a[r * a_row]);
      sum[r][0] = multiply_add<T>(x, b0, sum[r][0]);
      sum[r][1] = multiply_add<T>(x, b1, sum[r][1]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r, c += c_row) {
    if (columns == 2 * n) {
      store(c, fresh ? sum[r][0] : load(c) + sum[r][0]);
      store(c + n, fresh ? sum[r][1] : load(c + n) + sum[r][1]);
      continue;
    }
    T whole[2 * n];
    store(whole, sum[r][0]);
    store(whole + n, sum[r][1]);
    for (std::int64_t j = 0; j < columns; ++j) c[j] = fresh ? whole[j] : static_cast<T>(c[j] + whole[j]);
  }
}

template <class T>
void any_tile(std::int64_t rows, std::int64_t depth, const T* a, std::int64_t a_row, std::int64_t a_column,
              const T* b, std::int64_t b_row, T* c, std::int64_t c_row, std::int64_t columns, bool fresh) {
  switch (rows) {
    case 1:
      return tile<T, 1>(depth, a, a_row, a_column, b, b_row, c, c_row, columns, fresh);
    case 2:
      return tile<T, 2>(depth, a, a_row, a_column, b, b_row, c, c_row, columns, fresh);
    case 3:
      return tile<T, 3>(depth, a, a_row, a_column, b, b_row, c, c_row, columns, fresh);
    case 4:
      return tile<T, 4>(depth, a, a_row, a_column, b, b_row, c, c_row, columns, fresh);
    case 5:
      return tile<T, 5>(depth, a, a_row, a_column, b, b_row, c, c_row, columns, fresh);
    default:
      return tile<T, tile_rows>(depth, a, a_row, a_column, b, b_row, c, c_row, columns, fresh);
  }
}

/// Copies `depth` rows and `columns` <= panel columns of b, filled up with zeros.
template <class T>
void pack_panel(const T* b, std::int64_t b_row, std::int64_t b_column, std::int64_t depth,
                std::int64_t columns, T* to) {
  constexpr int width = panel<T>;
  if (columns == width && b_column == 1) {
    for (std::int64_t p = 0; p < depth; ++p, to += width) std::memcpy(to, b + p * b_row, width * sizeof(T));
    return;
  }
  for (std::int64_t p = 0; p < depth; ++p, to += width) {
    for (std::int64_t j = 0; j < columns; ++j) to[j] = b[p * b_row + j * b_column];
    for (std::int64_t j = columns; j < width; ++j) to[j] = T{0};
  }
}

/// Copies a block of a: tiles of six rows, each with its columns one after another.
template <class T> void pack_rows(Matrix<T> a, std::int64_t rows, std::int64_t depth, T* to) {
  for (std::int64_t i = 0; i < rows; i += tile_rows) {
    const std::int64_t n = std::min<std::int64_t>(tile_rows, rows - i);
    const T* from = a.data + i * a.row;
    for (std::int64_t p = 0; p < depth; ++p, to += tile_rows, from += a.column)
      for (std::int64_t r = 0; r < n; ++r) to[r] = from[r * a.row];
  }
}

/// All tiles of a block of rows and columns.
template <class T> struct Block {
  Matrix<T> a, b;  // b from its column `first` on
  T* c;
  std::int64_t c_row, rows, columns, depth;
  T *packed_a, *packed_b;
  bool pack_a, pack_b, fresh;

  void run() const {
    constexpr std::int64_t width = panel<T>;
    if (pack_a) pack_rows(a, rows, depth, packed_a);
    for (std::int64_t j = 0; j < columns; j += width) {
      const std::int64_t n = std::min(width, columns - j);
      const bool is_packed = pack_b || n < width;
      const T* bj = is_packed ? packed_b + j * depth : b.data + j;
      for (std::int64_t i = 0; i < rows; i += tile_rows) {
        const std::int64_t m = std::min<std::int64_t>(tile_rows, rows - i);
        any_tile(m, depth, pack_a ? packed_a + i * depth : a.data + i * a.row, pack_a ? 1 : a.row,
                 pack_a ? tile_rows : a.column, bj, is_packed ? width : b.row, c + i * c_row + j, c_row, n,
                 fresh);
      }
    }
  }
};

constexpr bool many(std::int64_t rows) { return rows > 4 * tile_rows; }  // few do not repay a copy

/// Elements for a packed block of rows, in whole cache lines.
std::int64_t packed_row_elements(std::int64_t m, std::int64_t k) {
  if (!many(m)) return 0;
  const std::int64_t rows = std::min((m + tile_rows - 1) / tile_rows * tile_rows, row_block);
  return (rows * std::min(k, depth_block) + 63) / 64 * 64;
}

template <class T>
void multiply_matrices(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<T> a, Matrix<T> b, T* c,
                       T* packed) {
  constexpr std::int64_t width = panel<T>;
  const bool pack_b = b.column != 1 || many(m), pack_a = many(m) && n >= 4 * width;
  T* packed_b = packed + packed_row_elements(m, k);
  for (std::int64_t p = 0; p < k; p += depth_block) {
    const std::int64_t depth = std::min(depth_block, k - p);
    for (std::int64_t first = 0; first < n; first += column_block) {
      const std::int64_t columns = std::min(n - first, column_block);
      const Matrix<T> part{b.data + p * b.row + first * b.column, b.row, b.column};
      for (std::int64_t j = 0; j < columns; j += width)
        if (pack_b || columns - j < width)
          pack_panel(part.data + j * b.column, b.row, b.column, depth, std::min(width, columns - j),
                     packed_b + j * depth);
      for (std::int64_t top = 0; top < m; top += row_block) {
        const Matrix<T> rows{a.data + top * a.row + p * a.column, a.row, a.column};
        Block<T>{rows,
                 part,
                 c + top * n + first,
                 n,
                 std::min(m - top, row_block),
                 columns,
                 depth,
                 packed,
                 packed_b,
                 pack_a,
                 pack_b,
                 p == 0}
            .run();
      }
    }
  }
}

/// Four dot products with one vector, along contiguous rows.
template <class T, int rows> void dot_rows(std::int64_t k, const T* a, std::int64_t a_row, const T* v, T* y) {
  constexpr int n = lanes<T>;
  Vector<T> sum[rows][2] = {};
  std::int64_t p = 0;
  for (; p + 2 * n <= k; p += 2 * n)
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      sum[r][0] = multiply_add<T>(load(a + r * a_row + p), load(v + p), sum[r][0]);
      sum[r][1] = multiply_add<T>(load(a + r * a_row + p + n), load(v + p + n), sum[r][1]);
    }
  if (p + n <= k) {
    for (int r = 0; r < rows; ++r)
      sum[r][0] = multiply_add<T>(load(a + r * a_row + p), load(v + p), sum[r][0]);
    p += n;
  }
  for (int r = 0; r < rows; ++r) {
    T total = sum_of<T>(sum[r][0] + sum[r][1]);
    for (std::int64_t q = p; q < k; ++q) total = multiply_add_one<T>(a[r * a_row + q], v[q], total);
    y[r] = total;
  }
}

/// y += four columns times their numbers, over contiguous columns.
template <class T>
void add_columns(std::int64_t m, const T* a, std::int64_t a_column, int columns, const T* v, T* y,
                 bool fresh) {
  constexpr int n = lanes<T>;
  std::int64_t i = 0;
  if (columns == 4) {
    const Vector<T> v0 = broadcast(v[0]), v1 = broadcast(v[1]), v2 = broadcast(v[2]), v3 = broadcast(v[3]);
    for (; i + n <= m; i += n) {
      Vector<T> sum = fresh ? Vector<T>{} : load(y + i);
      sum = multiply_add<T>(load(a + i), v0, sum);
      sum = multiply_add<T>(load(a + a_column + i), v1, sum);
      sum = multiply_add<T>(load(a + 2 * a_column + i), v2, sum);
      store(y + i, multiply_add<T>(load(a + 3 * a_column + i), v3, sum));
    }
  }
  for (; i < m; ++i) {
    T total = fresh ? T{0} : y[i];
    for (int q = 0; q < columns; ++q) total = multiply_add_one<T>(a[q * a_column + i], v[q], total);
    y[i] = total;
  }
}

/// y = a v, in whichever order a is contiguous.
template <class T> void multiply_vector(std::int64_t m, std::int64_t k, Matrix<T> a, const T* v, T* y) {
  if (a.row == 1 && m > 1) {
    constexpr std::int64_t block = 2048;  // results that stay in the first cache
    for (std::int64_t i = 0; i < m; i += block)
      for (std::int64_t p = 0; p < k; p += 4)
        add_columns(std::min(block, m - i), a.data + i + p * a.column, a.column,
                    static_cast<int>(std::min<std::int64_t>(4, k - p)), v + p, y + i, p == 0);
  } else if (a.column == 1) {
    std::int64_t i = 0;
    for (; i + 4 <= m; i += 4) dot_rows<T, 4>(k, a.data + i * a.row, a.row, v, y + i);
    for (; i < m; ++i) dot_rows<T, 1>(k, a.data + i * a.row, a.row, v, y + i);
  } else {
    for (std::int64_t i = 0; i < m; ++i) {
      T total{0};
      for (std::int64_t p = 0; p < k; ++p)
        total = multiply_add_one<T>(a.data[i * a.row + p * a.column], v[p], total);
      y[i] = total;
    }
  }
}

/// The vector itself where it is contiguous, else a copy in `space`.
template <class T> const T* contiguous(const T* v, std::int64_t stride, std::int64_t n, T* space) {
  if (stride == 1 || n == 1) return v;
  for (std::int64_t i = 0; i < n; ++i) space[i] = v[i * stride];
  return space;
}

template <class T>
void multiply_outer(std::int64_t m, std::int64_t n, Matrix<T> a, Matrix<T> b, T* c, T* packed) {
  const T* row = contiguous(b.data, b.column, n, packed);
  for (std::int64_t i = 0; i < m; ++i, c += n) {
    const T x = a.data[i * a.row];
    const Vector<T> xs = broadcast(x);
    std::int64_t j = 0;
    for (; j + lanes<T> <= n; j += lanes<T>) store<T>(c + j, xs * load(row + j));
    for (; j < n; ++j) c[j] = static_cast<T>(x * row[j]);
  }
}

}  // namespace

std::int64_t packed_elements(std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t widest = panel<std::uint8_t>;
  if (m == 1 || n == 1) return k;
  if (k == 1) return n;
  const std::int64_t columns = (std::min(n, column_block) + widest - 1) / widest * widest;
  return columns * std::min(k, depth_block) + packed_row_elements(m, k);
}

template <class T>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<T> a, Matrix<T> b, T* c, T* packed) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    std::fill_n(c, m * n, T{0});
  } else if (n == 1) {
    multiply_vector(m, k, a, contiguous(b.data, b.row, k, packed), c);
  } else if (m == 1) {
    multiply_vector(n, k, {b.data, b.column, b.row}, contiguous(a.data, a.column, k, packed), c);
  } else if (k == 1) {
    multiply_outer(m, n, a, b, c, packed);
  } else {
    multiply_matrices(m, n, k, a, b, c, packed);
  }
}

template void multiply(std::int64_t, std::int64_t, std::int64_t, Matrix<float>, Matrix<float>, float*,
                       float*);
template void multiply(std::int64_t, std::int64_t, std::int64_t, Matrix<double>, Matrix<double>, double*,
                       double*);
template void multiply(std::int64_t, std::int64_t, std::int64_t, Matrix<std::uint8_t>, Matrix<std::uint8_t>,
                       std::uint8_t*, std::uint8_t*);
template void multiply(std::int64_t, std::int64_t, std::int64_t, Matrix<std::uint16_t>, Matrix<std::uint16_t>,
                       std::uint16_t*, std::uint16_t*);
template void multiply(std::int64_t, std::int64_t, std::int64_t, Matrix<std::uint32_t>, Matrix<std::uint32_t>,
                       std::uint32_t*, std::uint32_t*);
template void multiply(std::int64_t, std::int64_t, std::int64_t, Matrix<std::uint64_t>, Matrix<std::uint64_t>,
                       std::uint64_t*, std::uint64_t*);

}  // namespace anadrome::contraction
