#include "compiler/oracle/oracle.h"
#include "compiler/oracle/block.h"

using namespace mlir;

namespace tilery::oracle {

// Programs that poll memory other programs write (spin locks, grid barriers) have to run side by side.
static bool waitsForOthers(tile::KernelOp kernel) {
  bool found = false;
  kernel.walk([&](scf::WhileOp loop) {
    loop.walk([&](Operation *op) {
      auto load = dyn_cast<tile::LoadOp>(op);
      found |= isa<tile::AtomicRmwOp, tile::AtomicCasOp>(op) || (load && load.getIsVolatile());
    });
  });
  return found;
}

void bindArguments(Interpreter &in, tile::KernelOp kernel, ArrayRef<uint64_t> args) {
  for (auto [argument, slot] : llvm::zip_equal(kernel.getBody().getArguments(), args)) {
    Tile value(elementOf(argument.getType()), {});
    value.lanes[0] = value.element.format == Format::Int ? wrap(value.element, slot) : asUnsigned(value.element, slot);
    in.set(argument, std::move(value));
  }
}

static void runProgram(Run &run, tile::KernelOp kernel, int64_t id, ArrayRef<uint64_t> args) {
  Interpreter in(run);
  in.enterProgram(id);
  bindArguments(in, kernel, args);
  in.runBlock(kernel.getBody().front());
  run.memory.races.end(id);
}

void runKernel(tile::KernelOp kernel, std::array<uint32_t, 3> grid, ArrayRef<uint64_t> args, const Options &options) {
  Run run(options);
  run.grid = grid;
  run.numberValues(kernel);
  run.interleaved = waitsForOthers(kernel);
  run.memory.races.begin(run.interleaved);
  if (isBlockKernel(kernel))
    return runBlocks(run, kernel, args);
  int64_t count = int64_t(grid[0]) * grid[1] * grid[2];
  int64_t running = count;
  for (int64_t id = 0; id < count; ++id) {
    if (!run.interleaved) {
      runProgram(run, kernel, id, args);
      continue;
    }
    run.scheduler.spawn([&, id] {
      runProgram(run, kernel, id, args);
      --running;
    });
  }
  if (!run.interleaved)
    return;
  try {
    run.scheduler.waitUntil([&] { return running == 0; });
  } catch (Scheduler::Deadlock) {
    throw Error({Diagnostic::Kind::Runtime, "programs of this launch wait for each other for ever", {}, {}});
  }
}

} // namespace tilery::oracle
