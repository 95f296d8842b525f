// program_step: the programs of loops and conditionals run on tables of addresses; carries change between two places.
#include "native/program_step.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "anadrome/threads.h"
#include "native/backend.h"
#include "native/pool.h"
#include "native/step_loop.h"
#include "optimize/offsets.h"
#include "optimize/row_blocks.h"
#include "primitives/prims.h"
#include "transforms/memo.h"

namespace anadrome {
namespace {

using Raw = std::shared_ptr<const RawExecutable>;

/// compile_raw, memoised: a loop tries how its body runs best, and so does each loop inside it.
Raw compiled(const ProgramPtr& program, const OptimizeOptions& options, std::span<const bool> donated = {}) {
  constexpr std::int64_t raw = 2;  // beside other executables of the program
  std::vector<std::int64_t> key{raw, options.structured_tangents, options.threads, options.loops_as_kernels, num_threads()};
  key.insert(key.end(), donated.begin(), donated.end());
  return Memo::instance().get<RawExecutable>(
      program, MemoKind::executable, key, [&] { return compile_raw(*program, options, donated); },
      [](const RawExecutable& e) { return 2 * program_bytes(e.optimized_program()) + 1024; });
}

std::string indented(const std::string& title, const std::string& schedule) {
  std::string out = title;
  std::size_t begin = 0;
  while (begin < schedule.size()) {
    const std::size_t end = std::min(schedule.find('\n', begin), schedule.size());
    out.append("\n    | ").append(schedule, begin, end - begin);
    begin = end + 1;
  }
  return out;
}

/// Scratch memory in pieces, laid out when compiling.
class Pieces {
 public:
  std::size_t add(std::size_t bytes) {
    const std::size_t offset = bytes_;
    bytes_ += in_lines(bytes);
    return offset;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

/// A program on its table of addresses in scratch memory.
struct Runner {
  Raw program;
  std::size_t table = 0;  // offset
  std::size_t results = 0, arena = 0;  // entries

  Runner(Raw p, std::size_t arguments, std::size_t outputs, Pieces& pieces)
      : program(std::move(p)), table(pieces.add(program->table_size() * sizeof(char*))), results(arguments), arena(arguments + outputs) {}
  char** at(char* scratch) const { return reinterpret_cast<char**>(scratch + table); }
  void prepare(char* scratch, char* memory) const {
    program->prepare(at(scratch));
    at(scratch)[arena] = memory;
  }
  void run(char* scratch) const { program->run_table(at(scratch)); }
};

std::vector<std::size_t> bytes_of(const Program& program, const Equation& e) {
  std::vector<std::size_t> out;
  for (VarId v : e.results) out.push_back(program.type(v).bytes());
  return out;
}

void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes && to != from) std::memcpy(to, from, bytes);
}

/// The body of a loop, which updates carries in place where it can. Its arguments from `first` on and its first results are
/// the carries.
class LoopBody {
 public:
  LoopBody(const ProgramPtr& body, const OptimizeOptions& options, std::size_t first, std::size_t carries) : in_place_(carries, 1) {
    for (;;) {
      const std::size_t arguments = body->captures.size() + body->inputs.size();
      const auto donated = std::make_unique<bool[]>(arguments);
      for (std::size_t k = 0; k < carries; ++k) donated[first + k] = in_place_[k];
      program_ = compiled(body, options, {donated.get(), arguments});
      if (!drop_others(body->outputs.size(), first)) return;
    }
  }
  const Raw& program() const { return program_; }
  bool in_place(std::size_t carry) const { return in_place_[carry] != 0; }
  /// The carries that are updated in place, which may begin in their results; they are operands from `first` on.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> over(std::size_t first) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
    for (std::size_t k = 0; k < in_place_.size(); ++k)
      if (in_place_[k]) out.emplace_back(first + k, k);
    return out;
  }

