// compile_kernels: the kernels of the process, by body.
#include "native/kernels.h"

#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>

#include "anadrome/error.h"
#include "anadrome/threads.h"
#include "native/codegen/jit.h"
#include "native/codegen/object_cache.h"
#include "native/emittable.h"
#include "native/pool.h"
#include "native/run_kernel.h"
#include "native/step_loop.h"
#include "native/vector_math.h"

namespace anadrome {
namespace {

constexpr std::size_t most_kept = 2048;

// Time to compile, in that of one operation (about 0.2 ms): of a kernel beside its operations; worth another thread.
constexpr double kernel_work = 15, work_of_thread = 60;

/// Every function that generated code may call on this machine.
codegen::Symbols all_functions() {
  codegen::Symbols out;
  const auto add = [&](const std::optional<MathFunction>& f) {
    if (f) out[f->symbol] = f->address;
  };
  for (const DType dtype : {DType::f32, DType::f64})
    for (const int lanes : {4, 8, 16}) add(sine_cosine_function(dtype, lanes));
  for (const Prim* p : all_primitives()) {
    if (emission(*p) != Emission::function) continue;
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const int lanes : {2, 4, 8, 16}) add(vector_function(p->name, dtype, lanes));
      add(scalar_function(p->name, dtype));
    }
  }
  return out;
}

/// The names of functions, each with a newline behind it.
std::string lines(const codegen::Symbols& symbols) {
  std::string out;
  for (const auto& [name, address] : symbols) out.append(name).append("\n");
  return out;
}
bool has_all(const codegen::Symbols& symbols, std::string_view names) {
  while (!names.empty()) {
    const std::size_t end = names.find('\n');
    if (end == names.npos || !symbols.contains(std::string(names.substr(0, end)))) return false;
    names.remove_prefix(end + 1);
  }
  return true;
}

LoopNest nest_of(const Program& body) {
  auto nest = make_loop_nest(body, vector_bytes());
  if (!nest) throw CompileError("code generator: the results of a kernel share no loops.");
  return std::move(*nest);
}
StepLoop steps_of(const Program& body) {
  const auto steps = make_step_loop(body, vector_bytes());
  if (!steps) throw CompileError("code generator: the loop cannot be one kernel.");
  return *steps;
}

/// What a cached object needs beside its own text: the functions there are, and what all objects depend on.
struct Environment {
  codegen::Symbols functions = all_functions();
  /// Which functions there are depends on the libraries of the machine, and decides which of them a kernel calls.
  std::string text = code_version() + "\n" + codegen::Host::instance().description() + "\n" +
                     ObjectCache::hash(lines(functions)) + "\n";
  static const Environment& instance() {
    static const Environment& environment = *new Environment;  // never destroyed: threads may end after it
    return environment;
  }
};

/// The kernels of some bodies on their way to machine code.
class Compilation {
 public:
  using NewKernel = std::shared_ptr<CompiledKernel>;

  explicit Compilation(std::span<const ProgramPtr> bodies) {
    for (const ProgramPtr& p : bodies) {
      auto k = std::make_shared<CompiledKernel>();
      if (is_step_loop(*p)) {
        k->steps = std::make_shared<const StepLoop>(steps_of(*p));
      } else {
        k->nest = nest_of(*p);
        k->item_nanoseconds = item_nanoseconds(k->nest);
      }
      k->body = p;
      kernels_.push_back(std::move(k));
    }
  }

  /// Compiles all as one module a thread, which takes less time than one each.
  void compile() {
    for (std::size_t i = 0; i < kernels_.size(); ++i) kernels_[i]->name = "kernel_" + std::to_string(i);
    const std::vector<std::vector<NewKernel>> parts = shares();
    std::vector<std::string> objects(parts.size());
    std::vector<codegen::Symbols> symbols(parts.size());
    parallel_for(static_cast<std::int64_t>(parts.size()), [&](std::int64_t i) {
      const auto k = static_cast<std::size_t>(i);
      objects[k] = object(parts[k], symbols[k]);
    });
    for (std::size_t k = 1; k < parts.size(); ++k) symbols[0].merge(symbols[k]);
    link(objects, symbols[0]);
    loaded_ = 0;
  }

