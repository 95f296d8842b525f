// The figures of `anadrome tour costs`: within the bounds that its documentation promises.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run_program.h"

namespace anadrome::testing {
namespace {

using Json = nlohmann::json;

Json json_of(const std::vector<std::string>& options) {
  std::vector<std::string> arguments{"tour", "costs", "--json"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const Finished r = run_program(arguments);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  return Json::parse(r.out);
}

/// One short run serves the tests of the counts.
const Json& short_run() {
  static const Json json = json_of({"--seeds", "1", "--epochs", "2"});
  return json;
}

TEST(TourCosts, JsonHasFourMembers) {
  std::vector<std::string> names;
  for (const auto& [name, value] : short_run().items()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"residuals", "training", "wide", "widths"}));
}

TEST(TourCosts, GradientCostsTwoForwardPasses) {
  const Json& widths = short_run()["widths"];
  ASSERT_EQ(widths.size(), 3u);
  const int n[] = {16, 64, 256}, forward[] = {527, 8255, 131327}, grad[] = {1072, 16576, 262912};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(widths[i]["n"], n[i]);
    EXPECT_EQ(widths[i]["forward"], forward[i]);
    EXPECT_LE(widths[i]["grad"], grad[i]);
    EXPECT_GE(widths[i]["grad"], 4 * n[i] * n[i]);  // two products
    EXPECT_EQ(widths[i]["jacrev"], widths[i]["grad"]);
  }
}

TEST(TourCosts, ForwardModeCostsOnePassAnInputUnlessTheBasisIsSeen) {
  const Json& w64 = short_run()["widths"][1];
  EXPECT_GE(w64["jacfwd"], 540000);
  EXPECT_LE(w64["jacfwd"], 549000);
  for (const Json& w : short_run()["widths"])
    EXPECT_LE(w["jacfwd_structured"].get<double>(), 2.0 * w["forward"].get<double>());
}

TEST(TourCosts, FewInputsFavourForwardMode) {
  const Json& wide = short_run()["wide"];
  EXPECT_EQ(wide["forward"], 2048);
  EXPECT_LE(wide["jacfwd"], 12064);
  EXPECT_LE(wide["jacrev"], 658176);
  EXPECT_GE(wide["jacrev"], 10 * wide["jacfwd"].get<int>());
  EXPECT_EQ(wide["shape"], (Json{256, 4}));
}

TEST(TourCosts, ALayerKeepsOneArray) {
  const Json& residuals = short_run()["residuals"];
  ASSERT_EQ(residuals.size(), 4u);
  const int depth[] = {1, 2, 4, 8}, count[] = {2, 3, 5, 9}, bytes[] = {81920, 98304, 131072, 196608};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(residuals[i]["depth"], depth[i]);
    EXPECT_LE(residuals[i]["count"], count[i]);
    EXPECT_LE(residuals[i]["bytes"], bytes[i]);
    EXPECT_GE(residuals[i]["count"], 1);
  }
}

TEST(TourCosts, ShortTrainingLearns) {
  const Json& training = short_run()["training"];
  ASSERT_EQ(training.size(), 2u);
  EXPECT_EQ(training[1]["epoch"], 2);
  EXPECT_LT(training[1]["loss"], training[0]["loss"]);
  EXPECT_GT(training[1]["accuracy"], 0.85);
  EXPECT_LE(training[1]["accuracy"], 1.0);
}

TEST(TourCosts, TrainingReachesNinetySixPercent) {
  const Json training = json_of({})["training"];
  EXPECT_GE(training.back()["accuracy"], 0.96);
  EXPECT_LE(training.back()["accuracy"], 1.0);
}

TEST(TourCosts, TheSameRunGivesTheSameFigures) {
  EXPECT_EQ(json_of({"--seeds", "1", "--epochs", "2"}), short_run());
}

TEST(TourCosts, TextShowsTheTablesAndTheProgram) {
  const Finished r = run_program({"tour", "costs", "--seeds", "1", "--epochs", "1"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.err, "");  // no progress where stderr is no terminal
  for (const char* part : {"527", "8255", "131327", "shape [256,4]", "{ lambda a:f32[128,128] ", "test accuracy"})
    EXPECT_NE(r.out.find(part), std::string::npos) << part;
}

TEST(TourCosts, ProgressGoesToStderr) {
  const Finished r = run_program({"tour", "costs", "--seeds", "1", "--epochs", "1", "--progress"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_NE(r.err.find("seed 1 of 1, epoch 1 of 1"), std::string::npos) << r.err;
}

}  // namespace
}  // namespace anadrome::testing
