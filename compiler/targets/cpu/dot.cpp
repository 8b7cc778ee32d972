#include "compiler/targets/cpu/dot.h"
#include "compiler/targets/cpu/dot_pack.h"
#include "compiler/ir/zero.h"

using namespace mlir;

namespace tilery::cpu {
namespace {
using mlir::Value;

class DotEmitter {
public:
  DotEmitter(Evaluator &ev, Operation *op, const DotPlan &plan, const DotSurroundings &around)
      : ev(ev), e(ev.e), b(ev.e.b), op(op), around(around), plan(plan), contract(dyn_cast<tile::ContractOp>(op)),
        compute(e.valueType(plan.compute)), bytes(compute->getScalarSizeInBits() / 8) {}

  void run();

private:
  llvm::Value *i64(int64_t value) { return b.getInt64(value); }
  llvm::Value *element(llvm::Value *base, llvm::Value *index) { return b.CreateInBoundsGEP(compute, base, index); }
  void emitBatch(llvm::Value *batch, llvm::Value *tile, llvm::Value *steps);
  llvm::Value *depthInUse(llvm::Value *to, llvm::Value *depth);
  void emitTiles(llvm::Value *a, llvm::Value *bPanel, llvm::Value *depth, llvm::Value *used, llvm::Value *tile,
                 llvm::Value *accumulate);
  llvm::Value *placeOfStore(llvm::Value *steps, llvm::Value *&place, llvm::Value *&stride);
  llvm::Value *livePieces(bool ofRows);
  void forPieces(bool ofRows, llvm::function_ref<void(llvm::Value *piece, llvm::Value *first, unsigned width)> body);
  void forWidth(const Cut &cut, llvm::Value *piece, llvm::function_ref<void(unsigned width)> body);
  llvm::Value *startOf(const Cut &cut, llvm::Value *piece);
  const Cut &cut(bool ofRows) const { return ofRows ? plan.blocking.rows : plan.blocking.columns; }
  const Cut &cut(const DotOperand &operand) const { return cut(operand.isA); }
  int64_t stepsPerPiece() const { return std::max<int64_t>(1, 64 / plan.k); }
  llvm::Value *piecesOf(const DotOperand &operand, llvm::Value *from, llvm::Value *to);

  /// One operand's panel for steps [from, to): its memory, complete.
  llvm::Value *panel(const DotOperand &operand, llvm::Value *batch, llvm::Value *from, llvm::Value *to, llvm::Value *&handle);
  void packPiece(const DotOperand &operand, llvm::Value *memory, llvm::Value *piece, llvm::Value *batch, llvm::Value *from,
                 llvm::Value *to);
  void enterStep(llvm::Value *step);
  void packStep(const DotOperand &operand, const Sliver &sliver, llvm::Value *batch);
  llvm::Value *fetch(const DotOperand &operand, llvm::Value *batch, llvm::Value *position, llvm::Value *k, unsigned n,
                     bool lanesAlongK);
  llvm::Value *fetchPairs(const DotOperand &operand, llvm::Value *batch, llvm::Value *position, llvm::Value *pair, unsigned n,
                          bool lanesAlongK, bool half);
  llvm::Value *toCompute(llvm::Value *value, const DotOperand &operand, unsigned n);
  llvm::Value *inside(const DotOperand &operand, const Sliver &sliver, SmallVectorImpl<KnownBound> &known);
  llvm::Value *consecutive(Value indices, const Sliver &sliver);
  int64_t number();
  void convertTile(mlir::Type from, llvm::Value *source, mlir::Type to, llvm::Value *target);

