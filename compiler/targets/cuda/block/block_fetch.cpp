// Threads copy 16 bytes at a time into a slot; their ends are filled with zeros.
#include "compiler/targets/cuda/block/block_emitter.h"
#include "compiler/targets/cuda/ptx/emit_layout.h"

using namespace mlir;

namespace tilery::cuda {

/// Of threads that a layout gives the same elements, whether this is the first; null: there are no two.
llvm::Value *BlockEmitter::isFirstOfCopies(const layout::Layout &dealt) {
  llvm::Value *first = nullptr;
  for (auto [axis, number] : {std::pair(layout::Lane, here().lane), std::pair(layout::Warp, here().warp)}) {
    int64_t place = 1;
    for (const layout::Layout::Digit &digit : dealt.digits(axis)) {
      if (digit.isZero() && digit.extent > 1) {
        llvm::Value *own = b.CreateURem(b.CreateUDiv(number, i32(place)), i32(digit.extent));
        first = e.band(first, b.CreateICmpEQ(own, i32(0)));
      }
      place *= digit.extent;
    }
  }
  return first;
}

void BlockEmitter::emitFetch(block::FetchOp fetch) {
  constexpr unsigned piece = 16; // bytes
  constexpr int alongLine = 1;   // the number of the line's dimension among the evaluator's loops
  block::SharedType shared = fetch.getTo().getType();
  auto access = fetch.getPlace().getDefiningOp<tile::AccessOp>();
  unsigned bytes = tile::elementBytes(shared.getElementType()), width = piece / bytes;
  if (!access || !shared.getLayout() || !fetch.getLayout() || shared.getRank() != 2)
    return fail(fetch, "needs layouts, and an access in order");
  const layout::Layout &dealt = fetch.getLayout()->getLayout();
  std::optional<layout::Layout> places = layout::compose(*layout::invert(shared.getLayout().getLayout()), dealt);
  if (!places || vectorsOf(dealt, width).width != width)
    return fail(fetch, "moves lanes that are no pieces of 16 bytes");
  prepareTile({}, access);
  for (Value bound : access.getBound(1))
    if (!isa<RankedTensorType>(bound.getType()))
      ensure(bound);
  llvm::Value *to = partsOf(fetch.getTo())[0];
  SplitPlaces slot(*places);
  llvm::Value *own = isFirstOfCopies(dealt);
  lower::Evaluator::Region region(evaluator);
  lower::Evaluator::Vector lanes(evaluator, 1);
  Coordinates coordinates;
  OperandRange bound = access.getBound(1);
  SmallVector<lower::KnownBound, 1> ended;
  if (bound.size() == 2) // counted below
    ended.push_back({bound[0], bound[1], alongLine});
  for (unsigned number = 0; number < dealt.extent(layout::Register); number += width) {
    auto [point, fixed] = pointsOf({dealt, 1, -1}, number, coordinates);
    point[1].loop = alongLine;
    provideAddresses(access, point, fixed);
    lower::Evaluator::Assumption hold(evaluator, ended);
    lower::Address where = evaluator.addresses.ofPlace(access, point);
    llvm::Value *count = i32(piece), *exists = where.exists;
    if (bound.size() == 2) {
      llvm::Value *left = b.CreateSub(evaluator.wide(bound[1]), point[1].base);
      left = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, e.i64(0));
      left = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, e.i64(width));
      count = b.CreateMul(b.CreateTrunc(left, b.getInt32Ty()), i32(bytes));
      llvm::Value *lowest = evaluator.wide(bound[0]);
      auto *constant = llvm::dyn_cast<llvm::ConstantInt>(lowest);
      if (!constant || constant->getValue().isStrictlyPositive())
        exists = e.band(exists, b.CreateICmpSLE(lowest, point[1].base));
    }
    if (exists)
      count = b.CreateSelect(exists, count, i32(0));
    llvm::Value *element = emitLayout(b, slot.varying, placeOf(number))[0];
    llvm::Value *offset = b.CreateAdd(b.CreateSub(to, base), b.CreateMul(element, i32(bytes)));
    llvm::Value *place = b.CreateGEP(b.getInt8Ty(), entry.shared, b.CreateZExt(offset, b.getInt64Ty()));
    llvm::Value *at = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), place, uint64_t(slot.constant(number)) * bytes);
    when(own, [&] { machine.copyAsync(e, at, where.pointer, count); });
  }
}

} // namespace tilery::cuda
