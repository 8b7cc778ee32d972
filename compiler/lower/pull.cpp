#include "compiler/lower/pull.h"
#include "compiler/lower/emitter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::lower {

bool runsInThreads(Operation *op) {
  for (; op && !isa<tile::TogetherOp>(op); op = op->getParentOp())
    if (isa<tile::ParallelOp, tile::ThreadsOp>(op))
      return true;
  return false;
}

bool isThreadsOwn(Operation *alloc) {
  for (Operation *op = alloc->getParentOp(); op && !isa<tile::TogetherOp>(op); op = op->getParentOp())
    if (isa<tile::ThreadsOp>(op))
      return true;
  return false;
}

bool canBeVirtual(Operation *op) {
  if (op->getNumResults() == 0)
    return false;
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return !load.getIsVolatile();
  return isElementwise(op) ||
         isa<arith::ConstantOp, ub::PoisonOp, tile::RangeOp, tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp,
             tile::ReshapeOp, tile::PermuteOp, tile::JoinOp, tile::SplitOp, tile::CatOp, tile::TakeOp, tile::BufferLoadOp>(op);
}

void Pull::addPlace(Value place, llvm::function_ref<bool(Value)> stored, bool sameElement, bool ownElement) {
  Operation *op = place.getDefiningOp();
  ArrayRef<int64_t> extents = cast<tile::AccessType>(place.getType()).getShape();
  int64_t rank = extents.size(), elements = ShapedType::getNumElements(extents);
  for (Value operand : op->getOperands()) {
    auto tensor = dyn_cast<RankedTensorType>(operand.getType());
    bool same = sameElement && tensor && tensor.getRank() == rank && isa<tile::PointerAccessOp>(op);
    add(operand, stored, Reach{same, rank > 1, ownElement && tensor && tensor.getNumElements() == elements});
  }
}

void Pull::add(Value value, llvm::function_ref<bool(Value)> stored, Reach reach) {
  if (!isa<RankedTensorType>(value.getType())) {
    scalars.insert(value);
    return;
  }
  auto [entry, fresh] = tiles.try_emplace(value, reach);
  if (!fresh) {
    Reach &known = entry->second;
    bool weaker =
        (known.sameElement && !reach.sameElement) || (!known.spread && reach.spread) || (known.ownElement && !reach.ownElement);
    if (!weaker)
      return;
    known.sameElement &= reach.sameElement;
    known.spread |= reach.spread;
    known.ownElement &= reach.ownElement;
    reach = known;
  }
  if (!stored(value))
    addExpression(value, stored, reach);
}

bool keepsElements(Operation *op) {
  if (!isa<tile::ReshapeOp, tile::ExpandDimsOp>(op))
    return false;
  auto extents = [](Value tile) {
    return llvm::make_filter_range(tile::shapeOf(tile.getType()), [](int64_t size) { return size != 1; });
  };
  return llvm::equal(extents(op->getOperand(0)), extents(op->getResult(0)));
}

void Pull::addExpression(Value value, llvm::function_ref<bool(Value)> stored, Reach reach) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    addPlace(load.getPlace(), stored, reach.sameElement, reach.ownElement);
    if (load.getOther())
      add(load.getOther(), stored, reach);
    return;
  }
  if (auto load = dyn_cast<tile::BufferLoadOp>(op)) {
    addBuffer(load.getBuffer());
    return;
  }
  bool same = isElementwise(op) || keepsElements(op), spread = reach.spread || isa<tile::BroadcastOp>(op);
  for (Value operand : op->getOperands())
    add(operand, stored, Reach{same && reach.sameElement, spread, same && reach.ownElement});
}

void Pull::addBuffer(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    for (Value operand : op->getOperands())
      if (!isa<tile::BufferType>(operand.getType()))
        scalars.insert(operand);
    if (!isa<tile::SubviewOp, tile::ReinterpretOp>(op))
      return;
    buffer = op->getOperand(0);
  }
}

