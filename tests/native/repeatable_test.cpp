// Results are the same bits in every run and for every number of threads.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "anadrome/anadrome.h"
#include "core/node.h"
#include "support/values.h"

namespace anadrome {
namespace {

using testing::identical;
using testing::random_array;
using Function = std::function<std::vector<Array>(const std::vector<Array>&)>;

/// A function, and the types of its arguments. Big enough to be spread over threads, with odd extents.
struct Subject {
  const char* name;
  std::vector<Type> arguments;
  std::vector<Array> (*f)(const std::vector<Array>& x);
};

using List = std::vector<Array>;

/// The log likelihood of a mixture of Gaussians, and its gradients.
Array likelihood(const Array& weights, const Array& means, const Array& scales, const Array& x) {
  const Array difference = x[{all, newaxis}] - means;
  const Array squares = sum(square(difference * exp(scales)), 2);
  return sum(logsumexp(weights + sum(scales, 1) - 0.5 * squares, 1));
}

const Subject subjects[] = {
    {"sums over everything and along axes",
     {{f32, {1003, 1007}}, {f64, {301, 307}}},
     [](const List& x) {
       return List{sum(x[0]), sum(x[0], 0), sum(x[0], 1), sum(sin(x[1]) * x[1]), sum(exp(x[1]), 0), mean(x[1], 1), prod(1 + x[1] * 0.001)};
     }},
    {"products",
     {{f32, {203, 307}}, {f32, {307, 211}}, {f64, {131, 307}}, {f32, {307}}},
     [](const List& x) {
       return List{dot(x[0], x[1]), dot(x[2], convert(x[1], f64)), dot(x[0], x[3]), dot(x[3], x[1]), dot(transpose(x[1]), x[3]),
                   tanh(dot(x[0], x[1])) + x[1][0]};
     }},
    {"small products in batches",
     {{f32, {5003, 3, 4}}, {f32, {5003, 4, 5}}},
     [](const List& x) { return List{matmul(x[0], x[1]), sum(matmul(x[0], x[1]), 0)}; }},
    {"elementwise chains",
     {{f32, {1'000'003}}, {f64, {300'007}}},
     [](const List& x) {
       return List{tanh(x[0] * 2 + 1) * x[0], exp(-square(x[0])) / (1 + abs(x[0])), sin(x[1]) + atan2(x[1], 2 + cos(x[1])),
                   where(x[1] > 0, log1p(abs(x[1])), pow(abs(x[1]), 1.5))};
     }},
    {"a mixture of Gaussians",
     {{f64, {25}}, {f64, {25, 10}}, {f64, {25, 10}}, {f64, {1001, 10}}},
     [](const List& x) {
       const auto [value, gradient] = value_and_grad<0, 1, 2>(likelihood)(x[0], x[1], x[2], x[3]);
       return List{value, std::get<0>(gradient), std::get<1>(gradient), std::get<2>(gradient)};
     }},
    {"gather and scatter",
     {{f32, {50'021}}, {f32, {200'003}}},
     [](const List& x) {
       const Array places = convert(floor(abs(x[1]) * 40'000), i32);
       const Array added = x[0].at(places).add(sin(x[1]));
       return List{added, x[0].at(places).set(x[1]), take(added, places, 0, TakeMode::clip) * 2, cumsum(added), sort(added)};
     }},
};

std::vector<Array> arguments(const Subject& s) {
  std::mt19937 random(7);
  std::vector<Array> x;
  for (const Type& t : s.arguments) x.push_back(random_array(t, random));
  return x;
}

/// Restores the number of threads.
class Threads {
 public:
  ~Threads() { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

class Repeatable : public ::testing::TestWithParam<Subject> {
 protected:
  void expect_bits(const std::vector<Array>& got, const std::vector<Array>& want, const std::string& when) const {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t k = 0; k < got.size(); ++k)
      EXPECT_TRUE(identical(got[k], want[k])) << GetParam().name << ", output " << k << ", " << when;
  }
};

TEST_P(Repeatable, TwentyRunsGiveTheSameBits) {
  const Threads restored;
  const std::vector<Array> x = arguments(GetParam());
  for (int threads : {2, 4}) {
    set_num_threads(threads);
    const auto f = jit(GetParam().f);
    const std::vector<Array> first = f(x);
    for (int run = 1; run < 20; ++run) expect_bits(f(x), first, std::to_string(threads) + " threads, run " + std::to_string(run));
  }
}

TEST_P(Repeatable, AnyNumberOfThreadsGivesTheSameBits) {
  const Threads restored;
  const std::vector<Array> x = arguments(GetParam());
  set_num_threads(1);
  const std::vector<Array> alone = jit(GetParam().f)(x);
  for (int threads : {2, 3, 5, 8}) {
    set_num_threads(threads);
    expect_bits(jit(GetParam().f)(x), alone, std::to_string(threads) + " threads");
  }
  const auto f = jit(GetParam().f);  // compiled for another number than it runs on
  (void)f(x);
  set_num_threads(2);
  expect_bits(f(x), alone, "compiled for 8 threads, 2 threads");
}

INSTANTIATE_TEST_SUITE_P(Native, Repeatable, ::testing::ValuesIn(subjects), [](const auto& info) {
  std::string name;
  for (const char* c = info.param.name; *c; ++c)
    if (std::isalpha(static_cast<unsigned char>(*c))) name += *c;
  return name;
});

}  // namespace
}  // namespace anadrome
