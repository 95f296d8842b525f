// grouped: finds products whose result one kernel reads, and what can join them.
#include "native/blocks/group.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "anadrome/error.h"
#include "core/intern.h"
#include "native/blocks/plan.h"
#include "native/blocks/turn.h"
#include "optimize/fuse_body.h"
#include "optimize/rewrite.h"
#include "primitives/prims.h"

namespace anadrome::blocks {
namespace {

constexpr std::size_t least_bytes = 128 << 10;  // of a product's result: less stays in the cache anyway
constexpr std::size_t least_handed = 64 << 10;  // bytes that kernels in a row hand to each other
constexpr std::size_t most_steps = 96;          // of a group
constexpr std::size_t most_visits = 400;        // of the search for a way from one step to another

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
    group_runs();
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
    while (group.size() < most_steps && grow(group)) {}
    add_group(std::move(group));
  }
  void add_group(Group group) {
    for (std::size_t i : group) group_of_[i] = static_cast<std::int64_t>(groups_.size());
    groups_.push_back(std::move(group));
  }

  // ---- nodes: steps, and behind them groups

  std::size_t node(std::size_t step) const {
    return group_of_[step] < 0 ? step : program_.equations.size() + static_cast<std::size_t>(group_of_[step]);
  }
  const Group* group_at(std::size_t node) const {
    return node < program_.equations.size() ? nullptr : &groups_[node - program_.equations.size()];
  }
  std::size_t last_of(std::size_t node) const { return group_at(node) ? *group_at(node)->rbegin() : node; }
  template <class F> void for_each_member(std::size_t node, F f) const {
    if (!group_at(node)) return f(node);
    for (std::size_t i : *group_at(node)) f(i);
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
  /// True when v is made from what the group makes, by steps outside it (or when finding out takes too long). Steps of
  /// another group wait for all that the group reads.
  bool depends(VarId v, const Group& group) const {
    std::vector<VarId> open{v};
    std::set<std::size_t> seen;  // nodes
    while (!open.empty()) {
      const std::int64_t i = maker_[open.back()];
      open.pop_back();
      if (i < 0) continue;
      const auto step = static_cast<std::size_t>(i);
      if (group.count(step)) {
        if (!seen.empty()) return true;  // through another step
        continue;
      }
      if (last_of(node(step)) < *group.begin() || !seen.insert(node(step)).second) continue;
      if (seen.size() > most_visits) return true;
      for_each_member(node(step), [&](std::size_t member) {
        for (const Atom& a : equation(member).operands)
          if (a.is_var()) open.push_back(a.var);
      });
    }
    return false;
  }

  // ---- kernels in a row

  /// Takes together neighbouring kernels that run along one axis, where they hand each other much.
  void group_runs() {
    for (std::size_t i = 0; i < program_.equations.size();) {
      Run run;
      while (i < program_.equations.size() && run.steps.size() < most_steps && group_of_[i] < 0 && is_kernel(i) && extend(run, i)) ++i;
      if (run.steps.empty()) ++i;
      else if (run.steps.size() > 1) try_run(run.steps);
    }
  }
  struct Run {
    Group steps;
    std::int64_t extent = 0;
    std::map<VarId, int> cut;  // values that its steps make: along which axis
  };
  bool extend(Run& run, std::size_t i) {
    const Equation& e = equation(i);
    const LoopNest* nest = nest_of(e);
    const auto axes = nest ? kernel_axes(*e.as<CallAttr>().body, *nest) : std::nullopt;
    if (!axes || (run.extent && run.extent != axes->extent)) return false;
    for (std::size_t k = 0; k < e.operands.size(); ++k) {
      const auto made = e.operands[k].is_var() ? run.cut.find(e.operands[k].var) : run.cut.end();
      if (made != run.cut.end() && made->second != axes->operands[k]) return false;
    }
    for (std::size_t k = 0; k < e.results.size(); ++k) run.cut[e.results[k]] = axes->results[k];
    run.extent = axes->extent;
    run.steps.insert(i);
    return true;
  }
  void try_run(const Group& steps) {
    std::size_t handed = 0;
    for (std::size_t i : steps)
      for (VarId v : equation(i).results)
        if (!is_output_[v] && std::all_of(readers_[v].begin(), readers_[v].end(), [&](std::size_t r) { return steps.count(r) != 0; }))
          handed += program_.type(v).bytes();
    if (handed < least_handed) return;
    for (std::size_t i : steps)
      for (const Atom& a : equation(i).operands)
        if (a.is_var() && depends(a.var, steps)) return;
    if (can_run(steps)) add_group(steps);
  }

  // ---- what a group is

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

  /// The nodes in an order in which everything is made before it is read, close to the old one.
  std::vector<std::size_t> order() const {
    const std::size_t n = program_.equations.size(), nodes = n + groups_.size();
    std::vector<std::size_t> missing(nodes), out;
    std::vector<std::vector<std::size_t>> later(nodes);
    for (std::size_t i = 0; i < n; ++i)
      for (const Atom& a : equation(i).operands) {
        if (!a.is_var() || maker_[a.var] < 0) continue;
        const std::size_t from = node(static_cast<std::size_t>(maker_[a.var]));
        if (from != node(i)) later[from].push_back(node(i)), ++missing[node(i)];
      }
    const auto after = [&](std::size_t a, std::size_t b) { return last_of(a) > last_of(b); };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(after)> ready(after);
    std::size_t all = 0;
    for (std::size_t i = 0; i < nodes; ++i) {
      if (i < n && group_of_[i] >= 0) continue;
      ++all;
      if (missing[i] == 0) ready.push(i);
    }
    while (!ready.empty()) {
      out.push_back(ready.top());
      ready.pop();
      for (std::size_t next : later[out.back()])
        if (--missing[next] == 0) ready.push(next);
    }
    if (out.size() != all) throw InternalError("blocks: groups of steps wait for each other");
    return out;
  }

  Fused build() {
    Fused out{without_equations(program_), {}};
    for (std::size_t at : order()) {
      const Group* group = group_at(at);
      if (!group) {
        out.program.equations.push_back(std::move(program_.equations[at]));
        out.members.push_back(std::move(steps_.members[at]));
        continue;
      }
      out.program.equations.push_back(plan(*group).equation);
      auto& members = out.members.emplace_back();
      for (std::size_t i : *group) members.insert(members.end(), steps_.members[i].begin(), steps_.members[i].end());
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
