// EXPECT: must not have reference members
#include "anadrome/detail/fields.h"

struct Base { int w; };
#ifdef BAD
struct P { Base a; int& b; };
#else
struct P { Base a; int b; };
#endif

void visit(P& p) {
  anadrome::detail::for_each_field(p, [](auto&) {});
}
