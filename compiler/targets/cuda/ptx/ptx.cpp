#include "compiler/targets/cuda/ptx/ptx.h"
#include "compiler/lower/stepped_passes.h"
#include "compiler/lower/unroll.h"
#include "compiler/progress.h"
#include "compiler/targets/cuda/ptx/drop_barriers.h"
#include "compiler/targets/cuda/ptx/join_accesses.h"
#include "compiler/targets/cuda/ptx/narrow_stores.h"
#include "compiler/targets/cuda/ptx/pair_conversions.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Inliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/InferAlignment.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <mutex>

namespace tilery::cuda {
namespace {
constexpr const char *triple = "nvptx64-nvidia-cuda";

std::unique_ptr<llvm::TargetMachine> makeMachine(const CudaTarget &target, bool fpContract, bool plain = false) {
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
  return std::unique_ptr<llvm::TargetMachine>(registered->createTargetMachine(
      t, target.arch(), "+ptx" + std::to_string(target.ptx), options, llvm::Reloc::PIC_, std::nullopt,
      plain ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default)); // Aggressive: GVN once more
}

/// What the emitter's code leaves to do, in half the time of LLVM's O3: loops are unrolled and kept in registers, addresses and index
/// arithmetic are shared and moved out of loops. Nothing here is vectorised, outlined or specialised any further. Block IR keeps its tiles in
/// registers, with no arrays or loops over their elements.
llvm::ModulePassManager pipeline(llvm::PassBuilder &builder, bool ofBlocks) {
  using namespace llvm;
  auto loops = [](auto... passes) {
    LoopPassManager manager;
    (manager.addPass(std::move(passes)), ...);
    return createFunctionToLoopPassAdaptor(std::move(manager), /*UseMemorySSA=*/true);
  };
  FunctionPassManager functions;
  if (!ofBlocks)
    functions.addPass(SROAPass(SROAOptions::ModifyCFG));
  functions.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  functions.addPass(InstCombinePass());
  functions.addPass(CorrelatedValuePropagationPass()); // what follows from the ranges of thread and block numbers
  functions.addPass(SimplifyCFGPass());
  functions.addPass(loops(LoopRotatePass(), LICMPass(LICMOptions())));
  functions.addPass(CorrelatedValuePropagationPass()); // the guards that rotation made
  if (!ofBlocks)
    functions.addPass(SimplifyCFGPass());
  functions.addPass(createFunctionToLoopPassAdaptor(IndVarSimplifyPass()));
  functions.addPass(createFunctionToLoopPassAdaptor(LoopFullUnrollPass(/*OptLevel=*/3)));
  if (!ofBlocks)
    functions.addPass(SROAPass(SROAOptions::ModifyCFG)); // arrays that unrolled loops walk
  functions.addPass(GVNPass());
  functions.addPass(InstCombinePass());
  functions.addPass(LoopUnrollPass(LoopUnrollOptions(/*OptLevel=*/3)));
  functions.addPass(loops(LICMPass(LICMOptions())));
  if (!ofBlocks)
    functions.addPass(DSEPass());
  functions.addPass(ADCEPass());
  functions.addPass(SimplifyCFGPass());
  if (!ofBlocks) { // for the vectorizer of loads and stores: what a thread's unrolled loops read and write side by side
    functions.addPass(DropBarriersPass());
    functions.addPass(InferAddressSpacesPass());
    functions.addPass(InferAlignmentPass());
    functions.addPass(EarlyCSEPass()); // conditions that are the same now
    functions.addPass(JoinAccessesPass());
  }
  ModulePassManager module;
  builder.invokePipelineStartEPCallbacks(module, OptimizationLevel::O3); // the target's: ranges of thread and block numbers
  module.addPass(ModuleInlinerWrapperPass(getInlineParams(/*OptLevel=*/3, /*SizeOptLevel=*/0)));
  module.addPass(GlobalDCEPass());
  module.addPass(createModuleToFunctionPassAdaptor(std::move(functions), /*EagerlyInvalidate=*/true));
  return module;
}

/// LLVM's passes from LLVM IR to PTX, for code made of block IR without those that find nothing in it: addresses are sums of few terms, and memory
/// is read and written by assembly.
class CodeGeneration : public lower::SteppedPasses {
public:
  explicit CodeGeneration(bool ofBlocks) : ofBlocks(ofBlocks) {}

  void add(llvm::Pass *pass) override {
    bool behindReassociation = std::exchange(reassociated, pass->getPassName() == reassociation);
    if (ofBlocks && (llvm::is_contained(idle, pass->getPassName()) ||
                     (behindReassociation && pass->getPassName() == "Early CSE"))) // of what it has made alike
      delete pass;
    else
      SteppedPasses::add(pass);
  }

private:
  static constexpr llvm::StringLiteral reassociation = "Nary reassociation",
                                       idle[] = {reassociation, "Constant Hoisting", "GPU Load and Store Vectorizer"};
  bool ofBlocks, reassociated = false;
};
} // namespace

void prepareModule(llvm::Module &module, const CudaTarget &target) {
  module.setTargetTriple(llvm::Triple(triple));
  module.setDataLayout(makeMachine(target, true)->createDataLayout());
}

std::string emitPtx(llvm::Module &module, const CudaTarget &target, bool fpContract, std::string *llvmText, bool ofBlocks,
                    bool plain) {
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(target, fpContract, plain);
  pairConversions(module);
  if (!plain) {
    llvm::LoopAnalysisManager lam;
    llvm::FunctionAnalysisManager fam;
    llvm::CGSCCAnalysisManager cgam;
    llvm::ModuleAnalysisManager mam;
    llvm::PassInstrumentationCallbacks callbacks;
    addSteps(callbacks);
    llvm::PassBuilder builder(machine.get(), llvm::PipelineTuningOptions(), std::nullopt, &callbacks);
    builder.registerModuleAnalyses(mam);
    builder.registerCGSCCAnalyses(cgam);
    builder.registerFunctionAnalyses(fam);
    builder.registerLoopAnalyses(lam);
    builder.crossRegisterProxies(lam, fam, cgam, mam);
    lower::LoopsToUnroll toUnroll(module);
    pipeline(builder, ofBlocks).run(module, mam);
    toUnroll.done();
  }
  if (llvmText) {
    llvm::raw_string_ostream stream(*llvmText);
    module.print(stream, nullptr);
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  CodeGeneration passes(ofBlocks);
  machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile, /*DisableVerify=*/true);
  passes.run(module);
  return narrowStores({bytes.data(), bytes.size()});
}

} // namespace tilery::cuda
