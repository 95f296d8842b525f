// Checkpoints: the derivatives of the function itself, from what the policy keeps.
#include <gtest/gtest.h>

#include <cmath>

#include "anadrome/anadrome.h"
#include "api/loop_laws.h"
#include "core/attrs.h"
#include "primitives/prims.h"

namespace anadrome::testing {
namespace {

using A = const Arrays&;

const std::vector<std::pair<std::string, CheckpointPolicy>>& policies() {
  static const std::vector<std::pair<std::string, CheckpointPolicy>> all{
      {"nothing", save_nothing}, {"everything", save_everything}, {"dots", save_dots}, {"names", save_names({"h"})}, {"another name", save_names({"k"})}};
  return all;
}

/// Two layers, of which the first gives a named value.
Array layers(const Array& x, const Array& w) {
  const Array h = checkpoint_name(tanh(dot(x, w)), "h");
  return sin(dot(h * h, w) + x);
}

TEST(Checkpoint, IsTheFunctionUnderEveryPolicy) {
  const Arrays x{random_values({2}, 1), random_values({2, 2}, 2)};
  for (const auto& [name, policy] : policies())
    expect_same(name, [&, f = checkpoint(layers, policy)](A in) { return Arrays{f(in[0], in[1]) * in[0]}; },
                [](A in) { return Arrays{layers(in[0], in[1]) * in[0]}; }, x);
}

TEST(Checkpoint, InLoopsConditionalsAndItself) {
  const auto body = [](auto f) {
    return [=](A x) {
      auto [last, ys] = scan(x[0], x[1], [&](const Array& c, const Array& in) {
        const Array y = cond(sum(in) > 0, [&] { return f(c, x[2]); }, [&] { return f(in, x[2]) + c; });
        return std::pair{y, f(y * in, x[2])};
      });
      return Arrays{last, ys};
    };
  };
  const Arrays x{random_values({2}, 1), random_values({3, 2}, 2), random_values({2, 2}, 3)};
  const auto twice = checkpoint([](const Array& a, const Array& w) { return checkpoint(layers, save_dots)(a, w) * a; });
  expect_same("in a scan", body(checkpoint(layers)), body(layers), x);
  expect_same("in itself, in a scan", body(twice), body([](const Array& a, const Array& w) { return layers(a, w) * a; }), x, Forms::few);
  const auto whole = body(layers);
  const Function around = [&](A in) { return functional::checkpoint(whole, save_nothing, in, {"checkpoint", {}, {}}); };
  expect_same("around a scan", around, whole, x, Forms::few);
  const auto looped = [](auto f) {
    return [=](A in) { return Arrays{while_loop(in[0], [](const Array& v) { return sum(v) < 4; }, [&](const Array& v) { return v + f(v, in[1]) + 2; })}; };
  };
  expect_same("in a while loop", looped(checkpoint(layers)), looped(layers), {random_values({2}, 1), random_values({2, 2}, 2)}, Forms::forward);
}

struct State {
  Array x;
  std::vector<Array> others;
};
TEST(Checkpoint, TakesTreesStaticNumbersIntegersAndCaptures) {
  const auto f = [](auto wrap) {
    return [=](A in) {
      const auto g = [&](int power, const State& s) {
        Array y = s.x * in[3];
        for (int i = 0; i < power; ++i) y = sin(y) * s.others[0];
        return State{y, {s.others[1] + power, y * convert(s.others[1], f64)}};
      };
      const State out = wrap(g)(3, State{in[0], {in[1], in[2]}});
      return Arrays{out.x, out.others[0], out.others[1]};
    };
  };
  expect_same("trees", f([](auto g) { return checkpoint(g); }), f([](auto g) { return g; }),
              {random_values({2}, 1), random_values({2}, 2), scalar(3, i32), random_values({}, 3)});
}

TEST(Checkpoint, ComposesWithVmapAndJitInEveryOrder) {
  const Array xs = random_values({3, 2}, 1), w = random_values({2, 2}, 2);
  const auto loss = [](auto f) { return [=](const Array& x, const Array& v) { return sum(f(x, v)); }; };
  const auto of_batch = [&](auto f) { return [=](const Array& v) { return sum(vmap(f, {.in = {0, none}})(xs, v) * xs); }; };
  const Array want = grad(of_batch(layers))(w), each = vmap(grad<1>(loss(layers)), {.in = {0, none}})(xs, w);
  for (const auto& [name, policy] : policies()) {
    SCOPED_TRACE(name);
    const auto f = checkpoint(layers, policy);
    EXPECT_LT(difference(grad(of_batch(f))(w), want), 1e-14);
    EXPECT_LT(difference(jit(grad(of_batch(f)))(w), want), 1e-13);
    EXPECT_LT(difference(grad(of_batch(checkpoint(jit(layers), policy)))(w), want), 1e-13);
    EXPECT_LT(difference(grad(of_batch(jit(f)))(w), want), 1e-13);
    EXPECT_LT(difference(vmap(grad<1>(loss(f)), {.in = {0, none}})(xs, w), each), 1e-14);
    EXPECT_LT(difference(vmap(grad<1>(loss(f)), {.in = {1, none}})(transpose(xs), w), each), 1e-14);
  }
}

// ---- what is kept

template <class F, class... X> std::vector<Shape> kept_shapes(const F& f, const X&... x) {
  std::vector<Shape> out;
  const auto made = linearize(f, x...);
  for (const Array& r : made.linear.residuals()) out.push_back(r.shape());
  return out;
}

TEST(Residuals, OfACheckpointAreItsArgumentsAndWhatThePolicySaves) {
  const auto deep = [](const Array& x) {
    Array y = x;
    for (int i = 0; i < 6; ++i) y = tanh(dot(y, y)) * sin(y);
    return y;
  };
  const Array x = random_values({2, 2}, 1);
  EXPECT_GE(kept_shapes(deep, x).size(), 12u);
  EXPECT_EQ(kept_shapes(checkpoint(deep), x).size(), 1u);
  EXPECT_EQ(kept_shapes(checkpoint(deep, save_names({"h"})), x).size(), 1u);
  const std::size_t everything = kept_shapes(checkpoint(deep, save_everything), x).size();
  EXPECT_GE(everything, 12u);
  EXPECT_LE(everything, kept_shapes(deep, x).size() + 1);
  const std::size_t dots = kept_shapes(checkpoint(deep, save_dots), x).size();
  EXPECT_GE(dots, 6u);
  EXPECT_LE(dots, 7u);
}

TEST(Residuals, NamedValuesAreKeptAlsoThroughJit) {
  const auto inner = [](const Array& y) { return checkpoint_name(sin(reshape(y, {6})), "h"); };
  const auto f = [&](const Array& x) { return exp(tanh(jit(inner)(tanh(x) * x))); };
  const Array x = random_values({2, 3}, 1);
  EXPECT_EQ(kept_shapes(checkpoint(f), x), (std::vector<Shape>{{2, 3}}));
  EXPECT_EQ(kept_shapes(checkpoint(f, save_names({"k"})), x), (std::vector<Shape>{{2, 3}}));
  const std::vector<Shape> kept = kept_shapes(checkpoint(f, save_names({"k", "h"})), x);
  EXPECT_EQ(std::count(kept.begin(), kept.end(), Shape{6}), 1);
  EXPECT_EQ(std::count(kept.begin(), kept.end(), Shape({2, 3})), 1);
}

struct Momentum {
  Array v, x;
};
TEST(Residuals, ACheckpointedStepStacksItsArgumentsAlone) {
  const auto loss = [](bool checkpointed) {
    return [=](const Array& w, const Array& x0) {
      const auto step = [](const Momentum& s, const Array& weights) {
        const Array v = 0.9 * s.v + tanh(dot(weights, sin(s.x)));
        return Momentum{v, s.x + 0.1 * v};
      };
      const Momentum last = fori_loop(0, 5, Momentum{zeros({3}, f64), x0},
                                      [&](const Array&, const Momentum& s) { return checkpointed ? checkpoint(step)(s, w) : step(s, w); });
      return sum(last.x);
    };
  };
  const Array w = random_values({3, 3}, 1), x = random_values({3}, 2);
  const auto stacked_shapes = [&](bool checkpointed) {
    const Program p = make_program(grad<0, 1>(loss(checkpointed)), w, x);
    std::vector<Shape> out;
    for (const Equation& e : p.equations)
      if (e.prim == &prim::scan && !e.as<ScanAttr>().reverse)
        for (std::size_t k = static_cast<std::size_t>(e.as<ScanAttr>().carries); k < e.results.size(); ++k)
          out.push_back(p.type(Atom::variable(e.results[k])).shape);
    return out;
  };
  EXPECT_EQ(stacked_shapes(true), (std::vector<Shape>{{5, 3}}));
  EXPECT_GT(stacked_shapes(false).size(), 1u);
  const auto got = grad<0, 1>(loss(true))(w, x), want = grad<0, 1>(loss(false))(w, x);
  EXPECT_LT(difference(std::get<0>(got), std::get<0>(want)), 1e-14);
  EXPECT_LT(difference(std::get<1>(got), std::get<1>(want)), 1e-14);
}

/// 16 blocks of 8 layers.
auto blocks(bool checkpointed, const CheckpointPolicy& policy = save_nothing) {
  return [=](const Array& x, const Array& w) {
    const auto block = [](const Array& y, const Array& v) {
      Array z = y;
      for (int i = 0; i < 8; ++i) z = sin(dot(z, v));
      return z;
    };
    Array y = x;
    for (int b = 0; b < 16; ++b) y = checkpointed ? checkpoint(block, policy)(y, w) : block(y, w);
    return sum(y);
  };
}
TEST(CheckpointMemory, OfADeepChainIsThatOfItsBlocksAndOneOfThem) {
  const Array x = abstract(f64, {32, 32});
  constexpr std::int64_t bytes = 8 * 32 * 32;
  const auto in_x = [&](auto f) { return jit(grad(f)).lower(x, x).compile().memory_analysis().temp_size_in_bytes; };
  EXPECT_GE(in_x(blocks(false)), 127 * bytes);
  EXPECT_LE(in_x(blocks(true)), (16 + 8) * bytes);
  EXPECT_LE(in_x(blocks(true, save_names({"h"}))), (16 + 8) * bytes);
  EXPECT_GE(in_x(blocks(true, save_dots)), 120 * bytes);
  const auto compiled = [&](auto f) { return jit(grad<0, 1>(f)).lower(x, x).compile(); };
  const auto plain = compiled(blocks(false)), kept = compiled(blocks(true)), dots = compiled(blocks(true, save_dots));
  EXPECT_GE(plain.memory_analysis().temp_size_in_bytes, 2 * 127 * bytes);
  EXPECT_LE(kept.memory_analysis().temp_size_in_bytes, 127 * bytes);
  // One more forward pass, that no common subexpression takes away: 128 layers of a product and a sine.
  const double products = 128 * 2.0 * 32 * 32 * 32;
  EXPECT_NEAR(plain.cost_analysis().flops, 3 * products, 0.1 * products);
  EXPECT_NEAR(kept.cost_analysis().flops, 4 * products, 0.15 * products);
  EXPECT_NEAR(dots.cost_analysis().flops, 3 * products, 0.1 * products);
  // The value of the last layer, or of the last block, is not asked for; nor is that of the last layer of a block the second time.
  EXPECT_EQ(plain.cost_analysis().transcendentals, (127 + 128) * 32 * 32);
  EXPECT_EQ(kept.cost_analysis().transcendentals, (120 + 16 * 7 + 128) * 32 * 32);
}

TEST(CheckpointMemory, OutsideOfDerivativesItIsFree) {
  const auto f = [](const Array& x) { return 2 * sin(x); };
  const Array x = abstract(f64, {100});
  const auto plain = jit(f).lower(x).compile(), kept = jit(checkpoint(f)).lower(x).compile();
  EXPECT_EQ(kept.cost_analysis().flops, plain.cost_analysis().flops);
  EXPECT_EQ(kept.memory_analysis().temp_size_in_bytes, plain.memory_analysis().temp_size_in_bytes);
}

TEST(CheckpointName, IsTheValueItself) {
  expect_same("name", [](A x) { return Arrays{sin(checkpoint_name(x[0] * x[1], "a"))}; }, [](A x) { return Arrays{sin(x[0] * x[1])}; },
              {random_values({3}, 1), random_values({3}, 2)});
  const Array n = array({1, 2}, i32);
  EXPECT_EQ(numbers(checkpoint_name(n, "n")), numbers(n));
}

}  // namespace
}  // namespace anadrome::testing
