// A branch that is not taken must not put a NaN into the gradient. With `cond` it does not. For `where` the guard is the
// user's: the argument of the branch is made harmless where it is not taken.
#include <cmath>

#include "cases/near.h"

namespace anadrome::cases {
namespace {

TEST(MaskedBranchNan, ACondIsRightAtTheSingularPointOfTheOtherBranch) {
  const Fn f = [](const Array& x) { return cond(x < 1, [&] { return x; }, [&] { return sqrt(x); }); };
  const Fn by_operand = [](const Array& x) { return cond(x < 1, [](const Array& v) { return v; }, [](const Array& v) { return sqrt(v); }, x); };
  const Fn in_loop = [&](const Array& x) { return scan(x, {.length = 1}, [&](const Array& c) { return std::pair{f(c), std::tuple<>{}}; }).first; };
  for (const Fn& g : {f, by_operand, in_loop, Fn(checkpoint(f))}) {
    for (const Mode& m : modes()) {
      SCOPED_TRACE(m.name);
      expect_values(m.derivative(g)(number(0)), {1});
      expect_values(jitted(m.derivative(g))(number(0)), {1});
      expect_values(batched(m.derivative(g))(vec({0, 4})), {1, 0.25});
      expect_values(jitted(batched(m.derivative(g)))(vec({0, 4})), {1, 0.25});
    }
    expect_values(reverse(summed(batched(g)))(vec({0, 4})), {1, 0.25});
    expect_values(jitted(reverse(summed(batched(g))))(vec({0, 4})), {1, 0.25});
  }
}

TEST(MaskedBranchNan, ACondOfAQuotientIsRightInAllNestings) {
  const Fn f = [](const Array& x) { return cond(x[0] > 1, [&] { return x[0] / x[1]; }, [&] { return x[0]; }); };
  const Array x = vec({0, 0});
  expect_values(reverse(f)(x), {1, 0});
  for (const Array& h : hessians(f, x)) expect_values(h, {0, 0, 0, 0});
  for (const Array& h : hessians(f, vec({2, 4}))) expect_values(h, {0, -1.0 / 16, -1.0 / 16, 4.0 / 64});
}

TEST(MaskedBranchNan, ABatchedCondStaysSafeToTheSecondDerivative) {
  const Fn f = [](const Array& x) { return cond(x > 0, [&] { return sqrt(x); }, [&] { return zeros_like(x); }); };
  const Fn chosen = [](const Array& x) {
    return switch_(convert(x > 0, i32), [&] { return zeros_like(x); }, [&] { return sqrt(x); }, [&] { return log(x); });
  };
  for (const Fn& g : {f, chosen}) {
    const Array x = vec({-1, 4});
    for (const Fn& h : {batched(reverse(g)), jitted(batched(reverse(g))), batched(forward(g)), reverse(summed(batched(g)))}) expect_values(h(x), {0, 0.25});
    for (const Fn& h : {batched(reverse(reverse(g))), batched(forward(reverse(g))), batched(reverse(forward(g))), reverse(summed(batched(reverse(g))))})
      expect_values(h(x), {0, -0.03125});
  }
}

TEST(MaskedBranchNan, AGuardedSquareRootIsRightAtItsSingularPoint) {
  const Fn f = [](const Array& x) { return where(x < 1, x, sqrt(where(x < 1, 1, x))); };
  for (const Mode& m : modes()) {
    SCOPED_TRACE(m.name);
    expect_values(m.derivative(f)(number(0)), {1});
    expect_values(batched(m.derivative(f))(vec({0, 4})), {1, 0.25});
    expect_values(jitted(batched(m.derivative(f)))(vec({0, 4})), {1, 0.25});
  }
  expect_values(reverse(summed(batched(f)))(vec({0, 4})), {1, 0.25});
  expect_values(jitted(reverse(summed(batched(f))))(vec({0, 4})), {1, 0.25});
}

TEST(MaskedBranchNan, AGuardedQuotientIsRightInAllNestings) {
  const Fn f = [](const Array& x) {
    const Array big = x[0] > 1;
    return where(big, x[0] / where(big, x[1], 1), x[0]);
  };
  const Array x = vec({0, 0});
  expect_values(reverse(f)(x), {1, 0});
  for (const Array& h : hessians(f, x)) expect_values(h, {0, 0, 0, 0});
}

TEST(MaskedBranchNan, BatchingKeepsTheGuardToTheSecondDerivative) {
  const Fn f = [](const Array& x) { return where(x > 0, sqrt(where(x > 0, x, 1)), 0); };
  const Array x = vec({-1, 4});
  expect_values(batched(reverse(f))(x), {0, 0.25});
  expect_values(reverse(summed(batched(f)))(x), {0, 0.25});
  expect_values(batched(reverse(reverse(f)))(x), {0, -0.03125});
  expect_values(batched(forward(reverse(f)))(x), {0, -0.03125});
}

TEST(MaskedBranchNan, CompiledBranchesStayGuarded) {
  // simplification must not see through the guard: jit and eager agree bit for bit
  const Fn f = [](const Array& x) {
    const Array positive = x > 0;
    return sum(where(positive, x * log(where(positive, x, 1)), 0));
  };
  const Array p = vec({0, 0.5, 1});
  expect_values(f(p), {0.5 * std::log(0.5)});
  expect_values(reverse(f)(p), {0, 1 + std::log(0.5), 1});
  expect_values(jitted(reverse(f))(p), reverse(f)(p).to_vector<double>(), 0);
}

TEST(MaskedBranchNan, FunctionsThatChooseInsideNeedNoGuard) {
  const Array zero = number(0), far = number(-1e6);
  for (const Mode& m : modes()) {
    SCOPED_TRACE(m.name);
    expect_values(m.derivative([](const Array& x) { return xlogy(x, x + 1); })(zero), {0});
    expect_values(m.derivative([](const Array& x) { return sinc(x); })(zero), {0});
    expect_values(m.derivative([](const Array& x) { return elu(-x); })(far), {-1});
    expect_values(m.derivative([](const Array& x) { return softplus(-x); })(far), {-1});
  }
}

TEST(MaskedBranchNan, AnItemChoosesABranchThatIsNeverRecorded) {
  const Fn f = [](const Array& x) { return x.item<double>() < 1 ? x : sqrt(x); };
  for (const Mode& m : modes()) {
    expect_values(m.derivative(f)(number(0)), {1});
    expect_values(m.derivative(f)(number(4)), {0.25});
  }
}

}  // namespace
}  // namespace anadrome::cases
