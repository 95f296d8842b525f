// make_step_loop: which loops are one kernel. one_kernel_scan: their step of a compiled program.
#include "native/step_loop.h"

#include <algorithm>
#include <bit>

#include "native/emittable.h"
#include "primitives/prims.h"

namespace anadrome {
namespace {

/// Bodies from here on run step by step: what a step costs beside its arithmetic is little then.
constexpr std::size_t most_equations = 96;
/// The values of a step lie in the cache next to the processor, and threads gain nothing.
constexpr std::size_t most_bytes = 16384;
/// Operations that are written for all vectors side by side; compiling takes longer than in proportion.
constexpr std::int64_t most_written = 256;
constexpr int most_vectors = 8;
constexpr std::int64_t function_operations = 8;  // what calling a function counts in code

/// Finds out how the body runs.
class StepLoopMaker {
 public:
  StepLoopMaker(const Program& body, std::size_t carries) : body_(body), carries_(carries) {}

  std::optional<StepLoop> run(int vector_bytes) {
    if (!body_.captures.empty() || body_.equations.size() > most_equations) return std::nullopt;
    if (!find_elements()) return std::nullopt;
    if (!std::all_of(body_.equations.begin(), body_.equations.end(), [&](const Equation& e) { return fits(e); }))
      return std::nullopt;
    choose_vectors(vector_bytes);
    return loop_;
  }

 private:
  bool find_elements() {
    for (const Type& t : body_.types) {
      if (t.is_ref || t.bytes() > most_bytes) return false;
      const std::int64_t n = t.elements();
      if (n == 0 || (n > 1 && loop_.elements > 1 && n != loop_.elements)) return false;
      loop_.elements = std::max(loop_.elements, n);
    }
    return true;
  }
  /// Element k of the result depends on elements k of the operands, or on single numbers.
  bool fits(const Equation& e) const {
    if (e.results.size() != 1) return false;
    if (e.prim == &prim::stop_gradient || e.prim == &prim::reshape || e.prim == &prim::broadcast_in_dim) return true;
    if (e.prim->work != Work::elementwise || !can_emit(body_, e)) return false;
    const Shape& shape = body_.type(e.results[0]).shape;
    return std::all_of(e.operands.begin(), e.operands.end(), [&](const Atom& a) {
      return body_.type(a).rank() == 0 || body_.type(a).shape == shape;
    });
  }
  void choose_vectors(int vector_bytes) {
    std::size_t widest = 2;
    std::int64_t vector_carries = 0, written = 0;
    for (const Type& t : body_.types)
      if (t.elements() > 1) widest = std::max(widest, computed_bytes(t.dtype));
    for (std::size_t k = 0; k < carries_; ++k) vector_carries += body_.type(body_.outputs[k]).elements() > 1;
    for (const Equation& e : body_.equations)
      written += e.prim->work == Work::elementwise && emission(*e.prim) == Emission::function ? function_operations : 1;
    const std::int64_t n = loop_.elements;
    const std::int64_t lanes = std::min<std::int64_t>(vector_bytes / static_cast<std::int64_t>(widest),
                                                      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n))));
    const std::int64_t all = (n + lanes - 1) / lanes;
    // Carries take half of the registers.
    const std::int64_t registers = vector_bytes == 64 ? 32 : 16;
    std::int64_t most = std::clamp<std::int64_t>(registers / 2 / std::max<std::int64_t>(vector_carries, 1), 1, most_vectors);
    most = std::min(most, std::max<std::int64_t>(1, most_written / std::max<std::int64_t>(written, 1)));
    loop_.groups = (all + most - 1) / most;
    loop_.lanes = static_cast<int>(lanes);
    loop_.vectors = static_cast<int>((all + loop_.groups - 1) / loop_.groups);
    loop_.operations = static_cast<double>(written * loop_.vectors);
  }
  static std::size_t computed_bytes(DType t) { return t == DType::bf16 || t == DType::f16 ? 4 : item_size(t); }

  const Program& body_;
  std::size_t carries_;
  StepLoop loop_;
};

