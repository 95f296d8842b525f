// grad<I> needs an argument I.
// EXPECT: argument number out of range
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;

Array f(const Array& a, const Array& b) { return sum(a * b); }
int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  return ad::grad<3>(f)(x, x).defined() ? 0 : 1;
#else
  return ad::grad<1>(f)(x, x).defined() ? 0 : 1;
#endif
}