 private:
  /// Takes back the memory of carries that no update, or another result, is made in. True where there are some.
  bool drop_others(std::size_t results, std::size_t first) {
    bool dropped = false;
    std::vector<char> own(in_place_.size(), 0);
    for (std::size_t k = 0; k < results; ++k) {
      const std::int64_t donor = program_->donor(k);
      if (donor < 0) continue;
      const auto carry = static_cast<std::size_t>(donor) - first;
      if (carry == k && program_->is_made_in_place(k)) own[k] = 1;
    }
    for (std::size_t k = 0; k < in_place_.size(); ++k)
      if (in_place_[k] && !own[k]) in_place_[k] = 0, dropped = true;
    return dropped;
  }

  Raw program_;
  std::vector<char> in_place_;  // by carry
};

/// The places of carries: their results, and one in scratch memory for those that are not updated in place.
class Carries {
 public:
  Carries(std::vector<std::size_t> bytes, const LoopBody& body, Pieces& pieces) : bytes_(std::move(bytes)) {
    for (std::size_t k = 0; k < bytes_.size(); ++k) {
      in_place_.push_back(body.in_place(k));
      other_.push_back(in_place_[k] ? 0 : pieces.add(bytes_[k]));
    }
  }
  std::size_t size() const { return bytes_.size(); }
  std::size_t bytes(std::size_t k) const { return bytes_[k]; }
  bool in_place(std::size_t k) const { return in_place_[k] != 0; }
  char* other(std::size_t k, char* scratch) const { return scratch + other_[k]; }

 private:
  std::vector<std::size_t> bytes_, other_;
  std::vector<char> in_place_;
};

class Scan final : public ProgramStep {
 public:
  Scan(const Program& p, const Equation& e, const OptimizeOptions& options)
      : attr_(e.as<ScanAttr>()), operands_(e.operands.size()), consts_(static_cast<std::size_t>(attr_.consts)), results_(e.results.size()),
        compiled_(attr_.body.program, options, consts_, static_cast<std::size_t>(attr_.carries)), carries_(carry_bytes(p, e), compiled_, pieces_),
        body_(compiled_.program(), operands_, results_, pieces_), arena_(pieces_.add(body_.program->arena_bytes())) {
    const auto slice = [&](const Type& type) { return attr_.length ? type.bytes() / static_cast<std::size_t>(attr_.length) : 0; };
    for (std::size_t i = consts_ + carries_.size(); i < operands_; ++i) slices_.push_back(slice(p.type(e.operands[i])));
    for (std::size_t k = carries_.size(); k < results_; ++k) slices_.push_back(slice(p.type(e.results[k])));
  }
  std::size_t scratch_bytes() const override { return pieces_.bytes(); }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> over() const override { return compiled_.over(consts_); }

  void run(void* const* pointers, char* scratch) const override {
    const auto at = [&](std::size_t i) { return static_cast<char*>(pointers[i]); };
    const std::size_t carries = carries_.size();
    const auto result = [&](std::size_t k) { return at(operands_ + k); };
    char** table = body_.at(scratch);
    body_.prepare(scratch, scratch + arena_);
    for (std::size_t i = 0; i < operands_; ++i) table[i] = at(i);
    const std::int64_t n = attr_.length;
    const std::int64_t first = attr_.reverse ? n - 1 : 0;
    // Slices of operands, then of results: entries of the table that move.
    const auto entry = [&](std::size_t i) { const std::size_t x = consts_ + carries + i; return x < operands_ ? x : x + carries; };
    for (std::size_t k = carries; k < results_; ++k) table[operands_ + k] = result(k);
    for (std::size_t i = 0; i < slices_.size(); ++i) table[entry(i)] += first * static_cast<std::int64_t>(slices_[i]);
    for (std::size_t k = 0; k < carries; ++k) {
      if (!carries_.in_place(k)) continue;
      copy(result(k), at(consts_ + k), carries_.bytes(k));
      table[consts_ + k] = table[operands_ + k] = result(k);
    }
    for (std::int64_t step = 0; step < n; ++step) {
      for (std::size_t k = 0; k < carries; ++k) {
        if (carries_.in_place(k)) continue;
        if (step) table[consts_ + k] = table[operands_ + k];
        table[operands_ + k] = (n - 1 - step) % 2 ? carries_.other(k, scratch) : result(k);
      }
      body_.run(scratch);
      for (std::size_t i = 0; i < slices_.size(); ++i)
        table[entry(i)] += attr_.reverse ? -static_cast<std::int64_t>(slices_[i]) : static_cast<std::int64_t>(slices_[i]);
    }
    if (n == 0)
      for (std::size_t k = 0; k < carries; ++k) copy(result(k), at(consts_ + k), carries_.bytes(k));
  }
  std::string text(std::size_t& kernel) const override {
    return indented("scan of " + std::to_string(attr_.length) + (attr_.reverse ? " steps, backwards" : " steps"), body_.program->text_from(kernel));
  }
  void add_kernels(std::vector<KernelPtr>& kernels) const override { body_.program->add_kernels(kernels); }

