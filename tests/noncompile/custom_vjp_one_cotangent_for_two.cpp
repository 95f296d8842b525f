// EXPECT: custom_vjp: the backward rule must return a std::tuple or std::pair with a cotangent per argument
#include "anadrome/anadrome.h"

using namespace anadrome;

Array run(const Array& x) {
  const auto f = custom_vjp([](const Array& v, const Array& w) { return v * w; }, [](const Array& v, const Array& w) { return std::pair{v * w, std::pair{v, w}}; },
#ifdef BAD
                            [](const std::pair<Array, Array>& r, const Array& ct) { return ct * r.second; });
#else
                            [](const std::pair<Array, Array>& r, const Array& ct) { return std::pair{ct * r.second, ct * r.first}; });
#endif
  return f(x, x);
}
