#include "compiler/targets/cpu/emit_object.h"
#include "compiler/lower/stepped_passes.h"
#include "compiler/lower/unroll.h"
#include "compiler/progress.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <map>
#include <mutex>

namespace tilery::cpu {
// A program may be linked without this back end, which is large (cmake/Llvm22.cmake): nothing comes out of an archive for a weak reference.
// By other names, since LLVM's headers say that other libraries may have these functions.
#define TILERY_MAY_BE_MISSING(name) asm("LLVMInitializeAArch64" name) __attribute__((weak, visibility("hidden")))
void aarch64TargetInfo() TILERY_MAY_BE_MISSING("TargetInfo");
void aarch64Target() TILERY_MAY_BE_MISSING("Target");
void aarch64TargetMC() TILERY_MAY_BE_MISSING("TargetMC");
void aarch64AsmPrinter() TILERY_MAY_BE_MISSING("AsmPrinter");

namespace {
std::unique_ptr<llvm::TargetMachine> makeMachine(const CpuTarget &target, bool fpContract, bool plain) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    if (aarch64Target) {
      aarch64TargetInfo();
      aarch64Target();
      aarch64TargetMC();
      aarch64AsmPrinter();
    }
  });
  std::string error;
  llvm::Triple t(target.triple());
  const llvm::Target *registered = llvm::TargetRegistry::lookupTarget(t, error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = fpContract ? llvm::FPOpFusion::Standard : llvm::FPOpFusion::Strict;
  options.MCOptions.AsmVerbose = true;
  return std::unique_ptr<llvm::TargetMachine>(
      registered->createTargetMachine(t, target.cpu, target.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                      plain ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default));
}

// A target machine costs as much as a small kernel and is not thread-safe: one per thread and configuration.
llvm::TargetMachine &machineFor(const CpuTarget &target, bool fpContract, bool plain = false) {
  static thread_local std::map<std::string, std::unique_ptr<llvm::TargetMachine>> machines;
  auto &machine = machines[target.key() + (fpContract ? "+" : "-") + (plain ? "0" : "")];
  if (!machine)
    machine = makeMachine(target, fpContract, plain);
  return *machine;
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  llvm::PassInstrumentationCallbacks callbacks;
  addSteps(callbacks);
  llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(), std::nullopt, &callbacks);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);

  // The emitters already vectorise, unroll and forward values; what is left is cleaning up, and loops that programs ask to unroll. GVN, SROA,
  // other unrolling and the vectorisers cost more than all of this together and find nothing.
  lower::LoopsToUnroll toUnroll(module);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1)));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  if (toUnroll) {
    passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(/*OptLevel=*/2, /*OnlyWhenForced=*/true)));
    passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1)));
    passes.addPass(llvm::SimplifyCFGPass());
  }
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::DCEPass());
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, fam);
  toUnroll.done();
}

// LLVM 22's code for AVX-512 touches memory behind the lanes that exist in two kinds of masked accesses:
// - stores of truncated lanes whose mask is constant and has one lane store that lane as it was before the truncation;
// - accesses of less than 128 bits become 128 bits wide, and if one scalar is the mask of all lanes, it also is that of some added ones.
void storeSingleLane(llvm::IntrinsicInst *call, unsigned lane) {
  llvm::IRBuilder<> b(call);
  auto *type = llvm::cast<llvm::FixedVectorType>(call->getArgOperand(0)->getType());
  llvm::Value *value = b.CreateExtractElement(call->getArgOperand(0), uint64_t(lane));
  llvm::Value *place = b.CreateConstInBoundsGEP1_64(type->getElementType(), call->getArgOperand(1), lane);
  llvm::StoreInst *store = b.CreateAlignedStore(value, place, llvm::Align(type->getScalarSizeInBits() / 8));
  store->copyMetadata(*call, {llvm::LLVMContext::MD_dbg, llvm::LLVMContext::MD_alias_scope, llvm::LLVMContext::MD_noalias});
  call->eraseFromParent();
}

