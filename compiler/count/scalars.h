#pragma once
// Integers that decide how much a program does: a kernel's scalar ops as a list that is quick to run for each program.
#include "compiler/ir/Tile.h"

namespace tilery::count {

/// A value that may not be known without data.
struct Known {
  int64_t number = 0;
  bool is = false;
};

/// An operation of integers.
struct Arithmetic {
  int64_t (*compute)(int64_t, int64_t) = nullptr; ///< null: a select
  bool isUnsigned = false;                        ///< takes its operands, of as many bits as the result, without signs
  unsigned bits = 64;                             ///< of the result, which is kept with its sign

  /// Of as many operands as it has.
  Known operator()(llvm::ArrayRef<Known> operands) const;
};
/// Of scalars, or of each lane; nothing: the op is no arithmetic of integers.
std::optional<Arithmetic> arithmeticOf(mlir::Operation *op);

/// What a scalar hangs on: bits 0 to 2 are the axes of the grid, the others loops.
using Dependence = uint64_t;

struct ScalarStep {
  Arithmetic arithmetic;
  int in[3] = {-1, -1, -1};
  int out = -1;
};

class Scalars {
public:
  std::vector<Known> values;
  std::vector<Dependence> hangsOn;

  /// The slot of a scalar value, which is made where there is none.
  int slot(mlir::Value value);
  /// The op as a step; nothing: it is no arithmetic of integers.
  std::optional<ScalarStep> step(mlir::Operation *op);
  void run(const ScalarStep &step);
  /// `number` as the type holds it.
  static int64_t kept(int64_t number, unsigned bits) { return bits >= 64 ? number : llvm::SignExtend64(uint64_t(number), bits); }

private:
  llvm::DenseMap<mlir::Value, int> slots;
};

} // namespace tilery::count
