// The backend "native": a list of steps, each a kernel and the places of its operands and results, over one arena.
#include <cstring>
#include <unordered_set>

#include "anadrome/threads.h"
#include "native/backend.h"
#include "native/blocks/blocked_steps.h"
#include "native/blocks/group.h"
#include "native/emittable.h"
#include "native/pool.h"
#include "native/products/product.h"
#include "native/program_step.h"
#include "native/run_kernel.h"
#include "native/schedule_text.h"
#include "optimize/added_products.h"
#include "optimize/cost.h"
#include "optimize/fuse.h"
#include "optimize/offsets.h"
#include "optimize/passes.h"
#include "optimize/plan.h"
#include "primitives/prims.h"

namespace anadrome {
namespace {

/// A place in memory: a base that each run knows, and an offset fixed when compiling.
struct Ref {
  std::uint32_t base = 0;
  std::uint64_t offset = 0;
};

/// One kernel call. Lists are ranges of the executable's tables: operands, then results.
struct Step {
  void (*kernel)(const EvalIn&);
  const Attrs* attrs;
  std::uint32_t first, operands, results;
  Ref scratch;
  const CompiledKernel* compiled;      // a loop kernel, or
  const products::Product* product;    // a product of matrices, or
  const blocks::BlockedSteps* blocked;  // several of those, block by block, or
  const ProgramStep* programs;          // a loop or conditional; else `kernel` runs the step
};

struct Copy {
  Ref from;
  std::uint32_t output;
  std::size_t bytes;
};

constexpr std::size_t inline_bases = 48;
constexpr std::size_t inline_operands = 64;

class NativeExecutable final : public RawExecutable {
 public:
  /// `program` is what was optimised, `steps` the same with loop kernels (or `program` itself).
  NativeExecutable(Program program, Fused steps, const OptimizeOptions& options, std::span<const bool> donated)
      : optimized_(std::move(program)), program_(std::move(steps.program)), members_(std::move(steps.members)),
        kernels_(compiled(program_)), blocked_(blocked()), programs_(with_programs(program_, options)), products_(planned(program_, !members_.empty())), plan_(plan_memory(program_, donated, needs())), arguments_(plan_.written.size()) {
    for (std::size_t i = 0; i < program_.equations.size(); ++i)
      if (!plan_.elided[i]) add_step(i);
    for (const Plan::Copy& c : plan_.copies)
      copies_.push_back({ref(c.from), c.output, program_.type(program_.outputs[c.output]).bytes()});
    for (const Atom& a : program_.outputs) output_types_.push_back(program_.type(a));
    given_up_ = plan_.written;
    for (std::int64_t i : plan_.donor)
      if (i >= 0) given_up_[static_cast<std::size_t>(i)] = true;
  }

  std::vector<Array> run(std::span<const Array> arguments) const override;
  void run_into(std::span<const Array* const> arguments, std::span<Array* const> results) const override;
  const Program& optimized_program() const override { return optimized_; }
  CostAnalysis cost_analysis() const override { return program_cost(optimized_); }
  MemoryAnalysis memory_analysis() const override;
  std::string text() const override {
    std::size_t kernel = 0;
    return text_from(kernel);
  }
  std::string text_from(std::size_t& kernel) const override;
  void add_kernels(std::vector<KernelPtr>& kernels) const override;
  std::string kernel_ir(std::size_t k) const override;

  std::size_t arena_bytes() const override { return plan_.arena_bytes; }
  std::size_t table_size() const override { return constant_base() + 1; }
  void prepare(char** table) const override {
    table[constant_base()] = reinterpret_cast<char*>(const_cast<std::uint64_t*>(constants_.data()));
  }
  void run_table(char* const* table) const override { run_steps(table); }
  std::int64_t donor(std::size_t result) const override { return plan_.donor[result]; }
  bool is_made_in_place(std::size_t result) const override {
    return std::none_of(copies_.begin(), copies_.end(), [&](const Copy& c) { return c.output == result; });
  }

 private:
  std::uint32_t output_base() const { return static_cast<std::uint32_t>(arguments_); }
  std::uint32_t arena_base() const { return output_base() + static_cast<std::uint32_t>(program_.outputs.size()); }
  std::uint32_t constant_base() const { return arena_base() + 1; }

