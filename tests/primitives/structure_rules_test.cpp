// Rules of the structural primitives: vmap against a loop, linearity, and the transpose against the map
// itself. All numbers are small integers, so every comparison is exact.
#include <anadrome/ops.h>
#include <anadrome/transform.h>
#include <gtest/gtest.h>

#include <functional>

#include "primitives/op.h"

namespace anadrome {
namespace {

/// A linear map of two arrays of these shapes.
struct LinearCase {
  const char* name;
  Shape a, b;
  std::function<Array(Array, Array)> f;
};

void PrintTo(const LinearCase& c, std::ostream* out) {
  *out << c.name;
}

Array numbers(const Shape& shape, std::int64_t seed) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    v.push_back(static_cast<float>((i * 7 + seed * 5) % 11 - 5));
  return array(v, shape);
}
double inner(const Array& a, const Array& b) {
  const auto x = a.to_vector<float>(), y = b.to_vector<float>();
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x[i]) * y[i];
  return sum;
}
void expect_same(const Array& got, const Array& want, const std::string& what) {
  ASSERT_EQ(got.type(), want.type()) << what;
  EXPECT_EQ(got.to_vector<float>(), want.to_vector<float>()) << what;
}

Arrays starts(std::initializer_list<int> at) {
  Arrays result;
  for (int s : at) result.push_back(scalar(s, i32));
  return result;
}

std::vector<LinearCase> shape_cases() {
  using A = const Array&;
  return {
      {"broadcast",
       {3, 1},
       {4},
       [](A a, A b) {
         return op::add(op::broadcast_in_dim(a, {3, 2, 4}, {0, 2}), op::broadcast_in_dim(b, {3, 2, 4}, {2}));
       }},
      {"reshape",
       {2, 3},
       {6},
       [](A a, A b) {
         return op::add(op::reshape(a, {3, 2}), op::reshape(b, {3, 2}));
       }},
      {"transpose",
       {2, 3, 4},
       {4, 2, 3},
       [](A a, A b) {
         return op::add(op::transpose(a, {2, 0, 1}), b);
       }},
      {"rev",
       {2, 3},
       {2, 3},
       [](A a, A b) {
         return op::add(op::rev(a, {0, 1}), op::rev(b, {1}));
       }},
      {"pad",
       {3, 2},
       {},
       [](A a, A b) {
         return op::pad(a, b, {1, -1}, {-1, 2}, {2, 1});
       }},
      {"pad cut away", {3}, {}, [](A a, A b) { return op::pad(a, b, {-5}, {4}, {1}); }},
      {"concatenate",
       {2, 3},
       {2, 1},
       [](A a, A b) {
         return op::concatenate(Arrays{a, b, a}, 1);
       }},
  };
}

std::vector<LinearCase> window_cases() {
  using A = const Array&;
  return {
      {"slice",
       {5, 4},
       {2, 4},
       [](A a, A b) {
         return op::add(op::slice(a, {1, 0}, {5, 4}, {2, 1}), b);
       }},
      {"add_slice",
       {5, 4},
       {2, 2},
       [](A a, A b) {
         return op::add_slice(a, b, {1, 0}, {3, 2});
       }},
      {"dynamic_slice",
       {5, 4},
       {2, 3},
       [](A a, A b) {
         return op::add(op::dynamic_slice(a, starts({9, 1}), {2, 3}), b);
       }},
      {"dynamic_update_slice",
       {5, 4},
       {2, 3},
       [](A a, A b) {
         return op::dynamic_update_slice(a, b, starts({-3, 1}));
       }},
      {"dynamic_add_slice",
       {5, 4},
       {2, 3},
       [](A a, A b) {
         return op::dynamic_add_slice(a, b, starts({2, 7}));
       }},
      {"empty",
       {0, 3},
       {2, 3},
       [](A a, A b) {
         return op::concatenate(Arrays{a, b}, 0);
       }},
      {"diagonal",
       {3, 4},
       {3},
       [](A a, A b) {
         return op::concatenate(Arrays{diag(a, 1), b, ravel(diag(b, -1))}, 0);
       }},
      {"tril", {3, 4}, {2}, [](A a, A b) { return op::add(op::reduce_sum(tril(a), {0}), tile(b, {2})); }},
      {"roll",
       {3, 4},
       {3, 2},
       [](A a, A b) {
         return op::add(roll(a, {1, -1}, {0, 1}), op::add(tile(b, {1, 2}), repeat(b, 2, 1)));
       }},
  };
}

