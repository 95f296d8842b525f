// Vectors of Arrays are not compared as one bool.
// EXPECT: operator bool
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;


int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  std::vector<Array> a{x}, b{x}; bool eq = a == b; return eq;
#else
  std::vector<Array> a{x}, b{x}; return ad::all(a[0] == b[0]).item<bool>() ? 0 : 1;
#endif
}
