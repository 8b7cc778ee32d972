#pragma once
// A line of rows or columns that a loop's step loads, and that what a product gives is scaled by.
#include "compiler/block/ir/Block.h"
#include "compiler/lower/lane_index.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilery::cuda {

struct Scales {
  tile::LoadOp load;
  mlir::Operation *wait; // for the product, in front of all that take the line
  unsigned registers;    // of a thread
  unsigned copies = 1;   // lanes that share the loads of what they all hold; a power of two
  unsigned place = 1;    // they are so far apart
  struct Fixed {
    mlir::Value tile; // that elements' places are computed from, from outside of the loop
    int dim;          // it goes along; -1: all
    llvm::SmallVector<llvm::Value *, 4> values;
  };
  llvm::SmallVector<Fixed, 1> fixed;
  llvm::SmallVector<lower::Point, 4> points; // that this thread loads
  llvm::SmallVector<llvm::Value *, 4> loaded;
  unsigned own() const { return registers / copies; }
};
/// Nothing: it is loaded where it is used.
std::optional<Scales> scalesOf(tile::LoadOp load, mlir::scf::ForOp loop);

} // namespace tilery::cuda
