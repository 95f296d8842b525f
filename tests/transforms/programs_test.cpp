// Transforms as programs: what they record, memoisation, size, depth.
#include <chrono>

#include "core/eval.h"
#include "primitives/op.h"
#include "transforms/backward.h"
#include "transforms/jvp.h"
#include "transforms/linearize.h"
#include "transforms/memo.h"
#include "transforms/vmap.h"

namespace anadrome {
namespace {

ProgramPtr parse(const std::string& text) { return intern(parse_program(text)); }

TEST(Jvp, APrimalZeroOfAnInnerTransformIsOrdinary) {
  // zero_tangent met by a later walk is plain zeros.
  const auto p = parse("{ lambda ; a:f32[3] . let b:f32[3] = zero_tangent[dtype=f32, shape=(3)] "
                       "c:f32[3] = mul a b in (c) }");
  const auto lin = linearize_program(p, {1});
  EXPECT_EQ(lin->primal->count("zero_tangent"), 0);
  EXPECT_EQ(lin->tangent->count("zero_tangent"), 0);
}

TEST(Backward, WhatNobodyWantsIsNotComputed) {
  const auto p = parse("{ lambda ; a:f32[4,5] b:f32[5,6] . let c:f32[4,6] = dot_general[contract_lhs=(1), "
                       "contract_rhs=(0), batch_lhs=(), batch_rhs=()] a b in (c) }");
  const auto lin = linearize_program(p, {1, 1});
  Mask linear(lin->residuals.size(), 0), wanted = linear;
  linear.insert(linear.end(), {1, 1});
  wanted.insert(wanted.end(), {0, 1});
  const auto back = backward_program(closed(lin->tangent), linear, wanted, {1});
  EXPECT_EQ(back->program->count("dot_general"), 1);
}

TEST(Backward, SliceContributionsGoIntoOneArray) {
  std::string text = "{ lambda ; a:f32[100] . let ";
  std::string names;
  for (int i = 0; i < 5; ++i)
    text += "x" + std::to_string(i) + ":f32[10] = slice[start=(" + std::to_string(10 * i) + "), limit=(" +
            std::to_string(10 * i + 10) + "), strides=(1)] a ";
  text += "in (x0, x1, x2, x3, x4) }";
  const auto back = backward_program(parse(text), {1}, {1}, {1, 1, 1, 1, 1});
  EXPECT_EQ(back->program->count("add_slice"), 5);
  EXPECT_EQ(back->program->count("pad"), 0);
  EXPECT_EQ(back->program->count("add"), 0);
}

TEST(Backward, KnownEquationsComeLate) {
  // Recomputed values are emitted next to their use, not all at the start.
  const auto tangent = parse(
      "{ lambda a:f32[8] ; t:f32[8] . let b:f32[8] = mul@1 a a c:f32[8] = mul t b d:f32[8] = mul@2 a 3.0:f32 "
      "e:f32[8] = mul c d in (e) }");
  const auto back = backward_program(closed(tangent), {0, 1}, {0, 1}, {1});
  std::vector<std::string> text;
  for (const Equation& e : back->program->equations) text.push_back(std::string(e.prim->name) + std::to_string(e.region));
  EXPECT_EQ(text, (std::vector<std::string>{"mul1", "mul0", "mul2", "mul0"})) << to_string(*back->program);
}

TEST(Vmap, WhatIsNotBatchedStaysSo) {
  const auto p = parse("{ lambda ; a:f32[3] b:f32[3] . let c:f32[3] = sin a d:f32[3] = mul c b in (d, c) }");
  const auto v = vmap_program(p, {unbatched, 0}, 7);
  EXPECT_EQ(v->out_axis[1], unbatched);
  EXPECT_EQ(v->program->type(v->program->outputs[1]).rank(), 1);
}

TEST(Vmap, ADotStaysOneDot) {
  const auto p = parse("{ lambda ; a:f32[3] b:f32[3,4] . let c:f32[4] = dot_general[contract_lhs=(0), "
                       "contract_rhs=(0), batch_lhs=(), batch_rhs=()] a b in (c) }");
  for (const std::vector<int>& axes : {std::vector<int>{0, unbatched}, {unbatched, 0}, {0, 0}, {1, 2}}) {
    const auto v = vmap_program(p, axes, 5);
    EXPECT_EQ(v->program->count("dot_general"), 1);
    EXPECT_EQ(v->program->count("reduce_sum") + v->program->count("mul"), 0);
  }
}

TEST(Memo, TheSameStructureIsTransformedOnce) {
  const char* text = "{ lambda ; a:f32[3] . let b:f32[3] = sin a in (b) }";
  EXPECT_EQ(linearize_program(parse(text), {1}), linearize_program(parse(text), {1}));
  EXPECT_EQ(jvp_program(parse(text), {1}), jvp_program(parse(text), {1}));
  EXPECT_EQ(vmap_program(parse(text), {0}, 4), vmap_program(parse(text), {0}, 4));
  EXPECT_NE(vmap_program(parse(text), {0}, 4), vmap_program(parse(text), {0}, 5));
}

/// depth levels of calls, each calling the one below twice: 2^depth equations when replaced by their bodies.
ProgramPtr nested_calls(int depth, const std::string& innermost) {
  ProgramPtr inner = parse("{ lambda ; a:f32[] . let b:f32[] = " + innermost + " in (b) }");
  const std::vector<Type> types{Type{f32, {}, false}};
  for (int i = 0; i < depth; ++i)
    inner = build_program("level", types, nullptr, [&](const Arrays& x) {
      const Arrays once = op::call({"level", {inner, nullptr}}, x);
      return op::call({"level", {inner, nullptr}}, once);
    });
  return inner;
}

TEST(Calls, AHundredLevelsOfTwoCallsCostLinearTime) {
  // A linear body: a nonlinear one would have 2^100 residuals.
  const ProgramPtr deep = nested_calls(100, "mul a 0.5:f32");
  const auto lin = linearize_program(deep, {1});
  EXPECT_LE(lin->primal->equations.size(), 4u);
  Mask linear(lin->residuals.size(), 0);
  linear.push_back(1);
  EXPECT_LE(backward_program(closed(lin->tangent), linear, linear, {1})->program->equations.size(), 8u);
  EXPECT_LE(jvp_program(deep, {1})->program->equations.size(), 4u);
  EXPECT_LE(vmap_program(deep, {0}, 3)->program->equations.size(), 4u);
}

TEST(Calls, DerivativesThroughCallsAreThoseOfTheBody) {
  const ProgramPtr p = nested_calls(3, "sin a");  // sin applied 8 times
  const auto joint = jvp_program(p, {1});
  Array x = literal(Literal::of(0.7, f32)), one = literal(Literal::of(1, f32));
  const Arrays r = evaluate(*joint->program, {}, Arrays{x, one});
  double y = 0.7, t = 1;
  for (int i = 0; i < 8; ++i) t *= std::cos(y), y = std::sin(y);
  EXPECT_NEAR(r[0].item<double>(), y, 1e-6);
  EXPECT_NEAR(r[1].item<double>(), t, 1e-6);
}

TEST(LongPrograms, TenThousandEquationsTransformWithoutRecursion) {
  const std::vector<Type> types{Type{f64, {}, false}};
  const auto p = build_program("chain", types, nullptr, [](const Arrays& x) {
    Array y = x[0];
    for (int i = 0; i < 5000; ++i) y = op::add(op::sin(y), x[0]);
    return Arrays{y};
  });
  EXPECT_EQ(p->equations.size(), 10000u);
  const auto lin = linearize_program(p, {1});
  Mask linear(lin->residuals.size(), 0);
  linear.push_back(1);
  const auto back = backward_program(closed(lin->tangent), linear, linear, {1});
  EXPECT_GE(back->program->equations.size(), 5000u);
  EXPECT_EQ(vmap_program(p, {0}, 2)->program->equations.size(), 10000u);
}

}  // namespace
}  // namespace anadrome
