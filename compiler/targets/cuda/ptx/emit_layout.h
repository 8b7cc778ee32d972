#pragma once
// Layouts in generated code.
#include "compiler/layout/layout.h"
#include "llvm/IR/IRBuilder.h"

namespace tilery::cuda {

/// The coordinates (one integer an output, of the numbers' type) of the place with these numbers; axes that are not named are at 0.
llvm::SmallVector<llvm::Value *, 2> emitLayout(llvm::IRBuilder<> &b, const layout::Layout &layout,
                                               llvm::ArrayRef<std::pair<layout::Axis, llvm::Value *>> place);
/// A layout of one output whose Register digits are told apart: `varying` has those that flip bits, of the others `added` says what they add
/// to it. So places that differ in these alone are one number and constants.
struct SplitPlaces {
  layout::Layout varying, added;

  explicit SplitPlaces(const layout::Layout &places);
  int64_t constant(unsigned number) const { return added.at({{layout::Register, int64_t(number)}})[0]; }
};

/// The one of this output.
llvm::Value *emitCoordinate(llvm::IRBuilder<> &b, const layout::Layout &layout, unsigned output,
                            llvm::ArrayRef<std::pair<layout::Axis, llvm::Value *>> place);

} // namespace tilery::cuda
