// Short ways to state arguments and cases of structural primitives.
#pragma once
#include "primitives/op.h"
#include "rules/table.h"

namespace anadrome::testing {

inline Argument real(const Shape& shape, double lo = -2, double hi = 2, int order = 2) {
  return {{f64, shape}, lo, hi, order};
}
inline Argument whole(DType dtype, const Shape& shape, double lo, double hi) {
  return {{dtype, shape}, lo, hi, 0, Fill::whole};
}
/// A case with one result.
inline Case one_result(std::string name, std::vector<Argument> arguments,
                       std::function<Array(const Arrays&)> f, double flops = 0, double transcendentals = 0) {
  return {std::move(name),
          [f = std::move(f)](const Arrays& x) { return Arrays{f(x)}; },
          std::move(arguments),
          {flops, transcendentals}};
}
/// The case with expected numbers of its one result.
inline Case with_value(Case c, std::function<Numbers(const Arrays&)> value) {
  c.value = [value = std::move(value)](const Arrays& x) { return std::vector<Numbers>{value(x)}; };
  return c;
}

}  // namespace anadrome::testing
