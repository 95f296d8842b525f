// zero_tangent: zeros that a linearized program treats as a linear value, so that what is computed from them
// is linear too. Its cotangent is dropped.
#include <cstring>

#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

Type attr_type(const Attrs& attrs) {
  const auto& [dtype, shape] = attrs.as<TypeAttr>();
  return {dtype, shape};
}

}  // namespace

constinit const Prim prim::zero_tangent = {
    .name = "zero_tangent",
    .work = Work::movement,
    .type = [](const TypeIn& in) -> Types {
      require_shape(in, in.as<TypeAttr>().shape);
      return {attr_type(in.attrs)};
    },
    .eval = [](const EvalIn& in) { std::memset(in.y[0], 0, in.out[0].bytes()); },
    .jvp = [](const JvpIn&) -> Arrays { return {Array()}; },
    .transpose = [](const TransposeIn&) {},
    .batch = [](const BatchIn& in) -> BatchOut {
      return {bind1(prim::zero_tangent, {}, in.eqn.attrs), unbatched};
    },
    .cost = cost_free,
    .linear_source = true};

Array op::zero_tangent(const Type& type) {
  const Scope* scope = current_scope();
  if (!scope || !scope->tangent) return zeros(type);
  return scope->tangent->record1(prim::zero_tangent, {}, TypeAttr{type.dtype, type.shape});
}

}  // namespace anadrome
