// The text of programs, its parser, and verify.
#include <gtest/gtest.h>

#include <sstream>

#include "anadrome/error.h"
#include "core/builder.h"
#include "core/intern.h"
#include "core/text.h"

namespace anadrome {
namespace {

void expect_round_trip(const Program& p) {
  const std::string text = to_string(p);
  const Program back = parse_program(text);
  EXPECT_TRUE(same_structure(p, back)) << text;
  EXPECT_EQ(to_string(back), text);
  EXPECT_NE(back.hash, 0u);
}

/// Parses `text`, which must be exactly what the program prints.
Program expect_exact(const std::string& text) {
  const Program p = parse_program(text);
  EXPECT_EQ(to_string(p), text);
  return p;
}

TEST(ProgramText, IsExact) {
  const Program p = expect_exact(R"({ lambda a:f32[10] ; b:i32[] . let
    c:f32[1] = dynamic_slice[sizes=(1)] a b
    d:f32[1] = mul@1 c 2.0:f32
  in (c, d, -inf:f32) })");
  EXPECT_EQ(p.captures.size(), 1u);
  EXPECT_EQ(p.inputs.size(), 1u);
  EXPECT_EQ(p.equations.size(), 2u);
  EXPECT_EQ(p.equations[1].region, 1u);
  EXPECT_EQ(p.equations[1].operands[1].literal, Literal::of(2, f32));
  EXPECT_EQ(p.input_types(), (std::vector<Type>{Type{i32, {}}}));
  EXPECT_EQ(p.capture_types(), (std::vector<Type>{Type{f32, {10}}}));
  EXPECT_EQ(p.output_types(), (std::vector<Type>{Type{f32, {1}}, Type{f32, {1}}, Type{f32, {}}}));
  std::ostringstream out;
  out << p;
  EXPECT_EQ(out.str(), to_string(p));
}

TEST(ProgramText, OfEmptyParts) {
  expect_exact("{ lambda ; . let\n  in () }");
  expect_exact("{ lambda a:Ref{f32[2,0]} ; . let\n  in (true:b1) }");
  expect_exact("{ lambda ; a:f32[2] . let\n    b:f32[1] c:i32[1] = top_k[k=1] a\n    = psum a\n  in (c) }");
}

TEST(ProgramText, ReadsAnyLayoutAndNames) {
  const Program a =
      parse_program("{lambda;x:f32[]. let # a comment\n y_1:f32[]=sin x   z:f32[]=mul y_1 x  in(z)}");
  EXPECT_TRUE(same_structure(
      a, parse_program("{ lambda ; a:f32[] . let b:f32[] = sin a c:f32[] = mul b a in (c) }")));
}

TEST(ProgramText, NamesGoOnAfterZ) {
  std::string text = "{ lambda ; v0:f32[] . let";
  for (int i = 1; i < 1000; ++i) text += " v" + std::to_string(i) + ":f32[] = sin v" + std::to_string(i - 1);
  const Program p = parse_program(text + " in (v999) }");
  const std::string printed = to_string(p);
  EXPECT_NE(printed.find("aa:f32[] = sin z\n"), std::string::npos);
  EXPECT_NE(printed.find("in_:f32[] = sin im\n"), std::string::npos);  // `in` is a word of the language
  expect_round_trip(p);
}

TEST(ProgramText, OfManyEquationsTakesLinearTime) {
  std::string text = "{ lambda ; v0:f32[] . let";
  for (int i = 1; i <= 50000; ++i)
    text += " v" + std::to_string(i) + ":f32[] = sin v" + std::to_string(i - 1);
  expect_round_trip(parse_program(text + " in (v50000) }"));
}

TEST(ProgramText, IndentsSubPrograms) {
  expect_exact(R"({ lambda ; a:f32[] . let
    b:f32[] = call[name="f", body={ lambda ; a:f32[] . let
        b:f32[] = sin a
      in (b) }] a
  in (b) })");
}

TEST(ProgramText, WritesARepeatedSubProgramOnce) {
  const Program p = expect_exact(R"({ lambda ; a:f32[] . let
    b:f32[] = call[name="f", body=&1 { lambda ; a:f32[] . let
        b:f32[] = sin a
      in (b) }] a
    c:f32[] = call[name="g", body=*1] b
  in (c) })");
  EXPECT_EQ(p.count("sin"), 2);
  EXPECT_EQ(p.equations[0].as<CallAttr>().body.program, p.equations[1].as<CallAttr>().body.program);
}

