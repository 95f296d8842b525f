// compile(): chooses a backend by name.
#include "native/backend.h"

#include <boost/container/small_vector.hpp>

#include "core/node.h"

namespace anadrome {
namespace {

constexpr Backend backends[] = {{"native", compile_native}, {"precompiled", compile_precompiled}, {"eval", compile_eval}};

std::string names() {
  std::string out;
  for (const Backend& b : backends) out += (out.empty() ? "" : ", ") + std::string(b.name);
  return out;
}

}  // namespace

std::shared_ptr<const Executable> compile(const ProgramPtr& program, const CompileOptions& options,
                                          std::span<const bool> donated) {
  for (const Backend& b : backends)
    if (b.name == options.backend) return b.compile(*program, options, donated);
  throw CompileError("compile: there is no backend '" + options.backend + "'. The backends are: " + names() + ".");
}

void check_arguments(const Program& program, std::span<const Array> arguments) {
  const std::size_t captures = program.captures.size(), n = captures + program.inputs.size();
  if (arguments.size() != n)
    throw TypeError("run: the program takes " + std::to_string(n) + " arguments (" + std::to_string(captures) +
                    " captures and " + std::to_string(n - captures) + " inputs) and was given " +
                    std::to_string(arguments.size()) + ".");
  for (std::size_t i = 0; i < n; ++i) {
    const Array& a = arguments[i];
    check_usable(a, "run");
    const Type& want = program.type(i < captures ? program.captures[i] : program.inputs[i - captures]);
    if (a.type() != want)
      throw TypeError("run: argument " + std::to_string(i) + " has type " + to_string(a.type()) +
                      "; the program was compiled for " + to_string(want) + ".");
    if (is_variable(a))
      throw TraceError("run: argument " + std::to_string(i) + " of type " + to_string(want) +
                       " is a value being recorded; a compiled program runs on numbers.");
  }
}

std::vector<Array> run_checked(const Executable& executable, std::span<const Array> arguments, std::size_t results) {
  boost::container::small_vector<const Array*, 32> from;
  for (const Array& a : arguments) from.push_back(&a);
  std::vector<Array> out(results);
  boost::container::small_vector<Array*, 16> to;
  for (Array& y : out) to.push_back(&y);
  executable.run_into({from.data(), from.size()}, {to.data(), to.size()});
  return out;
}

void Executable::run_into(std::span<const Array* const> arguments, std::span<Array* const> results) const {
  std::vector<Array> x;
  for (const Array* a : arguments) x.push_back(*a);
  std::vector<Array> y = run(x);
  for (std::size_t i = 0; i < y.size(); ++i) *results[i] = std::move(y[i]);
}

MemoryAnalysis signature_memory(const Program& program) {
  MemoryAnalysis out;
  for (const auto& list : {program.capture_types(), program.input_types()})
    for (const Type& t : list) out.argument_size_in_bytes += static_cast<std::int64_t>(t.bytes());
  for (const Type& t : program.output_types()) out.output_size_in_bytes += static_cast<std::int64_t>(t.bytes());
  return out;
}

}  // namespace anadrome
