// An Array is no condition: a comparison gives an Array.
// EXPECT: operator bool
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;


int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  if (x == x) return 1;
#else
  return ad::all(x == x).item<bool>() ? 0 : 1;
#endif
}
