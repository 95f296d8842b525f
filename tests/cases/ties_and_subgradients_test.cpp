// One documented convention at every point without a derivative, in both modes and compiled.
#include <cmath>

#include "cases/near.h"

namespace anadrome::cases {
namespace {

/// The gradient by reverse mode, compiled, and by forward mode along each axis.
void expect_slopes(const Fn& f, const Array& x, const std::vector<double>& want,
                   std::source_location line = std::source_location::current()) {
  expect_values(reverse(f)(x), want, 1e-12, line);
  expect_values(jitted(reverse(f))(x), want, 1e-12, line);
  expect_values(jacfwd(f)(x), want, 1e-12, line);
  expect_values(jitted([&](const Array& v) { return jacfwd(f)(v); })(x), want, 1e-12, line);
}

TEST(TiesAndSubgradients, ExtremaShareEvenly) {
  expect_slopes([](const Array& x) { return reduce_max(x); }, vec({1, 1, 0}), {0.5, 0.5, 0});
  expect_slopes([](const Array& x) { return reduce_min(x); }, vec({1, 1, 1}), {1.0 / 3, 1.0 / 3, 1.0 / 3});
  expect_slopes([](const Array& x) { return max(x[0], x[1]); }, vec({1, 1}), {0.5, 0.5});
  expect_slopes([](const Array& x) { return min(x[0], x[1]); }, vec({1, 1}), {0.5, 0.5});
}

TEST(TiesAndSubgradients, SortingAndTopKFollowThePositionsTheyGive) {
  expect_slopes([](const Array& x) { return sort(x)[0]; }, vec({1, 1}), {1, 0});
  expect_slopes([](const Array& x) { return top_k(x, 1).values[0]; }, vec({1, 1, 0}), {1, 0, 0});
  expect_slopes([](const Array& x) { return median(x); }, vec({2, 2, 2}), {0, 1, 0});
  expect_slopes([](const Array& x) { return sum(max_pool(x, {2})); }, vec({1, 1, 1}), {1, 1, 0});
}

TEST(TiesAndSubgradients, KinksOfElementwiseFunctionsAreAsDocumented) {
  const Array zero = number(0), one = number(1);
  expect_slopes([](const Array& x) { return abs(x); }, zero, {1});
  expect_slopes([](const Array& x) { return relu(x); }, zero, {0});
  expect_slopes([](const Array& x) { return leaky_relu(x); }, zero, {1});
  expect_slopes([](const Array& x) { return clip(x, 0, 1); }, one, {0.5});
  expect_slopes([](const Array& x) { return clamp(0, x, 1); }, one, {0});
  expect_slopes([](const Array& x) { return sign(x); }, zero, {0});
  expect_slopes([](const Array& x) { return floor(x); }, one, {0});
}

TEST(TiesAndSubgradients, NanWinsInExtremaAndInTheirDerivatives) {
  const Fn f = [](const Array& x) { return reduce_max(x); };
  const Array x = vec({1, NAN});
  EXPECT_TRUE(std::isnan(f(x).item<double>()));
  const std::vector<double> eager = reverse(f)(x).to_vector<double>();
  expect_values(jitted(reverse(f))(x), eager);
  expect_values(jacfwd(f)(x), eager);
}

TEST(TiesAndSubgradients, TheWeightsOfATieAddToOneWhateverItsSize) {
  for (int n : {1, 2, 3, 7}) {
    const Array x = full({n}, number(2.5));
    for (const Fn& f :
         {Fn([](const Array& v) { return reduce_max(v); }), Fn([](const Array& v) { return sort(v)[0]; }),
          Fn([](const Array& v) { return cummax(v)[-1]; }),
          Fn([](const Array& v) { return -reduce_max(-v); })}) {
      expect_values(sum(reverse(f)(x)), {1});
      expect_values(forward(f)(x), {1});
    }
  }
}

TEST(TiesAndSubgradients, InfinitiesTieLikeNumbers) {
  expect_slopes([](const Array& x) { return reduce_max(x); }, vec({INFINITY, INFINITY, 0}), {0.5, 0.5, 0});
  expect_slopes([](const Array& x) { return max(x[0], x[1]); }, vec({-INFINITY, -INFINITY}), {0.5, 0.5});
}

}  // namespace
}  // namespace anadrome::cases
