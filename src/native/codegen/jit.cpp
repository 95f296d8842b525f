// Host and KernelCode: LLVM's code generator without its passes over IR, and its linker.
#include "native/codegen/jit.h"

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/ExecutionEngine/SectionMemoryManager.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <cstring>
#include <mutex>

#include "anadrome/error.h"

namespace anadrome::codegen {

using MachinePtr = std::unique_ptr<llvm::TargetMachine>;

/// Each thread that compiles needs a machine for itself; those that are free are kept.
struct Host::Parts {
  explicit Parts(llvm::orc::JITTargetMachineBuilder b) : builder(std::move(b)) {}
  MachinePtr take();
  void give_back(MachinePtr machine) {
    const std::lock_guard lock(mutex);
    free.push_back(std::move(machine));
  }

 private:
  llvm::orc::JITTargetMachineBuilder builder;
  std::mutex mutex;
  bool started = false;
  std::vector<MachinePtr> free;
};

namespace {

[[noreturn]] void fail(const std::string& what, llvm::Error error) {
  throw CompileError("code generator: " + what + ": " + llvm::toString(std::move(error)) + ".");
}

}  // namespace

Host::Host() {
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder) fail("this processor is not known", builder.takeError());
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  const std::string features = builder->getFeatures().getString();
  const auto has = [&](const char* feature) { return features.find(feature) != std::string::npos; };
  vector_bytes_ = has("+avx512f") && has("+avx512vl") ? 64 : has("+avx2") ? 32 : 16;
  description_ = std::string(LLVM_VERSION_STRING) + " " + builder->getTargetTriple().str() + " " + builder->getCPU() +
                 " " + features;
  parts_ = std::make_unique<Parts>(std::move(*builder));
}
Host::~Host() = default;

Host& Host::instance() {
  static Host& host = *new Host;  // never destroyed: threads may end after static objects do
  return host;
}

/// Machines are made when something is compiled: kernels that are loaded from disk do not need one.
MachinePtr Host::Parts::take() {
  const std::lock_guard lock(mutex);
  if (!started) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    started = true;
  }
  if (!free.empty()) {
    MachinePtr machine = std::move(free.back());
    free.pop_back();
    return machine;
  }
  auto machine = builder.createTargetMachine();
  if (!machine) fail("no code for this processor", machine.takeError());
  return std::move(*machine);
}

std::unique_ptr<llvm::Module> Host::module(llvm::LLVMContext& context) const {
  MachinePtr machine = parts_->take();
  auto out = std::make_unique<llvm::Module>("anadrome", context);
  out->setDataLayout(machine->createDataLayout());
  out->setTargetTriple(machine->getTargetTriple());
  parts_->give_back(std::move(machine));
  return out;
}

std::string Host::compile(llvm::Module& module) const {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  MachinePtr machine = parts_->take();
  {
    llvm::legacy::PassManager passes;
    llvm::MCContext* context = nullptr;
    constexpr bool unverified = true;
    if (machine->addPassesToEmitMC(passes, context, stream, unverified))
      throw CompileError("code generator: this processor has no object files.");
    passes.run(module);
  }
  parts_->give_back(std::move(machine));
  return {buffer.data(), buffer.size()};
}

}  // namespace anadrome::codegen

namespace anadrome {
namespace {

class Resolver final : public llvm::LegacyJITSymbolResolver {
 public:
  explicit Resolver(const codegen::Symbols& symbols) : symbols_(symbols) {}
  llvm::JITSymbol findSymbol(const std::string& name) override {
    void* address = nullptr;
    if (const auto it = symbols_.find(name); it != symbols_.end()) address = it->second;
    else if (name == "memset") address = reinterpret_cast<void*>(&std::memset);
    else if (name == "memcpy") address = reinterpret_cast<void*>(&std::memcpy);
    else if (name == "fmodf") address = reinterpret_cast<void*>(static_cast<float (*)(float, float)>(&std::fmod));
    return address ? llvm::JITSymbol(reinterpret_cast<std::uint64_t>(address), llvm::JITSymbolFlags::Exported)
                   : llvm::JITSymbol(nullptr);
  }
  llvm::JITSymbol findSymbolInLogicalDylib(const std::string&) override { return nullptr; }

 private:
  const codegen::Symbols& symbols_;
};

}  // namespace

struct KernelCode::Parts {
  explicit Parts(const codegen::Symbols& s) : symbols(s), resolver(symbols), linker(memory, resolver) {}
  codegen::Symbols symbols;
  Resolver resolver;
  llvm::SectionMemoryManager memory;
  llvm::RuntimeDyld linker;
  std::size_t bytes = 0;
};

KernelCode::KernelCode(std::span<const std::string> objects, const codegen::Symbols& symbols)
    : parts_(std::make_unique<Parts>(symbols)) {
  for (const std::string& object : objects) {
    auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernels"));
    if (!file) codegen::fail("the object file cannot be read", file.takeError());
    parts_->linker.loadObject(**file);
    for (const llvm::object::SectionRef& s : (*file)->sections())
      if (s.isText()) parts_->bytes += s.getSize();
  }
  if (!parts_->linker.hasError()) parts_->linker.finalizeWithMemoryManagerLocking();
  if (parts_->linker.hasError())
    throw CompileError("code generator: the object file cannot be linked: " + parts_->linker.getErrorString().str() + ".");
}
KernelCode::~KernelCode() = default;

void* KernelCode::address(const std::string& name) const {
  return reinterpret_cast<void*>(parts_->linker.getSymbol(name).getAddress());
}
std::size_t KernelCode::bytes() const { return parts_->bytes; }

}  // namespace anadrome