 private:
  static std::vector<std::size_t> carry_bytes(const Program& p, const Equation& e) {
    std::vector<std::size_t> out = bytes_of(p, e);
    out.resize(static_cast<std::size_t>(e.as<ScanAttr>().carries));
    return out;
  }

  ScanAttr attr_;
  std::size_t operands_, consts_, results_;
  LoopBody compiled_;
  Pieces pieces_;
  Carries carries_;
  Runner body_;
  std::size_t arena_;
  std::vector<std::size_t> slices_;  // bytes of a slice, of operands, then of results
};

OptimizeOptions on_one_thread(OptimizeOptions options) {
  options.threads = 1;
  return options;
}

/// Blocks of rows: each thread takes a part of them, one after another, and adds to sums of its own. The first thread adds to the
/// results; the others' are added to those in the order of the threads.
class RowBlocks final : public ProgramStep {
 public:
  RowBlocks(const Program& p, const Equation& e, const OptimizeOptions& options)
      : attr_(e.as<ScanAttr>()), operands_(e.operands.size()), consts_(static_cast<std::size_t>(attr_.consts)), results_(e.results.size()),
        threads_(std::min<std::int64_t>(options.threads ? options.threads : num_threads(), attr_.length)),
        compiled_(attr_.body.program, on_one_thread(options), consts_, static_cast<std::size_t>(attr_.carries)),
        body_(compiled_.program(), operands_, results_, pieces_), arena_(pieces_.add(body_.program->arena_bytes())) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(attr_.carries); ++k) {
      const Type& type = p.type(e.results[k]);
      sums_.push_back({type, own_.add(type.bytes()), compiled_.in_place(k) ? 0 : pieces_.add(type.bytes())});
    }
    const auto slice = [&](const Type& type) { return type.bytes() / static_cast<std::size_t>(attr_.length); };
    for (std::size_t i = consts_ + sums_.size(); i < operands_; ++i) slices_.push_back(slice(p.type(e.operands[i])));
    for (std::size_t k = sums_.size(); k < results_; ++k) slices_.push_back(slice(p.type(e.results[k])));
  }
  std::size_t scratch_bytes() const override {
    const auto threads = static_cast<std::size_t>(threads_);
    return pieces_.bytes() * threads + own_.bytes() * (threads - 1);
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> over() const override { return compiled_.over(consts_); }

  void run(void* const* pointers, char* scratch) const override {
    const auto sums = [&](std::int64_t thread) {  // of the threads but the first
      return scratch + pieces_.bytes() * static_cast<std::size_t>(threads_) + own_.bytes() * static_cast<std::size_t>(thread - 1);
    };
    parallel_for(threads_, [&](std::int64_t thread) {
      run_part(thread, pointers, scratch + static_cast<std::size_t>(thread) * pieces_.bytes(), thread == 0 ? nullptr : sums(thread));
    });
    for (std::int64_t thread = 1; thread < threads_; ++thread)
      for (std::size_t k = 0; k < sums_.size(); ++k) add(sums_[k].type, sums(thread) + sums_[k].own, pointers[operands_ + k]);
  }
  std::string text(std::size_t& kernel) const override {
    return indented(std::to_string(attr_.length) + " blocks of rows on " + std::to_string(threads_) + " threads", body_.program->text_from(kernel));
  }
  void add_kernels(std::vector<KernelPtr>& kernels) const override { body_.program->add_kernels(kernels); }

 private:
  struct Sum {
    Type type;
    std::size_t own, other;  // offsets: among a thread's sums, and of the place it changes with where it is not made in place
  };

  /// `sums`: where the sums of a thread are that does not add to the results.
  void run_part(std::int64_t thread, void* const* pointers, char* scratch, char* sums) const {
    const auto at = [&](std::size_t i) { return static_cast<char*>(pointers[i]); };
    const std::int64_t begin = thread * attr_.length / threads_, end = (thread + 1) * attr_.length / threads_;
    char** table = body_.at(scratch);
    body_.prepare(scratch, scratch + arena_);
    for (std::size_t i = 0; i < operands_; ++i) table[i] = at(i);
    for (std::size_t k = sums_.size(); k < results_; ++k) table[operands_ + k] = at(operands_ + k);
    const auto entry = [&](std::size_t i) { const std::size_t x = consts_ + sums_.size() + i; return x < operands_ ? x : x + sums_.size(); };
    for (std::size_t i = 0; i < slices_.size(); ++i) table[entry(i)] += begin * static_cast<std::int64_t>(slices_[i]);
    for (std::size_t k = 0; k < sums_.size(); ++k) start_sum(k, sums ? sums + sums_[k].own : at(operands_ + k), sums ? nullptr : at(consts_ + k), table);
    for (std::int64_t block = begin; block < end; ++block) {
      for (std::size_t k = 0; k < sums_.size(); ++k)
        if (!compiled_.in_place(k)) table[operands_ + k] = scratch + sums_[k].other;
      body_.run(scratch);
      for (std::size_t k = 0; k < sums_.size(); ++k)
        if (!compiled_.in_place(k)) copy(table[consts_ + k], table[operands_ + k], sums_[k].type.bytes());
      for (std::size_t i = 0; i < slices_.size(); ++i) table[entry(i)] += static_cast<std::int64_t>(slices_[i]);
    }
  }
  void start_sum(std::size_t k, char* place, const char* from, char** table) const {
    if (from) copy(place, from, sums_[k].type.bytes());
    else std::memset(place, 0, sums_[k].type.bytes());
    table[consts_ + k] = table[operands_ + k] = place;
  }
  template <class T> static void add_as(std::int64_t n, const char* from, char* to) {
    parallel_ranges(n, 0.3, [&](std::int64_t begin, std::int64_t end) {
      const T* x = reinterpret_cast<const T*>(from);
      T* y = reinterpret_cast<T*>(to);
      for (std::int64_t i = begin; i < end; ++i) y[i] += x[i];
    });
  }
  static void add(const Type& type, const char* from, void* to) {
    if (type.dtype == DType::f32) add_as<float>(type.elements(), from, static_cast<char*>(to));
    else add_as<double>(type.elements(), from, static_cast<char*>(to));
  }

  ScanAttr attr_;
  std::size_t operands_, consts_, results_;
  std::int64_t threads_;
  LoopBody compiled_;
  Pieces pieces_, own_;  // of one thread; its sums
  Runner body_;
  std::size_t arena_;
  std::vector<Sum> sums_;
  std::vector<std::size_t> slices_;  // bytes of a block, of operands, then of results
};

