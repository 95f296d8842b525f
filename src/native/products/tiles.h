// The kernels of an instruction set, over its vector type S. Included by the files that are compiled for one;
// nothing here may be seen by two of them, so all of it has internal linkage and no standard header with code
// is included.
//
// S gives: T, V, Part, lanes, rows_of(vectors); zero, load, store, broadcast, multiply_add, add, sum, part,
// load_part, store_part; transpose(from, row, to, to_row), of a square block of lanes.
#pragma once
#include "native/products/kernels.h"

namespace anadrome::products {
namespace {

using Index = std::int64_t;
constexpr Index smaller(Index a, Index b) {
  return a < b ? a : b;
}

// ---- tiles -----------------------------------------------------------------------------------------------

template <class S> struct Tile {
  const typename S::T* a;
  Index a_row, a_column;
  const typename S::T* b;
  Index b_row;
  typename S::T* c;
  Index c_row, k;
  typename S::Part part;  // of the last vector of a row
  bool add;
};

template <class S, int vectors, bool partial>
inline void finish_row(const Tile<S>& t, typename S::T* c, const typename S::V (&sum)[vectors]) {
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) {
    typename S::T* at = c + v * S::lanes;
    if (partial && v == vectors - 1)
      S::store_part(at, t.part, t.add ? S::add(S::load_part(at, t.part), sum[v]) : sum[v]);
    else
      S::store(at, t.add ? S::add(S::load(at), sum[v]) : sum[v]);
  }
}

/// rows x vectors of c stay in registers while the contracted axis runs by.
template <class S, int rows, int vectors, bool partial> void tile(const Tile<S>& t) {
  using V = typename S::V;
  V sum[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sum[r][v] = S::zero();
  if (t.k >= 32)  // the rows of c come while the sums are computed
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      __builtin_prefetch(t.c + r * t.c_row, 1);
      __builtin_prefetch(t.c + r * t.c_row + vectors * S::lanes - 1, 1);
    }
  const typename S::T *a = t.a, *b = t.b;
  const Index a_row = t.a_row, a_column = t.a_column, b_row = t.b_row;
  for (Index p = t.k; p > 0; --p, a += a_column, b += b_row) {
    V row[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v)
      row[v] =
          partial && v == vectors - 1 ? S::load_part(b + v * S::lanes, t.part) : S::load(b + v * S::lanes);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const V x = S::broadcast(a + r * a_row);
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sum[r][v] = S::multiply_add(x, row[v], sum[r][v]);
    }
  }
  typename S::T* c = t.c;
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r, c += t.c_row) finish_row<S, vectors, partial>(t, c, sum[r]);
}

template <class S> using TileFunction = void (*)(const Tile<S>&);

constexpr int most_vectors = 8, most_rows = 12;

/// The tiles by their size; null where the registers do not suffice.
template <class S> struct TileTable {
  TileFunction<S> at[2][most_vectors][most_rows] = {};

  template <int vectors, int rows = 1> constexpr void fill() {
    if constexpr (rows <= S::rows_of(vectors)) {
      at[0][vectors - 1][rows - 1] = tile<S, rows, vectors, false>;
      at[1][vectors - 1][rows - 1] = tile<S, rows, vectors, true>;
      fill<vectors, rows + 1>();
    } else if constexpr (vectors < most_vectors) {
      fill<vectors + 1, 1>();
    }
  }
  constexpr TileTable() { fill<1>(); }
};
template <class S> constexpr TileTable<S> tiles{};

/// Cuts m rows into as few tiles as possible and those into equal numbers of rows: 8 rows as 4 + 4, not 6
/// + 2.
struct RowCut {
  Index tiles = 1, rows, longer = 0;  // the first `longer` tiles have rows + 1
  RowCut(Index m, Index most) : rows(m) {
    if (m <= most) return;
    tiles = (m + most - 1) / most, rows = m / tiles, longer = m % tiles;
  }
};

/// Vectors of the next panel when `left` remain. Packed panels are cut like this.
template <class S> constexpr Index panel_vectors(Index left) {
  return smaller(left, S::usual_vectors);
}

