// What is known about the bounds of the accesses that a nest makes.
#include "compiler/lower/nest.h"
#include "compiler/lower/pull.h"

using namespace mlir;

namespace tilery::lower {

std::optional<SmallVector<int>> loopsOfOperand(Operation *op, ArrayRef<int> loops) {
  SmallVector<int> inner(loops);
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    inner.erase(inner.begin() + expand.getAxis());
  } else if (isa<tile::BroadcastOp>(op)) {
    for (auto [loop, size] : llvm::zip(inner, tile::shapeOf(op->getOperand(0).getType())))
      loop = size == 1 ? -1 : loop;
  } else if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    for (auto [d, source] : llvm::enumerate(permute.getOrder()))
      inner[source] = loops[d];
  } else if (isa<tile::ReshapeOp>(op) && keepsElements(op)) {
    ArrayRef<int64_t> from = tile::shapeOf(op->getOperand(0).getType()), to = tile::shapeOf(op->getResult(0).getType());
    inner.assign(from.size(), -1);
    size_t d = 0;
    for (auto [loop, size] : llvm::zip(inner, from)) {
      if (size == 1)
        continue;
      while (to[d] == 1)
        ++d;
      loop = loops[d++];
    }
  } else {
    return std::nullopt;
  }
  return inner;
}

void NestEmitter::collectPlaceBounds(Value place, ArrayRef<int> loops, SmallVectorImpl<KnownBound> &bounds) const {
  auto access = place.getDefiningOp<tile::AccessOp>();
  if (!access)
    return;
  for (unsigned d = 0; d < loops.size(); ++d) {
    OperandRange bound = access.getBound(d);
    if (bound.size() != 2 || loops[d] < 0)
      continue;
    bool known =
        llvm::any_of(bounds, [&](const KnownBound &k) { return k.lo == bound[0] && k.hi == bound[1] && k.loop == loops[d]; });
    if (!known)
      bounds.push_back({bound[0], bound[1], loops[d]});
  }
}

void NestEmitter::collectBounds(Value value, ArrayRef<int> loops, SmallVectorImpl<KnownBound> &bounds,
                                llvm::SmallPtrSetImpl<const void *> &seen) const {
  Operation *op = value.getDefiningOp();
  if (!isa<RankedTensorType>(value.getType()) || !op || !evaluator.plan.isVirtual(value) || !seen.insert(op).second)
    return;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    collectPlaceBounds(load.getPlace(), loops, bounds);
    if (load.getOther())
      collectBounds(load.getOther(), loops, bounds, seen);
    return;
  }
  std::optional<SmallVector<int>> inner = loopsOfOperand(op, loops);
  if (!inner && !isElementwise(op))
    return;
  for (Value operand : op->getOperands())
    collectBounds(operand, inner ? ArrayRef<int>(*inner) : loops, bounds, seen);
}

void NestEmitter::collectSinkBounds(SmallVectorImpl<KnownBound> &bounds, llvm::SmallPtrSetImpl<const void *> &seen) const {
  if (!ofTile.empty()) // of stored tiles alone
    return;
  SmallVector<int> loops;
  for (unsigned d = 0; d < nest->shape.size(); ++d)
    loops.push_back(int(d));
  for (const Sink &sink : nest->sinks) {
    if (sink.kind == Sink::Store) {
      auto store = cast<tile::StoreOp>(sink.op);
      collectPlaceBounds(store.getPlace(), loops, bounds);
      collectBounds(store.getValue(), loops, bounds, seen);
    } else if (sink.kind == Sink::Update) {
      auto update = cast<tile::AtomicRmwOp>(sink.op);
      collectPlaceBounds(update.getPlace(), loops, bounds);
      collectBounds(update.getValue(), loops, bounds, seen);
    } else if (sink.kind == Sink::BufferStore) {
      collectBounds(cast<tile::BufferStoreOp>(sink.op).getValue(), loops, bounds, seen);
    } else if (sink.kind == Sink::Reduce) {
      for (Value operand : sink.op->getOperands())
        collectBounds(operand, loops, bounds, seen);
    } else if (sink.kind == Sink::Copy && sink.value) {
      collectBounds(sink.value, loops, bounds, seen);
    } else if (sink.kind == Sink::Define) {
      if (auto load = dyn_cast<tile::LoadOp>(sink.op))
        collectPlaceBounds(load.getPlace(), loops, bounds);
      else if (isElementwise(sink.op))
        for (Value operand : sink.op->getOperands())
          collectBounds(operand, loops, bounds, seen);
    }
  }
}

// True (at run time) if the bounds `around` hold: those of the dimensions around the current row. Null: there are none.
llvm::Value *NestEmitter::surelyThere(ArrayRef<KnownBound> bounds, SmallVectorImpl<KnownBound> &around) {
  auto &b = e.b;
  around.clear();
  if (down)
    return nullptr;
  llvm::Value *all = nullptr;
  for (const KnownBound &bound : bounds) {
    KnownBound kept;
    bool holds = nest->shape[bound.loop] > 1 && restriction(bound.loop, kept) && kept.lo == bound.lo && kept.hi == bound.hi;
    if (bound.loop == int(innerDim) || holds)
      continue;
    llvm::Value *at = point[bound.loop].base, *lo = evaluator.wide(bound.lo);
    if (auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(lo); !fixed || fixed->getValue().isStrictlyPositive())
      all = e.band(all, b.CreateICmpSLE(lo, at));
    all = e.band(all, b.CreateICmpSGT(evaluator.wide(bound.hi), at));
    around.push_back(bound);
  }
  return all;
}

// All sinks store only lanes lo <= i < hi of the dimension: the others need not be computed.
bool NestEmitter::restriction(unsigned dim, KnownBound &bound) const {
  bool first = true;
  for (const Sink &sink : nest->sinks) {
    bool writes = sink.kind == Sink::Store || sink.kind == Sink::Update;
    auto access = writes ? sink.op->getOperand(0).getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    if (!access || access.getBound(dim).size() != 2)
      return false;
    KnownBound own{access.getBound(dim)[0], access.getBound(dim)[1], int(dim)};
    if (!first && (own.lo != bound.lo || own.hi != bound.hi))
      return false;
    bound = own;
    first = false;
  }
  return true;
}

NestEmitter::Range NestEmitter::clamp(const KnownBound &bound, int64_t size) {
  auto &b = e.b;
  llvm::Value *lo = evaluator.wide(bound.lo), *hi = evaluator.wide(bound.hi);
  auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(lo);
  lo = fixed ? e.i64(std::clamp<int64_t>(fixed->getSExtValue(), 0, size))
             : b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, lo, e.i64(0)),
                                       e.i64(size));
  return {lo, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, hi, e.i64(size))};
}

NestEmitter::Range NestEmitter::surely(ArrayRef<KnownBound> bounds, Range part) {
  auto &b = e.b;
  for (const KnownBound &bound : bounds) {
    Range own = clamp(bound, nest->shape[innerDim]);
    part.from = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, part.from, own.from);
    part.to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, part.to, own.to);
  }
  return part;
}

} // namespace tilery::lower
