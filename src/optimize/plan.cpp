// plan_memory: values that share bits, updates in place, outputs and donated arguments, outputs that hold
// other values before their own, then one arena for the rest.
#include "optimize/plan.h"

#include "optimize/fuse.h"
#include "optimize/offsets.h"
#include "primitives/prims.h"

namespace anadrome {
namespace {

constexpr std::int64_t before_all = -1;
// Of many outputs and values the largest are worth the time to find a place for them.
constexpr std::size_t most_spares = 16, most_moved = 256;
// Memory that ends at a page, as in tests, is aligned for every dtype where its size is a multiple of this.
constexpr std::uint64_t widest_item = 8;

/// True when an equation's result has the bytes of its operand in the same order.
bool copies_bits(const Equation& e, const Type& in, const Type& out) {
  if (in.bytes() != out.bytes()) return false;
  if (e.prim == &prim::reshape || e.prim == &prim::stop_gradient || e.prim == &prim::broadcast_in_dim) return true;
  if (e.prim == &prim::bitcast) return item_size(in.dtype) == item_size(out.dtype);
  if (e.prim != &prim::transpose) return false;
  std::int64_t last = -1;
  for (std::int64_t k : e.as<PermutationAttr>().perm) {
    if (in.shape[k] == 1) continue;
    if (k < last) return false;
    last = k;
  }
  return true;
}

/// Values that are the same bits.
struct Group {
  std::int64_t first, last;  // equations: made, last read
  std::uint64_t bytes;
  std::size_t buffer;
  bool claimed = false;  // some output is this memory
};
/// Groups that follow each other in one memory.
struct Buffer {
  std::int64_t first, last;
  std::uint64_t bytes;
  std::int64_t argument = -1, output = -1;  // where it lives, if not in the arena
};

class Planner {
 public:
  Planner(const Program& program, std::span<const bool> donated, std::span<const StepNeeds> needs)
      : program_(program), needs_(needs), group_of_(program.types.size()), end_(static_cast<std::int64_t>(program.equations.size())) {
    const std::size_t arguments = program.captures.size() + program.inputs.size();
    for (std::size_t i = 0; i < arguments; ++i) donated_.push_back(i < donated.size() && donated[i]);
    out_.elided.resize(program.equations.size());
    out_.scratch.resize(program.equations.size());
    out_.donor.assign(program.outputs.size(), -1);
    out_.written.resize(arguments);
  }

  Plan run() {
    make_groups();
    for (std::int64_t i = 0; i < end_; ++i)
      if (!out_.elided[static_cast<std::size_t>(i)]) update_in_place(i);
    place_outputs();
    place_rest();
    return std::move(out_);
  }

 private:
  Group& group(VarId v) { return groups_[group_of_[v]]; }
  Buffer& buffer(const Group& g) { return buffers_[g.buffer]; }
  std::uint64_t bytes(VarId v) const { return program_.type(v).bytes(); }

  void new_group(VarId v, std::int64_t first) {
    group_of_[v] = groups_.size();
    groups_.push_back({first, first, bytes(v), buffers_.size()});
    buffers_.push_back({first, first, bytes(v)});
  }

  void make_groups() {
    std::int64_t argument = 0;
    for (const auto* list : {&program_.captures, &program_.inputs})
      for (VarId v : *list) {
        new_group(v, before_all);
        buffers_.back().argument = argument++;
      }
    for (std::int64_t i = 0; i < end_; ++i) {
      const Equation& e = program_.equations[static_cast<std::size_t>(i)];
      for (const Atom& a : e.operands)
        if (a.is_var()) group(a.var).last = i;
      const bool same = e.operands.size() == 1 && e.results.size() == 1 && e.operands[0].is_var() &&
                        copies_bits(e, program_.type(e.operands[0].var), program_.type(e.results[0]));
      out_.elided[static_cast<std::size_t>(i)] = same;
      for (VarId v : e.results)
        if (same) group_of_[v] = group_of_[e.operands[0].var];
        else new_group(v, i);
    }
    for (const Atom& a : program_.outputs)
      if (a.is_var()) group(a.var).last = end_;
    for (const Group& g : groups_) buffer(g).last = g.last;
  }

  // ---- updates in place

