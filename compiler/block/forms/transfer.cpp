#include "compiler/block/forms/transfer.h"
#include "compiler/block/forms/fragments.h"
#include "compiler/block/forms/memory.h"

namespace tilery::layout {

/// Lanes of warp 0 at their first register, in bytes.
static Layout lanesOf(const Layout &access, unsigned elementBytes) {
  Layout result({{Offset, access.outputs()[0].extent * elementBytes}});
  for (const Layout::Digit &digit : access.digits(Lane)) {
    Layout::Digit bytes = digit;
    bytes.step[0] *= elementBytes, bytes.flips[0] *= elementBytes;
    result.add(Lane, bytes);
  }
  return result;
}

std::optional<Transfer> cheapestTransfer(const Layout &registers, const Layout &memory, unsigned elementBytes) {
  std::optional<Layout> access = compose(memory, registers);
  if (!access)
    return std::nullopt;
  unsigned width = widestVector(*access, elementBytes), count = access->extent(Register) / width;
  BankUse use = bankUse(lanesOf(*access, elementBytes), width * elementBytes);
  Transfer best{width * elementBytes, use.passes * count, use.least * count, false};
  if (elementBytes == 2)
    if (std::optional<MatrixMove> move = matrixMove(registers, memory))
      if (std::optional<Layout> rows = compose(memory, move->addresses)) {
        count = registers.extent(Register) / (2 * move->matrices);
        use = bankUse(lanesOf(*rows, 2), 16);
        if (use.passes * count <= best.passes) // fewer instructions for the same bytes
          best = {16, use.passes * count, use.least * count, true};
      }
  if (elementBytes == 1)
    if (std::optional<Layout> turned = turnedBytes(registers, memory))
      if (std::optional<Layout> rows = compose(memory, *turned)) {
        use = bankUse(lanesOf(*rows, 1), 16);
        count = rows->extent(Register);
        best = {16, use.passes * count, use.least * count, true};
      }
  return best;
}

} // namespace tilery::layout
