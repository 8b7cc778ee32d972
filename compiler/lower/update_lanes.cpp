#include "compiler/lower/update_lanes.h"

using namespace mlir;

namespace tilery::lower {

unsigned mostTogether(tile::AtomicRmwOp update, const AtomicOrder &as, const Target &target) {
  bool adds = update.getKind() == tile::RmwKind::fadd && as.order == llvm::AtomicOrdering::Monotonic;
  return adds ? target.addsTogether(getElementTypeOrSelf(update.getValue().getType())) : 1;
}

bool areTogether(const Address &where, unsigned width) {
  return width > 1 && !where.offsets && where.step == 1 && where.alignment >= width * tile::elementBytes(where.element);
}

void updateLanes(Evaluator &evaluator, tile::AtomicRmwOp update, const Address &where, llvm::Value *values, llvm::Value *own,
                 const AtomicOrder &as) {
  Emitter &e = evaluator.e;
  auto &b = e.b;
  auto when = [&](llvm::Value *condition, llvm::function_ref<void()> then) {
    if (!condition)
      return then();
    llvm::Function *function = b.GetInsertBlock()->getParent();
    auto *yes = llvm::BasicBlock::Create(e.context(), "", function), *after = llvm::BasicBlock::Create(e.context(), "", function);
    b.CreateCondBr(condition, yes, after);
    b.SetInsertPoint(yes);
    then();
    b.CreateBr(after);
    b.SetInsertPoint(after);
  };
  unsigned width = e.lanesOf(values);
  auto one = [&](llvm::Value *exists, llvm::Value *pointer, llvm::Value *value) {
    when(exists, [&] { readModifyWrite(e, update.getKind(), where.element, pointer, value, as); });
  };
  if (width == 1)
    return one(e.band(own, where.exists), where.pointer, values);
  unsigned most = mostTogether(update, as, e.options.target);
  if (most > 1 && width > most && width % most == 0 && areTogether(where, most)) {
    for (unsigned first = 0; first < width; first += most) {
      auto part = [&](llvm::Value *lanes) {
        return b.CreateShuffleVector(lanes, llvm::to_vector(llvm::seq<int>(first, first + most)));
      };
      Address piece = where;
      piece.pointer = b.CreateConstGEP1_64(e.memoryType(where.element), where.pointer, first);
      if (where.exists && e.lanesOf(where.exists) > 1)
        piece.exists = part(where.exists);
      updateLanes(evaluator, update, piece, part(values), own, as);
    }
    return;
  }
  bool together = width <= most && areTogether(where, width);
  bool asOne = !where.exists || e.lanesOf(where.exists) == 1;
  llvm::Value *exist = asOne ? nullptr : where.exists, *all = asOne ? where.exists : b.CreateAndReduce(exist);
  if (together)
    when(e.band(own, all), [&] { addTogether(e, where.element, where.pointer, values, as.scope); });
  if (together && asOne)
    return;
  llvm::Value *some = together ? e.band(own, b.CreateNot(all)) : e.band(own, asOne ? where.exists : nullptr);
  llvm::Value *pointers = evaluator.memory.lanePointers(where);
  for (unsigned i = 0; i < width; ++i)
    one(e.band(some, exist ? b.CreateExtractElement(exist, uint64_t(i)) : nullptr), b.CreateExtractElement(pointers, uint64_t(i)),
        b.CreateExtractElement(values, uint64_t(i)));
}

} // namespace tilery::lower
