#include "compiler/targets/cuda/cuda.h"
#include "compiler/targets/cuda/barrier_trace.h"
#include "compiler/targets/cuda/emit_block.h"
#include "compiler/targets/cuda/lower_to_blocks.h"
#include "compiler/targets/cuda/print_blocks.h"
#include "compiler/targets/cuda/hopper_gemm.h"
#include "compiler/targets/cuda/lowering.h"
#include "compiler/targets/cuda/math_library.h"
#include "compiler/targets/cuda/ptx.h"
#include "compiler/targets/cuda/ptx_machine.h"
#include "compiler/targets/cuda/simt.h"
#include "compiler/lower/kernel_info.h"
#include "compiler/lower/verify_code.h"
#include "tilery/diagnostic.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tilery::cuda {

/// A line for each tensor that is copied in boxes, and what a launch must keep for that.
static std::string printBoxes(const GemmKernel &gemm) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  SmallVector<std::string> conditions;
  auto line = [&](const char *what, const Box &box) {
    stream << "  " << what << ": box of ";
    box.print(stream);
    stream << "\n";
    for (const block::BoxCondition &condition : box.conditions) {
      std::string each;
      llvm::raw_string_ostream eachStream(each);
      block::print(condition, eachStream);
      if (!llvm::is_contained(conditions, each))
        conditions.push_back(each);
    }
  };
  line("a", gemm.a);
  line("b", gemm.b);
  if (gemm.c)
    line("c", *gemm.c);
  else
    stream << "  c: stored from registers, for " << gemm.whyNotCopied << "\n";
  if (!conditions.empty())
    stream << "  for launches with " << llvm::join(conditions, ", ") << "\n";
  return text;
}

FailureOr<Translation> compileModule(ModuleOp source, const Options &options) {
  llvm::LLVMContext context;
  llvm::Module module("tilery", context);
  prepareModule(module, options.target);
  GpuLowering lowering(options.target);
  lower::Options lanes{lowering, options.disjoint, options.fpContract};
  lower::Emitter e(module, lanes);
  Translation result;
  for (auto kernel : source.getOps<tile::KernelOp>()) {
    FailureOr<KernelInfo> info = lower::describe(kernel);
    if (failed(info))
      return failure();
    FailureOr<GpuInfo> gpu = failure();
    std::string why;
    PtxMachine machine;
    OwningOpRef<ModuleOp> blocks;
    if (hasRoles(kernel) || (options.target.blocks && options.boxes && options.target.hopper())) {
      FailureOr<OwningOpRef<ModuleOp>> lowered = lowerToBlocks(kernel);
      if (failed(lowered))
        return failure();
      blocks = std::move(*lowered);
    }
    if (blocks) {
      auto lowered = *blocks->getOps<tile::KernelOp>().begin();
      if (options.wantPlan)
        result.plan += printPlan(kernel, lowered);
      if (options.wantBlock)
        llvm::raw_string_ostream(result.block) << *blocks;
      gpu = emitBlock(e, lowered, machine);
      if (failed(gpu))
        return failure();
      info->gpu = *gpu;
      result.kernels.push_back(std::move(*info));
      continue;
    }
    std::optional<GemmKernel> gemm = options.boxes && options.target.hopper() ? matchGemm(kernel, why) : std::nullopt;
    GemmSchedule schedule;
    if (gemm)
      schedule = chooseSchedule(problemOf(*gemm), options.target);
    if (gemm && !schedule.general) {
      if (options.wantPlan)
        result.plan += kernel.getSymName().str() + ": hopper gemm " + schedule.print() + "\n" + printBoxes(*gemm);
      gpu = emitHopperGemm(e, *gemm, schedule, machine);
      std::string unknown;
      if (auto fault = checkBarriers(*module.getFunction(kernel.getSymName()), *gpu, gemm->k, schedule.stages, &unknown))
        throw Error({Diagnostic::Kind::Runtime,
                     "the barriers of " + kernel.getSymName().str() + " are wrong: " + *fault,
                     "this is a defect of Tilery's code generator",
                     {}});
      if (options.wantPlan && !unknown.empty())
        result.plan += "  barriers not checked: " + unknown + "\n";
    } else {
      BlockPlan plan = planBlock(kernel, lanes, tileBytes(options.target));
      if (options.wantPlan) {
        llvm::raw_string_ostream stream(result.plan);
        if (!why.empty())
          stream << kernel.getSymName() << ": no hopper gemm, for " << why << "\n";
        plan.print(stream, kernel);
      }
      gpu = SimtEmitter(e, kernel, plan, options.target, machine).emitBlock();
    }
    if (failed(gpu))
      return failure();
    info->gpu = *gpu;
    result.kernels.push_back(std::move(*info));
  }
  if (std::string missing = linkMath(module); !missing.empty()) {
    source.emitError() << lowering.name << " has no function " << missing;
    return failure();
  }
  if (failed(lower::verifyCode(module, source)))
    return failure();
  result.object = emitPtx(module, options.target, options.fpContract, options.wantLLVM ? &result.llvm : nullptr);
  result.assembly = result.object;
  return result;
}

} // namespace tilery::cuda
