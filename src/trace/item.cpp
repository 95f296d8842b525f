// Evaluates the part of a program being recorded that a value needs. Values are kept with the builder, so a loop that
// asks at each step costs as much as running its equations once.
#include "trace/item.h"

#include "core/eval.h"

namespace anadrome {
namespace {

[[noreturn]] void throw_unknown(const Builder& b, const Array& asked, std::string_view what) {
  const Node& node = *asked.node();
  throw TraceError(std::string(what) + ": a value of type " + to_string(node.type) + " in '" + b.name() +
                   "' has no number while the function is recorded" +
                   (at_source(node.source).empty() ? "" : " (it was made" + at_source(node.source) + ")") +
                   ". To choose between values use where(condition, a, b); to choose what is recorded make the "
                   "argument static (a C++ integer, enum or bool), or call the function outside jit and vmap." +
                   at_current_source());
}

class Evaluation {
 public:
  Evaluation(Builder& builder, const Array& asked, std::string_view what)
      : builder_(builder), asked_(asked), what_(what) {}

  Array value(VarId id) {
    builder_.known.resize(builder_.program().types.size());
    if (!builder_.known[id].defined()) run_needed(id);
    return builder_.known[id];
  }

 private:
  /// Runs the equations that `id` needs, in order. Only the new part of the program is walked.
  void run_needed(VarId id) {
    const Program& p = builder_.program();
    std::vector<char> needed(p.types.size(), 0);
    needed[id] = 1;
    std::size_t first = p.equations.size();
    std::size_t open = 1;
    for (std::size_t k = p.equations.size(); k-- > 0 && open > 0;) {
      const Equation& e = p.equations[k];
      bool wanted = false;
      for (VarId r : e.results)
        if (needed[r] && !builder_.known[r].defined()) wanted = true, --open;
      if (!wanted) continue;
      for (const Atom& a : e.operands)
        if (a.is_var() && !needed[a.var] && !builder_.known[a.var].defined()) needed[a.var] = 1, ++open;
      first = k;
    }
    for (VarId v = 0; v < needed.size() && open > 0; ++v)
      if (needed[v] && !builder_.known[v].defined() && load_outer(v)) --open;
    for (std::size_t k = first; k < p.equations.size(); ++k) {
      const Equation& e = p.equations[k];
      bool wanted = false;
      for (VarId r : e.results) wanted |= needed[r] && !builder_.known[r].defined();
      if (wanted) run(e);
    }
    if (!builder_.known[id].defined()) throw_unknown(builder_, asked_, what_);
  }

  bool load_outer(VarId id) {
    const Array outer = builder_.outer_value(id);
    if (!outer.defined()) return false;
    builder_.known[id] = concrete_value(outer, what_);
    return true;
  }

  void run(const Equation& e) {
    Arrays operands;
    for (const Atom& a : e.operands) {
      if (a.is_var() && !builder_.known[a.var].defined() && !load_outer(a.var)) throw_unknown(builder_, asked_, what_);
      operands.push_back(a.is_var() ? builder_.known[a.var] : literal(a.literal));
    }
    Arrays results = evaluate(*e.prim, e.attrs, operands);
    for (std::size_t i = 0; i < results.size(); ++i) builder_.known[e.results[i]] = results[i];
  }

  Builder& builder_;
  const Array& asked_;
  std::string_view what_;
};

}  // namespace

Array concrete_value(const Array& a, std::string_view what) {
  check_usable(a, what);
  if (is_concrete(a)) return a;
  if (is_literal(a)) {
    Array out = uninitialized(a.type());
    a.node()->literal.store(mutable_data(out));
    return out;
  }
  const Node& node = *a.node();
  Builder* builder = node.tag->builder;
  if (!builder)
    throw TraceError(std::string(what) + ": a value of type " + to_string(node.type) + " recorded inside '" +
                     node.tag->name + "'" + at_source(node.source) +
                     " is read after that function has ended. Return it from the function instead." +
                     at_current_source());
  return Evaluation(*builder, a, what).value(node.id);
}

}  // namespace anadrome
