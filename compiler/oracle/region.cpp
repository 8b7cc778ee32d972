// tile.parallel, and the terminators of regions.
#include "compiler/oracle/interpreter.h"

using namespace mlir;

namespace tilery::oracle {

static void parallel(Interpreter &in, tile::ParallelOp op) {
  Shape extents;
  for (Value extent : op.getExtents())
    extents.push_back(in.decide(extent));
  if (llvm::any_of(extents, [](int64_t extent) { return extent <= 0; }))
    return;
  Block &body = op.getBody().front();
  Shape at(extents.size(), 0);
  bool debug = in.run.options.debug;
  if (debug)
    in.loops.push_back(std::make_unique<Iterations>(extents));
  for (int64_t i = 0, n = sizeOf(extents); i < n; ++i) {
    if (debug)
      in.loops.back()->next();
    for (auto [argument, index] : llvm::zip_equal(body.getArguments(), at)) {
      Tile value(elementOf(argument.getType()), {});
      value.lanes[0] = uint64_t(index);
      in.set(argument, std::move(value));
    }
    in.runBlock(body);
    for (int d = int(at.size()) - 1; d >= 0 && ++at[d] == extents[d]; --d)
      at[d] = 0;
  }
  if (debug)
    in.loops.pop_back();
}

void addRegionHandlers(Handlers &table) { table.add<tile::ParallelOp>(parallel); }

} // namespace tilery::oracle
