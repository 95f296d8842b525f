// Contraction: layouts, sizes and dtypes against plain loops; messages; matmul, einsum and relatives.
#include <anadrome/ops/linear.h>
#include <anadrome/ops/shape.h>
#include <gtest/gtest.h>

#include <cmath>

#include "primitives/op.h"

namespace anadrome {
namespace {

using Floats = std::vector<float>;
Floats floats(const Array& a) {
  return a.to_vector<float>();
}

/// Small integers, so that sums are exact in every dtype and order.
Array numbers(const Shape& shape, DType dtype = f32, int seed = 3) {
  std::vector<std::int64_t> v(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::int64_t>((i * 7 + seed) % 5);
  return op::convert(array(v, shape), dtype);
}

/// c[m][n] of row-major a [m][k], b [k][n].
std::vector<double> naive(const Array& a, const Array& b, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto x = op::convert(a, f64).to_vector<double>(), y = op::convert(b, f64).to_vector<double>();
  std::vector<double> c(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t p = 0; p < k; ++p) c[i * n + j] += x[i * k + p] * y[p * n + j];
  return c;
}

TEST(Dot, EverySizeAndLayoutEqualsPlainLoops) {
  const std::int64_t sizes[][3] = {{1, 1, 1},    {1, 17, 5}, {13, 1, 9},  {3, 5, 1},   {6, 16, 8},
                                   {7, 33, 19},  {0, 3, 2},  {3, 4, 0},   {25, 65, 3}, {50, 70, 300},
                                   {2, 2100, 3}, {1, 40, 1}, {245, 18, 7}};
  for (const auto& [m, n, k] : sizes)
    for (DType dtype : {f32, f64, i32, u8, bf16, i64})
      for (int layout = 0; layout < 4; ++layout) {
        const Array a = numbers({m, k}, dtype), b = numbers({k, n}, dtype, 1);
        const bool ta = layout & 1, tb = layout & 2;
        const Array y =
            dot_general(ta ? transpose(a) : a, tb ? transpose(b) : b, {{ta ? 0 : 1}, {tb ? 1 : 0}, {}, {}});
        ASSERT_EQ(y.type(), (Type{dtype, {m, n}}));
        std::vector<double> want = naive(a, b, m, n, k);
        if (dtype == u8)
          for (double& w : want) w = std::fmod(w, 256);
        const Array wanted = op::convert(op::convert(array(want, {m, n}), dtype), f64);
        EXPECT_EQ(op::convert(y, f64).to_vector<double>(), wanted.to_vector<double>())
            << m << " " << n << " " << k << " layout " << layout << " " << tag(dtype);
      }
}

TEST(Dot, AxesThatDoNotMergeAreCopied) {
  const Array a = numbers({3, 2, 4}), b = numbers({4, 5, 2});
  const Array y = dot_general(a, b, {{1, 2}, {2, 0}, {}, {}});
  const Array want = dot(reshape(a, {3, 8}), reshape(transpose(b, {2, 0, 1}), {8, 5}));
  EXPECT_EQ(floats(y), floats(want));
}

TEST(Dot, BatchAxesAnywhere) {
  const Array a = numbers({4, 3, 2}), b = numbers({5, 3, 2}, f32, 2);
  const Array y = dot_general(a, b, {{1}, {1}, {2}, {-1}});
  ASSERT_EQ(y.shape(), (Shape{2, 4, 5}));
  for (std::int64_t i = 0; i < 2; ++i)
    EXPECT_EQ(floats(y[i]), floats(dot(a[{all, all, i}], transpose(b[{all, all, i}]))));
  EXPECT_EQ(floats(einsum("ikb,jkb->bij", a, b)), floats(y));
}

TEST(Dot, RanksAsInNumpy) {
  const Array v = array({1, 2, 3}), m = array({{1, 0, 0}, {0, 2, 0}});
  EXPECT_EQ(dot(v, v).item<float>(), 14);
  EXPECT_EQ(floats(dot(m, v)), (Floats{1, 4}));
  EXPECT_EQ(floats(dot(v, 2)), (Floats{2, 4, 6}));
  EXPECT_EQ(dot(zeros({2, 3, 4}), zeros({5, 4, 6})).shape(), (Shape{2, 3, 5, 6}));
  EXPECT_EQ(matmul(zeros({5, 1, 2, 3}), zeros({7, 3, 4})).shape(), (Shape{5, 7, 2, 4}));
  EXPECT_EQ(matmul(v, zeros({2, 3, 4})).shape(), (Shape{2, 4}));
  EXPECT_EQ(matmul(zeros({2, 4, 3}), v).shape(), (Shape{2, 4}));
  EXPECT_EQ(dot(array({1, 1}, b1), array({1, 1}, b1)).item<int>(), 2);
  EXPECT_EQ(dot(zeros({2}, f32), zeros({2}, f64)).dtype(), f64);
  const Array a = numbers({2, 3, 4}), b = numbers({4, 5});
  EXPECT_EQ(floats(matmul(a, b)), floats(dot(reshape(a, {6, 4}), b)));
  const Array c = numbers({3, 2}), d = numbers({6, 2, 4}, f32, 2);
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(floats(matmul(c, d)[i]), floats(dot(c, d[i])));
}

TEST(Einsum, FormsOfSubscripts) {
  const Array a = numbers({3, 3}), b = numbers({3, 4}, f32, 1), c = numbers({4, 2}, f32, 4);
  EXPECT_EQ(floats(einsum("ii->i", a)), floats(diagonal(a)));
  EXPECT_EQ(floats(einsum("ii", a)), floats(trace(a)));
  EXPECT_EQ(floats(einsum("ij->ji", b)), floats(transpose(b)));
  EXPECT_EQ(floats(einsum("ij, jk , kl -> il", a, b, c)), floats(dot(dot(a, b), c)));
  EXPECT_EQ(floats(einsum("ij,jk", a, b)), floats(dot(a, b)));
  EXPECT_EQ(floats(einsum("ij,kj->ki", b, b)), floats(dot(b, transpose(b))));
  EXPECT_EQ(einsum("...ij,...jk->...ik", zeros({5, 1, 2, 3}), zeros({7, 3, 4})).shape(), (Shape{5, 7, 2, 4}));
  EXPECT_EQ(einsum("i...->...", zeros({5, 1, 2})).shape(), (Shape{1, 2}));
  EXPECT_EQ(einsum("iij->ji", zeros({2, 2, 3})).shape(), (Shape{3, 2}));
  EXPECT_EQ(einsum(",i->i", scalar(2), array({1, 2})).to_vector<float>(), (Floats{2, 4}));
}

TEST(Linear, SmallProducts) {
  const Array a = array({1, 2}), b = array({3, 4, 5});
  EXPECT_EQ(floats(outer(a, b)), (Floats{3, 4, 5, 6, 8, 10}));
  EXPECT_EQ(floats(kron(a, b)), (Floats{3, 4, 5, 6, 8, 10}));
  EXPECT_EQ(floats(cross(array({1, 0, 0}), array({{0, 1, 0}, {0, 0, 1}}))), (Floats{0, 0, 1, 0, -1, 0}));
  EXPECT_EQ(floats(polyval(array({1, 0, 2}), array({0, 3}))), (Floats{2, 11}));
  EXPECT_EQ(floats(polyval(array({4}), array({0, 3}))), (Floats{4, 4}));
  EXPECT_EQ(vdot(array({{1, 2}}), array({3, 4})).item<float>(), 11);
  EXPECT_EQ(floats(inner(array({{1, 2}, {3, 4}}), array({{1, 1}}))), (Floats{3, 7}));
  EXPECT_EQ(tensordot(zeros({2, 3, 4}), zeros({3, 4, 2}), {2, 0}, {1, 2}).shape(), (Shape{3, 3}));
  EXPECT_EQ(tensordot(a, b, 0).shape(), (Shape{2, 3}));
}

template <class F> std::string type_error(F f) {
  try {
    f();
  } catch (const TypeError& e) {
    return e.what();
  }
  return "no error";
}
void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Dot, Messages) {
  expect_contains(type_error([] {
                    (void)dot(zeros({2, 4}), zeros({3, 5}));
                  }),
                  "dot: contracted axes differ: axis 1 of the left operand has 4, axis 0 of the right has 3 "
                  "(f32[2,4] x f32[3,5]).");
  expect_contains(type_error([] { (void)dot(zeros({2, 4}), zeros({3, 5})); }), "dot_test.cpp:");
  expect_contains(type_error([] { (void)matmul(zeros({2, 3, 4}), zeros({5, 4, 2})); }), "matmul: axis 0");
  expect_contains(type_error([] { (void)matmul(scalar(1), zeros({2})); }), "matmul: needs at least one axis");
  expect_contains(type_error([] {
                    (void)einsum("ij,jk->ik", zeros({2, 3}), zeros({4, 5}));
                  }),
                  "einsum: axis 1");
  expect_contains(type_error([] { (void)einsum("ij->k", zeros({2, 3})); }), "the result of");
  expect_contains(type_error([] { (void)einsum("i1->i", zeros({2, 3})); }), "'1'");
  expect_contains(type_error([] { (void)einsum("i,j", zeros({2})); }), "names 2 operands");
  expect_contains(type_error([] {
                    (void)dot_general(zeros({2}), zeros({2}), {{0}, {}, {}, {}});
                  }),
                  "1 contracted");
  expect_contains(type_error([] { (void)cross(zeros({2}), zeros({2})); }), "vectors of 3");
}

}  // namespace
}  // namespace anadrome
