// EXPECT: custom_vjp: the forward rule must take the arguments of the function (with symbolic_zeros: a Perturbed of each)
#include "anadrome/anadrome.h"

using namespace anadrome;

Array run(const Array& x) {
  const auto f = custom_vjp([](const Array& v, const Array& w) { return v * w; },
#ifdef BAD
                            [](const Array& v) { return std::pair{v * v, std::pair{v, v}}; },
#else
                            [](const Array& v, const Array& w) { return std::pair{v * w, std::pair{v, w}}; },
#endif
                            [](const std::pair<Array, Array>& r, const Array& ct) { return std::pair{ct * r.second, ct * r.first}; });
  return f(x, x);
}
