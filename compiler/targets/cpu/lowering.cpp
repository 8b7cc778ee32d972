#include "compiler/targets/cpu/lowering.h"
#include "compiler/targets/cpu/dot_plan.h"

using namespace mlir;

namespace tilery::cpu {
namespace {
lower::Machine machineOf(const CpuTarget &isa) {
  lower::Machine machine;
  machine.vectorBits = isa.vectorBits;
  machine.vectorRegisters = isa.vectorRegisters;
  machine.unsignedVectors = isa.unsignedVectors;
  machine.stridedLoad = 8; // a gather, or a load and an insertion a lane: docs/notebook.md, "Thresholds of the planner"
  machine.maskedBits = isa.maskedBits;
  machine.storesDivisions = true;
  machine.storesRepeated = true;
  machine.storesJoined = true;
  machine.carriesElements = true;
  machine.longestNest = 1000;
  return machine;
}
} // namespace

CpuLowering::CpuLowering(const CpuTarget &isa) : Target("the CPU target", machineOf(isa)), isa(isa) {}

std::unique_ptr<lower::ProductPlan> CpuLowering::planProduct(Operation *op, const lower::Options &options,
                                                             llvm::function_ref<bool(Value)> stored) const {
  return planDot(op, isa, options.disjoint, stored);
}

SmallVector<Type> CpuLowering::temporaries(Operation *op) const {
  if (auto sort = dyn_cast<tile::SortOp>(op)) { // the row, and as much for the runtime's use
    auto type = cast<RankedTensorType>(sort.getValue().getType());
    return SmallVector<Type>(2, RankedTensorType::get({type.getDimSize(sort.getAxis())}, type.getElementType()));
  }
  return llvm::isa<tile::PrintOp>(op) ? SmallVector<Type>(op->getOperandTypes()) : SmallVector<Type>();
}

} // namespace tilery::cpu
