// Solutions of equations: values, derivatives of both modes and of higher order against the equation's own, errors.
#include <gtest/gtest.h>

#include "anadrome/anadrome.h"
#include "support/messages.h"

namespace anadrome {
namespace {

double largest(const Array& x) { return reduce_max(abs(x)).item<double>(); }

/// The square root of a, as the root of x^2 = a.
Array root(const Array& a) {
  return custom_root([&](const Array& x) { return x * x - a; }, ones({}, f64),
                     [](const auto& f, const Array& x) { return fori_loop(0, 30, x, [&](const Array&, const Array& r) { return r - f(r) / (2 * r); }); },
                     [](const auto& g, const Array& b) { return b / g(ones_like(b)); });
}

TEST(CustomRoot, HasTheDerivativesOfTheRootInEveryModeAndOrder) {
  const Array two = scalar(2.0, f64);
  const auto plain = [](const Array& a) { return sqrt(a); };
  EXPECT_LT(largest(root(two) - sqrt(two)), 1e-15);
  EXPECT_LT(largest(grad(root)(two) - grad(plain)(two)), 1e-14);
  EXPECT_LT(largest(jacfwd(root)(two) - grad(plain)(two)), 1e-14);
  EXPECT_LT(largest(grad(grad(root))(two) - grad(grad(plain))(two)), 1e-14);
  EXPECT_LT(largest(jacfwd(grad(root))(two) - grad(grad(plain))(two)), 1e-14);
  EXPECT_LT(largest(grad(jacfwd(root))(two) - grad(grad(plain))(two)), 1e-14);
  EXPECT_LT(largest(jit(grad(grad(grad(root))))(two) - grad(grad(grad(plain)))(two)), 1e-14);
  const Array many = array({0.5, 2.0, 9.0}, f64);
  EXPECT_LT(largest(vmap(root)(many) - sqrt(many)), 1e-15);
  EXPECT_LT(largest(jit(vmap(grad(root)))(many) - vmap(grad(plain))(many)), 1e-14);
  const auto twice = [](const Array& a) { return fori_loop(0, 2, a, [](const Array&, const Array& x) { return root(x); }); };
  EXPECT_LT(largest(grad(twice)(two) - 0.25 * pow(two, scalar(-0.75, f64))), 1e-14);
}

TEST(CustomRoot, DoesNotDependOnWhereTheSearchBegins) {
  const auto from = [](const Array& start) {
    return custom_root([](const Array& x) { return x * x - 2; }, start,
                       [](const auto& f, const Array& x) { return fori_loop(0, 40, x, [&](const Array&, const Array& r) { return r - f(r) / (2 * r); }); },
                       [](const auto& g, const Array& b) { return b / g(ones_like(b)); });
  };
  EXPECT_EQ(grad(from)(scalar(3.0, f64)).item<double>(), 0);
}

struct Problem {
  Array w, u;
};
Array settled(const Problem& p, const FixedPointOptions& options = {.tolerance = 1e-14}) {
  return fixed_point([&](const Array& z) { return tanh(matmul(p.w, z) + p.u); }, zeros({4}, f64), options);
}
Array iterated(const Problem& p) {
  return fori_loop(0, 200, zeros({4}, f64), [&](const Array&, const Array& z) { return tanh(matmul(p.w, z) + p.u); });
}
Problem problem() { return {0.2 * random::normal(random::prng_key(1), {4, 4}, f64), random::normal(random::prng_key(2), {4}, f64)}; }

TEST(FixedPoint, HasTheGradientsOfManyIterations) {
  const Problem p = problem();
  const auto loss = [](const Problem& q) { return sum(square(settled(q))); };
  const auto plain = [](const Problem& q) { return sum(square(iterated(q))); };
  for (const Problem& g : {grad(loss)(p), jit(grad(loss))(p)}) {
    const Problem want = grad(plain)(p);
    EXPECT_LT(largest(g.w - want.w), 1e-12);
    EXPECT_LT(largest(g.u - want.u), 1e-12);
  }
  const auto of_u = [&](const Array& u) { return loss({p.w, u}); };
  const auto plain_of_u = [&](const Array& u) { return plain({p.w, u}); };
  EXPECT_LT(largest(hessian(of_u)(p.u) - hessian(plain_of_u)(p.u)), 1e-11);
  const Array us = random::normal(random::prng_key(3), {3, 4}, f64);
  EXPECT_LT(largest(vmap(grad(of_u))(us) - vmap(grad(plain_of_u))(us)), 1e-12);
}

TEST(FixedPoint, KeepsNothingOfTheIterations) {
  const Problem p = problem();
  const auto temp = [&](std::int64_t steps) {
    const auto loss = [steps](const Problem& q) { return sum(settled(q, {.max_steps = steps, .tolerance = 1e-14})); };
    return jit(grad(loss)).lower(p).compile().memory_analysis().temp_size_in_bytes;
  };
  EXPECT_EQ(temp(100), temp(100000));
}

TEST(FixedPoint, ThatDoesNotSettleEndsTheRun) {
  const auto grows = [](const Array& x) { return fixed_point([](const Array& z) { return 2 * z + 1; }, x, {.max_steps = 50}); };
  const auto settles = [](const Array& x) { return fixed_point([](const Array& z) { return z / 2 + 1; }, x, {.max_steps = 50}); };
  testing::expect_error<RunError>([&] { return grows(zeros({})); }, {"the condition still holds after .max_steps = 50"}, [&] { return settles(zeros({})); });
  testing::expect_error<RunError>([&] { return jit(grows)(zeros({})); }, {".max_steps = 50"}, [&] { return jit(settles)(zeros({})); });
}

/// Iterates x + (b - g(x)) / 2, for maps near the identity.
Array richardson(const std::function<Array(const Array&)>& g, const Array& b) {
  return fori_loop(0, 200, b, [&](const Array&, const Array& x) { return x + 0.5 * (b - g(x)); });
}

TEST(LinearSolve, IsDifferentiableInMatrixAndRightSide) {
  const Array a = eye(3, f64) + 0.1 * random::normal(random::prng_key(4), {3, 3}, f64), b = random::normal(random::prng_key(5), {3}, f64);
  const auto f = [](const Array& m, const Array& side) {
    return sum(sin(custom_linear_solve([&](const Array& x) { return matmul(m, x); }, side, richardson)));
  };
  const auto [da, db] = jit(grad<0, 1>(f))(a, b);
  const Array x = custom_linear_solve([&](const Array& v) { return matmul(a, v); }, b, richardson);
  const Array w = custom_linear_solve([&](const Array& v) { return matmul(transpose(a), v); }, cos(x), richardson);
  EXPECT_LT(largest(matmul(a, x) - b), 1e-14);
  EXPECT_LT(largest(db - w), 1e-13);
  EXPECT_LT(largest(da + outer(w, x)), 1e-13);
  const auto of_b = [&](const Array& side) { return f(a, side); };
  EXPECT_LT(largest(hessian(of_b)(b) - jacrev(jacfwd(of_b))(b)), 1e-12);
  const auto of_a = [&](const Array& m) { return f(m, b); };
  EXPECT_LT(largest(jacfwd(of_a)(a) - da), 1e-13);
  EXPECT_LT(largest(jacrev(grad(of_a))(a) - jacfwd(grad(of_a))(a)), 1e-11);
  const Array sides = random::normal(random::prng_key(6), {2, 3}, f64), matrices = stack(std::vector<Array>{a, transpose(a)});
  const Array batched = vmap(grad(f))(matrices, sides);
  for (int i = 0; i < 2; ++i) EXPECT_LT(largest(batched[i] - grad(f)(matrices[i], sides[i])), 1e-13);
}

TEST(CustomRoot, UnknownsAreFloats) {
  const auto f = [](const Array& start) {
    return custom_root([](const Array& x) { return x * x; }, start, [](const auto&, const Array& x) { return x; },
                       [](const auto&, const Array& b) { return b; });
  };
  testing::expect_error<TypeError>([&] { return f(array({1, 2}, i32)); }, {"custom_root: argument 0 is i32[2]; unknowns are floats."},
                                   [&] { return f(array({1.0, 2.0})); });
}

TEST(CustomRoot, FunctionsReturnWhatTheUnknownsAre) {
  const auto f = [](const Array& start, bool wrong) {
    return custom_root([&](const Array& x) { return wrong ? sum(x) : x; }, start, [](const auto&, const Array& x) { return x; },
                       [](const auto&, const Array& b) { return b; });
  };
  const auto run = [&](bool wrong) { return jit([&](const Array& x) { return f(x, wrong); })(array({1.0, 2.0})); };
  testing::expect_error<TypeError>([&] { return run(true); }, {"custom_root: the function returns f32[] for argument 0, which is f32[2]."},
                                   [&] { return run(false); });
}

}  // namespace
}  // namespace anadrome
