// transpose: the axes in another order.
#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

Types type_transpose(const TypeIn& in) {
  refuse_complex(in);
  const Ints& perm = in.as<PermutationAttr>().perm;
  require_per_axis(in, perm, "the permutation");
  Type y{in.x[0].dtype, {}};
  std::uint64_t seen = 0;
  for (std::int64_t p : perm) {
    if (p < 0 || p >= in.x[0].rank() || (seen >> p & 1))
      refuse(in, to_string(perm) + " is not a permutation of the axes of " + to_string(in.x[0]) + ".");
    seen |= std::uint64_t{1} << p;
    y.shape.push_back(in.x[0].shape[p]);
  }
  return {y};
}

void eval_transpose(const EvalIn& in) {
  const Ints& perm = in.as<PermutationAttr>().perm;
  const Strides to = row_major(in.out[0].shape), from = row_major(in.in[0].shape);
  Loops loops;
  for (int k = 0; k < perm.rank(); ++k) loops.add(in.out[0].shape[k], to[k], from[perm[k]]);
  copy_strided(in.out[0].dtype, in.y[0], in.x[0], loops);
}

Ints inverse(const Ints& perm) {
  Ints result = perm;
  for (int k = 0; k < perm.rank(); ++k) result[perm[k]] = k;
  return result;
}

}  // namespace

constinit const Prim prim::transpose = {
    .name = "transpose",
    .work = Work::movement,
    .type = type_transpose,
    .eval = eval_transpose,
    .jvp = [](const JvpIn& in) -> Arrays { return {op::transpose(in.t[0], in.as<PermutationAttr>().perm)}; },
    .transpose =
        [](const TransposeIn& in) {
          if (in.wants(0)) in.acc[0]->add(op::transpose(in.ct[0], inverse(in.as<PermutationAttr>().perm)));
        },
    .batch = [](const BatchIn& in) -> BatchOut {
      const Ints perm = past_batch(in.as<PermutationAttr>().perm, in.axis[0]);
      return {op::transpose(in.x[0], inserted(perm, 0, in.axis[0])), 0};
    },
    .cost = cost_free};

Array op::transpose(const Array& x, const Ints& perm) {
  return perm == axes_between(0, x.rank()) ? x : bind1(prim::transpose, {x}, PermutationAttr{perm});
}

Array op::move_axis(const Array& x, int from, int to) {
  Ints perm = axes_between(0, x.rank());
  perm.erase(static_cast<std::size_t>(from));
  perm.insert(static_cast<std::size_t>(to), from);
  return transpose(x, perm);
}

}  // namespace anadrome
