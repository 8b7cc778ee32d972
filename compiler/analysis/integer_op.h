#pragma once
// How integers and addresses come from others: the one place that recognises index arithmetic in the IR.
#include "compiler/ir/Tile.h"

namespace tilery::analysis {

/// Which sums, differences and products count as those of whole numbers.
enum class Wrapping {
  none,    // those marked as not wrapping
  address, // those in i64, too: for what addresses memory, which wraps at 64 bits itself
  any,     // all; the caller looks at IntegerOp::exact
};

/// The op behind an integer or a pointer (a scalar, or each lane of a tile), for any arithmetic that is computed from it: with values
/// (IR, code), with polynomials, with known bits.
struct IntegerOp {
  enum class Kind {
    opaque,   // anything else: nothing is known
    constant, // `number` in every lane
    add,      // lhs + rhs; of a pointer: rhs elements further
    subtract, // lhs - rhs
    multiply, // lhs * rhs
    extend,   // the number lhs, with more bits
    splat,    // the scalar lhs in every lane
    range,    // lane i is number + i
    reindex,  // lanes of lhs, at places that `op` (expand_dims, broadcast, permute, reshape) gives
  };
  Kind kind = Kind::opaque;
  mlir::Operation *op = nullptr; // null: a block's argument
  mlir::Value lhs = {}, rhs = {};
  int64_t number = 0;
  bool exact = true; // add, subtract, multiply: marked as not wrapping
};

IntegerOp integerOpOf(mlir::Value value, Wrapping wrapping = Wrapping::none);

/// The number that a constant holds in every lane; nothing if it is no constant or an array of several numbers.
std::optional<int64_t> constantOf(mlir::Value value);

} // namespace tilery::analysis