  Ref ref(const Atom& a);
  Ref ref(const Place& place) const;
  void add_step(std::size_t equation);
  void set_arguments(std::span<const Array* const> arguments, char** bases, Arrays& copies) const;
  void make_outputs(std::span<const Array* const> arguments, const Arrays& copies, std::span<Array* const> results,
                    char** bases) const;
  void run_steps(char* const* bases) const;

  static std::vector<KernelPtr> compiled(const Program& program);
  std::vector<std::optional<blocks::BlockedSteps>> blocked();
  static std::vector<std::unique_ptr<const ProgramStep>> with_programs(const Program& program, const OptimizeOptions& options) {
    std::vector<std::unique_ptr<const ProgramStep>> out;
    for (const Equation& e : program.equations) out.push_back(program_step(program, e, options));
    return out;
  }
  /// Without generated code products run on the kernel of `eval` too: the same bits.
  static std::vector<std::optional<products::Product>> planned(const Program& program, bool generated);
  std::vector<StepNeeds> needs() const;
  /// The kernel of an equation that is one.
  const CompiledKernel* kernel(std::size_t equation) const {
    return blocked_[equation] ? nullptr : kernels_[first_step_[equation]].get();
  }

  Program optimized_;
  Program program_;                 // what runs: equations are steps
  std::vector<std::vector<std::uint32_t>> members_;  // by step: equations of optimized_; empty without fusion
  int threads_ = num_threads();     // that products and blocks have scratch memory for
  std::vector<KernelPtr> kernels_;  // in the order of for_each_step; null where it is no loop kernel
  std::vector<std::size_t> first_step_;  // by equation: in kernels_
  std::vector<std::optional<blocks::BlockedSteps>> blocked_;  // by equation
  std::vector<std::unique_ptr<const ProgramStep>> programs_;  // by equation
  std::vector<std::optional<products::Product>> products_;  // by equation
  Plan plan_;
  std::size_t arguments_;
  std::vector<Step> steps_;
  std::vector<Copy> copies_;
  std::vector<Ref> refs_;    // of all steps
  std::vector<Type> types_;  // beside refs_
  std::vector<Type> output_types_;
  std::vector<std::uint64_t> constants_;  // one number a word
  std::vector<bool> given_up_;            // by argument: it is written, or it becomes an output
  std::size_t most_refs_ = inline_operands;
};

Ref NativeExecutable::ref(const Atom& a) {
  if (!a.is_var()) {
    std::uint64_t word = 0;
    a.literal.store(&word);
    constants_.push_back(word);
    return {constant_base(), 8 * (constants_.size() - 1)};
  }
  return ref(plan_.place[a.var]);
}

Ref NativeExecutable::ref(const Place& place) const {
  switch (place.memory) {
    case Memory::argument: return {place.index, 0};
    case Memory::output: return {output_base() + place.index, place.offset};
    default: return {arena_base(), place.offset};
  }
}

/// Every step of a program, those that run block by block one by one.
template <class F> void for_each_step(const Program& program, F f) {
  for (const Equation& e : program.equations) {
    if (e.prim != &blocked_steps) f(e);
    else for_each_step(*e.as<CallAttr>().body, f);
  }
}

std::vector<KernelPtr> NativeExecutable::compiled(const Program& program) {
  std::vector<ProgramPtr> bodies;
  for_each_step(program, [&](const Equation& e) {
    if (e.prim == &loop_kernel) bodies.push_back(e.as<CallAttr>().body.program);
  });
  const std::vector<KernelPtr> kernels = bodies.empty() ? std::vector<KernelPtr>() : compile_kernels(bodies);
  std::vector<KernelPtr> out;
  std::size_t next = 0;
  for_each_step(program, [&](const Equation& e) { out.push_back(e.prim == &loop_kernel ? kernels[next++] : nullptr); });
  return out;
}

std::vector<std::optional<blocks::BlockedSteps>> NativeExecutable::blocked() {
  std::vector<std::optional<blocks::BlockedSteps>> out(program_.equations.size());
  auto kernel = kernels_.begin();
  for (std::size_t i = 0; i < out.size(); ++i) {
    first_step_.push_back(static_cast<std::size_t>(kernel - kernels_.begin()));
    const Equation& e = program_.equations[i];
    if (e.prim != &blocked_steps) {
      ++kernel;
      continue;
    }
    const Program& body = *e.as<CallAttr>().body;
    const auto end = kernel + static_cast<std::ptrdiff_t>(body.equations.size());
    out[i].emplace(body, std::vector<KernelPtr>(kernel, end), threads_);
    kernel = end;
  }
  return out;
}

/// The product of a step that may write it transposed, or add it to an array.
std::optional<products::Product> planned_product(const Program& program, const Equation& e) {
  const Type lhs = program.type(e.operands[0]), rhs = program.type(e.operands[1]);
  if (e.prim == &prim::dot_general) return products::plan_product(e.as<DotAttr>(), lhs, rhs);
  const blocks::ProductAxes p = blocks::product_of(program, e);
  const Strides by_axis = blocks::product_view(p, program.type(e.results[0]).shape);
  const products::View view(by_axis.data(), static_cast<std::size_t>(p.perm.rank()));
  return products::plan_product(p.dims, lhs, rhs, {.lhs_view = {}, .rhs_view = {}, .out_view = view, .accumulate = e.prim == &added_product});
}

std::vector<std::optional<products::Product>> NativeExecutable::planned(const Program& program, bool generated) {
  std::vector<std::optional<products::Product>> out(program.equations.size());
  if (!generated) return out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Equation& e = program.equations[i];
    const bool product = e.prim == &prim::dot_general || e.prim == &turned_product || e.prim == &added_product;
    if (product && program.type(e.results[0]).elements() != 0) out[i] = planned_product(program, e);
  }
  return out;
}

std::vector<StepNeeds> NativeExecutable::needs() const {
  std::vector<StepNeeds> out(program_.equations.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (const CompiledKernel* k = kernel(i)) out[i] = {kernel_scratch_bytes(*k), k->nest.overlaps && !k->nest.stores_once};
    else if (programs_[i]) out[i] = {programs_[i]->scratch_bytes(), false, programs_[i]->over()};
    else if (blocked_[i]) out[i] = {blocked_[i]->scratch_bytes(), false, blocked_[i]->plan().over};
    else if (products_[i]) out[i].scratch = products_[i]->scratch_bytes(threads_);
  }
  return out;
}

void NativeExecutable::add_step(std::size_t equation) {
  const Equation& e = program_.equations[equation];
  const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  steps_.push_back({need<&Prim::eval>(*e.prim).function, &e.attrs, count(refs_), count(e.operands), count(e.results),
                    ref(plan_.scratch[equation]), kernel(equation),
                    products_[equation] ? &*products_[equation] : nullptr, blocked_[equation] ? &*blocked_[equation] : nullptr, programs_[equation].get()});
  for (const Atom& a : e.operands) {
    refs_.push_back(ref(a));
    types_.push_back(program_.type(a));
  }
  for (VarId v : e.results) {
    refs_.push_back(ref(Atom::variable(v)));
    types_.push_back(program_.type(v));
  }
  most_refs_ = std::max(most_refs_, e.operands.size() + e.results.size());
}

MemoryAnalysis NativeExecutable::memory_analysis() const {
  const auto rounding = [](std::size_t bytes) { return static_cast<std::int64_t>(block_bytes(bytes) - bytes); };
  MemoryAnalysis out = signature_memory(program_);
  out.reserved_bytes = kept_bytes() + (plan_.arena_bytes ? rounding(plan_.arena_bytes) : 0);
  for (std::size_t k = 0; k < plan_.donor.size(); ++k) {
    const std::size_t bytes = output_types_[k].bytes();
    if (plan_.donor[k] >= 0) out.alias_size_in_bytes += static_cast<std::int64_t>(bytes);
    else out.reserved_bytes += rounding(bytes);
  }
  std::unordered_set<const CompiledKernel*> seen;
  std::vector<KernelPtr> kernels;
  add_kernels(kernels);
  for (const KernelPtr& k : kernels)
    if (seen.insert(k.get()).second) out.generated_code_size_in_bytes += static_cast<std::int64_t>(k->code_bytes);
  out.temp_size_in_bytes = static_cast<std::int64_t>(plan_.arena_bytes);
  return out;
}

std::string NativeExecutable::text_from(std::size_t& kernel) const {
  std::vector<ScheduleStep> steps;
  for (std::size_t i = 0; i < program_.equations.size(); ++i) {
    if (plan_.elided[i]) continue;
    ScheduleStep s{&program_.equations[i], this->kernel(i), blocked_[i] ? &*blocked_[i] : nullptr, programs_[i].get(), {}, {}};
    if (products_[i]) s.product = products_[i]->text();
    if (!members_.empty()) s.members = members_[i];
    steps.push_back(std::move(s));
  }
  return schedule_text(optimized_, program_, plan_, steps, kernel);
}

void NativeExecutable::add_kernels(std::vector<KernelPtr>& kernels) const {
  for (std::size_t i = 0; i < program_.equations.size(); ++i) {
    if (programs_[i]) programs_[i]->add_kernels(kernels);
    const std::size_t end = i + 1 < first_step_.size() ? first_step_[i + 1] : kernels_.size();
    for (std::size_t k = first_step_[i]; k < end; ++k)
      if (kernels_[k]) kernels.push_back(kernels_[k]);
  }
}

std::string NativeExecutable::kernel_ir(std::size_t k) const {
  std::vector<KernelPtr> kernels;
  add_kernels(kernels);
  if (k < kernels.size()) return anadrome::kernel_ir(*kernels[k]->body);
  throw TypeError("kernel_ir: there is no kernel " + std::to_string(k) + "; the program has " + std::to_string(kernels.size()) + ".");
}

/// True when a run must not write over argument i: it is a number, borrowed memory, or passed twice.
bool must_copy(std::span<const Array* const> arguments, std::size_t i) {
  const Array& a = *arguments[i];
  if (!is_concrete(a) || !a.node()->owner) return true;
  for (std::size_t j = 0; j < arguments.size(); ++j)
    if (j != i && is_concrete(*arguments[j]) && arguments[j]->node()->owner == a.node()->owner) return true;
  return false;
}

/// Points the bases (arguments, outputs, arena, constants) at the arguments. Those that cannot be used as they are get a copy in `copies`, by argument.
void NativeExecutable::set_arguments(std::span<const Array* const> arguments, char** bases, Arrays& copies) const {
  for (std::size_t i = 0; i < arguments_; ++i) {
    const Array& a = *arguments[i];
    const bool copied = given_up_[i] ? must_copy(arguments, i) : !is_concrete(a);
    if (!copied) {
      bases[i] = static_cast<char*>(a.node()->data);
      continue;
    }
    Array own = uninitialized(a.type());
    if (is_concrete(a)) std::memcpy(mutable_data(own), data(a), a.type().bytes());
    else a.node()->literal.store(mutable_data(own));
    bases[i] = static_cast<char*>(mutable_data(own));
    copies.resize(arguments_);
    copies[i] = std::move(own);
  }
}

void NativeExecutable::make_outputs(std::span<const Array* const> arguments, const Arrays& copies,
                                    std::span<Array* const> results, char** bases) const {
  for (std::size_t k = 0; k < output_types_.size(); ++k) {
    Array& out = *results[k];
    if (plan_.donor[k] < 0) {
      out = uninitialized(output_types_[k]);
    } else {
      const auto i = static_cast<std::size_t>(plan_.donor[k]);
      const Array& from = copies.empty() || !copies[i].defined() ? *arguments[i] : copies[i];
      out = concrete(output_types_[k], from.node()->owner, from.node()->data);
    }
    bases[output_base() + k] = static_cast<char*>(mutable_data(out));
  }
}

/// Copies what a product is added to, unless the result lies there.
void start_with(const void* from, void* to, std::size_t bytes) {
  constexpr double bytes_per_nanosecond = 10;
  if (from == to) return;
  parallel_ranges(static_cast<std::int64_t>(bytes), 1 / bytes_per_nanosecond, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, static_cast<std::size_t>(end - begin));
  }, arena_alignment);
}

