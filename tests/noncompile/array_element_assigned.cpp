// Elements are not assigned: Arrays are values.
// EXPECT: operator=
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;


int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  x[0] = ad::scalar(5.0); return 0;
#else
  x = x.at(0).set(5); return 0;
#endif
}
