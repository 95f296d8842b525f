// A number becomes an Array by scalar(), so that its dtype is chosen on purpose.
// EXPECT: conversion from
#include <string>
#include <vector>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;


int main() {
  Array x = ad::array({1, 2, 3});
#ifdef BAD
  Array y = 1.0f; return y.defined() ? 0 : 1;
#else
  Array y = ad::scalar(1.0f); return y.defined() ? 0 : 1;
#endif
}
