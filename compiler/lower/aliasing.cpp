#include "compiler/lower/aliasing.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::lower {

MemoryClass classOfPointer(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (isa<tile::AddPtrOp, tile::PtrCastOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp,
            tile::PermuteOp>(op)) {
      pointer = op->getOperand(0);
      continue;
    }
    return {MemoryClass::Unknown};
  }
  auto argument = cast<BlockArgument>(pointer);
  Operation *owner = argument.getOwner()->getParentOp();
  if (isa<tile::KernelOp>(owner))
    return {MemoryClass::Argument, pointer.getAsOpaquePointer()};
  // A pointer carried by a loop stays within what it started from: advancing is address arithmetic.
  if (auto loop = dyn_cast<scf::ForOp>(owner); loop && argument.getArgNumber() > 0)
    return classOfPointer(loop.getInitArgs()[argument.getArgNumber() - 1]);
  return {MemoryClass::Unknown};
}
MemoryClass classOfPlace(Value place) {
  if (auto access = place.getDefiningOp<tile::AccessOp>())
    return classOfPointer(access.getBase());
  if (auto access = place.getDefiningOp<tile::PointerAccessOp>())
    return classOfPointer(access.getPtrs());
  return {MemoryClass::Unknown};
}
MemoryClass classOfBuffer(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (!isa<tile::SubviewOp, tile::ReinterpretOp>(op))
      break;
    buffer = op->getOperand(0);
  }
  return {MemoryClass::Buffer, buffer.getDefiningOp<tile::AllocOp>() ? buffer.getAsOpaquePointer() : nullptr};
}

bool mayAlias(MemoryClass a, MemoryClass b, bool disjoint) {
  if ((a.kind == MemoryClass::Buffer) != (b.kind == MemoryClass::Buffer))
    return false;
  if (a.kind == MemoryClass::Buffer)
    return a.which == b.which || !a.which || !b.which;
  if (a.kind == MemoryClass::Unknown || b.kind == MemoryClass::Unknown)
    return true;
  return a.which == b.which || !disjoint;
}

bool samePattern(Value place, Value other) {
  auto x = place.getDefiningOp<tile::AccessOp>(), y = other.getDefiningOp<tile::AccessOp>();
  if (!x || !y || x.getBase() != y.getBase() || x.getOffset() != y.getOffset() || x.getSteps() != y.getSteps() ||
      cast<tile::AccessType>(x.getType()).getShape() != cast<tile::AccessType>(y.getType()).getShape())
    return false;
  // Elements are apart if each dimension's constant step jumps over everything the inner ones span.
  ArrayRef<int64_t> shape = cast<tile::AccessType>(x.getType()).getShape();
  int64_t span = 1;
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    if (shape[d] == 1)
      continue;
    APInt step;
    if (!x.isStrided(d) || !matchPattern(x.getSteps()[d], m_ConstantInt(&step)) || step.getSExtValue() < span)
      return false;
    span = step.getSExtValue() * shape[d];
  }
  return true;
}

bool isLoad(Operation *op) { return op && isa<tile::LoadOp, tile::BufferLoadOp>(op); }

MemoryClass classOfLoad(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return classOfPlace(load.getPlace());
  return classOfBuffer(cast<tile::BufferLoadOp>(op).getBuffer());
}

bool classOfWrite(Operation *op, MemoryClass &result) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<tile::StoreOp, tile::AtomicRmwOp, tile::AtomicCasOp>([&](auto op) {
        result = classOfPlace(op.getPlace());
        return true;
      })
      .Case<tile::BufferStoreOp, tile::ElementStoreOp, tile::ElementUpdateOp>([&](auto op) {
        result = classOfBuffer(op.getBuffer());
        return true;
      })
      .Default([](Operation *) { return false; });
}

bool isSignal(Operation *write) {
  return llvm::TypeSwitch<Operation *, bool>(write)
      .Case<tile::AtomicRmwOp, tile::AtomicCasOp>([](auto op) {
        auto order = op.getOrder();
        bool says = order == tile::MemoryOrder::release || op.getScope() == tile::SyncScope::sys;
        bool releases = order == tile::MemoryOrder::release || order == tile::MemoryOrder::acq_rel;
        return releases && (says || !isa<RankedTensorType>(op.getResult().getType()));
      })
      .Default([](Operation *) { return false; });
}

bool sameElements(Operation *load, Operation *write) {
  if (auto l = dyn_cast<tile::LoadOp>(load))
    return isa<tile::StoreOp>(write) && samePattern(l.getPlace(), cast<tile::StoreOp>(write).getPlace());
  auto store = dyn_cast<tile::BufferStoreOp>(write);
  return store && store.getBuffer() == cast<tile::BufferLoadOp>(load).getBuffer();
}

} // namespace tilery::lower