/// As panel_vectors, where nothing is packed: panels are about equally wide, and few rows leave registers for
/// wider ones.
template <class S> constexpr Index free_panel_vectors(Index left, Index m) {
  constexpr int usual = S::usual_vectors;
  Index widest = usual;
  while (widest < most_vectors && S::rows_of(static_cast<int>(widest) + 1) >= m) ++widest;
  if (left == usual + 1 && S::rows_of(usual + 1) * (usual + 1) >= S::rows_of(usual) * usual) return left;
  if (left <= widest) return left;
  const Index panels = (left + widest - 1) / widest;
  return (left + panels - 1) / panels;
}

/// The tiles of one panel, top to bottom. Meanwhile the next packed panel comes nearer: `ahead` elements from
/// t.b on.
template <class S>
void panel(const Block<typename S::T>& x, Index vectors, bool partial, Index ahead, Tile<S>& t) {
  constexpr Index line = 64 / sizeof(typename S::T);
  const auto& functions = tiles<S>.at[partial][vectors - 1];
  const RowCut cut(x.m, S::rows_of(static_cast<int>(x.a_packed ? S::usual_vectors : vectors)));
  const typename S::T *a = x.a, *next = t.b + ahead;
  const Index share = (ahead / line + cut.tiles - 1) / cut.tiles;
  for (Index i = 0; i < cut.tiles; ++i) {
    const Index rows = cut.rows + (i < cut.longer);
    t.a = a;
    if (x.a_packed)
      t.a_row = 1, t.a_column = rows, a += rows * x.k;
    else
      a += rows * x.a_row;
    for (Index q = 0; q < share; ++q, next += line) __builtin_prefetch(next, 0, 2);
    functions[rows - 1](t);
    t.c += rows * x.c_row;
  }
}

template <class S> void block(const Block<typename S::T>& x) {
  Tile<S> t{x.a, x.a_row, x.a_column, x.b, x.b_row, x.c, x.c_row, x.k, {}, x.add};
  for (Index j = 0; j < x.n;) {
    const Index left = (x.n - j + S::lanes - 1) / S::lanes;
    const Index vectors =
        x.b_packed || x.a_packed ? panel_vectors<S>(left) : free_panel_vectors<S>(left, x.m);
    const Index width = vectors * S::lanes;
    const bool partial = width > x.n - j;
    if (partial) t.part = S::part(static_cast<int>(x.n - j - (vectors - 1) * S::lanes));
    t.b = x.b_packed ? x.b + j * x.k : x.b + j;
    if (x.b_packed) t.b_row = width;
    t.c = x.c + j;
    panel<S>(x, vectors, partial, x.b_packed && x.m > 4 * most_rows ? width * x.k : 0, t);
    j += width;
  }
}

template <class S> void batch(const Block<typename S::T>& first, Index count, const Steps& steps) {
  const Index left = (first.n + S::lanes - 1) / S::lanes, vectors = free_panel_vectors<S>(left, first.m);
  if (vectors == left && first.m <= S::rows_of(static_cast<int>(vectors))) {  // one tile each
    Tile<S> t{first.a, first.a_row, first.a_column, first.b, first.b_row,
              first.c, first.c_row, first.k,        {},      first.add};
    const Index last = first.n - (vectors - 1) * S::lanes;
    t.part = S::part(static_cast<int>(last));
    const TileFunction<S> function = tiles<S>.at[last < S::lanes][vectors - 1][first.m - 1];
    for (Index i = 0; i < count; ++i, t.a += steps.a, t.b += steps.b, t.c += steps.c) function(t);
    return;
  }
  Block<typename S::T> x = first;
  for (Index i = 0; i < count; ++i, x.a += steps.a, x.b += steps.b, x.c += steps.c) block<S>(x);
}

// ---- few rows --------------------------------------------------------------------------------------------

