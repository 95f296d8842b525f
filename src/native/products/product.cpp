// Products: loops around one matrix product, cut into blocks that stay in the caches.
#include "native/products/product.h"

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include "native/pool.h"
#include "native/products/choose.h"
#include "primitives/dispatch.h"

namespace anadrome::products {
namespace {

using Kind = Choice::Kind;
using Index = std::int64_t;

/// What the kernels compute in.
template <class T> const Kernels<Compute<T>>& kernels_for(const Choice& c) {
  return c.kernels->of<Compute<T>>();
}

/// One matrix product, or a part of its rows and columns.
template <class T> struct Matrices {
  const T* lhs;
  const T* rhs;
  T* out;
  Index m, n;
  bool add;
};

template <class T> void set_zeros(const Layout& l, const Matrices<T>& x) {
  if (x.add) return;
  for (Index i = 0; i < x.m; ++i)
    for (Index j = 0; j < x.n; ++j) x.out[i * l.out_row + j * l.out_column] = T(0.0f);
}

// ---- tiles -----------------------------------------------------------------------------------------------

/// Elements of space that packed columns of rhs take.
template <class T> Index packed_elements(const Layout& l, const Choice& c) {
  return c.packs_rhs
             ? std::min(l.k, depth_block) * std::min(kernels_for<T>(c).packed_columns(l.n), c.packed_columns)
             : 0;
}

/// The blocks of a product on tiles.
template <class T> struct Tiles {
  const Layout& l;
  const Choice& c;
  const Matrices<T> x;
  T *packed_rhs, *packed_lhs;

  const Kernels<T>& kernels() const { return kernels_for<T>(c); }

  /// Rows from i on, the contracted axis from p on, columns from j on.
  Block<T> at(Index i, Index p, Index j, Index columns) const {
    return {.a = x.lhs + i * l.lhs_row + p * l.lhs_column,
            .a_row = l.lhs_row,
            .a_column = l.lhs_column,
            .b = x.rhs + p * l.rhs_row + j * l.rhs_column,
            .b_row = l.rhs_row,
            .c = x.out + i * l.out_row + j * l.out_column,
            .c_row = l.out_row,
            .m = std::min(c.row_block, x.m - i),
            .n = std::min(columns, x.n - j),
            .k = std::min(depth_block, l.k - p),
            .a_packed = false,
            .b_packed = false,
            .add = x.add || p > 0};
  }
  void pack_lhs(Block<T>& b) const {
    if (!c.packs_lhs) return;
    kernels().pack_rows(b.a, b.a_row, b.a_column, b.m, b.k, packed_lhs);
    b.a = packed_lhs, b.a_packed = true;
  }
  void pack_rhs(const Block<T>& b) const {
    kernels().pack(b.b, l.rhs_row, l.rhs_column, b.k, b.n, packed_rhs);
  }
  void run_packed(Block<T> b) const {
    b.b = packed_rhs, b.b_packed = true;
    kernels().block(b);
  }

  void run_in_place() const {
    for (Index i = 0; i < x.m; i += c.row_block)
      for (Index p = 0; p < l.k; p += depth_block) {
        Block<T> b = at(i, p, 0, x.n);
        pack_lhs(b);
        kernels().block(b);
      }
  }
  void run_streams() const {
    for (Index p = 0; p < l.k; p += depth_block) kernels().stream(at(0, p, 0, x.n));
  }
  /// For one or two blocks of rows: lhs is packed once, rhs for each of them.
  void run_rows_first() const {
    for (Index i = 0; i < x.m; i += c.row_block)
      for (Index p = 0; p < l.k; p += depth_block) {
        Block<T> rows = at(i, p, 0, x.n);
        pack_lhs(rows);
        for (Index j = 0; j < x.n; j += c.packed_columns) {
          Block<T> b = at(i, p, j, c.packed_columns);
          b.a = rows.a, b.a_packed = rows.a_packed;
          pack_rhs(b);
          run_packed(b);
        }
      }
  }
  /// For more: rhs is packed once, lhs for each block of columns.
  void run_columns_first() const {
    for (Index j = 0; j < x.n; j += c.packed_columns)
      for (Index p = 0; p < l.k; p += depth_block) {
        pack_rhs(at(0, p, j, c.packed_columns));
        for (Index i = 0; i < x.m; i += c.row_block) {
          Block<T> b = at(i, p, j, c.packed_columns);
          pack_lhs(b);
          run_packed(b);
        }
      }
  }
};

template <class T> void run_tiles(const Layout& l, const Choice& c, const Matrices<T>& x, T* space) {
  const Tiles<T> tiles{l, c, x, space, space + packed_elements<T>(l, c)};
  if (!c.packs_rhs)
    tiles.run_in_place();
  else if (l.rhs_column == 1 && x.m <= stream_rows)  // few rows do not repay packing
    tiles.run_streams();
  else if (c.packed_columns >= l.n || x.m > 2 * c.row_block)
    tiles.run_columns_first();
  else
    tiles.run_rows_first();
}

/// Columns [0, n) of rhs as the one panel that `pack` would write, converted.
template <class T, class C>
void pack_converted(const T* b, Index row, Index column, Index k, Index n, Index width, C* to) {
  for (Index p = 0; p < k; ++p, to += width) {
    const T* from = b + p * row;
    if (column == 1)
      for (Index j = 0; j < n; ++j) to[j] = static_cast<C>(from[j]);
    else
      for (Index j = 0; j < n; ++j) to[j] = static_cast<C>(from[j * column]);
    std::fill(to + n, to + width, C{0});
  }
}

template <class T, class C> void copy_rows(const T* a, Index row, Index column, Index m, Index k, C* to) {
  for (Index i = 0; i < m; ++i, to += k, a += row)
    for (Index p = 0; p < k; ++p) to[p] = static_cast<C>(a[p * column]);
}

/// Parts of the result are summed up in `space` and then written.
template <class T, class C>
void run_indirect(const Layout& l, const Choice& c, const Matrices<T>& x, C* space) {
  const Kernels<C>& kernels = kernels_for<C>(c);
  const Index deepest = std::min(l.k, depth_block);
  C* const rhs = space;
  C* const lhs = rhs + deepest * std::min(kernels.packed_columns(l.n), c.panel);
  C* const sum = lhs + deepest * c.row_block;
  for (Index j0 = 0; j0 < x.n; j0 += c.column_block)
    for (Index i = 0; i < x.m; i += c.row_block) {
      const Index m = std::min(c.row_block, x.m - i), columns = std::min(c.column_block, x.n - j0);
      for (Index p = 0; p < l.k; p += depth_block) {
        const Index k = std::min(depth_block, l.k - p);
        copy_rows(x.lhs + i * l.lhs_row + p * l.lhs_column, l.lhs_row, l.lhs_column, m, k, lhs);
        for (Index j = 0; j < columns; j += c.panel) {
          const Index n = std::min(c.panel, columns - j);
          pack_converted(x.rhs + p * l.rhs_row + (j0 + j) * l.rhs_column, l.rhs_row, l.rhs_column, k, n,
                         kernels.packed_columns(n), rhs);
          kernels.block({lhs, k, 1, rhs, 0, sum + j, columns, m, n, k, false, true, p > 0});
        }
      }
      for (Index r = 0; r < m; ++r)
        for (Index j = 0; j < columns; ++j) {
          T& out = x.out[(i + r) * l.out_row + (j0 + j) * l.out_column];
          const C value = sum[r * columns + j];
          out = static_cast<T>(x.add ? static_cast<C>(out) + value : value);
        }
    }
}

// ---- vectors ---------------------------------------------------------------------------------------------

template <class T> void run_turned_row(const Layout& l, const Choice& c, const Matrices<T>& x) {
  const Kernels<T>& kernels = kernels_for<T>(c);
  for (Index p = 0; p < l.k; p += depth_block) {
    const Block<T> b{x.rhs + p * l.rhs_row,
                     0,
                     l.rhs_row,
                     x.lhs + p * l.lhs_column,
                     l.lhs_column,
                     x.out,
                     0,
                     1,
                     x.m,
                     std::min(depth_block, l.k - p),
                     false,
                     false,
                     x.add || p > 0};
    if (c.streams)
      kernels.stream(b);
    else
      kernels.block(b);
  }
}

template <class T> void run_dots(const Layout& l, const Choice& c, const Matrices<T>& x, T* space) {
  const bool rows = c.kind == Kind::row_dots;
  Dots<T> d{};
  d.k = l.k;
  d.add = x.add;
  d.out = x.out;
  d.single = (rows ? l.n : l.m) == 1;
  if (rows) {
    d.x = x.lhs, d.x_row = l.lhs_row, d.y = x.rhs, d.y_row = l.rhs_column;
    d.out_x = l.out_row, d.out_y = l.out_column, d.xs = x.m, d.ys = x.n;
  } else {
    d.x = x.rhs, d.x_row = l.rhs_column, d.y = x.lhs, d.y_row = l.lhs_row;
    d.out_x = l.out_column, d.out_y = l.out_row, d.xs = x.n, d.ys = x.m;
  }
  if (c.copies_y) {
    copy_rows(d.y, d.y_row, rows ? l.rhs_row : l.lhs_column, d.ys, l.k, space);
    d.y = space, d.y_row = l.k;
  }
  kernels_for<T>(c).dots(d);
}

template <class T>
void run_matrices(const Layout& l, const Choice& c, const Matrices<T>& x, void* workspace) {
  auto* space = static_cast<Compute<T>*>(workspace);
  if (c.kind == Kind::zeros) return set_zeros(l, x);
  if (c.indirect) return run_indirect(l, c, x, space);
  if constexpr (std::is_same_v<T, Compute<T>>) {
    if (c.kind == Kind::tiles)
      run_tiles(l, c, x, space);
    else if (c.kind == Kind::turned_row)
      run_turned_row(l, c, x);
    else
      run_dots(l, c, x, space);
  }
}

struct Offsets {
  Index lhs = 0, rhs = 0, out = 0;
};
/// Where the operands of position `at` of the loops are.
Offsets offsets_at(const std::vector<Loop>& loops, Index at) {
  Offsets o;
  for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
    const Index i = l + 1 == loops.rend() ? at : at % l->extent;
    at /= l + 1 == loops.rend() ? 1 : l->extent;
    o.lhs += i * l->lhs, o.rhs += i * l->rhs, o.out += i * l->out;
  }
  return o;
}

Index positions(const std::vector<Loop>& loops) {
  Index n = 1;
  for (const Loop& l : loops) n *= l.extent;
  return n;
}

/// The bytes of what a copy fills, in whole cache lines.
std::size_t copy_bytes(const std::optional<Loops>& copy, DType dtype) {
  if (!copy) return 0;
  Index n = 1;
  for (int i = 0; i < copy->rank; ++i) n *= copy->extent[static_cast<std::size_t>(i)];
  return (static_cast<std::size_t>(n) * item_size(dtype) + 63) / 64 * 64;
}

}  // namespace

