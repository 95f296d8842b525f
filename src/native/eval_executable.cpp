// The backend "eval": the reference interpreter behind the interface of compiled programs.
#include "core/eval.h"
#include "native/backend.h"
#include "optimize/cost.h"

namespace anadrome {
namespace {

class EvalExecutable final : public Executable {
 public:
  explicit EvalExecutable(const Program& program) : program_(program) {}

  std::vector<Array> run(std::span<const Array> arguments) const override {
    check_arguments(program_, arguments);
    const std::size_t captures = program_.captures.size();
    std::vector<Array> out = evaluate(program_, arguments.first(captures), arguments.subspan(captures));
    for (Array& y : out)
      if (is_literal(y)) y = stored(y);
    return out;
  }
  const Program& optimized_program() const override { return program_; }
  CostAnalysis cost_analysis() const override { return program_cost(program_); }
  MemoryAnalysis memory_analysis() const override {
    MemoryAnalysis out = signature_memory(program_);
    for (const Equation& e : program_.equations)
      for (VarId v : e.results) out.temp_size_in_bytes += static_cast<std::int64_t>(program_.type(v).bytes());
    return out;
  }
  std::string text() const override { return to_string(program_, true); }
  std::string kernel_ir(std::size_t) const override {
    throw TypeError("kernel_ir: the backend 'eval' makes no kernels. Compile with {.backend = \"native\"}.");
  }

 private:
  static Array stored(const Array& number) {
    Array out = uninitialized(number.type());
    number.node()->literal.store(mutable_data(out));
    return out;
  }
  Program program_;
};

}  // namespace

std::shared_ptr<const Executable> compile_eval(const Program& program, const CompileOptions&, std::span<const bool>) {
  return std::make_shared<EvalExecutable>(program);
}

}  // namespace anadrome
