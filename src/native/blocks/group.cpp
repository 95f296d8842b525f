// grouped: finds products whose result one kernel reads, and what can join them.
#include "native/blocks/group.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "core/intern.h"
#include "native/blocks/plan.h"
#include "native/blocks/turn.h"
#include "optimize/fuse_body.h"
#include "primitives/prims.h"

namespace anadrome::blocks {
namespace {

constexpr std::size_t least_bytes = 128 << 10;  // of a product's result: less stays in the cache anyway
constexpr int most_visits = 400;                // of the search for a way from one step to another

using Group = std::set<std::size_t>;  // steps

class Grouper {
 public:
  Grouper(Fused steps, int vector_bytes, int threads)
      : steps_(std::move(steps)), program_(steps_.program), vector_bytes_(vector_bytes), threads_(threads),
        readers_(program_.types.size()), maker_(program_.types.size(), -1), is_output_(program_.types.size()),
        group_of_(program_.equations.size(), -1) {
    for (std::size_t i = 0; i < program_.equations.size(); ++i) {
      for (const Atom& a : program_.equations[i].operands)
        if (a.is_var() && (readers_[a.var].empty() || readers_[a.var].back() != i)) readers_[a.var].push_back(i);
      for (VarId v : program_.equations[i].results) maker_[v] = static_cast<std::int64_t>(i);
    }
    for (const Atom& a : program_.outputs)
      if (a.is_var()) is_output_[a.var] = true;
  }

  Fused run() {
    for (std::size_t i = 0; i < program_.equations.size(); ++i)
      if (group_of_[i] < 0 && is_large_product(i)) try_group(i);
    if (groups_.empty()) return std::move(steps_);
    return build();
  }

 private:
  const Equation& equation(std::size_t i) const { return program_.equations[i]; }
  bool is_kernel(std::size_t i) const { return equation(i).prim == &loop_kernel; }
  bool is_product(std::size_t i) const {
    return equation(i).prim == &prim::dot_general || equation(i).prim == &turned_product;
  }
  bool is_large_product(std::size_t i) const {
    return is_product(i) && program_.type(equation(i).results[0]).bytes() >= least_bytes;
  }
  /// The only step that reads v; -1 where there is none or v is needed at the end.
  std::int64_t only_reader(VarId v) const {
    return is_output_[v] || readers_[v].size() != 1 ? -1 : static_cast<std::int64_t>(readers_[v][0]);
  }
  bool is_free(std::int64_t i) const { return i >= 0 && group_of_[static_cast<std::size_t>(i)] < 0; }

  void try_group(std::size_t product) {
    const std::int64_t reader = only_reader(equation(product).results[0]);
    if (!is_free(reader) || !is_kernel(static_cast<std::size_t>(reader))) return;
    Group group{product, static_cast<std::size_t>(reader)};
    if (!can_run(group)) return;
    while (grow(group)) {}
    for (std::size_t i : group) group_of_[i] = static_cast<std::int64_t>(groups_.size());
    groups_.push_back(std::move(group));
  }

  // ---- what else can join

  bool grow(Group& group) {
    for (std::size_t i : group) {
      for (const Atom& a : equation(i).operands)
        if (a.is_var() && joins_before(group, a.var)) return true;
      for (VarId v : equation(i).results)
        if (joins_after(group, v)) return true;
    }
    return false;
  }
  /// The kernel that makes v, if the group alone reads it.
  bool joins_before(Group& group, VarId v) {
    const std::int64_t i = maker_[v];
    if (!is_free(i) || is_output_[v] || !is_kernel(static_cast<std::size_t>(i)) || group.count(static_cast<std::size_t>(i))) return false;
    if (program_.type(v).bytes() < least_bytes) return false;
    for (VarId r : equation(static_cast<std::size_t>(i)).results)
      for (std::size_t reader : readers_[r])
        if (!group.count(reader)) return false;
    return try_with(group, {static_cast<std::size_t>(i)});
  }
  /// The step that alone reads v, unless it waits for something else that waits for the group.
  bool joins_after(Group& group, VarId v) {
    const std::int64_t i = only_reader(v);
    if (!is_free(i) || group.count(static_cast<std::size_t>(i)) || program_.type(v).bytes() < least_bytes) return false;
    const auto reader = static_cast<std::size_t>(i);
    if (!is_kernel(reader) && !is_product(reader)) return false;
    if (waits(reader, v, group)) return false;
    if (!is_product(reader)) return try_with(group, {reader});
    const VarId y = equation(reader).results[0];
    if (const std::int64_t k = only_reader(y); is_free(k) && is_kernel(static_cast<std::size_t>(k)) && !waits(static_cast<std::size_t>(k), y, group))
      if (try_with(group, {reader, static_cast<std::size_t>(k)})) return true;
    // Its result takes memory from the first block on: that must be less than what need not be kept.
    return program_.type(y).bytes() < program_.type(v).bytes() && try_with(group, {reader});
  }
  /// True when step i reads something beside v that is made from what the group makes.
  bool waits(std::size_t i, VarId v, const Group& group) const {
    const auto& operands = equation(i).operands;
    return std::any_of(operands.begin(), operands.end(), [&](const Atom& a) { return a.is_var() && a.var != v && depends(a.var, group); });
  }
  bool try_with(Group& group, std::initializer_list<std::size_t> steps) {
    Group larger = group;
    larger.insert(steps);
    // What blocks cannot hold for themselves is no nearer in the cache: it is better done step by step.
    const auto longer = plan(larger).plan;
    if (!longer || longer->handed_whole > plan(group).plan->handed_whole) return false;
    group = std::move(larger);
    return true;
  }
  /// True when v is made from what the group makes, by steps outside it (or when finding out takes too long).
  bool depends(VarId v, const Group& group) const {
    std::vector<VarId> open{v};
    std::set<std::size_t> seen;
    while (!open.empty()) {
      const std::int64_t i = maker_[open.back()];
      open.pop_back();
      if (i < 0) continue;
      const auto step = static_cast<std::size_t>(i);
      if (group.count(step)) {
        if (!seen.empty()) return true;  // through another step
        continue;
      }
      if (step < *group.begin() || !seen.insert(step).second) continue;
      if (seen.size() > most_visits) return true;
      for (const Atom& a : equation(step).operands)
        if (a.is_var()) open.push_back(a.var);
    }
    return false;
  }