/// For each of `rows` rows: sum (=|+=) four rows of b times their numbers.
template <class S, int rows>
void add_four_rows(const Block<typename S::T>& x, const typename S::T* a, const typename S::T* b, Index n,
                   typename S::T* sum, Index sum_row, bool fresh) {
  using T = typename S::T;
  using V = typename S::V;
  V factor[rows][4];
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) factor[r][q] = S::broadcast(a + r * x.a_row + q * x.a_column);
  const auto step = [&](Index j, auto load) {
    V y[rows];
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) y[r] = fresh ? S::zero() : S::load(sum + r * sum_row + j);
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      const V right = load(b + q * x.b_row + j);
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) y[r] = S::multiply_add(factor[r][q], right, y[r]);
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) S::store(sum + r * sum_row + j, y[r]);
  };
  Index j = 0;
  for (; j + S::lanes <= n; j += S::lanes) step(j, [](const T* p) { return S::load(p); });
  if (j == n) return;
  const auto part = S::part(static_cast<int>(n - j));
  step(j, [&](const T* p) { return S::load_part(p, part); });
}

/// As add_four_rows for the rows of b that four do not divide.
template <class S>
void add_last_rows(const Block<typename S::T>& x, Index p, Index j, Index n, typename S::T* sum,
                   Index sum_row) {
  using T = typename S::T;
  for (; p < x.k; ++p)
    for (Index r = 0; r < x.m; ++r) {
      const T factor = x.a[r * x.a_row + p * x.a_column];
      const T* b = x.b + p * x.b_row + j;
      T* to = sum + r * sum_row;
      for (Index i = 0; i < n; ++i) to[i] = S::multiply_add_one(factor, b[i], p == 0 ? T{0} : to[i]);
    }
}

template <class S> void stream(const Block<typename S::T>& x) {
  using T = typename S::T;
  constexpr Index size = 16384 / sizeof(T);  // sums that stay in the first cache
  alignas(64) T sum[size];
  const Index width = x.m == 1 ? size / 4 : size / x.m / S::lanes * S::lanes;
  for (Index j = 0; j < x.n; j += width) {
    const Index n = smaller(width, x.n - j);
    Index p = 0;
    for (; p + 4 <= x.k; p += 4) {
      const T *a = x.a + p * x.a_column, *b = x.b + p * x.b_row + j;
      Index r = 0;
      for (; r + 2 <= x.m; r += 2)
        add_four_rows<S, 2>(x, a + r * x.a_row, b, n, sum + r * width, width, p == 0);
      if (r < x.m) add_four_rows<S, 1>(x, a + r * x.a_row, b, n, sum + r * width, width, p == 0);
    }
    add_last_rows<S>(x, p, j, n, sum, width);
    for (Index r = 0; r < x.m; ++r) {
      T* c = x.c + r * x.c_row + j;
      for (Index i = 0; i < n; ++i) c[i] = x.add ? c[i] + sum[r * width + i] : sum[r * width + i];
    }
  }
}

// ---- dot products ----------------------------------------------------------------------------------------

constexpr Index dots_block_depth = 4096;  // lanes are summed up after so many elements

/// xs x ys dot products, each summed in `chains` vectors.
template <class S, int xs, int ys, int chains>
void dots_tile(const Dots<typename S::T>& d, const typename S::T* x, const typename S::T* y,
               typename S::T* out) {
  using V = typename S::V;
  const Index k = d.k;
  V sum[xs][ys][chains];
  for (auto& row : sum)
    for (auto& element : row)
      for (V& v : element) v = S::zero();
  const auto step = [&](Index p, int chain, auto load) {
    V right[ys];
#pragma GCC unroll 4
    for (int j = 0; j < ys; ++j) right[j] = load(y + j * d.y_row + p);
#pragma GCC unroll 4
    for (int i = 0; i < xs; ++i) {
      const V left = load(x + i * d.x_row + p);
#pragma GCC unroll 4
      for (int j = 0; j < ys; ++j) sum[i][j][chain] = S::multiply_add(left, right[j], sum[i][j][chain]);
    }
  };
  const auto whole = [](const typename S::T* p) { return S::load(p); };
  Index p = 0;
  for (; p + chains * S::lanes <= k; p += chains * S::lanes)
#pragma GCC unroll 4
    for (int c = 0; c < chains; ++c) step(p + c * S::lanes, c, whole);
  for (; p + S::lanes <= k; p += S::lanes) step(p, 0, whole);
  if (p < k) {
    const auto part = S::part(static_cast<int>(k - p));
    step(p, 0, [&](const typename S::T* at) { return S::load_part(at, part); });
  }
  for (int i = 0; i < xs; ++i)
    for (int j = 0; j < ys; ++j) {
      V v = sum[i][j][0];
      if constexpr (chains == 4) v = S::add(S::add(v, sum[i][j][1]), S::add(sum[i][j][2], sum[i][j][3]));
      typename S::T& to = out[i * d.out_x + j * d.out_y];
      to = d.add ? to + S::sum(v) : S::sum(v);
    }
}