/// Rows over all groups, and columns.
struct Product::Ranges {
  Index begin, end, first_column, last_column;
};

/// Whole matrices of a batch, each one block where it lies: all in one call.
template <class T> bool runs_as_batch(const Layout& l, const Choice& c) {
  return std::is_same_v<T, Compute<T>> && c.kind == Kind::tiles && !c.indirect && !c.packs_rhs &&
         !c.packs_lhs && l.k <= depth_block && l.m <= c.row_block && l.outer.size() == 1 && l.inner.empty();
}

template <class T>
void Product::run_typed(const T* lhs, const T* rhs, T* out, void* workspace, const Ranges& ranges) const {
  const Layout& l = layout_;
  const Index column = ranges.first_column, columns = ranges.last_column - column;
  const bool batched = runs_as_batch<T>(l, choice_);
  Index group = groups_ == 1 ? 0 : ranges.begin / l.m, i = ranges.begin - group * l.m;
  for (Index left_over = ranges.end - ranges.begin, m; left_over > 0; left_over -= m, i = 0) {
    m = std::min(l.m - i, left_over);
    const Offsets at = offsets_at(l.outer, group++);
    const T* left = lhs + at.lhs + i * l.lhs_row;
    const T* right = rhs + at.rhs + column * l.rhs_column;
    T* to = out + at.out + i * l.out_row + column * l.out_column;
    if constexpr (std::is_same_v<T, Compute<T>>)
      if (batched && m == l.m) {
        const Index count = left_over / m;
        const Loop& step = l.outer.front();
        kernels_for<T>(choice_).batch(
            Tiles<T>{l, choice_, {left, right, to, m, columns, choice_.add}, nullptr, nullptr}.at(0, 0, 0,
                                                                                                  columns),
            count, {step.lhs, step.rhs, step.out});
        group += count - 1, m *= count;
        continue;
      }
    for (Index r = 0; r < repeats_; ++r) {
      const Offsets inner = offsets_at(l.inner, r);
      run_matrices<T>(l, choice_,
                      {left + inner.lhs, right + inner.rhs, to + inner.out, m, columns, choice_.add},
                      workspace);
    }
  }
}

