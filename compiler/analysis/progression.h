#pragma once
// Constants that go on from step to step as a computation of the step's number.
#include "llvm/ADT/APInt.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <optional>

namespace tilery::analysis {

/// A number that is `begin + t * step` at t: as integers that wrap, exactly as whole numbers in floats, or as `first + t * by` in f64
/// rounded to f32, which has the same bits whether or not the product is rounded before the sum. Listed: the t-th of `numbers`.
struct Progression {
  enum Kind { equal, integers, whole_floats, rounded, listed } kind = equal;
  llvm::APInt begin{32, 0}, step{32, 0};
  double first = 0, by = 0;
  llvm::SmallVector<mlir::TypedAttr> numbers = {};
};

/// The progression of the values at t = 0, 1, ..: numbers, or tiles whose lanes are all one number. None if
/// some are not.
std::optional<Progression> progressionOf(llvm::ArrayRef<mlir::Attribute> values);

} // namespace tilery::analysis
