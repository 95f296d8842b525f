// What makes loops fast, in counts and bytes: a body is compiled once, nothing is kept that is not read, and work does not
// grow with what a step leaves alone. Times are measured by bench/.
#include <cmath>

#include "cases/near.h"

namespace anadrome::cases {
namespace {

template <class F> MemoryAnalysis memory_of(const F& f, const Array& x) { return jit(f).lower(x).compile().memory_analysis(); }

TEST(LoopSpeed, AMillionTinyStepsAreRightAndTakeTheMemoryOfTheirResults) {
  constexpr std::int64_t n = 1'000'000;
  const Fn stored = [](const Array& t) {
    return scan(zeros_like(t), {.length = n}, [&](const Array& c) {
             const Array next = 0.99 * c + t;
             return std::pair{next, next};
           }).second;
  };
  const Array y = jitted(stored)(number(1));
  double c = 0;
  for (int i = 0; i < 5000; ++i) c = 0.99 * c + 1;
  expect_values(y[4999], {c});
  expect_values(y[n - 1], {100}, 1e-11);
  EXPECT_LE(memory_of(stored, number(1)).temp_size_in_bytes, 4096);
  const Fn last = [](const Array& r) {
    return scan(number(0.5), {.length = 100'000}, [&](const Array& x) { return std::pair{r * x * (1 - x), std::tuple<>{}}; }).first;
  };
  double x = 0.5;
  for (int i = 0; i < 100'000; ++i) x = 3.2 * x * (1 - x);  // a cycle of two
  expect_values(jitted(last)(number(3.2)), {x}, 1e-9);
  EXPECT_LE(memory_of(last, number(3.2)).temp_size_in_bytes, 4096);
}

TEST(LoopSpeed, AGradientKeepsOneNumberAStep) {
  const auto loop = [](std::int64_t n) -> Fn {
    return [n](const Array& t) { return scan(zeros_like(t), {.length = n}, [&](const Array& c) { return std::pair{sin(0.99 * c + t), std::tuple<>{}}; }).first; };
  };
  const std::int64_t n = 100'000;
  EXPECT_LE(memory_of(grad(loop(n)), number(0.1)).temp_size_in_bytes, 8 * n + 4096);
  double c = 0, dc = 0;
  for (std::int64_t i = 0; i < n; ++i) dc = std::cos(0.99 * c + 0.1) * (0.99 * dc + 1), c = std::sin(0.99 * c + 0.1);
  for (const Mode& m : modes()) expect_values(jitted(m.derivative(loop(n)))(number(0.1)), {dc}, 1e-9);
}

/// Row `i` of the carry becomes the sine of itself, row after row.
Fn rows_updated(int steps) {
  return [steps](const Array& x) {
    const Array last = fori_loop(0, steps, x, [](const Array& i, const Array& c) { return c.at(i).set(sin(c[i])); });
    return sum(last);
  };
}
TEST(LoopSpeed, UpdatesOfARowKeepRowsAndNoCarries) {
  constexpr std::int64_t columns = 100, steps = 50;
  for (std::int64_t rows : {100, 1000}) {
    const Array x = abstract(f64, {rows, columns});
    const std::int64_t carry = 8 * rows * columns;
    EXPECT_LE(memory_of(rows_updated(steps), x).temp_size_in_bytes, carry + 4096) << rows;
    // The carry, its cotangent, and a row a step: not a carry a step.
    EXPECT_LE(memory_of(grad(rows_updated(steps)), x).temp_size_in_bytes, 2 * carry + 2 * steps * 8 * columns + 8192) << rows;
  }
  const Array x = vec({0.1, 0.2, 0.3});
  expect_values(jitted(reverse(rows_updated(2)))(x), {std::cos(0.1), std::cos(0.2), 1});
  expect_values(reverse(rows_updated(2))(x), {std::cos(0.1), std::cos(0.2), 1});
  expect_values(reverse(summed(reverse(rows_updated(2))))(x), {-std::sin(0.1), -std::sin(0.2), 0});
}

TEST(LoopSpeed, RunningSumsAlongAnyAxisAreOnePass) {
  const Array x = abstract(f64, {36, 16, 12});
  for (int axis : {0, 1, 2}) {
    const auto f = [axis](const Array& v) { return cumsum(v, axis); };
    const auto compiled = jit(f).lower(x).compile();
    EXPECT_LE(compiled.cost_analysis().flops, 36 * 16 * 12);
    EXPECT_EQ(compiled.memory_analysis().temp_size_in_bytes, 0);
    EXPECT_LE(memory_of(grad([&](const Array& v) { return sum(f(v) * f(v)); }), x).temp_size_in_bytes, 2 * 8 * 36 * 16 * 12 + 4096);
  }
}

}  // namespace
}  // namespace anadrome::cases
