// Which values survive until the backward pass.
#pragma once
#include "transforms/common.h"

namespace anadrome {

/// What residual selection decides for the values of a primal program, by variable.
struct ResidualChoice {
  std::vector<VarId> saved;         // kept, in order of definition
  std::vector<std::size_t> redone;  // equations of the primal program computed again from the saved values, in order
};
/// Chooses what to keep so that `wanted` can be had later: the minimum cut of the graph of values, where keeping a value
/// costs its bytes written and read, computing it again costs its operations, and arguments and outputs (`free`) are
/// kept anyway. Only cheap equations are computed again: elementwise ones without transcendental functions, and
/// movement.
ResidualChoice choose_residuals(const Program& primal, std::span<const VarId> wanted, const std::vector<char>& free);

/// Maximum flow and minimum cut by Dinic's algorithm, without recursion.
class FlowNetwork {
 public:
  explicit FlowNetwork(std::size_t nodes) : first_(nodes, none) {}
  void add_edge(std::uint32_t from, std::uint32_t to, std::int64_t capacity);
  /// Flow from source to sink; then `on_sink_side` tells the cut that lies nearest to the sink.
  std::int64_t run(std::uint32_t source, std::uint32_t sink);
  const std::vector<char>& on_sink_side() const { return sink_side_; }
  static constexpr std::int64_t unlimited = std::int64_t{1} << 56;

 private:
  static constexpr std::uint32_t none = ~0u;
  struct Edge {
    std::uint32_t to, next;
    std::int64_t capacity;
  };
  bool levels(std::uint32_t source, std::uint32_t sink);
  std::int64_t augment(std::uint32_t source, std::uint32_t sink);
  void find_sink_side(std::uint32_t sink);

  std::vector<std::uint32_t> first_, current_, level_;
  std::vector<Edge> edges_;
  std::vector<char> sink_side_;
};

}  // namespace anadrome
