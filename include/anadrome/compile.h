// Compiling a program, and what it costs: operations and memory.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "anadrome/array.h"
#include "anadrome/program.h"

namespace anadrome {

/// Operations of a program, counted by the documented table (docs/cost.md).
struct CostAnalysis {
  double flops = 0;
  double transcendentals = 0;
  double bytes_accessed = 0;
  struct Share {
    std::int64_t equations = 0;
    double flops = 0, transcendentals = 0, bytes_accessed = 0;
  };
  std::map<std::string, Share> by_primitive;
};
/// Memory of one run, in bytes. `temp` is the arena: what a run takes beside its arguments and results.
struct MemoryAnalysis {
  std::int64_t argument_size_in_bytes = 0;
  std::int64_t output_size_in_bytes = 0;
  std::int64_t alias_size_in_bytes = 0;  // of the outputs: written over donated arguments
  std::int64_t temp_size_in_bytes = 0;
  std::int64_t generated_code_size_in_bytes = 0;
  /// What rounding up to size classes and huge pages adds to outputs and arena, and the free blocks that the process
  /// keeps now for any run.
  std::int64_t reserved_bytes = 0;
};
std::string to_string(const CostAnalysis& cost);
std::string to_string(const MemoryAnalysis& memory);
std::ostream& operator<<(std::ostream& out, const CostAnalysis& cost);
std::ostream& operator<<(std::ostream& out, const MemoryAnalysis& memory);

/// How to compile.
struct CompileOptions {
  std::string backend = "native";
  /// See through the identity basis of a Jacobian: products with it cost nothing. False shows the plain cost.
  bool structured_tangents = true;
};

/// A compiled program. Safe to run from several threads at once.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Runs on captures followed by inputs. Arguments marked donated at compile time are given up by the caller: their
  /// memory may hold results. Allocates its outputs, and an arena that is kept for the next run.
  virtual std::vector<Array> run(std::span<const Array> arguments) const = 0;
  /// The same for callers that know that the arguments are numbers of the right types: writes the results to places of
  /// the caller and takes no memory beside theirs.
  virtual void run_into(std::span<const Array* const> arguments, std::span<Array* const> results) const;
  virtual const Program& optimized_program() const = 0;
  virtual CostAnalysis cost_analysis() const = 0;
  virtual MemoryAnalysis memory_analysis() const = 0;
  /// The schedule: every step with what it reads and writes, the equations and C++ lines of each loop kernel, its loops,
  /// and the offsets of values in the arena.
  virtual std::string text() const = 0;
  /// The LLVM text of loop kernel `k`, numbered as in text(). Throws TypeError when there is no such kernel.
  virtual std::string kernel_ir(std::size_t k) const = 0;
};

/// Compiles a program whose arguments are its captures followed by its inputs. `donated` marks inputs (by argument
/// position) whose memory a run may reuse for results. Throws CompileError for an unknown backend.
std::shared_ptr<const Executable> compile(const ProgramPtr& program, const CompileOptions& options = {},
                                          std::span<const bool> donated = {});

/// Gives the memory that is free and kept for the next arrays and arenas back to the system, whichever thread keeps it.
void clear_memory_cache();
/// Forgets memoised transforms and compiled programs.
void clear_program_cache();
/// Bytes held by memoised transforms and compiled programs (approximate; bounded).
std::int64_t program_cache_bytes();

}  // namespace anadrome
