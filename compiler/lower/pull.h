#pragma once
// What evaluating a tile value reaches: the virtual expression below it, down to loads, stored tiles and scalars.
#include "compiler/lower/plan.h"

namespace tilery::lower {

/// Result of walking down from the operands of one sink or op.
struct Pull {
  struct Reach {
    bool sameElement = true; // only ever read at the sink's own element
    bool spread = false;     // read by several elements of the sink (broadcast)
    /// As `sameElement`, or for an address or a mask along the only dimension of more than one element.
    bool ownElement = true;
  };
  llvm::MapVector<mlir::Value, Reach> tiles; // every tile value reached, virtual and stored
  llvm::SetVector<mlir::Value> scalars;

  /// Walks from `value`, read at the sink's own element if `sameElement`.
  void add(mlir::Value value, llvm::function_ref<bool(mlir::Value)> stored, bool sameElement = true, bool spread = false) {
    add(value, stored, Reach{sameElement, spread, sameElement});
  }
  /// Walks from an access.
  void addPlace(mlir::Value place, llvm::function_ref<bool(mlir::Value)> stored, bool sameElement) {
    addPlace(place, stored, sameElement, sameElement);
  }
  /// Walks from a buffer: the scalars that place it.
  void addBuffer(mlir::Value buffer);
  /// Walks below `value` without asking whether it is stored.
  void addExpression(mlir::Value value, llvm::function_ref<bool(mlir::Value)> stored, Reach reach);

private:
  void add(mlir::Value value, llvm::function_ref<bool(mlir::Value)> stored, Reach reach);
  void addPlace(mlir::Value place, llvm::function_ref<bool(mlir::Value)> stored, bool sameElement, bool ownElement);
};

/// A reshape or the like by which extents of 1 come or go: each element keeps its position along all others.
bool keepsElements(mlir::Operation *op);

/// What a sink of a nest reaches, and what an op that is a step by itself does.
Pull pullOf(const Sink &sink, llvm::function_ref<bool(mlir::Value)> stored);
Pull pullOf(mlir::Operation *op, llvm::function_ref<bool(mlir::Value)> stored);

/// Of a function with a polynomial (exp: 15 dependent instructions), and of an integer division (a call of the divider a lane).
constexpr unsigned costOfFunction = 12, costOfDivision = 20;
/// Of a load of consecutive elements, its address included.
constexpr unsigned costOfLoad = 2;
/// Of one op alone.
unsigned ownCost(mlir::Operation *op);
/// Rough work of one element of `value`'s expression, in vector instructions; stored tiles and scalars cost nothing.
/// From `limit` on it need not be exact: expressions are as long as unrolled loops. `stridedLoad`: what a load costs whose lanes lie apart.
unsigned costOf(mlir::Value value, llvm::function_ref<bool(mlir::Value)> stored, unsigned limit,
                unsigned stridedLoad = costOfLoad);

} // namespace tilery::lower
