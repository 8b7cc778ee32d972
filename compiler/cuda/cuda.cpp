#include "compiler/cuda/cuda.h"
#include "compiler/cuda/hopper_gemm.h"
#include "compiler/cuda/ptx.h"
#include "compiler/cpu/kernel_info.h"

using namespace mlir;

namespace tilery::cuda {

FailureOr<CompiledModule> compileModule(ModuleOp source, const Options &options) {
  llvm::LLVMContext context;
  llvm::Module module("tilery", context);
  prepareModule(module, options.target);
  cpu::Options lanes;
  lanes.target = {};
  lanes.target.vectorBits = 128;
  lanes.target.narrowsBF16 = true;
  lanes.disjoint = options.disjoint;
  lanes.fpContract = options.fpContract;
  cpu::Emitter e(module, lanes);
  CompiledModule result;
  for (auto kernel : source.getOps<tile::KernelOp>()) {
    std::optional<GemmKernel> gemm = options.target.hopper() ? matchGemm(kernel) : std::nullopt;
    if (!gemm)
      return kernel.emitError("the GPU target cannot run this program yet");
    GemmSchedule schedule = chooseSchedule(problemOf(*gemm), options.target);
    if (options.wantPlan)
      result.planText += kernel.getSymName().str() + ": hopper gemm " + schedule.print() + "\n";
    FailureOr<GpuInfo> gpu = emitHopperGemm(e, *gemm, schedule, options.target);
    if (failed(gpu))
      return failure();
    FailureOr<KernelInfo> info = cpu::describe(kernel);
    if (failed(info))
      return failure();
    info->gpu = *gpu;
    result.kernels.push_back(std::move(*info));
  }
  result.ptx = emitPtx(module, options.target, options.fpContract, options.wantLLVM ? &result.llvmText : nullptr);
  return result;
}

} // namespace tilery::cuda
