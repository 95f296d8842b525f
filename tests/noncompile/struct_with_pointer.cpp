// A parameter struct has no pointers.
// EXPECT: pointer
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;

struct K { Array w; };
struct P { Array w; Array* p; };
int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  return ad::zeros_like(P{x, nullptr}).w.defined() ? 0 : 1;
#else
  return ad::zeros_like(K{x}).w.defined() ? 0 : 1;
#endif
}
