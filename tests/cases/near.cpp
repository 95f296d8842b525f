// See near.h.
#include "cases/near.h"

#include <cmath>

namespace anadrome::cases {

Array number(double value) {
  return scalar(value, f64);
}
Array vec(const std::vector<double>& values) {
  return array(values);
}

Fn reverse(Fn f) {
  return [f = std::move(f)](const Array& x) { return grad(f)(x); };
}
Fn forward(Fn f) {
  return [f = std::move(f)](const Array& x) { return jvp(f, at(x), along(ones_like(x))).tangent; };
}
Fn batched(Fn f) {
  return [f = std::move(f)](const Array& x) { return vmap(f)(x); };
}
Fn jitted(Fn f) {
  return Fn(jit(std::move(f)));
}
Fn summed(Fn f) {
  return [f = std::move(f)](const Array& x) { return sum(f(x)); };
}

const std::vector<Mode>& modes() {
  static const std::vector<Mode> both{{"forward", forward}, {"reverse", reverse}};
  return both;
}

std::vector<Array> hessians(const Fn& f, const Array& x) {
  const Fn by_forward = [&](const Array& y) { return jacfwd(f)(y); };
  const Fn by_reverse = [&](const Array& y) { return jacrev(f)(y); };
  return {jacfwd(by_reverse)(x), jacrev(by_reverse)(x), jacfwd(by_forward)(x), jacrev(by_forward)(x)};
}

void expect_values(const Array& got, const std::vector<double>& want, double relative,
                   std::source_location line) {
  if (got.dtype() != f64 || got.size() != static_cast<std::int64_t>(want.size())) {
    ADD_FAILURE_AT(line.file_name(), static_cast<int>(line.line()))
        << "has type " << to_string(got.type()) << ", wanted are " << want.size() << " numbers of f64";
    return;
  }
  const std::vector<double> values = got.to_vector<double>();
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double limit = relative * (want[i] == 0 ? 1 : std::fabs(want[i]));
    const bool right = values[i] == want[i] || (std::isnan(values[i]) && std::isnan(want[i])) ||
                       std::fabs(values[i] - want[i]) <= limit;
    if (!right)
      ADD_FAILURE_AT(line.file_name(), static_cast<int>(line.line()))
          << "element " << i << " is " << ::testing::PrintToString(values[i]) << ", wanted "
          << ::testing::PrintToString(want[i]) << ", relative error " << (values[i] - want[i]) / want[i];
  }
}

}  // namespace anadrome::cases
