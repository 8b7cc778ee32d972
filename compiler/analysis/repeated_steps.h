#pragma once
// Straight-line code that does the same over and over, as an unrolled loop leaves it.
#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <vector>

namespace tilery::analysis {

/// An operand of a step.
struct StepOperand {
  /// Inside: of a value that the operation itself defines in its regions. Step: of this step or one before it.
  enum Kind { inside, step, constant, outside } kind;
  mlir::Type type;
  /// Inside: the value's number. Step: the number of the operation within its step.
  unsigned op = 0;
  /// Step: which result of the operation, and how many steps back.
  unsigned result = 0, back = 0;
  /// Outside: the same value in every step.
  mlir::Value value = {};
  /// Constant: its value in this step.
  mlir::Attribute attribute = {};

  /// True if steps with this and that operand do the same, but for values of constants.
  bool isLike(const StepOperand &other) const;
};

/// One step: its operations in order, and for each the operands of the operation and of all that is nested in it (operandsOf).
struct Step {
  llvm::SmallVector<mlir::Operation *> ops;
  std::vector<llvm::SmallVector<StepOperand>> operands;
};

/// How many steps back a step may look.
constexpr unsigned steps_back = 4;

/// Steps that follow each other with nothing but constants between them, each like each other one. Values of a step are used in it
/// and the next `steps_back` steps alone; those of the last `steps_back` steps by anything behind.
struct RepeatedSteps {
  std::vector<Step> steps;
  /// The operations of the steps before, the last one first: at least as many as `steps` look back.
  std::vector<llvm::SmallVector<mlir::Operation *>> before;
};

/// The longest such steps of the block with at least `least` operations in all, or none.
/// Time: number of operations by the length of a step that is looked for (`longest`).
std::optional<RepeatedSteps> findRepeatedSteps(mlir::Block &block, unsigned least, unsigned longest);

/// The operands of an operation and of all that is nested in it, in walking order.
llvm::SmallVector<mlir::OpOperand *> operandsOf(mlir::Operation *op);

} // namespace tilery::analysis
