// && needs bools; logical_and works on Arrays.
// EXPECT: operator bool
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;


int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  return ad::all(x && x).item<bool>() ? 0 : 1;
#else
  return ad::all(logical_and(x > 0, x < 9)).item<bool>() ? 0 : 1;
#endif
}
