// EXPECT: custom_vjp: the backward rule must return as many cotangents as there are arguments that are not static
#include "anadrome/anadrome.h"

using namespace anadrome;

Array run(const Array& x) {
  const auto f = custom_vjp([](int k, const Array& v, const Array& w) { return v * w * k; },
                            [](int k, const Array& v, const Array& w) { return std::pair{v * w * k, std::tuple{v, w, k}}; },
                            [](const std::tuple<Array, Array, int>& r, const Array& ct) {
                              const auto& [v, w, k] = r;
#ifdef BAD
                              return std::tuple{no_gradient, ct * w * k, ct * v * k};
#else
                              return std::tuple{ct * w * k, ct * v * k};
#endif
                            });
  return f(3, x, x);
}
