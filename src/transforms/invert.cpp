// invert: a work list of equations. One is replayed as soon as its operands are known, and solved as soon as its result and all
// operands but one are; what becomes known puts its maker and its readers back on the list.
#include "transforms/invert.h"

#include <algorithm>
#include <deque>

#include "anadrome/error.h"
#include "core/text.h"
#include "optimize/passes.h"
#include "primitives/op.h"
#include "transforms/inverse_rules.h"
#include "transforms/memo.h"

namespace anadrome {
namespace {

class Solver {
 public:
  Solver(const Program& p, std::string name)
      : p_(p), name_(std::move(name)), value_(p.types.size()), amplification_(p.types.size(), 1), maker_(p.types.size(), none),
        readers_(p.types.size()), waiting_(p.equations.size(), 0) {
    for (std::size_t k = 0; k < p.equations.size(); ++k) {
      for (VarId r : p.equations[k].results) maker_[r] = k;
      for (const Atom& a : p.equations[k].operands)
        if (a.is_var()) readers_[a.var].push_back(k);
      wait(k);  // equations of numbers alone
    }
  }

  void set(VarId v, const Array& x, double amplification) {
    if (value_[v].defined()) return;
    value_[v] = x;
    amplification_[v] = amplification;
    if (maker_[v] != none) wait(maker_[v]);
    for (std::size_t k : readers_[v]) wait(k);
  }
  void run() {
    while (!list_.empty()) {
      const std::size_t k = list_.front();
      list_.pop_front();
      waiting_[k] = 0;
      AtEquation at(p_, p_.equations[k], regions_);
      examine(p_.equations[k]);
    }
  }
  const Array& value(VarId v) const { return value_[v]; }
  double amplification(VarId v) const { return amplification_[v]; }

  /// Names what keeps argument v from being known: the last equation that loses it by itself, else one with several unknowns.
  [[noreturn]] void fail(VarId v) const {
    const Equation* several = nullptr;
    for (std::size_t k = p_.equations.size(); k-- > 0;) {
      const Equation& e = p_.equations[k];
      const std::size_t unknown = unknown_operands(e);
      if (unknown == 0 || !results_known(e)) continue;
      if (unknown == 1) refuse(e, e.prim == &prim::slice ? "keeps a part of its operand, and nothing tells the rest" : "loses information: its result does not tell its operand");
      if (!several) several = &e;
    }
    if (several) refuse(*several, "cannot be undone: more than one of its operands depends on what is asked for");
    throw NotInvertible(name_ + ": the function cannot be run backwards: nothing it returns depends on an argument of type " +
                        to_string(p_.type(v)) + "." + at_current_source());
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  void wait(std::size_t k) {
    if (waiting_[k]) return;
    waiting_[k] = 1;
    list_.push_back(k);
  }
  bool known(const Atom& a) const { return !a.is_var() || value_[a.var].defined(); }
  bool results_known(const Equation& e) const {
    return std::all_of(e.results.begin(), e.results.end(), [&](VarId r) { return value_[r].defined(); });
  }
  std::size_t unknown_operands(const Equation& e) const {
    return static_cast<std::size_t>(std::count_if(e.operands.begin(), e.operands.end(), [&](const Atom& a) { return !known(a); }));
  }

  void examine(const Equation& e) {
    const std::size_t unknown = unknown_operands(e);
    const bool done = results_known(e);
    if (unknown == 0 && !done) return replay(e);
    if (unknown == 0 || !done) return;
    if (e.prim == &prim::slice) return join_slices(e.operands[0].var);
    const InverseRule* rule = inverse_rule(*e.prim);
    if (rule && (unknown == 1 || rule->each)) solve(e, *rule);
  }

  Arrays operands(const Equation& e) const {
    Arrays out;
    for (const Atom& a : e.operands) out.push_back(a.is_var() ? value_[a.var] : literal(a.literal));
    return out;
  }

  void replay(const Equation& e) {
    double amplification = 1;
    for (const Atom& a : e.operands)
      if (a.is_var()) amplification = std::max(amplification, amplification_[a.var]);
    const Arrays y = bind_all(*e.prim, operands(e), e.attrs);
    for (std::size_t i = 0; i < y.size(); ++i) set(e.results[i], y[i], amplification);
  }

  void solve(const Equation& e, const InverseRule& rule) {
    const Arrays x = operands(e);
    std::vector<Type> in, out;
    double amplification = amplification_[e.results[0]];
    for (const Atom& a : e.operands) {
      in.push_back(p_.type(a));
      if (a.is_var() && known(a)) amplification = std::max(amplification, amplification_[a.var]);
    }
    for (VarId r : e.results) out.push_back(p_.types[r]);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i].defined()) continue;
      if (e.prim->work == Work::elementwise && in[i].shape != out[0].shape) continue;
      const Undone undone = rule.undo({e, in, out, x, value_[e.results[0]], i});
      if (undone.x.defined()) set(e.operands[i].var, undone.x, amplification * undone.amplification);
    }
  }

