// Loops and conditionals: the laws of the transforms, against the same steps written out.
#include <gtest/gtest.h>

#include <cmath>

#include "anadrome/anadrome.h"
#include "api/loop_laws.h"
#include "core/attrs.h"
#include "core/intern.h"
#include "core/text.h"
#include "primitives/prims.h"

namespace anadrome::testing {
namespace {

using A = const Arrays&;

Array f64s(double x) { return scalar(x, f64); }
double real(const Array& x) { return x.item<double>(); }

// ---- scan

/// A recurrent layer with weights that it captures: h' = tanh(w h + x), y = h' x.
Arrays recurrent(A x) {
  auto [last, ys] = scan(x[0], x[1], [&](const Array& h, const Array& in) {
    const Array next = tanh(dot(x[2], h) + in);
    return std::pair{next, next * in};
  });
  return {last, ys};
}
Arrays recurrent_steps(A x) {
  Array h = x[0];
  Arrays ys;
  for (int i = 0; i < 4; ++i) {
    h = tanh(dot(x[2], h) + x[1][i]);
    ys.push_back(h * x[1][i]);
  }
  return {h, stack(ys)};
}
Arrays recurrent_values() { return {random_values({2}, 1), random_values({4, 2}, 2), random_values({2, 2}, 3)}; }

TEST(Scan, ObeysTheLawsInCarriesSlicesAndCaptures) {
  expect_same("recurrent", recurrent, recurrent_steps, recurrent_values());
}

struct State {
  Array position;
  std::vector<Array> others;
};
struct Force {
  Array push;
  std::pair<Array, Array> drag;
};
std::pair<State, std::tuple<Array, Array>> moved(const State& s, const Force& f) {
  const Array v = s.others[0] + f.push - f.drag.first * s.others[0];
  return {State{sin(s.position + 0.1 * v), {v, s.others[1] * f.drag.second}}, {s.position * s.others[1], v}};
}

TEST(Scan, TakesAndGivesTrees) {
  for (const bool reverse : {false, true}) {
    const Function loop = [=](A x) {
      auto [s, y] = scan(State{x[0], {x[1], x[2]}}, Force{x[3], {x[4], x[5]}}, {.reverse = reverse}, moved);
      return Arrays{s.position, s.others[0], s.others[1], std::get<0>(y), std::get<1>(y)};
    };
    const Function steps = [=](A x) {
      State s{x[0], {x[1], x[2]}};
      std::vector<Array> a(3), b(3);
      for (int k = 0; k < 3; ++k) {
        const int i = reverse ? 2 - k : k;
        auto [next, y] = moved(s, Force{x[3][i], {x[4][i], x[5][i]}});
        s = next;
        std::tie(a[static_cast<std::size_t>(i)], b[static_cast<std::size_t>(i)]) = y;
      }
      return Arrays{s.position, s.others[0], s.others[1], stack(a), stack(b)};
    };
    Arrays x{random_values({}, 1), random_values({}, 2), random_values({}, 3)};
    for (std::uint32_t i = 4; i < 7; ++i) x.push_back(random_values({3}, i));
    expect_same(reverse ? "trees backwards" : "trees", loop, steps, x, reverse ? Forms::few : Forms::all);
  }
}

TEST(Scan, OfNoSliceGivesTheFirstCarriesAndEmptyStacks) {
  const Function loop = [](A x) {
    auto [last, ys] = scan(x[0], x[1], [&](const Array& h, const Array& in) { return std::pair{h * in + x[2], sin(h)}; });
    return Arrays{last, ys};
  };
  const Function steps = [](A x) { return Arrays{x[0] + 0 * x[2], zeros({0, 2}, f64)}; };
  expect_same("no slice", loop, steps, {random_values({2}, 1), random_values({0, 2}, 2), random_values({}, 3)});
}

TEST(Scan, WithoutSlicesTakesALength) {
  const Function loop = [](A x) {
    auto [last, ys] = scan(x[0], {.length = 3}, [&](const Array& h) { return std::pair{sin(h) * x[1], h}; });
    return Arrays{last, ys};
  };
  const Function steps = [](A x) {
    const Array a = sin(x[0]) * x[1], b = sin(a) * x[1];
    return Arrays{sin(b) * x[1], stack({x[0], a, b})};
  };
  expect_same("length 3", loop, steps, {random_values({}, 1), random_values({}, 2)});
}

TEST(Scan, CarriesIntegersBesideFloats) {
  const Function loop = [](A x) {
    auto [last, ys] = scan(std::pair{x[0], x[1]}, x[2], [](const std::pair<Array, Array>& c, const Array& in) {
      return std::pair{std::pair{c.first + 2, sin(c.second) * convert(c.first, f64) + in}, c.first};
    });
    return Arrays{last.first, last.second, ys};
  };
  const Function steps = [](A x) {
    Array n = x[0], v = x[1];
    Arrays ys;
    for (int i = 0; i < 3; ++i) {
      ys.push_back(n);
      v = sin(v) * convert(n, f64) + x[2][i];
      n = n + 2;
    }
    return Arrays{n, v, stack(ys)};
  };
  expect_same("integers", loop, steps, {scalar(3, i32), random_values({2}, 1), random_values({3, 2}, 2)});
}

/// For each row, from the last: a scan over its numbers, which also reads the outer carry and a captured value.
Arrays nested(A x) {
  auto [last, ys] = scan(x[0], x[1], {.reverse = true}, [&](const Array& c, const Array& row) {
    auto [inner, zs] = scan(c, row, [&](const Array& d, const Array& r) {
      return std::pair{sin(d * x[2] + r), d * c};
    });
    return std::pair{inner + c, sum(zs)};
  });
  return {last, ys};
}
Arrays nested_steps(A x) {
  Array c = x[0];
  std::vector<Array> ys(2);
  for (int i = 1; i >= 0; --i) {
    Array d = c, total = f64s(0);
    for (int j = 0; j < 3; ++j) {
      total = total + d * c;
      d = sin(d * x[2] + x[1][i][j]);
    }
    ys[static_cast<std::size_t>(i)] = total;
    c = d + c;
  }
  return {c, stack(ys)};
}
TEST(Scan, InAScan) {
  expect_same("nested", nested, nested_steps, {random_values({}, 1), random_values({2, 3}, 2), random_values({}, 3)});
}

TEST(Scan, RunsAtOnceOutsideOfPrograms) {
  auto [last, ys] = scan(f64s(1), array({2, 3, 4}, f64), [](const Array& c, const Array& x) { return std::pair{c * x, c}; });
  EXPECT_EQ(real(last), 24);
  EXPECT_EQ(numbers(ys), (Numbers{1, 2, 6}));
}

TEST(Scan, JittedGradientsHessiansAndBatchesAreThoseOutsideJit) {
  const auto loss = [](const Array& h, const Array& xs, const Array& w) {
    const Arrays y = recurrent({h, xs, w});
    return sum(y[0]) + sum(y[1] * y[1]);
  };
  const Arrays v = recurrent_values();
  const auto check = [&](const char* what, const Array& got, const Array& want) {
    EXPECT_LT(difference(got, want), 1e-11) << what;
  };
  const auto by_w = grad<2>(loss);
  check("grad", jit(by_w)(v[0], v[1], v[2]), by_w(v[0], v[1], v[2]));
  const auto curved = hessian([&](const Array& w) { return loss(v[0], v[1], w); });
  check("hessian", jit(curved)(v[2]), curved(v[2]));
  check("hessian", curved(v[2]), jacfwd([&](const Array& w) { return by_w(v[0], v[1], w); })(v[2]));
  const auto each = vmap(by_w, {.in = {none, none, 0}});
  const Array ws = random_values({3, 2, 2}, 9);
  check("vmap of grad", jit(each)(v[0], v[1], ws), each(v[0], v[1], ws));
  const auto total = [&](const Array& all) { return sum(vmap(loss, {.in = {none, none, 0}})(v[0], v[1], all)); };
  check("grad of vmap", grad(total)(ws), each(v[0], v[1], ws));
}

TEST(Map, StacksTheResultsOfEachSlice) {
  const Function loop = [](A x) { return Arrays{map([&](const Array& row) { return sum(sin(row) * x[1]); }, x[0])}; };
  const Function steps = [](A x) { return Arrays{sum(sin(x[0]) * x[1], {1})}; };
  expect_same("map", loop, steps, {random_values({3, 2}, 1), random_values({2}, 2)});
}

// ---- fori_loop

TEST(ForiLoop, CountsFromLowToHigh) {
  const Function loop = [](A x) {
    return Arrays{fori_loop(2, 5, x[0], [&](const Array& i, const Array& c) { return sin(c) * convert(i, f64) + x[1]; })};
  };
  const Function steps = [](A x) {
    Array c = x[0];
    for (int i = 2; i < 5; ++i) c = sin(c) * i + x[1];
    return Arrays{c};
  };
  expect_same("fori_loop", loop, steps, {random_values({2}, 1), random_values({}, 2)});
}
TEST(ForiLoop, BoundsMayBeNegativeAndEmpty) {
  const auto total = [](int lo, int hi) {
    return fori_loop(lo, hi, scalar(0, i32), [](const Array& i, const Array& c) { return c + i; }).item<int>();
  };
  EXPECT_EQ(total(0, 5), 10);
  EXPECT_EQ(total(-3, 2), -5);
  EXPECT_EQ(total(2, 3), 2);
  EXPECT_EQ(total(3, 3), 0);
  EXPECT_EQ(total(4, 3), 0);
}

// ---- while_loop

Arrays doubled_until(A x) {
  return {while_loop(x[0], [&](const Array& v) { return v < x[1]; }, [&](const Array& v) { return v * (1.5 + x[2]); })};
}
Function doubled(int steps) {
  return [steps](A x) {
    Array v = x[0];
    for (int i = 0; i < steps; ++i) v = v * (1.5 + x[2]);
    return Arrays{v};
  };
}

TEST(WhileLoop, GoesOnAsLongAsTheConditionHolds) {
  const Arrays x{f64s(1), f64s(7), f64s(0.5)};  // 1, 2, 4, 8
  EXPECT_EQ(real(doubled_until(x)[0]), 8);
  const auto tangent = [&](const Function& f) {
    return functional::jvp(f, x, {f64s(0.3), f64s(1), f64s(-0.2)}, {"jvp", {}, {}}).t[0];
  };
  EXPECT_NEAR(real(tangent(doubled_until)), real(tangent(doubled(3))), 1e-12);
  const auto square = [](const Array& v) { return doubled_until({v, f64s(7), v * v})[0]; };
  const auto step = [](const Array& v) { return doubled(1)({v, f64s(7), v * v})[0]; };
  EXPECT_EQ(real(square(f64s(2))), 11);
  EXPECT_NEAR(real(jacfwd(square)(f64s(2))), real(grad(step)(f64s(2))), 1e-12);
  EXPECT_NEAR(real(jacfwd(jacfwd(square))(f64s(2))), real(grad(grad(step))(f64s(2))), 1e-12);
}

TEST(WhileLoop, NeverEnteredGivesWhatItWasGiven) {
  const Function loop = [](A x) {
    return Arrays{while_loop(x[0], [](const Array& v) { return v > 100; }, [&](const Array& v) { return v * x[1]; })};
  };
  const Function steps = [](A x) { return Arrays{x[0] + 0 * x[1]}; };
  expect_same("never entered", loop, steps, {f64s(2), f64s(3)}, Forms::forward);
}

TEST(WhileLoop, ExamplesOfABatchStopEachForItself) {
  const Array x = array({1, 3, 100, 6}, f64), bounds = array({7, 7, 7, 50}, f64);
  const auto f = [](const Array& v, const Array& bound) { return doubled_until({v, bound, f64s(0.5)})[0]; };
  EXPECT_EQ(numbers(vmap(f)(x, bounds)), (Numbers{8, 12, 100, 96}));
  EXPECT_EQ(numbers(vmap(f, {.in = {0, none}})(x, f64s(7))), (Numbers{8, 12, 100, 12}));
  EXPECT_EQ(numbers(vmap(f, {.in = {none, 0}})(f64s(1), bounds)), (Numbers{8, 8, 8, 64}));
  EXPECT_EQ(numbers(jit(vmap(f))(x, bounds)), (Numbers{8, 12, 100, 96}));
  const auto slope = [&](const Array& v, const Array& bound) { return jvp(f, at(v, bound), along(f64s(1), f64s(0))).tangent; };
  EXPECT_EQ(numbers(vmap(slope)(x, bounds)), (Numbers{8, 4, 1, 16}));
}

TEST(WhileLoop, InAScanIsDifferentiatedForward) {
  const Function loop = [](A x) {
    auto [last, ys] = scan(x[0], x[1], [&](const Array& c, const Array& in) {
      const auto r = while_loop(std::pair{scalar(0, i32), c}, [](const std::pair<Array, Array>& p) { return p.first < 3; },
                                [&](const std::pair<Array, Array>& p) { return std::pair{p.first + 1, sin(p.second) + in}; });
      return std::pair{r.second, r.second * in};
    });
    return Arrays{last, ys};
  };
  const Function steps = [](A x) {
    Array c = x[0];
    Arrays ys;
    for (int i = 0; i < 2; ++i) {
      for (int k = 0; k < 3; ++k) c = sin(c) + x[1][i];
      ys.push_back(c * x[1][i]);
    }
    return Arrays{c, stack(ys)};
  };
  expect_same("while in scan", loop, steps, {random_values({}, 1), random_values({2}, 2)}, Forms::forward);
}

// ---- cond, switch_

TEST(Cond, InAScanObeysTheLaws) {
  const Function loop = [](A x) {
    auto [last, ys] = scan(x[0], x[1], [&](const Array& c, const Array& in) {
      const Array y = cond(in > 0, [&] { return sin(c) * x[2]; }, [&] { return c * in; });
      return std::pair{y, y + in};
    });
    return Arrays{last, ys};
  };
  const Arrays x{random_values({}, 1), array({0.5, -0.75, 0.25, -0.5}, f64), random_values({}, 3)};
  const Function steps = [](A v) {
    Array c = v[0];
    Arrays ys;
    for (int i = 0; i < 4; ++i) {
      c = where(v[1][i] > 0, sin(c) * v[2], c * v[1][i]);
      ys.push_back(c + v[1][i]);
    }
    return Arrays{c, stack(ys)};
  };
  expect_same("cond in scan", loop, steps, x);
}

TEST(Cond, WithAScanInABranchInAScan) {
  const Function inner = [](A v) {  // three sines, each times what is captured
    return Arrays{scan(v[0], {.length = 3}, [&](const Array& c) { return std::pair{sin(c) * v[1], std::tuple<>{}}; }).first};
  };
  const Function loop = [=](A x) {
    return Arrays{scan(x[0], x[1], [&](const Array& c, const Array& in) {
                    const Array y = cond(in > 0, [&](const Array& a) { return inner({a, x[2]})[0]; }, [&](const Array& a) { return a * in; }, c);
                    return std::pair{y, std::tuple<>{}};
                  }).first};
  };
  const Function steps = [](A x) {
    Array c = x[0];
    for (int i = 0; i < 3; ++i) c = where(x[1][i] > 0, sin(sin(sin(c) * x[2]) * x[2]) * x[2], c * x[1][i]);
    return Arrays{c};
  };
  expect_same("scan in cond in scan", loop, steps, {random_values({}, 1), array({0.5, -0.75, 0.25}, f64), random_values({}, 3)});
}

TEST(Cond, RunsOneBranchAndUnderABatchedPredicateGivesNoNaN) {
  const auto f = [](const Array& x) { return cond(x > 0, [&] { return sqrt(x); }, [&] { return -3 * x; }); };
  const Array x = array({4, -1, -9, 0.25}, f64);
  EXPECT_EQ(real(f(f64s(4))), 2);
  EXPECT_EQ(real(grad(f)(f64s(-1))), -3);
  EXPECT_EQ(numbers(vmap(f)(x)), (Numbers{2, 3, 27, 0.5}));
  EXPECT_EQ(numbers(vmap(grad(f))(x)), (Numbers{0.25, -3, -3, 1}));
  EXPECT_EQ(numbers(jit(vmap(grad(f)))(x)), (Numbers{0.25, -3, -3, 1}));
  const auto total = [&](const Array& all) { return sum(vmap(f)(all)); };
  EXPECT_EQ(numbers(grad(total)(x)), (Numbers{0.25, -3, -3, 1}));
  EXPECT_EQ(numbers(jvp(vmap(f), at(x), along(ones({4}, f64))).tangent), (Numbers{0.25, -3, -3, 1}));
  EXPECT_EQ(numbers(vmap(grad(grad(f)))(x)), (Numbers{-1.0 / 32, 0, 0, -2}));
}

TEST(Cond, WithAPredicateOfAllExamplesStaysACond) {
  const auto f = [](const Array& p, const Array& x) { return cond(p > 0, [&] { return sin(x); }, [&] { return x * p; }); };
  const auto mapped = vmap(f, {.in = {none, 0}});
  const Array x = random_values({3}, 1);
  EXPECT_EQ(make_program(mapped, f64s(1), x).count("cond"), 1);
  EXPECT_EQ(make_program(vmap(f, {.in = {0, none}}), x, f64s(1)).count("cond"), 0);
  for (double p : {1.0, -2.0}) {
    const Numbers got = numbers(mapped(f64s(p), x)), v = numbers(x);
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(got[i], p > 0 ? std::sin(v[i]) : v[i] * p, 1e-15);
  }
}

TEST(Cond, ObeysTheLawsInOperandsAndCaptures) {
  for (double p : {1.0, -1.0}) {
    const Function choice = [=](A x) {
      const Array y = cond(scalar(p) > 0, [&](const Array& a) { return sin(a) * x[1]; }, [&](const Array& a) { return a * a + x[2]; }, x[0]);
      return Arrays{y};
    };
    const Function steps = [=](A x) {
      return Arrays{p > 0 ? sin(x[0]) * x[1] + 0 * x[2] : x[0] * x[0] + x[2] + 0 * x[1]};
    };
    expect_same("cond " + std::to_string(p), choice, steps, {random_values({2}, 1), random_values({2}, 2), random_values({2}, 3)});
  }
}

TEST(Switch, ClampsItsIndex) {
  const auto f = [](const Array& i) {
    return switch_(i, [] { return f64s(10); }, [] { return f64s(20); }, [] { return f64s(30); });
  };
  const Array i = array({-5, -1, 0, 1, 2, 3, 99}, i32);
  const Numbers want{10, 10, 10, 20, 30, 30, 30};
  for (int k = 0; k < 7; ++k) EXPECT_EQ(real(f(i[k])), want[static_cast<std::size_t>(k)]);
  for (int k = 0; k < 7; ++k) EXPECT_EQ(real(jit(f)(i[k])), want[static_cast<std::size_t>(k)]);
  EXPECT_EQ(numbers(vmap(f)(i)), want);
}

// ---- what is kept for the gradient

/// The scans of a program, in order.
std::vector<const Equation*> scans(const Program& p) {
  std::vector<const Equation*> out;
  for (const Equation& e : p.equations)
    if (e.prim == &prim::scan) out.push_back(&e);
  return out;
}
std::size_t stacks(const Equation& e) { return e.results.size() - static_cast<std::size_t>(e.as<ScanAttr>().carries); }

TEST(Residuals, OfARecurrentLayerAreTheCarriesAndTheTanh) {
  const auto loss = [](const Array& w, const Array& xs) {
    const auto step = [&](const Array& h, const Array& x) { return std::pair{tanh(dot(w, h) + x), std::tuple<>{}}; };
    return sum(scan(zeros({3}, f64), xs, step).first);
  };
  const Program p = make_program(grad<0, 1>(loss), random_values({3, 3}, 1), random_values({4, 3}, 2));
  const auto loops = scans(p);
  ASSERT_EQ(loops.size(), 2u) << p;
  EXPECT_EQ(stacks(*loops[0]), 2u) << p;
  EXPECT_EQ(loops[0]->as<ScanAttr>().reverse, false);
  EXPECT_EQ(loops[1]->as<ScanAttr>().reverse, true);
  EXPECT_EQ(stacks(*loops[1]), 1u) << p;
}

TEST(Residuals, WhatNoStepChangesIsComputedOnceAndNotStacked) {
  const auto loss = [](const Array& w, const Array& xs) {
    const auto step = [&](const Array& h, const Array& x) { return std::pair{dot(exp(w), h) + x, std::tuple<>{}}; };
    return sum(scan(zeros({3}, f64), xs, step).first);
  };
  const Program p = make_program(grad<0>(loss), random_values({3, 3}, 1), random_values({4, 3}, 2));
  const auto loops = scans(p);
  ASSERT_EQ(loops.size(), 2u) << p;
  EXPECT_EQ(loops[1]->as<ScanAttr>().body->count("exp"), 0) << p;
  for (const Equation* e : loops)
    for (VarId r : e->results) EXPECT_NE(p.type(Atom::variable(r)).shape, (Shape{4, 3, 3})) << p;
}

// ---- text

void expect_reads_back(const Program& p) {
  const std::string text = to_string(p);
  const Program back = parse_program(text);
  EXPECT_TRUE(same_structure(p, back)) << text;
  EXPECT_EQ(to_string(back), text);
  EXPECT_EQ(p.hash, back.hash) << text;
}

TEST(ControlText, ReadsBack) {
  const Arrays x = recurrent_values();
  expect_reads_back(functional::make_program(recurrent, x));
  expect_reads_back(functional::make_program(nested, {random_values({}, 1), random_values({2, 3}, 2), random_values({}, 3)}));
  expect_reads_back(functional::make_program(doubled_until, {f64s(1), f64s(7), f64s(0.5)}));
  const auto choice = [](const Array& v) {
    return switch_(convert(v, i32), [&] { return sin(v); }, [&] { return v * v; }, [&] { return v; });
  };
  expect_reads_back(make_program(choice, f64s(1)));
  expect_reads_back(make_program(grad(choice), f64s(1)));
  expect_reads_back(make_program(jacfwd([](const Array& v) { return doubled_until({v, f64s(7), v})[0]; }), f64s(1)));
}

TEST(ControlText, EqualLoopsHaveOneHash) {
  const auto loop = [](int length, double factor, bool reverse) {
    return [=](const Array& x) {
      return scan(x, {.length = length, .reverse = reverse}, [&](const Array& c) { return std::pair{c * factor, c}; }).first;
    };
  };
  const auto program = [&](int length, double factor, bool reverse) { return make_program(loop(length, factor, reverse), f64s(1)); };
  const Program p = program(3, 1.5, false);
  EXPECT_EQ(p.hash, program(3, 1.5, false).hash);
  EXPECT_TRUE(same_structure(p, program(3, 1.5, false)));
  for (const Program& other : {program(4, 1.5, false), program(3, 2.5, false), program(3, 1.5, true)}) {
    EXPECT_NE(p.hash, other.hash);
    EXPECT_FALSE(same_structure(p, other));
  }
}

}  // namespace
}  // namespace anadrome::testing
