// grad takes one value; an auxiliary output needs has_aux.
// EXPECT: the function must return one scalar Array
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;


int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  return ad::grad([](Array t) { return std::pair{sum(t), t}; })(x).defined() ? 0 : 1;
#else
  return ad::grad([](Array t) { return std::pair{sum(t), t}; }, ad::has_aux)(x).grad.defined() ? 0 : 1;
#endif
}