void Product::run_ranges(const void* lhs, const void* rhs, const void* prepared, void* out, void* workspace,
                         const Ranges& ranges) const {
  if (layout_.swapped) std::swap(lhs, rhs);
  if (layout_.lhs_copy) lhs = prepared;
  if (layout_.rhs_copy) rhs = static_cast<const char*>(prepared) + lhs_copy_bytes_;
  dispatch_float(choice_.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    run_typed<T>(static_cast<const T*>(lhs), static_cast<const T*>(rhs), static_cast<T*>(out), workspace,
                 ranges);
  });
}

void Product::prepare(const void* lhs, const void* rhs, void* prepared) const {
  if (layout_.swapped) std::swap(lhs, rhs);
  if (layout_.lhs_copy) copy_strided(choice_.dtype, prepared, lhs, *layout_.lhs_copy);
  if (layout_.rhs_copy)
    copy_strided(choice_.dtype, static_cast<char*>(prepared) + lhs_copy_bytes_, rhs, *layout_.rhs_copy);
}

void Product::run_rows(const void* lhs, const void* rhs, const void* prepared, void* out, void* workspace,
                       std::int64_t begin, std::int64_t end) const {
  run_ranges(lhs, rhs, prepared, out, workspace, {begin, end, 0, layout_.n});
}

