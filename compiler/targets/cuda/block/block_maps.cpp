// Tensor maps that a role makes for its own copies and stores, in the block's part of the workspace.
//
// A map is made again only where it is of another tensor. One for copies has two places by turns: what lies in the other one may still be
// read by copies on their way, so that those of the map before the last one must have landed.
#include "compiler/targets/cuda/block/block_emitter.h"

using namespace mlir;

namespace tilery::cuda {

llvm::AllocaInst *BlockEmitter::variable() {
  llvm::BasicBlock &first = entry.function->getEntryBlock();
  auto *made = llvm::IRBuilder<>(&first, first.begin()).CreateAlloca(b.getInt32Ty());
  b.CreateStore(i32(0), made);
  return made;
}

void BlockEmitter::prepareMaps() {
  unsigned place = 0;
  for (auto &[op, shared] : plan.made) {
    auto remap = cast<block::RemapOp>(op);
    MadeMap &map = made[op];
    map.place = place * block::mapBytes;
    place += storesBoxes(remap) ? copiesOf(remap) : 2;
    map.count = variable();
    for (Operation *user : remap.getResult().getUsers())
      if (auto copy = dyn_cast<block::CopyOp>(user)) {
        auto acquire = copy.getTo().getDefiningOp<block::PartOp>().getSlot().getDefiningOp<block::AcquireOp>();
        map.rings[acquire.getRing().getDefiningOp()] = {};
      }
    for (auto &[ring, filled] : map.rings)
      filled = {variable(), variable()};
  }
}

llvm::Value *BlockEmitter::mapOf(Value map) {
  if (auto found = maps.find(map); found != maps.end())
    return entry.maps[found->second];
  return map.getDefiningOp<block::RemapOp>() ? partsOf(map)[0] : nullptr;
}

// Slots before the last turn of the ring have been filled again since: their copies are long done.
void BlockEmitter::waitForCopies(MadeMap &map) {
  for (auto &[op, filled] : map.rings) {
    auto ring = cast<block::RingOp>(op);
    llvm::Value *now = b.CreateLoad(b.getInt32Ty(), filled.now), *end = b.CreateLoad(b.getInt32Ty(), filled.before);
    llvm::Value *start = b.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, now, i32(ring.getType().getCount()));
    llvm::BasicBlock *before = b.GetInsertBlock(), *loop = newBlock("landing"), *after = newBlock("landed");
    b.CreateCondBr(b.CreateICmpULT(start, end), loop, after);
    b.SetInsertPoint(loop);
    llvm::PHINode *position = b.CreatePHI(b.getInt32Ty(), 2);
    position->addIncoming(start, before);
    machine.waitBarrier(e, barrierOf(ring, position, false), parityOf(ring, position));
    llvm::Value *next = b.CreateAdd(position, i32(1));
    position->addIncoming(next, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpULT(next, end), loop, after);
    b.SetInsertPoint(after);
    b.CreateStore(now, filled.before);
  }
}

void BlockEmitter::emitRemap(block::RemapOp remap) {
  MadeMap &map = made[remap];
  bool stores = storesBoxes(remap);
  int64_t bytes = tile::elementBytes(remap.getMap().getType().getElementType());
  SmallVector<llvm::Value *> extents, strides, numbers{b.CreatePtrToInt(scalar(remap.getBase()), b.getInt64Ty())};
  for (Value extent : llvm::reverse(remap.getExtents()))
    extents.push_back(scalar(extent));
  for (Value stride : llvm::reverse(remap.getStrides()))
    strides.push_back(b.CreateMul(scalar(stride), e.i64(bytes)));
  numbers.append(extents.begin(), extents.end());
  numbers.append(strides.begin(), strides.end());
  unsigned each = 8 * numbers.size();
  llvm::Value *kept = b.CreateAdd(base, i32(plan.made[remap]));
  llvm::Value *own = stores ? here().warpgroup : nullptr;
  if (own)
    kept = b.CreateAdd(kept, b.CreateMul(own, i32(each)));
  auto place = [&](llvm::Value *count) {
    llvm::Value *number = own ? own : b.CreateAnd(count, i32(1));
    llvm::Value *offset = b.CreateAdd(i32(map.place), b.CreateMul(number, i32(block::mapBytes)));
    return b.CreateGEP(b.getInt8Ty(), entry.workspace, b.CreateZExt(offset, b.getInt64Ty()));
  };
  when(stores ? speaker() : copier(), [&] {
    llvm::Value *count = b.CreateLoad(b.getInt32Ty(), map.count), *changed = b.CreateICmpEQ(count, i32(0));
    for (auto [i, value] : llvm::enumerate(numbers)) {
      llvm::Value *before = machine.loadShared(e, b.getInt64Ty(), b.CreateAdd(kept, i32(8 * i)), false);
      changed = b.CreateOr(changed, b.CreateICmpNE(before, value));
    }
    when(changed, [&] {
      if (stores)
        machine.waitStores(e, false, 0);
      else
        waitForCopies(map);
      for (auto [i, value] : llvm::enumerate(numbers))
        machine.storeShared(e, b.CreateAdd(kept, i32(8 * i)), value, false);
      llvm::Value *next = b.CreateAdd(count, i32(1));
      b.CreateStore(next, map.count);
      llvm::Value *pointer = b.CreateIntToPtr(numbers[0], b.getPtrTy());
      machine.makeMap(e, place(next), mapOf(remap.getMap()), pointer, extents, strides);
    });
  });
  remember(remap, {place(own ? nullptr : b.CreateLoad(b.getInt32Ty(), map.count))});
}

} // namespace tilery::cuda
