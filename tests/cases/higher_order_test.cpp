// Second and higher derivatives: rules that can be differentiated again, through layouts and inner gradients.
#include <cmath>

#include "cases/near.h"

namespace anadrome::cases {
namespace {

void expect_hessian(const Fn& f, const Array& x, const std::vector<double>& want,
                    std::source_location line = std::source_location::current()) {
  for (const Array& h : hessians(f, x)) expect_values(h, want, 1e-12, line);
}

TEST(HigherOrder, HypotHasTheHessianOfItsFormula) {
  const Fn f = [](const Array& v) { return hypot(v[0], v[1]); };
  const Fn formula = [](const Array& v) { return sqrt(v[0] * v[0] + v[1] * v[1]); };
  const double h = 0.3535533905932738;
  for (const Fn& each : {f, formula}) {
    expect_hessian(each, vec({1, 1}), {h, -h, -h, h});
    expect_hessian(each, vec({3, 4}), {0.128, -0.096, -0.096, 0.072});
  }
}

TEST(HigherOrder, TheProductWithTwoZerosKeepsItsSecondDerivative) {
  const Fn f = [](const Array& x) { return prod(x); };
  std::vector<double> want(16, 0);
  want[11] = want[14] = 6;
  expect_hessian(f, vec({2, 3, 0, 0}), want);
  // d3/dx0 dx2 dx3 = x1
  const Fn entry = [&](const Array& x) { return hessians(f, x)[0][{2, 3}]; };
  expect_values(reverse(entry)(vec({2, 3, 0, 0})), {3, 2, 0, 0});
}

TEST(HigherOrder, ANormalisationIsRightToTheThirdDerivative) {
  const Fn phi = [](const Array& t) {
    const Array y = vec({1, 2, 4, 7}) + t * vec({1, -1, 0.5, 2});
    const Array centred = y - mean(y);
    return sum(vec({0.3, -0.2, 0.5, 1}) * centred / sqrt(mean(centred * centred) + 1e-5));
  };
  const Fn with_var = [](const Array& t) {
    const Array y = vec({1, 2, 4, 7}) + t * vec({1, -1, 0.5, 2});
    return sum(vec({0.3, -0.2, 0.5, 1}) * (y - mean(y)) * rsqrt(var(y) + 1e-5));
  };
  const double want[] = {1.4402367039041992, 0.3351208287312423, -0.3933855976250019, 0.38901034991603534};
  for (const Fn& f : {phi, with_var})
    for (const Mode& m : modes()) {
      SCOPED_TRACE(m.name);
      Fn derivative = f;
      for (double value : want) {
        expect_values(derivative(number(0)), {value}, 1e-10);
        derivative = m.derivative(derivative);
      }
    }
}

TEST(HigherOrder, TangentsPassThroughReshapeAndMatrixProducts) {
  const Fn f = [](const Array& v) {
    const Array m = reshape(v, {2, 2});
    return sum(matmul(m, m));
  };
  const Array v = vec({1, 2, 3, 4});
  expect_values(reverse(f)(v), {7, 11, 9, 13});
  expect_hessian(f, v, {2, 1, 1, 0, 1, 0, 2, 1, 1, 2, 0, 1, 0, 1, 1, 2});
}

TEST(HigherOrder, OneComponentOfAnInnerGradientCanBeDifferentiated) {
  const Fn f = [](const Array& x) { return prod(sin(x) / x); };
  const Fn component = [&](const Array& x) { return grad(f)(x)[0]; };
  expect_values(reverse(component)(vec({0.5, 1, 1.5})),
                {-0.17274257701564447, 0.03255229315160437, 0.05418465455196548}, 1e-11);
  const Fn squares = [](const Array& y) { return sum(y * y); };
  const Fn along_axes = [&](const Array& x) {
    Array total = number(0);
    for (int i = 0; i < 5; ++i)
      total = total + jvp(squares, at(x), along(one_hot(scalar(i, i32), 5, f64))).tangent;
    return total;
  };
  expect_values(reverse(along_axes)(vec({1, 2, 3, 4, 5})), {2, 2, 2, 2, 2}, 1e-11);
}

TEST(HigherOrder, LayoutOperationsKeepSecondDerivatives) {
  // (v0 v2)^2 through concatenate, transpose, flip, index arrays and pad
  const Fn f = [](const Array& v) {
    const Array m = transpose(reshape(concatenate({v, v[from(2)]}), {2, 3}));  // v has 4 elements
    const Array picked = take(flip(ravel(m)), array({5, 3}, i32));             // m[0,0] = v0, m[1,0] = v1
    return square(prod(pad(picked, 1.0, {{1, 1}})));
  };
  const Array v = vec({2, 3, 5, 7});
  const Array value = f(v);
  const std::vector<double> h = hessians(f, v)[0].to_vector<double>();
  for (const Array& other : hessians(f, v)) expect_values(other, h);
  // f is homogeneous of degree 4 in two of the elements: v' H v = 12 f
  double form = 0;
  const double x[] = {2, 3, 5, 7};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) form += x[i] * h[static_cast<std::size_t>(4 * i + j)] * x[j];
  EXPECT_NEAR(form, 12 * value.item<double>(), 1e-9);
}

TEST(HigherOrder, SortingMaximaAndGatheringKeepSecondDerivatives) {
  const Fn sorted = [](const Array& x) { return sum(sort(x) * sort(x) * arange(1, 4, 1, f64)); };
  expect_hessian(sorted, vec({3, 1, 2}), {6, 0, 0, 0, 2, 0, 0, 0, 4});
  const Fn largest = [](const Array& x) { return pow(reduce_max(x), 3); };
  expect_hessian(largest, vec({1, 2}), {0, 0, 0, 12});
  const Fn updated = [](const Array& x) { return sum(square(x.at(1).multiply(x[0]))); };  // x0^2 + (x0 x1)^2
  expect_hessian(updated, vec({2, 3}), {2 + 18, 24, 24, 8});
}

TEST(HigherOrder, TheFifthDerivativeOfAnOrdinaryFunctionIsRightInMixedModes) {
  Fn f = [](const Array& x) { return exp(2 * x) * x; };
  for (int i = 0; i < 5; ++i) f = modes()[static_cast<std::size_t>(i % 2)].derivative(f);
  // (x e^2x)^(5) = 32 x e^2x + 5 * 16 e^2x
  expect_values(f(number(0.5)), {96 * std::exp(1.0)});
  expect_values(jitted(f)(number(0.5)), {96 * std::exp(1.0)});
}

}  // namespace
}  // namespace anadrome::cases
