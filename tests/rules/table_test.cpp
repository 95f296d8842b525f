// Every primitive has a row, and every row passes every check; a few mutants die.
#include <gtest/gtest.h>

#include <algorithm>

#include "rules/checks.h"
#include "rules/mutate.h"

namespace anadrome::testing {

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.prim->name;
}

namespace {

TEST(Table, EveryPrimitiveHasOneRow) {
  std::vector<std::string> want, got;
  for (const Prim* p : all_primitives()) want.emplace_back(p->name);
  for (const Row& r : table()) got.emplace_back(r.prim->name);
  EXPECT_EQ(got, want);
  for (const Row& r : table()) EXPECT_FALSE(r.cases.empty()) << r.prim->name;
}

class Rules : public ::testing::TestWithParam<Row> {
 protected:
  void expect_passes(Check check) const {
    std::size_t shown = 0;
    for (const Case& c : GetParam().cases)
      for (const std::string& failure : run_check(GetParam(), c, check))
        if (shown++ < 3) ADD_FAILURE() << GetParam().prim->name << ": " << failure;
    EXPECT_EQ(shown, 0u);
  }
};

TEST_P(Rules, AreThereOrSayWhyNot) {
  expect_passes(Check::rules);
}
TEST_P(Rules, GiveTheValuesOfPlainLoops) {
  expect_passes(Check::value);
}
TEST_P(Rules, JvpIsTheFiniteDifference) {
  expect_passes(Check::jvp);
}
TEST_P(Rules, LinearizeIsJvpAndTransposeItsAdjoint) {
  expect_passes(Check::linear);
}
TEST_P(Rules, VmapIsALoop) {
  expect_passes(Check::vmap);
}
TEST_P(Rules, SecondOrderObeysTheSameLaws) {
  expect_passes(Check::second);
}
TEST_P(Rules, CompiledIsEvaluatedIsEager) {
  expect_passes(Check::compiled);
}
TEST_P(Rules, CostIsAsStated) {
  expect_passes(Check::cost);
}
TEST_P(Rules, TextReadsBack) {
  expect_passes(Check::text);
}

INSTANTIATE_TEST_SUITE_P(Table, Rules, ::testing::ValuesIn(table()),
                         [](const auto& info) { return std::string(info.param.prim->name); });

TEST(StopGradient, HasNoTangentAndNoCotangent) {
  const Array x = make_array({f64, {3}}, {1, 2, 3});
  const functional::Function f = find_row("stop_gradient")->cases[0].f;
  const auto pushed = functional::jvp(f, {x}, {x}, {"jvp", {}, {}});
  EXPECT_EQ(numbers(pushed.t[0]), (Numbers{0, 0, 0}));
  const auto pulled = functional::vjp(f, {x}, {true}, {"vjp", {}, {}}).pull({x});
  EXPECT_EQ(numbers(pulled[0]), (Numbers{0, 0, 0}));
}

/// All of them: tools/mutation_proof.py.
TEST(Mutants, AFewDie) {
  for (const char* wanted : {"tanh.jvp.negate", "mul.transpose.twice", "dot_general.batch.twice",
                             "reduce_sum.cost.twice", "call.linearize.negate", "custom_jvp.linearize.negate",
                             "custom_linear.transpose.negate", "checkpoint.transpose.twice"}) {
    const std::vector<Mutant> all = all_mutants();
    const auto mutant =
        std::find_if(all.begin(), all.end(), [&](const Mutant& m) { return m.name() == wanted; });
    ASSERT_NE(mutant, all.end()) << wanted;
    const Verdict verdict = try_mutant(*mutant);
    EXPECT_EQ(name(verdict.outcome), "killed") << wanted << ": " << verdict.by;
  }
}
TEST(Mutants, OfARuleThatContributesNothingAreTheSameRule) {
  const Verdict verdict = try_mutant({find_row("sign"), RuleKind::jvp, Change::negate});
  EXPECT_EQ(name(verdict.outcome), "equivalent") << verdict.by;
}

}  // namespace
}  // namespace anadrome::testing
