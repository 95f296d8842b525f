// compile_kernels: the kernels of the process, by body.
#include "native/kernels.h"

#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <mutex>

#include "anadrome/error.h"
#include "native/codegen/jit.h"
#include "native/run_kernel.h"

namespace anadrome {
namespace {

constexpr std::size_t most_kept = 2048;

class Kernels {
 public:
  static Kernels& instance() {
    static Kernels& all = *new Kernels;  // never destroyed: threads may end after static objects do
    return all;
  }

  std::vector<KernelPtr> get(std::span<const ProgramPtr> bodies) {
    const std::lock_guard lock(mutex_);
    std::vector<KernelPtr> out(bodies.size());
    std::vector<ProgramPtr> missing;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (const auto it = kept_.find(bodies[i].get()); it != kept_.end()) out[i] = it->second;
      else if (std::find(missing.begin(), missing.end(), bodies[i]) == missing.end()) missing.push_back(bodies[i]);
    }
    if (!missing.empty()) compile(missing);  // may drop kernels that nobody else holds
    for (std::size_t i = 0; i < bodies.size(); ++i)
      if (!out[i]) out[i] = kept_.at(bodies[i].get());
    return out;
  }
  KernelStatistics statistics() {
    const std::lock_guard lock(mutex_);
    return {static_cast<std::int64_t>(kept_.size()), compiled_, 0};
  }

 private:
  void compile(const std::vector<ProgramPtr>& bodies) {
    if (kept_.size() > most_kept) std::erase_if(kept_, [](const auto& k) { return k.second.use_count() == 1; });
    codegen::Host& host = codegen::Host::instance();
    llvm::LLVMContext context;
    const auto module = host.module(context);
    codegen::Symbols symbols;
    std::vector<std::shared_ptr<CompiledKernel>> made;
    for (const ProgramPtr& p : bodies) {
      auto k = std::make_shared<CompiledKernel>();
      auto nest = make_loop_nest(*p, host.vector_bytes());
      if (!nest) throw CompileError("code generator: the results of a kernel share no loops.");
      k->nest = std::move(*nest);
      k->item_nanoseconds = item_nanoseconds(k->nest);
      k->body = p;
      k->name = "kernel_" + std::to_string(compiled_++);
      codegen::emit_kernel(*module, symbols, *p, k->nest, k->name);
      made.push_back(std::move(k));
    }
    const auto code = std::make_shared<const KernelCode>(host.compile(*module), symbols);
    for (auto& k : made) {
      k->run = reinterpret_cast<decltype(k->run)>(code->address(k->name));
      k->code = code;
      k->code_bytes = code->bytes() / made.size();
      kept_[k->body.get()] = std::move(k);
    }
  }

  std::mutex mutex_;
  std::unordered_map<const Program*, KernelPtr> kept_;
  std::int64_t compiled_ = 0;
};

}  // namespace

int vector_bytes() { return codegen::Host::instance().vector_bytes(); }

std::vector<KernelPtr> compile_kernels(std::span<const ProgramPtr> bodies) { return Kernels::instance().get(bodies); }
KernelStatistics kernel_statistics() { return Kernels::instance().statistics(); }

std::string kernel_ir(const Program& body) {
  codegen::Host& host = codegen::Host::instance();
  llvm::LLVMContext context;
  const auto module = host.module(context);
  codegen::Symbols symbols;
  const auto nest = make_loop_nest(body, host.vector_bytes());
  if (!nest) throw CompileError("kernel_ir: the results of the kernel share no loops.");
  codegen::emit_kernel(*module, symbols, body, *nest, "kernel");
  std::string out;
  llvm::raw_string_ostream stream(out);
  module->print(stream, nullptr);
  return out;
}

}  // namespace anadrome
