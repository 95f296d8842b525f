// Sums of many positive float32 numbers: within 4 ulp * log2(n) of the exact sum, along any axis, on every backend.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "anadrome/compile.h"
#include "core/node.h"

namespace anadrome {
namespace {

using Exact = long double;  // 64 bits: exact for the sums below

/// Positive numbers of 24 bits between 2^-8 and 2^4: sums of 1e7 of them have less than 62 bits.
const std::vector<float>& terms() {
  static const std::vector<float> all = [] {
    std::mt19937 random(1);
    std::vector<float> v(10'000'000);
    for (float& x : v) x = std::ldexp(static_cast<float>((1u << 23) + random() % (1u << 23)), static_cast<int>(random() % 12) - 31);
    return v;
  }();
  return all;
}

Array terms_as(const Shape& shape) {
  Array a = uninitialized({f32, shape});
  std::copy_n(terms().begin(), shape.elements(), static_cast<float*>(mutable_data(a)));
  return a;
}

/// How far a float is from the exact value, in units of its last place.
double ulps(float got, Exact want) {
  const float nearest = static_cast<float>(want);
  return static_cast<double>(std::fabs(static_cast<Exact>(got) - want) / static_cast<Exact>(std::nextafter(nearest, INFINITY) - nearest));
}

/// Terms of the output, by its index: the indices of the input that it adds up.
struct Sum {
  const char* name;
  const char* program;
  Shape input;
  std::int64_t outputs, n;                            // sums, and the terms of each
  std::int64_t (*place)(std::int64_t, std::int64_t);  // of term i of sum k
};

const Sum sums[] = {
    {"all", "{ lambda ; a:f32[10000000] . let b:f32[] = reduce_sum[axes=(0)] a in (b) }", {10'000'000}, 1, 10'000'000,
     [](std::int64_t, std::int64_t i) { return i; }},
    {"fused", "{ lambda ; a:f32[10000000] . let b:f32[10000000] = neg a c:f32[10000000] = abs b d:f32[] = "
     "reduce_sum[axes=(0)] c in (d) }", {10'000'000}, 1, 10'000'000, [](std::int64_t, std::int64_t i) { return i; }},
    {"leading axis", "{ lambda ; a:f32[1250000,8] . let b:f32[8] = reduce_sum[axes=(0)] a in (b) }", {1'250'000, 8}, 8,
     1'250'000, [](std::int64_t k, std::int64_t i) { return 8 * i + k; }},
    {"leading axis, odd width", "{ lambda ; a:f32[1000003,9] . let b:f32[9] = reduce_sum[axes=(0)] a in (b) }",
     {1'000'003, 9}, 9, 1'000'003, [](std::int64_t k, std::int64_t i) { return 9 * i + k; }},
    {"trailing axis", "{ lambda ; a:f32[7,1400001] . let b:f32[7] = reduce_sum[axes=(1)] a in (b) }", {7, 1'400'001}, 7,
     1'400'001, [](std::int64_t k, std::int64_t i) { return 1'400'001 * k + i; }},
    {"trailing axis, short rows", "{ lambda ; a:f32[1000,10000] . let b:f32[1000] = reduce_sum[axes=(1)] a in (b) }",
     {1000, 10'000}, 1000, 10'000, [](std::int64_t k, std::int64_t i) { return 10'000 * k + i; }},
    {"middle axis", "{ lambda ; a:f32[4,250000,10] . let b:f32[4,10] = reduce_sum[axes=(1)] a in (b) }", {4, 250'000, 10},
     40, 250'000, [](std::int64_t k, std::int64_t i) { return (k / 10 * 250'000 + i) * 10 + k % 10; }},
    {"outer axes", "{ lambda ; a:f32[100,3,30000] . let b:f32[3] = reduce_sum[axes=(0,2)] a in (b) }", {100, 3, 30'000}, 3,
     3'000'000, [](std::int64_t k, std::int64_t i) { return (i / 30'000 * 3 + k) * 30'000 + i % 30'000; }},
    {"every third", "{ lambda ; a:f32[9999999] . let b:f32[3333333] = slice[start=(0), limit=(9999999), strides=(3)] a "
     "c:f32[] = reduce_sum[axes=(0)] b in (c) }", {9'999'999}, 1, 3'333'333, [](std::int64_t, std::int64_t i) { return 3 * i; }},
    {"transposed", "{ lambda ; a:f32[1000,9000] . let b:f32[9000,1000] = transpose[perm=(1,0)] a c:f32[9000] = "
     "reduce_sum[axes=(1)] b in (c) }", {1000, 9000}, 9000, 1000, [](std::int64_t k, std::int64_t i) { return 9000 * i + k; }},
};

TEST(Sums, OfTenMillionFloatsAreWithinFourUlpsTimesLog) {
  for (const Sum& s : sums) {
    const auto program = std::make_shared<const Program>(parse_program(s.program));
    const Arrays x{terms_as(s.input)};
    std::vector<Exact> want(static_cast<std::size_t>(s.outputs), 0);
    for (std::int64_t k = 0; k < s.outputs; ++k)
      for (std::int64_t i = 0; i < s.n; ++i)
        want[static_cast<std::size_t>(k)] += static_cast<Exact>(terms()[static_cast<std::size_t>(s.place(k, i))]);
    for (const char* backend : {"native", "precompiled", "eval"}) {
      const std::vector<float> got = compile(program, {.backend = backend})->run(x)[0].to_vector<float>();
      double worst = 0;
      for (std::size_t k = 0; k < got.size(); ++k) worst = std::max(worst, ulps(got[k], want[k]));
      EXPECT_LE(worst, 4 * std::log2(static_cast<double>(s.n))) << s.name << " on " << backend;
    }
  }
}

TEST(Sums, InOrderWouldBeFarOutsideThatBound) {
  float sum = 0;
  Exact exact = 0;
  for (float x : terms()) sum += x, exact += static_cast<Exact>(x);
  EXPECT_GT(ulps(sum, exact), 100 * 4 * std::log2(1e7));
}

}  // namespace
}  // namespace anadrome
