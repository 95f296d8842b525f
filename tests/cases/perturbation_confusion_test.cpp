// Nested derivatives do not see each other's perturbations.
#include "cases/near.h"

namespace anadrome::cases {
namespace {

/// Runs the check for all pairings of forward and reverse mode.
template <class F> void in_all_pairings(F check) {
  for (const Mode& outer : modes())
    for (const Mode& inner : modes()) {
      SCOPED_TRACE(outer.name + " over " + inner.name);
      check(outer.derivative, inner.derivative);
    }
}

TEST(PerturbationConfusion, TheInnerDerivativeDoesNotSeeTheOuterPerturbation) {
  in_all_pairings([](auto outer, auto inner) {
    const Fn captured = [&](const Array& x) {
      return x * inner([&](const Array& y) { return x + y; })(number(1));
    };
    const Fn passed = [&](const Array& x) { return x * inner([&](const Array& y) { return x + y; })(1 * x); };
    expect_values(outer(captured)(number(1)), {1});
    expect_values(outer(captured)(number(5)), {1});
    expect_values(outer(passed)(number(5)), {1});
  });
}

TEST(PerturbationConfusion, ProductsOfLevelsAndMixedPartialsAreRight) {
  in_all_pairings([](auto outer, auto inner) {
    const Fn a = [&](const Array& x) { return x * inner([&](const Array& y) { return x * y; })(number(1)); };
    expect_values(outer(a)(number(4)), {8});
    const Fn c = [&](const Array& x) {
      return inner([&](const Array& y) {
        return inner([&](const Array& z) { return x * y * z; })(number(1)) * y;
      })(number(1));
    };
    expect_values(batched(c)(vec({1, 2, 3})), {2, 4, 6});
    expect_values(outer(c)(number(3)), {2});
  });
  // d2/dp du of u0^2 u1^2 p^2
  const auto f = [](const Array& u, const Array& p) { return square(prod(u) * p); };
  const auto in_p = [&](const Array& u, const Array& p) { return grad<1>(f)(u, p); };
  expect_values(grad(in_p)(vec({2, 3}), number(4)), {288, 192});
  const auto in_u = [&](const Array& p) { return grad(f)(vec({2, 3}), p); };
  expect_values(jacfwd(in_u)(number(4)), {288, 192});
}

TEST(PerturbationConfusion, ASeparableFunctionHasAMixedBlockOfZeros) {
  const auto lagrangian = [](const Array& q, const Array& v) { return 0.5 * dot(v, v) - 9.8 * q[1]; };
  const Array q = vec({1, 2}), v = vec({3, 4});
  const auto momentum = [&](const Array& at_q) { return grad<1>(lagrangian)(at_q, v); };
  expect_values(jacfwd(momentum)(q), {0, 0, 0, 0});
  expect_values(jacrev(momentum)(q), {0, 0, 0, 0});
}

TEST(PerturbationConfusion, ADerivativeInsideALoopInsideADerivative) {
  in_all_pairings([](auto outer, auto inner) {
    const Fn w = [&](const Array& x) {
      Array c = x;
      for (int i = 0; i < 2; ++i) {
        const Array now = c;
        c = c * inner([&](const Array& y) { return x * now * y * y; })(number(1));
      }
      return c;
    };
    expect_values(w(number(2)), {8 * 128});
    expect_values(outer(w)(number(2)), {3584});
  });
}

TEST(PerturbationConfusion, LevelsStayApartUnderVmapAndJit) {
  in_all_pairings([](auto outer, auto inner) {
    const Fn f = [&](const Array& x) {
      return x * jitted(inner([&](const Array& y) { return x * y * y; }))(x);  // x * 2 x^2
    };
    expect_values(batched(jitted(outer(f)))(vec({1, 2})), {6, 24});
    expect_values(jitted(batched(outer(f)))(vec({1, 2})), {6, 24});
  });
}

TEST(PerturbationConfusion, StoppedGradientsStopOnlyTheirOwnValue) {
  in_all_pairings([](auto outer, auto inner) {
    const Fn f = [&](const Array& x) {
      return inner([&](const Array& y) { return stop_gradient(y) * y * x; })(x);
    };
    expect_values(outer(f)(number(3)), {3});  // of stop_gradient(x) x
  });
}

TEST(PerturbationConfusion, ThreeLevelsOverTheSameName) {
  const Mode &fwd = modes()[0], &rev = modes()[1];
  const Fn cube = [](const Array& x) { return x * x * x; };
  for (const auto& [a, b, c] :
       {std::tuple(fwd, rev, fwd), std::tuple(rev, fwd, rev), std::tuple(rev, rev, rev)})
    expect_values(a.derivative(b.derivative(c.derivative(cube)))(number(7)), {6});
}

}  // namespace
}  // namespace anadrome::cases
