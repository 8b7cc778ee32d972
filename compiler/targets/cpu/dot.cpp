#include "compiler/ir/zero.h"
#include "compiler/lower/branch.h"
#include "compiler/targets/cpu/dot_emitter.h"
#include "compiler/targets/cpu/dot_tiles.h"

using namespace mlir;

namespace tilery::cpu {
using mlir::Value;

llvm::Value *DotEmitter::startOf(const Cut &cut, llvm::Value *sliver) {
  llvm::Value *narrow = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateSub(sliver, i64(cut.wide)), i64(0));
  return b.CreateSub(b.CreateMul(sliver, i64(cut.width)), b.CreateMul(narrow, i64(cut.unit)));
}

/// Slivers that begin below the live extent. Null: all.
llvm::Value *DotEmitter::liveSlivers(bool ofRows) {
  const Cut &cut = this->cut(ofRows);
  if (plan.live.empty() || cut.slivers == 1)
    return nullptr;
  auto clamp = [&](llvm::Value *value, int64_t from, int64_t to) {
    value = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, i64(from));
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, i64(to));
  };
  auto ceilDiv = [&](llvm::Value *value, unsigned by) { return b.CreateUDiv(b.CreateAdd(value, i64(by - 1)), i64(by)); };
  llvm::Value *extent = clamp(ev.wide(plan.live[ofRows ? 0 : 1]), 1, cut.size);
  int64_t inWide = int64_t(cut.wide) * cut.width;
  llvm::Value *slivers = ceilDiv(b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, extent, i64(inWide)), cut.width);
  if (cut.wide < cut.slivers)
    slivers = b.CreateAdd(slivers, ceilDiv(clamp(b.CreateSub(extent, i64(inWide)), 0, cut.size), cut.width - cut.unit));
  if (auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(slivers); fixed && fixed->getZExtValue() >= cut.slivers)
    return nullptr;
  return slivers;
}

// The widths slivers have: wide ones, narrower ones, and a last one that is cut short.
void DotEmitter::forSlivers(const Cut &cut, llvm::Value *slivers, SliverBody body) {
  unsigned padded = cut.start(cut.slivers);
  unsigned whole = padded == cut.size ? cut.slivers : cut.slivers - 1;
  auto range = [&](unsigned from, unsigned to, unsigned width) {
    auto one = [&] { body(i64(from), i64(cut.start(from)), width); };
    llvm::Value *end = i64(to);
    if (slivers)
      end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, slivers, end);
    if (from + 1 == to)
      slivers &&from ? emitIf(b, b.CreateICmpSLT(i64(from), end), one) : one();
    else if (from < to)
      emitLoop(b, i64(from), end, 1, [&](llvm::Value *sliver) {
        body(sliver, b.CreateAdd(i64(cut.start(from)), b.CreateMul(b.CreateSub(sliver, i64(from)), i64(width))), width);
      });
  };
  range(0, std::min(cut.wide, whole), cut.width);
  range(std::min(cut.wide, whole), whole, cut.width - cut.unit);
  range(whole, cut.slivers, cut.size - cut.start(whole));
}

// The width of a sliver that is known at run time only.
void DotEmitter::forWidth(const Cut &cut, llvm::Value *sliver, llvm::function_ref<void(unsigned width)> body) {
  unsigned padded = cut.start(cut.slivers), last = cut.size - cut.start(cut.slivers - 1);
  unsigned whole = padded == cut.size ? cut.slivers : cut.slivers - 1, wide = std::min(cut.wide, whole);
  auto rest = [&] {
    if (whole == cut.slivers)
      return body(cut.width - cut.unit);
    if (wide == whole)
      return body(last);
    emitIf(b, b.CreateICmpSLT(sliver, i64(whole)), [&] { body(cut.width - cut.unit); }, [&] { body(last); });
  };
  if (wide == cut.slivers)
    return body(cut.width);
  if (wide == 0)
    return rest();
  emitIf(b, b.CreateICmpSLT(sliver, i64(wide)), [&] { body(cut.width); }, rest);
}