/// An access of `wide` lanes, of which those that the narrow one had depend on `exists`.
void widen(llvm::IntrinsicInst *call, llvm::Value *exists, unsigned lanes, unsigned wide) {
  llvm::IRBuilder<> b(call);
  llvm::SmallVector<int> widened(wide, llvm::PoisonMaskElem), narrowed;
  llvm::SmallVector<llvm::Constant *> bits(wide, b.getFalse());
  for (unsigned i = 0; i < lanes; ++i) {
    widened[i] = int(i);
    narrowed.push_back(int(i));
    bits[i] = b.getTrue();
  }
  llvm::Constant *all = llvm::ConstantVector::get(bits);
  llvm::Value *mask = b.CreateSelect(exists, all, llvm::Constant::getNullValue(all->getType()));
  llvm::Instruction *access;
  if (call->getIntrinsicID() == llvm::Intrinsic::masked_store) {
    llvm::Value *value = b.CreateShuffleVector(call->getArgOperand(0), widened);
    access = b.CreateMaskedStore(value, call->getArgOperand(1), call->getParamAlign(1).valueOrOne(), mask);
  } else {
    llvm::Value *other = b.CreateShuffleVector(call->getArgOperand(2), widened);
    access = b.CreateMaskedLoad(other->getType(), call->getArgOperand(0), call->getParamAlign(0).valueOrOne(), mask, other);
    call->replaceAllUsesWith(b.CreateShuffleVector(access, narrowed));
  }
  access->copyMetadata(*call, {llvm::LLVMContext::MD_dbg, llvm::LLVMContext::MD_alias_scope, llvm::LLVMContext::MD_noalias});
  call->eraseFromParent();
}

void repairMaskedAccesses(llvm::Module &module) {
  llvm::SmallVector<llvm::IntrinsicInst *> accesses;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
          call &&
          (call->getIntrinsicID() == llvm::Intrinsic::masked_store || call->getIntrinsicID() == llvm::Intrinsic::masked_load))
        accesses.push_back(call);
  for (llvm::IntrinsicInst *call : accesses) {
    bool isStore = call->getIntrinsicID() == llvm::Intrinsic::masked_store;
    llvm::Value *mask = call->getArgOperand(isStore ? 2 : 1);
    auto *type = llvm::cast<llvm::FixedVectorType>(isStore ? call->getArgOperand(0)->getType() : call->getType());
    if (type->getElementType()->isPointerTy())
      continue; // two fill 128 bits, and none comes of truncation
    unsigned lanes = type->getNumElements(), wide = 128 / type->getScalarSizeInBits();
    if (auto *fixed = llvm::dyn_cast<llvm::Constant>(mask)) {
      llvm::SmallVector<unsigned> set;
      for (unsigned i = 0; i < lanes; ++i)
        if (llvm::Constant *bit = fixed->getAggregateElement(i); bit && !bit->isNullValue())
          set.push_back(i);
      if (isStore && set.size() == 1)
        storeSingleLane(call, set[0]);
    } else if (llvm::Value *exists = llvm::getSplatValue(mask); exists && lanes > 1 && lanes < wide) {
      widen(call, exists, lanes, wide);
    }
  }
}
} // namespace

bool canEmit(const CpuTarget &target) { return target.architecture == Architecture::x86 || aarch64Target; }

void prepareModule(llvm::Module &module, const CpuTarget &target) {
  module.setTargetTriple(llvm::Triple(target.triple()));
  module.setDataLayout(machineFor(target, true).createDataLayout());
  module.setPICLevel(llvm::PICLevel::SmallPIC);
}

std::string emitObject(llvm::Module &module, const CpuTarget &target, const EmitOptions &options) {
  llvm::TargetMachine &machine = machineFor(target, options.fpContract, options.plain);
  for (llvm::Function &function : module) {
    if (function.isDeclaration()) {
      function.addFnAttr(llvm::Attribute::NonLazyBind);
      continue;
    }
    function.setDSOLocal(true);
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBits));
    function.setUWTableKind(llvm::UWTableKind::Default);
  }
  if (!options.plain)
    optimise(module, machine);
  if (target.avx512)
    repairMaskedAccesses(module);
  if (options.llvmText) {
    llvm::raw_string_ostream stream(*options.llvmText);
    module.print(stream, nullptr);
  }
  auto generate = [&](llvm::Module &m, llvm::CodeGenFileType type) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    lower::SteppedPasses passes;
    machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true);
    passes.run(m);
    return std::string(bytes.begin(), bytes.end());
  };
  // Code generation changes the module, so the text comes from a copy.
  if (options.asmText)
    *options.asmText = generate(*llvm::CloneModule(module), llvm::CodeGenFileType::AssemblyFile);
  return generate(module, llvm::CodeGenFileType::ObjectFile);
}

} // namespace tilery::cpu
