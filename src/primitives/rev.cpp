// rev: the elements along some axes in reverse order.
#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

Types type_rev(const TypeIn& in) {
  refuse_complex(in);
  std::uint64_t seen = 0;
  for (std::int64_t a : in.as<AxesAttr>().axes) {
    if (a < 0 || a >= in.x[0].rank() || (seen >> a & 1))
      refuse(in, "axes " + to_string(in.as<AxesAttr>().axes) + " of " + to_string(in.x[0]) +
                     ": each must exist and be named once.");
    seen |= std::uint64_t{1} << a;
  }
  return {in.x[0]};
}

void eval_rev(const EvalIn& in) {
  const Shape& shape = in.out[0].shape;
  const Strides to = row_major(shape);
  Strides from = to;
  std::int64_t start = 0;
  if (shape.elements() == 0) return;
  for (std::int64_t a : in.as<AxesAttr>().axes) {
    start += (shape[a] - 1) * from[a];
    from[a] = -from[a];
  }
  Loops loops;
  for (int k = 0; k < shape.rank(); ++k) loops.add(shape[k], to[k], from[k]);
  copy_strided(in.out[0].dtype, in.y[0], element(in.out[0].dtype, in.x[0], start), loops);
}

}  // namespace

constinit const Prim prim::rev = {
    .name = "rev",
    .work = Work::movement,
    .type = type_rev,
    .eval = eval_rev,
    .jvp = [](const JvpIn& in) -> Arrays { return {op::rev(in.t[0], in.as<AxesAttr>().axes)}; },
    .transpose =
        [](const TransposeIn& in) {
          if (in.wants(0)) in.acc[0]->add(op::rev(in.ct[0], in.as<AxesAttr>().axes));
        },
    .batch = [](const BatchIn& in) -> BatchOut {
      return {op::rev(in.x[0], past_batch(in.as<AxesAttr>().axes, in.axis[0])), in.axis[0]};
    },
    .cost = cost_free};

Array op::rev(const Array& x, const Ints& axes) {
  return axes.empty() ? x : bind1(prim::rev, {x}, AxesAttr{axes});
}

}  // namespace anadrome
