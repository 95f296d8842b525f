// Memory of backward passes: what is kept is what is needed, and a value's memory is free after its last use.
#include "cases/near.h"

namespace anadrome::cases {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;

template <class F> std::int64_t temporary_bytes(const F& f, const Array& x) {
  return jit(f).lower(x).compile().memory_analysis().temp_size_in_bytes;
}

// ---- a buffer that is filled one slot per step

/// Slot i becomes sin(slot before * x + x); a select that always takes the new buffer.
Fn filled_by_select(int n) {
  return [n](const Array& x) {
    Array ys = zeros({n}, f64);
    for (int i = 0; i < n; ++i) {
      const Array changed = ys.at(i).set(sin(ys[i ? i - 1 : 0] * x + x));
      ys = where(scalar(i) > -10, changed, ys);
    }
    return ys[n - 1];
  };
}
/// Slot i becomes sin(ys . w + 1): a full read in every step.
Fn filled_after_full_reads(int n) {
  return [n](const Array& w) {
    Array ys = zeros({n}, f64);
    for (int i = 0; i < n; ++i) ys = ys.at(i).set(sin(dot(ys, w) + 1));
    return sum(ys);
  };
}

TEST(BackwardMemory, ABufferFilledSlotBySlotHasTheRightGradient) {
  for (const auto& mode : modes()) {
    SCOPED_TRACE(mode.name);
    expect_values(jitted(mode.derivative(filled_by_select(8)))(number(0.5)), {1.6376863846626641}, 1e-11);
  }
  expect_values(filled_by_select(8)(number(0.5)), {0.7756194759212077}, 1e-11);
  const Array w = vec({0.1, 0.2, 0.3, 0.4});
  expect_values(jitted(filled_after_full_reads(4))(w), {3.6774578532783}, 1e-11);
  expect_values(jitted(reverse(filled_after_full_reads(4)))(w), {0.69837932223263, 0.2928346202867, 0.0230034272786, 0.0}, 1e-11);
}

TEST(BackwardMemory, ABufferFilledSlotBySlotKeepsNoCopies) {
  std::int64_t before = 0;
  for (int n : {64, 128, 256}) {
    const std::int64_t bytes = temporary_bytes(grad(filled_by_select(n)), abstract(f64, {}));
    EXPECT_LE(bytes, 160 * n + 1024) << n;
    if (before) {
      EXPECT_LE(bytes, 2 * before + 1024) << n;
    }
    before = bytes;
  }
}

// ---- donated arguments

TEST(BackwardMemory, ADonatedArrayReadBetweenTwoUpdatesIsStillUpdatedInPlace) {
  const auto f = jit(
      [](const Array& x) {
        const Array a = exp(x);
        Array s = a[0];
        for (int i = 1; i < 8; ++i) s = s + a[128 * i];
        return a * s;
      },
      {.donate = {0}});
  const auto memory = f.lower(abstract(f32, {2 * mebibyte})).compile().memory_analysis();
  EXPECT_LT(memory.temp_size_in_bytes, 1024);
  EXPECT_EQ(memory.alias_size_in_bytes, 8 * mebibyte);
  const Array x = zeros({1024}, f32) + 0.5f;
  const float one = jit([](const Array& v) { return exp(v); })(scalar(0.5f)).item<float>();
  const void* place = x.span<float>().data();
  const Array y = f(x);
  EXPECT_EQ(y.span<float>().data(), place);
  for (float v : y.to_vector<float>()) EXPECT_NEAR(v, 8 * one * one, 1e-4);
}

TEST(BackwardMemory, ADonatedStateOfSeveralArraysIsUpdatedInPlace) {
  const auto step = jit(
      [](const std::vector<Array>& state, const Array& g) {
        const Array momentum = 0.9f * state[1] + g;
        return std::vector<Array>{state[0] - 0.1f * momentum, momentum};
      },
      {.donate = {0}});
  const Array type = abstract(f32, {mebibyte});
  const auto memory = step.lower(std::vector<Array>{type, type}, type).compile().memory_analysis();
  EXPECT_EQ(memory.alias_size_in_bytes, 8 * mebibyte);
  EXPECT_EQ(memory.temp_size_in_bytes, 0);
}

// ---- the last use frees

TEST(BackwardMemory, AChainKeepsOneValueAStepAndNoMore) {
  // Backwards a chain of n needs what n steps kept, and two places to work in.
  const auto chain = [](int n) -> Fn {
    return [n](Array x) {
      for (int i = 0; i < n; ++i) x = transpose(sin(transpose(x)) * 1.01);
      return sum(x);
    };
  };
  const std::int64_t bytes = 8 * 64 * 64;
  for (int n : {4, 8, 16}) EXPECT_LE(temporary_bytes(grad(chain(n)), abstract(f64, {64, 64})), (n + 2) * bytes + 1024) << n;
}

TEST(BackwardMemory, WhatIsReadOnceIsFreedBeforeTheNextStep) {
  const auto layers = [](int n) -> Fn {
    return [n](const Array& w) {
      Array x = w;
      for (int i = 0; i < n; ++i) x = dot(sin(x), w);
      return sum(x);
    };
  };
  const Array w = abstract(f64, {64, 64});
  EXPECT_LE(temporary_bytes(layers(5), w), 5 * 8 * 64 * 64);
  EXPECT_EQ(temporary_bytes(layers(5), w), temporary_bytes(layers(50), w));
}

TEST(BackwardMemory, GradientsOfALayerAreAddedUpInOnePlace) {
  // Thirty contributions to the gradient of w: each is added when it is made.
  const auto layers = [](int n) -> Fn {
    return [n](const Array& w) {
      Array x = w;
      for (int i = 0; i < n; ++i) x = tanh(dot(x, w));
      return sum(x);
    };
  };
  const std::int64_t bytes = 8 * 64 * 64;
  for (int n : {5, 10, 30}) EXPECT_LE(temporary_bytes(grad(layers(n)), abstract(f64, {64, 64})), (n + 6) * bytes) << n;
}

}  // namespace
}  // namespace anadrome::cases