  /// Loads those that are in the cache; compiles and stores the others, each by itself.
  void compile(ObjectCache& cache) {
    const Environment& environment = Environment::instance();
    std::vector<std::string> keys, objects(kernels_.size());
    std::unordered_set<std::string> names;
    for (const NewKernel& k : kernels_) {
      keys.push_back(environment.text + to_string(*k->body));
      k->name = "kernel_" + ObjectCache::hash(keys.back());
      names.insert(k->name);
    }
    if (names.size() < kernels_.size()) return compile();  // hashes collide
    parallel_for(static_cast<std::int64_t>(kernels_.size()), [&](std::int64_t i) {
      const auto k = static_cast<std::size_t>(i);
      objects[k] = cached_object(cache, keys[k], kernels_[k]);
    });
    try {
      link(objects, environment.functions);
    } catch (const CompileError&) {
      compile();  // a file is not what it says
    }
  }

  std::span<const NewKernel> kernels() const { return kernels_; }
  std::int64_t loaded() const { return loaded_; }

 private:
  /// The kernels in parts that take about the same time to compile, one for each thread where that is worth while.
  std::vector<std::vector<NewKernel>> shares() const {
    const auto work = [](const NewKernel& k) {
      return kernel_work + (k->steps ? k->steps->operations : k->nest.operations * (k->nest.overlaps ? 1 : 2));
    };
    double all = 0;
    for (const NewKernel& k : kernels_) all += work(k);
    const auto most = std::min<std::int64_t>(num_threads(), static_cast<std::int64_t>(all / work_of_thread) + 1);
    std::vector<std::vector<NewKernel>> parts(std::min(static_cast<std::size_t>(most), kernels_.size()));
    std::vector<double> load(parts.size());
    std::vector<NewKernel> longest_first = kernels_;
    std::stable_sort(longest_first.begin(), longest_first.end(),
                     [&](const NewKernel& a, const NewKernel& b) { return work(a) > work(b); });
    for (const NewKernel& k : longest_first) {
      const auto at = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
      parts[at].push_back(k);
      load[at] += work(k);
    }
    return parts;
  }
  std::string object(std::span<const NewKernel> kernels, codegen::Symbols& symbols) const {
    llvm::LLVMContext context;
    const auto module = host_.module(context);
    for (const NewKernel& k : kernels) {
      if (k->steps) codegen::emit_step_loop(*module, symbols, *k->body, *k->steps, k->name);
      else codegen::emit_kernel(*module, symbols, *k->body, k->nest, k->name);
    }
    return host_.compile(*module);
  }
  std::string cached_object(ObjectCache& cache, const std::string& key, const NewKernel& kernel) {
    if (auto entry = cache.load(key); entry && has_all(Environment::instance().functions, entry->symbols)) {
      ++loaded_;
      return std::move(entry->object);
    }
    codegen::Symbols called;
    std::string out = object({&kernel, 1}, called);
    cache.store(key, {lines(called), out});
    return out;
  }
  void link(std::span<const std::string> objects, const codegen::Symbols& symbols) {
    const auto code = std::make_shared<const KernelCode>(objects, symbols);
    for (const NewKernel& k : kernels_) {
      k->run = reinterpret_cast<decltype(k->run)>(code->address(k->name));
      if (!k->run) throw CompileError("code generator: the object file lacks " + k->name + ".");
      k->code = code;
      k->code_bytes = code->bytes() / kernels_.size();
    }
  }

  codegen::Host& host_ = codegen::Host::instance();
  std::vector<NewKernel> kernels_;
  std::atomic<std::int64_t> loaded_ = 0;
};

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
    return {static_cast<std::int64_t>(kept_.size()), compiled_, loaded_};
  }

 private:
  void compile(const std::vector<ProgramPtr>& bodies) {
    if (kept_.size() > most_kept) std::erase_if(kept_, [](const auto& k) { return k.second.use_count() == 1; });
    Compilation compilation(bodies);
    if (ObjectCache* cache = ObjectCache::of_process()) compilation.compile(*cache);
    else compilation.compile();
    loaded_ += compilation.loaded();
    compiled_ += static_cast<std::int64_t>(bodies.size()) - compilation.loaded();
    for (const auto& k : compilation.kernels()) kept_[k->body.get()] = k;
  }

  std::mutex mutex_;
  std::unordered_map<const Program*, KernelPtr> kept_;
  std::int64_t compiled_ = 0, loaded_ = 0;
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
  if (is_step_loop(body)) codegen::emit_step_loop(*module, symbols, body, steps_of(body), "kernel");
  else codegen::emit_kernel(*module, symbols, body, nest_of(body), "kernel");
  std::string out;
  llvm::raw_string_ostream stream(out);
  module->print(stream, nullptr);
  return out;
}

}  // namespace anadrome
