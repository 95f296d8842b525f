// EXPECT: RuleArgument
#include "anadrome/anadrome.h"

using namespace anadrome;

Array run(const Array& x) {
  const auto f = checkpoint([](const Array& v, auto k) { return v * k; });
#ifdef BAD
  return f(x, 2.5);
#else
  return f(x, 2);
#endif
}
