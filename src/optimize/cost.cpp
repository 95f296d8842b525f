// Cost of programs. The body of a call or loop is counted once and added for every call, and for every step.
#include "optimize/cost.h"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <unordered_map>

#include "optimize/row_blocks.h"
#include "primitives/prims.h"
#include "transforms/sub_programs.h"

namespace anadrome {
namespace {

using Known = std::unordered_map<const Program*, CostAnalysis>;

CostAnalysis::Share equation_cost(const Program& program, const Equation& e) {
  boost::container::small_vector<Type, 4> in, out;
  CostAnalysis::Share share{1, 0, 0, 0};
  for (const Atom& a : e.operands) in.push_back(program.type(a));
  for (VarId v : e.results) out.push_back(program.type(v));
  for (const auto& types : {view(in), view(out)})
    for (const Type& t : types) share.bytes_accessed += static_cast<double>(t.bytes());
  const Cost cost = need<&Prim::cost>(*e.prim)({e.attrs, view(in), view(out)});
  share.flops = cost.flops;
  share.transcendentals = cost.transcendentals;
  return share;
}

void add(CostAnalysis& total, const std::string& name, const CostAnalysis::Share& share) {
  total.flops += share.flops;
  total.transcendentals += share.transcendentals;
  total.bytes_accessed += share.bytes_accessed;
  CostAnalysis::Share& sum = total.by_primitive[name];
  sum.equations += share.equations;
  sum.flops += share.flops;
  sum.transcendentals += share.transcendentals;
  sum.bytes_accessed += share.bytes_accessed;
}

/// Adds the cost of a body that runs `times` times; its equations stand once.
void add(CostAnalysis& total, const CostAnalysis& body, double times) {
  for (auto [name, share] : body.by_primitive) {
    share.flops *= times;
    share.transcendentals *= times;
    share.bytes_accessed *= times;
    add(total, name, share);
  }
}

/// The programs of an equation that its cost counts: all, but of a cond the dearest branch, and of what has derivative rules the
/// function.
std::vector<const CostAnalysis*> counted(const Equation& e, const Known& known) {
  std::vector<const CostAnalysis*> out;
  if (const Called c = called(e)) return {&known.at(c.body->program.get())};
  if (e.prim == &prim::custom_linear) return out;
  for (const SubProgram* sub : sub_programs(e.attrs)) out.push_back(&known.at(sub->program.get()));
  if (e.prim != &prim::cond) return out;
  const auto less = [](const CostAnalysis* a, const CostAnalysis* b) {
    return a->flops + a->transcendentals < b->flops + b->transcendentals;
  };
  return {*std::max_element(out.begin(), out.end(), less)};
}

/// The cost of a program whose sub-programs are known.
CostAnalysis count(const Program& program, const Known& known) {
  CostAnalysis total;
  for (const Equation& e : program.equations) {
    const bool loop = e.prim == &prim::scan || e.prim == &row_blocks;
    const double times = loop ? static_cast<double>(e.as<ScanAttr>().length) : 1;
    const auto bodies = counted(e, known);
    if (bodies.empty()) add(total, std::string(e.prim->name), equation_cost(program, e));
    for (const CostAnalysis* body : bodies) add(total, *body, times);
  }
  return total;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 1e15 ? "%.0f" : "%.6g", value);
  return text;
}

std::string cell(const std::string& text, std::size_t width, bool left = false) {
  const std::string space(width > text.size() ? width - text.size() : 0, ' ');
  return left ? text + space : space + text;
}

std::string row(const std::string& name, const std::string& equations, const std::string& flops,
                const std::string& transcendentals, const std::string& bytes) {
  return cell(name, 24, true) + cell(equations, 11) + cell(flops, 16) + cell(transcendentals, 17) + cell(bytes, 16) +
         "\n";
}

}  // namespace

CostAnalysis program_cost(const Program& program) {
  Known known;
  std::vector<const Program*> open{&program};
  while (!open.empty()) {  // bodies before the programs that call them
    const Program* top = open.back();
    const std::size_t before = open.size();
    for (const Equation& e : top->equations)
      for (const SubProgram* sub : sub_programs(e.attrs))
        if (!known.contains(sub->program.get())) open.push_back(sub->program.get());
    if (open.size() > before) continue;
    open.pop_back();
    if (!known.contains(top)) known.emplace(top, count(*top, known));
  }
  return known.at(&program);
}

std::string to_string(const CostAnalysis& cost) {
  std::string out = row("primitive", "equations", "flops", "transcendentals", "bytes accessed");
  std::int64_t equations = 0;
  for (const auto& [name, share] : cost.by_primitive) {
    equations += share.equations;
    out += row(name, std::to_string(share.equations), number(share.flops), number(share.transcendentals),
               number(share.bytes_accessed));
  }
  return out + row("total", std::to_string(equations), number(cost.flops), number(cost.transcendentals),
                   number(cost.bytes_accessed));
}

std::string to_string(const MemoryAnalysis& memory) {
  std::string out = "memory of a run, in bytes\n";
  auto line = [&](const char* name, std::int64_t bytes) {
    out += cell(name, 16, true) + cell(std::to_string(bytes), 16) + "\n";
  };
  line("arguments", memory.argument_size_in_bytes);
  line("outputs", memory.output_size_in_bytes);
  line("  over arguments", memory.alias_size_in_bytes);
  line("temporary", memory.temp_size_in_bytes);
  line("generated code", memory.generated_code_size_in_bytes);
  line("kept for runs", memory.reserved_bytes);
  return out;
}

std::ostream& operator<<(std::ostream& out, const CostAnalysis& cost) { return out << to_string(cost); }
std::ostream& operator<<(std::ostream& out, const MemoryAnalysis& memory) { return out << to_string(memory); }

}  // namespace anadrome
