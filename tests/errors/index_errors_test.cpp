// Errors of indexing, updates, gather and scatter.
#include "anadrome/anadrome.h"
#include "support/messages.h"

namespace anadrome {
namespace {

using testing::expect_contains;
using testing::expect_error;
using testing::message;
using testing::this_file;

const std::string here = this_file();

TEST(IndexErrors, AnIntegerOutside) {
  const Array x = ones({2, 3});
  expect_error<IndexError>([&] { return x[2]; }, {"2 is outside [-2, 2)", "axis 0", "f32[2,3]", here},
                           [&] { return x[-2]; });
  expect_error<IndexError>(
      [&] {
        return x[{0, -4}];
      },
      {"-4 is outside [-3, 3)", "axis 1", here},
      [&] {
        return x[{0, -3}];
      });
  expect_error<IndexError>([&] { return x.at(5).set(0); }, {"5 is outside [-2, 2)", here},
                           [&] { return x.at(1).set(0); });
}

TEST(IndexErrors, TooManyIndicesAndEllipses) {
  const Array x = ones({2, 3});
  expect_error<IndexError>(
      [&] {
        return x[{0, 0, 0}];
      },
      {"3 indices", "2 axes", "f32[2,3]", here},
      [&] {
        return x[{0, 0}];
      });
  expect_error<TypeError>(
      [&] {
        return x[{ellipsis, ellipsis}];
      },
      {"2 ellipses", "f32[2,3]", here},
      [&] {
        return x[{ellipsis, 0}];
      });
}

TEST(IndexErrors, SlicesAndDynamicSlices) {
  const Array x = ones({4});
  expect_error<TypeError>([&] { return x[slice(0, 4, 0)]; }, {"step 0", here},
                          [&] { return x[slice(0, 4, 2)]; });
  expect_error<TypeError>([&] { return x[dslice(scalar(0, i32), 5)]; },
                          {"5 elements", "axis 0", "f32[4]", here},
                          [&] { return x[dslice(scalar(9, i32), 4)]; });
  expect_error<TypeError>([&] { return x[dslice(array({0}, i32), 1)]; }, {"i32[1]", "scalar", here},
                          [&] { return x[dslice(scalar(0, i32), 1)]; });
}

TEST(IndexErrors, MasksAndFloatsAsIndices) {
  const Array x = ones({4});
  expect_error<TypeError>([&] { return x[x > 0]; }, {"mask", "b1[4]", "where", here},
                          [&] { return where(x > 0, x, 0); });
  expect_error<TypeError>([&] { return x[x]; }, {"f32[4]", "integers", here},
                          [&] { return x[convert(x, i32)]; });
}

TEST(IndexErrors, AnAxisWithoutElements) {
  const Array empty = zeros({0});
  expect_error<IndexError>([&] { return empty[scalar(0, i32)]; }, {"f32[0]", "no elements", here},
                           [] { return ones({1})[scalar(0, i32)]; });
  expect_error<IndexError>([&] { return take(empty, array({0}, i32), 0); }, {"take", "f32[0]", here},
                           [&] { return take(empty, zeros({0}, i32), 0); });
}

TEST(IndexErrors, UpdatesThatWouldLoseTheirDtypeOrDoNotFit) {
  const Array x = array({1, 2, 3}, i32);
  expect_error<TypeError>([&] { return x.at(0).set(ones({})); }, {"f32[]", "i32[3]", "Convert", here},
                          [&] { return x.at(0).set(scalar(1, i32)); });
  expect_error<TypeError>(
      [&] {
        return x.at(all).add(array({1, 2}, i32));
      },
      {"[2]", "[3]", here},
      [&] {
        return x.at(all).add(array({1, 2, 3}, i32));
      });
}

TEST(IndexErrors, TakeAndFriends) {
  const Array x = ones({2, 3}), i = array({0, 1}, i32);
  expect_error<TypeError>([&] { return take(x, x, 0); }, {"take", "f32[2,3]", "integers", here},
                          [&] { return take(x, i, 0); });
  expect_error<TypeError>([&] { return take(x, i, 2); }, {"take", "axis 2", "rank 2", here},
                          [&] { return take(x, i, 1); });
  expect_error<TypeError>([&] { return take_along_axis(x, i, 0); },
                          {"take_along_axis", "i32[2]", "f32[2,3]", here},
                          [&] {
                            return take_along_axis(x, array({{0, 1, 0}}, i32), 0);
                          });
  expect_error<TypeError>([&] { return searchsorted(x, x); }, {"searchsorted", "f32[2,3]", "vmap", here},
                          [&] { return searchsorted(ravel(x), x); });
  expect_error<TypeError>([&] { return segment_sum(x, array({0}, i32), 2); },
                          {"segment_sum", "i32[1]", "f32[2,3]", here}, [&] { return segment_sum(x, i, 2); });
  expect_error<TypeError>([&] { return interp(x, ones({2}), ones({3})); },
                          {"interp", "f32[2]", "f32[3]", here},
                          [&] { return interp(x, arange(0.0, 3.0), ones({3})); });
}

TEST(IndexErrors, DimensionNumbersThatDoNotFit) {
  const Array x = ones({4, 5}), index = array({{0}, {1}}, i32);
  const GatherDims rows{{1}, {0}, {0}};
  expect_error<TypeError>(
      [&] {
        return gather(x, index, rows, {1, 6});
      },
      {"gather", "[1,6]", "f32[4,5]", here},
      [&] {
        return gather(x, index, rows, {1, 5});
      });
  expect_error<TypeError>(
      [&] {
        return gather(x, index, {{1}, {2}, {0}}, {1, 5});
      },
      {"gather", "[2]", here},
      [&] {
        return gather(x, index, rows, {1, 5});
      });
  const ScatterDims into{{1}, {0}, {0}};
  expect_error<TypeError>(
      [&] {
        return scatter_add(x, index, ones({3, 5}), into);
      },
      {"scatter_add", "f32[3,5]", "[2,5]", here},
      [&] {
        return scatter_add(x, index, ones({2, 5}), into);
      });
}

}  // namespace
}  // namespace anadrome
