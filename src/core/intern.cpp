// Structural identity: canonical numbering, hash, comparison, and the table of shared programs.
#include "core/intern.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <set>
#include <unordered_map>

#include "anadrome/error.h"
#include "core/text.h"

namespace anadrome {
namespace {

// ---- numbering
// -----------------------------------------------------------------------------------------------

/// Whether variables are numbered captures, inputs, results already, and nothing is left out. A program that is not
/// well formed (a variable used before its definition) counts as not numbered, so that renumbering reports it.
bool is_numbered(const Program& p) {
  VarId next = 0;
  for (VarId v : p.captures)
    if (v != next++) return false;
  for (VarId v : p.inputs)
    if (v != next++) return false;
  for (const Equation& e : p.equations) {
    for (const Atom& a : e.operands)
      if (a.is_var() && a.var >= next) return false;
    for (VarId v : e.results)
      if (v != next++) return false;
    if (e.region) return false;
  }
  for (const Atom& a : p.outputs)
    if (a.is_var() && a.var >= next) return false;
  return next == p.types.size();
}

class Renumbering {
 public:
  explicit Renumbering(Program& program) : program_(program), renamed_(program.types.size(), Atom::no_var) {
    types_.reserve(program.types.size());
  }
  void run() {
    for (VarId& v : program_.captures) define(v);
    for (VarId& v : program_.inputs) define(v);
    for (Equation& e : program_.equations) {
      for (Atom& a : e.operands) use(a);
      for (VarId& v : e.results) define(v);
      if (e.region) e.region = regions_.try_emplace(e.region, regions_.size() + 1).first->second;
    }
    for (Atom& a : program_.outputs) use(a);
    program_.types = std::move(types_);
  }

 private:
  void define(VarId& v) {
    if (v >= renamed_.size() || renamed_[v] != Atom::no_var)
      throw InternalError("canonicalize: variable " + std::to_string(v) +
                          (v >= renamed_.size() ? " has no type" : " is defined twice"));
    renamed_[v] = static_cast<VarId>(types_.size());
    types_.push_back(std::move(program_.types[v]));
    v = renamed_[v];
  }
  void use(Atom& a) const {
    if (!a.is_var()) return;
    if (a.var >= renamed_.size() || renamed_[a.var] == Atom::no_var)
      throw InternalError("canonicalize: variable " + std::to_string(a.var) +
                          " is used before it is defined");
    a = Atom::variable(renamed_[a.var]);
  }

  Program& program_;
  std::vector<VarId> renamed_;
  std::vector<Type> types_;
  std::unordered_map<std::uint32_t, std::uint32_t> regions_;
};

// ---- hash
// ----------------------------------------------------------------------------------------------------

std::uint64_t hash_type(const Type& t) {
  std::uint64_t h = mix(static_cast<std::uint64_t>(t.dtype), t.is_ref);
  for (std::int64_t d : t.shape) h = mix(h, static_cast<std::uint64_t>(d));
  return mix(h, t.shape.size());
}
std::uint64_t hash_atom(const Atom& a) {
  if (a.is_var()) return a.var;
  return mix(mix(Atom::no_var, static_cast<std::uint64_t>(a.literal.dtype)), a.literal.bits);
}

/// Names of primitives differ in length, in their first eight characters or in their last.
std::uint64_t hash_name(std::string_view name) {
  std::uint64_t first = 0, last = 0;
  const std::size_t n = std::min<std::size_t>(name.size(), 8);
  std::memcpy(&first, name.data(), n);
  std::memcpy(&last, name.data() + name.size() - n, n);
  return mix(first ^ name.size(), last);
}

std::uint64_t hash_structure(const Program& p) {
  std::uint64_t h = mix(p.captures.size(), p.inputs.size());
  // The types of results follow from these.
  for (std::size_t v = 0; v < p.captures.size() + p.inputs.size(); ++v) h = mix(h, hash_type(p.types[v]));
  for (const Equation& e : p.equations) {
    h = mix(h, hash_name(e.prim->name));
    if (e.attrs.box()) h = mix(h, hash(e.attrs));
    h = mix(h, e.region);
    for (const Atom& a : e.operands) h = mix(h, hash_atom(a));
    h = mix(h, e.results.size());
  }
  for (const Atom& a : p.outputs) h = mix(h, hash_atom(a));
  return h ? h : 1;
}

// ---- comparison
// ----------------------------------------------------------------------------------------------

bool same_equation(const Equation& a, const Equation& b) {
  return a.prim == b.prim && a.region == b.region && a.operands == b.operands && a.results == b.results &&
         a.attrs == b.attrs;
}
/// Of canonical programs.
bool same_parts(const Program& a, const Program& b) {
  return a.captures.size() == b.captures.size() && a.inputs.size() == b.inputs.size() &&
         a.equations.size() == b.equations.size() && a.types == b.types && a.outputs == b.outputs &&
         std::equal(a.equations.begin(), a.equations.end(), b.equations.begin(), same_equation);
}

/// Pairs of programs found equal while the outermost comparison of this thread runs: a body that is called
/// twice on each of many levels is compared once.
class Proven {
 public:
  Proven() { ++depth_; }
  ~Proven() {
    if (--depth_ == 0) pairs_.clear();
  }
  Proven(const Proven&) = delete;
  /// Whether this is part of another comparison: only then can the pair come again.
  bool nested() const { return depth_ > 1; }
  bool contains(const Program& a, const Program& b) const { return nested() && pairs_.count({&a, &b}) != 0; }
  void add(const Program& a, const Program& b) { pairs_.insert({&a, &b}); }

