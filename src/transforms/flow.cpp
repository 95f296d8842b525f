// Dinic's algorithm (Dinic 1970), with an explicit path instead of recursion: programs can be thousands of equations deep.
#include <algorithm>

#include "transforms/residuals.h"

namespace anadrome {

void FlowNetwork::add_edge(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
  edges_.push_back({to, first_[from], capacity});
  first_[from] = static_cast<std::uint32_t>(edges_.size() - 1);
  edges_.push_back({from, first_[to], 0});
  first_[to] = static_cast<std::uint32_t>(edges_.size() - 1);
}

bool FlowNetwork::levels(std::uint32_t source, std::uint32_t sink) {
  level_.assign(first_.size(), none);
  std::vector<std::uint32_t> queue{source};
  level_[source] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::uint32_t e = first_[queue[i]]; e != none; e = edges_[e].next)
      if (edges_[e].capacity > 0 && level_[edges_[e].to] == none) {
        level_[edges_[e].to] = level_[queue[i]] + 1;
        queue.push_back(edges_[e].to);
      }
  return level_[sink] != none;
}

std::int64_t FlowNetwork::augment(std::uint32_t source, std::uint32_t sink) {
  std::vector<std::uint32_t> path;  // edges from the source to `at`
  std::int64_t total = 0;
  std::uint32_t at = source;
  while (true) {
    if (at == sink) {
      std::int64_t flow = unlimited;
      for (std::uint32_t e : path) flow = std::min(flow, edges_[e].capacity);
      for (std::uint32_t e : path) {
        edges_[e].capacity -= flow;
        edges_[e ^ 1].capacity += flow;
      }
      total += flow;
      std::size_t keep = 0;
      while (edges_[path[keep]].capacity > 0) ++keep;
      at = edges_[path[keep] ^ 1].to;
      path.resize(keep);
      continue;
    }
    std::uint32_t& e = current_[at];
    while (e != none && !(edges_[e].capacity > 0 && level_[edges_[e].to] == level_[at] + 1)) e = edges_[e].next;
    if (e != none) {
      path.push_back(e);
      at = edges_[e].to;
    } else if (at == source) {
      return total;
    } else {
      level_[at] = none;  // a dead end
      at = edges_[path.back() ^ 1].to;
      path.pop_back();
    }
  }
}

void FlowNetwork::find_sink_side(std::uint32_t sink) {
  sink_side_.assign(first_.size(), 0);
  std::vector<std::uint32_t> queue{sink};
  sink_side_[sink] = 1;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::uint32_t e = first_[queue[i]]; e != none; e = edges_[e].next)
      if (edges_[e ^ 1].capacity > 0 && !sink_side_[edges_[e].to]) {
        sink_side_[edges_[e].to] = 1;
        queue.push_back(edges_[e].to);
      }
}

std::int64_t FlowNetwork::run(std::uint32_t source, std::uint32_t sink) {
  std::int64_t total = 0;
  while (levels(source, sink)) {
    current_ = first_;
    total += augment(source, sink);
  }
  find_sink_side(sink);
  return total;
}

}  // namespace anadrome