void NativeExecutable::run_steps(char* const* bases) const {
  boost::container::small_vector<void*, inline_operands> at(most_refs_, boost::container::default_init);
  for (const Step& s : steps_) {
    const std::size_t n = s.operands + s.results;
    for (std::size_t i = 0; i < n; ++i) {
      const Ref& r = refs_[s.first + i];
      at[i] = bases[r.base] + r.offset;
    }
    if (s.compiled) {
      run_kernel(*s.compiled, reinterpret_cast<char* const*>(at.data()), bases[s.scratch.base] + s.scratch.offset);
      continue;
    }
    if (s.product) {
      if (s.operands == 3) start_with(at[2], at[3], types_[s.first + 3].bytes());
      s.product->run(at[0], at[1], at[s.operands], bases[s.scratch.base] + s.scratch.offset, threads_);
      continue;
    }
    if (s.programs) {
      s.programs->run(at.data(), bases[s.scratch.base] + s.scratch.offset);
      continue;
    }
    if (s.blocked) {
      s.blocked->run(at.data(), bases[s.scratch.base] + s.scratch.offset);
      continue;
    }
    const Type* types = types_.data() + s.first;
    s.kernel({*s.attrs,
              {types, s.operands},
              {types + s.operands, s.results},
              {at.data(), s.operands},
              {at.data() + s.operands, s.results},
              bases[s.scratch.base] + s.scratch.offset});
  }
  for (const Copy& c : copies_)
    if (c.bytes) std::memcpy(bases[output_base() + c.output], bases[c.from.base] + c.from.offset, c.bytes);
}

