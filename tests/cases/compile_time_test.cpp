// What is compiled grows with the program: shared values are visited once, not once for each path to them.
#include <algorithm>
#include <array>
#include <cmath>

#include "cases/near.h"

namespace anadrome::cases {
namespace {

/// Counted work of compiling a gradient: equations, lines of the schedule, bytes of machine code.
std::array<double, 3> compiled_gradient(const Fn& f, const Shape& shape) {
  const auto compiled = jit(grad(f)).lower(abstract(f64, shape)).compile();
  const std::string text = compiled.text();
  return {static_cast<double>(compiled.program().equations.size()),
          static_cast<double>(std::count(text.begin(), text.end(), '\n')),
          static_cast<double>(compiled.memory_analysis().generated_code_size_in_bytes)};
}

/// From a short program to one `longer` times as long, all of them grow by at most longer^1.3.
void expect_linear(const std::function<Fn(int)>& of_length, const Shape& shape, int length, int longer) {
  const auto small = compiled_gradient(of_length(length), shape), large = compiled_gradient(of_length(length * longer), shape);
  for (std::size_t k = 0; k < small.size(); ++k)
    EXPECT_LE(large[k], small[k] * std::pow(longer, 1.3)) << std::array{"equations", "lines", "code"}[k];
}

/// Each step uses the running vector twice, through a sum: x + sum(tanh(x (i + 1) / n)) * reversed(x).
Fn uses_twice(int n) {
  return [n](Array x) {
    for (int i = 0; i < n; ++i) x = x + sum(tanh(x * ((i + 1.0) / n))) * x[every(-1)];
    return sum(x);
  };
}

TEST(CompileTime, ARunningVectorUsedTwiceAStepGrowsLinearly) {
  expect_linear(uses_twice, {8}, 5, 32);
}

TEST(CompileTime, ItsGradientIsThatOfTheReference) {
  const Array x = vec({0.01, -0.02, 0.03, 0.005, -0.015, 0.02, -0.01, 0.025});
  for (int n : {5, 20, 40}) {
    const auto gradient = grad(uses_twice(n));
    const std::vector<double> want = jit(gradient, {.compile = {.backend = "eval"}})(x).to_vector<double>();
    for (double v : want) EXPECT_TRUE(std::isfinite(v)) << n;
    expect_values(jit(gradient)(x), want, 1e-11);
  }
}

TEST(CompileTime, SixtyDoublingsTakeSixtyAdditions) {
  const Fn f = [](Array x) {
    for (int i = 0; i < 60; ++i) x = x + x;
    return x;
  };
  expect_values(reverse(f)(number(1)), {1152921504606846976.0});
  expect_values(jitted(reverse(f))(number(1)), {1152921504606846976.0});
  const Program backwards = make_program(grad(f), number(1));
  EXPECT_LE(backwards.equations.size(), 121u);
  EXPECT_LE(jit(grad(f)).lower(number(1)).compile().program().equations.size(), 60u);
}

TEST(CompileTime, ALadderOfProductsIsDifferentiatedOncePerRung) {
  // Of two values each step makes two, of both: 2^n paths from the first to the last.
  const auto ladder = [](int n) -> Fn {
    return [n](const Array& x) {
      Array a = sin(x), b = cos(x);
      for (int i = 0; i < n; ++i) {
        const Array c = a * b, d = a + 0.5 * b;
        a = c, b = d;
      }
      return sum(a + b);
    };
  };
  expect_linear(ladder, {40}, 25, 8);
  EXPECT_LE(make_program(grad(ladder(100)), vec({1, 2})).equations.size(), 1200u);
}

TEST(CompileTime, DeepChainsOfProductsOfMatricesGrowLinearly) {
  const auto layers = [](int n) -> Fn {
    return [n](const Array& w) {
      Array x = w;
      for (int i = 0; i < n; ++i) x = tanh(dot(x, w)) + x;
      return sum(x);
    };
  };
  expect_linear(layers, {20, 20}, 10, 8);
}

TEST(CompileTime, ManyArgumentsAndResultsGrowLinearly) {
  const auto steps = [](int n) {
    std::vector<Array> x(static_cast<std::size_t>(n), abstract(f64, {3}));
    const auto f = [](const std::vector<Array>& v) {
      Array total = v[0];
      for (std::size_t i = 1; i < v.size(); ++i) total = total * 0.5 + sin(v[i]);
      return sum(total);
    };
    return static_cast<double>(jit(grad(f)).lower(x).compile().program().equations.size());
  };
  EXPECT_LE(steps(400), std::pow(2.0, 1.3) * steps(200));
}

TEST(CompileTime, LoopsOfAnyLengthAreTheSameProgram) {
  const auto sized = [](std::int64_t n) {
    const auto f = [n](const Array& x) { return scan(x, {.length = n}, [](const Array& c) { return std::pair{sin(c), std::tuple<>{}}; }).first; };
    const auto compiled = jit(grad(f)).lower(number(0.5)).compile();
    const std::string text = compiled.text();
    return std::array{static_cast<std::int64_t>(compiled.program().equations.size()), static_cast<std::int64_t>(std::count(text.begin(), text.end(), '\n')),
                      compiled.memory_analysis().generated_code_size_in_bytes};
  };
  const auto ten = sized(10);
  for (std::int64_t n : {1000L, 100'000L, 1'000'000'000L}) {
    const auto longer = sized(n);
    EXPECT_EQ(longer[0], ten[0]) << n;
    EXPECT_EQ(longer[1], ten[1]) << n;
    EXPECT_LE(longer[2], ten[2] + 128) << n;  // larger numbers in the code
  }
  const auto limited = [](std::int64_t n) {
    const auto f = [n](const Array& x) {
      return while_loop(x, {.max_steps = n}, [](const Array& c) { return c > 0.1; }, [](const Array& c) { return 0.5 * sin(c); });
    };
    return jit(grad(f)).lower(number(0.5)).compile().program().equations.size();
  };
  EXPECT_EQ(limited(10), limited(1'000'000));
}

/// A carry that no update can overwrite makes a loop try two ways to run its body, at each level: 2^24 if each tried anew.
TEST(CompileTime, NestedLoopsAreCompiledOnce) {
  const Array w = ones({3, 3});
  std::function<Array(const Array&, int)> nested = [&](const Array& x, int depth) {
    return scan(x, {.length = 1}, [&](const Array& h) {
             return std::pair{depth == 0 ? tanh(dot(w, h)) : tanh(dot(w * sum(nested(h, depth - 1)), h)), std::tuple<>{}};
           }).first;
  };
  const auto compiled = jit([&](const Array& x) { return nested(x, 24); }).lower(ones({3})).compile();
  EXPECT_GT(compiled(ones({3})).to_vector<float>()[0], 0);
}

}  // namespace
}  // namespace anadrome::cases
