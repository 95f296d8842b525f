// From a module to machine code in memory.
#pragma once
#include <llvm/IR/Module.h>

#include <memory>
#include <span>
#include <string>

#include "native/codegen/context.h"

namespace anadrome::codegen {

/// The machine that code is generated for: this one. One a process; several threads may compile.
class Host {
 public:
  static Host& instance();
  /// A module for this machine.
  std::unique_ptr<llvm::Module> module(llvm::LLVMContext& context) const;
  /// The object file of a module.
  std::string compile(llvm::Module& module) const;
  int vector_bytes() const { return vector_bytes_; }
  /// Names the version of LLVM, the processor and its instructions: what an object file depends on beside the source.
  const std::string& description() const { return description_; }
  ~Host();

 private:
  Host();
  struct Parts;
  std::unique_ptr<Parts> parts_;
  int vector_bytes_ = 16;
  std::string description_;
};

}  // namespace anadrome::codegen

namespace anadrome {

/// Machine code of object files, linked and executable while this lives.
class KernelCode {
 public:
  /// Throws CompileError when a file cannot be linked.
  KernelCode(std::span<const std::string> objects, const codegen::Symbols& symbols);
  ~KernelCode();
  KernelCode(const KernelCode&) = delete;
  void* address(const std::string& name) const;
  std::size_t bytes() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace anadrome
