#include "optimize/reads_first.h"

#include <algorithm>
#include <numeric>

namespace anadrome {
namespace {

constexpr std::size_t worth_moving = 1024;  // bytes of a copy that is saved
constexpr std::size_t farthest = 1000;      // how many steps are looked through for a reader

class ReadsFirst {
 public:
  explicit ReadsFirst(const Program& program) : p_(program), order_(program.equations.size()) { std::iota(order_.begin(), order_.end(), std::uint32_t{0}); }

  std::vector<std::uint32_t> run() {
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const Equation& e = p_.equations[order_[at]];
      if (e.prim->in_place < 0 || static_cast<std::size_t>(e.prim->in_place) >= e.operands.size()) continue;
      const Atom& x = e.operands[static_cast<std::size_t>(e.prim->in_place)];
      if (!x.is_var() || p_.type(x.var).bytes() < worth_moving || is_output(x)) continue;
      at = move_readers(at, x.var);
    }
    return order_;
  }

 private:
  bool is_output(const Atom& x) const { return std::find(p_.outputs.begin(), p_.outputs.end(), x) != p_.outputs.end(); }
  static bool reads(const Equation& e, VarId v) { return std::find(e.operands.begin(), e.operands.end(), Atom::variable(v)) != e.operands.end(); }

  /// Moves what reads `x`, and what that needs, before the update at place `at`; gives the update's new place. All readers or
  /// none: a copy is made as long as one is left behind.
  std::size_t move_readers(std::size_t at, VarId x) {
    std::vector<std::size_t> moved;
    for (std::size_t j = at + 1; j < std::min(order_.size(), at + farthest); ++j)
      if (reads(p_.equations[order_[j]], x) && !collect(at, j, moved)) return at;
    if (moved.empty()) return at;
    std::sort(moved.begin(), moved.end());
    std::vector<std::uint32_t> first, rest;
    for (std::size_t j = at; j <= moved.back(); ++j) (std::binary_search(moved.begin(), moved.end(), j) ? first : rest).push_back(order_[j]);
    std::copy(first.begin(), first.end(), order_.begin() + static_cast<std::ptrdiff_t>(at));
    std::copy(rest.begin(), rest.end(), order_.begin() + static_cast<std::ptrdiff_t>(at + first.size()));
    return at + first.size();
  }

  /// Adds place `j` and the places behind `at` that it depends on; false where one of them needs the update.
  bool collect(std::size_t at, std::size_t j, std::vector<std::size_t>& moved) const {
    std::vector<std::size_t> open{j};
    while (!open.empty()) {
      const std::size_t k = open.back();
      open.pop_back();
      if (k == at) return false;
      if (std::find(moved.begin(), moved.end(), k) != moved.end()) continue;
      moved.push_back(k);
      for (const Atom& a : p_.equations[order_[k]].operands) {
        if (!a.is_var()) continue;
        for (std::size_t m = at; m < k; ++m) {
          const auto& made = p_.equations[order_[m]].results;
          if (std::find(made.begin(), made.end(), a.var) != made.end()) open.push_back(m);
        }
      }
    }
    return true;
  }

  const Program& p_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

Fused with_reads_first(Fused steps) {
  const std::vector<std::uint32_t> order = ReadsFirst(steps.program).run();
  if (std::is_sorted(order.begin(), order.end())) return steps;
  std::vector<Equation> equations;
  std::vector<std::vector<std::uint32_t>> members;
  for (std::uint32_t i : order) {
    equations.push_back(std::move(steps.program.equations[i]));
    if (!steps.members.empty()) members.push_back(std::move(steps.members[i]));
  }
  steps.program.equations = std::move(equations);
  steps.members = std::move(members);
  return steps;
}

}  // namespace anadrome
