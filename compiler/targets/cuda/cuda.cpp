#include "compiler/targets/cuda/cuda.h"
#include "compiler/targets/cuda/block/emit_block.h"
#include "compiler/targets/cuda/block/lower_to_blocks.h"
#include "compiler/targets/cuda/ptx/lowering.h"
#include "compiler/targets/cuda/ptx/math_library.h"
#include "compiler/targets/cuda/round_sums.h"
#include "compiler/targets/cuda/ptx/ptx.h"
#include "compiler/targets/cuda/ptx/ptx_machine.h"
#include "compiler/targets/cuda/simt/carry_sums.h"
#include "compiler/targets/cuda/simt/simt.h"
#include "compiler/explain/findings.h"
#include "compiler/lower/debug_info.h"
#include "compiler/lower/kernel_info.h"
#include "compiler/lower/open_pairs.h"
#include "compiler/lower/verify_code.h"
#include "compiler/passes/known_masks.h"
#include "compiler/progress.h"

using namespace mlir;

namespace tilery::cuda {

static bool makesMaps(ModuleOp module) {
  return module.walk([](block::RemapOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Operations of 16-bit numbers in a cycle of a multiprocessor, by mma.sync: data sheets, of the H200 measured.
static block::Gpu gpuOf(const CudaTarget &target) {
  int64_t operations = target.sm >= 90 ? 2580 : target.sm > 80 ? 1024 : 2048;
  return target.hopper() ? block::Gpu() : block::Gpu{false, target.sharedBytes, operations};
}

/// Says that products do not take the way that is made for them.
static void explainGeneral(tile::KernelOp kernel, const std::string &why) {
  kernel.walk([&](Operation *op) {
    if (lower::isProduct(op))
      explain::find(op, "product", "the product takes the general path: " + why,
                    "docs/design.md has such reasons in a table: products off the block level");
  });
}

FailureOr<Translation> emitKernels(ModuleOp source, const Options &options, lower::Emitter &e, BlockMachine &machine) {
  Translation result;
  for (auto kernel : source.getOps<tile::KernelOp>()) {
    FailureOr<KernelInfo> info = lower::describe(kernel);
    if (failed(info))
      return failure();
    Progress::step("planning");
    explain::beginKernel();
    if (options.fpContract)
      roundSums(kernel);
    OwningOpRef<ModuleOp> blocks;
    std::string why, plan;
    FailureOr<OwningOpRef<ModuleOp>> lowered = OwningOpRef<ModuleOp>();
    if (options.plainTile)
      why = "an optimisation crashed";
    else
      lowered = lowerToBlocks(kernel, why, options.disjoint, options.boxes, options.cluster, gpuOf(options.target),
                              options.wantPlan ? &plan : nullptr, options.inTurn);
    if (failed(lowered))
      return failure();
    blocks = std::move(*lowered);
    if (blocks && !options.target.writesMaps() && makesMaps(*blocks)) {
      why = "before CUDA 12.5 a driver's assembler writes other strides into maps made on the device";
      blocks = {};
    }
    FailureOr<GpuInfo> gpu = failure();
    if (blocks) {
      auto lowered = *blocks->getOps<tile::KernelOp>().begin();
      result.plan += plan;
      if (options.wantBlock)
        llvm::raw_string_ostream(result.block) << *blocks;
      Progress::step("making LLVM IR");
      gpu = emitBlock(e, lowered, machine);
    } else {
      if (!why.empty())
        explainGeneral(kernel, why);
      if (!options.plainTile) {
        passes::decideMasks(kernel); // bounds of lanes keep vectors apart
        lower::openPairs(kernel, lower::Pairs::spread);
        carrySums(kernel);
      }
      SimtPlan plan = planSimt(kernel, e.options, tileBytes(options.target), options.target.sm >= 90 ? longestOwnRow : 0);
      if (options.wantPlan) {
        llvm::raw_string_ostream stream(result.plan);
        if (!why.empty())
          stream << kernel.getSymName() << ": no blocks, for " << why << "\n";
        plan.print(stream, kernel);
      }
      Progress::step("making LLVM IR");
      gpu = SimtEmitter(e, kernel, plan, options.target, machine, options.boxes).emit();
    }
    if (failed(gpu))
      return failure();
    info->gpu = *gpu;
    result.kernels.push_back(std::move(*info));
  }
  return result;
}

FailureOr<Translation> compileModule(ModuleOp source, const Options &options) {
  llvm::LLVMContext context;
  llvm::Module module("tilery", context);
  prepareModule(module, options.target);
  GpuLowering lowering(options.target);
  lower::Options lanes{lowering, options.disjoint, options.fpContract};
  lower::Emitter e(module, lanes);
  std::optional<lower::DebugInfo> debug; // directives in the text: what ptxas makes tables of
  if (options.lineTables)
    e.debug = &debug.emplace(module, lower::DebugInfo::Kind::DebugDirectivesOnly);
  PtxMachine machine(options.target);
  FailureOr<Translation> result = emitKernels(source, options, e, machine);
  if (failed(result))
    return failure();
  if (debug)
    debug->finish();
  if (std::string missing = linkMath(module); !missing.empty()) {
    source.emitError() << lowering.name << " has no function " << missing;
    return failure();
  }
  if (failed(lower::verifyCode(module, source)))
    return failure();
  bool ofBlocks = llvm::none_of(result->kernels, [](const KernelInfo &kernel) { return kernel.gpu.maps.empty(); });
  result->object = emitPtx(module, options.target, options.fpContract, options.wantLLVM ? &result->llvm : nullptr, ofBlocks,
                           options.plainLLVM);
  result->assembly = result->object;
  return result;
}

} // namespace tilery::cuda