  Evaluator &ev;
  Emitter &e;
  llvm::IRBuilder<> &b;
  Operation *op;
  const DotSurroundings &around;
  const DotPlan &plan;
  tile::ContractOp contract;
  llvm::Type *compute;
  int64_t bytes;
  llvm::Value *ldc = nullptr; // elements a row of where the products go
  llvm::Value *live[2] = {};  // pieces of columns and of rows that hold something used, at least 1; null: all
};

llvm::Value *DotEmitter::startOf(const Cut &cut, llvm::Value *piece) {
  llvm::Value *narrow = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateSub(piece, i64(cut.wide)), i64(0));
  return b.CreateSub(b.CreateMul(piece, i64(cut.width)), b.CreateMul(narrow, i64(cut.unit)));
}

/// Pieces that begin below the live extent. Null: all.
llvm::Value *DotEmitter::livePieces(bool ofRows) {
  const Cut &cut = this->cut(ofRows);
  if (plan.live.empty() || cut.pieces == 1)
    return nullptr;
  auto clamp = [&](llvm::Value *value, int64_t from, int64_t to) {
    value = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, i64(from));
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, i64(to));
  };
  auto ceilDiv = [&](llvm::Value *value, unsigned by) { return b.CreateUDiv(b.CreateAdd(value, i64(by - 1)), i64(by)); };
  llvm::Value *extent = clamp(ev.wide(plan.live[ofRows ? 0 : 1]), 1, cut.size);
  int64_t inWide = int64_t(cut.wide) * cut.width;
  llvm::Value *pieces = ceilDiv(b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, extent, i64(inWide)), cut.width);
  if (cut.wide < cut.pieces)
    pieces = b.CreateAdd(pieces, ceilDiv(clamp(b.CreateSub(extent, i64(inWide)), 0, cut.size), cut.width - cut.unit));
  if (auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(pieces); fixed && fixed->getZExtValue() >= cut.pieces)
    return nullptr;
  return pieces;
}

// The widths pieces have: wide ones, narrower ones, and a last one that is cut short.
void DotEmitter::forPieces(bool ofRows, llvm::function_ref<void(llvm::Value *, llvm::Value *, unsigned)> body) {
  const Cut &cut = this->cut(ofRows);
  llvm::Value *pieces = live[ofRows];
  unsigned padded = cut.start(cut.pieces);
  unsigned whole = padded == cut.size ? cut.pieces : cut.pieces - 1;
  auto range = [&](unsigned from, unsigned to, unsigned width) {
    auto one = [&] { body(i64(from), i64(cut.start(from)), width); };
    llvm::Value *end = i64(to);
    if (pieces)
      end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, pieces, end);
    if (from + 1 == to)
      pieces &&from ? emitIf(b, b.CreateICmpSLT(i64(from), end), one) : one();
    else if (from < to)
      emitLoop(b, i64(from), end, 1, [&](llvm::Value *piece) {
        body(piece, b.CreateAdd(i64(cut.start(from)), b.CreateMul(b.CreateSub(piece, i64(from)), i64(width))), width);
      });
  };
  range(0, std::min(cut.wide, whole), cut.width);
  range(std::min(cut.wide, whole), whole, cut.width - cut.unit);
  range(whole, cut.pieces, cut.size - cut.start(whole));
}

// The width of a piece that is known at run time only.
void DotEmitter::forWidth(const Cut &cut, llvm::Value *piece, llvm::function_ref<void(unsigned width)> body) {
  unsigned padded = cut.start(cut.pieces), last = cut.size - cut.start(cut.pieces - 1);
  unsigned whole = padded == cut.size ? cut.pieces : cut.pieces - 1, wide = std::min(cut.wide, whole);
  auto rest = [&] {
    if (whole == cut.pieces)
      return body(cut.width - cut.unit);
    if (wide == whole)
      return body(last);
    emitIf(b, b.CreateICmpSLT(piece, i64(whole)), [&] { body(cut.width - cut.unit); }, [&] { body(last); });
  };
  if (wide == cut.pieces)
    return body(cut.width);
  if (wide == 0)
    return rest();
  emitIf(b, b.CreateICmpSLT(piece, i64(wide)), [&] { body(cut.width); }, rest);
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
  ev.forget();
  auto ceilDiv = [&](llvm::Value *value, int64_t by) { return b.CreateUDiv(b.CreateAdd(value, i64(by - 1)), i64(by)); };
  llvm::Value *used = b.CreateAdd(b.CreateSub(depth, i64(plan.packedK())), ceilDiv(last, plan.pack));
  return b.CreateMul(ceilDiv(used, plan.blocking.unroll), i64(plan.blocking.unroll));
}

void DotEmitter::emitTiles(llvm::Value *a, llvm::Value *bPanel, llvm::Value *depth, llvm::Value *used, llvm::Value *tile,
                           llvm::Value *accumulate) {
  const DotBlocking &blocking = plan.blocking;
  bool outer = blocking.rowsOuter;
  forPieces(outer, [&](llvm::Value *, llvm::Value *first, unsigned firstWidth) {
    llvm::Value *outerSliver = element(outer ? a : bPanel, b.CreateMul(first, depth));
    forPieces(!outer, [&](llvm::Value *, llvm::Value *second, unsigned secondWidth) {
      llvm::Value *innerSliver = element(outer ? bPanel : a, b.CreateMul(second, depth));
      llvm::Value *row = outer ? first : second, *column = outer ? second : first;
      llvm::Value *c = element(tile, b.CreateAdd(b.CreateMul(row, ldc), column));
      llvm::Function *kernel =
          dotKernel(e.module, blocking, compute, outer ? firstWidth : secondWidth, outer ? secondWidth : firstWidth);
      b.CreateCall(kernel, {outer ? outerSliver : innerSliver, outer ? innerSliver : outerSliver, used, c, ldc, accumulate});
    });
  });
}

