// Runs the cases of ops.json: values at once and compiled, jvp, vjp, second derivatives and vmap.
#include "conformance/run_ops.h"

#include <climits>
#include <exception>
#include <functional>
#include <set>

#include "anadrome/detail/functional.h"
#include "conformance/op_table.h"
#include "conformance/tolerances.h"

namespace anadrome::conformance {

namespace {

using Function = std::function<Arrays(const Arrays&)>;

/// Operations of families that this version leaves out.
const std::set<std::string>& skipped_ops() {
  static const std::set<std::string> names{"conj",         "real",
                                           "imag",         "angle",
                                           "complex",      "conv_general_dilated",
                                           "convolve",     "fft",
                                           "ifft",         "rfft",
                                           "irfft",        "fft2",
                                           "cholesky",     "cholesky_symmetrized",
                                           "solve",        "inv",
                                           "det",          "slogdet",
                                           "qr",           "triangular_solve",
                                           "matrix_power", "eigh",
                                           "eigvalsh",     "svdvals",
                                           "lstsq",        "pinv"};
  return names;
}

bool has_complex(const Json& arrays) {
  for (const Json& a : arrays) {
    if (a.is_object() && a.at("dt").get<std::string>().front() == 'c') return true;
  }
  return false;
}

bool is_skipped(const Json& test) {
  return skipped_ops().contains(test.at("op").get<std::string>()) || test.at("kind") == "subnormal" ||
         has_complex(test.at("in")) || has_complex(test.at("out"));
}

/// The arrays of a list; null gives an empty handle.
Arrays arrays_from(const Json& list) {
  Arrays arrays;
  for (const Json& a : list) arrays.push_back(a.is_null() ? Array() : array_from(a));
  return arrays;
}

/// An empty handle among tangents and cotangents stands for zeros.
void fill_zeros(Arrays& got, const Json& want) {
  for (std::size_t i = 0; i < got.size() && i < want.size(); ++i) {
    if (!got[i].defined() && !want[i].is_null()) got[i] = zeros_of(type_of(want[i]));
  }
}

/// One case while it runs.
class Case {
 public:
  Case(const Json& test, const OpFunction& op, const OpTolerances& tolerances, const Options& options)
      : test_(test), tolerances_(tolerances), options_(options), in_(arrays_from(test.at("in"))) {
    const Params params = test.value("params", Params::object());
    function_ = [&op, params](const Arrays& x) { return op(x, params); };
  }

  /// The first difference of every part that failed; empty when all agree.
  std::string run() {
    const Json* reference = test_.contains("ref") ? &test_.at("ref") : nullptr;
    check(
        "out", Part::out, test_.at("out"), [&] { return function_(in_); }, reference);
    check(
        "compiled out", Part::out, test_.at("out"),
        [&] { return functional::run_jit(function_, in_, options_.backend); }, reference);
    if (test_.contains("jvp")) check("jvp", Part::jvp, test_.at("jvp").at("out"), [&] { return jvp(); });
    if (test_.contains("vjp")) check("vjp", Part::vjp, test_.at("vjp").at("in"), [&] { return vjp(); });
    if (test_.contains("hvp")) check("hvp", Part::hvp, test_.at("hvp").at("out"), [&] { return hvp(); });
    if (test_.contains("vmap")) {
      for (const Json& v : test_.at("vmap")) {
        check("vmap" + v.at("axes").dump(), Part::out, v.at("out"), [&] { return vmap(v); });
      }
    }
    return failures_;
  }

 private:
  Arrays jvp() const { return functional::jvp(function_, in_, arrays_from(test_.at("jvp").at("t"))).t; }

  /// The inputs that are differentiated: those for which the table has a value in `list`.
  static std::vector<bool> wanted(const Json& list) {
    std::vector<bool> result;
    for (const Json& a : list) result.push_back(!a.is_null());
    return result;
  }

  Arrays vjp() const {
    const Json& part = test_.at("vjp");
    return functional::vjp(function_, in_, wanted(part.at("in"))).pull(arrays_from(part.at("ct")));
  }

  /// The tangent, along t, of x -> vjp at x applied to the fixed cotangent.
  Arrays hvp() const {
    const Json& part = test_.at("hvp");
    const std::vector<bool> want = wanted(part.at("out"));
    const Arrays ct = arrays_from(part.at("ct"));
    const Function gradient = [&](const Arrays& x) {
      const Arrays all = functional::vjp(function_, x, want).pull(ct);
      Arrays kept;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (want[i]) kept.push_back(all[i]);
      }
      return kept;
    };
    const Arrays t = functional::jvp(gradient, in_, arrays_from(part.at("t"))).t;
    Arrays spread;
    std::size_t next = 0;
    for (bool w : want) spread.push_back(w ? t.at(next++) : Array());
    return spread;
  }

  Arrays vmap(const Json& part) const {
    std::vector<int> axes;
    for (const Json& a : part.at("axes")) axes.push_back(a.is_null() ? INT_MIN : a.get<int>());
    return functional::vmap(function_, arrays_from(part.at("in")), axes, 0, "");
  }

  void check(const std::string& name, Part part, const Json& want, const std::function<Arrays()>& compute,
             const Json* reference = nullptr) {
    try {
      Arrays got = compute();
      if (part != Part::out) fill_zeros(got, want);
      compare(name, part, got, want, reference);
    } catch (const std::exception& error) {
      fail(name, one_line(error.what()));
    }
  }

  void compare(const std::string& name, Part part, const Arrays& got, const Json& want,
               const Json* reference) {
    if (got.size() != want.size()) {
      fail(name, "got " + std::to_string(got.size()) + " results, want " + std::to_string(want.size()));
      return;
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (want[i].is_null()) continue;
      const DType dtype = dtype_of_tag(want[i].at("dt").get<std::string>());
      const Rule rule = tolerances_.rule(test_.at("op"), test_.at("kind"), part, dtype);
      const std::string text = difference(got[i], want[i], rule, reference ? &reference->at(i) : nullptr);
      if (text.empty()) continue;
      fail(name + (got.size() > 1 ? "[" + std::to_string(i) + "]" : ""), text);
      return;
    }
  }

  void fail(const std::string& name, const std::string& text) {
    failures_ += (failures_.empty() ? "" : " | ") + name + ": " + text;
  }

  const Json& test_;
  const OpTolerances& tolerances_;
  const Options& options_;
  Arrays in_;
  Function function_;
  std::string failures_;
};

}  // namespace

void run_ops(const Json& cases, const std::filesystem::path& path, const Options& options, Report& report) {
  const OpTolerances tolerances(read_beside(path, "tolerances.json"));
  for (const Json& test : cases) {
    const std::string id = test.at("id");
    if (id.find(options.filter) == std::string::npos) continue;
    if (is_skipped(test)) {
      report.skipped();
      continue;
    }
    const auto op = op_table().find(test.at("op").get<std::string>());
    if (op == op_table().end()) {
      report.failed(id, "no entry for the operation " + test.at("op").get<std::string>());
      continue;
    }
    const std::string failures = Case(test, op->second, tolerances, options).run();
    if (failures.empty())
      report.passed();
    else
      report.failed(id, failures);
  }
}

}  // namespace anadrome::conformance
