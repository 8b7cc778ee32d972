// Loads that a loop's nests need later in the turn: begun before the first of the nests, so that a turn waits for memory once and not in front of
// every barrier anew.
#include "compiler/lower/pull.h"
#include "compiler/targets/cuda/simt/simt.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Point;

namespace {
constexpr int64_t mostEarly = 32; // elements of a thread
bool isMoved(Operation *op) { return isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp, tile::ReshapeOp>(op); }
} // namespace

bool SimtEmitter::mayLoadEarly(tile::LoadOp load, Block &turn) const {
  if (load->getBlock() != &turn || load.getIsVolatile() || mayBeWritten(load.getPlace()))
    return false;
  auto isStored = [&](Value value) { return !plan.isVirtual(value); };
  lower::Pull pull;
  pull.addPlace(load.getPlace(), isStored, false);
  if (load.getOther())
    pull.add(load.getOther(), isStored);
  auto isKnown = [&](Value value) {
    return !turn.getParent()->isAncestor(value.getParentRegion()) || isa<BlockArgument>(value) ||
           begun.contains(value.getDefiningOp()) || value.getDefiningOp<arith::ConstantOp>();
  };
  return llvm::all_of(pull.scalars, isKnown) && llvm::none_of(pull.tiles, [&](auto &tile) {
           return isStored(tile.first) || isa_and_nonnull<tile::LoadOp, tile::BufferLoadOp>(tile.first.getDefiningOp());
         });
}

// Down from what a nest takes at a point, to the loads below it.
void SimtEmitter::loadBelow(Value value, const Point &point, Block &turn, EarlyLoads &early, bool defines) {
  Operation *op = value.getDefiningOp();
  if (early.held >= mostEarly || !op || !(defines || plan.isVirtual(value)) || !isa<RankedTensorType>(value.getType()) ||
      !early.seen.insert(lower::keyOf(value, point)).second)
    return;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    if (!mayLoadEarly(load, turn))
      return;
    if (lower::Lanes loaded = evaluator.define(value, point); early.loaded.insert(loaded).second)
      early.held += e.lanesOf(loaded);
  } else if (isMoved(op)) {
    loadBelow(op->getOperand(0), evaluator.indices.operandPoint(op, point), turn, early);
  } else if (lower::isElementwise(op)) {
    for (Value operand : op->getOperands())
      loadBelow(operand, point, turn, early);
  }
}

void SimtEmitter::loadEarly(const void *first) {
  if (!freshTurn)
    return;
  Block &turn = *std::exchange(freshTurn, nullptr);
  begun.clear();
  bool passed = false;
  EarlyLoads early;
  lower::Evaluator::Body scope(evaluator);
  for (const lower::Step &step : plan.steps.find(&turn)->second) {
    bool isScan = isa_and_present<tile::ScanOp>(step.op);
    passed |= step.op == first || &step.nest == first;
    if (!passed)
      begun.insert(step.op);
    if (!passed || isScan)
      continue;
    if (step.op ? step.op->getNumRegions() || !isMemoryEffectFree(step.op) : step.nest.sinks[0].kind == lower::Sink::Update)
      return;
    const ThreadMap *map = step.op ? nullptr : simtPlan.mapped.lookup(&step.nest);
    if (!map)
      continue;
    const Points &p = pointsOf(*map);
    for (int64_t chunk = 0; chunk < map->chunks; ++chunk) {
      lower::Evaluator::Vector vector(evaluator, map->width, chunk + 1 == map->chunks ? p.lastExists : nullptr);
      for (const lower::Sink &sink : step.nest.sinks)
        for (Value value : sourcesOf(sink))
          if (tile::shapeOf(value.getType()) == ArrayRef(step.nest.shape))
            loadBelow(value, pointAt(p, chunk, step.nest.shape), turn, early, sink.kind == lower::Sink::Define);
    }
  }
}

} // namespace tilery::cuda