/// Rows of x against ys rows of y.
template <class S, int xs, int ys, int chains> void dots_rows(const Dots<typename S::T>& d, Index j) {
  const typename S::T* y = d.y + j * d.y_row;
  Index i = 0;
  for (; i + xs <= d.xs; i += xs)
    dots_tile<S, xs, ys, chains>(d, d.x + i * d.x_row, y, d.out + i * d.out_x + j * d.out_y);
  for (; i < d.xs; ++i)
    dots_tile<S, 1, ys, chains>(d, d.x + i * d.x_row, y, d.out + i * d.out_x + j * d.out_y);
}

template <class S> void dots_block(const Dots<typename S::T>& d) {
  for (Index j = 0; j < d.ys;) {
    const Index ys = d.single ? 1 : smaller(3, d.ys - j);
    if (d.single)
      dots_rows<S, 2, 1, 4>(d, j);
    else if (ys == 1)
      dots_rows<S, 4, 1, 1>(d, j);
    else if (ys == 2)
      dots_rows<S, 4, 2, 1>(d, j);
    else
      dots_rows<S, 4, 3, 1>(d, j);
    j += ys;
  }
}

template <class S> void dots(const Dots<typename S::T>& d) {
  constexpr Index elements = 65536 / sizeof(typename S::T);  // of x, which stay near while all of y goes by
  for (Index p = 0; p < d.k; p += dots_block_depth) {
    const Index k = smaller(dots_block_depth, d.k - p);
    const Index rows = d.ys <= 3 ? d.xs : (elements / k + 3) / 4 * 4;
    for (Index i = 0; i < d.xs; i += rows) {
      Dots<typename S::T> part = d;
      part.x += i * d.x_row + p, part.y += p, part.out += i * d.out_x;
      part.xs = smaller(rows, d.xs - i), part.k = k, part.add = d.add || p > 0;
      dots_block<S>(part);
    }
  }
}

// ---- copies ----------------------------------------------------------------------------------------------

/// Columns [from, n) of b to rows of `width` elements, filled up with zeros.
template <class S>
void pack_edge(const typename S::T* b, Index row, Index column, Index k, Index from, Index n, Index width,
               typename S::T* to) {
  using T = typename S::T;
  for (Index p = 0; p < k; ++p, to += width)
    for (Index j = from; j < width; ++j) to[j] = j < n ? b[p * row + j * column] : T{0};
}

/// The panel of `width` columns of a b with contiguous columns.
template <class S>
void pack_columns(const typename S::T* b, Index column, Index k, Index n, Index width, typename S::T* to) {
  constexpr Index lanes = S::lanes;
  Index j = 0;
  for (; j + lanes <= n; j += lanes) {
    Index p = 0;
    for (; p + lanes <= k; p += lanes) S::transpose(b + j * column + p, column, to + p * width + j, width);
    for (; p < k; ++p)
      for (Index i = j; i < j + lanes; ++i) to[p * width + i] = b[i * column + p];
  }
  if (j < width) pack_edge<S>(b, 1, column, k, j, n, width, to);
}

/// Several panels of a b with contiguous rows, side by side: far away memory is best read in long runs.
template <class S>
void pack_contiguous(const typename S::T* b, Index row, Index k, Index n, typename S::T* to) {
  constexpr Index lanes = S::lanes, usual = S::usual_vectors * lanes, together = 4 * usual;
  for (Index first = 0; first < n; first += together) {
    const Index whole = smaller(n - first, together) / usual * usual;
    for (Index p = 0; p < k; ++p) {
      const typename S::T* from = b + p * row + first;
      typename S::T* at = to + first * k + p * usual;
      for (Index j = 0; j < whole; j += usual, at += usual * k)
#pragma GCC unroll 8
        for (int v = 0; v < S::usual_vectors; ++v) S::store(at + v * lanes, S::load(from + j + v * lanes));
    }
  }
}

