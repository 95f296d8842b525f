// A floating-point member would be neither traced nor static.
// EXPECT: a floating-point member is neither traced nor static
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;

struct P { Array w; ad::Static<double> rate; };
struct Q { Array w; double rate; };
int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  return ad::grad([](const Q& p) { return sum(p.w); })(Q{x, 0.1}).w.defined() ? 0 : 1;
#else
  return ad::grad([](const P& p) { return sum(p.w); })(P{x, {0.1}}).w.defined() ? 0 : 1;
#endif
}
