// The checks a program must pass: types, definitions before use, references.
#include <unordered_set>

#include "anadrome/error.h"
#include "core/prim.h"
#include "core/text.h"

namespace anadrome {
namespace {

class Verifier {
 public:
  void check(const Program& program) {
    if (!seen_.insert(&program).second) return;
    std::vector<bool> defined(program.types.size(), false);
    for (VarId v : program.captures) define(program, v, defined, nullptr);
    for (VarId v : program.inputs) define(program, v, defined, nullptr);
    for (const Equation& e : program.equations) check_equation(program, e, defined);
    for (const Atom& a : program.outputs) check_use(program, a, defined, nullptr);
  }

 private:
  [[noreturn]] static void fail(const Program& program, const Equation* e, const std::string& what) {
    throw InternalError("verify: " + what + (e ? ", in: " + equation_text(program, *e) : std::string()));
  }
  static std::string variable(VarId v) { return "variable " + std::to_string(v); }

  static void define(const Program& program, VarId v, std::vector<bool>& defined, const Equation* e) {
    if (v >= defined.size()) fail(program, e, variable(v) + " has no type");
    if (defined[v]) fail(program, e, variable(v) + " is defined twice");
    defined[v] = true;
  }
  static void check_use(const Program& program, const Atom& a, const std::vector<bool>& defined,
                        const Equation* e) {
    if (!a.is_var()) return;
    if (a.var >= defined.size()) fail(program, e, variable(a.var) + " has no type");
    if (!defined[a.var])
      fail(program, e,
           variable(a.var) + (e ? " is used before it is defined" : " is an output and never defined"));
  }
  void check_equation(const Program& program, const Equation& e, std::vector<bool>& defined) {
    if (!e.prim) fail(program, &e, "an equation has no primitive");
    for (const Atom& a : e.operands) check_use(program, a, defined, &e);
    check_refs(program, e);
    for (const SubProgram* sub : sub_programs(e.attrs)) {
      if (!sub->program) fail(program, &e, "a sub-program is missing");
      check(**sub);
    }
    for (VarId v : e.results) define(program, v, defined, &e);
    check_types(program, e);
  }
  static void check_refs(const Program& program, const Equation& e) {
    std::unordered_set<VarId> refs;
    for (const Atom& a : e.operands)
      if (a.is_var() && program.type(a.var).is_ref && !refs.insert(a.var).second)
        fail(program, &e, "one reference is two operands");
  }
  static Types result_types(const Program& program, const Equation& e) {
    boost::container::small_vector<Type, 4> operands;
    for (const Atom& a : e.operands) operands.push_back(program.type(a));
    try {
      return need<&Prim::type>(*e.prim)({*e.prim, e.attrs, TypePointers({operands.data(), operands.size()})});
    } catch (const std::exception& error) {
      fail(program, &e, std::string("the type rule refuses: ") + error.what());
    }
  }
  static void check_types(const Program& program, const Equation& e) {
    const Types types = result_types(program, e);
    if (types.size() != e.results.size())
      fail(program, &e, "the type rule gives " + std::to_string(types.size()) + " results");
    for (std::size_t i = 0; i < types.size(); ++i)
      if (types[i] != program.type(e.results[i]))
        fail(program, &e,
             "the type rule gives result " + std::to_string(i) + " the type " + to_string(types[i]));
  }

  std::unordered_set<const Program*> seen_;
};

}  // namespace

void verify(const Program& program) {
  Verifier().check(program);
}

}  // namespace anadrome
