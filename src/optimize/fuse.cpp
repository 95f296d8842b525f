// fuse: from the last equation to the first, each joins the kernel of those that read it.
#include "optimize/fuse.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>

#include "core/intern.h"
#include "optimize/fuse_body.h"
#include "optimize/rewrite.h"
#include "primitives/prims.h"

namespace anadrome {
namespace {

enum class Role : std::uint8_t {
  step,     // stays an equation of its own
  free,     // costs nothing inside a kernel: copied into every kernel that reads it
  compute,  // an element of the result is computed where it is read
  reduce    // a sum over loops: only ever the end of a kernel
};

/// The loops of an equation: classes of axes, sorted. A value with two axes of one class keeps the order of its axes.
using Space = std::vector<int>;

struct Node {
  bool kernel = false;
  std::vector<std::uint32_t> members;  // equations, unsorted
  Space space;
  Ints reduced;  // classes that its sums run over, sorted; empty when there are none
  bool sums = false;
  bool unrolls = false;  // short axes: then many equations are few operations each
  std::int64_t operations = 0;
  std::uint32_t first = 0, last = 0;  // least and greatest member
  bool merged_away = false;
  /// By member: at which places of the nest it is read, a number for each. Windows along loops make new places.
  std::map<std::uint32_t, std::set<std::uint64_t>> places;
};

constexpr int most_visits = 400;  // of the search for a path between two nodes
constexpr std::size_t most_parts = 3;  // of a concatenation that a loop runs along
constexpr int most_rank = 8;
constexpr std::size_t most_places = 6;  // of one value: it is computed once for each

class Fuser {
 public:
  Fuser(const Program& program, const FuseOptions& options)
      : program_(program), options_(options), classes_(program), nodes_of_(program.equations.size()),
        role_(program.equations.size()), home_(program.equations.size(), -1), readers_(program.types.size()), is_output_(program.types.size()),
        defined_(program.types.size(), -1) {
    for (std::uint32_t i = 0; i < program.equations.size(); ++i) {
      for (VarId v : program.equations[i].results) defined_[v] = static_cast<std::int64_t>(i);
      for (const Atom& a : program.equations[i].operands)
        if (a.is_var() && (readers_[a.var].empty() || readers_[a.var].back() != i)) readers_[a.var].push_back(i);
    }
    for (const Atom& a : program.outputs)
      if (a.is_var()) is_output_[a.var] = true;
  }

  Fused run() {
    find_picked();
    for (std::size_t i = program_.equations.size(); i-- > 0;) {
      role_[i] = role(program_.equations[i]);
      place(static_cast<std::uint32_t>(i));
    }
    return build();
  }

 private:
  // ---- what an equation is

  const Type& type(VarId v) const { return program_.type(v); }

  Role role(const Equation& e) const {
    if (e.results.size() != 1) return Role::step;
    for (const Atom& a : e.operands)
      if (!simple(program_.type(a))) return Role::step;
    if (!simple(type(e.results[0]))) return Role::step;
    if (is_reduction(*e.prim)) return reduction_role(e);
    if (!options_.can_emit(program_, e)) return Role::step;
    if (e.prim == &prim::dot_general) return small_product(e) ? Role::compute : Role::step;
    return movement_role(e);
  }
  static bool simple(const Type& t) {
    return !t.is_ref && !is_complex(t.dtype) && t.rank() <= most_rank && t.elements() > 0;
  }

  Role reduction_role(const Equation& e) const {
    if (!e.operands[0].is_var() || !options_.can_emit(program_, e)) return Role::step;
    bool unrolled = true;
    for (std::int64_t k : reduced_axes(e)) unrolled &= classes_.unrolled(e.operands[0].var, static_cast<int>(k));
    if (unrolled) return Role::compute;
    for (std::int64_t k : reduced_axes(e))
      if (type(e.operands[0].var).shape[k] != 1 && classes_.unrolled(e.operands[0].var, static_cast<int>(k)))
        return Role::step;
    return Role::reduce;
  }

