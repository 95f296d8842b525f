// Runs the programs of programs.json in float64 and float32.
#include "conformance/run_programs.h"

#include <exception>
#include <set>

#include "conformance/program_table.h"
#include "conformance/tolerances.h"

namespace anadrome::conformance {

namespace {

/// Programs that need references, convolution, linear algebra or complex numbers.
const std::set<std::string>& skipped_programs() {
  static const std::set<std::string> names{
      "complex_conventions", "spectral_energy", "convolutional_net", "gaussian_process",
      "refs_internal", "refs_scan_accumulate", "refs_side_effect_of_jit"};
  return names;
}

/// Outputs of programs that run otherwise, but need complex numbers.
bool is_skipped_output(const std::string& program, const std::string& output) {
  return program == "integer_inputs" && output == "complex_out";
}

const ProgramTable& program_table() {
  static const ProgramTable table = [] {
    ProgramTable result;
    add_compositions(result);
    add_batching(result);
    add_conventions(result);
    add_models(result);
    add_loops(result);
    add_conditionals(result);
    add_loop_models(result);
    add_custom(result);
    add_rewinding(result);
    return result;
  }();
  return table;
}

/// Empty when an outcome is as expected; otherwise what is wrong.
std::string check(const Outcome& outcome, const Json& want, const Rule& rule) {
  if (want.contains("error")) return outcome.is_refusal ? outcome.complaint : "a value instead of an error";
  if (outcome.is_refusal) return "an error instead of a value";
  return difference(outcome.value, want, rule);
}

/// Every output that is missing or wrong; empty when all are right.
std::string run(const std::string& name, const ProgramFunction& program, const Json& run,
                const Json& measured, const std::string& dtype, const std::string& backend) {
  Inputs in{dtype_of_tag(dtype), backend, {}};
  for (const auto& [key, value] : run.at("in").items()) in.arrays[key] = array_from(value);
  Outputs got;
  try {
    got = program(in);
  } catch (const std::exception& error) {
    return one_line(error.what());
  }
  std::string failures;
  for (const auto& [key, want] : run.at("expect").items()) {
    if (is_skipped_output(name, key)) continue;
    const DType type = want.contains("dt") ? dtype_of_tag(want.at("dt").get<std::string>()) : f32;
    const std::string text = got.contains(key)
                                 ? check(got.at(key), want, program_rule(measured, name, key, type))
                                 : "not reported";
    if (!text.empty()) failures += (failures.empty() ? "" : " | ") + key + ": " + text;
  }
  return failures;
}

/// What a refused call does wrong.
enum class Mistake { use, derivative };

/// Whether `error` is what the mistake deserves.
std::string complaint_about(const Error& error, Mistake mistake, std::initializer_list<std::string> words) {
  const std::string text = error.what();
  const bool is_rule = dynamic_cast<const RuleError*>(&error);
  if (dynamic_cast<const InternalError*>(&error)) return "an internal error: " + text;
  if (is_rule && mistake == Mistake::use) return "a missing rule: " + text;
  if (!is_rule && mistake == Mistake::derivative) return "not about a derivative: " + text;
  for (const std::string& word : words) {
    if (text.find(word) == std::string::npos) return "the error does not say '" + word + "': " + text;
  }
  return "";
}

Outcome refusal(Mistake mistake, const std::function<void()>& wrong,
                std::initializer_list<std::string> words, const std::function<void()>& right) {
  Outcome outcome;
  outcome.is_refusal = true;
  outcome.complaint = "no error";
  try {
    wrong();
  } catch (const Error& error) {
    outcome.complaint = one_line(complaint_about(error, mistake, words));
  } catch (const std::exception& error) {
    outcome.complaint = one_line(std::string("not an error of the library: ") + error.what());
  }
  if (!outcome.complaint.empty()) return outcome;
  try {
    right();
  } catch (const std::exception& error) {
    outcome.complaint = one_line(std::string("the right call is refused too: ") + error.what());
  }
  return outcome;
}

}  // namespace

Outcome refused(const std::function<void()>& wrong, std::initializer_list<std::string> words,
                const std::function<void()>& right) {
  return refusal(Mistake::use, wrong, words, right);
}
Outcome refused_derivative(const std::function<void()>& wrong, std::initializer_list<std::string> words,
                           const std::function<void()>& right) {
  return refusal(Mistake::derivative, wrong, words, right);
}

void run_programs(const Json& programs, const std::filesystem::path& path, const Options& options,
                  Report& report) {
  const Json measured = read_beside(path, "measured_programs.json");
  for (const Json& test : programs) {
    const std::string name = test.at("name");
    for (const std::string dtype : {"f64", "f32"}) {
      const std::string id = name + "/" + dtype;
      if (id.find(options.filter) == std::string::npos) continue;
      if (skipped_programs().contains(name)) {
        report.skipped();
        continue;
      }
      const auto program = program_table().find(name);
      if (program == program_table().end()) {
        report.failed(id, "no entry for the program");
        continue;
      }
      const std::string text = run(name, program->second, test.at(dtype), measured, dtype, options.backend);
      if (text.empty())
        report.passed();
      else
        report.failed(id, text);
    }
  }
}

}  // namespace anadrome::conformance