[[gnu::noinline]] void Product::run_on_stack(const void* lhs, const void* rhs, const void* prepared, void* out,
                                             const Ranges& ranges) const {
  alignas(64) char workspace[stack_bytes];
  run_ranges(lhs, rhs, prepared, out, workspace, ranges);
}

void Product::run(const void* lhs, const void* rhs, void* out, void* scratch, int threads) const {
  if (rows() == 0) return;
  prepare(lhs, rhs, scratch);
  const auto run_chunk = [&](const Ranges& ranges, Index chunk) {
    if (uses_stack()) return run_on_stack(lhs, rhs, scratch, out, ranges);
    char* const workspaces = static_cast<char*>(scratch) + prepared_bytes_;
    run_ranges(lhs, rhs, scratch, out, workspaces + static_cast<std::size_t>(chunk) * workspace_bytes_, ranges);
  };
  if (threads == 1 || !worth_spreading(nanoseconds_)) return run_chunk({0, rows(), 0, layout_.n}, 0);
  const Index tile = choice_.tile_rows, unit = layout_.m >= 2 * tile ? tile : std::max<Index>(layout_.m, 1);
  const Index row_units = (rows() + unit - 1) / unit,
              column_units = (layout_.n + choice_.panel - 1) / choice_.panel;
  // Each thread packs its own rows and all columns, or the other way round: the less the better.
  const bool packs_less = choice_.packs_rhs && layout_.n > layout_.m && column_units >= 2 * threads;
  const bool by_columns = groups_ == 1 && repeats_ == 1 &&
                          (packs_less || (row_units < 2 * threads && column_units > row_units));
  const Index units = by_columns ? column_units : row_units;
  const Index chunks = std::min<Index>(units, workspace_bytes_ != 0 ? threads : 4 * threads);
  parallel_for(chunks, [&](Index chunk) {
    const Index begin = units * chunk / chunks, end = units * (chunk + 1) / chunks;
    Ranges ranges{0, rows(), 0, layout_.n};
    if (by_columns)
      ranges.first_column = begin * choice_.panel,
      ranges.last_column = std::min(end * choice_.panel, layout_.n);
    else
      ranges.begin = begin * unit, ranges.end = std::min(end * unit, rows());
    run_chunk(ranges, chunk);
  });
}

std::string Product::text() const {
  constexpr const char* names[] = {"zeros", "tiles", "turned row", "row dots", "column dots"};
  std::string out = names[static_cast<int>(choice_.kind)];
  out += ' ';
  out += choice_.kernels->name;
  out += ' ';
  out += tag(choice_.dtype);
  out += ' ';
  if (groups_ * repeats_ != 1) out += std::to_string(groups_ * repeats_) + " x ";
  out += std::to_string(layout_.m) + "x" + std::to_string(layout_.n) + "x" + std::to_string(layout_.k);
  if (choice_.indirect) out += ", converted";
  if (choice_.packs_lhs) out += ", lhs packed";
  if (choice_.packs_rhs && !choice_.indirect) out += ", rhs packed";
  if (choice_.streams) out += ", streamed";
  if (choice_.add) out += ", added";
  return out;
}

std::optional<Product> plan_product(const DotAttr& dims, const Type& lhs, const Type& rhs,
                                    const ProductPlan& plan) {
  if (!is_float(lhs.dtype)) return std::nullopt;
  Product p;
  p.layout_ = layout_of(dims, lhs.shape, rhs.shape, plan.lhs_view, plan.rhs_view, plan.out_view);
  p.choice_.dtype = lhs.dtype;
  p.choice_.kernels = plan.kernels ? plan.kernels : &kernels();
  p.choice_.add = plan.accumulate;
  if (p.layout_.m == 0) return p;
  choose(p.layout_, p.choice_);
  p.groups_ = positions(p.layout_.outer);
  p.repeats_ = positions(p.layout_.inner);
  p.lhs_copy_bytes_ = copy_bytes(p.layout_.lhs_copy, lhs.dtype);
  p.prepared_bytes_ = p.lhs_copy_bytes_ + copy_bytes(p.layout_.rhs_copy, lhs.dtype);
  p.workspace_bytes_ = workspace_bytes(p.layout_, p.choice_);
  p.nanoseconds_ = static_cast<double>(p.groups_) * static_cast<double>(p.repeats_) *
                   estimated_nanoseconds(p.layout_, p.choice_);
  return p;
}

}  // namespace anadrome::products
