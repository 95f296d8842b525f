// schedule_text.
#include "native/schedule_text.h"

#include "core/builder.h"
#include "core/text.h"
#include "optimize/fuse.h"

namespace anadrome {
namespace {

std::string named(const char* what, std::uint64_t number, std::uint64_t offset, const std::string& type) {
  std::string out = what;
  out.append(" ").append(std::to_string(number));
  if (offset) out.append("+").append(std::to_string(offset));
  return out.append(":").append(type);
}

std::string place_text(const Plan& plan, const Program& program, const Atom& a) {
  if (!a.is_var()) return to_string(a.literal);
  const Place& p = plan.place[a.var];
  const std::string type = to_string(program.type(a.var));
  switch (p.memory) {
    case Memory::argument: return named("argument", p.index, 0, type);
    case Memory::output: return named("output", p.index, p.offset, type);
    default: return named("arena", p.offset, 0, type);
  }
}

std::string loops_text(const LoopNest& nest) {
  std::string out = nest.loops.empty() ? "no loops" : "loops";
  for (std::size_t d = 0; d < nest.loops.size(); ++d) {
    out.append(" ").append(std::to_string(nest.loops[d].extent));
    if (nest.loops[d].reduced) out += " (summed)";
    if (static_cast<int>(d) == nest.lane && nest.lanes > 1) 
      out.append(" by ").append(std::to_string(nest.lanes)).append(" lanes");
  }
  if (nest.blocks > 1) out.append(", ").append(std::to_string(nest.blocks)).append(" blocks");
  return out;
}

std::string source_text(const Program& program, const Equation& e) {
  if (!program.sources || e.origin >= program.sources->size()) return "";
  return at_source((*program.sources)[e.origin]);
}

std::string operands_text(const Plan& plan, const Program& program, const Equation& e) {
  std::string out;
  for (const Atom& a : e.operands) out.append(out.empty() ? "" : ", ").append(place_text(plan, program, a));
  out += " -> ";
  for (std::size_t k = 0; k < e.results.size(); ++k)
    out.append(k ? ", " : "").append(place_text(plan, program, Atom::variable(e.results[k])));
  return out;
}

std::string kernel_text(std::size_t number, const LoopNest& nest) {
  return std::string("kernel ").append(std::to_string(number)).append(" (").append(loops_text(nest)).append(")");
}
std::string product_text(const std::string& what) { return std::string("product (").append(what).append(")"); }

/// "22 blocks of 46: product (...), kernel 3 (...)".
std::string blocks_text(const blocks::BlockedSteps& blocked, std::size_t& kernel) {
  const blocks::BlockPlan& plan = blocked.plan();
  std::string out = std::to_string(plan.count()).append(" blocks of ").append(std::to_string(plan.size));
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto& step = plan.steps[i];
    out += i ? ", " : ": ";
    out += step.product ? product_text(step.product->text()) : kernel_text(kernel++, blocked.kernels()[step.equation]->nest);
  }
  return out;
}

}  // namespace

std::string schedule_text(const Program& optimized, const Program& steps, const Plan& plan,
                          const std::vector<ScheduleStep>& list, std::size_t& kernel) {
  std::string out;
  std::size_t step = 0;
  for (const ScheduleStep& s : list) {
    out.append("step ").append(std::to_string(step++)).append(": ");
    if (s.kernel) out += kernel_text(kernel++, s.kernel->nest);
    else if (s.blocked) out += blocks_text(*s.blocked, kernel);
    else if (s.programs) out += s.programs->text(kernel);
    else if (!s.product.empty()) out += product_text(s.product);
    else out.append(s.equation->prim->name).append(" (precompiled)");
    out.append("\n  ").append(operands_text(plan, steps, *s.equation)).append("\n");
    for (std::uint32_t m : s.members) {
      const Equation& e = optimized.equations[m];
      out.append("    ").append(equation_text(optimized, e)).append(source_text(optimized, e)).append("\n");
    }
  }
  out.append("arena ").append(std::to_string(plan.arena_bytes)).append(" bytes\n");
  return out;
}

}  // namespace anadrome
