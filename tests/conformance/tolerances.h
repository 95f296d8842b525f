// The bounds of tolerances.json and measured_programs.json.
#pragma once
#include <filesystem>
#include <string>

#include "conformance/compare.h"

namespace anadrome::conformance {

/// `name` beside the table that is run, or else in tests/golden.
Json read_beside(const std::filesystem::path& table, const std::string& name);

/// What of a case is compared: its value, first derivatives, or second derivative.
enum class Part { out, jvp, vjp, hvp };
std::string name_of(Part part);

/// How to compare the results of operations.
class OpTolerances {
 public:
  explicit OpTolerances(Json table) : table_(std::move(table)) {}
  /// The rule for arrays of `dtype` in one part of a case.
  Rule rule(const std::string& op, const std::string& kind, Part part, DType dtype) const;

 private:
  Rule narrow(const std::string& op, const Json& entry, Part part) const;
  Rule measured(const Json& entry, Part part, bool special, DType dtype) const;
  Json table_;
};

/// How to compare one output of a program, from the measured difference of its float32 and float64 runs.
Rule program_rule(const Json& measured, const std::string& program, const std::string& output, DType dtype);

}  // namespace anadrome::conformance