  /// True when equation i may write its first result over operand k.
  bool can_overwrite(std::int64_t i, const Equation& e, std::size_t k) {
    const Atom& a = e.operands[k];
    if (!a.is_var()) return false;
    const Type &x = program_.type(a.var), &y = program_.type(e.results[0]);
    const Group& g = group(a.var);
    if (g.last != i || x.dtype != y.dtype || x.bytes() != y.bytes() || x.bytes() == 0) return false;
    const std::int64_t argument = buffer(g).argument;
    if (argument >= 0 && !donated_[static_cast<std::size_t>(argument)]) return false;
    const bool elementwise = e.prim->work == Work::elementwise;
    if (elementwise && x.shape != y.shape) return false;
    for (std::size_t j = 0; j < e.operands.size(); ++j) {
      const Atom& b = e.operands[j];
      if (j == k || !b.is_var() || group_of_[b.var] != group_of_[a.var]) continue;
      if (!elementwise || program_.type(b.var).shape != y.shape) return false;
    }
    return true;
  }

  /// The operand whose memory result 0 takes, or null. Donated arguments first: then their memory holds an output.
  const Atom* overwritten(std::int64_t i, const Equation& e) {
    const bool elementwise = e.prim->work == Work::elementwise && e.results.size() == 1;
    if (e.results.empty() || (!elementwise && e.prim->in_place < 0)) return nullptr;
    const Atom* found = nullptr;
    for (std::size_t k = 0; k < e.operands.size(); ++k) {
      if (!elementwise && k != static_cast<std::size_t>(e.prim->in_place)) continue;
      if (!can_overwrite(i, e, k)) continue;
      if (!found || buffer(group(e.operands[k].var)).argument >= 0) found = &e.operands[k];
    }
    return found;
  }

  void update_in_place(std::int64_t i) {
    const Equation& e = program_.equations[static_cast<std::size_t>(i)];
    const StepNeeds* needs = static_cast<std::size_t>(i) < needs_.size() ? &needs_[static_cast<std::size_t>(i)] : nullptr;
    if (needs && needs->apart) return;
    const auto kernel = [&](std::size_t k, std::size_t j) { return may_overwrite(*e.as<CallAttr>().body, k, j); };
    const auto blocks = [&](std::size_t k, std::size_t j) {
      return needs && std::find(needs->over.begin(), needs->over.end(), std::pair(static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(j))) != needs->over.end();
    };
    if (e.prim == &loop_kernel) put_results_over(i, e, kernel);
    else if (needs && !needs->over.empty()) put_results_over(i, e, blocks);
    else if (const Atom* over = overwritten(i, e)) put_over(e.results[0], *over);
  }

  /// Each result over an operand that dies in the equation, where `may` says that it can lie there.
  template <class May> void put_results_over(std::int64_t i, const Equation& e, May may) {
    std::vector<bool> taken(e.operands.size());
    for (std::size_t j = 0; j < e.results.size(); ++j) {
      std::size_t best = e.operands.size();
      for (std::size_t k = 0; k < e.operands.size(); ++k) {
        if (taken[k] || !dies_alone(i, e, k) || !may(k, j)) continue;
        if (best == e.operands.size() || buffer(group(e.operands[k].var)).argument >= 0) best = k;
      }
      if (best == e.operands.size()) continue;
      taken[best] = true;
      put_over(e.results[j], e.operands[best]);
    }
  }
  /// True when operand k is memory that nobody needs after equation i, under this name only.
  bool dies_alone(std::int64_t i, const Equation& e, std::size_t k) {
    const Atom& a = e.operands[k];
    if (!a.is_var() || group(a.var).last != i || program_.type(a.var).bytes() == 0) return false;
    const std::int64_t argument = buffer(group(a.var)).argument;
    if (argument >= 0 && !donated_[static_cast<std::size_t>(argument)]) return false;
    for (std::size_t j = 0; j < e.operands.size(); ++j)
      if (j != k && e.operands[j].is_var() && group_of_[e.operands[j].var] == group_of_[a.var]) return false;
    return true;
  }

  void put_over(VarId v, const Atom& over) {
    Group& result = group(v);
    const std::size_t own = result.buffer;
    result.buffer = group(over.var).buffer;
    buffers_[own].bytes = 0;
    Buffer& shared = buffers_[result.buffer];
    shared.last = std::max(shared.last, result.last);
    if (shared.argument >= 0) out_.written[static_cast<std::size_t>(shared.argument)] = true;
  }

