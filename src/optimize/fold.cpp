// fold: runs the primitives' own `eval` on small constants. Only numbers (rank 0) are put into the program; a larger
// constant stays an equation, but a number computed from it is found.
#include "core/eval.h"
#include "optimize/passes.h"
#include "optimize/rewrite.h"

namespace anadrome {
namespace {

constexpr std::int64_t small = 1024;  // elements of a constant that is kept while folding

class Folder {
 public:
  explicit Folder(const Program& program) : rewriter_(program), known_(program.types.size()) {}

  Program run() {
    for (const Equation& e : rewriter_.from().equations) {
      if (foldable(e)) evaluate_now(e);
      if (!replaced(e)) rewriter_.copy(e);
    }
    return rewriter_.finish();
  }

 private:
  Array value(const Atom& old) const { return old.is_var() ? known_[old.var] : literal(old.literal); }

  bool foldable(const Equation& e) const {
    if (!e.prim->eval || e.prim->work == Work::call || e.prim == &prim::require) return false;
    for (const Atom& a : e.operands)
      if (a.is_var() && !known_[a.var].defined()) return false;
    for (VarId v : e.results)
      if (rewriter_.from().type(v).elements() > small) return false;
    return true;
  }

  void evaluate_now(const Equation& e) {
    Arrays x;
    for (const Atom& a : e.operands) x.push_back(value(a));
    Arrays y = evaluate(*e.prim, e.attrs, x);
    for (std::size_t i = 0; i < y.size(); ++i) known_[e.results[i]] = std::move(y[i]);
  }

  /// True when every result became a number.
  bool replaced(const Equation& e) {
    for (VarId v : e.results)
      if (!known_[v].defined() || rewriter_.from().type(v).rank() != 0) return false;
    for (VarId v : e.results)
      rewriter_.replace(v, Atom::number(Literal::load(known_[v].dtype(), data(known_[v]))));
    return true;
  }

  Rewriter rewriter_;
  Arrays known_;  // by old variable: constants, empty for everything else
};

}  // namespace

Program fold(const Program& program) { return Folder(program).run(); }

}  // namespace anadrome
