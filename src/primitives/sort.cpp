// sort: sorts several operands together along an axis by the first num_keys of them; stable, ascending, NaN
// last, -0 equal to 0.
#include "primitives/sort.h"

#include <cmath>

#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

void stable_sort(SortEntry* entries, SortEntry* other, std::int64_t n, int bytes) {
  if (n <= 32) {
    for (std::int64_t i = 1; i < n; ++i) {
      const SortEntry e = entries[i];
      std::int64_t j = i;
      for (; j > 0 && entries[j - 1].key > e.key; --j) entries[j] = entries[j - 1];
      entries[j] = e;
    }
    return;
  }
  SortEntry *from = entries, *to = other;
  for (int shift = 0; shift < 8 * bytes; shift += 8) {  // radix sort, least significant byte first
    std::int64_t place[257] = {};
    for (std::int64_t i = 0; i < n; ++i) ++place[(from[i].key >> shift & 255) + 1];
    if (place[(from[0].key >> shift & 255) + 1] == n) continue;  // all equal here
    for (int b = 0; b < 256; ++b) place[b + 1] += place[b];
    for (std::int64_t i = 0; i < n; ++i) to[place[from[i].key >> shift & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries) std::copy(from, from + n, entries);
}

Array pick_along(const Array& x, const Array& indices, std::int64_t axis) {
  if (x.shape()[axis] == 0 || indices.size() == 0) return op::zero_tangent({x.dtype(), indices.shape()});
  GatherAttr dims{};  // every index is in range
  dims.mode = IndexMode::clip;
  for (int k = 0; k < x.rank(); ++k) {
    dims.slice_sizes.push_back(1);
    if (k == axis) continue;
    dims.operand_batching_dims.push_back(k);
    dims.indices_batching_dims.push_back(k);
  }
  dims.collapsed_dims = dims.start_index_map = {axis};
  Shape with_vector = indices.shape();
  with_vector.push_back(1);
  return op::gather(x, op::reshape(indices, with_vector), dims);
}

namespace {

Types type_sort(const TypeIn& in) {
  refuse_complex(in);
  const auto& [axis, num_keys] = in.as<SortAttr>();
  if (in.x.empty()) refuse(in, "needs at least one operand.");
  if (num_keys < 1 || num_keys > static_cast<std::int64_t>(in.x.size()))
    refuse(in, std::to_string(num_keys) + " keys of " + std::to_string(in.x.size()) + " operands.");
  const Type& x = in.x[0];
  if (axis < 0 || axis >= x.rank()) refuse(in, "axis " + std::to_string(axis) + " of " + to_string(x) + ".");
  for (const Type& t : in.x)
    if (t.shape != x.shape)
      refuse(in, "operands of different shapes: " + to_string(x) + ", " + to_string(t) + ". All must agree.");
  return Types(in.x.begin(), in.x.end());
}

/// Where a lane along the sorted axis starts and steps.
struct Lane {
  std::int64_t first, step, n;
};

void set_keys(const Type& type, const void* x, const Lane& lane, SortEntry* entries) {
  dispatch_real(type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const T* from = static_cast<const T*>(x) + lane.first;
    for (std::int64_t i = 0; i < lane.n; ++i)
      entries[i].key = sort_key(from[static_cast<std::int64_t>(entries[i].index) * lane.step]);
  });
}
void permute(const Type& type, const void* x, void* y, const Lane& lane, const SortEntry* entries) {
  dispatch_size(type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const T* from = static_cast<const T*>(x) + lane.first;
    T* to = static_cast<T*>(y) + lane.first;
    for (std::int64_t i = 0; i < lane.n; ++i)
      to[i * lane.step] = from[static_cast<std::int64_t>(entries[i].index) * lane.step];
  });
}

void eval_sort(const EvalIn& in) {
  const auto& [axis, num_keys] = in.as<SortAttr>();
  const Shape& shape = in.in[0].shape;
  const std::int64_t n = shape[axis], inner = row_major(shape)[axis];
  auto* entries = static_cast<SortEntry*>(in.scratch);
  if (shape.elements() == 0) return;
  for (std::int64_t l = 0; l < shape.elements() / n; ++l) {
    const Lane lane{l / inner * n * inner + l % inner, inner, n};
    for (std::int64_t i = 0; i < n; ++i) entries[i].index = static_cast<std::uint64_t>(i);
    for (std::int64_t k = num_keys - 1; k >= 0; --k) {  // the last key first: each pass is stable
      set_keys(in.in[k], in.x[k], lane, entries);
      stable_sort(entries, entries + n, n,
                  static_cast<int>(std::max<std::size_t>(item_size(in.in[k].dtype), 4)));
    }
    for (std::size_t k = 0; k < in.in.size(); ++k) permute(in.in[k], in.x[k], in.y[k], lane, entries);
  }
}

/// Tangents follow their elements: the sort is done again with the positions as one more operand.
Arrays jvp_sort(const JvpIn& in) {
  const auto& [axis, num_keys] = in.as<SortAttr>();
  Arrays operands(in.x.begin(), in.x.begin() + num_keys);
  operands.push_back(op::iota(i32, in.in[0].shape, axis));
  const Array order = op::sort(operands, axis, num_keys).back();
  Arrays tangents(in.x.size());
  for (std::size_t i = 0; i < tangents.size(); ++i)
    if (in.has(i)) tangents[i] = pick_along(in.t[i], order, axis);
  return tangents;
}

BatchOut batch_sort(const BatchIn& in) {
  const auto& [axis, num_keys] = in.as<SortAttr>();
  int batch = in.axis[0];
  for (int a : in.axis)
    if (a != batch || a == unbatched) batch = 0;
  Arrays operands;
  for (std::size_t i = 0; i < in.x.size(); ++i)
    operands.push_back(in.axis[i] == batch ? in.x[i] : in.front_dense(i));
  return {op::sort(operands, axis + (axis >= batch), num_keys), batch};
}

Cost cost_sort(const CostIn& in) {
  const double n = static_cast<double>(in.in[0].shape[in.as<SortAttr>().axis]);
  return {.flops = n < 2 ? 0 : static_cast<double>(in.in[0].elements()) * std::ceil(std::log2(n))};
}

}  // namespace

constinit const Prim prim::sort = {.name = "sort",
                                   .type = type_sort,
                                   .eval = eval_sort,
                                   .jvp = jvp_sort,
                                   .transpose = no_rule("not linear; its tangent is a gather"),
                                   .batch = batch_sort,
                                   .cost = cost_sort,
                                   .scratch = [](const CostIn& in) -> std::size_t {
                                     return 2 * sizeof(SortEntry) *
                                            static_cast<std::size_t>(in.in[0].shape[in.as<SortAttr>().axis]);
                                   }};

Arrays op::sort(std::span<const Array> operands, std::int64_t axis, std::int64_t num_keys) {
  return bind_all(prim::sort, operands, SortAttr{axis, num_keys});
}

}  // namespace anadrome
