// EXPECT: custom_vjp: the backward rule must take (residuals, cotangent of the result); with symbolic_zeros the second is a Cotangent
#include "anadrome/anadrome.h"

using namespace anadrome;

Array run(const Array& x) {
  const auto f = custom_vjp([](const Array& v) { return v * v; }, [](const Array& v) { return std::pair{v * v, std::pair{v, v}}; },
#ifdef BAD
                            [](const Array& v, const Array& ct) { return 2 * v * ct; });
#else
                            [](const std::pair<Array, Array>& r, const Array& ct) { return (r.first + r.second) * ct; });
#endif
  return f(x);
}
