#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace tilery::tile {

/// Attribute of a dot or contraction of 8-bit floats, an integer n: products of n neighbours along k are summed apart, and these sums added
/// to the accumulator with all bits of its type. What sums with all bits anyway does not ask for it; Hopper's tensor cores keep 13 of 23.
inline constexpr llvm::StringLiteral partialSumsName = "tile.partial_sums";

/// 0: the machine's sums will do.
inline int64_t partialSums(mlir::Operation *op) {
  auto attribute = op->getAttrOfType<mlir::IntegerAttr>(partialSumsName);
  return attribute ? attribute.getInt() : 0;
}

inline void setPartialSums(mlir::Operation *op, int64_t depth) {
  if (depth)
    op->setAttr(partialSumsName, mlir::IntegerAttr::get(mlir::IntegerType::get(op->getContext(), 64), depth));
}

/// True of tiles whose products the tensor cores add with fewer bits than the accumulator has.
inline bool hasPartialSums(mlir::Type tile) {
  return llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(tile)) &&
         mlir::getElementTypeOrSelf(tile).getIntOrFloatBitWidth() == 8;
}

} // namespace tilery::tile
