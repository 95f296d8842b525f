// Forward mode where only some operands carry a tangent.
#include "cases/near.h"

namespace anadrome::cases {
namespace {

TEST(ForwardModeGap, ASelectWithOneConstantBranchKeepsTheOtherTangent) {
  const std::vector<Fn> functions{
      [](const Array& x) { return where(x > 100, 0, 2 * x); },
      [](const Array& x) { return where(x < 100, 2 * x, 0); },
      [](const Array& x) { return where(x > 100, 3 * x, 2 * x); },
  };
  for (const Fn& f : functions) {
    expect_values(forward(f)(number(1)), {2});
    expect_values(jitted(forward(f))(number(1)), {2});
    expect_values(batched(forward(f))(vec({1, 2})), {2, 2});
    expect_values(reverse(f)(number(1)), {2});
  }
}

TEST(ForwardModeGap, EveryOperandAloneCarriesItsTangent) {
  const Array c = vec({1, 2});
  const std::vector<Fn> functions{
      [=](const Array& x) {
        return sum(concatenate({c, x, c}));
      },
      [=](const Array& x) {
        return sum(concatenate({x, c}));
      },
      [=](const Array& x) { return sum(clamp(-5, x, 5)); },
      [=](const Array& x) {
        return sum(pad(x, 3.0, {{1, 1}}));
      },
      [=](const Array& x) { return sum(c.at(all).set(x)); },
      [=](const Array& x) { return sum(x.at(0).set(x[0])); },
      [=](const Array& x) {
        return sum(stack({c, x}));
      },
      [=](const Array& x) { return sum(max(x, -9.0)); },
      [=](const Array& x) { return sum(dynamic_update_slice(zeros({4}, f64), x, {1})); },
      [=](const Array& x) {
        return sum(select_n(array({1, 1}, i32), {c, x, c}));
      },
  };
  const Array x = vec({3, 4});
  for (std::size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE(i);
    expect_values(forward(functions[i])(x), {2});
    expect_values(reverse(functions[i])(x), {1, 1});
    expect_values(jacfwd(functions[i])(x), {1, 1});
  }
}

TEST(ForwardModeGap, ArgumentsWithoutATangentStayOutOfTheWay) {
  const auto f = [](const Array& n, const Array& x, const Array& y) { return n * x + y; };
  const Array n = scalar(3, i32), x = number(2), y = number(5);
  expect_values(jvp(f, at(n, x, y), along(no_gradient, number(1), number(0))).tangent, {3});
  expect_values(jvp(f, at(n, x, y), along(no_gradient, no_gradient, number(1))).tangent, {1});
  expect_values(jvp(f, at(n, x, y), along(no_gradient, no_gradient, no_gradient)).tangent, {0});
}

TEST(ForwardModeGap, SharedBranchesOfATangentAreAddedOnce) {
  const Fn f = [](const Array& x) { return x * x + x.at(0).set(2 * x[0]) + where(x > 0, x, x); };
  const Array x = vec({3, 4});
  expect_values(forward(f)(x), {6 + 2 + 1, 8 + 1 + 1});
  expect_values(jacfwd(f)(x), {9, 0, 0, 10});
  expect_values(jacrev(f)(x), {9, 0, 0, 10});
}

}  // namespace
}  // namespace anadrome::cases
