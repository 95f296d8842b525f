// Every pass on a small program: before and after, as texts.
#include "optimize/passes.h"

#include <gtest/gtest.h>

namespace anadrome {
namespace {

using Pass = Program (*)(const Program&);
const Pass inlined = [](const Program& p) { return inline_calls(p); };

/// Applies the pass and compares with the text of what is expected, up to names.
void expect_pass(Pass pass, const std::string& before, const std::string& after) {
  const Program out = pass(parse_program(before));
  verify(out);
  const Program want = parse_program(after);
  EXPECT_EQ(to_string(out), to_string(want));
  EXPECT_TRUE(same_structure(out, want));
}
/// The body with one f32[4] input `a` and one i32[4] input `i`.
std::string body(const std::string& equations, const std::string& outputs) {
  return "{ lambda ; a:f32[4] i:i32[4] . let " + equations + " in (" + outputs + ") }";
}
void expect_simple(const std::string& equations, const std::string& after_equations, const std::string& output) {
  expect_pass([](const Program& p) { return dead_code(simplify(p)); }, body(equations, "y"),
              body(after_equations, output));
}

TEST(Inline, PutsBodiesInPlace) {
  expect_pass(inlined,
              R"({ lambda ; a:f32[] . let
                b:f32[] = sin a
                c:f32[] d:f32[] = call[name="f", body={ lambda ; x:f32[] . let
                    y:f32[] = call[name="g", body={ lambda ; x:f32[] . let y:f32[] = cos x in (y) }] x
                  in (y, x) }] b
              in (c, d) })",
              "{ lambda ; a:f32[] . let b:f32[] = sin a c:f32[] = cos b in (c, b) }");
}

TEST(Inline, GivesFreshRegionsToEachCall) {
  const std::string call = R"(call[name="f", body={ lambda ; x:f32[] . let y:f32[] = cos@1 x z:f32[] = sin y in (z) }])";
  expect_pass(inlined,
              "{ lambda ; a:f32[] . let b:f32[] = " + call + " a c:f32[] = " + call + " a d:f32[] = call@5" +
                  call.substr(4) + " a in (b, c, d) }",
              R"({ lambda ; a:f32[] . let
                b:f32[] = cos@1 a c:f32[] = sin b
                d:f32[] = cos@2 a e:f32[] = sin d
                f:f32[] = cos@3 a g:f32[] = sin@4 f
              in (c, e, g) })");
}

TEST(Inline, HundredLevelsAreLinear) {
  std::string text = "{ lambda ; x:f32[] . let y:f32[] = sin x in (y) }";
  for (int i = 0; i < 100; ++i)
    text = R"({ lambda ; x:f32[] . let y:f32[] = call[name="f", body=)" + text + "] x z:f32[] = cos y in (z) }";
  const Program out = inline_calls(parse_program(text));
  EXPECT_EQ(out.equations.size(), 101u);
  verify(out);
}

TEST(DeadCode, DropsWhatNobodyReads) {
  expect_pass(dead_code, body("b:f32[4] = sin a c:f32[4] = cos b d:f32[4] = exp a", "d"), body("d:f32[4] = exp a", "d"));
}

TEST(CommonSubexpressions, MergesEqualEquations) {
  const char* before = "b:f32[4] = sin a c:f32[4] = sin a d:f32[4] = mul b c e:f32[4] = mul c b f:f32[4] = add d e";
  const char* after = "b:f32[4] = sin a d:f32[4] = mul b b f:f32[4] = add d d";
  expect_pass(common_subexpressions, body(before, "f"), body(after, "f"));
  expect_pass(common_subexpressions, body(after, "f"), body(after, "f"));
}

TEST(CommonSubexpressions, KeepsRegionsApart) {
  const char* text = "b:f32[4] = sin a c:f32[4] = sin@1 a d:f32[4] = sin@2 a e:f32[4] = add b c f:f32[4] = add e d";
  expect_pass(common_subexpressions, body(text, "f"), body(text, "f"));
  expect_pass(common_subexpressions, body("b:f32[4] = sin@1 a c:f32[4] = sin@1 a d:f32[4] = add@1 b c", "d"),
              body("b:f32[4] = sin@1 a d:f32[4] = add@1 b b", "d"));
}

TEST(CommonSubexpressions, TellsAttributesAndLiteralsApart) {
  const char* text =
      "b:f32[4] = mul a 0.0:f32 c:f32[4] = mul a -0.0:f32 d:f32[4] = integer_pow[exponent=2] a "
      "e:f32[4] = integer_pow[exponent=3] a";
  expect_pass(common_subexpressions, body(text, "b, c, d, e"), body(text, "b, c, d, e"));
}

TEST(Fold, EvaluatesNumbers) {
  expect_pass(fold, body("b:f32[] = add 1.5:f32 2.0:f32 c:f32[] = mul b 2.0:f32 d:f32[4] = mul a c", "d"),
              body("d:f32[4] = mul a 7.0:f32", "d"));
  expect_pass([](const Program& p) { return dead_code(fold(p)); },
              body("b:i32[5] = iota[dtype=i32, shape=(5), axis=0] c:i32[] = reduce_sum[axes=(0)] b d:i32[4] = add i c",
                   "d"),
              body("d:i32[4] = add i 10:i32", "d"));
}

TEST(Fold, KeepsLargerConstants) {
  const char* text = "b:i32[4] = iota[dtype=i32, shape=(4), axis=0] c:i32[4] = add i b";
  expect_pass(fold, body(text, "c"), body(text, "c"));
}