Pull pullOf(const Sink &sink, llvm::function_ref<bool(Value)> stored) {
  Pull pull;
  switch (sink.kind) {
  case Sink::Store: {
    auto store = cast<tile::StoreOp>(sink.op);
    pull.addPlace(store.getPlace(), stored, true);
    pull.add(store.getValue(), stored);
    break;
  }
  case Sink::BufferStore: {
    auto store = cast<tile::BufferStoreOp>(sink.op);
    pull.addBuffer(store.getBuffer());
    pull.add(store.getValue(), stored);
    if (store.getMask())
      pull.add(store.getMask(), stored);
    break;
  }
  case Sink::Update: {
    auto update = cast<tile::AtomicRmwOp>(sink.op);
    pull.addPlace(update.getPlace(), stored, true);
    pull.add(update.getValue(), stored);
    break;
  }
  case Sink::Define:
    pull.addExpression(sink.value, stored, {});
    break;
  case Sink::Copy:
    pull.add(sink.value, stored);
    break;
  case Sink::Reduce:
    for (Value operand : cast<tile::ReduceOp>(sink.op).getOperands())
      pull.add(operand, stored);
    break;
  }
  return pull;
}

Pull pullOf(Operation *op, llvm::function_ref<bool(Value)> stored) {
  Pull pull;
  // A product's first sums are in its result's buffer already.
  OpOperand *sums = nullptr;
  if (auto dot = dyn_cast<tile::DotOp>(op))
    sums = &dot.getAccMutable();
  else if (auto contract = dyn_cast<tile::ContractOp>(op))
    sums = &contract.getAccMutable();
  for (OpOperand &each : op->getOpOperands()) {
    Value operand = each.get();
    if (&each == sums)
      continue;
    if (isa<tile::AccessType>(operand.getType()))
      pull.addPlace(operand, stored, false);
    else if (isa<tile::BufferType>(operand.getType()))
      pull.addBuffer(operand);
    else
      pull.add(operand, stored, false);
  }
  if (auto contract = dyn_cast<tile::ContractOp>(op))
    for (Value operand : contract.getBody().front().getTerminator()->getOperands())
      pull.add(operand, stored, false);
  return pull;
}

unsigned ownCost(Operation *op) {
  if (isa<math::MathDialect>(op->getDialect()))
    return isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::FloorOp, math::CeilOp, math::CopySignOp>(op) ? 1 : costOfFunction;
  if (isa<tile::DivOp, tile::RemOp>(op))
    return costOfDivision;
  if (isa<arith::DivFOp, arith::RemFOp>(op))
    return 5;
  if (isa<tile::TakeOp>(op))
    return 8;
  if (isElementwise(op)) {
    mlir::Type from = getElementTypeOrSelf(op->getOperand(0).getType()), to = getElementTypeOrSelf(op->getResult(0).getType());
    bool narrow = isSmallFloat(to);
    return isa<FloatType>(from) && narrow ? 5 : 1;
  }
  return 0;
}

/// Do the lanes of a load lie apart, whichever dimension they run along?
static bool liesApart(tile::LoadOp load) {
  auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
  if (!access || access.getResidual())
    return access || load.getPlace().getDefiningOp<tile::PointerAccessOp>();
  bool apart = false;
  for (auto [dim, extent] : llvm::enumerate(cast<tile::AccessType>(access.getType()).getShape())) {
    APInt step;
    bool known = access.isStrided(dim) && matchPattern(access.getSteps()[dim], m_ConstantInt(&step));
    if (extent == 1 || (known && step == 0))
      continue;
    if (known && step == 1)
      return false;
    apart = true;
  }
  return apart;
}

unsigned costOf(Value value, llvm::function_ref<bool(Value)> stored, unsigned limit, unsigned stridedLoad) {
  llvm::SmallPtrSet<Operation *, 32> seen;
  unsigned cost = 0;
  SmallVector<Value> work{value};
  bool first = true;
  while (!work.empty() && cost < limit) {
    Value next = work.pop_back_val();
    Operation *op = next.getDefiningOp();
    bool root = std::exchange(first, false);
    if (!op || !isa<RankedTensorType>(next.getType()) || (!root && stored(next)) || !seen.insert(op).second)
      continue;
    if (isa<tile::LoadOp, tile::BufferLoadOp>(op)) {
      auto load = dyn_cast<tile::LoadOp>(op);
      Operation *place = load ? load.getPlace().getDefiningOp() : nullptr;
      cost += load && liesApart(load) ? stridedLoad : costOfLoad;
      if (place) // addresses of pointer tiles and masks are part of the load
        for (Value operand : place->getOperands())
          work.push_back(operand);
      if (load && load.getOther())
        work.push_back(load.getOther());
      continue;
    }
    cost += ownCost(op);
    for (Value operand : op->getOperands())
      work.push_back(operand);
  }
  return cost;
}

} // namespace tilery::lower