  /// A product whose contraction is unrolled, and of whose factors one is.
  bool small_product(const Equation& e) const {
    if (!e.operands[0].is_var() || !e.operands[1].is_var()) return false;
    const auto all = [&](VarId v, const Ints& axes) {
      return std::all_of(axes.begin(), axes.end(),
                         [&](std::int64_t k) { return classes_.unrolled(v, static_cast<int>(k)); });
    };
    const FreeAxes free = free_axes(program_, e);
    const VarId a = e.operands[0].var, b = e.operands[1].var;
    return all(a, e.as<DotAttr>().contract_lhs) && (all(a, free.lhs) || all(b, free.rhs));
  }

  Role movement_role(const Equation& e) const {
    const Prim* p = e.prim;
    if (p == &prim::reshape) return e.operands[0].is_var() && unrolled_reshape(e) ? Role::free : Role::step;
    if (p == &prim::broadcast_in_dim || p == &prim::transpose || p == &prim::slice || p == &prim::rev ||
        p == &prim::iota || p == &prim::identity || p == &prim::stop_gradient || p == &prim::dynamic_slice)
      return Role::free;
    if (p == &prim::add_slice || p == &prim::dynamic_add_slice || p == &prim::dynamic_update_slice)
      return worth_fusing(e) ? Role::compute : Role::step;
    if (p == &prim::concatenate) return joins_many(e) ? Role::step : Role::compute;
    return Role::compute;
  }

  /// In a kernel a reshape must take axes to axes, or split and merge unrolled ones.
  bool unrolled_reshape(const Equation& e) const {
    const VarId x = e.operands[0].var, y = e.results[0];
    for (const AxisGroup& g : reshape_groups(type(x).shape, type(y).shape)) {
      int longer = 0;
      bool unrolled = true;
      for (int k = g.from_begin; k < g.from_end; ++k) longer += type(x).shape[k] != 1, unrolled &= classes_.unrolled(x, k);
      const int from = longer;
      for (int k = g.to_begin; k < g.to_end; ++k) longer += type(y).shape[k] != 1, unrolled &= classes_.unrolled(y, k);
      if (!unrolled && (from != 1 || longer != 2)) return false;
    }
    return true;
  }

  /// An update of a small part is done in place by its own kernel, not by computing the whole array again.
  bool worth_fusing(const Equation& e) const {
    const VarId y = e.results[0];
    const Type part = program_.type(e.operands[1]);
    if (4 * part.elements() >= type(y).elements()) return true;
    for (int k = 0; k < type(y).rank(); ++k)
      if (part.shape[k] != type(y).shape[k] && !classes_.unrolled(y, k)) return false;
    return true;
  }

  /// In a loop along the joined axis each number is chosen among all parts; many parts are better copied.
  bool joins_many(const Equation& e) const {
    const bool loops = !classes_.unrolled(e.results[0], static_cast<int>(e.as<AxisAttr>().axis));
    return loops && e.operands.size() > most_parts;
  }

