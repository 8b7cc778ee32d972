#pragma once
// Products of tiles (tile.dot, tile.contract): what their IR says, and what a target decides about one.
#include "compiler/ir/Tile.h"

namespace tilery::lower {

/// A tile in scratch memory that an op needs while it runs. `buffer`: of the plan, once it has one.
struct Temporary {
  mlir::RankedTensorType type;
  int buffer = -1;
};

/// What a target has decided about one product: made once while the kernel is planned, kept by the plan, read by the emission.
class ProductPlan {
public:
  virtual ~ProductPlan() = default;
  virtual void print(llvm::raw_ostream &stream) const = 0;
  /// What the planner makes buffers for, alive while the product is computed.
  virtual llvm::SmallVector<Temporary *> temporaries() { return {}; }
};

inline bool isProduct(mlir::Operation *op) { return mlir::isa<tile::DotOp, tile::ContractOp>(op); }
mlir::Value accumulatorOf(mlir::Operation *product);
/// True if the accumulator is known to be zero.
bool startsAtZero(mlir::Operation *product);
/// (B x) M x K and (B x) K x N; of a contraction, those of one step.
std::pair<mlir::Value, mlir::Value> factorsOf(mlir::Operation *product);
/// The extents of the rows and columns that are used, or nothing.
llvm::SmallVector<mlir::Value> liveExtents(mlir::Operation *product);
/// The load that a factor is computed from element by element, if there is one.
tile::LoadOp sourceLoad(mlir::Value factor, llvm::function_ref<bool(mlir::Value)> stored);
/// Index tiles below the factors that are worth computing once: those that divide.
llvm::SmallVector<mlir::Value> dividingIndices(mlir::Operation *product, bool throughShapes);

} // namespace tilery::lower
