// Blocks of rows through loops: where they are made, that results stay, and what memory they take.
#include <gtest/gtest.h>

#include <functional>

#include "anadrome/anadrome.h"
#include "anadrome/threads.h"

namespace anadrome {
namespace {

struct Weights {
  Array w1, b1, w2;
};
using Loss = std::function<Array(const Weights&, const Array& x, const Array& xs)>;

constexpr Dim width = 48, hidden = 64, steps = 64;

Array key(int seed) { return random::prng_key(seed); }
Array block(const Weights& p, const Array& x) { return matmul(tanh(matmul(x, p.w1) + p.b1), p.w2); }

struct Case {
  std::string name;
  std::int64_t rows;
  bool blocked;  // whether rows can be taken block by block
  Loss loss;
};

/// A loss of a residual net of `steps` layers, whose step on (x, slice) is given.
Loss net(const std::function<Array(const Weights&, const Array&, const Array&)>& step) {
  return [step](const Weights& p, const Array& x, const Array& xs) {
    const auto [last, seen] = scan(x, xs, [&](const Array& c, const Array& slice) {
      const Array next = step(p, c, slice);
      return std::pair{next, sum(next * slice)};
    });
    return mean(square(last)) + 0.01 * mean(seen);
  };
}

std::vector<Case> cases() {
  const auto plain = [](const Weights& p, const Array& x, const Array& slice) { return x + 0.2 * block(p, x) + 0.1 * slice; };
  return {
      {"rows never meet", 64, true, net(plain)},
      {"of another number of rows", 192, true, net(plain)},
      {"rows that no block divides", 70, false, net(plain)},
      {"a sum over columns", 64, true,
       net([](const Weights& p, const Array& x, const Array& slice) { return x + block(p, x / (1 + sum(x * x, {1}, true))) + slice; })},
      {"a transposed block", 64, true,
       net([](const Weights& p, const Array& x, const Array& slice) {
         return x + 0.2 * transpose(matmul(transpose(p.w2), tanh(matmul(transpose(p.w1), transpose(x))))) + 0.1 * slice;
       })},
      {"a sum over rows in the step", 64, false,
       net([](const Weights& p, const Array& x, const Array& slice) { return x + 0.2 * block(p, x - mean(x, {0})) + 0.1 * slice; })},
      {"a largest row", 64, false,
       net([](const Weights& p, const Array& x, const Array& slice) { return x + 0.2 * block(p, x - reduce_max(x, {0})) + 0.1 * slice; })},
      {"products of rows with rows", 64, false,
       net([](const Weights& p, const Array& x, const Array& slice) { return 0.5 * x + 0.01 * tanh(matmul(matmul(x, transpose(x)), block(p, x))) + 0.1 * slice; })},
      {"rows in another order", 64, false,
       net([](const Weights& p, const Array& x, const Array& slice) { return flip(x, {0}) + 0.2 * block(p, x) + 0.1 * slice; })},
      {"numbers of rows", 64, false,
       net([](const Weights& p, const Array& x, const Array& slice) { return x + 0.2 * block(p, x) + 0.001 * reshape(arange(64, f32), {64, 1}) + slice; })},
  };
}

double difference(const Array& got, const Array& want) {
  return (reduce_max(abs(got - want)) / reduce_max(abs(want))).item<double>();
}

class RowBlocks : public ::testing::TestWithParam<Case> {};

TEST_P(RowBlocks, GiveTheGradientsOfTheWholeOnAnyNumberOfThreads) {
  const Case& c = GetParam();
  const Weights p{0.3 * random::normal(key(1), {width, hidden}, f64), 0.1 * random::normal(key(2), {hidden}, f64),
                  0.1 * random::normal(key(3), {hidden, width}, f64)};
  const Array x = random::normal(key(4), {c.rows, width}, f64), xs = random::normal(key(5), {steps, c.rows, width}, f64);
  const auto f = value_and_grad<0, 1, 2>(c.loss);
  const auto [value, want] = jit(f, {.compile = {.backend = "eval"}})(p, x, xs);
  const int before = num_threads();
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    const auto compiled = jit(f).lower(p, x, xs).compile();
    const bool divides = c.rows % (16 * threads) == 0 && c.rows / 16 > 1;
    EXPECT_EQ(compiled.program().count("row_blocks"), c.blocked && divides ? 1 : 0) << threads;
    const auto [got_value, got] = compiled(p, x, xs);
    EXPECT_LT(difference(got_value, value), 1e-12);
    EXPECT_LT(difference(std::get<0>(got).w1, std::get<0>(want).w1), 1e-11);
    EXPECT_LT(difference(std::get<0>(got).w2, std::get<0>(want).w2), 1e-11);
    EXPECT_LT(difference(std::get<1>(got), std::get<1>(want)), 1e-11);
    EXPECT_LT(difference(std::get<2>(got), std::get<2>(want)), 1e-11);
  }
  set_num_threads(before);
}

INSTANTIATE_TEST_SUITE_P(Nets, RowBlocks, ::testing::ValuesIn(cases()), [](const auto& info) {
  std::string out = info.param.name;
  for (char& ch : out)
    if (ch == ' ') ch = '_';
  return out;
});

TEST(RowBlocks, KeepTheValuesOfTheRowsInFlightAlone) {
  const Weights p{0.1 * random::normal(key(1), {64, 128}), zeros({128}), 0.1 * random::normal(key(3), {128, 64})};
  const Array x = random::normal(key(4), {512, 64});
  const auto loss = [](const Weights& q, const Array& from) {
    return mean(square(fori_loop(0, 256, from, [&](const Array&, const Array& c) { return c + 0.1 * block(q, c); })));
  };
  const int before = num_threads();
  set_num_threads(2);
  const auto compiled = jit(grad(loss)).lower(p, x).compile();
  set_num_threads(before);
  const std::int64_t of_a_row = 256 * (64 + 128) * 4;  // what the backward loop reads of each
  EXPECT_EQ(compiled.program().count("row_blocks"), 1);
  EXPECT_GT(compiled.memory_analysis().temp_size_in_bytes, 64 * of_a_row);
  EXPECT_LT(compiled.memory_analysis().temp_size_in_bytes, 70 * of_a_row);
  EXPECT_LT(70 * of_a_row, 512 * of_a_row / 4);
}

TEST(RowBlocks, WorkThroughVmapCheckpointsAndLoopsInLoops) {
  const Weights p{0.3 * random::normal(key(1), {width, hidden}, f64), zeros({hidden}, f64), 0.1 * random::normal(key(3), {hidden, width}, f64)};
  const Array x = random::normal(key(4), {64, width}, f64);
  const auto one = [](const Weights& q, const Array& row) {
    const auto layer = checkpoint([](const Weights& w, const Array& c) { return c + 0.2 * block(w, c); });
    const Array last = fori_loop(0, 8, row, [&](const Array&, const Array& c) {
      return fori_loop(0, 6, c, [&](const Array&, const Array& d) { return layer(q, d); });
    });
    return sum(last * last);
  };
  const auto f = grad([&](const Weights& q, const Array& rows) { return mean(vmap(one, {.in = {none, 0}})(q, rows)); });
  const int before = num_threads();
  set_num_threads(2);
  const auto compiled = jit(f).lower(p, x).compile();
  set_num_threads(before);
  EXPECT_EQ(compiled.program().count("row_blocks"), 1) << compiled.program();
  const Weights got = compiled(p, x), want = jit(f, {.compile = {.backend = "eval"}})(p, x);
  EXPECT_LT(difference(got.w1, want.w1), 1e-11);
  EXPECT_LT(difference(got.b1, want.b1), 1e-11);
  EXPECT_LT(difference(got.w2, want.w2), 1e-11);
}

}  // namespace
}  // namespace anadrome
