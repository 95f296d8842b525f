// vmap inside and outside the other transforms.
#include "cases/near.h"

namespace anadrome::cases {
namespace {

TEST(VmapComposition, AnUnbatchedArgumentGetsAnUnbatchedSummedCotangent) {
  const auto f = [](Array x, const Array& c) {
    for (int i = 0; i < 3; ++i) x = x * c;
    return x;
  };
  const auto mapped = vmap(f, {.in = {0, none}});
  const Array x = array({{1, 2}, {3, 4}, {5, 6}}, f64);
  const auto [y, pull] = vjp(mapped, x, number(2));
  const auto [gx, gc] = pull(ones_like(y));
  expect_values(gx, std::vector<double>(6, 8));
  EXPECT_EQ(gc.rank(), 0);
  expect_values(gc, {252});
}

TEST(VmapComposition, ARuleThatSumsItsCotangentKeepsTheSharedArgumentUnbatched) {
  const auto mul = custom_vjp([](const Array& x, const Array& c) { return x * c; }, [](const Array& x, const Array& c) { return std::pair{x * c, std::pair{x, c}}; },
                              [](const std::pair<Array, Array>& r, const Array& g) { return std::pair{g * r.second, sum(r.first * g)}; });
  const auto f = [&](const Array& x, const Array& c) { return fori_loop(0, 3, x, [&](const Array&, const Array& v) { return mul(v, c); }); };
  const auto kept = [&](const Array& x, const Array& c) {
    return scan(x, {.length = 3}, [&](const Array& v) { return std::pair{checkpoint(mul)(v, c), std::tuple<>{}}; }).first;
  };
  const Array x = array({{1, 2}, {3, 4}, {5, 6}}, f64);
  const auto expect_both = [&](const auto& g, const VmapOptions& axes, const Array& at_x) {
    const auto [y, pull] = vjp(vmap(g, axes), at_x, number(2));
    const auto [gx, gc] = pull(ones_like(y));
    expect_values(gx, std::vector<double>(6, 8));
    EXPECT_EQ(gc.rank(), 0);
    expect_values(gc, {252});
  };
  expect_both(f, {.in = {0, none}}, x);
  expect_both(f, {.in = {1, none}}, transpose(x));
  expect_both(kept, {.in = {0, none}, .out = 1}, x);
  expect_both(jit(f), {.in = {0, none}}, x);
  const auto shared_first = [&](const Array& c, const Array& v) { return f(v, c); };
  const auto [y, pull] = vjp(vmap(shared_first, {.in = {0, none}}), vec({2, 3}), x[0]);
  const auto [gc, gx] = pull(ones_like(y));
  expect_values(gc, {3 * 4 * 3, 3 * 9 * 3});
  expect_values(gx, {8 + 27, 8 + 27});
}

TEST(VmapComposition, SharedParametersAndPerExampleGradientsAgree) {
  const auto loss = [](const Array& w, const Array& x) { return square(dot(w, x)); };
  const Array w = vec({1, -2}), xs = array({{1, 2}, {3, 4}, {5, 6}}, f64);
  const Array each = vmap(grad(loss), {.in = {none, 0}})(w, xs);
  const auto total = [&](const Array& v) { return sum(vmap(loss, {.in = {none, 0}})(v, xs)); };
  expect_values(grad(total)(w), sum(each, 0).to_vector<double>());
  expect_values(each, {-6, -12, -30, -40, -70, -84});
}

TEST(VmapComposition, ABufferBecomesBatchedByWhatIsWrittenIntoIt) {
  const Fn f = [](const Array& y) {
    Array z = zeros({3}, f64);
    z = z.at(all).set(y);
    return z.at(0).add(y[1]);
  };
  const Array y = array({{0, 1, 2}, {3, 4, 5}}, f64);
  expect_values(batched(f)(y), {1, 1, 2, 7, 4, 5});
  expect_values(jitted(batched(f))(y), {1, 1, 2, 7, 4, 5});
}

TEST(VmapComposition, WritingAtBatchedPlacesIntoASharedBufferIsRight) {
  const auto f = [](const Array& i, const Array& v) { return zeros({3}, f64).at(i).add(v); };
  const Array places = array({2, 0}, i32), values = vec({5, 7});
  expect_values(vmap(f)(places, values), {0, 0, 5, 7, 0, 0});
  expect_values(vmap(f, {.in = {0, none}})(places, number(1)), {0, 0, 1, 1, 0, 0});
  const Array shared = vec({1, 2, 3});
  const auto read = [&](const Array& i) { return shared[i]; };
  expect_values(vmap(read)(places), {3, 1});
  const auto total = [&](const Array& s) { return sum(vmap([&](const Array& i) { return s[i]; })(places)); };
  expect_values(grad(total)(shared), {1, 0, 1});
}

/// `r` gives twice its argument, and an integer 1.
template <class R> void expect_integer_without_tangent(const R& r) {
  const Fn f = [&](const Array& x) {
    const auto [y, n] = vmap(r)(x);
    return y * n;
  };
  const auto [value, tangent] = jvp(f, at(vec({0, 1})), along(vec({1, 1})));
  expect_values(value, {0, 2});
  expect_values(tangent, {2, 2});
  expect_values(reverse(summed(f))(vec({0, 1})), {2, 2});
  const auto both = jvp(vmap(r), at(vec({0, 1})), along(vec({1, 1})));
  EXPECT_TRUE(both.tangent.second.is_no_gradient());
  EXPECT_EQ(both.tangent.second.shape(), (Shape{2}));
  expect_values(both.tangent.first, {2, 2});
}

TEST(VmapComposition, AnIntegerOutputHasNoTangentBatchedOrNot) {
  expect_integer_without_tangent([](const Array& x) { return std::pair(2 * x, scalar(1, i32)); });
}

TEST(VmapComposition, AnIntegerOutputOfARuleHasNoTangentBatchedOrNot) {
  using Out = std::pair<Array, Array>;
  expect_integer_without_tangent(custom_jvp([](const Array& x) { return Out{2 * x, scalar(1, i32)}; },
                                            [](const Array& x, const Array& dx) {
                                              return std::pair{Out{2 * x, scalar(1, i32)}, Out{2 * dx, Array::no_gradient({})}};
                                            }));
}

TEST(VmapComposition, VmapOfJvpAndJvpOfVmapAgreeOnEveryAxis) {
  const Fn f = [](const Array& x) { return sin(x) * x[0]; };
  const Array x = array({{1, 2, 3}, {4, 5, 6}}, f64), dx = array({{1, 0, 2}, {0, 3, 1}}, f64);
  for (int axis : {0, 1, -1}) {
    const auto mapped = vmap(f, {.in = axis, .out = axis});
    const auto outer = jvp(mapped, at(x), along(dx));
    const auto push = [&](const Array& v, const Array& dv) { return jvp(f, at(v), along(dv)).tangent; };
    const Array inner = vmap(push, {.in = axis, .out = axis})(x, dx);
    expect_values(outer.tangent, inner.to_vector<double>());
    const Array ct = ones_like(x);
    const auto pull_one = [&](const Array& v, const Array& c) { return vjp(f, v).pullback(c); };
    expect_values(vjp(mapped, x).pullback(ct),
                  vmap(pull_one, {.in = axis, .out = axis})(x, ct).to_vector<double>());
  }
}

TEST(VmapComposition, NestedMapsWithDifferentAxesGiveAnOuterProduct) {
  const auto times = [](const Array& a, const Array& b) { return a * b; };
  const auto table = vmap(vmap(times, {.in = {none, 0}}), {.in = {0, none}});
  const Array a = vec({1, 2}), b = vec({3, 4, 5});
  expect_values(table(a, b), {3, 4, 5, 6, 8, 10});
  expect_values(jit(table)(a, b), {3, 4, 5, 6, 8, 10});
  const auto total = [&](const Array& u) { return sum(table(u, b)); };
  expect_values(grad(total)(a), {12, 12});
}

TEST(VmapComposition, AJittedFunctionIsMappedAndDifferentiatedLikeItsBody) {
  const Fn body = [](const Array& x) { return sum(tanh(x) * x); };
  const Array x = array({{0.1, 0.2}, {0.3, 0.4}}, f64);
  expect_values(batched(reverse(jitted(body)))(x), batched(reverse(body))(x).to_vector<double>());
  expect_values(reverse(summed(batched(jitted(body))))(x), batched(reverse(body))(x).to_vector<double>());
}

}  // namespace
}  // namespace anadrome::cases