std::vector<LinearCase> linear_cases() {
  std::vector<LinearCase> cases = shape_cases();
  for (LinearCase& c : window_cases()) cases.push_back(std::move(c));
  return cases;
}

class Linear : public ::testing::TestWithParam<LinearCase> {};

TEST_P(Linear, TangentIsTheMapAndPullbackItsTranspose) {
  const auto& [name, sa, sb, f] = GetParam();
  const Array a = numbers(sa, 1), b = numbers(sb, 2), da = numbers(sa, 3), db = numbers(sb, 4);
  const Array zero_a = zeros(sa), zero_b = zeros(sb);
  const auto pushed = jvp(f, at(a, b), along(da, db));
  expect_same(pushed.value, f(a, b), name);
  expect_same(pushed.tangent, f(da, db), name);
  const auto only_a = [&, g = f](Array x) { return g(x, b); };
  const auto only_b = [&, g = f](Array y) { return g(a, y); };
  expect_same(jvp(only_a, at(a), along(da)).tangent, f(da, zero_b), name);
  expect_same(jvp(only_b, at(b), along(db)).tangent, f(zero_a, db), name);

  const auto r = vjp(f, a, b);
  const Array ct = numbers(r.value.shape(), 5);
  const auto [ca, cb] = r.pullback(ct);
  EXPECT_EQ(inner(ca, da) + inner(cb, db), inner(ct, f(da, db))) << name;
  EXPECT_EQ(inner(ca, da), inner(ct, f(da, zero_b))) << name;
  expect_same(vjp(only_a, a).pullback(ct), ca, name);
  expect_same(vjp(only_b, b).pullback(ct), cb, name);
}

TEST_P(Linear, BatchIsALoop) {
  const auto& [name, sa, sb, f] = GetParam();
  constexpr std::int64_t size = 3;
  for (int axis_a = unbatched; axis_a <= sa.rank(); ++axis_a)
    for (int axis_b = unbatched; axis_b <= sb.rank(); ++axis_b) {
      if (axis_a == unbatched && axis_b == unbatched) continue;
      std::vector<Array> as, bs, ys;
      for (std::int64_t k = 0; k < size; ++k) {
        as.push_back(numbers(sa, axis_a == unbatched ? 0 : k));
        bs.push_back(numbers(sb, axis_b == unbatched ? 0 : k + 7));
        ys.push_back(f(as.back(), bs.back()));
      }
      const Array a = axis_a == unbatched ? as[0] : stack(as, axis_a),
                  b = axis_b == unbatched ? bs[0] : stack(bs, axis_b);
      const auto in = [](int axis) { return axis == unbatched ? Axis(none) : Axis(axis); };
      const auto g = vmap(f, {.in = {in(axis_a), in(axis_b)}});
      expect_same(g(a, b), stack(ys),
                  std::string(name) + " " + std::to_string(axis_a) + " " + std::to_string(axis_b));
    }
}

INSTANTIATE_TEST_SUITE_P(Structure, Linear, ::testing::ValuesIn(linear_cases()),
                         [](const auto& info) { return "case" + std::to_string(info.index); });

/// Windows whose starts differ by example, in all combinations of batched operands.
TEST(Windows, BatchedStarts) {
  const Shape shape{4, 5}, window{2, 3};
  const Array rows = array({-1, 1, 9}, i32), x = numbers({3, 4, 5}, 1), u = numbers({3, 2, 3}, 2);
  using F = std::function<Array(Array, Array, Array)>;
  const F slice = [&](Array a, Array, Array s) {
    return op::dynamic_slice(a, Arrays{s, op::number(1, i32)}, window);
  };
  const F update = [](Array a, Array b, Array s) { return op::dynamic_update_slice(a, b, Arrays{s, s}); };
  const F add = [](Array a, Array b, Array s) {
    return op::dynamic_add_slice(a, b, Arrays{op::number(2, u8), s});
  };
  for (const F& f : {slice, update, add})
    for (bool batch_x : {false, true})
      for (bool batch_u : {false, true}) {
        std::vector<Array> want;
        const auto at = [](const Array& a, std::int64_t k) { return a.at(k).get(); };
        for (std::int64_t k = 0; k < 3; ++k)
          want.push_back(f(at(x, batch_x ? k : 0), at(u, batch_u ? k : 0), at(rows, k)));
        const auto in = [](bool batched) { return batched ? Axis(0) : Axis(none); };
        const auto g = vmap(f, {.in = {in(batch_x), in(batch_u), 0}});
        expect_same(g(batch_x ? x : at(x, 0), batch_u ? u : at(u, 0), rows), stack(want), "window");
      }
}

