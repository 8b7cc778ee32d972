#pragma once
// Updates of a vector's lanes in memory, each indivisible, several by one instruction where the target has it.
#include "compiler/lower/atomics.h"
#include "compiler/lower/evaluator.h"

namespace tilery::lower {

/// How many neighbours of the tile are added at once, where they lie so. Fences order them where they are ordered, each is relaxed between
/// these (`as`).
unsigned mostTogether(tile::AtomicRmwOp update, const AtomicOrder &as, const Target &target);
/// `width` neighbours at a place that one instruction takes.
bool areTogether(const Address &where, unsigned width);
/// Those that exist, where `own` holds (null: everywhere); neighbours together where they lie so. `values`: a scalar or a vector of at
/// most so many as are added at once, or of any number where they are not.
void updateLanes(Evaluator &evaluator, tile::AtomicRmwOp update, const Address &where, llvm::Value *values, llvm::Value *own,
                 const AtomicOrder &as);

} // namespace tilery::lower
