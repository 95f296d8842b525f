// An Array does not turn into a bool by itself.
// EXPECT: cannot convert
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;


int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  bool b = x; return b;
#else
  bool b = ad::all(x > 0).item<bool>(); return b ? 0 : 1;
#endif
}
