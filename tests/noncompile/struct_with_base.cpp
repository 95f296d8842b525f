// A parameter struct has no base class.
// EXPECT: must not have base classes
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;

struct B { Array w; };
struct D : B { Array b; };
int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  return ad::grad([](const D& d) { return sum(d.w); })(D{{x}, x}).w.defined() ? 0 : 1;
#else
  return ad::grad([](const B& b) { return sum(b.w); })(B{x}).w.defined() ? 0 : 1;
#endif
}