llvm::Value *DotEmitter::toCompute(llvm::Value *value, const DotOperand &operand, unsigned n) {
  mlir::Type from = elementOf(operand.tile);
  if (isa<FloatType>(from)) {
    if (isSmallFloat(from))
      value = e.widenFloat(value, from);
    llvm::Type *type = e.vectorOf(compute, e.lanesOf(value));
    value = b.CreateFPCast(value, type);
  } else {
    llvm::Type *type = e.vectorOf(compute, e.lanesOf(value));
    value = operand.isUnsigned || from.isInteger(1) ? b.CreateZExtOrTrunc(value, type) : b.CreateSExtOrTrunc(value, type);
  }
  return e.splat(value, n);
}

llvm::Value *DotEmitter::fetch(const DotOperand &operand, llvm::Value *batch, llvm::Value *position, llvm::Value *k, unsigned n,
                               bool lanesAlongK) {
  ev.lanes = n;
  ev.limit = nullptr;
  Point point;
  unsigned rank = tile::shapeOf(operand.tile.getType()).size();
  if (rank == 3)
    point.push_back({batch, 0, nullptr, 0, 1, 0});
  // Positions along the sliver are fixed while k runs.
  Index other{position, !lanesAlongK && n > 1, nullptr, 0, 1, int(operand.isA ? rank - 2 : rank - 1)};
  Index contracted{k, lanesAlongK && n > 1, nullptr, ev.level(), 1, int(operand.isA ? rank - 1 : rank - 2)};
  if (operand.isA)
    point.append({other, contracted});
  else
    point.append({contracted, other});
  return ev.value(operand.tile, point);
}

// vdpbf16ps adds the product of the high halves first: they hold the earlier of two values, so that products are added in increasing K.
llvm::Value *DotEmitter::fetchPairs(const DotOperand &operand, llvm::Value *batch, llvm::Value *position, llvm::Value *pair,
                                    unsigned n, bool lanesAlongK, bool half) {
  llvm::Type *words = e.vectorOf(b.getInt32Ty(), n);
  llvm::Value *k = b.CreateMul(pair, i64(2)), *value;
  if (lanesAlongK && !half) {
    value = b.CreateBitCast(e.splat(fetch(operand, batch, position, k, 2 * n, true), 2 * n), words);
    value = b.CreateIntrinsic(llvm::Intrinsic::fshl, {words}, {value, value, llvm::ConstantInt::get(words, 16)});
  } else {
    auto one = [&](llvm::Value *at) {
      return b.CreateZExt(e.splat(fetch(operand, batch, position, at, n, lanesAlongK), n), words);
    };
    value = b.CreateShl(one(k), 16);
    if (!half)
      value = b.CreateOr(value, one(b.CreateAdd(k, i64(1))));
  }
  return b.CreateBitCast(value, e.vectorOf(compute, n));
}

/// True (at run time) if the index tiles below `indices` that lie in scratch count up by one over the sliver; the evaluator is told so.
llvm::Value *DotEmitter::consecutive(Value indices, const Sliver &sliver) {
  Operation *def = indices.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(indices.getType());
  if (!def || !type)
    return nullptr;
  if (ev.plan.isVirtual(indices)) {
    llvm::Value *all = nullptr;
    if (isElementwise(def))
      for (Value operand : def->getOperands())
        all = e.band(all, consecutive(operand, sliver));
    return all;
  }
  ev.lanes = sliver.width;
  if (type.getRank() != 1 || sliver.width == 1)
    return nullptr;
  llvm::Value *values = ev.value(indices, Index{sliver.first, 1, nullptr, 0});
  llvm::Value *first = b.CreateExtractElement(values, uint64_t(0));
  llvm::Value *expected = b.CreateAdd(e.splat(first, sliver.width), e.iota(first->getType(), sliver.width));
  ev.consecutive[indices] = b.CreateSub(b.CreateSExtOrTrunc(first, b.getInt64Ty()), sliver.first);
  return b.CreateAndReduce(b.CreateICmpEQ(values, expected));
}

