// Random numbers: known answers, moments, agreement of eager, compiled and vectorised draws, errors.
#include "anadrome/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "anadrome/jit.h"
#include "anadrome/ops.h"
#include "anadrome/transform.h"

namespace anadrome {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int32_t>;
using Words = std::vector<std::uint32_t>;

Array key_42() {
  return random::prng_key(42);
}

Floats floats(const Array& a) {
  return a.to_vector<float>();
}
Integers integers(const Array& a) {
  return a.to_vector<std::int32_t>();
}
Words words(const Array& a) {
  return a.to_vector<std::uint32_t>();
}

template <class F> std::string message(F f) {
  try {
    (void)f();
  } catch (const TypeError& error) {
    const std::string text = error.what();
    return text.substr(0, text.find(" at "));
  }
  return "no TypeError";
}

TEST(RandomKeys, SeedsGiveTheirTwoWords) {
  EXPECT_EQ(words(random::prng_key(0)), (Words{0, 0}));
  EXPECT_EQ(words(random::prng_key((std::int64_t{7} << 32) + 5)), (Words{7, 5}));
  EXPECT_EQ(words(random::prng_key(-1)), (Words{0xFFFFFFFFu, 0xFFFFFFFFu}));
  EXPECT_EQ(words(random::prng_key(scalar(-1, i32))), (Words{0, 0xFFFFFFFFu}));
}

TEST(RandomKeys, RowsOfSplitAreFoldsOfTheirNumber) {
  const Array keys = random::split(key_42(), 5);
  ASSERT_EQ(keys.type(), (Type{u32, {5, 2}}));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(words(keys[i]), words(random::fold_in(key_42(), i)));
  EXPECT_EQ(words(random::split(key_42(), Shape{5, 1})), words(keys));
}

TEST(RandomKeys, ALongerDrawStartsWithTheShorterOne) {
  const Words shorter = words(random::random_bits(key_42(), {100}));
  const Words longer = words(random::random_bits(key_42(), {37, 11}));
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST(RandomDraws, KnownAnswers) {
  EXPECT_EQ(floats(random::uniform(key_42(), {3})), (Floats{0.48870957f, 0.6797972f, 0.6162715f}));
  EXPECT_EQ(floats(random::uniform(key_42(), {3}, f32, -2, 3)),
            (Floats{0.44354784f, 1.3989859f, 1.0813575f}));
  EXPECT_EQ(random::uniform(key_42(), {2}, f64, -2, 3).to_vector<double>(),
            (std::vector<double>{0.13363783324954537, -1.924949652423427}));
  EXPECT_EQ(integers(random::randint(key_42(), {5}, 0, 10)), (Integers{4, 4, 1, 9, 9}));
  EXPECT_EQ(integers(convert(random::randint(key_42(), {5}, 0, 1000, u16), i32)),
            (Integers{644, 914, 71, 369, 709}));
  EXPECT_EQ(integers(random::permutation(key_42(), 7)), (Integers{4, 2, 5, 3, 6, 0, 1}));
  EXPECT_EQ(integers(random::choice(key_42(), 7, {4}, false)), (Integers{4, 2, 5, 3}));
  EXPECT_EQ(integers(random::categorical(key_42(), zeros({3, 4}), 0)), (Integers{2, 2, 0, 2}));
}

TEST(RandomDraws, WeightsOfAChoice) {
  const Array weights = arange(1, 8, 1, f32) / 28;
  EXPECT_EQ(integers(random::choice(key_42(), 7, {4}, true, weights)), (Integers{4, 3, 4, 4}));
  EXPECT_EQ(integers(random::choice(key_42(), 7, {4}, false, weights)), (Integers{5, 3, 4, 2}));
}

TEST(RandomDraws, ArraysAsBounds) {
  const Array lo = array({0, 10, 20}, i32), hi = array({5, 12, 100}, i32);
  EXPECT_EQ(integers(random::randint(key_42(), {3}, lo, hi)), (Integers{4, 10, 91}));
  EXPECT_EQ(integers(random::randint(key_42(), {3}, scalar(-5, i32), scalar(6, i32))),
            integers(random::randint(key_42(), {3}, -5, 6)));
  EXPECT_EQ(floats(random::uniform(key_42(), {9}, f32, scalar(-2), scalar(3))),
            floats(random::uniform(key_42(), {9}, f32, -2, 3)));
  EXPECT_EQ(integers(random::randint(key_42(), {2}, 5, 2)), (Integers{5, 5}));
}

TEST(RandomDraws, WholeRangeOfAnInteger) {
  const auto all = random::randint(key_42(), {1000}, 0, 256, u8).to_vector<std::uint8_t>();
  EXPECT_EQ(*std::max_element(all.begin(), all.end()), 255);
  EXPECT_EQ(*std::min_element(all.begin(), all.end()), 0);
  EXPECT_EQ(random::randint(key_42(), {1}, 0, ~std::uint64_t{0}, u64).dtype(), u64);
}

/// Mean and standard deviation.
std::pair<double, double> moments(const Array& draws) {
  double sum = 0, squares = 0;
  const Floats x = floats(convert(draws, f32));
  for (float v : x) sum += v, squares += static_cast<double>(v) * v;
  const double mean = sum / static_cast<double>(x.size());
  return {mean, std::sqrt(squares / static_cast<double>(x.size()) - mean * mean)};
}

void expect_moments(const Array& draws, double mean, double deviation) {
  const auto [m, d] = moments(draws);
  const double standard_error = deviation / std::sqrt(static_cast<double>(draws.size()));
  EXPECT_NEAR(m, mean, 5 * standard_error);
  EXPECT_NEAR(d, deviation, 0.02 * deviation);
}

TEST(RandomDraws, Moments) {
  const Shape shape{200, 250};
  const double euler = 0.57721566490153286, pi = std::numbers::pi;
  for (DType t : {f32, f64}) {
    expect_moments(random::uniform(key_42(), shape, t), 0.5, std::sqrt(1 / 12.0));
    expect_moments(random::normal(key_42(), shape, t), 0, 1);
    expect_moments(random::exponential(key_42(), shape, t), 1, 1);
    expect_moments(random::gumbel(key_42(), shape, t), euler, pi / std::sqrt(6));
    expect_moments(random::laplace(key_42(), shape, t), 0, std::sqrt(2));
    expect_moments(random::logistic(key_42(), shape, t), 0, pi / std::sqrt(3));
    expect_moments(random::truncated_normal(key_42(), -1, 1, shape, t), 0, std::sqrt(0.29112509));
  }
  expect_moments(random::bernoulli(key_42(), 0.25, shape), 0.25, std::sqrt(0.1875));
  expect_moments(random::randint(key_42(), shape, 0, 100), 49.5, std::sqrt((10000 - 1) / 12.0));
}

TEST(RandomDraws, TruncatedNormalStaysInside) {
  for (float v : floats(random::truncated_normal(key_42(), -0.5, 0.25, {5000}))) {
    EXPECT_GT(v, -0.5f);
    EXPECT_LT(v, 0.25f);
  }
}

TEST(RandomDraws, PermutationsHoldEveryRowOnce) {
  const Array x = reshape(arange(30), {10, 3});
  Integers rows = integers(random::permutation(key_42(), x));
  for (std::size_t i = 0; i < rows.size(); i += 3) EXPECT_EQ(rows[i + 2], rows[i] + 2);
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, integers(arange(30)));
  EXPECT_EQ(random::permutation(key_42(), x, 1).shape(), (Shape{10, 3}));
  EXPECT_EQ(random::permutation(key_42(), 0).shape(), Shape{0});
  EXPECT_EQ(random::choice(key_42(), x, {2, 2}).shape(), (Shape{2, 2, 3}));
}

Array draws_of_all_kinds(const Array& key) {
  const Array keys = random::split(key, 6);
  const Array parts[] = {random::uniform(keys[0], {4}, f32, -2, 3),
                         random::normal(keys[1], {4}),
                         convert(random::randint(keys[2], {4}, 0, 100), f32),
                         convert(random::permutation(keys[3], 4), f32),
                         convert(random::bernoulli(keys[4], 0.5, Shape{4}), f32),
                         convert(random::categorical(keys[5], zeros({4, 3})), f32)};
  return stack(std::vector<Array>(std::begin(parts), std::end(parts)), 0);
}

TEST(RandomDraws, CompiledDrawsAreThoseOfEagerCalls) {
  EXPECT_EQ(floats(jit(draws_of_all_kinds)(key_42())), floats(draws_of_all_kinds(key_42())));
}

TEST(RandomDraws, EachRowOfAVectorisedDrawIsThatOfItsKey) {
  const Array keys = random::split(key_42(), 3);
  const Array rows = vmap(draws_of_all_kinds)(keys);
  const Array compiled = jit(vmap(draws_of_all_kinds))(keys);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(floats(rows[i]), floats(draws_of_all_kinds(keys[i])));
    EXPECT_EQ(floats(compiled[i]), floats(draws_of_all_kinds(keys[i])));
  }
}