  void add_axes(Space& space, VarId v) const {
    for (int k = 0; k < type(v).rank(); ++k)
      if (!classes_.unrolled(v, k)) space.push_back(classes_.of(v, k));
  }
  /// Marks what is computed from single elements of long arrays that a run may write over.
  void find_picked() {
    picked_.assign(program_.equations.size(), false);
    if (std::none_of(options_.donated.begin(), options_.donated.end(), [](bool d) { return d; })) return;
    std::vector<bool> given(program_.types.size()), picked(program_.types.size());  // by variable
    std::size_t argument = 0;
    for (const auto* list : {&program_.captures, &program_.inputs})
      for (VarId v : *list) given[v] = argument < options_.donated.size() && options_.donated[argument], ++argument;
    for (std::size_t i = 0; i < program_.equations.size(); ++i) {
      const Equation& e = program_.equations[i];
      if (e.results.size() != 1) {
        for (VarId v : e.results) given[v] = true;
        continue;
      }
      const VarId y = e.results[0];
      bool uses = false, picks = false;
      for (const Atom& a : e.operands) {
        if (!a.is_var()) continue;
        uses |= given[a.var];
        picks |= picked[a.var] || (given[a.var] && has_loops(a.var));
      }
      given[y] = uses;
      picked_[i] = picked[y] = picks && !has_loops(y) && !is_reduction(*e.prim);
    }
  }
  static bool has_loops(const Space& s) {
    return std::any_of(s.begin(), s.end(), [](int c) { return c != AxisClasses::none; });
  }
  bool has_loops(VarId v) const {
    Space s;
    add_axes(s, v);
    return has_loops(s);
  }
  Space space(const Equation& e) const {
    Space out;
    if (is_reduction(*e.prim)) add_axes(out, e.operands[0].var);
    else add_axes(out, e.results[0]);
    Space sorted = out;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() ? sorted : out;
  }
  Ints reduced_classes(const Equation& e) const {
    Ints out;
    for (std::int64_t k : reduced_axes(e))
      if (const int c = classes_.of(e.operands[0].var, static_cast<int>(k)); c != AxisClasses::none) out.push_back(c);
    std::sort(out.begin(), out.end());
    return out;
  }
  std::int64_t operations(const Equation& e) const {
    if (movement_role(e) == Role::free) return 0;
    const VarId v = is_reduction(*e.prim) ? e.operands[0].var : e.results[0];
    std::int64_t n = 1;
    for (int k = 0; k < type(v).rank(); ++k)
      if (classes_.unrolled(v, k)) n *= type(v).shape[k];
    if (e.prim == &prim::dot_general)
      for (std::int64_t k : e.as<DotAttr>().contract_lhs) n *= type(e.operands[0].var).shape[k];
    return n > 1 && transcendental(e) ? 4 * n : n;
  }
  bool transcendental(const Equation& e) const {
    boost::container::small_vector<Type, 4> in;
    for (const Atom& a : e.operands) in.push_back(program_.type(a));
    const Type out = type(e.results[0]);
    return need<&Prim::cost>(*e.prim)({e.attrs, view(in), {&out, 1}}).transcendentals != 0;
  }
  /// True when computing an element again is cheaper than keeping it.
  bool cheap(const Equation& e, Role role) const {
    if (role == Role::free) return true;
    if (is_reduction(*e.prim) || e.prim == &prim::dot_general || e.prim == &prim::concatenate ||
        e.prim == &prim::gather)
      return false;
    return !transcendental(e);
  }

  // ---- placing

  void place(std::uint32_t i) {
    const Equation& e = program_.equations[i];
    if (turns_product(i)) role_[i] = Role::step;
    if (role_[i] == Role::step && e.prim == &prim::dot_general && is_turned(i)) {
      const int node = nodes_of_[readers_[e.results[0]][0]][0];
      join(i, node);
      home_[i] = node;
      return;
    }
    if (role_[i] == Role::step) return new_node(i, false);
    std::vector<int> kernels;
    bool kept = std::any_of(e.results.begin(), e.results.end(), [&](VarId v) { return is_output_[v]; });
    for (std::uint32_t r : readers_[e.results[0]])
      for (int n : nodes_of_[r]) {
        if (!nodes_[n].kernel) kept = true;
        else if (std::find(kernels.begin(), kernels.end(), n) == kernels.end()) kernels.push_back(n);
      }
    if (picked_[i]) kept |= std::erase_if(kernels, [&](int n) { return has_loops(nodes_[n].space); }) != 0;
    if (role_[i] == Role::free) {
      bool all = true;
      for (int n : kernels) all &= has_room(n, i) ? (join(i, n), true) : false;
      if (kept || !all || kernels.empty()) new_node(i, true);
      return;
    }
    if (role_[i] == Role::compute && !kept && kernels.size() == 1 && can_absorb(kernels[0], e, i))
      return join(i, kernels[0]);
    if (const int n = shared_kernel(i, kernels); n >= 0) return join(i, n);
    new_node(i, true);
  }

  /// True for a transpose that the product which it reads can do, writing its result so.
  bool turns_product(std::uint32_t i) const {
    const Equation& e = program_.equations[i];
    if (e.prim != &prim::transpose || !e.operands[0].is_var()) return false;
    const VarId x = e.operands[0].var;
    if (defined_[x] < 0 || readers_[x].size() != 1 || is_output_[x]) return false;
    const Equation& dot = program_.equations[static_cast<std::size_t>(defined_[x])];
    if (dot.prim != &prim::dot_general || !is_float(type(x).dtype) || role(dot) != Role::step) return false;
    if (!dot.operands[0].is_var() || !dot.operands[1].is_var() || dot.operands[0] == dot.operands[1]) return false;
    const FreeAxes free = free_axes(program_, dot);
    const std::int64_t rank = type(x).rank(), last = e.as<PermutationAttr>().perm[type(x).rank() - 1];
    if (free.rhs.rank() && last == rank - 1) return true;
    return free.lhs.rank() && last == rank - free.rhs.rank() - 1;
  }
  bool is_turned(std::uint32_t dot) const {
    const auto& readers = readers_[program_.equations[dot].results[0]];
    return readers.size() == 1 && turns_product(readers[0]);
  }

