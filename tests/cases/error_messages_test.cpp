// Messages of batching and of trees: the argument, both facts, and what to write instead.
#include "cases/near.h"

namespace anadrome::cases {
namespace {

TEST(ErrorMessages, BatchSizesThatDifferAreNamedWithTheirArgumentAndAxis) {
  const auto f = [](const Array& a, const Array& b) { return sum(a) + sum(b); };
  const auto mapped = vmap(f, {.in = {0, 1}});
  expect_contains(
      message<TypeError>([&] {
        return mapped(ones({10, 4}), ones({10, 2}));
      }),
      {"argument 0 has 10 along axis 0", "argument 1 has 2 along axis 1", "error_messages_test.cpp"});
  EXPECT_EQ(mapped(ones({10, 4}), ones({4, 10})).shape(), (Shape{10}));
}

TEST(ErrorMessages, AWrongNumberOfBatchAxesIsCounted) {
  const auto f = [](const Array& a, const Array& b) { return sum(a) + sum(b); };
  expect_contains(message<TypeError>([&] {
                    return vmap(f, {.in = {0, 0, 0}})(ones({2}), ones({2}));
                  }),
                  {"3 batch axes for 2 arguments", "error_messages_test.cpp"});
  const auto two = [](const Array& a) { return std::pair(a, a); };
  expect_contains(message<TypeError>([&] {
                    return vmap(two, {.out = {0, 0, 0}})(ones({2}));
                  }),
                  {"3 output axes for 2 outputs", "error_messages_test.cpp"});
}

TEST(ErrorMessages, ABatchSizeInsideATreeIsNamedByItsPath) {
  const auto f = [](const std::map<std::string, Array>& p, const Array& x) { return p.at("w") * x; };
  const std::map<std::string, Array> p{{"b", ones({3})}, {"w", ones({4})}};
  expect_contains(message<TypeError>([&] { return vmap(f)(p, ones({3})); }),
                  {"argument 0: [\"b\"] has 3", "argument 0: [\"w\"] has 4"});
  EXPECT_EQ(vmap(f, {.in = {leaf_axes({0, none}), none}})(p, ones({4})).shape(), (Shape{3, 4}));
}

TEST(ErrorMessages, ACompiledFunctionNamesTheArgumentOfAnotherType) {
  const auto f = jit([](const std::vector<Array>& p) { return p[0] + p[1]; });
  const std::vector<Array> p{ones({3}), ones({3})};
  const auto compiled = f.lower(p).compile();
  EXPECT_EQ(compiled(p).shape(), (Shape{3}));
  expect_contains(message<TypeError>([&] { return compiled({ones({3}), ones({4})}); }), {"f32[3]", "f32[4]"});
}

}  // namespace
}  // namespace anadrome::cases