/// The last panel of a b with contiguous rows.
template <class S> void pack_last(const typename S::T* b, Index row, Index k, Index n, typename S::T* to) {
  const Index whole = (n - 1) / S::lanes;
  const auto part = S::part(static_cast<int>(n - whole * S::lanes));
  for (Index p = 0; p < k; ++p, b += row) {
    for (Index v = 0; v < whole; ++v, to += S::lanes) S::store(to, S::load(b + v * S::lanes));
    S::store(to, S::load_part(b + whole * S::lanes, part));
    to += S::lanes;
  }
}

template <class S>
void pack(const typename S::T* b, Index row, Index column, Index k, Index n, typename S::T* to) {
  constexpr Index usual = S::usual_vectors * S::lanes;
  if (column == 1) {
    const Index whole = n / usual * usual;
    pack_contiguous<S>(b, row, k, whole, to);
    if (whole < n) pack_last<S>(b + whole, row, k, n - whole, to + whole * k);
    return;
  }
  for (Index j = 0; j < n; j += usual) {
    const Index left = smaller(usual, n - j), width = (left + S::lanes - 1) / S::lanes * S::lanes;
    if (row == 1)
      pack_columns<S>(b + j * column, column, k, left, width, to + j * k);
    else
      pack_edge<S>(b + j * column, row, column, k, 0, left, width, to + j * k);
  }
}

/// Columns [0, k) of a tile's rows of a, for a constant or a variable number of rows.
template <class S, class Rows>
void pack_tile_rows(const typename S::T* a, Index row, Index column, Rows rows, Index k, typename S::T* to) {
  for (Index p = 0; p < k; ++p, to += Index{rows}, a += column)
    for (Index r = 0; r < Index{rows}; ++r) to[r] = a[r * row];
}

/// As pack_tile_rows for contiguous columns, in whole vectors: reads and writes up to tile_vectors past the
/// rows.
template <class S, int vectors>
void pack_tile_vectors(const typename S::T* a, Index column, Index rows, Index k, typename S::T* to) {
  for (Index p = 0; p < k; ++p, to += rows, a += column)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) S::store(to + v * S::lanes, S::load(a + v * S::lanes));
}

template <class S>
void pack_rows(const typename S::T* a, Index row, Index column, Index m, Index k, typename S::T* to) {
  constexpr Index usual = S::rows_of(S::usual_vectors);
  constexpr int vectors = (usual + S::lanes - 1) / S::lanes;
  struct Usual {
    constexpr operator Index() const { return usual; }
  };
  const RowCut cut(m, usual);
  // Where columns are contiguous, all rows of a few of them at a time: lines are then read once.
  const Index step = row == 1 ? 4 : k;
  for (Index p = 0; p < k; p += step) {
    const Index columns = smaller(step, k - p);
    Index first = 0;
    for (Index i = 0; i < cut.tiles; ++i) {
      const Index rows = cut.rows + (i < cut.longer);
      const typename S::T* from = a + first * row + p * column;
      typename S::T* at = to + first * k + p * rows;
      // What is written past the rows is overwritten by the next columns, so not in the last ones.
      if (row == 1 && first + vectors * S::lanes <= m && p + step + vectors * S::lanes <= k)
        pack_tile_vectors<S, vectors>(from, column, rows, columns, at);
      else if (rows == usual)
        pack_tile_rows<S>(from, row, column, Usual{}, columns, at);
      else
        pack_tile_rows<S>(from, row, column, rows, columns, at);
      first += rows;
    }
  }
}

template <class S> constexpr Kernels<typename S::T> kernels_of() {
  return {block<S>,
          batch<S>,
          stream<S>,
          dots<S>,
          pack<S>,
          pack_rows<S>,
          S::lanes,
          S::usual_vectors * S::lanes,
          S::rows_of(S::usual_vectors)};
}

}  // namespace
}  // namespace anadrome::products