  void new_node(std::uint32_t i, bool kernel) {
    const Equation& e = program_.equations[i];
    Node n;
    n.kernel = kernel;
    n.first = n.last = i;
    if (kernel) n.space = space(e);
    nodes_.push_back(n);
    join(i, static_cast<int>(nodes_.size()) - 1);
    home_[i] = static_cast<int>(nodes_.size()) - 1;
  }

  void join(std::uint32_t i, int node) {
    std::set<std::uint64_t> at;
    if (nodes_[node].kernel) at = places(i, node);
    if (role_[i] != Role::free || at.empty()) at.insert(0);
    Node& n = nodes_[node];
    n.places[i] = std::move(at);
    n.members.push_back(i);
    n.first = std::min(n.first, i);
    n.last = std::max(n.last, i);
    nodes_of_[i].push_back(node);
    if (role_[i] != Role::free) home_[i] = node;
    if (!n.kernel) return;
    const std::int64_t count = operations(program_.equations[i]);
    n.operations += count;
    n.unrolls |= count > 1;
    if (role_[i] == Role::reduce) {
      n.sums = true;
      n.reduced = reduced_classes(program_.equations[i]);
    }
  }

  /// True for windows along an axis that a loop runs through: operands are read at other places than the result.
  bool moves(const Equation& e) const {
    const Prim* p = e.prim;
    if (p != &prim::slice && p != &prim::pad && p != &prim::rev && p != &prim::concatenate && p != &prim::add_slice &&
        p != &prim::dynamic_slice && p != &prim::dynamic_add_slice && p != &prim::dynamic_update_slice)
      return false;
    const VarId y = e.results[0];
    for (int k = 0; k < type(y).rank(); ++k) {
      bool along = p == &prim::rev;
      for (const Atom& a : e.operands) {
        const Shape& x = program_.type(a).shape;
        along |= x.size() == type(y).shape.size() && x[k] != type(y).shape[k];
      }
      if (along && !classes_.unrolled(y, k)) return true;
    }
    return false;
  }
  /// True when window `r` runs a loop along an axis of `v` that is unrolled elsewhere: then v must lie in memory.
  bool needs_memory(const Equation& r, VarId v) const {
    if (!moves(r)) return false;
    for (int k = 0; k < type(v).rank(); ++k)
      if (type(v).shape[k] != 1 && classes_.unrolled(v, k) && !classes_.unrolled(r.results[0], k)) return true;
    return false;
  }
  /// True when v is read at computed places: then it must lie in memory.
  static bool gathers(const Equation& r, VarId v) {
    return r.prim == &prim::gather && r.operands[0].is_var() && r.operands[0].var == v;
  }
  /// The places where node n reads the result of equation i, if it joins.
  std::set<std::uint64_t> places(std::uint32_t i, int n) const {
    std::set<std::uint64_t> out;
    for (std::uint32_t r : readers_[program_.equations[i].results[0]]) {
      const auto it = nodes_[n].places.find(r);
      if (it == nodes_[n].places.end()) continue;
      const bool moved = moves(program_.equations[r]);
      for (std::uint64_t place : it->second) out.insert(moved ? mix(place, r) : place);
    }
    return out;
  }

  bool has_room(int node, std::uint32_t i) const {
    const Node& n = nodes_[node];
    const Equation& e = program_.equations[i];
    if (places(i, node).size() > most_places) return false;
    for (std::uint32_t r : readers_[e.results[0]])
      if (n.places.count(r) && (needs_memory(program_.equations[r], e.results[0]) || gathers(program_.equations[r], e.results[0])))
        return false;
    return n.operations + operations(e) <= options_.most_operations &&
           (n.unrolls || static_cast<int>(n.members.size()) < options_.most_equations);
  }

