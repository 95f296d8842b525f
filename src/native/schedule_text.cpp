// schedule_text.
#include "native/schedule_text.h"

#include "core/builder.h"
#include "core/text.h"
#include "optimize/fuse.h"

namespace anadrome {
namespace {

std::string place_text(const Plan& plan, const Program& program, const Atom& a) {
  if (!a.is_var()) return to_string(a.literal);
  const Place& p = plan.place[a.var];
  const std::string type = to_string(program.type(a.var));
  switch (p.memory) {
    case Memory::argument: return "argument " + std::to_string(p.index) + ":" + type;
    case Memory::output: return "output " + std::to_string(p.index) + ":" + type;
    default: return "arena " + std::to_string(p.offset) + ":" + type;
  }
}

std::string loops_text(const LoopNest& nest) {
  std::string out = nest.loops.empty() ? "no loops" : "loops";
  for (std::size_t d = 0; d < nest.loops.size(); ++d) {
    out += " " + std::to_string(nest.loops[d].extent);
    if (nest.loops[d].reduced) out += " (summed)";
    if (static_cast<int>(d) == nest.lane && nest.lanes > 1) out += " by " + std::to_string(nest.lanes) + " lanes";
  }
  if (nest.blocks > 1) out += ", " + std::to_string(nest.blocks) + " blocks";
  return out;
}

std::string source_text(const Program& program, const Equation& e) {
  if (!program.sources || e.origin >= program.sources->size()) return "";
  return at_source((*program.sources)[e.origin]);
}

std::string operands_text(const Plan& plan, const Program& program, const Equation& e) {
  std::string out;
  for (const Atom& a : e.operands) out += (out.empty() ? "" : ", ") + place_text(plan, program, a);
  out += " -> ";
  for (std::size_t k = 0; k < e.results.size(); ++k)
    out += (k ? ", " : "") + place_text(plan, program, Atom::variable(e.results[k]));
  return out;
}

}  // namespace

std::string schedule_text(const Program& optimized, const Program& steps, const Plan& plan,
                          const std::vector<ScheduleStep>& list) {
  std::string out;
  std::size_t step = 0, kernel = 0;
  for (const ScheduleStep& s : list) {
    out += "step " + std::to_string(step++) + ": ";
    if (s.kernel) out += "kernel " + std::to_string(kernel++) + " (" + loops_text(s.kernel->nest) + ")";
    else if (!s.product.empty()) out += "product (" + s.product + ")";
    else out += std::string(s.equation->prim->name) + " (precompiled)";
    out += "\n  " + operands_text(plan, steps, *s.equation) + "\n";
    for (std::uint32_t m : s.members) {
      const Equation& e = optimized.equations[m];
      out += "    " + equation_text(optimized, e) + source_text(optimized, e) + "\n";
    }
  }
  out += "arena " + std::to_string(plan.arena_bytes) + " bytes\n";
  return out;
}

}  // namespace anadrome
