// require: a value that a run gives only where a condition holds; else the run fails.
#include <cstring>

#include "anadrome/error.h"
#include "primitives/checks.h"
#include "primitives/op.h"

namespace anadrome {

constinit const Prim prim::require = {
    .name = "require",
    .type = [](const TypeIn& in) -> Types { return {in.x[1]}; },
    .eval =
        [](const EvalIn& in) {
          if (!*static_cast<const bool*>(in.x[0])) throw RunError(in.as<NameAttr>().name);
          if (in.y[0] != in.x[1]) std::memcpy(in.y[0], in.x[1], in.out[0].bytes());
        },
    .jvp = [](const JvpIn& in) -> Arrays { return {in.t[1]}; },
    .transpose = no_rule("its derivative is that of its value, so it never stands in a linear program"),
    .batch =
        [](const BatchIn& in) -> BatchOut {
      const Array holds = in.batched(0) ? op::reduce_and(in.x[0], {in.axis[0]}) : in.x[0];
      return {op::require(holds, in.x[1], in.as<NameAttr>().name), in.axis[1]};
    },
    .cost = [](const CostIn&) { return Cost{}; },
    .in_place = 1};

Array op::require(const Array& holds, const Array& x, std::string_view message) {
  return bind1(prim::require, {holds, x}, NameAttr{std::string(message)});
}

}  // namespace anadrome
