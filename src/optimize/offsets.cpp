// Two simple placements, the better of which is taken: best fit in order of time, and first fit in order of size.
#include "optimize/offsets.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>

namespace anadrome {
namespace {

constexpr std::size_t most_for_size_order = 1024;  // it compares all pairs

std::vector<std::size_t> sorted_by_start(const std::vector<Lifetime>& buffers) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].first < buffers[b].first; });
  return order;
}

/// Gaps of an arena that grows at its end.
class Gaps {
 public:
  std::uint64_t take(std::uint64_t bytes) {
    auto best = gaps_.end();
    for (auto it = gaps_.begin(); it != gaps_.end(); ++it)
      if (it->second >= bytes && (best == gaps_.end() || it->second < best->second)) best = it;
    if (best == gaps_.end()) return grow(bytes);
    const auto [offset, size] = *best;
    gaps_.erase(best);
    if (size > bytes) gaps_[offset + bytes] = size - bytes;
    return offset;
  }
  void give(std::uint64_t offset, std::uint64_t bytes) {
    auto next = gaps_.lower_bound(offset);
    if (next != gaps_.end() && offset + bytes == next->first) {
      bytes += next->second;
      next = gaps_.erase(next);
    }
    if (next != gaps_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == offset) {
        before->second += bytes;
        return;
      }
    }
    gaps_[offset] = bytes;
  }
  std::uint64_t end() const { return end_; }

 private:
  std::uint64_t grow(std::uint64_t bytes) {
    std::uint64_t offset = end_;
    if (!gaps_.empty()) {
      auto last = std::prev(gaps_.end());
      if (last->first + last->second == end_) {
        offset = last->first;
        gaps_.erase(last);
      }
    }
    end_ = offset + bytes;
    return offset;
  }
  std::map<std::uint64_t, std::uint64_t> gaps_;
  std::uint64_t end_ = 0;
};

Layout in_time_order(const std::vector<Lifetime>& buffers) {
  Layout out{std::vector<std::uint64_t>(buffers.size()), 0};
  using Ending = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> alive;
  Gaps gaps;
  for (std::size_t i : sorted_by_start(buffers)) {
    for (; !alive.empty() && alive.top().first < buffers[i].first; alive.pop())
      gaps.give(out.offset[alive.top().second], in_lines(buffers[alive.top().second].bytes));
    if (buffers[i].bytes == 0) continue;
    out.offset[i] = gaps.take(in_lines(buffers[i].bytes));
    alive.emplace(buffers[i].last, i);
  }
  out.bytes = gaps.end();
  return out;
}

bool together(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

Layout in_size_order(const std::vector<Lifetime>& buffers) {
  Layout out{std::vector<std::uint64_t>(buffers.size()), 0};
  std::vector<std::size_t> order = sorted_by_start(buffers), placed;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  for (std::size_t i : order) {
    const std::uint64_t bytes = in_lines(buffers[i].bytes);
    if (bytes == 0) continue;
    std::uint64_t offset = 0;
    for (std::size_t j : placed) {  // by offset
      if (!together(buffers[i], buffers[j])) continue;
      if (offset + bytes <= out.offset[j]) break;
      offset = std::max(offset, out.offset[j] + in_lines(buffers[j].bytes));
    }
    out.offset[i] = offset;
    out.bytes = std::max(out.bytes, offset + bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](std::size_t a, std::size_t b) { return out.offset[a] < out.offset[b]; }),
                  i);
  }
  return out;
}

/// The most bytes alive at one time: no arena is smaller.
std::uint64_t least(const std::vector<Lifetime>& buffers) {
  std::map<std::int64_t, std::int64_t> change;
  for (const Lifetime& b : buffers) {
    change[b.first] += static_cast<std::int64_t>(in_lines(b.bytes));
    change[b.last + 1] -= static_cast<std::int64_t>(in_lines(b.bytes));
  }
  std::int64_t now = 0, most = 0;
  for (const auto& [time, bytes] : change) most = std::max(most, now += bytes);
  return static_cast<std::uint64_t>(most);
}

}  // namespace

Layout lay_out(const std::vector<Lifetime>& buffers) {
  Layout layout = in_time_order(buffers);
  if (layout.bytes == least(buffers) || buffers.size() > most_for_size_order) return layout;
  Layout other = in_size_order(buffers);
  return other.bytes < layout.bytes ? other : layout;
}

}  // namespace anadrome