Program nested(int depth, int width) {
  Program p = parse_program("{ lambda ; a:f32[] . let b:f32[] = sin a in (b) }");
  for (int level = 0; level < depth; ++level) {
    Program outer = parse_program("{ lambda ; a:f32[] . let in () }");
    const SubProgram body{intern(p), nullptr};
    for (int i = 0; i < width; ++i) {
      const VarId out = static_cast<VarId>(outer.types.size());
      outer.types.push_back(Type{f32, {}});
      outer.equations.push_back(
          {find_primitive("call"), Attrs(CallAttr{"f", body}), {Atom::variable(out - 1)}, {out}, 0, 0});
    }
    outer.outputs = {Atom::variable(static_cast<VarId>(width))};
    canonicalize(outer);
    p = outer;
  }
  return p;
}

TEST(ProgramText, OfDeepProgramsTakesLinearTime) {
  expect_round_trip(nested(100, 1));
  expect_round_trip(nested(100, 2));
  verify(nested(100, 2));
}

TEST(ProgramText, OfARecordedFunction) {
  Builder builder("f");
  const Array x = builder.input({f32, {2}});
  const Array two = literal(Literal::of(2, f32));
  const std::vector<Array> outputs = {
      builder.record1(*find_primitive("mul"), std::vector<Array>{x, two}, {})};
  const ProgramPtr program = builder.finish(outputs).program;
  EXPECT_EQ(to_string(*program), "{ lambda ; a:f32[2] . let\n    b:f32[2] = mul a 2.0:f32\n  in (b) }");
  verify(*program);
  expect_round_trip(*program);
}

TEST(ProgramText, ShowsSources) {
  Program p = parse_program("{ lambda ; a:f32[] . let b:f32[] = sin a c:f32[] = cos b in (c) }");
  const auto here = std::source_location::current();
  p.sources = std::make_shared<const SourceTable>(SourceTable{std::source_location(), here});
  p.equations[1].origin = 1;
  const std::string text = to_string(p, true);
  EXPECT_NE(
      text.find("= cos b  # " + std::string(here.file_name()) + ':' + std::to_string(here.line()) + '\n'),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("= sin a\n"), std::string::npos) << text;
  EXPECT_EQ(to_string(p).find('#'), std::string::npos);
  EXPECT_TRUE(same_structure(parse_program(text), p));
}

// ---- errors
// -----------------------------------------------------------------------------------------------------

void expect_error(const std::string& text, const std::string& error) {
  try {
    static_cast<void>(parse_program(text));
    ADD_FAILURE() << "read: " << text;
  } catch (const ParseError& e) {
    EXPECT_EQ(e.what(), "parse_program: " + error) << text;
  }
}

TEST(ParseError, NamesThePlaceAndWhatWasExpected) {
  expect_error("", "line 1, column 1: expected '{', found the end of the text.");
  expect_error("{ lambda ; a:f33[] . let in (a) }", "line 1, column 14: expected a dtype, found 'f33'.");
  expect_error("{ lambda ; a:f32[-1] . let in (a) }", "line 1, column 18: expected an extent, found '-1'.");
  expect_error("{ lambda ; a:f32[] . let\n  b:f32[] = sine a\n in (b) }",
               "line 2, column 13: expected the name of a primitive, found 'sine'.");
  expect_error("{ lambda ; a:f32[] . let\n  b:f32[] = sin c\n in (b) }",
               "line 2, column 17: expected a variable that is defined before, or a number, found 'c'.");
  expect_error("{ lambda ; a:f32[] . let b:f32[] = sin b in (b) }",
               "line 1, column 40: expected a variable that is defined before, or a number, found 'b'.");
  expect_error("{ lambda ; a:f32[] . let a:f32[] = sin a in (a) }",
               "line 1, column 26: expected a name that is not defined yet, found 'a'.");
  expect_error("{ lambda ; in:f32[] . let in () }",
               "line 1, column 12: expected a name that is no word of the language, found 'in'.");
  expect_error("{ lambda ; . let ; in () }", "line 1, column 18: expected an equation or 'in', found ';'.");
  expect_error("{ lambda ; . let in () } x", "line 1, column 26: expected the end of the text, found 'x'.");
  expect_error("{ lambda ; . let in (",
               "line 1, column 22: expected a variable that is defined before, or a number, "
               "found the end of the text.");
  expect_error("{ lambda ; . let in () $",
               "line 1, column 24: expected a word, a number or a mark of the language, found '$'.");
}

