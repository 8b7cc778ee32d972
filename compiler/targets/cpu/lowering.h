#pragma once
// What the shared lowering asks of the CPU target.
#include "compiler/lower/target.h"
#include "compiler/targets/cpu/target.h"

namespace tilery::cpu {

class CpuLowering : public lower::Target {
public:
  explicit CpuLowering(const CpuTarget &isa);
  std::unique_ptr<lower::ProductPlan> planProduct(mlir::Operation *op, const lower::Options &options,
                                                  llvm::function_ref<bool(mlir::Value)> stored) const override;
  /// Tiles that are printed and rows that are sorted: the runtime reads them from scratch memory.
  llvm::SmallVector<mlir::Type> temporaries(mlir::Operation *op) const override;
  bool storesScans() const override { return true; }
  bool updatesInNests() const override { return true; }

private:
  const CpuTarget isa;
};

} // namespace tilery::cpu