  /// True when e, read by kernel n alone, may be computed inside it.
  bool can_absorb(int node, const Equation& e, std::uint32_t i) const {
    const Node& n = nodes_[node];
    if (!has_room(node, i)) return false;
    const Space s = space(e);
    if (s == n.space || cheap(e, role_[i])) return true;
    std::int64_t points = type(e.results[0]).elements(), kernel_points = 1;
    for (std::uint32_t m : n.members) kernel_points = std::max(kernel_points, type(program_.equations[m].results[0]).elements());
    const bool window = !std::includes(n.space.begin(), n.space.end(), s.begin(), s.end());
    return window && readers_[e.results[0]].size() == 1 && 2 * points >= kernel_points;
  }

  /// A kernel with the loops of e among its readers that e can join as one more result, after merging those that can be
  /// merged; -1 if there is none.
  int shared_kernel(std::uint32_t i, const std::vector<int>& kernels) {
    const Equation& e = program_.equations[i];
    const Space s = space(e);
    int best = -1;
    for (int n : kernels) {
      if (nodes_[n].merged_away || nodes_[n].space != s || !has_room(n, i)) continue;
      if (best < 0) best = n;
      else if (can_merge(best, n)) merge(best, n);
    }
    if (best < 0) return -1;
    if (role_[i] == Role::reduce) return -1;  // what reads a sum runs after it
    for (std::uint32_t r : readers_[e.results[0]])
      for (int n : nodes_of_[r])
        if (n != best && reaches(n, best)) return -1;
    return best;
  }

  bool can_merge(int a, int b) {
    const Node &x = nodes_[a], &y = nodes_[b];
    if (x.sums && y.sums && x.reduced != y.reduced) return false;
    if (x.operations + y.operations > options_.most_operations) return false;
    if (x.members.size() + y.members.size() > static_cast<std::size_t>(options_.most_equations) && !x.unrolls && !y.unrolls)
      return false;
    return !reaches(a, b) && !reaches(b, a);
  }

  void merge(int into, int from) {
    Node &x = nodes_[into], &y = nodes_[from];
    for (std::uint32_t m : y.members) {
      auto& of = nodes_of_[m];
      of.erase(std::find(of.begin(), of.end(), from));
      if (home_[m] == from) home_[m] = into;
      if (std::find(of.begin(), of.end(), into) != of.end()) continue;
      of.push_back(into);
      x.members.push_back(m);
    }
    for (const auto& [member, at] : y.places) x.places[member].insert(at.begin(), at.end());
    x.operations += y.operations;
    x.first = std::min(x.first, y.first);
    x.last = std::max(x.last, y.last);
    x.unrolls |= y.unrolls;
    if (y.sums) x.sums = true, x.reduced = y.reduced;
    y.merged_away = true;
    y.members.clear();
  }

  /// True when node `to` uses, directly or not, what node `from` makes (or when finding out takes too long).
  bool reaches(int from, int to) {
    std::vector<int> open{from};
    std::vector<bool>& seen = seen_;
    seen.assign(nodes_.size(), false);
    // What begins after the end of `to` leads back to it only through a node that has members on both sides.
    const std::uint32_t end = nodes_[to].last;
    const bool way_back = std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& n) {
      return n.kernel && !n.merged_away && n.first <= end && n.last > end;
    });
    for (int visits = 0; !open.empty(); ++visits) {
      const int at = open.back();
      open.pop_back();
      if (at == to) return true;
      if (visits > most_visits) return true;
      for (std::uint32_t m : nodes_[at].members)
        for (VarId v : program_.equations[m].results)
          for (std::uint32_t r : readers_[v])
            for (int n : nodes_of_[r])
              if (!seen[n] && n != at && (way_back || nodes_[n].first <= end)) seen[n] = true, open.push_back(n);
    }
    return false;
  }

  // ---- the new program

