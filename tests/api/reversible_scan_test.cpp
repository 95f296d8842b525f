// reversible_scan: values and derivatives are those of a scan, its gradient keeps no trajectory, and a rewind that goes wrong is
// noticed.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "anadrome/anadrome.h"
#include "api/loop_laws.h"
#include "support/messages.h"

namespace anadrome::testing {
namespace {

using A = const Arrays&;

struct State {
  Array x, v;
};

/// x: position, speed, weights, pushes.
template <class Loop>
Function momentum(double mu, const Loop& loop) {
  return [=](A x) {
    auto [last, ys] = loop(State{x[0], x[1]}, x[3], [&](const State& s, const Array& push) {
      const Array v = mu * s.v + tanh(dot(x[2], s.x) + push);
      return std::pair{State{s.x + 0.3 * v, v}, s.x * v};
    });
    return Arrays{last.x, last.v, ys};
  };
}
auto plain(bool reverse = false) {
  return [reverse](const auto& init, const auto& xs, const auto& body) { return scan(init, xs, {.reverse = reverse}, body); };
}
auto rewound(ReversibleScanOptions options = {}) {
  return [options](const auto& init, const auto& xs, const auto& body) { return reversible_scan(init, xs, options, body); };
}
Arrays momentum_values(std::int64_t length) {
  return {random_values({2}, 1), random_values({2}, 2), random_values({2, 2}, 3), random_values({length, 2}, 4)};
}

TEST(ReversibleScan, ObeysTheLawsOfAScan) {
  for (const Anchors anchors : {Anchors(), Anchors(none), Anchors(2)})
    expect_same("momentum " + std::to_string(anchors.count), momentum(0.9, rewound({.anchors = anchors})), momentum(0.9, plain()), momentum_values(5),
                anchors.count == Anchors::automatic ? Forms::all : Forms::few);
}

TEST(ReversibleScan, OfAnyLengthAndDirection) {
  for (const std::int64_t length : {0, 1, 2, 3, 4, 7, 12})
    for (const bool reverse : {false, true})
      for (const Anchors anchors : {Anchors(), Anchors(none), Anchors(3)}) {
        if (reverse && length != 7) continue;
        expect_same("length " + std::to_string(length) + ", anchors " + std::to_string(anchors.count),
                    momentum(0.9, rewound({.reverse = reverse, .anchors = anchors})), momentum(0.9, plain(reverse)), momentum_values(length), Forms::few);
      }
}

TEST(ReversibleScan, SegmentsThatAreDoneAgainObeyThemToo) {
  for (const bool reverse : {false, true}) {
    const auto loop = rewound({.reverse = reverse, .anchors = 2, .tolerance = 1e-30});
    expect_same("done again", momentum(0.9, loop), momentum(0.9, plain(reverse)), momentum_values(7), reverse ? Forms::few : Forms::all);
    EXPECT_GE(last_rewind().reruns, 2);  // of the three parts, the first is a single step
    EXPECT_EQ(last_rewind().anchors, 2);
  }
}

TEST(ReversibleScan, WithoutSlicesAndWithIntegers) {
  const auto f = [](auto loop) {
    return Function([loop](A x) {
      const auto last = loop(std::tuple{x[0], x[1], scalar(0, i32)}, [&](const std::tuple<Array, Array, Array>& c) {
        const auto& [a, b, i] = c;
        const Array next = b + 0.1 * sin(a) * convert(i, f64) * x[2];
        return std::pair{std::tuple{a + next, next, i + 1}, std::tuple<>{}};
      }).first;
      return Arrays{std::get<0>(last), std::get<1>(last), std::get<2>(last)};
    });
  };
  for (const std::int64_t length : {5, 9})
    expect_same("integers " + std::to_string(length),
                f([=](const auto& init, const auto& body) { return reversible_scan(init, ReversibleScanOptions{.length = length}, body); }),
                f([=](const auto& init, const auto& body) { return scan(init, ScanOptions{.length = length}, body); }),
                {random_values({2}, 1), random_values({2}, 2), random_values({2}, 3)}, length == 5 ? Forms::all : Forms::few);
}

TEST(ReversibleScan, InALoopAndAroundOne) {
  const auto f = [](const auto& loop) {
    return Function([loop](A x) {
      return Arrays{scan(State{x[0], x[1]}, x[3], [&](const State& s, const Array& push) {
        const State inner = loop(s, stack({push, -push, push}), [&](const State& t, const Array& p) {
          const Array turned = scan(t.x, {.length = 2}, [&](const Array& h) { return std::pair{sin(dot(x[2], h)), std::tuple<>{}}; }).first;
          const Array v = 0.9 * t.v + turned + p;
          return std::pair{State{t.x + 0.3 * v, v}, std::tuple<>{}};
        }).first;
        return std::pair{State{inner.x, sin(inner.v)}, std::tuple<>{}};
      }).first.x};
    });
  };
  expect_same("nested", f(rewound()), f(plain()), momentum_values(3), Forms::few);
}

TEST(ReversibleScan, GradientsInSomeArgumentsOnly) {
  const Arrays x = momentum_values(7);
  for (std::size_t i = 0; i < x.size(); ++i) {
    functional::Mask wanted(x.size(), false);
    wanted[i] = true;
    const auto number = [](const Function& f) { return Function([f](A v) { const Arrays y = f(v); return Arrays{sum(tanh(y[0])) + sum(y[2])}; }); };
    const Array got = functional::grad(number(momentum(0.9, rewound())), x, wanted, false).grads[0];
    const Array want = functional::grad(number(momentum(0.9, plain())), x, wanted, false).grads[0];
    EXPECT_LT(difference(got, want), 1e-11) << i;
  }
}

// ---- memory

struct Layer {
  Array w1, b1, w2, b2;
};
Layer layer(std::int64_t d, std::int64_t hidden, double scale) {
  return {random::normal(random::prng_key(1), {d, hidden}) * (scale / std::sqrt(static_cast<double>(d))), zeros({hidden}),
          random::normal(random::prng_key(2), {hidden, d}) * (scale / std::sqrt(static_cast<double>(hidden))), zeros({d})};
}
Array block(const Layer& p, const Array& x) { return matmul(tanh(matmul(x, p.w1) + p.b1), p.w2) + p.b2; }

/// The loss of a momentum net.
template <class Loop>
auto net(double mu, const Loop& loop) {
  return [=](const Layer& p, const Array& x) {
    const State last = loop(State{x, zeros_like(x)}, [&](const State& s) {
      const Array v = mu * s.v + block(p, s.x);
      return std::pair{State{s.x + v, v}, std::tuple<>{}};
    }).first;
    return mean(last.x * last.x);
  };
}
auto steps(std::int64_t n) {
  return [n](const auto& init, const auto& body) { return scan(init, ScanOptions{.length = n}, body); };
}
auto undone(std::int64_t n, Anchors anchors = {}, double tolerance = 1e-3) {
  return [=](const auto& init, const auto& body) { return reversible_scan(init, ReversibleScanOptions{.length = n, .anchors = anchors, .tolerance = tolerance}, body); };
}
template <class Loss>
std::int64_t temporary(const Loss& loss, std::int64_t d, std::int64_t hidden, std::int64_t batch) {
  const auto g = jit([loss](const Layer& p, const Array& x) { return grad(loss)(p, x); });
  const Layer p{abstract(f32, {d, hidden}), abstract(f32, {hidden}), abstract(f32, {hidden, d}), abstract(f32, {d})};
  return g.lower(p, abstract(f32, {batch, d})).compile().memory_analysis().temp_size_in_bytes;
}

TEST(ReversibleScan, WithoutAnchorsMemoryDoesNotDependOnTheLength) {
  const std::int64_t one = temporary(net(0.9, undone(8, none)), 32, 64, 16);
  EXPECT_EQ(temporary(net(0.9, undone(512, none)), 32, 64, 16), one);
  EXPECT_GT(temporary(net(0.9, steps(512)), 32, 64, 16), 50 * one);
}

TEST(ReversibleScan, EachAnchorTakesOneState) {
  const std::int64_t state = 2 * 16 * 32 * 4, few = temporary(net(0.9, undone(512, 3)), 32, 64, 16);
  EXPECT_LE(temporary(net(0.9, undone(512, 10)), 32, 64, 16), few + 7 * state + 1024);
}

// ---- accuracy

double cosine(const Layer& a, const Layer& b) {
  double ab = 0, aa = 0, bb = 0;
  for (const auto& [x, y] : {std::pair{a.w1, b.w1}, {a.b1, b.b1}, {a.w2, b.w2}, {a.b2, b.b2}}) {
    ab += inner(x, y);
    aa += inner(x, x);
    bb += inner(y, y);
  }
  return ab / std::sqrt(aa * bb);
}

TEST(ReversibleScan, GradientsAreThoseOfAScanHoweverSteepTheNet) {
  const Layer p = layer(32, 64, 0.5);
  const Array x = random::normal(random::prng_key(3), {16, 32});
  for (const double mu : {0.99, 0.6, 0.3})
    for (const std::int64_t depth : {16, 64}) {
      const Layer want = jit([&](const Layer& q) { return grad(net(mu, steps(depth)))(q, x); })(p);
      const Layer got = jit([&](const Layer& q) { return grad(net(mu, undone(depth)))(q, x); })(p);
      EXPECT_GE(cosine(got, want), 0.9999) << "mu " << mu << ", depth " << depth << ", reruns " << last_rewind().reruns;
      EXPECT_GT(last_rewind().anchors, 0);
    }
}

/// A step that undoing makes noisy: the speed shrinks to an eighth.
template <class Loop>
auto braked(const Loop& loop) {
  return [loop](const Array& x) {
    const State last = loop(State{x, 0.5 * x}, [&](const State& s) {
      const Array v = 0.125 * s.v + sin(s.x);
      return std::pair{State{s.x + 0.1 * v, v}, std::tuple<>{}};
    }).first;
    return sum(last.x * last.v);
  };
}

TEST(ReversibleScan, ARewindThatMissesIsDoneAgain) {
  const Array x = array({0.5, -1, 2});
  const Array want = grad(braked(steps(40)))(x);
  const Array got = grad(braked(undone(40, 1)))(x);
  EXPECT_LT(difference(got, want), 1e-5);
  EXPECT_EQ(last_rewind().anchors, 1);
  EXPECT_EQ(last_rewind().reruns, 2);
  EXPECT_FALSE(last_rewind().measured <= 1e-3);
  EXPECT_GT(last_rewind().predicted, 1);
  EXPECT_LT(difference(jit(grad(braked(undone(40, 1))))(x), want), 1e-5);
  EXPECT_EQ(last_rewind().reruns, 2);
}

TEST(ReversibleScan, AnchorsAreAsNearAsThePredictionAsks) {
  const Array x = array({0.5, -1, 2});
  EXPECT_LT(difference(grad(braked(undone(40)))(x), grad(braked(steps(40)))(x)), 1e-5);
  EXPECT_EQ(last_rewind().reruns, 0);
  EXPECT_GE(last_rewind().anchors, 13);
  EXPECT_LE(last_rewind().measured, 1e-3);
  EXPECT_LE(last_rewind().predicted, 1e-4);
  EXPECT_GE(last_rewind().measured, last_rewind().predicted / 100);
}

TEST(ReversibleScan, WithoutAnchorsAMissIsAnError) {
  const Array x = array({0.5, -1, 2});
  expect_error<RunError>([&] { return grad(braked(undone(40, none)))(x); },
                         {"reversible_scan: undoing the steps for the gradient did not lead back to where the loop began: the relative error is ",
                          ", predicted was at least ", ", the tolerance is 0.001.", "Allow anchors"},
                         [&] { return grad(braked(undone(4, none)))(x); });
  EXPECT_NO_THROW(grad(braked(undone(40, none, std::numeric_limits<double>::infinity())))(x));
  EXPECT_FALSE(last_rewind().measured <= 1e-3);
}

TEST(ReversibleScan, NoNumberIsAMiss) {
  // tanh comes to 1 in f32: undone, it is infinite.
  const auto g = [](const auto& loop) {
    return [loop](const Array& x) { return sum(loop(x, [](const Array& s) { return std::pair{3 * tanh(s), std::tuple<>{}}; }).first); };
  };
  const Array x = array({12.0, 0.3});
  EXPECT_LT(difference(grad(g(undone(6, 2)))(x), grad(g(steps(6)))(x)), 1e-6);
  EXPECT_GE(last_rewind().reruns, 1);
  EXPECT_FALSE(last_rewind().measured <= 1e30);
  expect_contains(message<RunError>([&] { return grad(g(undone(6, none)))(x); }), {"the relative error is"});
}

TEST(ReversibleScan, ABatchIsVerifiedAsAWhole) {
  const Array x = array({{0.5, -1, 2}, {0.25, 1, -1}});
  const auto f = braked(undone(40, 1));
  const Array got = vmap(grad(f))(x), want = vmap(grad(braked(steps(40))))(x);
  EXPECT_LT(difference(got, want), 1e-5);
  EXPECT_EQ(last_rewind().reruns, 2);
  EXPECT_EQ(make_program(vmap(grad(f)), x).count("while_loop"), 2);  // a segment done again, in a branch
  const auto batched = [&](const Array& v) { return sum(vmap(f)(v)); };
  EXPECT_LT(difference(grad(batched)(x), want), 1e-5);
  EXPECT_EQ(last_rewind().reruns, 2);
}

TEST(ReversibleScan, RunsAsItsProgramsText) {
  const auto f = [](const Array& x) { return grad(braked(undone(40, 2)))(x); };
  const Program p = make_program(f, array({0.5, -1, 2}));
  const Program back = parse_program(to_string(p));
  EXPECT_TRUE(same_structure(p, back));
  EXPECT_EQ(to_string(back), to_string(p));
}

// ---- errors

TEST(ReversibleScanErrors, ABodyThatLosesInformationIsNamed) {
  const auto run = [](bool right) {
    return reversible_scan(ones({3}), {.length = 4}, [=](const Array& x) {
      const Array y = right ? exp(x) : max(x, 0.5);
      return std::pair{y - 1, std::tuple<>{}};
    }).first;
  };
  const int line = __LINE__ - 4;
  expect_error<NotInvertible>([&] { return run(false); },
                              {"reversible_scan: the function cannot be run backwards: `", "= max ", "loses information", this_file() + std::to_string(line)},
                              [&] { return run(true); });
}

TEST(ReversibleScanErrors, OptionsAreChecked) {
  const auto run = [](ReversibleScanOptions options) {
    options.length = 2;
    return reversible_scan(ones({3}), options, [](const Array& x) { return std::pair{2 * x, std::tuple<>{}}; }).first;
  };
  expect_error<TypeError>([&] { return run({.anchors = -3}); }, {"reversible_scan: .anchors is -3; give the number of states to keep, or none."}, [&] { return run({.anchors = 0}); });
  expect_error<TypeError>([&] { return run({.tolerance = 0}); }, {"reversible_scan: .tolerance is 0.0"}, [&] { return run({.tolerance = 1e-5}); });
}

}  // namespace
}  // namespace anadrome::testing