/// How deep the panels of steps up to `to` are before both hold only zeros, the fill of their loads beyond a bound in the last step: what
/// follows adds zeros to sums that began at zero.
llvm::Value *DotEmitter::depthInUse(llvm::Value *to, llvm::Value *depth) {
  SmallVector<Value> bounds;
  for (const DotOperand *operand : {&plan.a, &plan.b}) {
    auto load = operand->tile.getDefiningOp<tile::LoadOp>();
    auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    unsigned rank = tile::shapeOf(operand->tile.getType()).size();
    OperandRange bound = access ? access.getBound(rank - (operand->isA ? 1 : 2)) : OperandRange(nullptr, 0);
    if (bound.size() != 2 || (load.getOther() && !tile::isZero(load.getOther())))
      return depth;
    bounds.push_back(bound[1]);
  }
  if (!plan.startsAtZero)
    return depth;
  enterStep(b.CreateSub(to, i64(1)));
  llvm::Value *last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, ev.wide(bounds[0]), ev.wide(bounds[1]));
  last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, last, i64(0));
  last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last, i64(plan.k));
  auto ceilDiv = [&](llvm::Value *value, int64_t by) { return b.CreateUDiv(b.CreateAdd(value, i64(by - 1)), i64(by)); };
  llvm::Value *used = b.CreateAdd(b.CreateSub(depth, i64(plan.packedK())), ceilDiv(last, plan.pack));
  return b.CreateMul(ceilDiv(used, plan.blocking.unroll), i64(plan.blocking.unroll));
}

void DotEmitter::emitTiles(llvm::Value *a, llvm::Value *bPanel, llvm::Value *depth, llvm::Value *used, llvm::Value *tile,
                           llvm::Value *accumulate) {
  const DotBlocking &blocking = plan.blocking;
  bool outer = blocking.rowsOuter, tiles = inTiles(blocking.multiply);
  unsigned rows = blocking.rows.onlyWidth(), columns = blocking.columns.onlyWidth();
  if (tiles && rows && columns)
    configureTiles(b, blocking, rows, columns);
  forSlivers(outer, [&](llvm::Value *, llvm::Value *first, unsigned firstWidth) {
    llvm::Value *outerSliver = element(outer ? a : bPanel, b.CreateMul(first, depth));
    forSlivers(!outer, [&](llvm::Value *, llvm::Value *second, unsigned secondWidth) {
      llvm::Value *innerSliver = element(outer ? bPanel : a, b.CreateMul(second, depth));
      llvm::Value *row = outer ? first : second, *column = outer ? second : first;
      llvm::Value *c = element(tile, b.CreateAdd(b.CreateMul(row, ldc), column));
      unsigned height = outer ? firstWidth : secondWidth, width = outer ? secondWidth : firstWidth;
      auto multiply = [&](unsigned rows) {
        llvm::Function *kernel = dotKernel(e.module, blocking, compute, rows, width, height);
        b.CreateCall(kernel, {outer ? outerSliver : innerSliver, outer ? innerSliver : outerSliver, used, c, ldc, accumulate});
      };
      if (tiles && !(rows && columns))
        configureTiles(b, blocking, height, width);
      if (oneRow && height > 1)
        emitIf(b, oneRow, [&] { multiply(1); }, [&] { multiply(height); });
      else
        multiply(height);
    });
  });
  if (tiles)
    releaseTiles(b);
}

void DotEmitter::emitBatch(llvm::Value *batch, llvm::Value *tile, llvm::Value *steps) {
  auto block = [&](llvm::Value *from, llvm::Value *to, llvm::Value *accumulate) {
    auto release = e.module.getOrInsertFunction("tilery_rt_panel_release",
                                                llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}, false));
    auto giveBack = [&](bool isA, llvm::Value *handle) {
      auto give = [&] { b.CreateCall(release, {around.launch, handle}); };
      if (handle)
        alone[isA] ? emitIf(b, b.CreateNot(alone[isA]), give) : give();
    };
    llvm::Value *handleA, *handleB;
    llvm::Value *a = panel(plan.a, batch, from, to, handleA);
    auto packed = [&] {
      llvm::Value *bPanel = panel(plan.b, batch, from, to, handleB);
      llvm::Value *depth = b.CreateMul(b.CreateSub(to, from), i64(plan.packedK()));
      emitTiles(a, bPanel, depth, depthInUse(to, depth), tile, accumulate);
      giveBack(false, handleB);
    };
    if (llvm::Value *inPlace = readsInPlace())
      emitIf(b, inPlace, [&] { multiplyRow(a, batch, from, to, tile, accumulate); }, packed);
    else
      packed();
    giveBack(true, handleA);
  };
  if (!contract) {
    llvm::Value *accumulate = b.getInt1(!plan.startsAtZero);
    if (Value clear = cast<tile::DotOp>(op).getClear(); clear && !plan.startsAtZero)
      accumulate = b.CreateNot(ev.scalar(clear));
    return block(i64(0), i64(1), accumulate);
  }
  llvm::Value *each = i64(plan.stepsPerBlock);
  for (llvm::Value *ownPanel : alone)
    if (ownPanel)
      each = b.CreateSelect(ownPanel, i64(std::min(plan.stepsPerBlock, plan.privateSteps)), each);
  llvm::Value *blocks = b.CreateSDiv(b.CreateAdd(steps, b.CreateSub(each, i64(1))), each);
  emitLoop(b, i64(0), blocks, 1, [&](llvm::Value *index) {
    llvm::Value *from = b.CreateMul(index, each);
    llvm::Value *to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateAdd(from, each), steps);
    block(from, to, plan.startsAtZero ? b.CreateICmpSGT(from, i64(0)) : b.getTrue());
  });
  if (plan.startsAtZero)
    emitIf(b, b.CreateICmpSLE(steps, i64(0)),
           [&] { b.CreateMemSet(tile, b.getInt8(0), plan.m * plan.n * bytes, llvm::MaybeAlign(bytes)); });
}

