// Extents are integers.
// EXPECT: initializer list
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;


int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  return ad::zeros({2, 3.0}).defined() ? 0 : 1;
#else
  return ad::zeros({2, 3}).defined() ? 0 : 1;
#endif
}
