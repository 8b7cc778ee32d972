#include "compiler/block/forms/fragments.h"
#include "compiler/block/forms/memory.h"
#include <cassert>

namespace tilery::layout {

Layout matrixTile(bool transposed) {
  Layout result({{dim(0), 8}, {dim(1), 8}});
  auto along = [&](int64_t row, int64_t column) {
    return transposed ? Layout::Vector{column, row} : Layout::Vector{row, column};
  };
  return result.add(Register, 2, along(0, 1)).add(Lane, 4, along(0, 2)).add(Lane, 8, along(1, 0));
}

/// From one row that a lane holds to the other, and from a lane's to the next one's.
static std::pair<int64_t, int64_t> rowSteps(Rows rows) {
  return rows == Rows::Paired ? std::pair<int64_t, int64_t>(1, 2) : std::pair<int64_t, int64_t>(8, 1);
}
static Layout operandA(unsigned bits, Rows rows) {
  int64_t each = 32 / bits; // elements of a register
  auto [other, next] = rowSteps(rows);
  return Layout({{dim(0), 16}, {dim(1), 8 * each}})
      .add(Register, each, {0, 1})
      .add(Register, 2, {other, 0})
      .add(Register, 2, {0, 4 * each})
      .add(Lane, 4, {0, each})
      .add(Lane, 8, {next, 0});
}
static Layout accumulator(Rows rows) {
  auto [other, next] = rowSteps(rows);
  return Layout({{dim(0), 16}, {dim(1), 8}})
      .add(Register, 2, {0, 1})
      .add(Register, 2, {other, 0})
      .add(Lane, 4, {0, 2})
      .add(Lane, 8, {next, 0});
}
Layout mmaOperandA(unsigned bits) { return operandA(bits, Rows::InOrder); }
Layout mmaAccumulator() { return accumulator(Rows::InOrder); }

static Layout fourWarps(const Layout &warp) { return product(warp, Layout({{dim(0), 4}, {dim(1), 1}}).add(Warp, 4, {1, 0})); }
Layout wgmmaAccumulator(unsigned n, Rows rows) {
  return fourWarps(product(accumulator(rows), Layout({{dim(0), 1}, {dim(1), n / 8}}).add(Register, n / 8, {0, 1})));
}
Layout wgmmaOperandA(unsigned bits, Rows rows) { return fourWarps(operandA(bits, rows)); }

std::optional<MatrixMove> matrixMove(const Layout &registers, const Layout &memory) {
  if (registers.outputs().size() != 2)
    return std::nullopt;
  for (unsigned along : {1, 0}) { // the dimension whose neighbours a lane holds
    std::optional<Layout> rest = divide(registers, matrixTile(along == 0));
    if (!rest)
      continue;
    unsigned inner = contiguous(memory, dim(1)) % 8 == 0 ? 1 : 0; // the dimension of memory's rows
    if (contiguous(memory, dim(inner)) % 8)
      return std::nullopt;
    // A lane's address names a row of a matrix; the register digits that follow choose the matrix, the rest the instruction.
    Layout row(llvm::ArrayRef<Layout::Output>{{dim(0), 8}, {dim(1), 8}});
    row.add(Lane, 8, inner ? Layout::Vector{1, 0} : Layout::Vector{0, 1});
    Layout others(rest->outputs());
    unsigned matrices = 1;
    for (const Layout::Input &input : rest->inputs()) {
      bool choosing = input.axis == Register;
      for (Layout::Digit digit : input.digits) {
        for (; choosing && matrices < 4 && digit.extent % 2 == 0; matrices *= 2) {
          others.add(Lane, Layout::Digit{2, digit.step, digit.flips});
          digit.extent /= 2;
          for (unsigned d = 0; d < 2; ++d)
            digit.step[d] *= 2, digit.flips[d] = 0;
        }
        choosing &= digit.extent == 1; // instructions take registers that follow each other
        others.add(input.axis, digit);
      }
    }
    return MatrixMove{matrices, along != inner, product(row, others)};
  }
  return std::nullopt;
}

std::optional<Layout> turnedBytes(const Layout &registers, const Layout &memory) {
  std::optional<Layout> others = divide(registers, operandA(8, Rows::Paired));
  if (!others || contiguous(memory, dim(0)) % 16)
    return std::nullopt;
  Layout rows({{dim(0), 16}, {dim(1), 32}});
  rows.add(Lane, 2, {0, 1}).add(Lane, 2, {0, 4}).add(Lane, Layout::Digit{2, {0, 8}, {0, 2}}); // of a matrix
  rows.flip(Lane, {0, 2}).add(Lane, 2, {0, 16});                                              // which matrix
  return product(rows, *others);
}

} // namespace tilery::layout
