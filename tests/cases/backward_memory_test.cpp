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

/// The same two as loops.
Fn looped_by_select(int n) {
  return [n](const Array& x) {
    const Array last = fori_loop(0, n, zeros({n}, f64), [&](const Array& i, const Array& ys) {
      const Array changed = ys.at(i).set(sin(ys[max(i - 1, 0)] * x + x));
      return where(i > -10, changed, ys);
    });
    return last[n - 1];
  };
}
Fn looped_after_full_reads(int n) {
  return [n](const Array& w) {
    return sum(fori_loop(0, n, zeros({n}, f64), [&](const Array& i, const Array& ys) { return ys.at(i).set(sin(dot(ys, w) + 1)); }));
  };
}
TEST(BackwardMemory, ABufferFilledInALoopHasTheRightGradient) {
  expect_values(looped_by_select(8)(number(0.5)), {0.7756194759212077}, 1e-11);
  for (const auto& mode : modes()) {
    SCOPED_TRACE(mode.name);
    expect_values(mode.derivative(looped_by_select(8))(number(0.5)), {1.6376863846626641}, 1e-11);
    expect_values(jitted(mode.derivative(looped_by_select(8)))(number(0.5)), {1.6376863846626641}, 1e-11);
  }
  const Array w = vec({0.1, 0.2, 0.3, 0.4});
  expect_values(looped_after_full_reads(4)(w), {3.6774578532783}, 1e-11);
  expect_values(jitted(reverse(looped_after_full_reads(4)))(w), {0.69837932223263, 0.2928346202867, 0.0230034272786, 0.0}, 1e-11);
  expect_values(reverse(looped_after_full_reads(4))(w), {0.69837932223263, 0.2928346202867, 0.0230034272786, 0.0}, 1e-11);
}
TEST(BackwardMemory, ABufferFilledInALoopKeepsNoCopies) {
  for (int n : {128, 256, 512, 1024}) {
    EXPECT_LE(temporary_bytes(grad(looped_by_select(n)), abstract(f64, {})), 80 * n + 4096) << n;
  }
}

// ---- branches

/// What a vjp keeps of x, in bytes: its residuals that are floats.
std::int64_t kept_bytes_of(const std::function<Array(const Array&, const Array&)>& f, const Array& p, const Array& x) {
  std::int64_t bytes = 0;
  const auto made = linearize([&](const Array& v) { return f(p, v); }, x);
  for (const Array& r : made.linear.residuals())
    if (r.dtype() == f64) bytes += 8 * r.size();
  return bytes;
}
TEST(BackwardMemory, AConditionalKeepsWhatItsLargestBranchNeeds) {
  const auto f = [](const Array& p, const Array& x) { return cond(p, [&] { return x; }, [&] { return sin(sin(sin(x))); }); };
  const auto both = [](const Array& p, const Array& x) { return cond(p, [&] { return exp(cos(x)); }, [&] { return sin(sin(sin(x))); }); };
  const Array x = vec(std::vector<double>(1000, 0.5));
  for (bool p : {false, true}) {
    EXPECT_LE(kept_bytes_of(f, scalar(p, b1), x), 24000);
    EXPECT_LE(kept_bytes_of(both, scalar(p, b1), x), 24000 + 8000);  // and the result, which is there anyway
  }
  const auto loss = [&](const Array& v) { return sum(f(v[0] > 1, v)); };
  // What the larger branch keeps beside its argument, the result, its cotangent, and one array to work in.
  EXPECT_LE(temporary_bytes(grad(loss), abstract(f64, {1000})), 16000 + 3 * 8000 + 4096);
}

/// 2^levels steps of `step`, made of nested loops of two; none below a loop whose state is done.
Array bounded(int levels, const Array& x, const std::function<Array(const Array&)>& goes_on, const std::function<Array(const Array&)>& step) {
  return cond(goes_on(x),
              [&] {
                if (levels == 0) return step(x);
                return fori_loop(0, 2, x, [&](const Array&, const Array& c) { return bounded(levels - 1, c, goes_on, step); });
              },
              [&] { return x; });
}
TEST(BackwardMemory, AMillionStepsThatEndAfterThreeAreThree) {
  const Fn f = [](const Array& x) {
    return bounded(20, x, [](const Array& c) { return c < 4; }, [](const Array& c) { return c * 1.5 + 0.125; });
  };
  // 1.25, 2, 3.125, 4.8125
  expect_values(f(number(1.25)), {4.8125});
  for (const Mode& m : modes()) {
    expect_values(m.derivative(f)(number(1.25)), {1.5 * 1.5 * 1.5});
    expect_values(jitted(m.derivative(f))(number(1.25)), {1.5 * 1.5 * 1.5});
  }
  EXPECT_LE(temporary_bytes(grad(f), number(1.25)), 4 << 20);  // which way each of the steps there could be went
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
