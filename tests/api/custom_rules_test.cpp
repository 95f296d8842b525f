// Functions with derivative rules of their own, in every composition. The functions hide their derivative behind
// stop_gradient: where a rule were not used, the derivative would be zero.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "anadrome/anadrome.h"
#include "api/loop_laws.h"
#include "support/messages.h"

namespace anadrome::testing {
namespace {

using A = const Arrays&;
using Two = std::pair<Array, Array>;

Array f64s(double x) { return scalar(x, f64); }
double real(const Array& x) { return x.item<double>(); }

Array hidden_sine(const Array& x) { return stop_gradient(sin(x)); }
const auto sine = custom_jvp(hidden_sine, [](const Array& x, const Array& dx) { return std::pair{sin(x), cos(x) * dx}; });
/// sin(x) y, with a reverse rule.
const auto wave = custom_vjp([](const Array& x, const Array& y) { return stop_gradient(sin(x) * y); },
                             [](const Array& x, const Array& y) { return std::pair{sin(x) * y, std::tuple{cos(x) * y, sin(x)}}; },
                             [](const std::tuple<Array, Array>& r, const Array& ct) {
                               return std::pair{ct * std::get<0>(r), ct * std::get<1>(r)};
                             });
Array plain_wave(const Array& x, const Array& y) { return sin(x) * y; }

// ---- custom_jvp

TEST(CustomJvp, IsUsedInEveryFormOfAFunction) {
  expect_same("sine", [](A x) { return Arrays{sine(x[0] * x[1]) * x[1]}; }, [](A x) { return Arrays{sin(x[0] * x[1]) * x[1]}; },
              {random_values({3}, 1), random_values({3}, 2)});
}

struct Layer {
  Array w;
  std::vector<Array> others;
};
Layer moved(int power, const Layer& l, const Array& n) {
  Array y = l.w;
  for (int i = 1; i < power; ++i) y = y * l.w;
  return {y * l.others[0], {sin(l.others[1]) + convert(n, f64), n + 1}};
}
Layer moved_along(int power, const Layer& l, const Layer& dl) {
  Array slope = ones_like(l.w) * power;
  for (int i = 1; i < power; ++i) slope = slope * l.w;
  return {slope * dl.w * l.others[0] + moved(power, l, scalar(0, i32)).w / l.others[0] * dl.others[0],
          {cos(l.others[1]) * dl.others[1], Array::no_gradient({})}};
}
TEST(CustomJvp, TakesTreesStaticNumbersAndIntegers) {
  const auto hidden = [](int power, const Layer& l, const Array& n) {
    Layer y = moved(power, l, n);
    return Layer{stop_gradient(y.w), {stop_gradient(y.others[0]), y.others[1]}};
  };
  const auto rule = [](const std::tuple<int, Layer, Array>& x, const std::tuple<int, Layer, Array>& t) {
    const auto& [power, l, n] = x;
    EXPECT_EQ(std::get<0>(t), power);
    EXPECT_TRUE(std::get<2>(t).is_no_gradient());
    return std::pair{moved(power, l, n), moved_along(power, l, std::get<1>(t))};
  };
  const auto f = custom_jvp(hidden, rule);
  const auto flat = [](const auto& g) {
    return [=](A x) {
      const Layer y = g(3, Layer{x[0], {x[1], x[2]}}, x[3]);
      return Arrays{y.w, y.others[0], y.others[1]};
    };
  };
  expect_same("trees", flat(f), flat(moved), {random_values({2}, 1), random_values({2}, 2, 0.5, 1), random_values({}, 3), scalar(4, i32)});
}

TEST(CustomJvp, InLoopsAndConditionals) {
  const auto body = [](auto s) {
    return [=](A x) {
      auto [last, ys] = scan(x[0], x[1], {.reverse = true}, [&](const Array& c, const Array& in) {
        const Array y = cond(sum(in) > 0, [&] { return s(c * in); }, [&] { return s(c) + in; });
        return std::pair{y, s(y) * x[2]};
      });
      return Arrays{last, ys};
    };
  };
  expect_same("scan and cond", body(sine), body([](const Array& x) { return sin(x); }),
              {random_values({2}, 1), random_values({4, 2}, 2), random_values({}, 3)});
  const auto looped = [](auto s) {
    return [=](A x) { return Arrays{while_loop(x[0], [](const Array& v) { return v < 3; }, [&](const Array& v) { return v + s(x[1]) + 1; })}; };
  };
  expect_same("while", looped(sine), looped([](const Array& x) { return sin(x); }), {f64s(0.5), f64s(0.7)}, Forms::forward);
}

TEST(CustomJvp, InTheFunctionAndTheRuleOfAnother) {
  const auto outer = custom_jvp([](const Array& x) { return stop_gradient(sine(x) * x); },
                                [](const Array& x, const Array& dx) { return std::pair{sine(x) * x, (sine(x) + x * cos(x)) * dx}; });
  expect_same("nested", [=](A x) { return Arrays{outer(x[0])}; }, [](A x) { return Arrays{sin(x[0]) * x[0]}; }, {random_values({3}, 1)});
}

TEST(CustomJvp, ResultsThatTheRuleDoesNotMoveHaveZeroTangents) {
  const auto f = custom_jvp([](const Array& x) { return Two{x * 2, scalar(3.0, f64)}; },
                            [](const Array& x, const Array& dx) { return std::pair{Two{x * 2, scalar(3.0, f64)}, Two{dx * 2, zeros_like(scalar(3.0, f64))}}; });
  const auto [value, tangent] = jvp(f, at(f64s(5)), along(f64s(1)));
  EXPECT_EQ(real(value.second), 3);
  EXPECT_EQ(real(tangent.first), 2);
  EXPECT_EQ(real(tangent.second), 0);
  EXPECT_EQ(real(grad([&](const Array& x) { return f(x).second * x; })(f64s(5))), 3);
}

// ---- rules that call their own functions

/// exp, whose tangent rule calls it.
std::function<Array(const Array&)> own_exponential() {
  auto f = std::make_shared<std::function<Array(const Array&)>>();
  const std::weak_ptr<std::function<Array(const Array&)>> self = f;
  *f = custom_jvp([](const Array& x) { return stop_gradient(exp(x)); }, [self](const Array& x, const Array& dx) {
    const Array y = (*self.lock())(x);
    return std::pair{y, y * dx};
  });
  return [f](const Array& x) { return (*f)(x); };
}
TEST(LateRules, ATangentRuleThatCallsItsFunctionServesAllOrders) {
  const auto f = own_exponential();
  expect_same("own exponential", [&](A x) { return Arrays{f(x[0] * x[1]) + x[1]}; }, [](A x) { return Arrays{exp(x[0] * x[1]) + x[1]}; },
              {random_values({2}, 1), random_values({2}, 2)});
  EXPECT_NEAR(real(grad(grad(grad(f)))(f64s(0.3))), std::exp(0.3), 1e-14);
  EXPECT_NEAR(real(jacfwd(grad(jacfwd(f)))(f64s(0.3))), std::exp(0.3), 1e-14);
  EXPECT_NEAR(real(jit(grad(grad(grad(f))))(f64s(0.3))), std::exp(0.3), 1e-14);
  const auto looped = [&](const auto& g) {
    return [&](A x) { return Arrays{fori_loop(0, 3, x[0], [&](const Array&, const Array& c) { return g(c * x[1]); })}; };
  };
  expect_same("in a loop", looped(f), looped([](const Array& x) { return exp(x); }), {random_values({2}, 1), random_values({}, 2)});
}

/// exp, whose forward rule calls it.
std::function<Array(const Array&)> own_reverse_exponential() {
  auto f = std::make_shared<std::function<Array(const Array&)>>();
  const std::weak_ptr<std::function<Array(const Array&)>> self = f;
  *f = custom_vjp([](const Array& x) { return stop_gradient(exp(x)); },
                  [self](const Array& x) {
                    const Array y = (*self.lock())(x);
                    return std::pair{y, y};
                  },
                  [](const Array& y, const Array& ct) { return y * ct; });
  return [f](const Array& x) { return (*f)(x); };
}
TEST(LateRules, AForwardRuleThatCallsItsFunctionServesAllOrders) {
  const auto f = own_reverse_exponential();
  EXPECT_NEAR(real(grad(f)(f64s(0.3))), std::exp(0.3), 1e-14);
  EXPECT_NEAR(real(grad(grad(f))(f64s(0.3))), std::exp(0.3), 1e-14);
  EXPECT_NEAR(real(grad(grad(grad(f)))(f64s(0.3))), std::exp(0.3), 1e-14);
  EXPECT_NEAR(real(jit(grad(grad(grad(f))))(f64s(0.3))), std::exp(0.3), 1e-14);
  const Array x = random_values({3}, 1);
  EXPECT_LT(difference(vmap(grad(grad(f)))(x), exp(x)), 1e-14);
  EXPECT_LT(difference(grad([&](const Array& v) { return sum(vmap(grad(f))(v)); })(x), exp(x)), 1e-14);
  const auto looped = [&](const Array& v) { return fori_loop(0, 3, v, [&](const Array&, const Array& c) { return f(c * 0.5); }); };
  const auto plain = [](const Array& v) { return fori_loop(0, 3, v, [&](const Array&, const Array& c) { return exp(c * 0.5); }); };
  EXPECT_NEAR(real(grad(grad(looped))(f64s(0.3))), real(grad(grad(plain))(f64s(0.3))), 1e-12);
}

// ---- custom_vjp

TEST(CustomVjp, IsUsedInEveryFormOfAFunction) {
  expect_same("wave", [](A x) { return Arrays{wave(x[0] * x[1], x[1]) * x[0]}; }, [](A x) { return Arrays{plain_wave(x[0] * x[1], x[1]) * x[0]}; },
              {random_values({3}, 1), random_values({3}, 2)}, Forms::backward);
}

TEST(CustomVjp, InLoopsAndConditionals) {
  const auto body = [](auto s) {
    return [=](A x) {
      auto [last, ys] = scan(x[0], x[1], [&](const Array& c, const Array& in) {
        const Array y = cond(sum(in) > 0, [&] { return s(c, in); }, [&] { return s(in, c) + in; });
        return std::pair{y, s(y, x[2])};
      });
      return Arrays{last, ys};
    };
  };
  expect_same("scan and cond", body(wave), body(plain_wave), {random_values({2}, 1), random_values({4, 2}, 2), random_values({2}, 3)}, Forms::backward);
}

TEST(CustomVjp, TakesTreesStaticNumbersAndIntegersAndGivesNoGradientForSome) {
  const auto hidden = [](int power, const Layer& l, const Array& n) {
    Layer y = moved(power, l, n);
    return Layer{stop_gradient(y.w), {stop_gradient(y.others[0]), y.others[1]}};
  };
  const auto forward = [](int power, const Layer& l, const Array& n) { return std::pair{moved(power, l, n), std::pair{l, power}}; };
  const auto backward = [](const std::pair<Layer, int>& r, const Layer& ct) {
    const Layer& l = r.first;
    EXPECT_TRUE(ct.others[1].is_no_gradient());
    Array slope = ones_like(l.w) * r.second, y = l.w;
    for (int i = 1; i < r.second; ++i) slope = slope * l.w, y = y * l.w;
    return std::tuple{Layer{ct.w * slope * l.others[0], {ct.w * y, ct.others[0] * cos(l.others[1])}}, no_gradient};
  };
  const auto f = custom_vjp(hidden, forward, backward);
  const auto flat = [](const auto& g) {
    return [=](A x) {
      const Layer y = g(3, Layer{x[0], {x[1], x[2]}}, x[3]);
      return Arrays{y.w, y.others[0], y.others[1]};
    };
  };
  expect_same("trees", flat(f), flat(moved), {random_values({2}, 1), random_values({2}, 2, 0.5, 1), random_values({}, 3), scalar(4, i32)},
              Forms::backward);
}

TEST(CustomVjp, InTheFunctionAndTheRulesOfAnother) {
  const auto outer = custom_vjp([](const Array& x) { return stop_gradient(wave(x, x)); },
                                [](const Array& x) { return std::pair{wave(x, x), sine(x)}; },
                                [](const Array& s, const Array& ct) { return wave(ct * 0 + asin(s), ct) + ct * asin(s) * cos(asin(s)); });
  const auto twice = [](auto f) { return [=](const Array& v) { return sum(grad([=](const Array& u) { return sum(sin(f(u))); })(v) * v); }; };
  const auto plain = [](const Array& x) { return sin(x) * x; };
  const Array x = random_values({3}, 1), xs = random_values({2, 3}, 2);
  EXPECT_LT(difference(outer(x), plain(x)), 1e-14);
  EXPECT_LT(difference(grad(twice(outer))(x), grad(twice(plain))(x)), 1e-13);
  EXPECT_LT(difference(jit(grad(twice(outer)))(x), grad(twice(plain))(x)), 1e-13);
  EXPECT_LT(difference(vmap(grad(twice(outer)))(xs), vmap(grad(twice(plain)))(xs)), 1e-13);
  EXPECT_LT(difference(grad([&](const Array& v) { return sum(vmap(twice(outer))(v)); })(xs), vmap(grad(twice(plain)))(xs)), 1e-13);
  // The rules call what has no forward derivative, so the gradient has none.
  expect_contains(message<RuleError>([&] { return jacfwd(grad([&](const Array& v) { return sum(outer(v)); }))(x); }), {"custom_vjp", "custom_jvp"});
}

TEST(CustomVjp, NoGradientForAFloatIsZero) {
  const auto f = custom_vjp([](const Array& x, const Array& y) { return x * y; }, [](const Array& x, const Array& y) { return std::pair{x * y, y}; },
                            [](const Array& y, const Array& ct) { return std::pair{ct * y, no_gradient}; });
  const auto [dx, dy] = grad<0, 1>(f)(f64s(2), f64s(3));
  EXPECT_EQ(real(dx), 3);
  EXPECT_EQ(real(dy), 0);
  EXPECT_EQ(numbers(vmap(grad<1>(f))(array({1, 2}, f64), array({3, 4}, f64))), (Numbers{0, 0}));
}

TEST(CustomVjp, BatchesAlongOtherAxesAndSharedArguments) {
  const Array x = random_values({2, 3}, 1), y = random_values({2}, 2), ys = random_values({3, 2}, 3);
  const auto f = [](const Array& a, const Array& b) { return sum(wave(a, b)); };
  const auto plain = [](const Array& a, const Array& b) { return sum(plain_wave(a, b)); };
  for (const auto& [axes, second] : {std::pair{VmapOptions{.in = {1, none}}, y}, {VmapOptions{.in = {-1, 0}}, ys}}) {
    const VmapOptions options = axes;
    const auto total = [&](const auto& g) { return [&](const Array& a, const Array& b) { return sum(sin(vmap(g, options)(a, b))); }; };
    EXPECT_LT(difference(vmap(f, options)(x, second), vmap(plain, options)(x, second)), 1e-14);
    const auto got = grad<0, 1>(total(f))(x, second), want = grad<0, 1>(total(plain))(x, second);
    EXPECT_LT(difference(std::get<0>(got), std::get<0>(want)), 1e-14);
    EXPECT_LT(difference(std::get<1>(got), std::get<1>(want)), 1e-14);
    const auto shared = vmap(grad<1>(f), options)(x, second), plain_shared = vmap(grad<1>(plain), options)(x, second);
    EXPECT_LT(difference(shared, plain_shared), 1e-14);
  }
  const auto turned = vmap([](const Array& a) { return wave(a, a); }, {.in = 1, .out = 1})(x);
  EXPECT_LT(difference(turned, plain_wave(x, x)), 1e-14);
}

// ---- symbolic zeros

struct Flags {
  std::vector<bool> perturbed, zero;
  bool operator==(const Flags&) const = default;
};
auto flagged(Flags& flags) {
  return custom_vjp([](const Array& x, const Array& y) { return Two{stop_gradient(x * y), stop_gradient(x + y)}; },
                    [&flags](const Perturbed<Array>& x, const Perturbed<Array>& y) {
                      flags.perturbed = {x.perturbed[0], y.perturbed[0]};
                      return std::pair{Two{x.value * y.value, x.value + y.value}, Two{x.value, y.value}};
                    },
                    [&flags](const Two& r, const Cotangent<Two>& ct) {
                      flags.zero = ct.zero;
                      return Two{ct.value.first * r.second + ct.value.second, ct.value.first * r.first + ct.value.second};
                    },
                    {.symbolic_zeros = true});
}
TEST(SymbolicZeros, TellWhatIsDifferentiatedAndWhatIsReached) {
  Flags flags;
  const auto u = flagged(flags);
  const Array x = f64s(2), y = f64s(3);
  EXPECT_EQ(real(grad([&](const Array& a) { return u(a, y).first; })(x)), 3);
  EXPECT_EQ(flags, (Flags{{true, false}, {false, true}}));
  EXPECT_EQ(real(grad([&](const Array& b) { return u(x, b).second; })(y)), 1);
  EXPECT_EQ(flags, (Flags{{false, true}, {true, false}}));
  const auto both = grad<0, 1>([&](const Array& a, const Array& b) { return u(a, b).first + u(a, b).second; })(x, y);
  EXPECT_EQ(real(std::get<0>(both)), 4);
  EXPECT_EQ(real(std::get<1>(both)), 3);
}
TEST(SymbolicZeros, UnderVmapAndInScans) {
  Flags flags;
  const auto u = flagged(flags);
  const Array x = array({1, 2, 3}, f64), y = f64s(3);
  EXPECT_EQ(numbers(vmap(grad([&](const Array& a) { return u(a, y).first; }))(x)), (Numbers{3, 3, 3}));
  EXPECT_EQ(flags, (Flags{{true, false}, {false, true}}));
  const auto of_batch = [&](const Array& b) { return sum(vmap([&](const Array& a, const Array& c) { return u(a, c).second * a; }, {.in = {0, none}})(x, b)); };
  EXPECT_EQ(real(grad(of_batch)(y)), 6);
  EXPECT_EQ(flags, (Flags{{false, true}, {true, false}}));
  const auto looped = [&](const Array& a) {
    return scan(a, x, [&](const Array& c, const Array& in) { return std::pair{u(c, in).first, std::tuple<>{}}; }).first;
  };
  EXPECT_EQ(real(grad(looped)(y)), 6);
  EXPECT_EQ(flags, (Flags{{true, false}, {false, true}}));
  EXPECT_EQ(real(jit(grad(looped))(y)), 6);
  EXPECT_EQ(real(grad(grad([&](const Array& a) { return looped(a) * a; }))(y)), 12);
}

// ---- captures

/// x scale, in the function and in all rules, by what they capture.
auto scaled_by(const Array& scale) {
  return custom_vjp([=](const Array& x) { return stop_gradient(x * scale); }, [=](const Array& x) { return std::pair{x * scale, std::tuple<>{}}; },
                    [=](const std::tuple<>&, const Array& ct) { return ct * scale; });
}
auto scaled_forward_by(const Array& scale) {
  return custom_jvp([=](const Array& x) { return stop_gradient(x * scale); },
                    [=](const Array& x, const Array& dx) { return std::pair{x * scale, dx * scale}; });
}
TEST(CustomRuleCaptures, ConcreteArraysAndValuesWithoutDerivativeAreRead) {
  const Array three = f64s(3);
  EXPECT_EQ(real(grad(scaled_by(three))(f64s(2))), 3);
  EXPECT_EQ(real(jit(grad(scaled_by(three)))(f64s(2))), 3);
  EXPECT_EQ(real(grad(grad([&](const Array& x) { return scaled_forward_by(three)(x) * x; }))(f64s(2))), 6);
  const auto of_both = [](const Array& x, const Array& w) { return scaled_by(exp(w))(x) + scaled_forward_by(w)(x); };
  EXPECT_NEAR(real(grad(of_both)(f64s(2), f64s(1))), std::exp(1.0) + 1, 1e-14);
  EXPECT_NEAR(real(jit(grad(of_both))(f64s(2), f64s(1))), std::exp(1.0) + 1, 1e-14);
  const Array w = array({0, 1}, f64);
  EXPECT_LT(difference(vmap(grad(of_both), {.in = {none, 0}})(f64s(2), w), exp(w) + w), 1e-14);
  EXPECT_LT(difference(vmap(grad(of_both))(w, w), exp(w) + w), 1e-14);
}
TEST(CustomRuleCaptures, OfLoopsAreReadAtEachStep) {
  const Array xs = array({2, 3, 4}, f64);
  const auto looped = [&](const Array& a) {
    return scan(a, xs, [&](const Array& c, const Array& in) { return std::pair{scaled_forward_by(in)(scaled_by(in)(c)), std::tuple<>{}}; }).first;
  };
  EXPECT_EQ(real(grad(looped)(f64s(1))), 24 * 24);
  EXPECT_EQ(real(jit(grad(looped))(f64s(1))), 24 * 24);
}
TEST(CustomRuleCaptures, OfDifferentiatedValuesAreRefused) {
  for (const auto& f : {std::function<Array(const Array&)>([](const Array& y) { return scaled_by(y)(f64s(2)); }),
                        std::function<Array(const Array&)>([](const Array& y) { return scaled_forward_by(y)(f64s(2)); }),
                        std::function<Array(const Array&)>([](const Array& y) {
                          return scan(y, {.length = 2}, [](const Array& c) { return std::pair{scaled_by(c)(f64s(2)), c}; }).first;
                        })}) {
    EXPECT_GT(real(f(f64s(3))), 0);
    expect_contains(message<RuleError>([&] { return grad(f)(f64s(3)); }), {"captures a value of type f64[] that is being differentiated", "Pass the value as an argument",
                                                                          "stop_gradient"});
  }
  EXPECT_EQ(real(grad([](const Array& y) { return scaled_by(stop_gradient(y))(y); })(f64s(3))), 3);
}

// ---- what is shared

TEST(CustomRules, ThreadsShareAFunction) {
  const auto late = own_reverse_exponential();
  Array got[4];
  std::vector<std::thread> threads;
  for (auto& g : got)
    threads.emplace_back([&g, &late] {
      for (int i = 0; i < 50; ++i) g = grad([&](const Array& x) { return late(sine(x)) + wave(x, x); })(f64s(0.25 + i % 2));
    });
  for (std::thread& t : threads) t.join();
  const Array want = grad([](const Array& x) { return exp(sin(x)) + sin(x) * x; })(f64s(1.25));
  for (const Array& g : got) EXPECT_LT(difference(g, want), 1e-14);
}

TEST(CustomRules, ManyGradientsOutsideJitKeepNothing) {
  const auto late = own_exponential();
  const auto f = [&](const Array& x, const Array& w) { return scaled_by(w)(late(x)) + checkpoint(sine)(x) + wave(x, x); };
  const auto step = [&](int i) { return grad(f)(f64s(0.1 * i), f64s(i)); };
  (void)step(1);
  const std::int64_t before = program_cache_bytes();
  for (int i = 0; i < 10'000; ++i) (void)step(i);
  EXPECT_EQ(program_cache_bytes(), before);
}

TEST(CustomRules, TheTextOfARuleReadsBack) {
  const auto f = [](const Array& x) { return sine(x) + wave(x, x) + checkpoint(sine, save_names({"a"}))(x); };
  const Program p = make_program(f, f64s(1)), back = parse_program(to_string(p));
  EXPECT_EQ(to_string(back), to_string(p));
  EXPECT_EQ(back.hash, p.hash);
  EXPECT_EQ(p.count("custom_jvp"), 2);
  EXPECT_EQ(p.count("custom_vjp"), 1);
}

}  // namespace
}  // namespace anadrome::testing
