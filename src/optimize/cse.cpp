// common_subexpressions: one table of the equations seen so far. Regions are part of the key: what a checkpoint
// recomputes equals what it avoided to keep, and must stay apart from it.
#include <unordered_map>

#include "optimize/passes.h"
#include "optimize/rewrite.h"

namespace anadrome {
namespace {

std::uint64_t hash_equation(const Equation& e) {
  std::uint64_t h = mix(reinterpret_cast<std::uintptr_t>(e.prim), hash(e.attrs));
  h = mix(h, e.region);
  for (const Atom& a : e.operands) {
    h = mix(h, a.var);
    if (!a.is_var()) h = mix(mix(h, a.literal.bits), static_cast<std::uint64_t>(a.literal.dtype));
  }
  return h;
}

bool same_equation(const Equation& a, const Equation& b) {
  return a.prim == b.prim && a.region == b.region && a.operands == b.operands && a.attrs == b.attrs;
}

struct Seen {
  Equation mapped;            // operands of the new program
  const Equation* original;   // results of the old one
};

}  // namespace

Program common_subexpressions(const Program& program) {
  Rewriter r(program);
  std::unordered_multimap<std::uint64_t, Seen> table;
  table.reserve(program.equations.size());
  for (const Equation& e : program.equations) {
    Equation mapped = r.mapped(e);
    const std::uint64_t h = hash_equation(mapped);
    const Seen* known = nullptr;
    for (auto [it, end] = table.equal_range(h); it != end && !known; ++it)
      if (same_equation(it->second.mapped, mapped)) known = &it->second;
    if (known) {
      for (std::size_t i = 0; i < e.results.size(); ++i)
        r.replace(e.results[i], r[Atom::variable(known->original->results[i])]);
    } else {
      r.append(mapped);
      table.emplace(h, Seen{std::move(mapped), &e});
    }
  }
  return r.finish();
}

}  // namespace anadrome
