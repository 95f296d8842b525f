// Axes of extent 0 through every transform.
#include <cmath>

#include "cases/near.h"

namespace anadrome::cases {
namespace {

TEST(ZeroSize, AMapOverAnEmptyAxisGivesAnEmptyResult) {
  const Fn f = [](const Array& x) { return sum(sin(x) * 2); };
  const Array none_of_three = zeros({0, 3}, f64);
  EXPECT_EQ(batched(f)(none_of_three).shape(), (Shape{0}));
  EXPECT_EQ(batched(reverse(f))(none_of_three).shape(), (Shape{0, 3}));
  EXPECT_EQ(jitted(batched(f))(none_of_three).shape(), (Shape{0}));
  EXPECT_EQ(reverse(summed(batched(f)))(none_of_three).shape(), (Shape{0, 3}));
  EXPECT_EQ(vmap(f, {.in = 1})(none_of_three).shape(), (Shape{3}));
}

TEST(ZeroSize, ANestedCompositionKeepsItsShapes) {
  const Fn g = [](const Array& x) {
    Shape shape{1};
    for (std::int64_t d : x.shape()) shape.push_back(d);
    return zeros(shape, f64).at(0).set(x);
  };
  const Array x = zeros({1, 0}, f64);
  const auto r = jvp(jitted(batched(g)), at(x), along(x));
  EXPECT_EQ(r.value.shape(), (Shape{1, 1, 0}));
  EXPECT_EQ(r.tangent.shape(), (Shape{1, 1, 0}));
  const auto back = vjp(jitted(batched(g)), x);
  EXPECT_EQ(back.pullback(back.value).shape(), (Shape{1, 0}));
}

TEST(ZeroSize, ReductionsOfNothingAreTheirNeutralElements) {
  const Array nothing = zeros({0}, f64);
  expect_values(sum(nothing), {0});
  expect_values(prod(nothing), {1});
  expect_values(logsumexp(nothing), {-INFINITY});
  expect_values(norm(nothing), {0});
  EXPECT_EQ(cumsum(nothing).shape(), (Shape{0}));
  EXPECT_EQ(sort(nothing).shape(), (Shape{0}));
  EXPECT_EQ(grad([](const Array& x) { return sum(x * x) + 1; })(nothing).shape(), (Shape{0}));
  EXPECT_THROW((void)argmax(nothing), TypeError);
}

TEST(ZeroSize, SortingNothingInsideJitHasAGradient) {
  const auto both = jit([](const Array& x) { return std::pair(sort(x), x); });
  const auto f = [&](const Array& x) {
    const auto [sorted, same] = both(x);
    return sum(sorted) + sum(sin(same));
  };
  EXPECT_EQ(grad(f)(zeros({0}, f64)).shape(), (Shape{0}));
}

TEST(ZeroSize, ProductsOverAnEmptyAxisAreZerosWithZeroShapedGradients) {
  const auto f = [](const Array& a, const Array& b) { return sum(matmul(a, b)); };
  const Array a = zeros({2, 0}, f64), b = zeros({0, 3}, f64);
  expect_values(matmul(a, b), std::vector<double>(6, 0));
  const auto [ga, gb] = grad<0, 1>(f)(a, b);
  EXPECT_EQ(ga.shape(), (Shape{2, 0}));
  EXPECT_EQ(gb.shape(), (Shape{0, 3}));
}

TEST(ZeroSize, EmptyPiecesAndIndicesAreOrdinary) {
  const Array x = vec({1, 2, 3});
  const Fn f = [](const Array& v) {
    const Array nothing = v[slice(1, 1)];
    return sum(concatenate({nothing, v, take(v, zeros({0}, i32), 0)})) + sum(v.at(zeros({0}, i32)).add(5));
  };
  expect_values(f(x), {12});
  expect_values(reverse(f)(x), {2, 2, 2});
  expect_values(forward(f)(x), {6});
  EXPECT_EQ(jacfwd([](const Array& v) { return v[slice(0, 0)]; })(x).shape(), (Shape{0, 3}));
  EXPECT_EQ(jacrev([](const Array& v) { return v[slice(0, 0)]; })(x).shape(), (Shape{0, 3}));
  EXPECT_EQ(hessian([](const Array& v) { return sum(v * v); })(zeros({0}, f64)).shape(), (Shape{0, 0}));
}

}  // namespace
}  // namespace anadrome::cases