  /// A value whose slices along one axis, all known, cover it.
  void join_slices(VarId v) {
    const Shape& shape = p_.types[v].shape;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      std::vector<const Equation*> parts;
      for (std::size_t k : readers_[v])
        if (p_.equations[k].prim == &prim::slice && results_known(p_.equations[k]) && cuts(p_.equations[k], shape, axis)) parts.push_back(&p_.equations[k]);
      const auto start = [&](const Equation* e) { return e->as<SliceAttr>().start[axis]; };
      std::sort(parts.begin(), parts.end(), [&](const Equation* a, const Equation* b) { return start(a) < start(b); });
      Arrays pieces;
      std::int64_t reached = 0;
      double amplification = 1;
      for (const Equation* e : parts) {
        if (start(e) != reached) continue;
        reached = e->as<SliceAttr>().limit[axis];
        pieces.push_back(value_[e->results[0]]);
        amplification = std::max(amplification, amplification_[e->results[0]]);
      }
      if (reached == shape[axis] && !pieces.empty()) return set(v, op::concatenate(pieces, axis), amplification);
    }
  }
  /// True when a slice leaves every other axis whole and has steps of 1.
  static bool cuts(const Equation& e, const Shape& shape, int axis) {
    const auto& [start, limit, strides] = e.as<SliceAttr>();
    for (int k = 0; k < shape.rank(); ++k)
      if (strides[k] != 1 || (k != axis && (start[k] != 0 || limit[k] != shape[k]))) return false;
    return limit[axis] > start[axis];
  }

  [[noreturn]] void refuse(const Equation& e, const std::string& why) const {
    const std::string line = p_.sources && e.origin < p_.sources->size() ? at_source((*p_.sources)[e.origin]) : std::string();
    throw NotInvertible(name_ + ": the function cannot be run backwards: `" + equation_text(p_, e) + "` " + why + "." +
                        (line.empty() ? at_current_source() : line));
  }

  const Program& p_;
  std::string name_;
  Arrays value_;
  std::vector<double> amplification_;
  std::vector<std::size_t> maker_;
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<char> waiting_;
  std::deque<std::size_t> list_;
  RegionMap regions_;
};

/// Without calls, windows at numbers as slices.
Program plain(const SubProgram& program) {
  Program p = *program.program;
  if (program.sources) p.sources = program.sources;
  return dead_code(common_subexpressions(simplify(fold(simplify(inline_calls(p))))));
}

std::shared_ptr<const InverseProgram> make_inverse(const SubProgram& program, const Mask& unknown, const Mask& given, const std::string& name) {
  const Program p = plain(program);
  const std::vector<VarId> args = arguments(p);
  std::vector<Type> types;
  for (std::size_t i = 0; i < args.size(); ++i)
    if (!unknown[i]) types.push_back(p.types[args[i]]);
  for (std::size_t k = 0; k < given.size(); ++k)
    if (given[k]) types.push_back(p.type(p.outputs[k]));
  auto out = std::make_shared<InverseProgram>();
  out->program = build_program("inverse", types, p.sources, [&](const Arrays& in) {
    Solver solver(p, name);
    std::size_t next = 0;
    for (std::size_t i = 0; i < args.size(); ++i)
      if (!unknown[i]) solver.set(args[i], in[next++], 1);
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (!given[k]) continue;
      if (p.outputs[k].is_var()) solver.set(p.outputs[k].var, in[next], 1);
      ++next;
    }
    solver.run();
    Arrays found;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (!unknown[i]) continue;
      if (!solver.value(args[i]).defined()) solver.fail(args[i]);
      found.push_back(solver.value(args[i]));
      out->amplification = std::max(out->amplification, solver.amplification(args[i]));
    }
    return found;
  });
  return out;
}

}  // namespace

std::shared_ptr<const InverseProgram> invert_program(const SubProgram& program, const Mask& unknown, const Mask& given,
                                                     const std::string& name) {
  std::vector<std::int64_t> key(unknown.begin(), unknown.end());
  key.push_back(-1);
  key.insert(key.end(), given.begin(), given.end());
  return Memo::instance().get<InverseProgram>(
      program.program, MemoKind::invert, key, [&] { return make_inverse(program, unknown, given, name); },
      [](const InverseProgram& r) { return program_bytes(*r.program); });
}

}  // namespace anadrome