std::vector<Array> NativeExecutable::run(std::span<const Array> arguments) const {
  check_arguments(program_, arguments);
  return run_checked(*this, arguments, output_types_.size());
}

void NativeExecutable::run_into(std::span<const Array* const> arguments, std::span<Array* const> results) const {
  alignas(64) static char nothing[64];  // where empty values are
  boost::container::small_vector<char*, inline_bases> list(constant_base() + 1, boost::container::default_init);
  char** bases = list.data();
  Arrays copies;
  set_arguments(arguments, bases, copies);
  make_outputs(arguments, copies, results, bases);
  const BufferPtr arena = plan_.arena_bytes ? allocate_arena(plan_.arena_bytes) : BufferPtr();
  bases[arena_base()] = arena ? static_cast<char*>(arena.data()) : nothing;
  bases[constant_base()] = reinterpret_cast<char*>(const_cast<std::uint64_t*>(constants_.data()));
  run_steps(bases);
}

}  // namespace

namespace {

std::shared_ptr<const RawExecutable> compile_fused(const Program& program, const OptimizeOptions& options, std::span<const bool> donated) {
  Program optimized = optimize(program, options);
  const auto can_loop = [](const Program& body) { return make_loop_nest(body, vector_bytes()).has_value(); };
  Fused steps = with_added_products(fuse(optimized, {.can_emit = can_emit, .can_loop = can_loop, .donated = donated}));
  steps = blocks::grouped(std::move(steps), vector_bytes(), num_threads());
  return std::make_shared<NativeExecutable>(std::move(optimized), std::move(steps), options, donated);
}

}  // namespace

std::shared_ptr<const Executable> compile_native(const Program& program, const CompileOptions& options,
                                                 std::span<const bool> donated) {
  return compile_fused(program, {options.structured_tangents}, donated);
}

std::shared_ptr<const RawExecutable> compile_raw(const Program& program, const OptimizeOptions& options,
                                                 std::span<const bool> donated) {
  return compile_fused(program, options, donated);
}

std::shared_ptr<const Executable> compile_precompiled(const Program& program, const CompileOptions& options,
                                                  std::span<const bool> donated) {
  const OptimizeOptions passes{options.structured_tangents};
  Program optimized = optimize(program, passes);
  Fused steps{optimized, {}};
  return std::make_shared<NativeExecutable>(std::move(optimized), std::move(steps), passes, donated);
}

}  // namespace anadrome
