#pragma once
// Which programs of a launch want the same panel of a product's operand.
#include "compiler/ir/Tile.h"

namespace tilery::cpu {

/// A quotient or remainder on the way from a program id to a number.
struct Division {
  mlir::Value divisor;
  bool isQuotient;
};

/// The divisions that make of the id along `axis` a number that is another one for each program where remainders are those by no less
/// than there are programs and quotients those by 1: ((id / d) % e) * c + f. Nothing: the number is of another kind.
std::optional<llvm::SmallVector<Division>> divisionsOf(mlir::Value number, unsigned axis);

/// The axes of the grid along which programs may have the same key, whatever the size of the grid.
llvm::SmallVector<unsigned> sharersOf(llvm::ArrayRef<mlir::Value> key);

} // namespace tilery::cpu
