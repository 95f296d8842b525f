// Rules that users give: integers, captured values, wrong numbers and shapes of cotangents.
#include <cmath>

#include "cases/near.h"

namespace anadrome::cases {
namespace {

TEST(CustomRules, AnIntegerArgumentHasNoTangent) {
  const auto h = custom_jvp([](const Array& x, const Array& n) { return x * convert(n, f64); },
                            [](const std::tuple<Array, Array>& p, const std::tuple<Array, Array>& t) {
                              const auto& [x, n] = p;
                              EXPECT_TRUE(std::get<1>(t).is_no_gradient());
                              return std::pair{x * convert(n, f64), std::get<0>(t) * convert(n, f64)};
                            });
  const Array x = number(2), n = scalar(3, i32);
  const auto pushed = jvp(h, at(x, n), along(number(1), no_gradient));
  expect_values(pushed.value, {6});
  expect_values(pushed.tangent, {3});
  expect_values(grad(h)(x, n), {3});
  expect_values(jit(grad(h))(x, n), {3});
  expect_values(vmap(grad(h), {.in = {none, 0}})(x, array({3, -1}, i32)), {3, -1});
  expect_values(vmap(grad(h))(vec({1, 2}), array({3, -1}, i32)), {3, -1});
  expect_contains(message<TypeError>([&] { return grad<1>(h)(x, n); }), {"argument 1 is i32[]"});
}

TEST(CustomRules, IntegersBesideAFixedPoint) {
  // sqrt by Newton's steps, whose number is an Array or static; the rule differentiates the equation r * r = a.
  const auto newton = [](const Array& a, const Array& steps) {
    return fori_loop(scalar(0, i32), steps, a, [&](const Array&, const Array& r) { return 0.5 * (r + a / r); });
  };
  const auto root = custom_vjp(newton, [=](const Array& a, const Array& steps) {
                                 const Array r = newton(a, steps);
                                 return std::pair{r, r};
                               },
                               [](const Array& r, const Array& ct) { return std::pair{ct / (2 * r), no_gradient}; });
  const Array steps = scalar(20, i32);
  expect_values(grad(root)(number(4), steps), {0.25});
  expect_values(jit(grad(root))(number(4), steps), {0.25});
  expect_values(vmap(grad(root), {.in = {0, none}})(vec({4, 16}), steps), {0.25, 0.125});
  const auto fixed = custom_vjp([=](int k, const Array& a) { return newton(a, scalar(k, i32)); },
                                [=](int k, const Array& a) {
                                  const Array r = newton(a, scalar(k, i32));
                                  return std::pair{r, r};
                                },
                                [](const Array& r, const Array& ct) { return ct / (2 * r); });
  expect_values(grad([&](const Array& a) { return fixed(20, a); })(number(4)), {0.25});
}

TEST(CustomRules, ACapturedValueThatIsDifferentiatedIsRefused) {
  const Fn captured = [](const Array& y) {
    return custom_vjp([=](const Array& x) { return x * y; }, [=](const Array& x) { return std::pair{x * y, std::tuple<>{}}; },
                      [=](const std::tuple<>&, const Array& c) { return c * y; })(number(2));
  };
  const Fn captured_forward = [](const Array& y) {
    return custom_jvp([=](const Array& x) { return x * y; }, [=](const Array& x, const Array& dx) { return std::pair{x * y, dx * y}; })(number(2));
  };
  for (const Fn& f : {captured, captured_forward}) {
    expect_values(f(number(3)), {6});
    for (const auto& derivative : {reverse(f), jitted(reverse(f)), reverse(jitted(f))})
      expect_contains(message<RuleError>([&] { return derivative(number(3)); }), {"captures a value of type f64", "Pass the value as an argument"});
  }
  expect_contains(message<RuleError>([&] { return forward(captured_forward)(number(3)); }), {"captures a value of type f64", "Pass the value as an argument"});
  const auto passed = [](const Array& y) {
    return custom_vjp([](const Array& x, const Array& z) { return x * z; }, [](const Array& x, const Array& z) { return std::pair{x * z, std::pair{x, z}}; },
                      [](const std::pair<Array, Array>& r, const Array& c) { return std::pair{c * r.second, c * r.first}; })(number(2), y);
  };
  expect_values(reverse(passed)(number(3)), {2});
}

TEST(CustomRules, ACotangentOfTheWrongShapeIsNamedBesideTheRightOne) {
  const auto f = custom_vjp([](const Array& x) { return sum(x * ones({3}, f64)); }, [](const Array& x) { return std::pair{sum(x * ones({3}, f64)), std::tuple<>{}}; },
                            [](const std::tuple<>&, const Array& ct) { return ct * ones({3}, f64); });
  for (const Fn& derivative : {Fn(grad(f)), Fn(jit(grad(f)))})
    expect_contains(message<RuleError>([&] { return derivative(number(1)); }),
                    {"the backward rule returns the cotangents\n    argument 0: f64[3]\n  for the arguments\n    argument 0: f64[]\n"});
  expect_contains(message<RuleError>([&] { return batched(f)(vec({1, 2})); }), {"the backward rule returns the cotangents\n    argument 0: f64[3]"});
}

TEST(CustomRules, TooFewCotangentsAreCounted) {
  using List = std::vector<Array>;
  const auto f = custom_vjp([](const List& x) { return x[0] * x[1]; }, [](const List& x) { return std::pair{x[0] * x[1], x}; },
                            [](const List& x, const Array& ct) { return List{ct * x[1]}; });
  expect_contains(message<RuleError>([&] { return grad(f)(List{number(2), number(3)}); }),
                  {"the backward rule returns 1 Arrays as cotangent 0, and the argument holds 2"});
}

TEST(CustomRules, AFunctionMayServeSeveralCallsAndStructures) {
  // One object, called with other shapes and static values in one program: each call has its own rule.
  const auto power = custom_jvp([](int k, const Array& x) { return stop_gradient(pow(x, k)); },
                                [](const std::tuple<int, Array>& p, const std::tuple<int, Array>& t) {
                                  const auto& [k, x] = p;
                                  return std::pair{pow(x, k), k * pow(x, k - 1) * std::get<1>(t)};
                                });
  const Fn f = [&](const Array& x) { return power(2, x) + power(3, x) + sum(power(2, x * ones({2}, f64))); };
  for (const Mode& m : modes()) {
    expect_values(m.derivative(f)(number(2)), {4 + 12 + 8});
    expect_values(jitted(m.derivative(f))(number(2)), {4 + 12 + 8});
  }
  for (const Array& h : hessians(f, number(2))) expect_values(h, {2 + 12 + 4});
}

}  // namespace
}  // namespace anadrome::cases
