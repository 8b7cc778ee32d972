#include "compiler/block/passes/late_step.h"

using namespace mlir;

namespace tilery::block {

void runLate(scf::ForOp loop, const LateStep &parts) {
  OpBuilder b(loop);
  Location location = loop.getLoc();
  Value some = arith::CmpIOp::create(b, location, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  auto branch = scf::IfOp::create(b, location, loop.getResultTypes(), some, /*withElse=*/true);
  b = branch.getElseBodyBuilder();
  scf::YieldOp::create(b, location, loop.getInitArgs());
  b = branch.getThenBodyBuilder();
  IRMapping first;
  first.map(loop.getInductionVar(), loop.getLowerBound());
  for (auto [argument, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    first.map(argument, init);
  for (Operation &op : loop.getBody()->without_terminator())
    if (!parts.isLate(&op))
      b.clone(op, first);
  SmallVector<Value> starts = parts.starts(first);
  Value second = arith::AddIOp::create(b, location, loop.getLowerBound(), loop.getStep());
  auto rest = scf::ForOp::create(b, location, second, loop.getUpperBound(), loop.getStep(), starts);
  parts.writeStep(rest);
  b.setInsertionPointAfter(rest);
  scf::YieldOp::create(b, location, parts.finish(b, rest));
  loop.replaceAllUsesWith(branch.getResults());
  loop.erase();
}

} // namespace tilery::block