  /// The nodes in an order in which everything is made before it is read, close to the original one.
  std::vector<int> order() const {
    std::vector<int> missing(nodes_.size()), out;
    std::vector<std::vector<int>> later(nodes_.size());
    for (int n = 0; n < static_cast<int>(nodes_.size()); ++n)
      for (std::uint32_t m : nodes_[n].members)
        for (const Atom& a : program_.equations[m].operands)
          if (const int from = a.is_var() ? maker(a.var, n) : -1; from >= 0) later[from].push_back(n), ++missing[n];
    const auto after = [&](int a, int b) { return nodes_[a].last > nodes_[b].last; };
    std::priority_queue<int, std::vector<int>, decltype(after)> ready(after);
    for (int n = 0; n < static_cast<int>(nodes_.size()); ++n)
      if (!nodes_[n].merged_away && missing[n] == 0) ready.push(n);
    while (!ready.empty()) {
      out.push_back(ready.top());
      ready.pop();
      for (int n : later[out.back()])
        if (--missing[n] == 0) ready.push(n);
    }
    return out;
  }
  /// The node outside `reader` that makes v, or -1.
  int maker(VarId v, int reader) const {
    const std::int64_t e = defined_[v];
    if (e < 0) return -1;
    const auto& of = nodes_of_[static_cast<std::size_t>(e)];
    if (std::find(of.begin(), of.end(), reader) != of.end()) return -1;
    const int home = home_[static_cast<std::size_t>(e)];
    if (home < 0) throw InternalError("fuse: a value that a step reads is made nowhere");
    return home;
  }
  /// A copied equation gives its result to others only where it is at home.
  bool exported(std::uint32_t e, int node) const { return home_[e] == node; }

  Fused build() {
    Fused out{without_equations(program_), {}};
    for (int n : order()) {
      std::vector<std::uint32_t> members = nodes_[n].members;
      std::sort(members.begin(), members.end());
      append(out, n, members);
    }
    canonicalize(out.program);
    return out;
  }

  void append(Fused& out, int n, const std::vector<std::uint32_t>& members) {
    if (nodes_[n].kernel) {
      Equation kernel = kernel_equation(program_, members, kept_results(n, members));
      if (options_.can_loop(*kernel.as<CallAttr>().body)) {
        out.program.equations.push_back(std::move(kernel));
        out.members.push_back(members);
        return;
      }
    }
    if (!nodes_[n].kernel && members.size() == 2) {
      out.program.equations.push_back(turned_product_equation(program_, members[0], members[1]));
      out.members.push_back(members);
      return;
    }
    std::unordered_map<VarId, VarId> renamed;  // results that another node exports
    for (std::uint32_t m : members) {
      Equation e = program_.equations[m];
      for (Atom& a : e.operands)
        if (const auto it = a.is_var() ? renamed.find(a.var) : renamed.end(); it != renamed.end()) a.var = it->second;
      if (nodes_[n].kernel && !exported(m, n))
        for (VarId& v : e.results) {
          out.program.types.push_back(program_.type(v));
          v = renamed[v] = static_cast<VarId>(out.program.types.size() - 1);
        }
      out.program.equations.push_back(std::move(e));
      out.members.push_back({m});
    }
  }

  /// Results of node n that something outside reads.
  std::vector<VarId> kept_results(int n, const std::vector<std::uint32_t>& members) const {
    std::vector<VarId> out;
    for (std::uint32_t m : members) {
      if (!exported(m, n)) continue;
      for (VarId v : program_.equations[m].results) {
        bool kept = is_output_[v];
        for (std::uint32_t r : readers_[v])
          for (int reader : nodes_of_[r]) kept |= reader != n && maker(v, reader) == n;
        if (kept) out.push_back(v);
      }
    }
    return out;
  }

  const Program& program_;
  const FuseOptions& options_;
  AxisClasses classes_;
  std::vector<Node> nodes_;
  std::vector<std::vector<int>> nodes_of_;  // by equation
  std::vector<Role> role_;
  std::vector<int> home_;  // by equation: the node that gives its result to others, or -1
  std::vector<std::vector<std::uint32_t>> readers_;  // by variable: equations
  std::vector<bool> is_output_;                      // by variable
  std::vector<std::int64_t> defined_;                // by variable: its equation, or -1
  std::vector<bool> seen_;
  std::vector<bool> picked_;  // by equation
};

}  // namespace

Fused fuse(const Program& program, const FuseOptions& options) { return Fuser(program, options).run(); }

}  // namespace anadrome