class While final : public ProgramStep {
 public:
  While(const Program& p, const Equation& e, const OptimizeOptions& options)
      : attr_(e.as<WhileAttr>()), condition_consts_(static_cast<std::size_t>(attr_.condition_consts)), body_consts_(static_cast<std::size_t>(attr_.body_consts)),
        compiled_(attr_.body.program, options, body_consts_, e.results.size()), carries_(bytes_of(p, e), compiled_, pieces_), more_(pieces_.add(1)),
        condition_(compiled(attr_.condition.program, options), condition_consts_ + carries_.size(), 1, pieces_),
        body_(compiled_.program(), body_consts_ + carries_.size(), carries_.size(), pieces_),
        arena_(pieces_.add(std::max(condition_.program->arena_bytes(), body_.program->arena_bytes()))) {}
  std::size_t scratch_bytes() const override { return pieces_.bytes(); }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> over() const override { return compiled_.over(condition_consts_ + body_consts_); }

  void run(void* const* pointers, char* scratch) const override {
    const auto at = [&](std::size_t i) { return static_cast<char*>(pointers[i]); };
    const std::size_t first = condition_consts_ + body_consts_, n = carries_.size();
    char **test = condition_.at(scratch), **body = body_.at(scratch);
    condition_.prepare(scratch, scratch + arena_);
    body_.prepare(scratch, scratch + arena_);
    for (std::size_t i = 0; i < condition_consts_; ++i) test[i] = at(i);
    for (std::size_t i = 0; i < body_consts_; ++i) body[i] = at(condition_consts_ + i);
    for (std::size_t k = 0; k < n; ++k) {
      char* const result = at(first + n + k);
      if (carries_.in_place(k)) copy(result, at(first + k), carries_.bytes(k));
      test[condition_consts_ + k] = body[body_consts_ + k] = carries_.in_place(k) ? result : at(first + k);
    }
    test[condition_.results] = scratch + more_;
    for (bool in_result = false;;) {
      condition_.run(scratch);
      bool more = false;
      std::memcpy(&more, scratch + more_, 1);
      if (!more) break;
      in_result = !in_result;
      for (std::size_t k = 0; k < n; ++k) body[body_.results + k] = in_result || carries_.in_place(k) ? at(first + n + k) : carries_.other(k, scratch);
      body_.run(scratch);
      for (std::size_t k = 0; k < n; ++k) test[condition_consts_ + k] = body[body_consts_ + k] = body[body_.results + k];
    }
    for (std::size_t k = 0; k < n; ++k) copy(at(first + n + k), body[body_consts_ + k], carries_.bytes(k));
  }
  std::string text(std::size_t& kernel) const override {
    const std::string condition = indented("while_loop: condition", condition_.program->text_from(kernel));
    return condition + indented("\n    body", body_.program->text_from(kernel));
  }
  void add_kernels(std::vector<KernelPtr>& kernels) const override {
    condition_.program->add_kernels(kernels);
    body_.program->add_kernels(kernels);
  }

