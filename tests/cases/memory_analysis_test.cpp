// Memory of compiled programs to the byte, and arrays that a call gives up.
#include "cases/near.h"

namespace anadrome::cases {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;

TEST(MemoryAnalysis, AScalarProgramTakesItsArgumentAndItsResult) {
  const auto m =
      jit([](const Array& x) { return x * x; }).lower(abstract(f32, {})).compile().memory_analysis();
  EXPECT_EQ(m.argument_size_in_bytes, 4);
  EXPECT_EQ(m.output_size_in_bytes, 4);
  EXPECT_EQ(m.temp_size_in_bytes, 0);
  EXPECT_EQ(m.alias_size_in_bytes, 0);
}

TEST(MemoryAnalysis, ADonatedArgumentIsTheMemoryOfTheResult) {
  const auto f = jit([](const Array& x) { return sin(x) * 2; }, {.donate = {0}});
  const auto m = f.lower(abstract(f32, {2 * mebibyte})).compile().memory_analysis();
  EXPECT_EQ(m.alias_size_in_bytes, 8 * mebibyte);
  EXPECT_EQ(m.temp_size_in_bytes, 0);
}

TEST(MemoryAnalysis, OneTemporaryIsCountedOnce) {
  const auto f = [](const Array& x) { return sum(cumsum(x)); };  // the sums lie in memory before they are added
  const auto m = jit(f).lower(abstract(f32, {mebibyte / 4})).compile().memory_analysis();
  EXPECT_GE(m.temp_size_in_bytes, mebibyte);
  EXPECT_LT(m.temp_size_in_bytes, mebibyte + 1024);
}

TEST(MemoryAnalysis, WhatIsSummedInOneLoopTakesNoMemory) {
  const auto f = [](const Array& x) { return sum(sin(x)); };
  const auto m = jit(f).lower(abstract(f32, {mebibyte / 4})).compile().memory_analysis();
  EXPECT_LT(m.temp_size_in_bytes, 1024);
}

TEST(MemoryAnalysis, AChainOfTemporariesReusesTwoPlaces) {
  const auto chain = [](Array x) {
    for (int i = 0; i < 20; ++i) x = transpose(sin(x));
    return sum(x);
  };
  const auto m = jit(chain).lower(abstract(f32, {512, 512})).compile().memory_analysis();
  EXPECT_LE(m.temp_size_in_bytes, 2 * mebibyte + 1024);
}

// ---- donation

const auto doubled_and_given = [] { return jit([](const Array& x) { return 2 * x; }, {.donate = {0}}); };

TEST(Donation, ADonatedArrayGivesItsMemoryAndItsLaterUseIsAnError) {
  const auto f = doubled_and_given();
  const Array x = vec({1, 2, 3}), copy = x;
  const double* memory = x.span<double>().data();
  const Array y = f(x);
  expect_values(y, {2, 4, 6});
  EXPECT_EQ(y.span<double>().data(), memory);
  for (const Array& gone : {x, copy}) {
    expect_contains(message<TypeError>([&] { return gone + 1; }),
                    {"f64[3]", "was donated to a jitted function", "memory_analysis_test.cpp", ".donate"});
    expect_contains(message<TypeError>([&] { return gone.to_vector<double>(); }), {"donated"});
    expect_contains(message<TypeError>([&] { return sum(gone).item<double>(); }), {"donated"});
    expect_contains(message<TypeError>([&] { return f(gone); }), {"donated"});
    expect_contains(message<TypeError>([&] { return grad([](const Array& v) { return sum(v); })(gone); }),
                    {"donated"});
    expect_contains(
        message<TypeError>([&] { return jit([&](const Array& v) { return v + gone; })(ones({3}, f64)); }),
        {"donated"});
  }
  EXPECT_EQ(x.shape(), (Shape{3}));
  EXPECT_EQ(to_string(x), "f64[3] (donated)");
  expect_values(f(y), {4, 8, 12});
}

TEST(Donation, ATrainingLoopThatReplacesItsStateWorks) {
  const auto step = jit([](const Array& w, const Array& g) { return w - 0.5 * g; }, {.donate = {0}});
  Array w = vec({1, 2});
  const Array g = vec({1, 1});
  for (int i = 0; i < 4; ++i) w = step(w, g);
  expect_values(w, {-1, 0});
  expect_values(g, {1, 1});
}

TEST(Donation, AnArrayThatTheCallReadsElsewhereStaysWhole) {
  const auto f = jit([](const Array& a, const Array& b) { return std::pair(2 * a, a + b); }, {.donate = {0}});
  const Array x = vec({1, 2, 3});
  const auto [twice, both] = f(x, x);
  expect_values(twice, {2, 4, 6});
  expect_values(both, {2, 4, 6});
  expect_values(x, {1, 2, 3});
  const Array captured = vec({1, 2, 3});
  const auto g = jit([=](const Array& a) { return a + captured; }, {.donate = {0}});
  expect_values(g(captured), {2, 4, 6});
  expect_values(captured, {1, 2, 3});
  expect_values(g(vec({10, 20, 30})), {11, 22, 33});
}

TEST(Donation, AnArrayDonatedTwiceInOneCallIsRightAndGone) {
  const auto f =
      jit([](const Array& a, const Array& b) { return std::pair(a + 1, b * 2); }, {.donate = {0, 1}});
  const Array x = vec({1, 2, 3});
  const auto [first, second] = f(x, x);
  expect_values(first, {2, 3, 4});
  expect_values(second, {2, 4, 6});
  EXPECT_THROW((void)(x + 1), TypeError);
}

TEST(Donation, AllLeavesOfADonatedTreeAreGivenUpAndOthersAreNot) {
  const auto f =
      jit([](const std::vector<Array>& p, const Array& x) { return p[0] * x + p[1]; }, {.donate = {0}});
  const std::vector<Array> p{vec({1, 2}), vec({3, 4})};
  const Array x = vec({10, 10});
  expect_values(f(p, x), {13, 24});
  EXPECT_THROW((void)(p[0] + 1), TypeError);
  EXPECT_THROW((void)(p[1] + 1), TypeError);
  expect_values(x, {10, 10});
}

TEST(Donation, WhatCannotBeReusedIsGivenUpTooAndBorrowedMemoryIsNotWritten) {
  const auto f = jit([](const Array& x) { return sum(x); }, {.donate = {0}});
  const Array x = vec({1, 2, 3});
  expect_values(f(x), {6});
  EXPECT_THROW((void)(x + 1), TypeError);
  alignas(64) static double mine[] = {1, 2, 3};
  const Array lent = borrow(std::span<double>(mine), {3});
  expect_values(doubled_and_given()(lent), {2, 4, 6});
  EXPECT_EQ(mine[2], 3);
}

TEST(Donation, InsideAnotherRecordedFunctionNothingIsGivenUp) {
  const auto f = doubled_and_given();
  const Array x = vec({1, 2, 3});
  expect_values(grad([&](const Array& v) { return sum(f(v) * v); })(x), {4, 8, 12});
  expect_values(vmap(f)(x), {2, 4, 6});
  expect_values(jit([&](const Array& v) { return f(v) + v; })(x), {3, 6, 9});
  expect_values(x, {1, 2, 3});
}

TEST(Donation, APositionThatDoesNotExistIsAnError) {
  const auto f = jit([](const Array& x) { return x; }, {.donate = {1}});
  expect_contains(message<TypeError>([&] { return f(number(1)); }),
                  {"argument 1", "1 arguments", "memory_analysis_test.cpp"});
}

}  // namespace
}  // namespace anadrome::cases
