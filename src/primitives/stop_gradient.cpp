// stop_gradient: the value itself, without a derivative.
#include <cstring>

#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

constinit const Prim prim::stop_gradient = {
    .name = "stop_gradient",
    .work = Work::elementwise,
    .type = [](const TypeIn& in) -> Types {
      refuse_complex(in);
      return {in.x[0]};
    },
    .eval =
        [](const EvalIn& in) {
          if (in.y[0] != in.x[0]) std::memcpy(in.y[0], in.x[0], in.out[0].bytes());
        },
    .jvp = [](const JvpIn&) -> Arrays { return {Array()}; },
    .transpose = no_rule("its derivative is zero, so it never stands in a linear program"),
    .batch = [](const BatchIn& in) -> BatchOut {
      return {op::stop_gradient(in.x[0]), in.axis[0]};
    },
    .cost = cost_free,
    .in_place = 0};

Array op::stop_gradient(const Array& x) {
  return bind1(prim::stop_gradient, {x});
}

}  // namespace anadrome