/// True (at run time) if the whole tile exists where its store puts it, row after row. Null if the store shares its nest with others.
llvm::Value *DotEmitter::placeOfStore(llvm::Value *steps, llvm::Value *&place, llvm::Value *&stride) {
  bool ownNest = false;
  for (const Step &step : ev.plan.steps.lookup(op->getBlock()))
    ownNest |= !step.op && step.nest.sinks.size() == 1 && step.nest.sinks[0].op == plan.directStore;
  if (!ownNest)
    return nullptr;
  auto access = tile::StoreOp(plan.directStore).getPlace().getDefiningOp<tile::AccessOp>();
  place = element(ev.scalar(access.getBase()), ev.wide(access.getOffset()));
  stride = ev.wide(access.getSteps()[0]);
  llvm::Value *direct = b.CreateAnd(b.CreateICmpSGT(steps, i64(0)), b.CreateICmpSGE(stride, i64(plan.n)));
  for (unsigned d : {0u, 1u}) {
    OperandRange bound = access.getBound(d);
    if (bound.size() != 2)
      continue;
    direct = b.CreateAnd(direct, b.CreateICmpSLE(ev.wide(bound[0]), i64(0)));
    direct = b.CreateAnd(direct, b.CreateICmpSGE(ev.wide(bound[1]), i64(d ? plan.n : plan.m)));
  }
  return direct;
}

void DotEmitter::convertTile(mlir::Type from, llvm::Value *source, mlir::Type to, llvm::Value *target) {
  int64_t elements = plan.batch * plan.m * plan.n, lanes = plan.blocking.lanes, whole = elements / lanes * lanes;
  auto part = [&](llvm::Value *index, unsigned n) {
    auto at = [&](llvm::Value *base, mlir::Type type) { return b.CreateInBoundsGEP(e.memoryType(type), base, index); };
    llvm::Value *value =
        b.CreateAlignedLoad(e.vectorOf(e.memoryType(from), n), at(source, from), llvm::Align(elementBytes(from)));
    value = from.isF32() ? e.narrowFloat(value, to) : e.widenFloat(value, from);
    b.CreateAlignedStore(value, at(target, to), llvm::Align(elementBytes(to)));
  };
  emitLoop(b, i64(0), i64(whole), lanes, [&](llvm::Value *index) { part(index, lanes); });
  for (int64_t index = whole; index < elements; ++index)
    part(i64(index), 1);
}

void DotEmitter::run() {
  e.at(op->getLoc());
  mlir::Type type = elementOf(op->getResult(0));
  bool narrow = type != plan.compute;
  llvm::Value *result = ev.addresses.scratchPointer(ev.plan.storage.lookup(op->getResult(0))), *tiles = result;
  if (narrow) {
    tiles = ev.addresses.scratchPointer(plan.sums.buffer);
    if (!plan.startsAtZero)
      convertTile(type, result, plan.compute, tiles);
  }
  llvm::Value *steps = contract ? ev.wide(contract.getSteps()) : i64(1);
  ldc = i64(plan.n);
  for (bool ofRows : {false, true}) {
    live[ofRows] = liveSlivers(ofRows);
    alone[ofRows] = packsAlone(plan.operand(ofRows), steps);
  }
  if (!plan.live.empty() && plan.m <= fewRows && !inTiles(plan.blocking.multiply))
    oneRow = b.CreateICmpSLE(ev.wide(plan.live[0]), i64(1));
  if (plan.directStore) {
    llvm::Value *place, *stride;
    if (llvm::Value *direct = placeOfStore(steps, place, stride)) {
      tiles = b.CreateSelect(direct, place, tiles);
      ldc = b.CreateSelect(direct, stride, ldc);
      around.written(plan.directStore, direct);
    }
  }
  auto batch = [&](llvm::Value *index) { emitBatch(index, element(tiles, b.CreateMul(index, i64(plan.m * plan.n))), steps); };
  if (plan.batch == 1)
    batch(i64(0));
  else
    emitLoop(b, i64(0), i64(plan.batch), 1, batch);
  if (narrow)
    convertTile(plan.compute, tiles, type, result);
}

void emitDot(Evaluator &evaluator, mlir::Operation *op, const DotPlan &plan, const DotSurroundings &around) {
  DotEmitter(evaluator, op, plan, around).run();
}

} // namespace tilery::cpu
