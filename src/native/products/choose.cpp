// The limits here were measured; docs/products.md has the table.
#include "native/products/choose.h"

#include <algorithm>
#include <cstdlib>

#include "primitives/dispatch.h"

namespace anadrome::products {
namespace {

using Kind = Choice::Kind;

constexpr std::int64_t resident_bytes = 256 << 10;   // an operand that stays in the second cache with others
constexpr std::int64_t row_block_bytes = 144 << 10;  // rows of lhs, depth_block deep, that stay there
constexpr std::int64_t strided_bytes = 64 << 10;     // columns of lhs up to here are read where they are
constexpr std::int64_t far_row_bytes = 1 << 10;      // rows of rhs so far apart meet in the same cache lines
constexpr std::int64_t page_bytes = 4 << 10;         // columns of lhs so far apart are a page each
constexpr std::int64_t packed_bytes = 128 << 10;     // a packed operand that stays there
// Packed together: panels enough to read far away memory in long runs; what the third cache holds where many
// rows use it.
constexpr std::int64_t few_panels = 4, many_bytes = 256 << 10;

std::int64_t bytes_of(DType t) {
  return t == DType::f64 ? 8 : 4;
}  // in the type that is computed in

/// Dot products along the contracted axis, where both sides run along it and one has few vectors.
bool choose_dots(const Layout& l, Choice& c) {
  if (l.k == 1) return false;
  const bool rows_run = l.lhs_column == 1, columns_run = l.rhs_row == 1;
  const bool few_columns = l.n == 1 || (l.n <= 3 && 2 * l.n <= c.lanes && l.k >= 128);
  if (rows_run && few_columns && (l.m > 1 || !columns_run)) {
    c.kind = Kind::row_dots;
    c.copies_y = !columns_run;
    return true;
  }
  if (columns_run && (l.m == 1 || (l.m <= (l.k >= 512 ? 16 : 8) && l.k >= 64 && l.rhs_column != 1))) {
    c.kind = Kind::column_dots;
    c.copies_y = !rows_run;
    return true;
  }
  return false;
}

/// Tiles whose results are summed up in working memory.
void choose_indirect(const Layout& l, Choice& c) {
  c.packs_rhs = true;
  c.packed_columns = c.panel;
  c.row_block = std::min(l.m, 8 * c.tile_rows);
  c.column_block = std::min(l.n, 8 * c.panel);
}

void choose_tiles(const Layout& l, Choice& c) {
  const std::int64_t size = bytes_of(c.dtype), depth = std::min(l.k, depth_block);
  c.kind = Kind::tiles;
  if (c.indirect) return choose_indirect(l, c);
  c.packs_rhs = (l.rhs_column != 1 && l.n > 1) ||
                (l.k * l.n * size > resident_bytes && std::abs(l.rhs_row) * size >= far_row_bytes);
  const std::int64_t whole = (l.n + c.lanes - 1) / c.lanes * c.lanes;
  const bool packs_once = l.k <= depth_block && l.k * whole * size <= packed_bytes;
  const std::int64_t lhs_bytes = l.m * l.k * size;
  const bool far_columns = l.lhs_row == 1 && l.lhs_column * size >= page_bytes && l.n >= 4 * c.panel;
  c.packs_lhs = l.m >= 8 * c.tile_rows && (far_columns || l.n >= 16 * c.panel) &&
                lhs_bytes > (l.lhs_row == 1 ? strided_bytes : resident_bytes);
  std::int64_t rows = row_block_bytes / (depth * size);
  // Where little is contracted it is the result that must not leave the cache half written.
  if ((packs_once || !c.packs_rhs) && !c.packs_lhs) rows = std::min(rows, row_block_bytes / (2 * l.n * size));
  rows = std::max(rows / c.tile_rows, std::int64_t{1}) * c.tile_rows;
  c.row_block = std::min(l.m, rows);
  const std::int64_t panels = l.m > 2 * rows ? many_bytes / (depth * size * c.panel) : few_panels;
  c.packed_columns = packs_once ? whole : std::min(whole, panels * c.panel);
}

}  // namespace

void choose(const Layout& l, Choice& c) {
  const auto set = [&](const auto& kernels) {
    c.lanes = kernels.lanes, c.panel = kernels.panel, c.tile_rows = kernels.tile_rows;
  };
  if (c.dtype == DType::f64)
    set(c.kernels->f64);
  else
    set(c.kernels->f32);
  if (l.k == 0) {
    c.kind = Kind::zeros;
    return;
  }
  c.indirect = item_size(c.dtype) == 2;
  if (!c.indirect && choose_dots(l, c)) return;
  c.indirect = c.indirect || (l.n > 1 && l.out_column != 1);
  if (!c.indirect && l.n == 1 && l.m > 1 && l.lhs_row == 1 && l.out_row == 1) {
    c.kind = Kind::turned_row;
    c.streams = l.m * l.k * bytes_of(c.dtype) > resident_bytes;
    return;
  }
  choose_tiles(l, c);
}

std::size_t workspace_bytes(const Layout& l, const Choice& c) {
  const std::int64_t depth = std::min(l.k, depth_block);
  std::int64_t elements = 0;
  if (c.copies_y) elements += l.k * (c.kind == Kind::row_dots ? l.n : l.m);
  if (c.kind == Kind::tiles) {
    if (c.packs_rhs) elements += depth * std::min((l.n + c.lanes - 1) / c.lanes * c.lanes, c.packed_columns);
    if (c.packs_lhs || c.indirect) elements += depth * c.row_block;
    if (c.indirect) elements += c.row_block * c.column_block;
  }
  return static_cast<std::size_t>((elements * bytes_of(c.dtype) + 63) / 64 * 64);
}

double estimated_nanoseconds(const Layout& l, const Choice& c) {
  constexpr double operations_per_lane = 9, bytes_per_nanosecond = 15, call = 15;
  const double m = static_cast<double>(l.m), n = static_cast<double>(l.n), k = static_cast<double>(l.k);
  const double operations = 2 * m * n * k / (operations_per_lane * static_cast<double>(c.lanes));
  const double bytes = (m * k + k * n + m * n) * static_cast<double>(item_size(c.dtype));
  return std::max(operations, bytes / bytes_per_nanosecond) + call;
}

}  // namespace anadrome::products
