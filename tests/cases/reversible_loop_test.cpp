// Gradients by exact inversion: equal to the plain ones, in memory that does not grow with the steps.
#include <gtest/gtest.h>

#include "anadrome/anadrome.h"
#include "cases/near.h"

namespace anadrome {
namespace {

struct Spring {
  Array q, v;
};

/// Leapfrog (kick, drift, kick) for q'' = -k q with steps of 0.1.
Spring step(const Spring& s, const Array& k) {
  const Array half = s.v - 0.05 * k * s.q, q = s.q + 0.1 * half;
  return {q, half - 0.05 * k * q};
}
Spring swing(const Spring& start, const Array& k, const ReversibleScanOptions& options) {
  return reversible_scan(start, options, [&](const Spring& s) { return std::pair{step(s, k), std::tuple<>{}}; }).first;
}

TEST(ReversibleLoop, LeapfrogHasTheExactGradient) {
  const Spring start{scalar(1.0, f64), scalar(0.0, f64)};
  const Array k = scalar(2.0, f64);
  for (const Anchors anchors : {Anchors(), Anchors(none), Anchors(2)}) {
    const ReversibleScanOptions options{.length = 10, .anchors = anchors};
    const Spring end = swing(start, k, options);
    EXPECT_NEAR(end.q.item<double>(), 0.15477686589017087, 1e-12);
    EXPECT_NEAR(end.v.item<double>(), -1.3936742095456096, 1e-11);
    const auto of = [&](const Spring& s, const Array& stiffness) { return swing(s, stiffness, options).q; };
    const auto [by_start, by_k] = jit(grad<0, 1>(of))(start, k);
    EXPECT_NEAR(by_start.q.item<double>(), 0.15477686589017087, 1e-12);
    EXPECT_NEAR(by_start.v.item<double>(), 0.7003387987666381, 1e-11);
    EXPECT_NEAR(by_k.item<double>(), -0.35016939938331904, 1e-11);
  }
}

TEST(ReversibleLoop, MemoryDoesNotGrowWithTheSteps) {
  const Spring start{ones({64}, f64), zeros({64}, f64)};
  const auto bytes = [&](std::int64_t n) {
    const auto f = [&](const Array& k) { return sum(swing(start, k, {.length = n, .anchors = none}).q); };
    return jit(grad(f)).lower(scalar(2.0, f64)).compile().memory_analysis().temp_size_in_bytes;
  };
  EXPECT_EQ(bytes(10), bytes(1000));
  EXPECT_EQ(bytes(10), bytes(100000));
  const auto kept = [&](std::int64_t n) {
    const auto f = [&](const Array& k) { return sum(fori_loop(0, n, start, [&](const Array&, const Spring& s) { return step(s, k); }).q); };
    return jit(grad(f)).lower(scalar(2.0, f64)).compile().memory_analysis().temp_size_in_bytes;
  };
  EXPECT_GT(kept(1000), 10 * bytes(1000));
}

TEST(ReversibleLoop, WithinABudgetTheGradientIsTheSame) {
  const Spring start{ones({64}, f64), zeros({64}, f64)};
  const auto f = [&](const Array& k) { return sum(fori_loop(0, 1000, start, [&](const Array&, const Spring& s) { return step(s, k); }).q); };
  const Array k = scalar(2.0, f64);
  const auto small = with_memory_budget(grad(f), 40000);
  EXPECT_LE(small.plan(k).report.planned, 40000);
  EXPECT_NEAR(small(k).item<double>(), grad(f)(k).item<double>(), 1e-9 * std::abs(grad(f)(k).item<double>()));
}

}  // namespace
}  // namespace anadrome
