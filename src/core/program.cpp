// Program: its types and the number of its equations.
#include "anadrome/program.h"

#include <unordered_map>

#include "core/prim.h"

namespace anadrome {
namespace {

std::vector<Type> types_of(const Program& program, const std::vector<VarId>& variables) {
  std::vector<Type> out;
  out.reserve(variables.size());
  for (VarId v : variables) out.push_back(program.type(v));
  return out;
}

/// Counts each distinct sub-program once and adds it as often as it is held.
class Counter {
 public:
  explicit Counter(std::string_view name) : name_(name) {}
  std::int64_t count(const Program& program) {
    if (auto known = counts_.find(&program); known != counts_.end()) return known->second;
    std::int64_t n = 0;
    for (const Equation& e : program.equations) {
      n += e.prim->name == name_;
      for (const SubProgram* sub : sub_programs(e.attrs)) n += count(**sub);
    }
    counts_[&program] = n;
    return n;
  }

 private:
  std::string_view name_;
  std::unordered_map<const Program*, std::int64_t> counts_;
};

}  // namespace

std::vector<Type> Program::input_types() const {
  return types_of(*this, inputs);
}
std::vector<Type> Program::capture_types() const {
  return types_of(*this, captures);
}
std::vector<Type> Program::output_types() const {
  std::vector<Type> out;
  out.reserve(outputs.size());
  for (const Atom& a : outputs) out.push_back(type(a));
  return out;
}
std::int64_t Program::count(std::string_view name) const {
  return Counter(name).count(*this);
}

}  // namespace anadrome