  // ---- outputs

  void place_outputs() {
    const std::size_t n = program_.outputs.size();
    used_.resize(donated_.size());
    std::vector<bool> done(n);
    for (std::size_t k = 0; k < n; ++k) done[k] = lives_in_donated(k);
    for (const bool same_type : {true, false})
      for (std::size_t k = 0; k < n; ++k)
        if (!done[k]) done[k] = give_donated(k, same_type);
    for (std::size_t k = 0; k < n; ++k)
      if (!done[k]) give_own(k);
  }

  /// The output is a donated argument, or was made in the memory of one.
  bool lives_in_donated(std::size_t k) {
    const Atom& a = program_.outputs[k];
    if (!a.is_var() || bytes(a.var) == 0) return false;
    Group& g = group(a.var);
    const std::int64_t argument = buffer(g).argument;
    if (argument < 0 || g.claimed || !donated_[static_cast<std::size_t>(argument)]) return false;
    g.claimed = true;
    donate(k, argument);
    return true;
  }

  void donate(std::size_t k, std::int64_t argument) {
    used_[static_cast<std::size_t>(argument)] = true;
    out_.donor[k] = argument;
  }

  Type argument_type(std::size_t i) const {
    const std::size_t captures = program_.captures.size();
    return program_.type(i < captures ? program_.captures[i] : program_.inputs[i - captures]);
  }

  /// Takes the memory of a donated argument of the same size: at once if it is free by then, else by a copy at the end.
  bool give_donated(std::size_t k, bool same_type) {
    const Type type = program_.type(program_.outputs[k]);
    for (std::size_t i = 0; i < donated_.size(); ++i) {
      if (!donated_[i] || used_[i] || type.bytes() == 0) continue;
      const Type argument = argument_type(i);
      if (same_type ? argument != type : argument.bytes() != type.bytes()) continue;
      donate(k, static_cast<std::int64_t>(i));
      out_.written[i] = true;
      Buffer* b = unplaced(k);
      if (b && b->first > buffers_[i].last) b->argument = static_cast<std::int64_t>(i);  // argument i has buffer i
      else copy(k);
      return true;
    }
    return false;
  }

  void give_own(std::size_t k) {
    if (Buffer* b = unplaced(k)) b->output = static_cast<std::int64_t>(k);
    else copy(k);
  }

  /// The buffer of output k if it may be put anywhere; then it is claimed.
  Buffer* unplaced(std::size_t k) {
    const Atom& a = program_.outputs[k];
    if (!a.is_var()) return nullptr;
    Group& g = group(a.var);
    Buffer& b = buffer(g);
    if (g.claimed || b.argument >= 0 || b.output >= 0) return nullptr;
    g.claimed = true;
    return &b;
  }

  void copy(std::size_t k) { out_.copies.push_back({program_.outputs[k], static_cast<std::uint32_t>(k)}); }

  // ---- the arena

  std::size_t scratch_bytes(std::size_t i) const {
    const Equation& e = program_.equations[i];
    if (i < needs_.size() && needs_[i].scratch) return *needs_[i].scratch;
    if (!e.prim->scratch) return 0;
    boost::container::small_vector<Type, 4> in, out;
    for (const Atom& a : e.operands) in.push_back(program_.type(a));
    for (VarId v : e.results) out.push_back(program_.type(v));
    return e.prim->scratch({e.attrs, view(in), view(out)});
  }

  /// What needs memory besides arguments and outputs: buffers, then the scratch memory of each equation.
  std::vector<Lifetime> lives() const {
    std::vector<Lifetime> out;
    for (const Buffer& b : buffers_)
      out.push_back({b.first, b.last, b.argument >= 0 || b.output >= 0 ? 0 : b.bytes});
    for (std::int64_t i = 0; i < end_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      out.push_back({i, i, out_.elided[at] ? 0 : scratch_bytes(at)});
    }
    return out;
  }