TEST(Simplify, ExactIdentities) {
  expect_simple("y:f32[4] = mul a 1.0:f32", "", "a");
  expect_simple("b:f32[4] = broadcast_in_dim[shape=(4), dims=()] 1.0:f32 y:f32[4] = mul b a", "", "a");
  expect_simple("y:f32[4] = div a 1.0:f32", "", "a");
  expect_simple("y:f32[4] = sub a 0.0:f32", "", "a");
  expect_simple("y:f32[4] = add a -0.0:f32", "", "a");
  expect_simple("y:i32[4] = add i 0:i32", "", "i");
  expect_simple("b:f32[4] = neg a y:f32[4] = neg b", "", "a");
  expect_simple("y:f32[4] = integer_pow[exponent=1] a", "", "a");
  expect_simple("y:f32[4] = convert[dtype=f32, shape=()] a", "", "a");
  expect_simple("y:f32[4] = select_n true:b1 0.0:f32 a", "", "a");
  expect_simple("y:f32[4] = stop_gradient a", "", "a");
  expect_simple("b:f32[4] = neg a y:f32[4] = add a b", "y:f32[4] = sub a a", "y");
  expect_simple("y:i32[4] = mul i 0:i32", "y:i32[4] = broadcast_in_dim[shape=(4), dims=()] 0:i32", "y");
}

TEST(Simplify, LeavesWhatIsNotExact) {
  for (const char* text : {"y:f32[4] = mul a 0.0:f32", "y:f32[4] = add a 0.0:f32", "y:f32[4] = sub a -0.0:f32",
                           "y:f32[4] = sub 0.0:f32 a", "y:f32[4] = mul a -1.0:f32"})
    expect_simple(text, text, "y");
}

TEST(Simplify, Movement) {
  expect_simple("b:f32[2,2] = reshape[shape=(2,2)] a c:f32[1,4] = reshape[shape=(1,4)] b y:f32[4] = reshape[shape=(4)] c",
                "", "a");
  expect_simple("b:f32[1,4] = broadcast_in_dim[shape=(1,4), dims=(1)] a c:f32[4] = reshape[shape=(4)] b y:f32[4] = sin c",
                "y:f32[4] = sin a", "y");
  expect_simple("y:f32[4] = slice[start=(0), limit=(4), strides=(1)] a", "", "a");
  expect_simple("y:f32[4] = pad[low=(0), high=(0), interior=(0)] a 1.0:f32", "", "a");
  expect_simple("y:f32[4] = concatenate[axis=0] a", "", "a");
  expect_simple("y:f32[4] = reduce_sum[axes=()] a", "", "a");
  expect_simple("y:f32[2] = dynamic_slice[sizes=(2)] a 7:i32", "y:f32[2] = slice[start=(2), limit=(4), strides=(1)] a",
                "y");
  expect_pass([](const Program& p) { return dead_code(simplify(p)); },
              "{ lambda ; a:f32[2,3,4] . let b:f32[4,2,3] = transpose[perm=(2,0,1)] a "
              "c:f32[2,3,4] = transpose[perm=(1,2,0)] b in (c) }",
              "{ lambda ; a:f32[2,3,4] . let in (a) }");
}

TEST(Simplify, WindowsOfReplacedWindows) {
  const std::string part = "u:f32[2] = slice[start=(2), limit=(4), strides=(1)] a ",
                    update = "b:f32[4] = dynamic_update_slice a u 1:i32 ";
  const auto window = [](const char* of, int start) {
    return "y:f32[2] = slice[start=(" + std::to_string(start) + "), limit=(" + std::to_string(start + 2) + "), strides=(1)] " + of;
  };
  expect_simple(part + update + window("b", 1), part, "u");
  expect_simple(part + update + window("b", 0), part + update + window("b", 0), "y");  // a part of it
  // Beside the window the array before is read; starts are clamped.
  const std::string last = "b:f32[4] = dynamic_update_slice a u 9:i32 ";
  expect_simple(part + last + window("b", 2), part, "u");
  expect_simple(part + last + window("b", 0), window("a", 0), "y");
  expect_simple(part + last + "c:f32[4] = dynamic_update_slice b u 0:i32 " + window("c", 2), part, "u");
  const std::string moved = "k:i32[] = reduce_sum[axes=(0)] i b:f32[4] = dynamic_update_slice a u k ";
  expect_simple(part + moved + window("b", 1), part + moved + window("b", 1), "y");
}

TEST(Simplify, ScalarsInPlaceOfArrays) {
  expect_pass([](const Program& p) { return dead_code(simplify(p)); },
              R"({ lambda ; a:f32[4] s:f32[] . let
                b:f32[4] = broadcast_in_dim[shape=(4), dims=()] s
                c:f32[4] = broadcast_in_dim[shape=(4), dims=()] 2.0:f32
                d:f32[4] = mul b c
                e:f32[4] = add a d
              in (e) })",
              R"({ lambda ; a:f32[4] s:f32[] . let d:f32[] = mul s 2.0:f32 e:f32[4] = add a d in (e) })");
}

TEST(Optimize, ReachesAFixedPoint) {
  const Program p = optimize(parse_program(body(
      "b:f32[] = add 1.0:f32 1.0:f32 c:f32[4] = broadcast_in_dim[shape=(4), dims=()] b d:f32[4] = mul a c "
      "e:f32[4] = div d 2.0:f32 f:f32[4] = div d b g:f32[4] = sub e f",
      "g")));
  EXPECT_TRUE(same_structure(p, parse_program(body("d:f32[4] = mul a 2.0:f32 e:f32[4] = div d 2.0:f32 "
                                                   "g:f32[4] = sub e e", "g"))))
      << p;
  EXPECT_TRUE(same_structure(p, optimize(p)));
}

}  // namespace
}  // namespace anadrome