TEST(RandomDraws, DerivativeInABound) {
  const auto mean_of = [](const Array& hi) { return sum(random::uniform(key_42(), {3}, f32, 0, hi)); };
  const double u = 0.48870957 + 0.6797972 + 0.6162715;
  EXPECT_NEAR(grad(mean_of)(scalar(2.0)).item<double>(), u, 1e-5);
}

TEST(RandomErrors, KeysOfAnotherType) {
  EXPECT_EQ(message([] { return random::uniform(zeros({3}), {2}); }),
            "uniform: the key is f32[3]; a key is u32[2], made by prng_key(seed) or split(key).");
  EXPECT_EQ(message([] { return random::split(random::split(key_42())); }),
            "split: the key is u32[2,2]; a key is u32[2], made by prng_key(seed) or split(key).");
  EXPECT_EQ(message([] {
              return random::prng_key(array({1, 2}, i32));
            }),
            "prng_key: the seed is i32[2]; a seed is one integer. Use vmap for several.");
}

TEST(RandomErrors, ShapesAndDtypes) {
  EXPECT_EQ(message([] { return random::normal(key_42(), {-1}); }), "normal: negative extent in [-1].");
  EXPECT_EQ(message([] { return random::normal(key_42(), {2}, i32); }),
            "normal: the dtype is i32; the results are bf16, f16, f32 or f64. Use randint for integers.");
  EXPECT_EQ(message([] { return random::randint(key_42(), {2}, 0, 2, f32); }),
            "randint: the dtype is f32; it must be an integer. Use uniform for floats.");
  EXPECT_EQ(message([] { return random::random_bits(key_42(), {2}, i32); }),
            "random_bits: the dtype is i32; bits are u8, u16, u32 or u64.");
}

TEST(RandomErrors, Choices) {
  EXPECT_EQ(message([] { return random::choice(key_42(), 3, {4}, false); }),
            "choice: 4 draws without repetition from 3. Draw fewer, or pass replace = true.");
  EXPECT_EQ(message([] { return random::choice(key_42(), 0, {4}); }),
            "choice: there is nothing to draw from: n is 0.");
  EXPECT_EQ(message([] { return random::choice(key_42(), 3, {4}, true, ones({4})); }),
            "choice: the weights are f32[4]; they are floats of shape [3].");
}

}  // namespace
}  // namespace anadrome
