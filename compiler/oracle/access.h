#pragma once
// Loads and stores of lanes through places.
#include "compiler/oracle/interpreter.h"

namespace tilery::oracle {

/// Reads lane `lane` into `to`; reports what debug mode has against it.
void loadLane(Interpreter &in, mlir::Operation *op, const Places &places, Tile &to, int64_t lane, AccessKind kind);
/// Writes lane `lane` of `value`, which may be a scalar for a place of one lane.
void storeLane(Interpreter &in, mlir::Operation *op, const Places &places, const Tile &value, int64_t lane, AccessKind kind);
/// The lanes that exist; the others hold 0.
Tile loadAll(Interpreter &in, mlir::Operation *op, const Places &places, AccessKind kind = AccessKind::Plain);
/// Atomic and volatile accesses of programs that wait for each other: lets the others run.
void takeTurns(Interpreter &in);

} // namespace tilery::oracle