/// True (at run time) if every interval of the operand's own accesses covers the whole tile and the sliver's elements lie side by side;
/// `known` lists the intervals. Null: nothing to ask.
llvm::Value *DotEmitter::inside(const DotOperand &operand, const Sliver &sliver, SmallVectorImpl<KnownBound> &known) {
  llvm::Value *all = nullptr;
  unsigned sliverDim = tile::shapeOf(operand.tile.getType()).size() - (operand.isA ? 2 : 1);
  SmallVector<Value> work{operand.tile};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value tile = work.pop_back_val();
    Operation *def = tile.getDefiningOp();
    if (!def || !isa<RankedTensorType>(tile.getType()) || !ev.plan.isVirtual(tile) || !seen.insert(tile).second)
      continue;
    if (isElementwise(def))
      llvm::append_range(work, def->getOperands());
    auto load = dyn_cast<tile::LoadOp>(def);
    auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    if (!access)
      continue;
    if (!operand.across && !access.isStrided(sliverDim))
      all = e.band(all, consecutive(access.getSteps()[sliverDim], sliver));
    for (auto [d, size] : llvm::enumerate(tile::shapeOf(tile.getType()))) {
      OperandRange bound = access.getBound(d);
      if (bound.size() != 2)
        continue;
      known.push_back({bound[0], bound[1], int(d)});
      llvm::Value *covers =
          b.CreateAnd(b.CreateICmpSLE(ev.wide(bound[0]), i64(0)), b.CreateICmpSGE(ev.wide(bound[1]), i64(size)));
      all = e.band(all, covers);
    }
  }
  return all;
}

void DotEmitter::packStep(const DotOperand &operand, const Sliver &sliver, llvm::Value *batch) {
  auto part = [&](const Sliver &sliver, int64_t first, int64_t count, bool half) {
    PackSource source;
    auto at = [&](bool alongK) {
      return [&, alongK](llvm::Value *position, llvm::Value *k, unsigned n) {
        if (first)
          k = b.CreateAdd(k, i64(first));
        return plan.pack == 2 ? fetchPairs(operand, batch, position, k, n, alongK, half)
                              : toCompute(fetch(operand, batch, position, k, n, alongK), operand, n);
      };
    };
    source.alongSliver = at(false);
    source.alongK = at(true);
    source.enterLoop = [&](llvm::Instruction *end) { ev.enterLoop(end); };
    source.leaveLoop = [&] { ev.leaveLoop(); };
    ev.forget();
    if (count)
      packSliver(b, compute, plan.blocking.lanes, sliver, count, operand.across, source);
    ev.forget();
  };
  auto pack = [&] {
    part(sliver, 0, plan.k / plan.pack, false);
    if (int64_t whole = plan.k / plan.pack; whole != plan.packedK()) {
      Sliver last = sliver;
      last.dst = element(sliver.dst, i64(whole * sliver.padded));
      part(last, whole, 1, true);
    }
  };
  SmallVector<KnownBound> known;
  llvm::Value *whole = inside(operand, sliver, known);
  auto general = [&] {
    ev.known.clear();
    ev.consecutive.clear();
    pack();
  };
  if (!whole)
    return general();
  ev.known = known;
  emitIf(b, whole, pack, general);
}

void DotEmitter::enterStep(llvm::Value *step) {
  if (!contract)
    return;
  ev.scalars[contract.getBody().front().getArgument(0)] = step;
  ev.forget();
  around.emitBlock(contract.getBody().front());
  ev.forget();
}

// A piece of an operand that is contiguous along K is a sliver: few streams, each read to its end. Else it is some steps of K: every row
// is read across all slivers before the next page.
llvm::Value *DotEmitter::piecesOf(const DotOperand &operand, llvm::Value *from, llvm::Value *to) {
  if (operand.across)
    return live[operand.isA] ? live[operand.isA] : i64(cut(operand).pieces);
  return b.CreateUDiv(b.CreateAdd(b.CreateSub(to, from), i64(stepsPerPiece() - 1)), i64(stepsPerPiece()));
}

