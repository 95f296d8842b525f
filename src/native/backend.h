// Backends: each compiles a program to an executable.
#pragma once
#include <string_view>

#include "anadrome/compile.h"
#include "native/kernels.h"
#include "optimize/passes.h"

namespace anadrome {

struct Backend {
  std::string_view name;
  std::shared_ptr<const Executable> (*compile)(const Program& program, const CompileOptions& options,
                                               std::span<const bool> donated);
};

/// A compiled program that runs on memory of the caller: what loops and conditionals run for their programs.
class RawExecutable : public Executable {
 public:
  /// Bytes that a run needs beside arguments and results.
  virtual std::size_t arena_bytes() const = 0;
  /// Entries of the table of addresses that a run takes: arguments, results, the arena, and one for the executable itself.
  virtual std::size_t table_size() const = 0;
  /// Runs. The first entries of the table are set by the caller; the last one, once, by `prepare`.
  virtual void run_table(char* const* table) const = 0;
  virtual void prepare(char** table) const = 0;
  /// Of a result: the donated argument whose memory it takes, or -1. Both entries of the table are then the same.
  virtual std::int64_t donor(std::size_t result) const = 0;
  /// True where the result is made in that memory, not copied there at the end.
  virtual bool is_made_in_place(std::size_t result) const = 0;
  /// text() with its kernels counted on from `kernel`, which is moved behind them.
  virtual std::string text_from(std::size_t& kernel) const = 0;
  /// Appends the kernels that text() numbers, in its order.
  virtual void add_kernels(std::vector<KernelPtr>& kernels) const = 0;
};
/// `donated`: by argument, whose memory a run may write over.
std::shared_ptr<const RawExecutable> compile_raw(const Program& program, const OptimizeOptions& options,
                                                 std::span<const bool> donated = {});

/// Optimised, fused, planned; loop kernels are compiled to machine code. Runs on one arena.
std::shared_ptr<const Executable> compile_native(const Program& program, const CompileOptions& options,
                                                 std::span<const bool> donated);
/// The same without generated code: every equation runs on its precompiled kernel. What runs outside jit. The programs of
/// loops and conditionals are compiled to machine code all the same: they run often.
std::shared_ptr<const Executable> compile_precompiled(const Program& program, const CompileOptions& options,
                                                      std::span<const bool> donated);
/// The reference: the program as it is, equation by equation, every value in memory of its own.
std::shared_ptr<const Executable> compile_eval(const Program& program, const CompileOptions& options,
                                               std::span<const bool> donated);

/// Throws TypeError unless the arguments are numbers of the types of the captures and inputs.
void check_arguments(const Program& program, std::span<const Array> arguments);
/// Runs on arguments that were checked, through pointers to them.
std::vector<Array> run_checked(const Executable& executable, std::span<const Array> arguments, std::size_t results);
/// The sizes that follow from the signature alone.
MemoryAnalysis signature_memory(const Program& program);

}  // namespace anadrome
