// The bounds of tolerances.json and measured_programs.json, and the advice of the tables for half precision.
#include "conformance/tolerances.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <stdexcept>

namespace anadrome::conformance {

namespace {

/// Operations whose half-precision values are rounded several times on the way.
bool is_chain(const std::string& op) {
  static const std::set<std::string> chains{"gelu_tanh", "gelu_erf",   "softplus", "erfc",        "digamma",
                                            "silu",      "elu",        "sinc",     "log_sigmoid", "softmax",
                                            "mean",      "var",        "std",      "normal",      "logsumexp",
                                            "logaddexp", "log_softmax"};
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
    case Part::out:
      return "out";
    case Part::jvp:
      return "jvp";
    case Part::vjp:
      return "vjp";
    case Part::hvp:
      return "hvp";
  }
  return "";
}

Rule OpTolerances::narrow(const std::string& op, const Json& entry, Part part) const {
  Rule rule;
  rule.zero_has_sign = part == Part::out;
  if (part != Part::out) {
    rule.unit = Rule::Unit::mixed;
    rule.bound = is_chain(op) ? 8 : 4;
    return rule;
  }
  if (is_chain(op)) return {.unit = Rule::Unit::ulps, .bound = 8, .zero_has_sign = rule.zero_has_sign};
  const std::string op_class = entry.at("class");
  const bool one_operation = op_class == "exact" || entry.at("f32").value("out", 1.0) == 0;
  rule.unit = Rule::Unit::ulps;
  rule.bound = one_operation ? 1 : 2;
  return rule;
}

Rule OpTolerances::measured(const Json& entry, Part part, bool special, DType dtype) const {
  const std::string op_class = entry.at("class");
  const Json& bounds = entry.at(dtype == f32 ? "f32" : "f64");
  const std::string plain = name_of(part);
  const std::string key = special && bounds.contains("special_" + plain) ? "special_" + plain : plain;
  if (!bounds.contains(key))
    return by_bound(op_class, 4, part);  // no measurement: that of derivatives in float64
  // A null bound says that the recorded values are far off at some point: the reference beside them decides.
  if (bounds.at(key).is_null()) {
    Rule rule = by_bound(op_class, bounds.at(plain).get<double>(), part);
    rule.reference_only = part == Part::out;
    return rule;
  }
  return by_bound(op_class, bounds.at(key).get<double>(), part);
}

Rule OpTolerances::rule(const std::string& op, const std::string& kind, Part part, DType dtype) const {
  Rule rule;
  rule.zero_has_sign = part == Part::out;
  if (!table_.contains(op) || !is_float(dtype)) return rule;
  const Json& entry = table_.at(op);
  if (dtype == bf16 || dtype == f16) return narrow(op, entry, part);
  const bool special = kind == "special" || kind == "large";
  if (entry.at("class") != "exact") rule = measured(entry, part, special, dtype);
  rule.flushed = special || kind == "rounding";
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