  void place_rest() {
    std::vector<Lifetime> lives = this->lives();
    std::vector<Place> place(lives.size());
    use_outputs(lives, place);
    const Layout layout = lay_out(lives);
    out_.arena_bytes = layout.bytes;
    for (std::size_t i = 0; i < lives.size(); ++i)
      if (place[i].memory == Memory::arena) place[i].offset = layout.offset[i];
    std::copy(place.begin() + static_cast<std::ptrdiff_t>(buffers_.size()), place.end(), out_.scratch.begin());
    for (std::size_t v = 0; v < program_.types.size(); ++v) {
      const std::size_t at = groups_[group_of_[v]].buffer;
      const Buffer& b = buffers_[at];
      if (b.argument >= 0) out_.place.push_back({Memory::argument, static_cast<std::uint32_t>(b.argument), 0});
      else if (b.output >= 0) out_.place.push_back({Memory::output, static_cast<std::uint32_t>(b.output), 0});
      else out_.place.push_back(place[at]);
    }
  }

  // ---- outputs hold other values until their own is made

  /// The memory of an output, and what it holds until equation `until` has run.
  struct Spare {
    std::uint32_t output;
    std::int64_t until;
    std::uint64_t bytes;
    std::vector<std::size_t> held;
  };

  std::vector<Spare> spares() const {
    std::vector<std::int64_t> made(program_.outputs.size(), end_);  // those that are copied are written last
    for (const Buffer& b : buffers_)
      if (b.output >= 0) made[static_cast<std::size_t>(b.output)] = b.first;
    std::vector<Spare> out;
    for (std::uint32_t k = 0; k < program_.outputs.size(); ++k)
      if (const std::uint64_t bytes = program_.type(program_.outputs[k]).bytes();
          out_.donor[k] < 0 && made[k] > 0 && bytes % widest_item == 0)
        out.push_back({k, made[k] - 1, bytes, {}});
    std::stable_sort(out.begin(), out.end(), [](const Spare& a, const Spare& b) { return a.bytes > b.bytes; });
    if (out.size() > most_spares) out.resize(most_spares);
    std::reverse(out.begin(), out.end());  // the smallest that suffices is taken
    return out;
  }

  /// Moves large values out of the arena into outputs; what is moved takes no bytes in `lives` any more.
  void use_outputs(std::vector<Lifetime>& lives, std::vector<Place>& place) const {
    std::vector<Spare> spares = this->spares();
    std::vector<std::size_t> largest;
    for (std::size_t i = 0; i < lives.size(); ++i)
      if (lives[i].bytes) largest.push_back(i);
    std::stable_sort(largest.begin(), largest.end(), [&](std::size_t a, std::size_t b) { return lives[a].bytes > lives[b].bytes; });
    if (largest.size() > most_moved) largest.resize(most_moved);
    for (std::size_t i : largest)
      for (Spare& s : spares) {
        if (lives[i].bytes > s.bytes || lives[i].last > s.until) continue;
        s.held.push_back(i);
        if (fits(lives, s)) break;
        s.held.pop_back();
      }
    for (const Spare& s : spares) {
      const Layout layout = lay_out(held(lives, s));
      for (std::size_t k = 0; k < s.held.size(); ++k) {
        place[s.held[k]] = {Memory::output, s.output, layout.offset[k]};
        lives[s.held[k]].bytes = 0;
      }
    }
  }
  static std::vector<Lifetime> held(const std::vector<Lifetime>& lives, const Spare& s) {
    std::vector<Lifetime> out;
    for (std::size_t i : s.held) out.push_back(lives[i]);
    return out;
  }
  static bool fits(const std::vector<Lifetime>& lives, const Spare& s) {
    const Layout layout = lay_out(held(lives, s));
    for (std::size_t k = 0; k < s.held.size(); ++k)
      if (layout.offset[k] + lives[s.held[k]].bytes > s.bytes) return false;
    return true;
  }

  const Program& program_;
  std::span<const StepNeeds> needs_;
  std::vector<std::size_t> group_of_;  // by variable
  std::vector<Group> groups_;
  std::vector<Buffer> buffers_;  // those of the arguments first
  std::vector<bool> donated_, used_;
  std::int64_t end_;
  Plan out_;
};

}  // namespace

Plan plan_memory(const Program& program, std::span<const bool> donated, std::span<const StepNeeds> needs) {
  return Planner(program, donated, needs).run();
}

}  // namespace anadrome
