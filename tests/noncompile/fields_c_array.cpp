// EXPECT: must not have C array members; use std::array
#include "anadrome/detail/fields.h"

struct Base { int w; };
#ifdef BAD
struct P { int a[2]; int b; };
#else
struct P { std::array<int, 2> a; int b; };
#endif

void visit(P& p) {
  anadrome::detail::for_each_field(p, [](auto&) {});
}
