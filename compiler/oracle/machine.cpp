// Ops of TileMachine.td. The interpreter runs all programs on one processor.
#include "compiler/ir/machine_ops.h"
#include "compiler/oracle/interpreter.h"
#include <chrono>

using namespace mlir;

namespace tilery::oracle {

static Tile number(uint64_t value, unsigned bits) {
  Tile result({Format::Int, bits}, {});
  result.lanes[0] = wrap(result.element, value);
  return result;
}

void addMachineHandlers(Handlers &table) {
  table.add<tile::ClockOp>([](Interpreter &in, tile::ClockOp op) {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    in.set(op.getResult(), number(uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()), 64));
  });
  table.add<tile::ProcessorOp>([](Interpreter &in, tile::ProcessorOp op) { in.set(op.getResult(), number(0, 32)); });
}

} // namespace tilery::oracle