/// The scan with another body and of one step, as a program.
ProgramPtr of_one_step(const ScanAttr& scan, ProgramPtr body) {
  Program out;
  Equation e;
  e.prim = &prim::scan;
  const auto add = [&](Type type, bool stacked) {
    if (stacked) type.shape.insert(0, 1);
    out.types.push_back(type);
    return static_cast<VarId>(out.types.size() - 1);
  };
  const auto whole = static_cast<std::size_t>(scan.consts + scan.carries);
  for (std::size_t i = 0; i < body->inputs.size(); ++i) {
    out.inputs.push_back(add(body->type(body->inputs[i]), i >= whole));
    e.operands.push_back(Atom::variable(out.inputs.back()));
  }
  for (std::size_t k = 0; k < body->outputs.size(); ++k) {
    e.results.push_back(add(body->type(body->outputs[k]), k >= static_cast<std::size_t>(scan.carries)));
    out.outputs.push_back(Atom::variable(e.results.back()));
  }
  ScanAttr attr = scan;
  attr.length = 1;
  attr.body.program = std::move(body);
  e.attrs = attr;
  out.equations.push_back(std::move(e));
  return intern(std::move(out));
}

/// False where the body cannot be one kernel whatever becomes of its equations.
bool may_fit(const Program& body) {
  std::int64_t elements = 1;
  const auto fits = [&](const Type& t) {
    const std::int64_t n = t.elements();
    const bool good = !t.is_ref && t.bytes() <= most_bytes && n > 0 && (n == 1 || elements == 1 || n == elements);
    elements = std::max(elements, n);
    return good;
  };
  const auto inputs = body.input_types(), outputs = body.output_types();
  return body.captures.empty() && std::all_of(inputs.begin(), inputs.end(), fits) && std::all_of(outputs.begin(), outputs.end(), fits);
}

class OneKernelScan final : public ProgramStep {
 public:
  OneKernelScan(const ScanAttr& scan, KernelPtr kernel) : length_(scan.length), reverse_(scan.reverse), kernel_(std::move(kernel)) {}
  std::size_t scratch_bytes() const override { return 0; }
  void run(void* const* pointers, char*) const override { kernel_->run(reinterpret_cast<char* const*>(pointers), 0, length_); }
  std::string text(std::size_t& kernel) const override {
    std::string out = "scan of " + std::to_string(length_);
    out.append(reverse_ ? " steps, backwards: kernel " : " steps: kernel ").append(std::to_string(kernel++));
    return out.append(" (").append(step_loop_text(*kernel_->steps)).append(")");
  }
  void add_kernels(std::vector<KernelPtr>& kernels) const override { kernels.push_back(kernel_); }

 private:
  std::int64_t length_;
  bool reverse_;
  KernelPtr kernel_;
};

}  // namespace

bool is_step_loop(const Program& program) {
  return program.equations.size() == 1 && program.equations[0].prim == &prim::scan;
}

std::optional<StepLoop> make_step_loop(const Program& program, int vector_bytes) {
  const auto& scan = program.equations[0].as<ScanAttr>();
  return StepLoopMaker(*scan.body.program, static_cast<std::size_t>(scan.carries)).run(vector_bytes);
}

std::string step_loop_text(const StepLoop& loop) {
  std::string out = "all steps, ";
  if (loop.elements == 1) return out + "numbers";
  out.append(std::to_string(loop.elements)).append(" by ").append(std::to_string(loop.lanes)).append(" lanes");
  if (loop.groups > 1) out.append(", ").append(std::to_string(loop.vectors)).append(" vectors at a time");
  return out;
}

std::unique_ptr<const ProgramStep> one_kernel_scan(const Program&, const Equation& e, const OptimizeOptions& options) {
  const auto& scan = e.as<ScanAttr>();
  if (!options.loops_as_kernels || !may_fit(*scan.body.program)) return nullptr;
  const ProgramPtr program = of_one_step(scan, intern(optimize(*scan.body.program, options)));
  if (!make_step_loop(*program, vector_bytes())) return nullptr;
  return std::make_unique<OneKernelScan>(scan, compile_kernels({&program, 1})[0]);
}

}  // namespace anadrome