TEST(Threefry, BatchedKeysAndCounters) {
  using F = std::function<Array(Array, Array)>;
  const F f = [](Array key, Array count) {
    return op::threefry2x32(key, op::number(3, u32), op::number(0, u32), count)[1];
  };
  const Array keys = arange(3, u32), counts = arange(4, u32);
  std::vector<Array> want;
  for (std::int64_t k = 0; k < 3; ++k) want.push_back(f(keys.at(k).get(), counts));
  const Array got = vmap(f, {.in = {0, none}})(keys, counts);
  EXPECT_EQ(got.to_vector<std::uint32_t>(), stack(want).to_vector<std::uint32_t>());
  const Array scalars = vmap(f, {.in = {none, 0}})(keys.at(1).get(), counts);
  EXPECT_EQ(scalars.to_vector<std::uint32_t>(), want[1].to_vector<std::uint32_t>());
}

TEST(Collectives, SumMeanAndPosition) {
  using F = std::function<Array(Array)>;
  const Array x = array({1, 2, 4, -1}), w = array({1, -1, 0.5, 2});
  const F sum = [](Array v) { return psum(v, "b"); };
  EXPECT_EQ(vmap(sum, {.axis_name = "b"})(x).to_vector<float>(), (std::vector<float>{6, 6, 6, 6}));
  const F mean = [](Array v) { return op::sub(v, pmean(v, "b")); };
  EXPECT_EQ(vmap(mean, {.axis_name = "b"})(x).to_vector<float>(), (std::vector<float>{-0.5, 0.5, 2.5, -2.5}));
  const F shared = [](Array v) { return op::add(v, psum(2.0f, "b")); };
  EXPECT_EQ(vmap(shared, {.axis_name = "b"})(x).to_vector<float>(), (std::vector<float>{9, 10, 12, 7}));
  const F place = [](Array v) { return op::mul(v, op::convert(axis_index("b"), f32)); };
  EXPECT_EQ(vmap(place, {.axis_name = "b"})(x).to_vector<float>(), (std::vector<float>{0, 2, 8, -3}));
  // Two names: the inner vmap leaves the outer axis alone.
  const F both = [](Array v) { return op::sub(psum(v, "outer"), psum(v, "inner")); };
  const F rows = [both](Array row) { return vmap(both, {.axis_name = "inner"})(row); };
  EXPECT_EQ(vmap(rows, {.axis_name = "outer"})(array({{1, 2}, {3, 5}})).to_vector<float>(),
            (std::vector<float>{1, 4, -4, -1}));
  // grad outside, of sum_i w_i s x_i: w_j s + sum_i w_i x_i; and inside, of the sum over all examples of s^2.
  const auto loss = [&](Array v) {
    const F f = [](Array e) { return op::mul(e, psum(e, "b")); };
    return op::reduce_sum(op::mul(w, vmap(f, {.axis_name = "b"})(v)), {0});
  };
  EXPECT_EQ(grad(loss)(x).to_vector<float>(), (std::vector<float>{5, -7, 2, 11}));
  const F square = [](Array e) { return op::mul(psum(e, "b"), psum(e, "b")); };
  EXPECT_EQ(vmap(grad(square), {.axis_name = "b"})(x).to_vector<float>(),
            (std::vector<float>{48, 48, 48, 48}));
}

TEST(StopGradient, HasNoDerivative) {
  const auto f = [](Array v) { return op::mul(v, op::stop_gradient(v)); };
  EXPECT_EQ(grad(f)(scalar(3)).item<float>(), 3);
  EXPECT_EQ(grad([](Array v) { return op::stop_gradient(v); })(scalar(3)).item<float>(), 0);
}

}  // namespace
}  // namespace anadrome
