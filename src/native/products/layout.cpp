// Merging axes, choosing what to copy, turning a transposed result round.
#include "native/products/layout.h"

#include <algorithm>
#include <utility>

namespace anadrome::products {
namespace {

using Axes = std::vector<Loop>;

/// Fewer positions than these along the merged innermost axis are worth a copy that merges more.
constexpr std::int64_t few_rows = 8, few_columns = 16;

/// Neighbours that run on in all operands become one.
Axes merged(const Axes& axes) {
  Axes out;
  for (const Loop& inner : axes) {
    if (inner.extent == 1) continue;
    if (!out.empty()) {
      Loop& outer = out.back();
      const std::int64_t n = inner.extent;
      if (outer.lhs == n * inner.lhs && outer.rhs == n * inner.rhs && outer.out == n * inner.out) {
        outer = {outer.extent * n, inner.lhs, inner.rhs, inner.out};
        continue;
      }
    }
    out.push_back(inner);
  }
  return out;
}

/// True when the axes run on in one operand, whatever they do in the others.
bool runs_on(Axes axes, std::int64_t Loop::*operand) {
  for (Loop& a : axes) {
    const std::int64_t stride = a.*operand;
    a = {a.extent, 0, 0, 0};
    a.*operand = stride;
  }
  return merged(axes).size() <= 1;
}

struct Groups {
  Axes batch, rows, columns, contracted;
};

void set_strides(Axes& axes, std::int64_t Loop::*operand, std::int64_t& step) {
  for (auto a = axes.rbegin(); a != axes.rend(); ++a) {
    (*a).*operand = step;
    step *= std::max<std::int64_t>(a->extent, 1);
  }
}

/// The copy of one operand to row-major order of the given groups, whose strides change to those of the copy.
Loops copy_to_row_major(std::initializer_list<Axes*> groups, std::int64_t Loop::*operand) {
  std::vector<std::pair<std::int64_t, std::int64_t>> from;  // extent, stride
  for (Axes* axes : groups)
    for (const Loop& a : *axes) from.emplace_back(a.extent, a.*operand);
  std::int64_t step = 1;
  for (auto axes = std::rbegin(groups); axes != std::rend(groups); ++axes) set_strides(**axes, operand, step);
  Loops copy;
  auto at = from.begin();
  for (Axes* axes : groups)
    for (const Loop& a : *axes) {
      copy.add(at->first, a.*operand, at->second);
      ++at;
    }
  return copy;
}

/// Copies operands until the contracted axes run on in both, and rows and columns where much is gained.
void copy_what_does_not_merge(Groups& g, Layout& out) {
  const auto gains = [](const Axes& axes, std::int64_t Loop::*operand, std::int64_t few) {
    const Axes all = merged(axes);
    return all.size() > 1 && all.back().extent < few && !runs_on(axes, operand) && runs_on(axes, &Loop::out);
  };
  if (!runs_on(g.contracted, &Loop::lhs) || gains(g.rows, &Loop::lhs, few_rows))
    out.lhs_copy = copy_to_row_major({&g.batch, &g.rows, &g.contracted}, &Loop::lhs);
  if (!runs_on(g.contracted, &Loop::rhs) || gains(g.columns, &Loop::rhs, few_columns))
    out.rhs_copy = copy_to_row_major({&g.batch, &g.contracted, &g.columns}, &Loop::rhs);
}

Ints axes_left(int rank, const Ints& a, const Ints& b) {
  Ints rest;
  for (int i = 0; i < rank; ++i)
    if (std::find(a.begin(), a.end(), i) == a.end() && std::find(b.begin(), b.end(), i) == b.end())
      rest.push_back(i);
  return rest;
}

Strides strides_of(const Shape& shape, View view) {
  Strides s = row_major(shape);
  std::copy(view.begin(), view.end(), s.begin());
  return s;
}

Groups groups_of(const DotAttr& d, const Shape& lhs, const Shape& rhs, View lhs_view, View rhs_view,
                 View out_view) {
  const Strides left = strides_of(lhs, lhs_view), right = strides_of(rhs, rhs_view);
  const Ints rows = axes_left(lhs.rank(), d.contract_lhs, d.batch_lhs);
  const Ints columns = axes_left(rhs.rank(), d.contract_rhs, d.batch_rhs);
  Shape out;
  for (std::int64_t a : d.batch_lhs) out.push_back(lhs[a]);
  for (std::int64_t a : rows) out.push_back(lhs[a]);
  for (std::int64_t a : columns) out.push_back(rhs[a]);
  const Strides result = strides_of(out, out_view);
  Groups g;
  int at = 0;
  for (int i = 0; i < d.batch_lhs.rank(); ++i)
    g.batch.push_back({lhs[d.batch_lhs[i]], left[d.batch_lhs[i]], right[d.batch_rhs[i]], result[at++]});
  for (std::int64_t a : rows) g.rows.push_back({lhs[a], left[a], 0, result[at++]});
  for (std::int64_t a : columns) g.columns.push_back({rhs[a], 0, right[a], result[at++]});
  for (int i = 0; i < d.contract_lhs.rank(); ++i)
    g.contracted.push_back({lhs[d.contract_lhs[i]], left[d.contract_lhs[i]], right[d.contract_rhs[i]], 0});
  std::stable_sort(g.contracted.begin(), g.contracted.end(),
                   [](const Loop& a, const Loop& b) { return a.lhs > b.lhs; });
  return g;
}

Loop take_innermost(Axes& axes) {
  if (axes.empty()) return {1, 1, 1, 1};
  const Loop last = axes.back();
  axes.pop_back();
  return last;
}

void swap_sides(Groups& g) {
  std::swap(g.rows, g.columns);
  for (Axes* axes : {&g.batch, &g.rows, &g.columns, &g.contracted})
    for (Loop& a : *axes) std::swap(a.lhs, a.rhs);
}

}  // namespace

Layout layout_of(const DotAttr& dims, const Shape& lhs, const Shape& rhs, View lhs_view, View rhs_view,
                 View out_view) {
  Layout out;
  Groups g = groups_of(dims, lhs, rhs, lhs_view, rhs_view, out_view);
  const auto is_empty = [](const Axes& axes) {
    return std::any_of(axes.begin(), axes.end(), [](const Loop& a) { return a.extent == 0; });
  };
  if (is_empty(g.batch) || is_empty(g.rows) || is_empty(g.columns)) {
    out.m = 0;
    return out;
  }
  if (is_empty(g.contracted)) g.contracted = {{0, 1, 1, 0}};
  const Axes rows = merged(g.rows), columns = merged(g.columns);
  out.swapped = !columns.empty() && columns.back().out != 1 && !rows.empty() && rows.back().out == 1;
  if (out.swapped) swap_sides(g);
  copy_what_does_not_merge(g, out);
  g.rows = merged(g.rows), g.columns = merged(g.columns), g.contracted = merged(g.contracted);
  const Loop m = take_innermost(g.rows), n = take_innermost(g.columns), k = take_innermost(g.contracted);
  out.m = m.extent, out.n = n.extent, out.k = k.extent;
  out.lhs_row = m.lhs, out.lhs_column = k.lhs, out.rhs_row = k.rhs, out.rhs_column = n.rhs;
  out.out_row = m.out, out.out_column = n.out;
  g.batch.insert(g.batch.end(), g.rows.begin(), g.rows.end());
  out.outer = merged(g.batch);
  out.inner = g.columns;
  return out;
}

}  // namespace anadrome::products