TEST(ParseError, OfAttributes) {
  const auto with = [](const std::string& attrs) {
    return "{ lambda ; a:f32[2] . let b:f32[] = reduce_sum[" + attrs + "] a in (b) }";
  };
  static_cast<void>(parse_program(with("axes=(0)")));
  const std::string at = "line 1, column ";
  expect_error(with("axis=(0)"), at + "53: expected an integer, found '('.");
  expect_error(with("axes=0"), at + "53: expected a list in parentheses, found '0'.");
  expect_error(with("axes=(0"), at + "55: expected ',' or ')', found ']'.");
  expect_error(with("axes=(x)"), at + "54: expected an integer, found 'x'.");
  expect_error(with("axes="), at + "53: expected the value of an attribute, found ']'.");
  expect_error(with("axes=(0), what=1"),
               at + "47: expected the attributes of a primitive, by name and in order, found '['.");
  expect_error(with("axis=0, reverse=1"), at + "64: expected 'true' or 'false', found '1'.");
  expect_error(with("name=\"f\", body=*3"),
               at + "64: expected the label of a program before this one, found '3'.");
  expect_error(with("name=\"f"), at + "67: expected the closing '\"' of a text, found the end of the text.");
}

TEST(ParseError, OfNumbers) {
  const auto with = [](const std::string& number) { return "{ lambda ; . let in (" + number + ") }"; };
  const std::string at = "line 1, column 22: expected ";
  expect_error(with("128:i8"), at + "an integer that i8 can hold, found '128'.");
  expect_error(with("-1:u64"), at + "an integer that u64 can hold, found '-1'.");
  expect_error(with("1.5:i32"), at + "an integer that i32 can hold, found '1.5'.");
  expect_error(with("1e40:f32"), at + "a number that f32 can hold, found '1e40'.");
  expect_error(with("70000:f16"), at + "a number that f16 can hold, found '70000'.");
  expect_error(with("1:b1"), at + "'true' or 'false', found '1'.");
  expect_error(with("true:f32"), at + "a number, found 'true'.");
  expect_error(with("1"), "line 1, column 23: expected ':', found ')'.");
}

TEST(ParseError, BoundsTheDepth) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "{ lambda ; . let = call[name=\"f\", body=";
  EXPECT_THROW(static_cast<void>(parse_program(text)), ParseError);
  EXPECT_THROW(static_cast<void>(parse_program("{ lambda ; . let = call[axes=" + std::string(100000, '('))),
               ParseError);
}

// ---- verify
// -----------------------------------------------------------------------------------------------------

Program sample() {
  return parse_program("{ lambda ; a:f32[3] . let b:f32[3] = sin a c:f32[3] = mul b a in (c) }");
}

void expect_fault(const Program& p, const std::string& part) {
  try {
    verify(p);
    ADD_FAILURE() << to_string(p);
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(Verify, AcceptsARightProgram) {
  verify(sample());
  verify(nested(3, 2));
}

TEST(Verify, NamesTheWrongEquation) {
  Program p = sample();
  p.types[2].shape = {4};
  expect_fault(p, "the type rule gives result 0 the type f32[3], in: c:f32[4] = mul b a");
  p = sample();
  p.equations[0].operands[0] = Atom::variable(2);
  expect_fault(p, "variable 2 is used before it is defined, in: b:f32[3] = sin c");
  p = sample();
  p.equations[0].operands[0] = Atom::variable(9);
  expect_fault(p, "variable 9 has no type, in: b:f32[3] = sin ?9");
  p = sample();
  p.equations[1].results[0] = 1;
  expect_fault(p, "variable 1 is defined twice, in: ");
  p = sample();
  p.equations[1].results.clear();
  expect_fault(p, "the type rule gives 1 results, in: = mul b a");
  p = sample();
  p.types.push_back(Type{f32, {}});
  p.outputs.push_back(Atom::variable(3));
  expect_fault(p, "variable 3 is an output and never defined");
  p = sample();
  p.equations[0].prim = nullptr;
  expect_fault(p, "an equation has no primitive, in: b:f32[3] = ? a");
}

TEST(Verify, RefusesWhatTheTypeRuleRefuses) {
  Program p = sample();
  p.equations[1].operands[1] = Atom::number(Literal::of(1, i32));
  expect_fault(p, "the type rule refuses: ");
  expect_fault(parse_program("{ lambda ; a:f32[3] . let b:f32[] = reduce_sum a in (b) }"),
               "the type rule refuses: attributes of another primitive: none, in: b:f32[] = reduce_sum a");
}

TEST(Verify, RefusesOneReferenceAtTwoOperands) {
  expect_fault(parse_program("{ lambda ; a:Ref{f32[3]} . let b:f32[3] = mul a a in (b) }"),
               "one reference is two operands, in: b:f32[3] = mul a a");
}

TEST(Verify, LooksIntoSubPrograms) {
  const Program p = parse_program(R"({ lambda ; a:f32[] . let
    b:f32[2] = call[name="f", body={ lambda ; a:f32[] . let b:f32[2] = sin a in (b) }] a
  in (b) })");
  expect_fault(p, "in: b:f32[2] = sin a");
}

}  // namespace
}  // namespace anadrome
