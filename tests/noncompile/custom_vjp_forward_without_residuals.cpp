// EXPECT: custom_vjp: the forward rule must return std::pair{value, residuals} with the function's result type first
#include "anadrome/anadrome.h"

using namespace anadrome;

Array run(const Array& x) {
  const auto f = custom_vjp([](const Array& v) { return v * 2; },
#ifdef BAD
                            [](const Array& v) { return v * 2; },
#else
                            [](const Array& v) { return std::pair{v * 2, std::tuple<>{}}; },
#endif
                            [](const std::tuple<>&, const Array& ct) { return ct * 2; });
  return f(x);
}
