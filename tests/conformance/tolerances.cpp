// The bounds of tolerances.json and measured_programs.json, and the advice of the tables for half precision.
#include "conformance/tolerances.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <stdexcept>

namespace anadrome::conformance {

namespace {

/// A null bound says that the recorded values themselves are far off at some point. Where no reference stands beside
/// them (derivatives of erf_inv next to 1), this is twice the measured error of the recorded float32 ones.
constexpr double null_bound = 800;

/// Operations whose half-precision values are rounded several times on the way.
bool is_chain(const std::string& op) {
  static const std::set<std::string> chains{"gelu_tanh", "gelu_erf",  "softplus",    "erfc",    "digamma",   "silu",
                                            "elu",       "sinc",      "log_sigmoid", "softmax", "logaddexp", "mean",
                                            "var",       "std",       "logsumexp",   "normal",  "log_softmax"};
  return chains.contains(op);
}

Rule by_bound(const std::string& op_class, double bound, Part part) {
  Rule rule;
  rule.bound = bound;
  rule.zero_has_sign = part == Part::out;
  if (bound == 0) return rule;
  rule.unit = op_class == "elementwise" && part == Part::out ? Rule::Unit::ulps : Rule::Unit::mixed;
  return rule;
}

}  // namespace

Json read_beside(const std::filesystem::path& table, const std::string& name) {
  std::filesystem::path path = table.parent_path() / name;
  if (!std::filesystem::exists(path)) path = std::filesystem::path(ANADROME_TESTS_DIR) / "golden" / name;
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return Json::parse(in);
}

std::string name_of(Part part) {
  switch (part) {
    case Part::out: return "out";
    case Part::jvp: return "jvp";
    case Part::vjp: return "vjp";
    case Part::hvp: return "hvp";
  }
  return "";
}

Rule OpTolerances::narrow(const std::string& op, const Json& entry, Part part) const {
  Rule rule;
  rule.zero_has_sign = part == Part::out;
  const bool chain = is_chain(op);
  if (part != Part::out) {
    rule.unit = Rule::Unit::mixed;
    rule.bound = chain ? 8 : 4;
    return rule;
  }
  rule.unit = Rule::Unit::ulps;
  const std::string op_class = entry.at("class");
  const bool one_operation = op_class == "exact" || entry.at("f32").value("out", 1.0) == 0;
  rule.bound = chain ? 8 : one_operation ? 1 : 2;
  return rule;
}

Rule OpTolerances::rule(const std::string& op, const std::string& kind, Part part, DType dtype) const {
  Rule rule;
  rule.zero_has_sign = part == Part::out;
  if (!table_.contains(op) || !is_float(dtype)) return rule;
  const Json& entry = table_.at(op);
  if (dtype == bf16 || dtype == f16) return narrow(op, entry, part);
  const std::string op_class = entry.at("class");
  const bool special = kind == "special" || kind == "large";
  if (op_class != "exact") {
    const Json& bounds = entry.at(dtype == f32 ? "f32" : "f64");
    std::string key = name_of(part);
    if (special && bounds.contains("special_" + key)) key = "special_" + key;
    if (!bounds.contains(key)) {
      rule = by_bound(op_class, 4, part);  // no measurement: the bound of a derivative in float64
    } else if (!bounds.at(key).is_null()) {
      rule = by_bound(op_class, bounds.at(key).get<double>(), part);
    } else if (part == Part::out) {
      rule = by_bound(op_class, bounds.at("out").get<double>(), part);
      rule.reference_only = true;
      // Next to a zero of the function the units in the last place of a value that is itself off mean nothing.
      if (dtype == f64) rule.unit = Rule::Unit::mixed;
    } else {
      rule = by_bound(op_class, null_bound, part);
    }
  }
  rule.flushed = special;
  return rule;
}

Rule program_rule(const Json& measured, const std::string& program, const std::string& output, DType dtype) {
  Rule rule;
  rule.zero_has_sign = false;
  if (!is_float(dtype)) return rule;
  double m = 0;
  if (measured.contains(program) && measured.at(program).contains(output)) {
    m = measured.at(program).at(output).get<double>();
  }
  rule.unit = Rule::Unit::mixed;
  rule.bound = std::max(16.0, dtype == f64 ? 4 * m : 4 * m + 4);
  return rule;
}

}  // namespace anadrome::conformance
