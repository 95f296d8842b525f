// Products that read transposed operands and write transposed results, beside the reference.
#include <gtest/gtest.h>

#include "anadrome/compile.h"
#include "core/eval.h"
#include "support/values.h"

namespace anadrome {
namespace {

struct Case {
  const char* name;
  std::string text;
  int steps;  // of the schedule
};

std::string with(const char* dtype, std::string text) {
  for (std::size_t at; (at = text.find('$')) != std::string::npos;) text.replace(at, 1, dtype);
  return text;
}

std::vector<Case> cases() {
  const std::string dims = ", batch_lhs=(), batch_rhs=()] ", batch = ", batch_lhs=(0), batch_rhs=(1)] ";
  return {
      {"matrix", "{ lambda ; a:$[20,30] b:$[30,40] . let c:$[20,40] = dot_general[contract_lhs=(1), contract_rhs=(0)" + dims +
                     "a b d:$[40,20] = transpose[perm=(1,0)] c in (d) }", 1},
      {"both read", "{ lambda ; a:$[20,30] b:$[30,40] . let c:$[20,40] = dot_general[contract_lhs=(1), contract_rhs=(0)" + dims +
                        "a b d:$[40,20] = transpose[perm=(1,0)] c in (d, c) }", 2},
      {"batch in the middle", "{ lambda ; s:$[5,19,33] w:$[21,5,33] . let x:$[5,19,21] = dot_general[contract_lhs=(2), "
                              "contract_rhs=(2)" + batch + "s w y:$[21,5,19] = transpose[perm=(2,0,1)] x in (y) }", 1},
      {"batch last", "{ lambda ; s:$[5,19,33] w:$[21,5,33] . let x:$[5,19,21] = dot_general[contract_lhs=(2), "
                     "contract_rhs=(2)" + batch + "s w y:$[19,21,5] = transpose[perm=(1,2,0)] x in (y) }", 2},
      {"operands", "{ lambda ; a:$[30,20] b:$[40,30] . let c:$[20,30] = transpose[perm=(1,0)] a d:$[30,40] = "
                   "transpose[perm=(1,0)] b e:$[20,40] = dot_general[contract_lhs=(1), contract_rhs=(0)" + dims + "c d in (e) }", 1},
      {"operand of rank 3", "{ lambda ; a:$[33,5,19] w:$[21,5,33] . let s:$[5,19,33] = transpose[perm=(1,2,0)] a x:$[5,19,21] = "
                            "dot_general[contract_lhs=(2), contract_rhs=(2)" + batch + "s w in (x) }", 1},
      {"free axes change places", "{ lambda ; a:$[19,20,33] b:$[33,40] . let s:$[20,19,33] = transpose[perm=(1,0,2)] a x:$[20,19,40] = "
                                  "dot_general[contract_lhs=(2), contract_rhs=(0)" + dims + "s b in (x) }", 2},
      {"one operand twice", "{ lambda ; a:$[20,30] . let c:$[20,20] = dot_general[contract_lhs=(1), contract_rhs=(1)" + dims +
                                "a a d:$[20,20] = transpose[perm=(1,0)] c in (d) }", 2},
  };
}

int steps_of(const std::string& schedule) {
  int n = 0;
  for (std::size_t at = 0; (at = schedule.find("step ", at)) != std::string::npos; at += 5) ++n;
  return n;
}

TEST(TurnedProducts, AreOneStepAndAgreeWithTheReference) {
  for (const char* dtype : {"f32", "f64", "bf16"})
    for (const Case& c : cases()) {
      const auto program = std::make_shared<const Program>(parse_program(with(dtype, c.text)));
      std::mt19937 random(3);
      Arrays x;
      for (VarId v : program->inputs) x.push_back(testing::random_array(program->type(v), random));
      const auto native = compile(program, {.backend = "native"});
      EXPECT_EQ(steps_of(native->text()), c.steps) << c.name << "\n" << native->text();
      const std::vector<Array> got = native->run(x), want = compile(program, {.backend = "eval"})->run(x);
      const double bound = *dtype == 'b' ? 2e-2 : dtype[1] == '3' ? 1e-5 : 1e-13;
      for (std::size_t k = 0; k < want.size(); ++k)
        EXPECT_LE(testing::difference(got[k], want[k]), bound) << c.name << "\n" << native->text();
    }
}

TEST(TurnedProducts, OfIntegersStayTwoSteps) {
  const auto program = std::make_shared<const Program>(parse_program(with("i32", cases()[0].text)));
  std::mt19937 random(3);
  Arrays x;
  for (VarId v : program->inputs) x.push_back(testing::random_array(program->type(v), random));
  const auto native = compile(program, {.backend = "native"});
  EXPECT_EQ(steps_of(native->text()), 2);
  EXPECT_TRUE(testing::identical(native->run(x)[0], compile(program, {.backend = "eval"})->run(x)[0]));
}

}  // namespace
}  // namespace anadrome
