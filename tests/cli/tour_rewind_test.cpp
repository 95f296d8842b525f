// The figures of `anadrome tour rewind`, from a short run, and its page as a browser shows it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace anadrome::testing {
namespace {

using Json = nlohmann::json;

const std::string& page() {
  static const std::string path = temporary_file("rewind.html", "");
  return path;
}

/// One short run serves all tests.
const Json& short_run() {
  static const Json json = [] {
    const Finished r = run_program({"tour", "rewind", "--json", "--depths", "8,64", "--seeds", "1", "--epochs", "1", "--page", page()});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.err, "");
    return Json::parse(r.out);
  }();
  return json;
}

double temp(const std::string& mode, int depth) {
  for (const Json& p : short_run()["memory"])
    if (p["mode"] == mode && p["depth"] == depth) return p["temp_bytes"];
  ADD_FAILURE() << mode << ' ' << depth;
  return 0;
}

TEST(TourRewind, JsonHasThreeMembers) {
  std::vector<std::string> names;
  for (const auto& [name, value] : short_run().items()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"cliff", "memory", "training"}));
  EXPECT_EQ(short_run()["memory"].size(), 12u);
  EXPECT_EQ(short_run()["cliff"].size(), 30u);
  EXPECT_EQ(short_run()["training"].size(), 1u);
}

TEST(TourRewind, RewindingTakesTheSameMemoryAtAnyDepth) {
  EXPECT_GT(temp("stored", 64), 4 * temp("stored", 8));
  EXPECT_EQ(temp("rewound", 64), temp("rewound", 8));
  EXPECT_LT(temp("checkpointed", 64), temp("stored", 64));
  EXPECT_LE(temp("budget_8MB", 64), 8e6);
}

TEST(TourRewind, MemoryIsWhatWasPlanned) {
  for (const Json& p : short_run()["memory"])
    EXPECT_LE(p["measured_bytes"].get<double>(), p["temp_bytes"].get<double>() + 4e6) << p;
}

TEST(TourRewind, AnchorsKeepTheGradient) {
  bool lost = false;
  for (const Json& p : short_run()["cliff"]) {
    if (p["anchored_cosine"].is_null()) continue;
    EXPECT_GE(p["anchored_cosine"].get<double>(), 0.9999) << p;
    lost |= p["plain_cosine"].is_null() || p["plain_cosine"].get<double>() < 0.9;
  }
  EXPECT_TRUE(lost) << "no plain rewind lost its gradient";
}

/// What a browser makes of a page, as text.
std::string shown(const std::string& path) {
  const std::string command = "chromium --headless --no-sandbox --disable-gpu --dump-dom 'file://" + path + "' 2>/dev/null";
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return out;
  char part[4096];
  for (std::size_t n = 0; (n = fread(part, 1, sizeof part, pipe)) > 0;) out.append(part, n);
  pclose(pipe);
  return out;
}

TEST(TourRewind, ThePageShowsItsPlots) {
  ASSERT_TRUE(short_run().contains("memory"));
  const std::string dom = shown(page());
  ASSERT_NE(dom, "") << "chromium did not run; tools/install.sh installs it";
  for (const char* id : {"memory", "time", "cliff", "anchored", "growth", "training"}) {
    const std::size_t begin = dom.find("<svg id=\"" + std::string(id) + "\"");
    ASSERT_NE(begin, std::string::npos) << id;
    const std::string plot = dom.substr(begin, dom.find("</svg>", begin) - begin);
    EXPECT_NE(plot.find("class=\"line\" d=\"M"), std::string::npos) << id;
    EXPECT_NE(plot.find("class=\"tick\""), std::string::npos) << id;
    EXPECT_NE(plot.find("class=\"legend\""), std::string::npos) << id;
  }
}

TEST(TourRewind, BadInputIsRefused) {
  EXPECT_EQ(run_program({"tour", "rewind", "--depths", "0"}).exit_code, 2);
  EXPECT_EQ(run_program({"tour", "rewind", "--depths", "x"}).exit_code, 2);
  EXPECT_EQ(run_program({"tour", "rewind", "--seeds", "-1"}).exit_code, 2);
  EXPECT_EQ(run_program({"tour", "rewind", "--data", "/nowhere.npy"}).exit_code, 2);
}

}  // namespace
}  // namespace anadrome::testing
