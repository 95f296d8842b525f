// An index is an integer.
// EXPECT: no match for
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;


int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  return x[1.5].defined() ? 0 : 1;
#else
  return x[1].defined() ? 0 : 1;
#endif
}
