// simplify: identities, and scalars in place of arrays filled with one.
#include <unordered_map>

#include "optimize/identities.h"
#include "optimize/passes.h"

namespace anadrome {
namespace {

const std::unordered_map<const Prim*, Identity>& identities() {
  static const auto table = [] {
    std::unordered_map<const Prim*, Identity> out;
    for (IdentityTable part : {arithmetic_identities(), movement_identities()}) out.insert(part.begin(), part.end());
    return out;
  }();
  return table;
}

/// True when the primitive takes these operands and gives `out`.
bool gives(const Equation& e, std::span<const Type> operands, const Type& out) {
  try {
    return result_types(*e.prim, e.attrs, operands)[0] == out;
  } catch (const TypeError&) {
    return false;
  }
}

/// An elementwise equation reads a scalar instead of an array filled with it; if that is so for all operands, it is
/// computed once and its result is spread. Changes `e`; gives the result in the second case.
std::optional<Atom> use_scalars(Rewriter& r, Equation& e, const Type& out) {
  if (e.prim->work != Work::elementwise || e.results.size() != 1 || out.rank() == 0) return std::nullopt;
  Equation scalars = e;
  const IdentityIn in{r, e, out};
  boost::container::small_vector<Type, 4> types;
  bool all = !e.operands.empty();
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    if (const auto scalar = in.uniform(i)) scalars.operands[i] = *scalar;
    else all = false;
    types.push_back(r.type(scalars.operands[i]));
  }
  if (all) {
    if (!gives(e, view(types), Type{out.dtype, {}})) return std::nullopt;
    const Atom y = r.emit(*e.prim, e.attrs, std::span<const Atom>(scalars.operands.data(), scalars.operands.size()));
    return r.broadcast(y, out.shape, {});
  }
  if (!(scalars.operands == e.operands) && gives(e, view(types), out)) e.operands = scalars.operands;
  return std::nullopt;
}

}  // namespace

Program simplify(const Program& program) {
  Rewriter r(program);
  for (const Equation& old : program.equations) {
    Equation e = r.mapped(old);
    if (e.results.empty()) {
      r.append(std::move(e));
      continue;
    }
    const Type& out = program.type(old.results[0]);
    r.stamp(e);
    std::optional<Atom> same;
    if (auto it = identities().find(e.prim); it != identities().end()) same = it->second(IdentityIn{r, e, out});
    if (!same) same = use_scalars(r, e, out);
    if (same) r.replace(old.results[0], *same);
    else r.append(std::move(e));
  }
  return r.finish();
}

}  // namespace anadrome
