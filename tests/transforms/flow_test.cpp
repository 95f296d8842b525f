// Maximum flow and the choice of residuals.
#include <random>

#include "core/intern.h"
#include "primitives/op.h"
#include "transforms/linearize.h"
#include "transforms/residuals.h"

namespace anadrome {
namespace {

TEST(FlowNetwork, FindsTheCutNearestToTheSink) {
  FlowNetwork network(4);  // 0 -3-> 1 -3-> 2 -9-> 3: two cuts of 3; the later one is taken
  network.add_edge(0, 1, 3);
  network.add_edge(1, 2, 3);
  network.add_edge(2, 3, 9);
  EXPECT_EQ(network.run(0, 3), 3);
  EXPECT_FALSE(network.on_sink_side()[1]);
  EXPECT_TRUE(network.on_sink_side()[2]);
}

/// The cut by trying every subset of nodes on the source side.
std::int64_t brute_force(const std::vector<std::array<std::int64_t, 3>>& edges, int n) {
  std::int64_t best = FlowNetwork::unlimited;
  for (int set = 0; set < (1 << n); ++set) {
    if (!(set & 1) || (set >> (n - 1) & 1)) continue;
    std::int64_t cut = 0;
    for (auto [a, b, c] : edges)
      if ((set >> a & 1) && !(set >> b & 1)) cut += c;
    best = std::min(best, cut);
  }
  return best;
}

TEST(FlowNetwork, EqualsTheBestCutOnRandomGraphs) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const int n = 6;
    std::vector<std::array<std::int64_t, 3>> edges;
    for (int k = 0; k < 14; ++k) {
      const int a = static_cast<int>(random() % n), b = static_cast<int>(random() % n);
      if (a != b) edges.push_back({a, b, static_cast<std::int64_t>(random() % 10)});
    }
    FlowNetwork network(n);
    for (auto [a, b, c] : edges) network.add_edge(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), c);
    EXPECT_EQ(network.run(0, n - 1), brute_force(edges, n)) << "round " << round;
  }
}

TEST(FlowNetwork, TakesAChainOfFiftyThousandNodes) {
  const std::uint32_t n = 50000;
  FlowNetwork network(n);
  for (std::uint32_t i = 0; i + 1 < n; ++i) network.add_edge(i, i + 1, i == 30000 ? 1 : 5);
  EXPECT_EQ(network.run(0, n - 1), 1);
  EXPECT_TRUE(network.on_sink_side()[30001]);
  EXPECT_FALSE(network.on_sink_side()[30000]);
}

ProgramPtr parse(const char* text) { return intern(parse_program(text)); }

TEST(Residuals, OneMinusYSquaredIsComputedAgainWhenYIsKept) {
  const auto p = parse("{ lambda ; a:f32[100] . let b:f32[100] = tanh a c:f32[100] = mul b b in (c, b) }");
  const auto lin = linearize_program(p, {1});
  ASSERT_EQ(lin->residuals.size(), 1u);  // 1-b*b comes from b, which is an output: nothing extra is kept
  EXPECT_EQ(lin->residuals[0].from, Residual::From::output);
  EXPECT_EQ(lin->extra_count(), 0u);
}

TEST(Residuals, ArgumentsAreForwardedNotCopied) {
  const auto p = parse("{ lambda ; a:f32[100] b:f32[100] . let c:f32[100] = mul a b in (c) }");
  const auto lin = linearize_program(p, {1, 1});
  ASSERT_EQ(lin->residuals.size(), 2u);
  for (const Residual& r : lin->residuals) EXPECT_EQ(r.from, Residual::From::argument);
  EXPECT_EQ(lin->primal->outputs.size(), 1u);
}

TEST(Residuals, TranscendentalFunctionsAreKeptNotComputedAgain) {
  const auto p = parse("{ lambda ; a:f64[8] . let b:f64[8] = sin a c:f64[8] = exp b in (c) }");
  const auto lin = linearize_program(p, {1});
  for (const Equation& e : lin->tangent->equations) EXPECT_EQ(e.prim->name, "mul");
}

TEST(Residuals, ABroadcastIsKeptAsItsSmallOperand) {
  const auto p = parse(
      "{ lambda ; a:f32[100] b:f32[] . let c:f32[] = sin b d:f32[100] = broadcast_in_dim[shape=(100), dims=()] c "
      "e:f32[100] = mul a d in (e) }");
  const auto lin = linearize_program(p, {1, 0});
  ASSERT_EQ(lin->residuals.size(), 1u);
  EXPECT_EQ(lin->tangent->types[lin->tangent->captures[0]].elements(), 1);
}

}  // namespace
}  // namespace anadrome
