// Updates of memory that are steps of their own: of a number by one thread of the role, of a tile by whoever holds the element.
#include "compiler/lower/update_lanes.h"
#include "compiler/layout/registers.h"
#include "compiler/targets/cuda/block/block_emitter.h"

using namespace mlir;

namespace tilery::cuda {

void BlockEmitter::meetRole() {
  if (!role->oneThread)
    machine.namedBarrier(e, barrierOfRole(), 32 * role->warps);
}

void BlockEmitter::once(Operation *op, Value place, llvm::function_ref<llvm::Value *(llvm::Value *pointer)> update) {
  Type type = op->getResult(0).getType();
  bool used = !op->getResult(0).use_empty();
  prepareTile({}, place);
  for (Value operand : op->getOperands())
    if (!isa<tile::AccessType>(operand.getType()))
      scalar(operand);
  llvm::Value *shown = b.CreateAdd(base, i32(plan.exchange));
  meetRole();
  when(b.CreateICmpEQ(thread, i32(32 * role->firstWarp)), [&] {
    lower::Evaluator::Region region(evaluator);
    lower::Address where = evaluator.addresses.ofPlace(place, {});
    if (used && where.exists) // a place that is none holds nothing
      machine.storeShared(e, shown, llvm::Constant::getNullValue(e.memoryType(type)), /*peer=*/false);
    when(where.exists, [&] {
      llvm::Value *old = update(where.pointer);
      if (used)
        machine.storeShared(e, shown, e.toMemory(old, type), /*peer=*/false);
    });
  });
  meetRole();
  if (used)
    remember(op->getResult(0), {e.fromMemory(machine.loadShared(e, e.memoryType(type), shown, /*peer=*/false), type)});
}

void BlockEmitter::emitUpdate(tile::AtomicRmwOp update) {
  if (isa<RankedTensorType>(update.getType()))
    return emitUpdateOfTile(update);
  Type element = update.getValue().getType();
  lower::OrderedUpdates ordered(e, {lower::orderOf(update.getOrder()), update.getScope()}, 8 * tile::elementBytes(element), true);
  once(update, update.getPlace(), [&](llvm::Value *pointer) {
    ordered.release();
    llvm::Value *old = lower::readModifyWrite(e, update.getKind(), element, pointer, scalar(update.getValue()), ordered.each);
    ordered.acquire();
    return old;
  });
}

void BlockEmitter::emitSwap(tile::AtomicCasOp swap) {
  Type element = swap.getExpected().getType();
  if (!element.isIntOrFloat())
    return fail(swap, "compares pointers");
  llvm::Type *bits = b.getIntNTy(8 * tile::elementBytes(element));
  auto toBits = [&](Value value) { return b.CreateBitCast(e.toMemory(scalar(value), element), bits); };
  once(swap, swap.getPlace(), [&](llvm::Value *pointer) {
    lower::AtomicOrder as{lower::orderOf(swap.getOrder()), swap.getScope()};
    llvm::Value *old = lower::compareAndSwap(e, pointer, toBits(swap.getExpected()), toBits(swap.getDesired()), as).first;
    return e.fromMemory(b.CreateBitCast(old, e.memoryType(element)), element);
  });
}

/// Whether another register of the thread has the same element of the tile, and a lower number.
static bool isCopy(const layout::Layout &dealt, int64_t number) {
  for (const layout::Layout::Digit &digit : dealt.digits(layout::Register)) {
    if (digit.isZero() && number % digit.extent)
      return true;
    number /= digit.extent;
  }
  return false;
}

// Each element once, however many threads have it.
void BlockEmitter::emitUpdateOfTile(tile::AtomicRmwOp update) {
  Value tile = update.getValue();
  if (!block::layoutOf(tile.getType()))
    return fail(update, "takes a tile without a layout");
  Type element = getElementTypeOrSelf(tile.getType());
  lower::OrderedUpdates ordered(e, {lower::orderOf(update.getOrder()), update.getScope()}, 8 * tile::elementBytes(element),
                                false);
  prepareTile(tile, update.getPlace());
  lower::Evaluator::Region region(evaluator);
  Coordinates coordinates;
  layout::Layout dealt = block::layoutOf(tile.getType()).getLayout();
  Vectors vectors = vectorsOf(dealt, 1);
  auto placeOf = [&](unsigned number) {
    auto [point, fixed] = pointsOf(vectors, number, coordinates);
    provideAddresses(update.getPlace(), point, fixed);
    return evaluator.addresses.ofPlace(update.getPlace(), point);
  };
  for (unsigned most = lower::mostTogether(update, ordered.each, e.options.target); most > 1 && vectors.width == 1; most /= 2) {
    Vectors wide = vectorsOf(layout::neighboursFirst(dealt, cast<RankedTensorType>(tile.getType()).getRank() - 1), most);
    lower::Evaluator::Vector lanes(evaluator, wide.width);
    std::swap(vectors, wide);
    if (!lower::areTogether(placeOf(0), vectors.width))
      std::swap(vectors, wide);
    coordinates = {};
  }
  lower::Evaluator::Vector lanes(evaluator, vectors.width);
  llvm::Value *own = isFirstOfCopies(vectors.layout);
  ordered.release();
  for (unsigned number = 0; number < vectors.layout.extent(layout::Register); number += vectors.width) {
    if (isCopy(vectors.layout, number))
      continue;
    llvm::Value *values = valueAt(tile, vectors, number, coordinates);
    lower::updateLanes(evaluator, update, placeOf(number), values, own, ordered.each);
  }
  ordered.acquire();
}

} // namespace tilery::cuda
