// reshape: the same elements in row-major order under another shape.
#include <cstring>

#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

Types type_reshape(const TypeIn& in) {
  refuse_complex(in);
  const Shape& shape = in.as<ShapeAttr>().shape;
  require_shape(in, shape);
  if (shape.elements() != in.x[0].elements())
    refuse(in, to_string(in.x[0]) + " has " + std::to_string(in.x[0].elements()) + " elements, the shape " +
                   to_string(shape) + " holds " + std::to_string(shape.elements()) +
                   ". Give a shape with as many elements; one extent may be -1.");
  return {Type{in.x[0].dtype, shape}};
}

}  // namespace

constinit const Prim prim::reshape = {
    .name = "reshape",
    .work = Work::movement,
    .type = type_reshape,
    .eval =
        [](const EvalIn& in) {
          if (in.y[0] != in.x[0]) std::memcpy(in.y[0], in.x[0], in.out[0].bytes());
        },
    .jvp = [](const JvpIn& in) -> Arrays { return {op::reshape(in.t[0], in.as<ShapeAttr>().shape)}; },
    .transpose =
        [](const TransposeIn& in) {
          if (in.wants(0)) in.acc[0]->add(op::reshape(in.ct[0], in.in[0].shape));
        },
    .batch = [](const BatchIn& in) -> BatchOut {
      return {op::reshape(in.front(0), inserted(in.as<ShapeAttr>().shape, 0, in.size)), 0};
    },
    .cost = cost_free,
    .in_place = 0};

Array op::reshape(const Array& x, const Shape& shape) {
  return x.shape() == shape ? x : bind1(prim::reshape, {x}, ShapeAttr{shape});
}

}  // namespace anadrome
