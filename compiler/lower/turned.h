#pragma once
// Tiles that are read along one dimension of memory and written along another.
#include "compiler/lower/plan.h"

namespace tilery::lower {

/// The dimension of an access along which elements are neighbours in memory: the last of more than one element with a step of 1, or with
/// steps that are among the `counting` ones. Nothing where that is not known.
std::optional<unsigned> neighbourDim(mlir::Value place, const llvm::DenseSet<mlir::Value> *counting = nullptr);

/// The last dimension of more than one element, 0 if there is none.
unsigned lastDim(llvm::ArrayRef<int64_t> shape);

/// The dimension of a nest along which vectors should lie: of its first store whose neighbours are known, else of the load that it
/// defines; the last one of more than one element where neither is there, or rows are reduced.
unsigned vectorDim(const Nest &nest);

/// Calls `visit` for every load below the nest's sinks, of tiles that are not `stored`, whose neighbours lie along another dimension than
/// the nest's vectors. `along`: the load's dimension that those follow.
void forTurnedLoads(const Nest &nest, llvm::function_ref<bool(mlir::Value)> stored,
                    llvm::function_ref<void(tile::LoadOp load, unsigned along)> visit);

/// A dimension of the nest along which the elements of some tile that it reads, from memory or as stored, are neighbours where those of its
/// vectors along `vectors` are not. Nothing if there is none, or a tile is read across both. `counting`: as of neighbourDim.
struct ReadAcross {
  unsigned dim;
  unsigned leastBytes; ///< of an element of the narrowest such tile
};
std::optional<ReadAcross> readAcross(const Nest &nest, unsigned vectors, llvm::function_ref<bool(mlir::Value)> stored,
                                     const llvm::DenseSet<mlir::Value> *counting = nullptr);

} // namespace tilery::lower
