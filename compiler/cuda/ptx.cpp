#include "compiler/cuda/ptx.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

namespace tilery::cuda {
namespace {
constexpr const char *triple = "nvptx64-nvidia-cuda";

std::unique_ptr<llvm::TargetMachine> makeMachine(const CudaTarget &target, bool fpContract) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  llvm::Triple t(triple);
  const llvm::Target *registered = llvm::TargetRegistry::lookupTarget(t, error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = fpContract ? llvm::FPOpFusion::Standard : llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      registered->createTargetMachine(t, target.arch(), "+ptx" + std::to_string(target.ptx), options, llvm::Reloc::PIC_,
                                      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}
} // namespace

void prepareModule(llvm::Module &module, const CudaTarget &target) {
  module.setTargetTriple(llvm::Triple(triple));
  module.setDataLayout(makeMachine(target, true)->createDataLayout());
}

std::string emitPtx(llvm::Module &module, const CudaTarget &target, bool fpContract, std::string *llvmText) {
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(target, fpContract);
  {
    llvm::LoopAnalysisManager lam;
    llvm::FunctionAnalysisManager fam;
    llvm::CGSCCAnalysisManager cgam;
    llvm::ModuleAnalysisManager mam;
    llvm::PassBuilder builder(machine.get());
    builder.registerModuleAnalyses(mam);
    builder.registerCGSCCAnalyses(cgam);
    builder.registerFunctionAnalyses(fam);
    builder.registerLoopAnalyses(lam);
    builder.crossRegisterProxies(lam, fam, cgam, mam);
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, mam);
  }
  if (llvmText) {
    llvm::raw_string_ostream stream(*llvmText);
    module.print(stream, nullptr);
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile, /*DisableVerify=*/true);
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace tilery::cuda