  bool can_run(const Group& group) { return plan(group).plan.has_value(); }

  struct Planned {
    Equation equation;
    std::optional<BlockPlan> plan;
  };
  /// The equation of a group as it is, or with values turned so that blocks hold them, where that works.
  Planned plan(const Group& group) {
    Planned out{equation_of(group), {}};
    const Program& body = *out.equation.as<CallAttr>().body;
    out.plan = plan(body);
    if (!out.plan || out.plan->handed_whole == 0) return out;
    const ProgramPtr turned = turned_inside(body, *shared_axes(body, nests(body)));
    auto better = plan(*turned);
    if (!better || better->handed_whole >= out.plan->handed_whole) return out;
    out.plan = std::move(better);
    out.equation.attrs = CallAttr{out.equation.as<CallAttr>().name, {turned, program_.sources}};
    return out;
  }
  std::optional<BlockPlan> plan(const Program& body) {
    const std::vector<const LoopNest*> nests = this->nests(body);
    for (std::size_t i = 0; i < nests.size(); ++i)
      if (!nests[i] && body.equations[i].prim == &loop_kernel) return std::nullopt;  // turned, it has no loops
    return plan_blocks(body, nests, threads_);
  }
  std::vector<const LoopNest*> nests(const Program& body) {
    std::vector<const LoopNest*> out;
    for (const Equation& step : body.equations) out.push_back(step.prim == &loop_kernel ? nest_of(step) : nullptr);
    return out;
  }
  const LoopNest* nest_of(const Equation& kernel) {
    const ProgramPtr& body = kernel.as<CallAttr>().body.program;
    auto found = nests_.find(body);
    if (found == nests_.end()) found = nests_.emplace(body, make_loop_nest(*body, vector_bytes_)).first;
    return found->second ? &*found->second : nullptr;
  }
  Equation equation_of(const Group& group) const {
    std::vector<std::uint32_t> members;
    std::vector<VarId> results;
    for (std::size_t i : group) {
      members.push_back(static_cast<std::uint32_t>(i));
      for (VarId v : equation(i).results)
        if (is_output_[v] || std::any_of(readers_[v].begin(), readers_[v].end(), [&](std::size_t r) { return !group.count(r); }))
          results.push_back(v);
    }
    return blocked_equation(program_, members, results);
  }

  // ---- the new program

  /// Steps and groups (behind the steps) in an order in which everything is made before it is read, close to the old one.
  std::vector<std::size_t> order() const {
    const std::size_t n = program_.equations.size(), nodes = n + groups_.size();
    const auto node = [&](std::size_t i) { return group_of_[i] < 0 ? i : n + static_cast<std::size_t>(group_of_[i]); };
    const auto place = [&](std::size_t i) { return i < n ? i : *groups_[i - n].rbegin(); };
    std::vector<std::size_t> missing(nodes), out;
    std::vector<std::vector<std::size_t>> later(nodes);
    for (std::size_t i = 0; i < n; ++i)
      for (const Atom& a : equation(i).operands) {
        if (!a.is_var() || maker_[a.var] < 0) continue;
        const std::size_t from = node(static_cast<std::size_t>(maker_[a.var]));
        if (from != node(i)) later[from].push_back(node(i)), ++missing[node(i)];
      }
    const auto after = [&](std::size_t a, std::size_t b) { return place(a) > place(b); };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(after)> ready(after);
    for (std::size_t i = 0; i < nodes; ++i)
      if ((i >= n || group_of_[i] < 0) && missing[i] == 0) ready.push(i);
    while (!ready.empty()) {
      out.push_back(ready.top());
      ready.pop();
      for (std::size_t next : later[out.back()])
        if (--missing[next] == 0) ready.push(next);
    }
    return out;
  }

  Fused build() {
    Fused out{without_equations(program_), {}};
    const std::size_t n = program_.equations.size();
    for (std::size_t at : order()) {
      if (at < n) {
        out.program.equations.push_back(std::move(program_.equations[at]));
        out.members.push_back(std::move(steps_.members[at]));
        continue;
      }
      out.program.equations.push_back(plan(groups_[at - n]).equation);
      auto& members = out.members.emplace_back();
      for (std::size_t i : groups_[at - n]) members.insert(members.end(), steps_.members[i].begin(), steps_.members[i].end());
    }
    canonicalize(out.program);
    return out;
  }

  Fused steps_;
  Program& program_;
  int vector_bytes_, threads_;
  std::vector<std::vector<std::size_t>> readers_;  // by variable: steps
  std::vector<std::int64_t> maker_;                // by variable: its step, or -1
  std::vector<bool> is_output_;                    // by variable
  std::vector<std::int64_t> group_of_;             // by step, or -1
  std::vector<Group> groups_;
  std::map<ProgramPtr, std::optional<LoopNest>> nests_;  // of kernels, by body
};

}  // namespace

Fused grouped(Fused steps, int vector_bytes, int threads) { return Grouper(std::move(steps), vector_bytes, threads).run(); }

}  // namespace anadrome::blocks
