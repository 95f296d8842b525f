// EXPECT: custom_jvp: the rule must return std::pair{value, tangent}, both of the function's result type
#include "anadrome/anadrome.h"

using namespace anadrome;

Array run(const Array& x) {
  const auto f = custom_jvp([](const Array& v) { return v * v; },
#ifdef BAD
                            [](const Array& v, const Array& dv) { return 2 * v * dv; });
#else
                            [](const Array& v, const Array& dv) { return std::pair{v * v, 2 * v * dv}; });
#endif
  return f(x);
}