void DotEmitter::packPiece(const DotOperand &operand, llvm::Value *memory, llvm::Value *piece, llvm::Value *batch,
                           llvm::Value *from, llvm::Value *to) {
  llvm::Value *depth = b.CreateMul(b.CreateSub(to, from), i64(plan.packedK()));
  unsigned unit = cut(operand).unit;
  auto packAt = [&](llvm::Value *step, llvm::Value *first, unsigned width) {
    unsigned padded = (width + unit - 1) / unit * unit;
    llvm::Value *offset = b.CreateMul(b.CreateSub(step, from), i64(plan.packedK() * padded));
    packStep(operand, {element(memory, b.CreateAdd(b.CreateMul(first, depth), offset)), first, width, padded}, batch);
  };
  if (!operand.across) {
    llvm::Value *begin = b.CreateAdd(from, b.CreateMul(piece, i64(stepsPerPiece())));
    llvm::Value *end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateAdd(begin, i64(stepsPerPiece())), to);
    emitLoop(b, begin, end, 1, [&](llvm::Value *step) {
      enterStep(step);
      forPieces(operand.isA, [&](llvm::Value *, llvm::Value *first, unsigned width) { packAt(step, first, width); });
    });
    return;
  }
  llvm::Value *first = startOf(cut(operand), piece);
  forWidth(cut(operand), piece, [&](unsigned width) {
    emitLoop(b, from, to, 1, [&](llvm::Value *step) {
      enterStep(step);
      packAt(step, first, width);
    });
  });
}

llvm::Value *DotEmitter::panel(const DotOperand &operand, llvm::Value *batch, llvm::Value *from, llvm::Value *to,
                               llvm::Value *&handle) {
  llvm::Value *pieces = piecesOf(operand, from, to);
  auto *ptr = b.getPtrTy();
  auto *i64Type = b.getInt64Ty();
  handle = nullptr;
  if (!operand.shared) {
    llvm::Value *memory = ev.scratchPointer(operand.panel.buffer);
    emitLoop(b, i64(0), pieces, 1, [&](llvm::Value *piece) { packPiece(operand, memory, piece, batch, from, to); });
    return memory;
  }
  // The key: which operand of the kernel, which part of K, where in the batch, and the scalars its elements depend on.
  SmallVector<llvm::Value *> words{i64(number() * 2 + operand.isA), from, to, batch};
  if (live[operand.isA])
    words.push_back(live[operand.isA]); // a panel holds no more than the live pieces
  for (Value scalar : operand.key) {
    llvm::Value *value = ev.scalar(scalar);
    if (value->getType()->isPointerTy())
      value = b.CreatePtrToInt(value, i64Type);
    else if (value->getType()->isFloatingPointTy())
      value = b.CreateBitCast(value, b.getIntNTy(value->getType()->getPrimitiveSizeInBits()));
    words.push_back(b.CreateZExtOrTrunc(value, i64Type));
  }
  llvm::Value *key;
  {
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    llvm::BasicBlock &entry = b.GetInsertBlock()->getParent()->getEntryBlock();
    b.SetInsertPoint(&entry, entry.begin());
    key = b.CreateAlloca(llvm::ArrayType::get(i64Type, words.size()));
  }
  for (auto [i, word] : llvm::enumerate(words))
    b.CreateStore(word, b.CreateConstInBoundsGEP1_64(i64Type, key, i));
  llvm::Value *depth = b.CreateMul(b.CreateSub(to, from), i64(plan.packedK()));
  llvm::Value *size = b.CreateMul(depth, i64(int64_t(cut(operand).start(cut(operand).pieces)) * bytes));
  auto runtime = [&](const char *name, llvm::Type *result, llvm::ArrayRef<llvm::Type *> types) {
    return e.module.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  };
  handle = b.CreateCall(runtime("tilery_rt_panel", ptr, {ptr, ptr, i64Type, i64Type, i64Type}),
                        {around.launch, key, i64(words.size()), size, pieces});
  llvm::Value *memory = b.CreateLoad(ptr, handle);
  llvm::FunctionCallee next = runtime("tilery_rt_panel_piece", i64Type, {ptr, i64Type});
  llvm::Value *first = b.CreateCall(next, {handle, i64(-1)});
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto *head = b.GetInsertBlock(), *loop = llvm::BasicBlock::Create(b.getContext(), "pack", function),
       *done = llvm::BasicBlock::Create(b.getContext(), "packed", function);
  b.CreateCondBr(b.CreateICmpSGE(first, i64(0)), loop, done);
  b.SetInsertPoint(loop);
  llvm::PHINode *piece = b.CreatePHI(i64Type, 2);
  piece->addIncoming(first, head);
  packPiece(operand, memory, piece, batch, from, to);
  llvm::Value *following = b.CreateCall(next, {handle, piece});
  piece->addIncoming(following, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSGE(following, i64(0)), loop, done);
  b.SetInsertPoint(done);
  return memory;
}

