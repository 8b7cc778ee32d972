#pragma once
// Kernels around one access, for tests of what it is.
#include "tests/unit/analysis/kernel.h"

/// A kernel with pointers %p (aligned) and %q (not), integers, some scalars, and `body`, which holds one tile.access or tile.pointer_access.
struct AccessKernel : Kernel {
  explicit AccessKernel(const std::string &body)
      : Kernel(R"(
    tile.kernel @k(%p: !tile.ptr<bf16> {tile.divisibility = 16 : i64, tile.name = "p"}, %q: !tile.ptr<bf16> {tile.name = "q"},
                   %m: i64 {tile.name = "m"}, %n: i64 {tile.name = "n"}, %s: i64 {tile.divisibility = 16 : i64, tile.name = "s"},
                   %t: i64 {tile.name = "t"}) {
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %c3 = arith.constant 3 : i64
      %c64 = arith.constant 64 : i64
      %c128 = arith.constant 128 : i64
      %id0 = tile.program_id 0
      %id1 = tile.program_id 1
      %x = arith.extsi %id0 : i32 to i64
      %z = arith.extsi %id1 : i32 to i64
      %row = arith.muli %x, %c128 overflow<nsw> : i64
      %rows = arith.subi %m, %row overflow<nsw> : i64
      %at = arith.muli %row, %s overflow<nsw> : i64
    )" + body + "\n tile.return\n }") {}

  tilery::tile::AccessOp access() {
    tilery::tile::AccessOp found;
    module->walk([&](tilery::tile::AccessOp op) { found = op; });
    return found;
  }
};
