// The inverse of a program, as text; how it grows errors; what it cannot do.
#include "transforms/invert.h"

#include <gtest/gtest.h>

#include "anadrome/error.h"
#include "support/messages.h"

namespace anadrome {
namespace {

using testing::expect_contains;
using testing::message;

SubProgram parse(const std::string& text) { return {intern(parse_program(text)), nullptr}; }
std::shared_ptr<const InverseProgram> inverse(const std::string& text, const Mask& unknown) {
  const SubProgram p = parse(text);
  return invert_program(p, unknown, Mask(p->outputs.size(), 1), "invert");
}
/// Why the program cannot be inverted in all its arguments.
std::string refused(const std::string& text) {
  return message<NotInvertible>([&] { return inverse(text, Mask(parse(text)->inputs.size(), 1)); });
}

TEST(Invert, SolvesAMomentumStepEquationByEquation) {
  const auto r = inverse("{ lambda ; a:f32[3] b:f32[3] c:f32[3,3] . let d:f32[3] = mul 0.5:f32 b "
                         "e:f32[3] = dot_general[contract_lhs=(0), contract_rhs=(0), batch_lhs=(), batch_rhs=()] a c "
                         "f:f32[3] = tanh e g:f32[3] = add d f h:f32[3] = mul 0.1:f32 g i:f32[3] = add a h in (i, g) }",
                         {1, 1, 0});
  EXPECT_EQ(to_string(*r->program),
            "{ lambda ; a:f32[3,3] b:f32[3] c:f32[3] . let\n"
            "    d:f32[3] = mul 0.1:f32 c\n"
            "    e:f32[3] = sub b d\n"
            "    f:f32[3] = dot_general[contract_lhs=(0), contract_rhs=(0), batch_lhs=(), batch_rhs=()] e a\n"
            "    g:f32[3] = tanh f\n"
            "    h:f32[3] = sub c g\n"
            "    i:f32[3] = div h 0.5:f32\n"
            "  in (e, i) }");
  EXPECT_DOUBLE_EQ(r->amplification, 2);
}

TEST(Invert, AmplificationIsThatOfTheWorstPathThroughLiterals) {
  EXPECT_DOUBLE_EQ(inverse("{ lambda ; a:f64[] . let b:f64[] = mul a 0.25:f64 c:f64[] = div b 2.0:f64 in (c) }", {1})->amplification, 8);
  EXPECT_DOUBLE_EQ(inverse("{ lambda ; a:f64[] . let b:f64[] = mul a 4.0:f64 in (b) }", {1})->amplification, 1);
  EXPECT_DOUBLE_EQ(inverse("{ lambda ; a:f64[] b:f64[] . let c:f64[] = mul a 0.25:f64 d:f64[] = add b c in (c, d) }", {1, 1})->amplification, 4);
  EXPECT_DOUBLE_EQ(inverse("{ lambda ; a:f64[] b:f64[] . let c:f64[] = mul a b in (c) }", {1, 0})->amplification, 1);
}

TEST(Invert, EntersCallsAndJoinsSlices) {
  const auto r = inverse("{ lambda ; a:f32[4] . let b:f32[2] = slice[start=(0), limit=(2), strides=(1)] a "
                         "c:f32[2] = slice[start=(2), limit=(4), strides=(1)] a "
                         "d:f32[2] = call[name=\"shift\", body={ lambda ; x:f32[2] y:f32[2] . let z:f32[2] = add x y in (z) }] b c "
                         "in (d, c) }",
                         {1});
  EXPECT_EQ(to_string(*r->program),
            "{ lambda ; a:f32[2] b:f32[2] . let\n"
            "    c:f32[2] = sub a b\n"
            "    d:f32[4] = concatenate[axis=0] c b\n"
            "  in (d) }");
}

TEST(Invert, NamesTheEquationThatLosesInformation) {
  expect_contains(refused("{ lambda ; a:f32[3] . let b:f32[3] = exp a c:f32[3] = max b 1.0:f32 d:f32[3] = neg c in (d) }"),
                  {"invert: the function cannot be run backwards: `", "= max ", "` loses information: its result does not tell its operand."});
  expect_contains(refused("{ lambda ; a:f32[3] . let b:f32[3] = mul a a in (b) }"),
                  {"= mul a a` cannot be undone: more than one of its operands depends on what is asked for."});
  expect_contains(refused("{ lambda ; a:f32[3] . let b:f32[] = reduce_sum[axes=(0)] a in (b) }"), {"= reduce_sum[axes=(0)] a` loses information"});
  expect_contains(refused("{ lambda ; a:f32[3] . let b:f32[2] = slice[start=(0), limit=(2), strides=(1)] a in (b) }"),
                  {"= slice[start=(0), limit=(2), strides=(1)] a` keeps a part of its operand, and nothing tells the rest."});
  expect_contains(refused("{ lambda ; a:f32[3] b:f32[3] . let c:f32[3] = neg a in (c) }"),
                  {"nothing it returns depends on an argument of type f32[3]."});
  // x + h f(x): the step of an explicit method.
  expect_contains(refused("{ lambda ; a:f32[3] . let b:f32[3] = sin a c:f32[3] = mul 0.1:f32 b d:f32[3] = add a c in (d) }"),
                  {"= add ", "more than one of its operands"});
  expect_contains(refused("{ lambda ; a:i32[3] . let b:i32[3] = mul a 2:i32 in (b) }"), {"= mul a 2:i32` loses information"});
  expect_contains(refused("{ lambda ; a:f32[3] . let b:bf16[3] = convert[dtype=bf16, shape=()] a in (b) }"), {"loses information"});
  EXPECT_EQ(refused("{ lambda ; a:bf16[3] . let b:f32[3] = convert[dtype=f32, shape=()] a in (b) }"), "no error");
}

TEST(Invert, IsMemoised) {
  const std::string text = "{ lambda ; a:f32[3] . let b:f32[3] = exp a in (b) }";
  EXPECT_EQ(inverse(text, {1}), inverse(text, {1}));
}

}  // namespace
}  // namespace anadrome
