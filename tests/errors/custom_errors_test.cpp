// Errors of custom_jvp, custom_vjp and checkpoint: both trees with their fields, what to do, the line of the definition.
#include "anadrome/anadrome.h"
#include "support/messages.h"

namespace anadrome {
namespace {

using testing::expect_error;
using testing::this_file;

const Array one = scalar(1.0), two = scalar(2.0), three = ones({3});

/// The end of a message: a line of this file.
std::string line(int n) { return " at " + std::string(std::source_location::current().file_name()) + ":" + std::to_string(n); }

struct State {
  Array position;
  std::vector<Array> speeds;
};

// ---- custom_jvp

TEST(CustomJvpErrors, ARuleThatReturnsAnotherValueShowsBoth) {
  const auto f = [](bool right) {
    const auto function = [](const State& s) { return State{s.position * 2, {s.speeds[0]}}; };
    return custom_jvp(function, [=](const State& s, const State& t) {
      return std::pair{State{s.position * 2, {right ? s.speeds[0] : sum(s.speeds[0])}}, State{t.position * 2, {t.speeds[0]}}};
    });
  };
  const auto run = [&](bool right) { return jit(f(right))(State{one, {three}}); };
  expect_error<RuleError>([&] { return run(false); },
                          {"custom_jvp: the rule returns the value\n    position: f32[]\n    speeds[0]: f32[]\n  and the function returns\n"
                           "    position: f32[]\n    speeds[0]: f32[3]\n  Return from the rule the value of the function itself, of the same "
                           "structure, shapes and dtypes." + line(__LINE__ - 8)},
                          [&] { return run(true); });
}

TEST(CustomJvpErrors, ARuleThatReturnsFewerArraysShowsBoth) {
  const auto f = [](std::size_t count, std::size_t tangents) {
    return custom_jvp([](const Array& x) { return std::vector<Array>{x, x * 2}; },
                      [=](const Array& x, const Array& dx) { return std::pair{std::vector<Array>(count, x), std::vector<Array>(tangents, dx)}; });
  };
  const auto run = [&](std::size_t count, std::size_t tangents) { return jit(f(count, tangents))(one); };
  expect_error<RuleError>([&] { return run(1, 1); },
                          {"custom_jvp: the rule returns the value\n    [0]: f32[]\n  and the function returns\n    [0]: f32[]\n    [1]: f32[]\n",
                           line(__LINE__ - 6)},
                          [&] { return run(2, 2); });
  expect_error<RuleError>([&] { return run(0, 2); }, {"the rule returns the value\n    nothing\n  and the function returns\n"}, [&] { return run(2, 2); });
  expect_error<RuleError>([&] { return run(2, 1); },
                          {"custom_jvp: the rule returns a value of 2 Arrays and a tangent of 1. Give the containers in a tangent the sizes of "
                           "the value's." + line(__LINE__ - 11)},
                          [&] { return run(2, 2); });
}

TEST(CustomJvpErrors, ATangentOfAnotherTypeShowsBoth) {
  const auto f = [](bool right) {
    return custom_jvp([](const Array& n, const Array& x) { return State{x, {n + 1, x * 2}}; },
                      [=](const std::tuple<Array, Array>& p, const std::tuple<Array, Array>& t) {
                        const auto& [n, x] = p;
                        const Array& dx = std::get<1>(t);
                        return std::pair{State{x, {n + 1, x * 2}}, State{dx, {n, right ? dx * 2 : convert(dx, f64)}}};
                      });
  };
  expect_error<RuleError>([&] { return jit(f(false))(scalar(1, i32), three); },
                          {"custom_jvp: the rule returns the tangent\n    position: f32[3]\n    speeds[1]: f64[3]\n  of the value\n    position: "
                           "f32[3]\n    speeds[1]: f32[3]\n  A tangent has the shape and dtype of its value." + line(__LINE__ - 9)},
                          [&] { return jit(f(true))(scalar(1, i32), three); });
}

TEST(CustomJvpErrors, AnEmptyArgumentIsNamed) {
  const auto f = custom_jvp([](const State& s) { return s.position; }, [](const State& s, const State& t) { return std::pair{s.position, t.position}; });
  const auto run = [&](const Array& speed) { return jit([&](const Array& x) { return f(State{x, {speed}}); })(one); };
  expect_error<TypeError>([&] { return run(Array()); }, {"custom_jvp: argument 0: speeds[0] is an empty Array", line(__LINE__ - 2)}, [&] { return run(three); });
}

TEST(CustomJvpErrors, ACapturedDerivativeIsRefused) {
  const auto f = [](bool right) {
    return grad([=](const Array& w) {
      const Array fixed = right ? stop_gradient(w) : w;
      return custom_jvp([=](const Array& x) { return x * fixed; }, [=](const Array& x, const Array& dx) { return std::pair{x * fixed, dx * fixed}; })(w);
    });
  };
  expect_error<RuleError>([&] { return f(false)(two); },
                          {"custom_jvp: the function or its rule captures a value of type f32[] that is being differentiated, and the rule gives no "
                           "derivative for it. Pass the value as an argument, or capture stop_gradient of it.", line(__LINE__ - 5)},
                          [&] { return f(true)(two); });
}

/// exp, whose rule calls it and reads an Array, captured or made anew.
auto own_exponential(bool captures) {
  auto f = std::make_shared<std::function<Array(const Array&)>>();
  *f = custom_jvp([](const Array& x) { return exp(x); }, [self = f.get(), captures, half = one / 2](const Array& x, const Array& dx) {
    const Array y = (*self)(x);
    return std::pair{y, y * dx * (captures ? half : ones({}) / 2)};
  });
  return [f](const Array& x) { return (*f)(x); };
}
TEST(CustomJvpErrors, ARuleRecordedLateCapturesNothing) {
  expect_error<RuleError>([&] { return grad(grad(own_exponential(true)))(two); },
                          {"custom_jvp: the rule captures an Array f32[], and it is recorded when a derivative asks for it, because it calls its own "
                           "function or has symbolic_zeros. Pass the Array as an argument, and hand it on in the residuals." + line(__LINE__ - 9)},
                          [&] { return grad(grad(own_exponential(false)))(two); });
}

TEST(CustomJvpErrors, IsNotKnownToBeLinear) {
  const auto twice = custom_jvp([](const Array& x) { return 2 * x; }, [](const Array& x, const Array& dx) { return std::pair{2 * x, 2 * dx}; });
  expect_error<RuleError>([&] { return linear_transpose(twice, one)(one); },
                          {"custom_jvp", "a function with a tangent rule of its own is not known to be linear. Use its derivative, or the function itself"},
                          [&] { return linear_transpose([&](const Array& dx) { return jvp(twice, at(one), along(dx)).tangent; }, one)(one); });
}

// ---- custom_vjp

TEST(CustomVjpErrors, AForwardRuleThatReturnsAnotherValueShowsBoth) {
  const auto f = [](bool right) {
    return custom_vjp([](const State& s) { return State{s.position * 2, {}}; },
                      [=](const State& s) { return std::pair{State{right ? s.position * 2 : s.position > 0, {}}, std::tuple<>{}}; },
                      [](const std::tuple<>&, const State& ct) { return State{ct.position * 2, {zeros({3})}}; });
  };
  const auto run = [&](bool right) { return jit(f(right))(State{one, {three}}); };
  expect_error<RuleError>([&] { return run(false); },
                          {"custom_vjp: the forward rule returns the value\n    position: b1[]\n  and the function returns\n    position: f32[]\n  Return "
                           "from the forward rule the value of the function itself, of the same structure, shapes and dtypes, and the residuals." +
                           line(__LINE__ - 8)},
                          [&] { return run(true); });
}

TEST(CustomVjpErrors, ACotangentOfAnotherTypeShowsBoth) {
  const auto f = [](bool right) {
    return custom_vjp([](const Array& n, const State& s) { return s.position * convert(n, f32); },
                      [](const Array& n, const State& s) { return std::pair{s.position * convert(n, f32), n}; },
                      [=](const Array& n, const Array& ct) {
                        const Array g = ct * convert(n, f32);
                        return std::pair{no_gradient, State{right ? g : g * ones({3}), {zeros({3})}}};
                      });
  };
  const auto run = [&](bool right) { return jit(f(right))(scalar(2, i32), State{one, {three}}); };
  expect_error<RuleError>([&] { return run(false); },
                          {"custom_vjp: the backward rule returns the cotangents\n    argument 1: position: f32[3]\n    argument 1: speeds[0]: f32[3]\n  for "
                           "the arguments\n    argument 1: position: f32[]\n    argument 1: speeds[0]: f32[3]\n  A cotangent has the shape and dtype of its "
                           "argument." + line(__LINE__ - 11)},
                          [&] { return run(true); });
}

TEST(CustomVjpErrors, ContainersInCotangentsHaveTheSizesOfTheArguments) {
  using List = std::vector<Array>;
  const auto f = [](std::size_t first, std::size_t second) {
    return custom_vjp([](const List& a, const List& b) { return a[0] + b[0]; }, [](const List& a, const List& b) { return std::pair{a[0] + b[0], std::tuple<>{}}; },
                      [=](const std::tuple<>&, const Array& ct) { return std::tuple{List(first, ct), List(second, ct)}; });
  };
  const auto run = [&](std::size_t first, std::size_t second) { return jit(f(first, second))(List{one, one}, List{one}); };
  expect_error<RuleError>([&] { return run(1, 2); },
                          {"custom_vjp: the backward rule returns 1 Arrays as cotangent 0, and the argument holds 2. Give the containers in a cotangent the "
                           "sizes of the argument's." + line(__LINE__ - 6)},
                          [&] { return run(2, 1); });
  expect_error<RuleError>([&] { return run(2, 0); }, {"returns 0 Arrays as cotangent 1, and the argument holds 1."}, [&] { return run(2, 1); });
}

TEST(CustomVjpErrors, ForwardModeNamesWhatToUse) {
  const auto square = custom_vjp([](const Array& x) { return x * x; }, [](const Array& x) { return std::pair{x * x, x}; },
                                 [](const Array& x, const Array& ct) { return 2 * x * ct; });
  const std::vector<std::string> parts{"custom_vjp", "a function with custom_vjp has a reverse rule alone. Give it a tangent rule, custom_jvp, which serves both modes, "
                                                     "or use grad, vjp or jacrev"};
  expect_error<RuleError>([&] { return jvp(square, at(two), along(one)); }, parts, [&] { return vjp(square, two).pullback(one); });
  expect_error<RuleError>([&] { return jacfwd(square)(two); }, parts, [&] { return jacrev(square)(two); });
  expect_error<RuleError>([&] { return linearize(square, two).linear(one); }, parts, [&] { return linearize(square, two).value; });
  expect_error<RuleError>([&] { return jit(jacfwd(square))(two); }, parts, [&] { return jit(jacrev(square))(two); });
  expect_error<RuleError>([&] { return linear_transpose(square, one)(one); }, {"a function with a reverse rule of its own is not known to be linear. Use the function itself"},
                          [&] { return linear_transpose([&](const Array& x) { return 2 * x; }, one)(one); });
}

TEST(CustomVjpErrors, ACapturedDerivativeIsRefused) {
  const auto f = [](bool right) {
    return grad([=](const Array& w) {
      const Array fixed = right ? stop_gradient(w) : w;
      return custom_vjp([](const Array& x) { return x * 2; }, [](const Array& x) { return std::pair{x * 2, std::tuple<>{}}; },
                        [=](const std::tuple<>&, const Array& ct) { return ct * fixed; })(w);
    });
  };
  expect_error<RuleError>([&] { return f(false)(two); },
                          {"custom_vjp: the function or its rule captures a value of type f32[] that is being differentiated", line(__LINE__ - 5)},
                          [&] { return f(true)(two); });
}

TEST(CustomVjpErrors, RulesWithSymbolicZerosCaptureNothing) {
  const auto f = [](bool captures) {
    return custom_vjp([](const Array& x) { return x * 2; }, [](const Perturbed<Array>& x) { return std::pair{x.value * 2, std::tuple<>{}}; },
                      [=](const std::tuple<>&, const Cotangent<Array>& ct) { return ct.value * (captures ? two : ones({}) * 2); }, {.symbolic_zeros = true});
  };
  expect_error<RuleError>([&] { return grad(f(true))(one); },
                          {"custom_vjp: the rule captures an Array f32[], and it is recorded when a derivative asks for it", line(__LINE__ - 4)},
                          [&] { return grad(f(false))(one); });
}

TEST(CustomVjpErrors, AnEmptyArgumentIsNamed) {
  const auto f = custom_vjp([](const State& s) { return s.position; }, [](const State& s) { return std::pair{s.position, s}; },
                            [](const State& s, const Array& ct) { return State{ct, {zeros_like(s.speeds[0])}}; });
  const auto run = [&](const Array& speed) { return jit([&](const Array& x) { return f(State{x, {speed}}); })(one); };
  expect_error<TypeError>([&] { return run(Array()); }, {"custom_vjp: argument 0: speeds[0] is an empty Array", line(__LINE__ - 3)}, [&] { return run(three); });
}

// ---- checkpoint

TEST(CheckpointErrors, AnEmptyArgumentIsNamed) {
  const auto f = checkpoint([](const State& s) { return s.position; });
  const auto run = [&](const Array& speed) { return jit([&](const Array& x) { return f(State{x, {speed}}); })(one); };
  expect_error<TypeError>([&] { return run(Array()); }, {"checkpoint: argument 0: speeds[0] is an empty Array", line(__LINE__ - 2)}, [&] { return run(three); });
}

TEST(CheckpointErrors, InsideKeepTheirLines) {
  const auto f = [](const Array& x, const Array& y) { return checkpoint([](const Array& a, const Array& b) { return matmul(a, b); })(x, y); };
  expect_error<TypeError>([&] { return grad([&](const Array& x) { return sum(f(x, ones({4, 2}))); })(ones({2, 3})); },
                          {"matmul", this_file() + std::to_string(__LINE__ - 2)}, [&] { return grad([&](const Array& x) { return sum(f(x, ones({3, 2}))); })(ones({2, 3})); });
}

}  // namespace
}  // namespace anadrome
