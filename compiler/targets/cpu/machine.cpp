// Ops that ask the machine: calls of the runtime.
#include "compiler/ir/machine_ops.h"
#include "compiler/targets/cpu/kernel.h"

using namespace mlir;

namespace tilery::cpu {

bool CpuKernel::targetOp(Operation *op) {
  if (!isa<tile::ClockOp, tile::ProcessorOp>(op))
    return false;
  auto *type = llvm::FunctionType::get(e.valueType(op->getResult(0).getType()), {}, false);
  const char *name = isa<tile::ClockOp>(op) ? "tilery_rt_clock" : "tilery_rt_thread";
  evaluator.scalars[op->getResult(0)] = e.b.CreateCall(e.module.getOrInsertFunction(name, type));
  return true;
}

} // namespace tilery::cpu
