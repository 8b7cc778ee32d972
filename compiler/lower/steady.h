#pragma once
// Index arithmetic that changes along a row at few places: quotients, comparisons, the two sides of what is reflected or clamped.
#include "compiler/lower/plan.h"

namespace tilery::lower {

/// An integer tile that is a number and a constant step along a row, between the places where it changes.
struct Steady {
  mlir::Value result;
  llvm::SmallVector<int> loops; // [d]: the row's nest's dimension that dimension d of its tile runs along, -1: none
  int64_t moves =
      0; // what the divided number (or the difference that is compared) adds from element to element; 0: nothing changes
  int64_t step = 0; // what the result adds
  /// Of a minimum, a maximum, an absolute value or a selection: the operand that it is where vectors are walked. Elsewhere it is computed
  /// lane by lane.
  mlir::Value chosen;
  bool chosenIf = false;   // the first number is less than the second one, or the condition is this
  bool foreseen = false;   // known only where everything is its chosen operand
  bool movesPlaces = true; // of one of the row's values at least: vectors would be gathers
};

/// Which places lie side by side in each segment of a row.
struct RowPlaces {
  llvm::DenseSet<mlir::Value> counting;   ///< steps of accesses that count up by one
  llvm::SmallVector<mlir::Value> factors; ///< scalars that must be 1 for those of theirs to do so, known at run time only
};

/// What the sinks of a nest compute along its dimension `dim` to find places, or divide for masks and values; operands stand before
/// what is computed of them. Empty: no quotient changes along a row, or lanes are not walked so. `around`: a loop that runs within
/// the row's elements, in front of which all must be known; null: none.
/// `maskedBits`: of the machine (target.h). `places`: is filled, where quotients move places.
llvm::SmallVector<Steady> findSteady(const Plan &plan, const Nest &nest, int dim, unsigned maskedBits,
                                     mlir::Operation *around = nullptr, RowPlaces *places = nullptr);

/// The scalar that an integer tile holds in every lane, if it is known at run time only.
mlir::Value givenNumber(mlir::Value tile);

/// The nest dimension of each of the operand's where the op moves its lanes; `loops`: of the result's. Nothing for other ops.
std::optional<llvm::SmallVector<int>> loopsOfOperand(mlir::Operation *op, llvm::ArrayRef<int> loops);

} // namespace tilery::lower
