#pragma once
// Loops that run for a few vectors of elements at a time, so that the tiles they carry stay in registers.
#include "compiler/lower/codegen.h"

namespace tilery::lower {

/// Finds such loops once all else is decided (Plan::elementLoops): plain arithmetic that takes each carried tile at its own element only, and
/// for which another order of elements reads memory as well.
void findElementLoops(Plan &plan, tile::KernelOp kernel, const Options &options);

/// Emits one of them: blocks of elements outside, the loop and those within it inside, one store of each result's element.
class ElementLoop {
public:
  ElementLoop(KernelEmitter &kernel, mlir::scf::ForOp loop);
  /// At the builder's position. False after an error was reported.
  bool emit();

private:
  /// The lanes of a tile for each vector of the block.
  using Vectors = llvm::SmallVector<Lanes>;
  void outer(unsigned dim);
  void inner();
  void inOrder();
  void inSegments(Segments &segments);
  void block(llvm::Value *first, unsigned columns, unsigned width);
  llvm::SmallVector<Vectors> run(mlir::scf::ForOp loop, llvm::ArrayRef<Vectors> init);
  llvm::SmallVector<Vectors> body(mlir::scf::ForOp loop);
  /// The values in every vector, without masks where the whole block is within the bounds of what they read.
  llvm::SmallVector<Vectors> compute(llvm::ArrayRef<mlir::Value> values);
  /// The same, each column of vectors by its own question.
  llvm::SmallVector<Vectors> byColumns(llvm::ArrayRef<KnownBound> bounds, llvm::ArrayRef<mlir::Value> values);
  /// Where the bounds hold, or may not, at the points of these numbers.
  llvm::SmallVector<Vectors> assuming(bool holds, llvm::ArrayRef<KnownBound> bounds, llvm::ArrayRef<mlir::Value> values,
                                      llvm::ArrayRef<size_t> which);
  llvm::SmallVector<Vectors> vectorsOf(llvm::ArrayRef<mlir::Value> values, llvm::ArrayRef<size_t> which);
  llvm::SmallVector<size_t> all() const { return llvm::to_vector(llvm::seq<size_t>(0, points.size())); }
  /// What the side that is taken at run time computes.
  llvm::SmallVector<Vectors> either(llvm::Value *condition, llvm::function_ref<llvm::SmallVector<Vectors>(bool holds)> side);
  /// Whether bounds hold for so many elements across and rows down from a point.
  llvm::Value *within(llvm::ArrayRef<KnownBound> bounds, const Point &first, int64_t across, int64_t down);
  bool isHeld(mlir::Value tile) const {
    return llvm::any_of(held, [&](auto &entry) { return entry.first == tile; });
  }
  void hold(mlir::Value tile, Vectors lanes) { held.push_back({tile, std::move(lanes)}); }

  KernelEmitter &kernel;
  Evaluator &evaluator;
  Emitter &e;
  mlir::scf::ForOp loop;
  llvm::ArrayRef<int64_t> shape;
  Nest whole; // what it computes, as one nest
  unsigned innerDim, rowDim, lanes, sideBySide;
  int64_t columns,
      rows = 1; // of a block: vectors along the inner dimension, and rows of those, as many as there are: they share masks
  Point corner; // of the block
  llvm::SmallVector<Point> points;
  unsigned blockColumns = 1, width = 1;
  Lanes limit = nullptr;                                   // of the block's only vector: lanes that exist; null: all
  bool masksAreDear;                                       // some elements are too narrow for the machine's masked loads
  llvm::SmallVector<std::pair<mlir::Value, Vectors>> held; // tiles that are known in this block
};

} // namespace tilery::lower
