// The pipeline of the CPU back end.
#include "compiler/targets/cpu/cpu.h"
#include "compiler/targets/cpu/dot_plan.h"
#include "compiler/targets/cpu/emit_object.h"
#include "compiler/targets/cpu/kernel.h"
#include "compiler/targets/cpu/lowering.h"
#include "compiler/targets/cpu/prepare_products.h"
#include "compiler/explain/findings.h"
#include "compiler/lower/debug_info.h"
#include "compiler/lower/explain_plan.h"
#include "compiler/lower/kernel_info.h"
#include "compiler/lower/open_pairs.h"
#include "compiler/lower/verify_code.h"
#include "compiler/passes/known_masks.h"
#include "compiler/progress.h"
#include <unistd.h>

using namespace mlir;

namespace tilery::cpu {

/// Bytes of the cache that a thread has for itself.
static uint64_t nearCache() {
  constexpr uint64_t usual = 1 << 20;
  long known = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return known > 0 ? uint64_t(known) : usual;
}

FailureOr<Translation> compileModule(ModuleOp source, const Options &options) {
  llvm::LLVMContext context;
  llvm::Module module("tilery", context);
  prepareModule(module, options.target);
  CpuLowering target(options.target);
  lower::Options lowering{target, options.disjoint, options.fpContract};
  lower::Emitter e(module, lowering);
  std::optional<lower::DebugInfo> debug;
  if (options.lineTables)
    e.debug = &debug.emplace(module);
  Translation result;
  for (auto kernel : source.getOps<tile::KernelOp>()) {
    FailureOr<KernelInfo> info = lower::describe(kernel); // plans are of kernels whose arguments have slots
    if (failed(info))
      return failure();
    Progress::step("planning");
    explain::beginKernel();
    if (!options.plainTile) {
      passes::decideMasks(kernel);
      passes::separateBounds(kernel); // rows in segments have ends of signed numbers
      prepareProducts(kernel);
      lower::openPairs(kernel, lower::Pairs::all);
      hoistStorePlaces(kernel);
    }
    lower::Plan plan = lower::planKernel(kernel, lowering);
    lower::explainStorage(plan, kernel, nearCache());
    Progress::step("making LLVM IR");
    if (failed(CpuKernel(e, kernel, plan).emit(*info)))
      return failure();
    if (options.wantPlan) { // with what the code of each nest has become
      llvm::raw_string_ostream stream(result.plan);
      plan.print(stream, kernel);
    }
    result.kernels.push_back(std::move(*info));
  }
  if (debug)
    debug->finish();
  if (failed(lower::verifyCode(module, source)))
    return failure();
  EmitOptions emit;
  emit.fpContract = options.fpContract;
  emit.plain = options.plainLLVM;
  emit.llvmText = options.wantLLVM ? &result.llvm : nullptr;
  emit.asmText = options.wantAsm ? &result.assembly : nullptr;
  result.object = emitObject(module, options.target, emit);
  return result;
}

} // namespace tilery::cpu
