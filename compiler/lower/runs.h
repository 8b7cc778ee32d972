#pragma once
// Lanes that lie in a few pieces of memory, each of neighbours.
#include "compiler/lower/evaluator.h"

namespace tilery::lower {

/// Lanes at `offsets` as few runs; `rest`: those that are in none of them.
llvm::SmallVector<LaneRun, 3> runsOf(Emitter &e, unsigned width, llvm::Value *offsets, llvm::Value *&rest);
/// Those that the table has of the vector at `index`.
llvm::SmallVector<LaneRun, 3> runsIn(Evaluator &ev, const RunTable &table, const Index &index);
/// Whether accesses with these steps have their lanes in few runs in the vector at `index` (i1).
llvm::Value *areInRuns(Evaluator &ev, mlir::Value steps, const Index &index);
/// The same for the steps along `dim` of an access; fills the table's row.
llvm::Value *fillTable(Evaluator &ev, tile::AccessOp access, unsigned dim, const Index &index, const RunTable &table);
/// Whether it is worth asking: lanes count up in runs, by the looks of it, and the target moves elements of a type in such.
bool mayRun(const Emitter &e, mlir::Value steps, mlir::Type element, unsigned lanes);

} // namespace tilery::lower
