// Errors of the transforms: the leaf by its path, the types that clash, the line.
#include "anadrome/anadrome.h"
#include "support/messages.h"

namespace anadrome {
namespace {

using testing::expect_contains;
using testing::expect_error;
using testing::message;
using testing::this_file;

const std::string here = this_file();

struct Layer {
  Array w, b;
};
struct Net {
  std::vector<Layer> layers;
  Array steps;
};
/// Two layers; `steps` is an integer where asked for.
Net net(bool integer_steps, bool empty_bias = false) {
  const auto layer = [](bool empty) { return Layer{ones({3}), empty ? Array() : zeros({3})}; };
  return {{layer(false), layer(empty_bias)}, integer_steps ? scalar(1, i32) : scalar(1.0)};
}
Array loss(const Net& n, const Array& x) {
  Array y = x;
  for (const Layer& l : n.layers) y = tanh(y * l.w + l.b);
  return sum(y) * n.steps;
}
const auto loss_of = [](const Net& n, const Array& x) { return loss(n, x); };

TEST(GradErrors, AnIntegerLeafIsNamedByItsPath) {
  const Array x = ones({3});
  expect_error<TypeError>([&] { return grad(loss_of)(net(true), x); },
                          {"grad", "argument 0: steps is i32[]", "float", "grad<I...>", here},
                          [&] { return grad(loss_of)(net(false), x); });
  expect_error<TypeError>([&] { return grad<1>(loss_of)(net(true), x > 0); }, {"argument 1 is b1[3]", here},
                          [&] { return grad<1>(loss_of)(net(true), x); });
  expect_error<TypeError>([&] { return jacrev(loss_of)(net(true), x); },
                          {"jacrev", "argument 0: steps is i32[]", here},
                          [&] { return jacrev<1>(loss_of)(net(true), x); });
}

TEST(GradErrors, AnEmptyLeafIsNamedByItsPath) {
  const Array x = ones({3});
  expect_error<TypeError>([&] { return grad(loss_of)(net(false, true), x); },
                          {"grad", "argument 0: layers[1].b", "empty Array", "zeros", here},
                          [&] { return grad(loss_of)(net(false), x); });
  expect_error<TypeError>([&] { return jit(loss_of)(net(false, true), x); },
                          {"jit", "argument 0: layers[1].b", "empty Array", here},
                          [&] { return jit(loss_of)(net(false), x); });
  expect_error<TypeError>([&] { return make_program(loss_of, net(false), Array()); },
                          {"make_program", "argument 1", "empty Array"},
                          [&] { return make_program(loss_of, net(false), x); });
  expect_error<TypeError>(
      [&] {
        return vmap(loss_of, {.in = {none, 0}})(net(false, true), ones({2, 3}));
      },
      {"vmap", "argument 0: layers[1].b", here},
      [&] {
        return vmap(loss_of, {.in = {none, 0}})(net(false), ones({2, 3}));
      });
}

TEST(GradErrors, TheValueMustBeOneFloat) {
  const Array x = ones({3});
  expect_error<TypeError>([&] { return grad([](const Array& v) { return v * v; })(x); },
                          {"grad", "f32[3]", "sum", "jacrev", here},
                          [&] { return grad([](const Array& v) { return sum(v * v); })(x); });
  expect_error<TypeError>([&] { return grad([](const Array& v) { return any(v > 0); })(x); },
                          {"grad", "b1[]", "float", here},
                          [&] { return grad([](const Array& v) { return sum(v); })(x); });
  expect_error<TypeError>([&] { return jacfwd([](const Array& v) { return v > 0; })(x); },
                          {"jacfwd", "b1[3]", "float", here},
                          [&] { return jacfwd([](const Array& v) { return v; })(x); });
}

TEST(JvpErrors, ATangentOfAnotherTypeIsNamedByItsPathWithBothTypes) {
  const Array x = ones({3});
  Net direction = net(false);
  direction.layers[1].w = ones({4});
  expect_error<TypeError>(
      [&] { return jvp(loss_of, at(net(false), x), along(direction, x)); },
      {"jvp", "argument 0: layers[1].w is f32[3]", "tangent is f32[4]", "shape and dtype"},
      [&] { return jvp(loss_of, at(net(false), x), along(net(false), x)); });
  expect_error<TypeError>([&] { return jvp(loss_of, at(net(false), x), along(net(false), ones({3}, f64))); },
                          {"argument 1 is f32[3]", "tangent is f64[3]"},
                          [&] { return jvp(loss_of, at(net(false), x), along(no_gradient, x)); });
  Net integer = net(true);
  expect_error<TypeError>([&] { return jvp(loss_of, at(integer, x), along(integer, x)); },
                          {"argument 0: steps is i32[]", "no_gradient"},
                          [&] {
                            Net d = integer;
                            d.steps = Array::no_gradient({});
                            return jvp(loss_of, at(integer, x), along(d, x));
                          });
  Net short_one = net(false);
  short_one.layers.pop_back();
  expect_error<TypeError>([&] { return jvp(loss_of, at(net(false), x), along(short_one, x)); },
                          {"6 arguments", "4 tangents"}, [&] { return 0; });
}

TEST(VjpErrors, ACotangentOfAnotherTypeIsNamedWithBothTypes) {
  const auto f = [](const Array& x) { return std::pair(x * x, convert(x, i32)); };
  const auto r = vjp(f, ones({3}));
  const Array no_tangent = Array::no_gradient({3});
  expect_error<TypeError>(
      [&] {
        return r.pullback({ones({2}), no_tangent});
      },
      {"vjp", "output 0 is f32[3]", "cotangent is f32[2]", "shape and dtype"},
      [&] {
        return r.pullback({ones({3}), no_tangent});
      });
  expect_error<TypeError>(
      [&] {
        return r.pullback({ones({3}), ones({3}, i32)});
      },
      {"output 1 is i32[3]", "cotangent is i32[3]", "no_gradient"},
      [&] {
        return r.pullback({ones({3}), no_tangent});
      });
  const auto list = [](const Array& x) { return std::vector<Array>{x, x}; };
  const auto several = vjp(list, ones({3}));
  expect_error<TypeError>([&] { return several.pullback({ones({3})}); }, {"2 cotangents", "given 1"},
                          [&] {
                            return several.pullback({ones({3}), ones({3})});
                          });
}

TEST(LinearErrors, LinearMapsCheckWhatTheyAreGiven) {
  const auto f = [](const Array& x) { return 3 * x; };
  const auto r = linearize(f, ones({3}));
  expect_error<TypeError>([&] { return r.linear(ones({2})); },
                          {"linearize", "argument 0 is f32[3]", "f32[2]"},
                          [&] { return r.linear(ones({3})); });
  const auto transposed = linear_transpose(f, ones({3}));
  expect_error<TypeError>([&] { return transposed(ones({2})); },
                          {"linear_transpose", "output 0 is f32[3]", "f32[2]"},
                          [&] { return transposed(ones({3})); });
  expect_error<TypeError>(
      [&] { return linear_transpose([](const Array& x) { return sin(x); }, ones({3}))(ones({3})); },
      {"linear_transpose", "not linear", "sin", here}, [&] { return transposed(ones({3})); });
  expect_error<TypeError>([&] { return linear_transpose(f, ones({3}, i32)); },
                          {"argument 0 is i32[3]", "float"},
                          [&] { return linear_transpose(f, ones({3}, f64)); });
}

TEST(VmapErrors, SizesAxesAndNone) {
  const auto f = [](const Array& a, const Array& b) { return a + b; };
  const Array two = ones({2}), three = ones({3});
  expect_error<TypeError>(
      [&] { return vmap(f)(two, three); },
      {"vmap", "argument 0 has 2 along axis 0", "argument 1 has 3 along axis 0", "none", here},
      [&] { return vmap(f)(two, two); });
  expect_error<TypeError>(
      [&] {
        return vmap(f, {.in = {0, none}, .size = 3})(two, three);
      },
      {"size asked for is 3", "argument 0 has 2", here},
      [&] {
        return vmap(f, {.in = {0, none}, .size = 2})(two, three);
      });
  expect_error<TypeError>(
      [&] {
        return vmap(f, {.in = {1, 0}})(two, two);
      },
      {"batch axis 1", "argument 0", "f32[2]", "[-1, 1)", here},
      [&] {
        return vmap(f, {.in = {-1, 0}})(two, two);
      });
  expect_error<TypeError>([&] { return vmap(f, {.in = none})(two, two); },
                          {"every batch axis is none", ".size", here},
                          [&] { return vmap(f, {.in = none, .size = 4})(two, two); });
  expect_error<TypeError>(
      [&] {
        return vmap(f, {.in = {0, 0, 0}})(two, two);
      },
      {"3 batch axes for 2 arguments", here},
      [&] {
        return vmap(f, {.in = {0, 0}})(two, two);
      });
  expect_error<TypeError>([&] { return vmap(f, {.in = 0, .out = 3})(two, two); },
                          {"output axis 3", "output 0", here},
                          [&] { return vmap(f, {.in = 0, .out = -1})(two, two); });
  expect_error<TypeError>(
      [&] { return vmap(f, {.in = 0, .out = none})(two, two); }, {"output 0", "batched", "none", here},
      [&] { return vmap([](const Array&) { return scalar(1.0); }, {.in = 0, .out = none})(two); });
}

TEST(VmapErrors, LeafAxes) {
  const auto f = [](const std::vector<Array>& a) { return a[0] + a[1]; };
  const std::vector<Array> a{ones({2}), ones({2})};
  expect_error<TypeError>(
      [&] {
        return vmap(f, {.in = {leaf_axes({0, 0, 0})}})(a);
      },
      {"leaf_axes has 3", "argument 0, which has 2", here},
      [&] {
        return vmap(f, {.in = {leaf_axes({0, none})}})(a);
      });
}

TEST(JitErrors, CompiledFunctionsAndOptions) {
  const auto f = [](const Array& x) { return x + 1; };
  const auto compiled = jit(f).lower(abstract(f32, {3})).compile();
  expect_error<TypeError>([&] { return compiled(ones({4})); },
                          {"argument 0", "compiled as f32[3]", "f32[4]", "Lower"},
                          [&] { return compiled(ones({3})); });
  expect_error<CompileError>([&] { return jit(f, {.compile = {.backend = "abacus"}})(ones({3})); },
                             {"abacus", "native, precompiled, eval"},
                             [&] { return jit(f, {.compile = {.backend = "eval"}})(ones({3})); });
  expect_error<TypeError>([&] { return jit(f, {.donate = {2}})(ones({3})); },
                          {"argument 2", "1 arguments", here},
                          [&] { return jit(f, {.donate = {0}})(ones({3})); });
  expect_error<TraceError>([&] { return jit([&](const Array& x) { return compiled(x); })(ones({3})); },
                           {"f32[3]", "jitted function"}, [&] { return jit(jit(f))(ones({3})); });
  expect_error<TypeError>([&] { return jit(f)(abstract(f32, {3})); }, {"jit: argument 0", "abstract", "f32[3]", "lower"},
                          [&] { return jit(f).lower(abstract(f32, {3})); });
}

TEST(TreeErrors, MapLeavesOfTreesThatDiffer) {
  const std::vector<Array> two{ones({2}), ones({2})}, one{ones({2})};
  const auto add = [](const Array& a, const Array& b) { return a + b; };
  expect_error<TypeError>([&] { return map_leaves(two, one, add); }, {"map_leaves", "2 and 1"},
                          [&] { return map_leaves(two, two, add); });
}

}  // namespace
}  // namespace anadrome