 private:
  WhileAttr attr_;
  std::size_t condition_consts_, body_consts_;
  LoopBody compiled_;
  Pieces pieces_;
  Carries carries_;
  std::size_t more_;
  Runner condition_, body_;
  std::size_t arena_;
};

/// The branches of a conditional. A result that is an operand in one of them lies over it in all, where each can do so.
class Branches {
 public:
  Branches(const std::vector<SubProgram>& branches, const OptimizeOptions& options) {
    for (const SubProgram& b : branches) find_passed(*b);
    do compile(branches, options);
    while (drop_others());
  }
  const std::vector<Raw>& programs() const { return programs_; }
  /// Arguments of the branches and the results over them.
  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& over() const { return over_; }

 private:
  void find_passed(const Program& branch) {
    for (std::uint32_t k = 0; k < branch.outputs.size(); ++k)
      for (std::uint32_t i = 0; i < branch.inputs.size(); ++i) {
        const bool taken = std::any_of(over_.begin(), over_.end(), [&](const auto& pair) { return pair.first == i || pair.second == k; });
        if (!taken && branch.outputs[k] == Atom::variable(branch.inputs[i])) over_.emplace_back(i, k);
      }
  }
  void compile(const std::vector<SubProgram>& branches, const OptimizeOptions& options) {
    programs_.clear();
    for (const SubProgram& b : branches) {
      const auto donated = std::make_unique<bool[]>(b->inputs.size());
      for (const auto& [argument, result] : over_) donated[argument] = true;
      programs_.push_back(compiled(b.program, options, {donated.get(), b->inputs.size()}));
    }
  }
  bool drop_others() {
    return std::erase_if(over_, [&](const auto& pair) {
      return std::any_of(programs_.begin(), programs_.end(), [&](const Raw& p) { return p->donor(pair.second) != static_cast<std::int64_t>(pair.first); });
    }) > 0;
  }

