// A floating-point argument of jit would be compiled again for each value.
// EXPECT: a floating-point argument is neither traced nor static
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;


int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  return ad::jit([](Array t, double k) { return t * k; })(x, 0.1).defined() ? 0 : 1;
#else
  return ad::jit([](Array t, Array k) { return t * k; })(x, ad::scalar(0.1)).defined() ? 0 : 1;
#endif
}
