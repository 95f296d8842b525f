// EXPECT: custom_vjp: the backward rule must return, for each argument that is not static, a cotangent of its type, or no_gradient
#include "anadrome/anadrome.h"

using namespace anadrome;

struct Layer {
  Array w, b;
};

Array run(const Array& x) {
  const auto f = custom_vjp([](const Layer& l) { return l.w + l.b; }, [](const Layer& l) { return std::pair{l.w + l.b, std::tuple<>{}}; },
#ifdef BAD
                            [](const std::tuple<>&, const Array& ct) { return ct; });
#else
                            [](const std::tuple<>&, const Array& ct) { return Layer{ct, ct}; });
#endif
  return f(Layer{x, x});
}
