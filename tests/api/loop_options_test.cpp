// while_loop with max_steps, foreach, and scans whose body is written out for several steps.
#include <gtest/gtest.h>

#include <cmath>

#include "anadrome/anadrome.h"
#include "api/loop_laws.h"
#include "core/attrs.h"
#include "primitives/prims.h"
#include "support/messages.h"

namespace anadrome::testing {
namespace {

using A = const Arrays&;

Array f64s(double x) { return scalar(x, f64); }
double real(const Array& x) { return x.item<double>(); }

// ---- max_steps

Array grown(const Array& v, const Array& by) { return v + 0.5 * exp(by) + 0.1 * sin(v); }
/// Grows until it passes a bound.
Array climbed(std::int64_t max_steps, const Array& from, const Array& bound, const Array& by) {
  return while_loop(from, {.max_steps = max_steps}, [&](const Array& v) { return v < bound; }, [&](const Array& v) { return grown(v, by); });
}
Array climbed_in_steps(int steps, const Array& from, const Array& bound, const Array& by) {
  Array v = from;
  for (int i = 0; i < steps; ++i) v = where(v < bound, grown(v, by), v);
  return v;
}

TEST(WhileLoopMaxSteps, IsTheUnrolledLoop) {
  expect_same("climb", [](A x) { return Arrays{climbed(12, x[0], x[1], x[2])}; }, [](A x) { return Arrays{climbed_in_steps(12, x[0], x[1], x[2])}; },
              {f64s(1), f64s(2.2), f64s(0.3)});
}

struct State {
  Array n;
  std::pair<Array, Array> others;
};
TEST(WhileLoopMaxSteps, CarriesTreesAndIntegers) {
  const Function loop = [](A x) {
    const State last = while_loop(State{x[0], {x[1], x[2]}}, {.max_steps = 6}, [](const State& s) { return s.n > 0; },
                                  [](const State& s) { return State{s.n - 1, {sin(s.others.second) * convert(s.n, f64), s.others.first}}; });
    return Arrays{last.n, last.others.first, last.others.second};
  };
  const Function steps = [](A x) {
    Array n = x[0], a = x[1], b = x[2];
    for (int i = 0; i < 3; ++i) {
      const Array next = sin(b) * convert(n, f64);
      b = a;
      a = next;
      n = n - 1;
    }
    return Arrays{n, a, b};
  };
  expect_same("state", loop, steps, {scalar(3, i32), random_values({2}, 1), random_values({2}, 2)});
}

TEST(WhileLoopMaxSteps, InAScanAndInACond) {
  const auto in_scan = [](auto climb) {
    return [=](A x) {
      auto [last, ys] = scan(x[0], x[1], [&](const Array& c, const Array& in) {
        const Array y = climb(c * 0.5, in, x[2]);
        return std::pair{y, cond(in > 0, [&] { return climb(y, in + 1, x[2]) * y; }, [&] { return y; })};
      });
      return Arrays{last, ys};
    };
  };
  expect_same("in a scan", in_scan([](const Array& f, const Array& b, const Array& by) { return climbed(14, f, b, by); }),
              in_scan([](const Array& f, const Array& b, const Array& by) { return climbed_in_steps(14, f, b, by); }),
              {f64s(0.2), array({1.3, -0.4, 2.1}, f64), f64s(0.3)});
}

TEST(WhileLoopMaxSteps, ExamplesOfABatchStopEachForItself) {
  const Array from = array({0, 1, 2, 5}, f64), bound = array({3, 3, 3, 3}, f64), by = f64s(0.1);
  const auto f = [&](const Array& v, const Array& b) { return climbed(6, v, b, by); };
  const auto plain = [&](const Array& v, const Array& b) { return climbed_in_steps(6, v, b, by); };
  EXPECT_LT(difference(vmap(f)(from, bound), vmap(plain)(from, bound)), 1e-14);
  EXPECT_LT(difference(vmap(grad(f))(from, bound), vmap(grad(plain))(from, bound)), 1e-14);
  EXPECT_LT(difference(grad([&](const Array& v) { return sum(vmap(f, {.in = {0, none}})(v, bound[0])); })(from), vmap(grad(plain))(from, bound)), 1e-14);
  EXPECT_LT(difference(jit(vmap(grad(f)))(from, bound), vmap(grad(plain))(from, bound)), 1e-13);
}

TEST(WhileLoopMaxSteps, ALoopThatDoesNotEndThrowsAndLeavesArraysAsTheyWere) {
  const auto doubled = [](int max_steps) {
    return [=](const Array& v) {
      return while_loop(v, {.max_steps = max_steps}, [](const Array& x) { return all(x < 100); }, [](const Array& x) { return x * 2; });
    };
  };
  const std::string where = this_file() + std::to_string(__LINE__ - 3);
  const std::vector<std::string> parts{"while_loop: the condition still holds after .max_steps = 3 steps. Allow more, or let the loop end. at ", where};
  const Array x = array({1, 2}, f64), ok = array({20, 30}, f64), batch = stack({ok, x, ok});
  const auto loss = [&](const Array& v) { return sum(doubled(3)(v)); };
  expect_contains(message<RunError>([&] { return doubled(3)(x); }), parts);
  expect_contains(message<RunError>([&] { return jit(doubled(3))(x); }), parts);
  expect_contains(message<RunError>([&] { return grad(loss)(x); }), parts);
  expect_contains(message<RunError>([&] { return jit(grad(loss))(x); }), parts);
  expect_contains(message<RunError>([&] { return vmap(doubled(3))(batch); }), parts);
  expect_contains(message<RunError>([&] { return jit(vmap(grad(loss)))(batch); }), parts);
  EXPECT_EQ(numbers(x), (Numbers{1, 2}));
  EXPECT_EQ(numbers(batch), (Numbers{20, 30, 1, 2, 20, 30}));
  const auto compiled = jit(doubled(3));
  expect_contains(message<RunError>([&] { return compiled(x); }), parts);
  EXPECT_EQ(numbers(compiled(ok)), (Numbers{80, 120}));  // the same program runs again
  EXPECT_EQ(numbers(doubled(7)(x)), (Numbers{64, 128}));
  EXPECT_EQ(message<RunError>([&] { return doubled(6)(x); }), "no error");
  expect_contains(message<RunError>([&] { return doubled(5)(x); }), {".max_steps = 5"});
}

TEST(WhileLoopMaxSteps, MayBeZero) {
  const auto never = [](const Array& v, const Array& bound) {
    return while_loop(v, {.max_steps = 0}, [&](const Array& x) { return x < bound; }, [](const Array& x) { return x * 2; });
  };
  EXPECT_EQ(real(never(f64s(3), f64s(1))), 3);
  EXPECT_EQ(real(grad(never)(f64s(3), f64s(1))), 1);
  EXPECT_EQ(real(jit(grad(never))(f64s(3), f64s(1))), 1);
  expect_contains(message<RunError>([&] { return never(f64s(3), f64s(5)); }), {".max_steps = 0"});
}

TEST(WhileLoopMaxSteps, MustBeANumberOfSteps) {
  const auto loop = [](std::int64_t n) { return climbed(n, f64s(1), f64s(0), f64s(0)); };
  EXPECT_EQ(real(loop(-1)), 1);  // no limit
  expect_error<TypeError>([&] { return loop(-2); }, {"while_loop: .max_steps is -2; it must be a number of steps that an i32 holds.", this_file()},
                          [&] { return loop(2); });
  expect_error<TypeError>([&] { return loop(std::int64_t{1} << 40); }, {"while_loop: .max_steps is 1099511627776;", this_file()}, [&] { return loop(9); });
  expect_error<RuleError>([&] { return grad([](const Array& v) { return climbed(-1, v, f64s(3), f64s(0)); })(f64s(1)); }, {".max_steps"},
                          [&] { return grad([](const Array& v) { return climbed(9, v, f64s(3), f64s(0)); })(f64s(1)); });
}

// ---- foreach

TEST(Foreach, CountsOrGoesThroughSlices) {
  EXPECT_EQ(numbers(foreach(4, [](const Array& k) { return k * k; })), (Numbers{0, 1, 4, 9}));
  EXPECT_EQ(foreach(std::int64_t{2}, [](const Array& k) { return k; }).dtype(), i32);
  EXPECT_EQ(foreach(0, [](const Array& k) { return stack({k, k}); }).shape(), (Shape{0, 2}));
  const Array xs = array({{1, 2}, {3, 4}}, f64), ys = array({5, 6}, f64);
  EXPECT_EQ(numbers(foreach(xs, [](const Array& x) { return sum(x); })), (Numbers{3, 7}));
  EXPECT_EQ(numbers(foreach(xs, ys, [](const Array& x, const Array& y) { return x * y; })), (Numbers{5, 10, 18, 24}));
}
struct Parts {
  Array a;
  std::vector<Array> b;
};
TEST(Foreach, TakesAndGivesTreesAndObeysTheLaws) {
  const Function loop = [](A x) {
    const auto body = [&](const Parts& p, const Array& y) { return std::tuple{sin(p.a) * x[3], Parts{p.b[0] * y, {p.a}}}; };
    const auto [first, second] = foreach(Parts{x[0], {x[1]}}, x[2], body);
    return Arrays{first, second.a, second.b[0]};
  };
  const Function plain = [](A x) { return Arrays{sin(x[0]) * x[3], x[1] * reshape(x[2], {3, 1}), x[0]}; };
  expect_same("foreach", loop, plain, {random_values({3}, 1), random_values({3, 2}, 2), random_values({3}, 3), random_values({}, 4)});
}
TEST(Foreach, SaysWhatIsWrong) {
  const Array three = ones({3}), four = ones({4});
  const auto add = [](const Array& a, const Array& b) { return a + b; };
  const auto same = [](const Array& a) { return a; };
  expect_error<TypeError>([&] { return foreach(three, four, add); },
                          {"foreach: lengths differ: argument 1 has 4 slices, argument 0 has 3.", this_file() + std::to_string(__LINE__ - 1)},
                          [&] { return foreach(three, three, add); });
  expect_error<TypeError>([&] { return foreach(-1, same); },
                          {"foreach: the number of steps is -1; it cannot be negative.", this_file() + std::to_string(__LINE__ - 1)},
                          [&] { return foreach(0, same); });
  expect_error<TypeError>([&] { return foreach(scalar(1.0), same); }, {"foreach: argument 0 is a single number f32[]", this_file()},
                          [&] { return foreach(three, same); });
}

// ---- unroll

/// The carry changes places, a slice is read, and two results are stacked.
auto loop_unrolled(std::int64_t times, bool reverse) {
  return [=](A x) {
    const auto body = [&](const std::pair<Array, Array>& c, const Array& in) {
      const Array next = sin(c.first * x[3] + in);
      return std::pair{std::pair{c.second, next}, std::pair{next * in, c.first}};
    };
    const auto [last, ys] = scan(std::pair{x[0], x[1]}, x[2], {.reverse = reverse, .unroll = times}, body);
    return Arrays{last.first, last.second, ys.first, ys.second};
  };
}
TEST(Unroll, GivesTheScan) {
  for (const std::int64_t length : {7, 6, 1, 0})
    for (const bool reverse : {false, true})
      for (const std::int64_t times : {2, 3, 7, 100}) {
        if (length < 6 && times == 3) continue;
        const Arrays x{random_values({}, 1), random_values({}, 2), random_values({length}, 3), random_values({}, 4)};
        expect_same("unrolled by " + std::to_string(times) + " of " + std::to_string(length) + (reverse ? " backwards" : ""),
                    loop_unrolled(times, reverse), loop_unrolled(1, reverse), x, length == 7 && times == 3 ? Forms::all : Forms::few);
      }
}
TEST(Unroll, WithoutSlicesAndWithIntegers) {
  const auto counted = [](std::int64_t times) {
    return [=](A x) {
      const auto [last, ns] = scan(std::pair{x[0], x[1]}, {.length = 5, .unroll = times}, [](const std::pair<Array, Array>& c) {
        return std::pair{std::pair{c.first + 1, sin(c.second) * convert(c.first, f64)}, c.first};
      });
      return Arrays{last.first, last.second, ns};
    };
  };
  for (const std::int64_t times : {2, 5}) expect_same("counted", counted(times), counted(1), {scalar(1, i32), random_values({2}, 1)});
  EXPECT_EQ(numbers(counted(2)({scalar(1, i32), f64s(1)})[2]), (Numbers{1, 2, 3, 4, 5}));
}
const ScanAttr& first_scan(const Program& p) {
  return std::find_if(p.equations.begin(), p.equations.end(), [](const Equation& e) { return e.prim == &prim::scan; })->as<ScanAttr>();
}
TEST(Unroll, WritesTheBodyOut) {
  const auto loop = [](std::int64_t times) {
    return make_program([=](const Array& x) {
      return scan(x, {.length = 7, .unroll = times}, [](const Array& c) { return std::pair{sin(c), std::tuple<>{}}; }).first;
    }, f64s(1));
  };
  EXPECT_EQ(loop(1).count("scan"), 1);
  EXPECT_EQ(loop(3).count("scan"), 2);  // twice three steps, then one
  const Program by_three = loop(3), by_hundred = loop(100);
  EXPECT_EQ(first_scan(by_three).body->count("sin"), 3);
  EXPECT_EQ(first_scan(by_three).length, 2);
  EXPECT_EQ(loop(7).count("scan"), 1);
  EXPECT_EQ(first_scan(by_hundred).body->count("sin"), 7);
  expect_contains(message<TypeError>([&] { return loop(0); }), {"scan: .unroll is 0; the body is written out at least once.", this_file()});
}

}  // namespace
}  // namespace anadrome::testing
