// Errors of products, reductions, scans, sorting and pooling.
#include "anadrome/anadrome.h"
#include "support/messages.h"

namespace anadrome {
namespace {

using testing::expect_contains;
using testing::expect_error;
using testing::message;
using testing::this_file;

const std::string here = this_file();

TEST(ProductErrors, DotAndMatmul) {
  const Array a = ones({2, 3}), b = ones({4, 5});
  expect_error<TypeError>([&] { return dot(a, b); },
                          {"dot", "has 3", "has 4", "f32[2,3]", "f32[4,5]", "Transpose", here},
                          [&] {
                            return dot(a, ones({3, 5}));
                          });
  expect_error<TypeError>([&] { return matmul(a, b); }, {"matmul", "has 3", "has 4", here},
                          [&] {
                            return matmul(transpose(a), ones({2, 5}));
                          });
  expect_error<TypeError>([&] { return matmul(a, 2); }, {"matmul", "f32[2,3]", "a * b", here},
                          [&] { return a * 2; });
  expect_error<TypeError>(
      [&] {
        return matmul(ones({2, 2, 3}), ones({3, 3, 1}));
      },
      {"matmul", "f32[2,2,3] has 2", "f32[3,3,1] has 3", here},
      [&] {
        return matmul(ones({2, 2, 3}), ones({3, 1}));
      });
}

TEST(ProductErrors, DotGeneralTensordotAndOthers) {
  const Array a = ones({2, 3}), b = ones({4, 5});
  expect_error<TypeError>(
      [&] {
        return dot_general(a, b, {{1}, {0}, {}, {}});
      },
      {"dot_general", "3", "4", here},
      [&] {
        return dot_general(a, ones({3, 5}), {{1}, {0}, {}, {}});
      });
  expect_error<TypeError>(
      [&] {
        return dot_general(a, b, {{1}, {}, {}, {}});
      },
      {"dot_general", "1 ", "0 of the right", here},
      [&] {
        return dot_general(a, b, {{}, {}, {}, {}});
      });
  expect_error<TypeError>(
      [&] {
        return dot_general(a, b, {{5}, {0}, {}, {}});
      },
      {"axis 5", "rank 2", here},
      [&] {
        return dot_general(a, a, {{1}, {1}, {}, {}});
      });
  expect_error<TypeError>([&] { return tensordot(a, b, 3); }, {"tensordot", "3 axes", "f32[2,3]", here},
                          [&] { return tensordot(a, b, 0); });
  expect_error<TypeError>(
      [&] {
        return tensordot(a, b, {0, 1}, {0});
      },
      {"tensordot", "2 axes", "1 of the right", here},
      [&] {
        return tensordot(a, a, {0, 1}, {0, 1});
      });
  expect_error<TypeError>([&] { return cross(ones({2}), ones({2})); }, {"cross", "f32[2]", here},
                          [&] { return cross(a, a); });
  expect_error<TypeError>([&] { return polyval(a, 1.0); }, {"polyval", "f32[2,3]", here},
                          [&] { return polyval(a[0], 1.0); });
}

TEST(ProductErrors, Einsum) {
  const Array a = ones({2, 3});
  expect_error<TypeError>([&] { return einsum("ij,jk", a); }, {"einsum", "2 operands", "1 were given", here},
                          [&] { return einsum("ij->ji", a); });
  expect_error<TypeError>([&] { return einsum("ijk", a); }, {"einsum", "ijk", "f32[2,3]", here},
                          [&] { return einsum("ij", a); });
  expect_error<TypeError>([&] { return einsum("i1", a); }, {"einsum", "'1'", here},
                          [&] { return einsum("ij->", a); });
  expect_error<TypeError>([&] { return einsum("ij->ik", a); }, {"einsum", "ij->ik", here},
                          [&] { return einsum("ij->i", a); });
  expect_error<TypeError>([&] { return einsum("ii", a); }, {"einsum", "f32[2,3]", here},
                          [] {
                            return einsum("ii", ones({2, 2}));
                          });
  expect_error<TypeError>([&] { return einsum("ij,jk", a, a); }, {"einsum", "3", "2", here},
                          [&] { return einsum("ij,kj", a, a); });
}

TEST(ReductionErrors, Axes) {
  const Array x = ones({2, 3});
  expect_error<TypeError>([&] { return sum(x, 2); }, {"sum", "axis 2", "rank 2", "-2 to 1", here},
                          [&] { return sum(x, -2); });
  expect_error<TypeError>(
      [&] {
        return mean(x, {0, -2});
      },
      {"mean", "[0,-2]", "twice", here},
      [&] {
        return mean(x, {0, -1});
      });
  expect_error<TypeError>([&] { return softmax(scalar(1.0)); }, {"softmax", "axis -1", "rank 0", here},
                          [&] { return softmax(x); });
}

TEST(ReductionErrors, NothingToReduce) {
  const Array none_at_all = zeros({2, 0});
  expect_error<TypeError>([&] { return argmax(none_at_all, 1); }, {"argmax", "f32[2,0]", "empty", here},
                          [&] { return argmax(none_at_all, 0); });
  expect_error<TypeError>([] { return quantile(ones({3}), 1.5); },
                          {"quantile", "1.5", "between 0 and 1", here},
                          [] { return quantile(ones({3}), 0.5); });
}

TEST(ReductionErrors, ScansSortingAndPooling) {
  const Array x = ones({2, 3});
  expect_error<TypeError>([&] { return cumsum(x, 2); }, {"cumsum", "axis 2", here},
                          [&] { return cumsum(x, 1); });
  expect_error<TypeError>([&] { return diff(x, -1); }, {"diff", "-1", here}, [&] { return diff(x, 1); });
  expect_error<TypeError>([&] { return sort(x, 5); }, {"sort", "axis 5", here}, [&] { return sort(x, 0); });
  expect_error<TypeError>([&] { return sort_key_val({}); }, {"sort_key_val", here},
                          [&] {
                            return sort_key_val({x, x});
                          });
  expect_error<TypeError>(
      [&] {
        return sort_key_val({x, ones({3})});
      },
      {"f32[2,3]", "f32[3]", here},
      [&] {
        return sort_key_val({x, x});
      });
  expect_error<TypeError>([&] { return sort_key_val({x}, 2); }, {"2 keys", "1 operands", here},
                          [&] { return sort_key_val({x}, 1); });
  expect_error<TypeError>([&] { return top_k(x, 4).values; }, {"top_k", "4", "f32[2,3]", "3", here},
                          [&] { return top_k(x, 3).values; });
  expect_error<TypeError>([&] { return max_pool(x, {0}); }, {"window 0", here},
                          [&] { return max_pool(x, {2}); });
  expect_error<TypeError>(
      [&] {
        return max_pool(x, {2}, {.strides = {1, 1}, .low = {}, .high = {}});
      },
      {"max_pool", "[1,1]", "[2]", here},
      [&] { return max_pool(x, {2}, {.strides = {1}, .low = {}, .high = {}}); });
}

}  // namespace
}  // namespace anadrome
