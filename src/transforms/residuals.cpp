// Residual selection as a minimum cut. A value v is two nodes, v_in -> v_out; the edge between them is the cost of
// keeping v. "Computed again" means v_in lies on the sink side: that pays the edge source -> v_in (its operations) and
// needs its operands later too (operand_out -> v_in, unlimited). What cannot be computed again hangs on the source.
#include "transforms/residuals.h"

#include <algorithm>

#include "core/prim.h"

namespace anadrome {
namespace {

/// Units: one flop is 1; a byte written and read back is 2 (an element of f32 takes as long as some eight flops).
constexpr std::int64_t byte_cost = 2;

bool cheap(const Program& p, const Equation& e, std::int64_t& flops) {
  if (e.prim->work != Work::elementwise && e.prim->work != Work::movement) return false;
  if (e.prim->linear_source) return false;
  std::vector<Type> in, out;
  for (const Atom& a : e.operands) in.push_back(p.type(a));
  for (VarId r : e.results) out.push_back(p.types[r]);
  const Cost cost = need<&Prim::cost>(*e.prim)({e.attrs, in, out});
  if (cost.transcendentals > 0) return false;
  flops = static_cast<std::int64_t>(std::max(cost.flops, 1.0));
  return true;
}

class Selection {
 public:
  Selection(const Program& p, std::span<const VarId> wanted, const std::vector<char>& free)
      : p_(p), wanted_(wanted), free_(free), producer_(p.types.size(), none), node_(p.types.size(), none) {
    for (std::size_t k = 0; k < p.equations.size(); ++k)
      for (VarId r : p.equations[k].results) producer_[r] = k;
  }

  ResidualChoice run() {
    collect();
    FlowNetwork network(2 * values_.size() + 2);
    const auto source = static_cast<std::uint32_t>(2 * values_.size()), sink = source + 1;
    for (std::size_t i = 0; i < values_.size(); ++i) connect(network, static_cast<std::uint32_t>(i), source);
    for (VarId v : wanted_) network.add_edge(static_cast<std::uint32_t>(2 * node_[v] + 1), sink, FlowNetwork::unlimited);
    network.run(source, sink);
    return read(network.on_sink_side());
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  /// The values that `wanted` can be computed from by cheap equations.
  void collect() {
    for (VarId v : wanted_) add(v);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const std::size_t k = producer_[values_[i]];
      std::int64_t flops = 0;
      const bool redo = k != none && cheap(p_, p_.equations[k], flops);
      flops_.push_back(redo ? flops : -1);
      if (!redo) continue;
      for (const Atom& a : p_.equations[k].operands)
        if (a.is_var()) add(a.var);
    }
  }
  void add(VarId v) {
    if (node_[v] != none) return;
    node_[v] = values_.size();
    values_.push_back(v);
  }

  void connect(FlowNetwork& network, std::uint32_t i, std::uint32_t source) {
    const VarId v = values_[i];
    const std::int64_t keep = free_[v] ? 1 : std::max<std::int64_t>(byte_cost * static_cast<std::int64_t>(p_.types[v].bytes()), 1);
    network.add_edge(2 * i, 2 * i + 1, keep);
    network.add_edge(source, 2 * i, flops_[i] < 0 ? FlowNetwork::unlimited : flops_[i]);
    if (flops_[i] < 0) return;
    for (const Atom& a : p_.equations[producer_[v]].operands)
      if (a.is_var()) network.add_edge(static_cast<std::uint32_t>(2 * node_[a.var] + 1), 2 * i, FlowNetwork::unlimited);
  }

  ResidualChoice read(const std::vector<char>& sink_side) const {
    ResidualChoice out;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (sink_side[2 * i]) out.redone.push_back(producer_[values_[i]]);
      else if (sink_side[2 * i + 1]) out.saved.push_back(values_[i]);
    }
    std::sort(out.saved.begin(), out.saved.end());
    std::sort(out.redone.begin(), out.redone.end());
    out.redone.erase(std::unique(out.redone.begin(), out.redone.end()), out.redone.end());
    return out;
  }

  const Program& p_;
  std::span<const VarId> wanted_;
  const std::vector<char>& free_;
  std::vector<std::size_t> producer_, node_;
  std::vector<VarId> values_;
  std::vector<std::int64_t> flops_;  // by value: operations to compute it again, -1 where that is not allowed
};

}  // namespace

ResidualChoice choose_residuals(const Program& primal, std::span<const VarId> wanted, const std::vector<char>& free) {
  return Selection(primal, wanted, free).run();
}

}  // namespace anadrome