  std::vector<Raw> programs_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> over_;
};

class Cond final : public ProgramStep {
 public:
  Cond(const Equation& e, const OptimizeOptions& options)
      : operands_(e.operands.size()), results_(e.results.size()), compiled_(e.as<CondAttr>().branches, options), results_bytes_(results_) {
    std::size_t arena = 0;
    for (const Raw& b : compiled_.programs()) {
      branches_.emplace_back(b, operands_ - 1, results_, pieces_);
      arena = std::max(arena, b->arena_bytes());
    }
    arena_ = pieces_.add(arena);
    const std::vector<Type> types = e.as<CondAttr>().branches[0]->output_types();
    for (std::size_t k = 0; k < results_; ++k) results_bytes_[k] = types[k].bytes();
  }
  std::size_t scratch_bytes() const override { return pieces_.bytes(); }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> over() const override {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
    for (const auto& [argument, result] : compiled_.over()) out.emplace_back(argument + 1, result);
    return out;
  }

  void run(void* const* pointers, char* scratch) const override {
    std::int32_t index = 0;
    std::memcpy(&index, pointers[0], sizeof index);
    const Runner& branch = branches_[static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, static_cast<std::int64_t>(branches_.size()) - 1))];
    branch.prepare(scratch, scratch + arena_);
    for (std::size_t i = 1; i < operands_ + results_; ++i) branch.at(scratch)[i - 1] = static_cast<char*>(pointers[i]);
    for (const auto& [argument, result] : compiled_.over()) {
      char* const memory = static_cast<char*>(pointers[operands_ + result]);
      copy(memory, pointers[argument + 1], results_bytes_[result]);
      branch.at(scratch)[argument] = memory;
    }
    branch.run(scratch);
  }
  std::string text(std::size_t& kernel) const override {
    std::string out = "cond";
    for (std::size_t b = 0; b < branches_.size(); ++b)
      out += indented("\n    branch " + std::to_string(b), branches_[b].program->text_from(kernel));
    return out;
  }
  void add_kernels(std::vector<KernelPtr>& kernels) const override {
    for (const Runner& branch : branches_) branch.program->add_kernels(kernels);
  }

 private:
  std::size_t operands_, results_;
  Branches compiled_;
  std::vector<std::size_t> results_bytes_;
  Pieces pieces_;
  std::vector<Runner> branches_;
  std::size_t arena_ = 0;
};

}  // namespace

std::unique_ptr<const ProgramStep> program_step(const Program& program, const Equation& e, const OptimizeOptions& options) {
  if (e.prim == &prim::scan) {
    auto one = one_kernel_scan(program, e, options);
    return one ? std::move(one) : std::make_unique<Scan>(program, e, options);
  }
  if (e.prim == &row_blocks) return std::make_unique<RowBlocks>(program, e, options);
  if (e.prim == &prim::while_loop) return std::make_unique<While>(program, e, options);
  if (e.prim == &prim::cond) return std::make_unique<Cond>(e, options);
  return nullptr;
}

}  // namespace anadrome
