// top_k: values and i32 indices of the k largest along the last axis, largest first; NaN counts as largest,
// and of equal elements the first comes first.
#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"
#include "primitives/sort.h"

namespace anadrome {

namespace {

constexpr std::int64_t insertion_limit =
    64;  // up to here a sorted list of the best is faster than a full sort

Types type_top_k(const TypeIn& in) {
  refuse_complex(in);
  const Type& x = in.x[0];
  const std::int64_t k = in.as<TopKAttr>().k;
  if (x.rank() == 0) refuse(in, "needs at least one axis, got " + to_string(x) + ".");
  const std::int64_t n = x.shape.back();
  if (k < 0 || k > n)
    refuse(in, "k is " + std::to_string(k) + ", the last axis of " + to_string(x) + " has " +
                   std::to_string(n) + " elements. k lies between 0 and that.");
  if (n > std::numeric_limits<std::int32_t>::max())
    refuse(in, "the last axis of " + to_string(x) + " is too long for an i32 index.");
  Type y = x;
  y.shape.back() = k;
  return {y, Type{i32, y.shape}};
}

/// Puts the k best of a row into best[0 .. k), smallest inverted key first.
template <class T> void select_best(const T* x, std::int64_t n, std::int64_t k, SortEntry* best) {
  std::int64_t filled = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const SortEntry e{~sort_key(x[i]), static_cast<std::uint64_t>(i)};
    if (filled == k && best[k - 1].key <= e.key) continue;
    std::int64_t j = filled < k ? filled++ : k - 1;
    for (; j > 0 && best[j - 1].key > e.key; --j) best[j] = best[j - 1];
    best[j] = e;
  }
}

void eval_top_k(const EvalIn& in) {
  const std::int64_t n = in.in[0].shape.back(), k = in.as<TopKAttr>().k;
  if (k == 0) return;
  const std::int64_t rows = in.out[0].elements() / k;
  auto* entries = static_cast<SortEntry*>(in.scratch);
  dispatch_real(in.in[0].dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    for (std::int64_t r = 0; r < rows; ++r) {
      const T* x = static_cast<const T*>(in.x[0]) + r * n;
      if (k <= insertion_limit) {
        select_best(x, n, k, entries);
      } else {
        for (std::int64_t i = 0; i < n; ++i) entries[i] = {~sort_key(x[i]), static_cast<std::uint64_t>(i)};
        stable_sort(entries, entries + n, n, sizeof(Compute<T>));
      }
      for (std::int64_t i = 0; i < k; ++i) {
        static_cast<T*>(in.y[0])[r * k + i] = x[entries[i].index];
        static_cast<std::int32_t*>(in.y[1])[r * k + i] = static_cast<std::int32_t>(entries[i].index);
      }
    }
  });
}

}  // namespace

constinit const Prim prim::top_k = {
    .name = "top_k",
    .type = type_top_k,
    .eval = eval_top_k,
    .jvp = [](const JvpIn& in) -> Arrays {
      return {pick_along(in.t[0], in.y[1], in.in[0].rank() - 1), Array()};
    },
    .transpose = no_rule("not linear; its tangent is a gather"),
    .batch = [](const BatchIn& in) -> BatchOut {
      const bool last = in.axis[0] == in.rank(0);  // the batch axis would be the one searched
      return {op::top_k(last ? in.front(0) : in.x[0], in.as<TopKAttr>().k), last ? 0 : in.axis[0]};
    },
    .cost = [](const CostIn& in) -> Cost { return {.flops = static_cast<double>(in.in[0].elements())}; },
    .scratch = [](const CostIn& in) -> std::size_t {
      const std::int64_t k = in.as<TopKAttr>().k;
      return sizeof(SortEntry) *
             static_cast<std::size_t>(k <= insertion_limit ? k : 2 * in.in[0].shape.back());
    }};

Arrays op::top_k(const Array& x, std::int64_t k) {
  return bind_all(prim::top_k, std::span(&x, 1), TopKAttr{k});
}

}  // namespace anadrome
