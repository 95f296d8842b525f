// EXPECT: a parameter struct must not have base classes
#include "anadrome/detail/fields.h"

struct Base { int w; };
#ifdef BAD
struct P : Base { int b; };
#else
struct P { Base base; int b; };
#endif

void visit(P& p) {
  anadrome::detail::for_each_field(p, [](auto&) {});
}
