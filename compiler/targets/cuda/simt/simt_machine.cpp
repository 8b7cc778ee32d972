// Ops that ask the machine. A program has one answer: that of its first thread.
#include "compiler/ir/machine_ops.h"
#include "compiler/targets/cuda/simt/simt.h"

using namespace mlir;

namespace tilery::cuda {

bool SimtEmitter::machineOp(Operation *op) {
  if (!isa<tile::ClockOp, tile::ProcessorOp>(op))
    return false;
  llvm::Value *&result = evaluator.scalars[op->getResult(0)];
  if (isa<tile::ProcessorOp>(op)) { // the same for all threads of a block
    result = machine.processor(e);
    return true;
  }
  if (perThread) {
    result = machine.clock(e);
    return true;
  }
  barrier(); // what the program did before comes first
  llvm::Value *slot = exchange(0, e.i64(0));
  when(e.b.CreateICmpEQ(thread, e.i64(0)), [&] { e.b.CreateStore(machine.clock(e), slot); });
  barrier();
  result = e.b.CreateLoad(e.b.getInt64Ty(), slot);
  barrier();
  return true;
}

} // namespace tilery::cuda
