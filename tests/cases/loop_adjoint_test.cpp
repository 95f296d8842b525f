// Gradients of loops: the form of a loop, what its steps skip and what its carries drop do not change them.
#include <cmath>

#include "cases/near.h"

namespace anadrome::cases {
namespace {

/// The same three steps of `step` as a loop of each kind.
std::vector<std::pair<std::string, Fn>> loops(const Fn& begin, const std::function<Array(const Array& c, const Array& x)>& step) {
  const auto body = [step](const Array& x) { return [step, x](const Array& c) { return step(c, x); }; };
  using Counted = std::pair<Array, Array>;
  const auto counted = [body](const Array& x) {
    return [run = body(x)](const Counted& c) { return Counted{c.first + 1, run(c.second)}; };
  };
  const auto goes_on = [](const Counted& c) { return c.first < 3; };
  return {
      {"fori_loop", [=](const Array& x) { return fori_loop(0, 3, begin(x), [&](const Array&, const Array& c) { return step(c, x); }); }},
      {"scan", [=](const Array& x) { return scan(begin(x), {.length = 3}, [&](const Array& c) { return std::pair{step(c, x), c}; }).first; }},
      {"scan, written out twice",
       [=](const Array& x) { return scan(begin(x), {.length = 3, .unroll = 2}, [&](const Array& c) { return std::pair{step(c, x), c}; }).first; }},
      {"while_loop", [=](const Array& x) { return while_loop(Counted{scalar(0, i32), begin(x)}, {.max_steps = 5}, goes_on, counted(x)).second; }},
      {"tested last",
       [=](const Array& x) {
         return while_loop(counted(x)(Counted{scalar(0, i32), begin(x)}), {.max_steps = 2}, goes_on, counted(x)).second;
       }},
      {"C++",
       [=](const Array& x) {
         Array c = begin(x);
         for (int i = 0; i < 3; ++i) c = step(c, x);
         return c;
       }},
  };
}
void expect_derivatives(const std::vector<std::pair<std::string, Fn>>& forms, const Array& x, double value, double first, double second) {
  for (const auto& [name, f] : forms) {
    SCOPED_TRACE(name);
    expect_values(f(x), {value});
    for (const Mode& m : modes()) {
      SCOPED_TRACE(m.name);
      expect_values(m.derivative(f)(x), {first});
      expect_values(jitted(m.derivative(f))(x), {first});
    }
    for (const Array& h : hessians(f, x)) expect_values(h, {second});
  }
}

TEST(LoopAdjoint, TheFormOfALoopDoesNotChangeIt) {
  expect_derivatives(loops([](const Array& x) { return ones_like(x); }, [](const Array& c, const Array& x) { return c * x; }), number(2), 8, 12, 12);
  expect_derivatives(loops([](const Array& x) { return x; }, [](const Array& c, const Array& x) { return x * c + x; }), number(2), 30, 49, 62);
}

TEST(LoopAdjoint, ABoundOfTheRunIsRightForwardAndWithALimitBackward) {
  const auto grown = [](const Array& s, const Array& j, const Array& p) { return s + p * (convert(j, f64) + 1) * s; };
  const auto counted = [=](const Array& p, const Array& n) {
    return fori_loop(scalar(0, i32), n, ones_like(p), [&](const Array& j, const Array& s) { return grown(s, j, p); });
  };
  using Carry = std::pair<Array, Array>;
  const auto limited = [=](const Array& p, const Array& n) {
    return while_loop(Carry{scalar(0, i32), ones_like(p)}, {.max_steps = 8}, [&](const Carry& c) { return c.first < n; },
                      [&](const Carry& c) { return Carry{c.first + 1, grown(c.second, c.first, p)}; })
        .second;
  };
  const Array p = number(0.5), n = scalar(4, i32);
  expect_values(counted(p, n), {22.5});
  expect_values(jvp(counted, at(p, n), along(number(1), no_gradient)).tangent, {94.5});
  expect_values(grad(limited)(p, n), {94.5});
  expect_values(jit(grad(limited))(p, n), {94.5});
  expect_values(vmap(grad(limited), {.in = {none, 0}})(p, array({0, 1, 4}, i32)), {0, 1, 94.5});
  expect_contains(message<RuleError>([&] { return grad(counted)(p, n); }), {"reverse mode does not know how many steps to undo", ".max_steps"});
}

TEST(LoopAdjoint, NestedLoopsReplayEachStepOnce) {
  const Fn f = [](const Array& x) {
    return fori_loop(0, 3, ones_like(x), [&](const Array& i, const Array& c) {
      return fori_loop(0, 2, c, [&](const Array& j, const Array& d) { return d * x + convert(i * j, f64); });
    });
  };
  const Fn inner_while = [](const Array& x) {
    using Carry = std::pair<Array, Array>;
    return fori_loop(0, 3, ones_like(x), [&](const Array& i, const Array& c) {
      return while_loop(Carry{scalar(0, i32), c}, {.max_steps = 3}, [](const Carry& s) { return s.first < 2; },
                        [&](const Carry& s) { return Carry{s.first + 1, s.second * x + convert(i * s.first, f64)}; })
          .second;
    });
  };
  for (const Fn& loop : {f, inner_while}) {
    expect_values(loop(number(1.5)), {15.640625});
    for (const Mode& m : modes()) {
      expect_values(m.derivative(loop)(number(1.5)), {48.5625});
      expect_values(jitted(m.derivative(loop))(number(1.5)), {48.5625});
    }
  }
}

TEST(LoopAdjoint, SkippedStepsDoNotClaimTheWinner) {
  const Array c = vec({1, 0, -3, 2});
  const auto with = [&](const auto& choose) -> Fn {
    return [&c, choose](const Array& x) {
      return scan(number(-1e20), c, [&](const Array& m, const Array& ci) { return std::pair{choose(m, ci, x), std::tuple<>{}}; }).first;
    };
  };
  const Fn skipping = with([](const Array& m, const Array& ci, const Array& x) { return cond(ci == 0, [&] { return m; }, [&] { return max(m, x * ci); }); });
  const Fn masked = with([](const Array& m, const Array& ci, const Array& x) { return where(ci == 0, m, max(m, x * ci)); });
  for (const Fn& f : {skipping, masked})
    for (const Mode& m : modes())
      for (const auto& [x, value, slope] : {std::tuple{1.0, 2.0, 2.0}, {-1.0, 3.0, -3.0}}) {
        expect_values(f(number(x)), {value});
        expect_values(m.derivative(f)(number(x)), {slope});
        expect_values(jitted(m.derivative(f))(number(x)), {slope});
        expect_values(batched(m.derivative(f))(vec({x, -x})), {slope, slope == 2 ? -3.0 : 2.0});
      }
}

struct Both {
  Array a, b;
};
TEST(LoopAdjoint, ACarryThatIsDroppedHasNoPart) {
  const auto doubled = [](bool of_b) -> Fn {
    return [of_b](const Array& p) {
      const Both last = fori_loop(0, 2, Both{p, zeros_like(p)}, [](const Array&, const Both& c) { return Both{c.a + c.a, c.b + c.a}; });
      return (of_b ? last.b : last.a) * p;
    };
  };
  expect_values(doubled(false)(number(3)), {36});
  expect_values(doubled(true)(number(3)), {27});
  for (const Mode& m : modes()) {
    expect_values(m.derivative(jitted(doubled(false)))(number(3)), {24});
    expect_values(m.derivative(jitted(doubled(true)))(number(3)), {18});
  }
  const Fn unused = [](const Array& p) {  // a carry that never depends on p, and a stack that is dropped
    return scan(number(1), p * vec({1, 2}), [&](const Array& c, const Array& x) { return std::pair{c * 2, x * p}; }).first * p;
  };
  for (const Mode& m : modes()) expect_values(m.derivative(unused)(number(3)), {4});
}

/// 3x or 5x by the sign of x; the rule chooses again.
Array chosen(const Array& x) {
  const auto f = [](const Array& v) { return cond(v > 0, [&] { return 3 * v; }, [&] { return 5 * v; }); };
  return custom_jvp(f, [=](const Array& v, const Array& dv) {
    return std::pair{f(v), cond(v > 0, [&] { return 3 * dv; }, [&] { return 5 * dv; })};
  })(x);
}
TEST(LoopAdjoint, ARuleThatBranchesOnTheValueIsBatchedAndReversed) {
  const Array x = vec({1, -1});
  expect_values(batched(reverse(chosen))(x), {3, 5});
  expect_values(reverse(summed(batched(chosen)))(x), {3, 5});
  expect_values(jitted(reverse(summed(batched(chosen))))(x), {3, 5});
  const Fn looped = [](const Array& v) { return fori_loop(0, 2, v, [](const Array&, const Array& c) { return chosen(c); }); };
  expect_values(batched(reverse(looped))(x), {9, 25});
  expect_values(reverse(summed(batched(looped)))(x), {9, 25});
  const auto late = custom_vjp([](const Array& v) { return v; }, [](const Array& v) { return std::pair{v, v > 0}; },
                               [](const Array& positive, const Array& ct) { return cond(positive, [&] { return 3 * ct; }, [&] { return 5 * ct; }); });
  expect_values(reverse(summed(batched(late)))(x), {3, 5});
  expect_values(batched(reverse(late))(x), {3, 5});
}

}  // namespace
}  // namespace anadrome::cases
