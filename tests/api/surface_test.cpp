// The spelling of the public API: each line here is one a user may write as it stands.
#include <sstream>

#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::all;
using ad::Array;
using ad::from;
using ad::none;
using ad::slice;

namespace {

struct Layer {
  Array w, b;
};
struct Net {
  std::vector<Layer> layers;
  Array scale;
  int depth = 2;
  std::string act = "tanh";
};
struct Nested {
  Layer first;
  std::array<Layer, 2> rest;
  std::optional<Array> skip;
  std::map<std::string, Array> extra;
};

Array loss(const Net& p, const Array& x, const Array& y) {
  Array h = x;
  for (const Layer& l : p.layers) h = tanh(dot(h, l.w) + l.b);
  return sum((h * p.scale - y) * (h - y)) / 2;
}
Net make_net() {
  return {{{ad::eye(3), ad::zeros({3})}, {ad::full({3, 3}, 0.5), ad::ones({3})}}, ad::scalar(2.5)};
}

TEST(Surface, ArraysAreMadeByNamedFunctions) {
  const std::vector<float> v{1, 2, 3, 4, 5, 6};
  const Array x = ad::array({1, 2, 3}), m = ad::array({{1, 2}, {3, 4}}), s = ad::scalar(2.5);
  const Array z = ad::zeros({v.size(), 3}), z0 = ad::zeros({}), zd = ad::zeros({2, 3}, ad::f64);
  const Array d = ad::array(std::span<const float>(v), {2, 3});
  EXPECT_EQ(x.dtype(), ad::f32);
  EXPECT_EQ(ad::array({1, 2, 3}, ad::i32).dtype(), ad::i32);
  EXPECT_EQ(m.shape(), (ad::Shape{2, 2}));
  EXPECT_EQ(s.rank() + z0.rank(), 0);
  EXPECT_EQ(z.shape(), (ad::Shape{6, 3}));
  EXPECT_EQ(zd.dtype(), ad::f64);
  EXPECT_FLOAT_EQ((d[{1, 2}].item<float>()), 6);
  const Array e = 2 * x + 1.0f - x / 3 + (-x), f = where(x > 0, x, 0.0);
  EXPECT_FLOAT_EQ(e[0].item<float>(), 2 + 1 - 1.0f / 3 - 1);
  EXPECT_TRUE(all(f == x).item<bool>());
}

TEST(Surface, IndexingReadsAsInNumpy) {
  const Array m = ad::reshape(ad::arange(12), {3, 4}), x = ad::arange(3), i = ad::array({2, 0}, ad::i32);
  EXPECT_EQ(x[0].item<int>(), 0);
  EXPECT_EQ((m[{0, slice(0, 2)}].to_vector<std::int32_t>()), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ((m[{all, 1}].to_vector<std::int32_t>()), (std::vector<std::int32_t>{1, 5, 9}));
  EXPECT_EQ((m[{ad::ellipsis, i}].shape()), (ad::Shape{3, 2}));
  EXPECT_EQ(x[from(1)].size(), 2);
  EXPECT_EQ((m[{ad::newaxis, all, -1}].shape()), (ad::Shape{1, 3}));
  EXPECT_EQ((x[slice(1, -1)].to_vector<std::int32_t>()), (std::vector<std::int32_t>{1}));
  EXPECT_EQ((x[ad::every(-1)].to_vector<std::int32_t>()), (std::vector<std::int32_t>{2, 1, 0}));
  EXPECT_EQ((m[{ad::dslice(x[1], 2), all}].shape()), (ad::Shape{2, 4}));
  EXPECT_EQ(x[{0}].rank(), 0);
  EXPECT_EQ((m.at({0, slice(0, 2)}).set(1)[{0, 1}].item<int>()), 1);
  EXPECT_EQ(x.at(0).add(x[2])[0].item<int>(), 2);
  EXPECT_EQ(x.at(1).multiply(5).at(2).min(1).at(0).max(9).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{9, 5, 1}));
  Array y = ad::array({1, 2});
  y += 1;
  std::ostringstream text;
  text << y;
  EXPECT_EQ(text.str(), "[2. 3.]");
}

TEST(Surface, GradientsOfStructsAndOfSeveralArguments) {
  const Net p = make_net();
  const Array x = ad::ones({3}), y = ad::zeros({3}), s = ad::scalar(0.5);
  const Net g = ad::grad(loss)(p, x, y);
  EXPECT_EQ(g.layers.size(), 2u);
  auto [gp, gy] = ad::grad<0, 2>(loss)(p, x, y);
  static_assert(std::same_as<decltype(gp), Net> && std::same_as<decltype(gy), Array>);
  auto [l, gv] = ad::value_and_grad(loss)(p, x, y);
  EXPECT_FLOAT_EQ(l.item<float>(), loss(p, x, y).item<float>());
  auto vg = ad::value_and_grad<1>(loss)(p, x, y);
  EXPECT_EQ(vg.grad.shape(), (ad::Shape{3}));
  auto sq = [](Array t) { return sum(t * t); };
  EXPECT_FLOAT_EQ(ad::grad([&](Array t) { return sum(ad::grad(sq)(t)); })(x)[0].item<float>(), 2);
  EXPECT_FLOAT_EQ(ad::grad(ad::tanh)(s).item<float>(), 1 - std::tanh(0.5f) * std::tanh(0.5f));
  auto [ga, gb] = ad::grad<0, 1>(ad::dot)(x, 2 * x);
  EXPECT_FLOAT_EQ(ga[0].item<float>(), 2);
  EXPECT_FLOAT_EQ(gb[0].item<float>(), 1);
  auto [value_and_count, by] = ad::value_and_grad(
      [](const Array& t) { return std::pair{sum(t * t), std::vector<Array>{t, 2 * t}}; }, ad::has_aux)(x);
  EXPECT_EQ(value_and_count.second.size(), 2u);
  EXPECT_FLOAT_EQ(by[1].item<float>(), 2);
}

TEST(Surface, PullbacksTangentsLinearMapsAndJacobians) {
  const Net p = make_net();
  const Array x = ad::ones({3}), y = ad::zeros({3});
  auto [v, pull] = ad::vjp(loss, p, x, y);
  auto [dp, dx, dy] = pull(ad::scalar(1));
  EXPECT_EQ(dp.layers[0].w.shape(), (ad::Shape{3, 3}));
  EXPECT_EQ(dx.shape(), dy.shape());
  auto [value, tangent] = ad::jvp(loss, ad::at(p, x, y), ad::along(ad::zeros_like(p), x, ad::zeros_like(y)));
  EXPECT_NEAR(tangent.item<float>(), sum(dx * x).item<float>(), 1e-5);
  auto [linear_value, linear] = ad::linearize(loss, p, x, y);
  EXPECT_NEAR(linear(ad::zeros_like(p), x, ad::zeros_like(y)).item<float>(), tangent.item<float>(), 1e-5);
  auto sq = [](Array t) { return sum(t * t * t); };
  EXPECT_EQ(ad::jacrev(sq)(x).shape(), (ad::Shape{3}));
  EXPECT_FLOAT_EQ((ad::jacfwd(ad::jacrev(sq))(x)[{1, 1}].item<float>()), 6);
  EXPECT_FLOAT_EQ((ad::hessian(sq)(x)[{1, 2}].item<float>()), 0);
  auto [j0, j2] = ad::jacrev<0, 2>(loss)(p, x, y);
  EXPECT_EQ(j0.scale.rank() + 1, j2.rank());
}

TEST(Surface, BatchingCompilingAndPrinting) {
  const Net p = make_net();
  const Array x = ad::ones({3}), m = ad::ones({2, 3});
  auto sq = [](Array t) { return sum(t * t); };
  EXPECT_EQ(ad::vmap(sq)(m).shape(), (ad::Shape{2}));
  EXPECT_EQ(ad::vmap(loss, {.in = {none, 0, 0}, .out = 0})(p, m, m).size(), 2);
  EXPECT_EQ(ad::vmap(sq, {.in = 1})(m).size(), 3);
  const Net per_example = ad::vmap(ad::grad(loss), {.in = {none, 0, 0}})(p, m, m);
  EXPECT_EQ(per_example.layers[0].w.shape(), (ad::Shape{2, 3, 3}));
  auto step = ad::jit([](const Net& q, Array a, int n) {
    for (int k = 0; k < n; ++k) a = a * q.scale;
    return a;
  });
  EXPECT_FLOAT_EQ(step(p, x, 3)[0].item<float>(), 2.5f * 2.5f * 2.5f);
  auto lowered = ad::jit(loss).lower(p, x, ad::abstract(ad::f32, {3}));
  auto exe = lowered.compile({.backend = "native"});
  EXPECT_FLOAT_EQ(exe(p, x, x).item<float>(), loss(p, x, x).item<float>());
  EXPECT_GT(exe.cost_analysis().flops, 0);
  EXPECT_GT(exe.memory_analysis().argument_size_in_bytes, 0);
  EXPECT_NE(exe.text().find("kernel 0"), std::string::npos);
  EXPECT_NE(exe.kernel_ir(0).find("define void @kernel"), std::string::npos);
  std::ostringstream text;
  text << ad::make_program(ad::grad(loss), p, x, x) << lowered.program();
  EXPECT_NE(text.str().find("dot_general"), std::string::npos);
}

TEST(Surface, ContainersAndStructsAreTrees) {
  const Array x = ad::ones({2});
  const Nested n{{x, x}, {Layer{x, x}, Layer{x, x}}, x, {{"k", x}}};
  int leaves = 0;
  const Nested doubled = ad::map_leaves(n, [&](const Array& a) {
    ++leaves;
    return 2 * a;
  });
  EXPECT_EQ(leaves, 8);
  EXPECT_FLOAT_EQ(doubled.extra.at("k")[0].item<float>(), 2);
  const Nested g = ad::grad([](const Nested& q) { return sum(q.rest[1].b * q.extra.at("k")); })(n);
  EXPECT_FLOAT_EQ(g.extra.at("k")[0].item<float>(), 1);
  EXPECT_FLOAT_EQ(g.first.w[0].item<float>(), 0);
}

}  // namespace
