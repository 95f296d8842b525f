// hoist_invariants: what every step of a loop computes again from the same numbers is computed once, before it; what no step reads
// is not handed to the loop.
#include <algorithm>
#include <unordered_map>

#include "optimize/passes.h"
#include "optimize/rewrite.h"

namespace anadrome {
namespace {

/// A loop body in two parts: equations that depend on what every step reads alone, and the rest.
class Split {
 public:
  /// The first `consts` inputs of the body are the same in every step.
  Split(const Program& body, std::size_t consts) : body_(body), consts_(consts), same_(body.types.size(), 0), maker_(body.types.size(), -1) {
    for (std::size_t i = 0; i < consts; ++i) same_[body.inputs[i]] = 1;
    for (std::size_t i = 0; i < body.equations.size(); ++i) {
      const Equation& e = body.equations[i];
      const bool same = std::all_of(e.operands.begin(), e.operands.end(), [&](const Atom& a) { return !a.is_var() || same_[a.var]; });
      for (VarId v : e.results) same_[v] = same, maker_[v] = static_cast<std::int64_t>(i);
    }
    hoisted_.assign(body.equations.size(), 0);
    for (std::size_t i = 0; i < body.equations.size(); ++i)
      if (worth(body.equations[i])) mark(i);
    find_exported();
  }

  bool empty() const { return exported_.empty(); }
  /// Values that the rest reads.
  const std::vector<VarId>& exported() const { return exported_; }
  /// Computes them in the program that holds the loop, from the atoms of the constants.
  std::vector<Atom> emit(Rewriter& to, std::span<const Atom> consts) const {
    std::unordered_map<VarId, Atom> value;
    for (std::size_t i = 0; i < consts_; ++i) value[body_.inputs[i]] = consts[i];
    for (std::size_t i = 0; i < body_.equations.size(); ++i) {
      if (!hoisted_[i]) continue;
      const Equation& e = body_.equations[i];
      std::vector<Atom> operands;
      for (const Atom& a : e.operands) operands.push_back(a.is_var() ? value.at(a.var) : a);
      value[e.results[0]] = to.emit(*e.prim, e.attrs, operands);
    }
    std::vector<Atom> out;
    for (VarId v : exported_) out.push_back(value.at(v));
    return out;
  }
  /// The body without them: they are constants behind the others.
  ProgramPtr rest() const {
    Program out = body_;
    out.equations.clear();
    for (std::size_t i = 0; i < body_.equations.size(); ++i)
      if (!hoisted_[i]) out.equations.push_back(body_.equations[i]);
    out.inputs.insert(out.inputs.begin() + static_cast<std::ptrdiff_t>(consts_), exported_.begin(), exported_.end());
    return intern(dead_code(out));
  }

 private:
  /// Moving and repeating costs nothing where it is read: it goes along with arithmetic, not by itself.
  bool worth(const Equation& e) const {
    return e.results.size() == 1 && e.prim->work != Work::movement && e.prim->work != Work::call && same_[e.results[0]] != 0;
  }
  void mark(std::size_t i) {
    std::vector<std::size_t> open{i};
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (hoisted_[at]) continue;
      if (body_.equations[at].results.size() != 1 || body_.equations[at].prim->work == Work::call) continue;
      hoisted_[at] = 1;
      for (const Atom& a : body_.equations[at].operands)
        if (a.is_var() && maker_[a.var] >= 0) open.push_back(static_cast<std::size_t>(maker_[a.var]));
    }
  }
  void find_exported() {
    std::vector<char> exported(body_.types.size(), 0);
    const auto read = [&](const Atom& a) {
      if (!a.is_var() || maker_[a.var] < 0 || !hoisted_[static_cast<std::size_t>(maker_[a.var])] || exported[a.var]) return;
      exported[a.var] = 1;
      exported_.push_back(a.var);
    };
    for (std::size_t i = 0; i < body_.equations.size(); ++i)
      if (!hoisted_[i])
        for (const Atom& a : body_.equations[i].operands) read(a);
    for (const Atom& a : body_.outputs) read(a);
  }

  const Program& body_;
  std::size_t consts_;
  std::vector<char> same_;             // by variable
  std::vector<std::int64_t> maker_;    // by variable: equation, or -1
  std::vector<char> hoisted_;          // by equation
  std::vector<VarId> exported_;
};

/// Drops operands that no step reads, but for carries.
void drop_unread(Equation& e) {
  ScanAttr a = e.as<ScanAttr>();
  Program body = *a.body;
  std::vector<char> read(body.types.size(), 0);
  for (const Equation& inner : body.equations)
    for (const Atom& x : inner.operands)
      if (x.is_var()) read[x.var] = 1;
  for (const Atom& y : body.outputs)
    if (y.is_var()) read[y.var] = 1;
  const auto first = static_cast<std::size_t>(a.consts), end = first + static_cast<std::size_t>(a.carries);
  std::vector<Atom> operands;
  std::vector<VarId> inputs;
  for (std::size_t i = 0; i < body.inputs.size(); ++i) {
    if (!read[body.inputs[i]] && (i < first || i >= end)) {
      a.consts -= i < first;
      continue;
    }
    operands.push_back(e.operands[i]);
    inputs.push_back(body.inputs[i]);
  }
  if (operands.size() == e.operands.size()) return;
  body.inputs = std::move(inputs);
  a.body.program = intern(std::move(body));
  e.attrs = a;
  e.operands = {};
  for (const Atom& x : operands) e.operands.push_back(x);
}

void hoist_scan(Rewriter& to, const Equation& e) {
  const ScanAttr& a = e.as<ScanAttr>();
  const ProgramPtr body = intern(hoist_invariants(*a.body));
  const auto consts = static_cast<std::size_t>(a.consts);
  const Split split(*body, consts);
  Equation out = to.mapped(e);
  ScanAttr attr = a;
  attr.body.program = body;
  if (!split.empty() && a.length > 1) {
    std::vector<Atom> operands(out.operands.begin(), out.operands.end());
    to.stamp(e);
    const std::vector<Atom> hoisted = split.emit(to, {operands.data(), consts});
    operands.insert(operands.begin() + a.consts, hoisted.begin(), hoisted.end());
    out.operands = {};
    for (const Atom& x : operands) out.operands.push_back(x);
    attr.body.program = split.rest();
    attr.consts += static_cast<std::int64_t>(hoisted.size());
  }
  out.attrs = attr;
  drop_unread(out);
  to.append(std::move(out));
}

}  // namespace

Program hoist_invariants(const Program& program) {
  const bool loops = std::any_of(program.equations.begin(), program.equations.end(), [](const Equation& e) { return e.prim == &prim::scan; });
  if (!loops) return program;
  Rewriter to(program);
  for (const Equation& e : program.equations) {
    if (e.prim == &prim::scan) hoist_scan(to, e);
    else to.copy(e);
  }
  return to.finish();
}

}  // namespace anadrome
