// Errors of random numbers: keys, seeds, dtypes, ranges.
#include "anadrome/anadrome.h"
#include "support/messages.h"

namespace anadrome {
namespace {

using testing::expect_contains;
using testing::expect_error;
using testing::message;
using testing::this_file;

const std::string here = this_file();

TEST(RandomErrors, KeysAndSeeds) {
  const Array key = random::prng_key(1), no_key = ones({2});
  expect_error<TypeError>([&] { return random::normal(no_key, {3}); },
                          {"normal", "f32[2]", "u32[2]", "prng_key", here},
                          [&] { return random::normal(key, {3}); });
  expect_error<TypeError>([&] { return random::split(random::split(key)); },
                          {"split", "u32[2,2]", "u32[2]", here},
                          [&] { return random::split(random::split(key)[0]); });
  expect_error<TypeError>(
      [&] {
        return random::prng_key(array({1, 2}, i32));
      },
      {"prng_key", "i32[2]", "vmap", here}, [&] { return random::prng_key(scalar(1, i32)); });
  expect_error<TypeError>([&] { return random::fold_in(key, 0.5); }, {"fold_in", "integer", here},
                          [&] { return random::fold_in(key, 5); });
  expect_error<TypeError>([&] { return random::normal(key, {-1}); }, {"normal", "[-1]", here},
                          [&] { return random::normal(key, {0}); });
}

TEST(RandomErrors, DtypesAndRanges) {
  const Array key = random::prng_key(1);
  expect_error<TypeError>([&] { return random::uniform(key, {3}, i32); }, {"uniform", "i32", "randint", here},
                          [&] { return random::uniform(key, {3}, f64); });
  expect_error<TypeError>([&] { return random::random_bits(key, {3}, i32); },
                          {"random_bits", "i32", "u32", here},
                          [&] { return random::random_bits(key, {3}, u8); });
  expect_error<TypeError>([&] { return random::randint(key, {3}, 0, 5, f32); },
                          {"randint", "f32", "uniform", here},
                          [&] { return random::randint(key, {3}, 0, 5); });
  expect_error<TypeError>([&] { return random::choice(key, 3, {5}, false); },
                          {"choice", "5 draws", "3", here}, [&] { return random::choice(key, 3, {5}); });
  expect_error<TypeError>([&] { return random::choice(key, 0, {1}); }, {"choice", "n is 0", here},
                          [&] { return random::choice(key, 1, {1}); });
  expect_error<TypeError>([&] { return random::choice(key, 3, {5}, true, ones({2})); },
                          {"choice", "f32[2]", "[3]", here},
                          [&] { return random::choice(key, 3, {5}, true, ones({3})); });
  expect_error<TypeError>(
      [&] {
        return random::categorical(key, array({1, 2}, i32));
      },
      {"categorical", "i32[2]", here}, [&] { return random::categorical(key, ones({2})); });
}

}  // namespace
}  // namespace anadrome