 private:
  static thread_local int depth_;
  static thread_local std::set<std::pair<const Program*, const Program*>> pairs_;
};
thread_local int Proven::depth_ = 0;
thread_local std::set<std::pair<const Program*, const Program*>> Proven::pairs_;

Program canonical_copy(const Program& program) {
  Program copy = program;
  canonicalize(copy);
  return copy;
}

// ---- the table
// -----------------------------------------------------------------------------------------------

/// Programs by hash. Keeps none of them alive.
class InternTable {
 public:
  /// `make` gives the program to enter when there is none of this structure.
  template <class Make> ProgramPtr find_or_enter(const Program& program, Make make) {
    Shard& shard = shards_[program.hash % shards_.size()];
    const std::lock_guard lock(shard.mutex);
    const auto [first, last] = shard.entries.equal_range(program.hash);
    for (auto it = first; it != last; ++it)
      if (ProgramPtr known = it->second.lock(); known && same_structure(*known, program)) return known;
    if (shard.entries.size() >= shard.limit) clean(shard);
    ProgramPtr made = make();
    shard.entries.emplace(made->hash, made);
    return made;
  }

 private:
  struct Shard {
    std::mutex mutex;
    std::unordered_multimap<std::uint64_t, std::weak_ptr<const Program>> entries;
    std::size_t limit = 64;
  };
  static void clean(Shard& shard) {
    std::erase_if(shard.entries, [](const auto& entry) { return entry.second.expired(); });
    shard.limit = std::max<std::size_t>(64, 2 * shard.entries.size());
  }
  std::array<Shard, 16> shards_;
};

/// Never destroyed: programs may be interned while static objects go.
InternTable& table() {
  static InternTable& instance = *new InternTable;
  return instance;
}

}  // namespace

void canonicalize(Program& program) {
  if (!is_numbered(program)) Renumbering(program).run();
  program.hash = hash_structure(program);
}

bool same_structure(const Program& a, const Program& b) {
  if (&a == &b) return true;
  Proven proven;
  if (a.hash == 0 || b.hash == 0) {  // the copies are gone soon: nothing is noted about their addresses
    const Program x = canonical_copy(a), y = canonical_copy(b);
    return x.hash == y.hash && same_parts(x, y);
  }
  if (a.hash != b.hash) return false;
  if (proven.contains(a, b)) return true;
  if (!same_parts(a, b)) return false;
  if (proven.nested()) proven.add(a, b);
  return true;
}

ProgramPtr intern(Program program) {
  canonicalize(program);
  return table().find_or_enter(program, [&] { return std::make_shared<const Program>(std::move(program)); });
}

ProgramPtr intern(const ProgramPtr& program) {
  if (program->hash == 0) return intern(*program);
  return table().find_or_enter(*program, [&] { return program; });
}

}  // namespace anadrome
