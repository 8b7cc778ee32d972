#include "compiler/targets/cpu/lowering.h"
#include "compiler/targets/cpu/dot_plan.h"

using namespace mlir;

namespace tilery::cpu {
namespace {
lower::Machine machineOf(const CpuTarget &isa) {
  lower::Machine machine;
  machine.vectorBits = isa.vectorBits;
  machine.vectorRegisters = isa.vectorRegisters;
  machine.unsignedVectors = isa.avx512;
  return machine;
}
} // namespace

CpuLowering::CpuLowering(const CpuTarget &isa) : Target("the CPU target", machineOf(isa)), isa(isa) {}

std::unique_ptr<lower::ProductPlan> CpuLowering::planProduct(Operation *op, const lower::Options &options,
                                                             llvm::function_ref<bool(Value)> stored) const {
  return planDot(op, isa, options.disjoint, stored);
}

SmallVector<Type> CpuLowering::temporaries(Operation *op) const {
  return llvm::isa<tile::PrintOp>(op) ? SmallVector<Type>(op->getOperandTypes()) : SmallVector<Type>();
}

} // namespace tilery::cpu
