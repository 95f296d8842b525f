// Errors of making, moving and joining arrays.
#include "anadrome/anadrome.h"
#include "support/messages.h"

namespace anadrome {
namespace {

using testing::expect_contains;
using testing::expect_error;
using testing::message;
using testing::this_file;

const std::string here = this_file();

TEST(ShapeErrors, MakingArrays) {
  const std::vector<float> five{1, 2, 3, 4, 5};
  expect_error<TypeError>(
      [&] {
        return array(five, {2, 3});
      },
      {"5 elements", "[2,3]", "6", here},
      [&] {
        return array(five, {5, 1});
      });
  expect_error<TypeError>(
      [] {
        return array({{1, 2}, {3}});
      },
      {"array", "2 entries", "1", here},
      [] {
        return array({{1, 2}, {3, 4}});
      });
  expect_error<TypeError>(
      [] {
        return array({{1, 2}, 3});
      },
      {"array", "braces", here},
      [] {
        return array({1, 2});
      });
  expect_error<TypeError>([] { return array({300}, u8); }, {"300", "u8", here},
                          [] { return array({255}, u8); });
  expect_error<TypeError>([] { return scalar(1.5, i32); }, {"scalar", "1.5", "i32", here},
                          [] { return scalar(1, i32); });
  expect_error<TypeError>(
      [] {
        return zeros({2, -1});
      },
      {"[2,-1]", "negative", here},
      [] {
        return zeros({2, 0});
      });
  expect_error<TypeError>([] { return arange(0, 5, 0); }, {"arange", "step 0", here},
                          [] { return arange(0, 5, 2); });
  expect_error<TypeError>([] { return arange(300, u8); }, {"arange", "u8", "wider", here},
                          [] { return arange(200, u8); });
  expect_error<TypeError>([] { return arange(0.0, 1.0, 0.5, i32); }, {"arange", "i32", "float", here},
                          [] { return arange(0.0, 1.0, 0.5); });
  expect_error<TypeError>([] { return linspace(0, 1, -1); }, {"linspace", "-1", here},
                          [] { return linspace(0, 1, 3); });
  expect_error<TypeError>([] { return zeros({2}, c64); }, {"zeros", "c64", here},
                          [] { return zeros({2}, f64); });
}

TEST(ShapeErrors, Reshape) {
  const Array x = ones({2, 3});
  expect_error<TypeError>([&] { return reshape(x, {4}); }, {"reshape", "f32[2,3]", "6", "[4]", "4", here},
                          [&] { return reshape(x, {6}); });
  expect_error<TypeError>(
      [&] {
        return reshape(x, {4, -1});
      },
      {"reshape", "f32[2,3]", "-1", "[4,-1]", here},
      [&] {
        return reshape(x, {3, -1});
      });
}

TEST(ShapeErrors, Broadcast) {
  const Array x = ones({2, 3});
  expect_error<TypeError>(
      [&] {
        return broadcast_to(x, {3, 3});
      },
      {"broadcast", "[2,3]", "[3,3]", here},
      [&] {
        return broadcast_to(x, {4, 2, 3});
      });
  expect_error<TypeError>([&] { return broadcast_to(x, {3}); }, {"broadcast", "[2,3]", "[3]", here},
                          [&] {
                            return broadcast_to(x, {2, 3});
                          });
  expect_error<TypeError>(
      [&] {
        return broadcast_in_dim(x, {2, 4}, {0, 1});
      },
      {"f32[2,3]", "3", "[2,4]", "4", here},
      [&] {
        return broadcast_in_dim(x, {2, 3, 4}, {0, 1});
      });
  expect_error<TypeError>(
      [&] {
        return broadcast_in_dim(x, {3, 2}, {1, 0});
      },
      {"[1,0]", "rise", here},
      [&] {
        return broadcast_in_dim(x, {2, 3}, {0, 1});
      });
}

TEST(ShapeErrors, Axes) {
  const Array x = ones({2, 3, 1});
  expect_error<TypeError>(
      [&] {
        return transpose(x, {0, 0, 1});
      },
      {"transpose", "[0,0,1]", here},
      [&] {
        return transpose(x, {2, 0, 1});
      });
  expect_error<TypeError>([&] { return swapaxes(x, 0, 3); }, {"axis 3", "rank 3", "-3 to 2", here},
                          [&] { return swapaxes(x, 0, -1); });
  expect_error<TypeError>(
      [&] {
        return expand_dims(x, {0, 0});
      },
      {"axis 0", "twice", here},
      [&] {
        return expand_dims(x, {0, 1});
      });
  expect_error<TypeError>([&] { return squeeze(x, 1); }, {"squeeze", "f32[2,3,1]", "extent 3", here},
                          [&] { return squeeze(x, 2); });
  expect_error<TypeError>(
      [&] {
        return roll(x, {1, 2}, {0});
      },
      {"roll", "2 shifts", "1 axes", here},
      [&] {
        return roll(x, {1, 2}, {0, 1});
      });
}

TEST(ShapeErrors, Joining) {
  const Array a = ones({2, 3}), b = ones({2, 4}), c = ones({3});
  expect_error<TypeError>(
      [&] {
        return concatenate({a, a, b}, 0);
      },
      {"concatenate", "axis 1", "part 0 has 3", "part 2 has 4", "f32[2,3]", "f32[2,4]", here},
      [&] {
        return concatenate({a, a, b}, 1);
      });
  expect_error<TypeError>(
      [&] {
        return concatenate({a, c});
      },
      {"2 axes", "part 1", "f32[3]", here},
      [&] {
        return concatenate({c, c});
      });
  expect_error<TypeError>([] { return concatenate({}); }, {"no parts", here},
                          [&] { return concatenate({a}); });
  expect_error<TypeError>(
      [&] {
        return stack({a, b});
      },
      {"stack", "f32[2,3]", "f32[2,4]", here},
      [&] {
        return stack({a, a});
      });
}

TEST(ShapeErrors, CuttingAndRepeating) {
  const Array x = ones({5});
  expect_error<TypeError>([&] { return split(x, 2); }, {"split", "f32[5]", "2 equal pieces", here},
                          [&] { return split(x, 5); });
  expect_error<TypeError>([&] { return tile(x, {-1}); }, {"tile", "[-1]", here},
                          [&] { return tile(x, {2}); });
  expect_error<TypeError>([&] { return repeat(x, -1); }, {"repeat", "-1", here},
                          [&] { return repeat(x, 2); });
  expect_error<TypeError>([&] { return static_slice(x, {2}, {6}); }, {"slice", "[2, 6)", "f32[5]", here},
                          [&] { return static_slice(x, {2}, {5}); });
  expect_error<TypeError>(
      [&] {
        return static_slice(x, {0, 0}, {1, 1});
      },
      {"2 entries", "f32[5]", "1 axes", here}, [&] { return static_slice(x, {0}, {1}); });
  expect_error<TypeError>([&] { return dynamic_slice(x, {0}, {6}); }, {"[6]", "f32[5]", here},
                          [&] { return dynamic_slice(x, {0}, {5}); });
  expect_error<TypeError>(
      [&] {
        return dynamic_slice(x, {0, 1}, {2});
      },
      {"2 starts", "[5]", here}, [&] { return dynamic_slice(x, {4}, {2}); });
  expect_error<TypeError>([&] { return dynamic_slice(x, {0.5}, {2}); }, {"start", "integer", here},
                          [&] { return dynamic_slice(x, {1}, {2}); });
  expect_error<TypeError>(
      [&] {
        return pad(x, 0, {{1, 1}, {0, 0}});
      },
      {"pad", "2 entries", "f32[5]", here},
      [&] {
        return pad(x, 0, {{1, 1}});
      });
  expect_error<TypeError>(
      [&] {
        return pad(x, x, {{1, 1}});
      },
      {"pad", "scalar", "f32[5]", here},
      [&] {
        return pad(x, x[0], {{1, 1}});
      });
}

TEST(ShapeErrors, Matrices) {
  const Array x = ones({5});
  expect_error<TypeError>([&] { return tril(x); }, {"tril", "f32[5]", here},
                          [] {
                            return tril(ones({5, 5}));
                          });
  expect_error<TypeError>([&] { return trace(x); }, {"trace", "f32[5]", here},
                          [] {
                            return trace(ones({5, 5}));
                          });
  expect_error<TypeError>(
      [] {
        return diag(ones({2, 2, 2}));
      },
      {"diag", "f32[2,2,2]", "diagonal", here}, [&] { return diag(x); });
  expect_error<TypeError>([&] { return one_hot(x, 3); }, {"one_hot", "f32[5]", here},
                          [] {
                            return one_hot(array({0, 2}, i32), 3);
                          });
}

}  // namespace
}  // namespace anadrome
