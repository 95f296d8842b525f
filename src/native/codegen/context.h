// What the parts of the code generator share: values of a kernel while it is written. Only this folder sees LLVM.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "native/loop_nest.h"
#include "native/step_loop.h"

namespace anadrome::codegen {

/// A value at one point of the nest (`vector` false), or at one point for each lane.
struct Cell {
  llvm::Value* value = nullptr;
  bool vector = false;
  int level = 0;  // it changes with loops [0, level) only, and is computed inside them
};

/// constant + sum of coefficient[d] * index of loop d.
struct Affine {
  std::int64_t constant = 0;
  std::array<std::int64_t, most_loops> coefficient{};
  bool is_constant() const {
    for (std::int64_t c : coefficient)
      if (c) return false;
    return true;
  }
  friend bool operator==(const Affine&, const Affine&) = default;
};
inline Affine plus(Affine a, std::int64_t c) {
  a.constant += c;
  return a;
}
inline Affine times(Affine a, std::int64_t c) {
  a.constant *= c;
  for (std::int64_t& k : a.coefficient) k *= c;
  return a;
}
inline Affine sum(Affine a, const Affine& b) {
  a.constant += b.constant;
  for (std::size_t k = 0; k < a.coefficient.size(); ++k) a.coefficient[k] += b.coefficient[k];
  return a;
}
using Place = std::vector<Affine>;  // by axis

/// Functions that the kernels call, by symbol.
using Symbols = std::map<std::string, void*>;

/// The type in which elements of a dtype are computed: i1 for b1, float for the 16-bit floats.
llvm::Type* compute_type(llvm::LLVMContext& context, DType dtype);
/// The type in which they lie in memory.
llvm::Type* memory_type(llvm::LLVMContext& context, DType dtype);

/// What one call has given for the same operand: sines in registers, cosines in memory until they are asked for.
struct SineCosine {
  llvm::Value* sines = nullptr;
  llvm::AllocaInst* cosines = nullptr;
};
using SineCosines = std::unordered_map<llvm::Value*, SineCosine>;  // by operand
/// True when one call can give both the sine and the cosine of numbers of this dtype.
bool has_sine_cosine(DType dtype);

/// Operations on scalars or vectors of `lanes`, at the place of the builder.
struct Operation {
  llvm::IRBuilder<>& build;
  llvm::Module& module;
  Symbols& symbols;
  const Program& body;
  const Equation& equation;
  int lanes;  // of the operands; 1: scalars
  SineCosines* both = nullptr;  // for a sine or cosine: set where the body has the other one too
  DType in(std::size_t k) const { return body.type(equation.operands[k]).dtype; }
  DType out() const { return body.type(equation.results[0]).dtype; }
};
/// The result of an elementwise equation, in compute types.
llvm::Value* emit_elementwise(const Operation& op, std::span<llvm::Value* const> x);
/// a + b, a * b, max(a, b) ... : one step of a reduction or of the sum in a product.
llvm::Value* emit_combine(llvm::IRBuilder<>& build, const Prim& reduction, DType dtype, llvm::Value* a, llvm::Value* b);
/// What a reduction starts from; `type` is a scalar or vector type.
llvm::Constant* reduction_identity(const Prim& reduction, DType dtype, llvm::Type* type);
/// A number converted between compute types as the primitive `convert` does.
llvm::Value* emit_convert(llvm::IRBuilder<>& build, llvm::Value* x, DType from, DType to);
/// From memory type to compute type and back.
llvm::Value* from_memory(llvm::IRBuilder<>& build, llvm::Value* x, DType dtype);
llvm::Value* to_memory(llvm::IRBuilder<>& build, llvm::Value* x, DType dtype);
/// The result rounded to the dtype that it is stored in (16-bit floats are computed in float).
llvm::Value* rounded(llvm::IRBuilder<>& build, llvm::Value* x, DType dtype);

/// An empty kernel: void name(char** pointers, int64, int64).
llvm::Function* declare_kernel(llvm::Module& module, const std::string& name);
/// Writes the kernel `name` of a body into the module: void name(char** pointers, int64 begin, int64 end), which runs
/// [begin, end) of the loop nest.ranged(). Pointers: arguments of the body, then results (or partial sums).
void emit_kernel(llvm::Module& module, Symbols& symbols, const Program& body, const LoopNest& nest,
                 const std::string& name);
/// Writes the kernel of a loop, a program of one scan: void name(char** pointers, int64 zero, int64 steps). Pointers:
/// operands of the scan, then results.
void emit_step_loop(llvm::Module& module, Symbols& symbols, const Program& program, const StepLoop& loop,
                    const std::string& name);

/// sin(x), or cos(x), as instructions, with the bits of the functions that are called elsewhere: for floats alone, and
/// has_sine_cosine must hold.
struct Angle {
  enum Wanted { sine, cosine, both };
  /// |x|, as the bits of a float, up to which sin(x) is x and, where it is wanted, cos(x) is 1.
  static std::uint32_t tiny(Wanted wanted);
  /// |x| up to which no multiple of pi needs to be taken away.
  static std::uint32_t near(Wanted wanted);
  /// |x| up to which `emit` is right.
  static std::uint32_t far();
  /// Sine and cosine, of which one that is not wanted is null. Where |x| is not near, angles must be `reduced`.
  static std::pair<llvm::Value*, llvm::Value*> emit(llvm::IRBuilder<>& build, Wanted wanted, llvm::Value* x, bool reduced);
};

}  // namespace anadrome::codegen