/// Which dot of its kernel this is.
int64_t DotEmitter::number() {
  int64_t count = 0, own = 0;
  op->getParentOfType<tile::KernelOp>().walk([&](Operation *each) {
    if (each == op)
      own = count;
    count += isa<tile::DotOp, tile::ContractOp>(each);
  });
  return own;
}

void DotEmitter::emitBatch(llvm::Value *batch, llvm::Value *tile, llvm::Value *steps) {
  auto block = [&](llvm::Value *from, llvm::Value *to, llvm::Value *accumulate) {
    llvm::Value *handleA, *handleB;
    llvm::Value *a = panel(plan.a, batch, from, to, handleA), *bPanel = panel(plan.b, batch, from, to, handleB);
    llvm::Value *depth = b.CreateMul(b.CreateSub(to, from), i64(plan.packedK()));
    emitTiles(a, bPanel, depth, depthInUse(to, depth), tile, accumulate);
    auto release = e.module.getOrInsertFunction("tilery_rt_panel_release",
                                                llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}, false));
    for (llvm::Value *handle : {handleA, handleB})
      if (handle)
        b.CreateCall(release, {around.launch, handle});
  };
  if (!contract) {
    llvm::Value *accumulate = b.getInt1(!plan.startsAtZero);
    if (Value clear = cast<tile::DotOp>(op).getClear(); clear && !plan.startsAtZero)
      accumulate = b.CreateNot(ev.scalar(clear));
    return block(i64(0), i64(1), accumulate);
  }
  emitLoop(b, i64(0), steps, plan.stepsPerBlock, [&](llvm::Value *from) {
    llvm::Value *to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateAdd(from, i64(plan.stepsPerBlock)), steps);
    block(from, to, plan.startsAtZero ? b.CreateICmpSGT(from, i64(0)) : b.getTrue());
  });
  if (plan.startsAtZero)
    emitIf(b, b.CreateICmpSLE(steps, i64(0)),
           [&] { b.CreateMemSet(tile, b.getInt8(0), plan.m * plan.n * bytes, llvm::MaybeAlign(bytes)); });
}

/// True (at run time) if the whole tile exists where its store puts it, row after row. Null if the store shares its nest with others.
llvm::Value *DotEmitter::placeOfStore(llvm::Value *steps, llvm::Value *&place, llvm::Value *&stride) {
  bool alone = false;
  for (const Step &step : ev.plan.steps.lookup(op->getBlock()))
    alone |= !step.op && step.nest.sinks.size() == 1 && step.nest.sinks[0].op == plan.directStore;
  if (!alone)
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
  ev.forget();
  e.at(op->getLoc());
  mlir::Type type = elementOf(op->getResult(0));
  bool narrow = type != plan.compute;
  llvm::Value *result = ev.scratchPointer(ev.plan.storage.lookup(op->getResult(0))), *tiles = result;
  if (narrow) {
    tiles = ev.scratchPointer(plan.sums.buffer);
    if (!plan.startsAtZero)
      convertTile(type, result, plan.compute, tiles);
  }
  llvm::Value *steps = contract ? ev.wide(contract.getSteps()) : i64(1);
  ldc = i64(plan.n);
  for (bool ofRows : {false, true})
    live[ofRows] = livePieces(ofRows);
  if (plan.directStore) {
    llvm::Value *place, *stride;
    if (llvm::Value *direct = placeOfStore(steps, place, stride)) {
      tiles = b.CreateSelect(direct, place, tiles);
      ldc = b.CreateSelect(direct, stride, ldc);
      ev.done[plan.directStore] = direct;
    }
  }
  auto batch = [&](llvm::Value *index) { emitBatch(index, element(tiles, b.CreateMul(index, i64(plan.m * plan.n))), steps); };
  if (plan.batch == 1)
    batch(i64(0));
  else
    emitLoop(b, i64(0), i64(plan.batch), 1, batch);
  if (narrow)
    convertTile(plan.compute, tiles, type, result);
  ev.forget();
}

} // namespace

void emitDot(Evaluator &evaluator, mlir::Operation *op, const DotPlan &plan, const DotSurroundings &around) {
  DotEmitter(evaluator, op, plan, around).run();
}

} // namespace tilery::cpu
