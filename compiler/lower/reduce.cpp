// Reductions along the last dimension. The order of TileReduce.td: partial j of 64 takes the lanes with index = j mod 64 in increasing
// index, then a fixed tree over the partials. Any vector width, tile size and bound give the same bits.
#include "compiler/explain/findings.h"
#include "compiler/lower/interleave.h"
#include "compiler/lower/nest.h"

using namespace mlir;

namespace tilery::lower {
llvm::Constant *identityOf(Emitter &e, tile::ReduceOp reduce) {
  Block &block = reduce.getCombine().front();
  if (reduce.getNumOperands() != 1 || !llvm::hasNItems(block, 2))
    return nullptr;
  Operation *op = &block.front();
  if (op->getNumOperands() != 2 || op->getOperand(0) != block.getArgument(0) || op->getOperand(1) != block.getArgument(1) ||
      block.getTerminator()->getOperand(0) != op->getResult(0))
    return nullptr;
  Type type = block.getArgument(0).getType();
  auto real = [&](double value) { return e.constant(FloatAttr::get(type, value), type); };
  auto whole = [&](const llvm::APInt &value) -> llvm::Constant * { return llvm::ConstantInt::get(e.context(), value); };
  unsigned bits = type.getIntOrFloatBitWidth();
  double inf = std::numeric_limits<double>::infinity();
  return llvm::TypeSwitch<Operation *, llvm::Constant *>(op)
      .Case<arith::AddFOp>([&](auto) { return real(-0.0); })
      .Case<arith::MulFOp>([&](auto) { return real(1.0); })
      .Case<arith::MaximumFOp>([&](auto) { return real(-inf); })
      .Case<arith::MinimumFOp>([&](auto) { return real(inf); })
      .Case<arith::MaxNumFOp, arith::MinNumFOp>([&](auto) { return real(std::numeric_limits<double>::quiet_NaN()); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>([&](auto) { return whole(llvm::APInt(bits, 0)); })
      .Case<arith::MulIOp>([&](auto) { return whole(llvm::APInt(bits, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>([&](auto) { return whole(llvm::APInt::getAllOnes(bits)); })
      .Case<arith::MaxSIOp>([&](auto) { return whole(llvm::APInt::getSignedMinValue(bits)); })
      .Case<arith::MinSIOp>([&](auto) { return whole(llvm::APInt::getSignedMaxValue(bits)); })
      .Default([](Operation *) { return nullptr; });
}

RowReduction::RowReduction(Evaluator &evaluator, tile::ReduceOp op, unsigned lanes)
    : op(op), evaluator(evaluator), e(evaluator.e), lanes(lanes) {
  count = cast<RankedTensorType>(op.getOperands()[0].getType()).getShape().back();
  pieces = llvm::divideCeil(std::min(count, chunk), lanes);
  if (llvm::Constant *identity = identityOf(e, op))
    identities.push_back(identity);
}

SmallVector<Lanes> RowReduction::start() {
  SmallVector<Lanes> partials;
  for (Value operand : op.getOperands())
    for (unsigned p = 0; p < pieces; ++p) {
      llvm::Constant *value = identities.empty() ? llvm::Constant::getNullValue(e.valueType(elementOf(operand))) : identities[0];
      partials.push_back(lanes == 1 ? value : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes), value));
    }
  return partials;
}

SmallVector<Lanes> RowReduction::combine(ArrayRef<Lanes> left, ArrayRef<Lanes> right) {
  SmallVector<Lanes> result;
  if (!emitCombine(e, op.getCombine(), left, right, result, [&](Value v) { return evaluator.scalar(v); })) {
    evaluator.failed = true;
    return SmallVector<Lanes>(left);
  }
  for (auto [value, like] : llvm::zip(result, left))
    value = e.splat(value, e.lanesOf(like));
  return result;
}

void RowReduction::accumulate(llvm::MutableArrayRef<Lanes> partials, unsigned piece, ArrayRef<Lanes> values, Lanes limit,
                              llvm::Value *isFirst) {
  auto &b = e.b;
  unsigned n = op.getNumOperands(), own = evaluator.width();
  SmallVector<Lanes> before, fresh;
  for (unsigned i = 0; i < n; ++i) {
    before.push_back(partials[i * pieces + piece]);
    Lanes value = e.splat(values[i], own);
    if (own < lanes) { // the short end of a short row: pad
      SmallVector<int> mask;
      for (unsigned l = 0; l < lanes; ++l)
        mask.push_back(std::min(l, own));
      llvm::Type *padded = llvm::FixedVectorType::get(value->getType()->getScalarType(), own);
      if (own == 1)
        value = b.CreateInsertElement(llvm::PoisonValue::get(padded), value, uint64_t(0));
      value = b.CreateShuffleVector(value, llvm::Constant::getNullValue(padded), mask);
    }
    fresh.push_back(value);
  }
  SmallVector<Lanes> after;
  if (count <= chunk)
    after = fresh; // every partial has one lane
  else
    after = combine(before, fresh);
  for (unsigned i = 0; i < n; ++i) {
    Lanes value = after[i];
    if (count > chunk && identities.empty())
      value = b.CreateSelect(isFirst, fresh[i], value);
    if (limit)
      value = b.CreateSelect(limit, value, before[i]);
    partials[i * pieces + piece] = value;
  }
}

SmallVector<Lanes> RowReduction::finish(ArrayRef<Lanes> partials) {
  auto &b = e.b;
  unsigned n = op.getNumOperands();
  int64_t exist = std::min(count, chunk);
  SmallVector<SmallVector<Lanes>> tree(n);
  for (unsigned i = 0; i < n; ++i)
    tree[i].assign(partials.begin() + i * pieces, partials.begin() + (i + 1) * pieces);
  // left[p] = combine(left[p], right[p]) for the lanes below `live`.
  auto step = [&](SmallVector<Lanes> left, SmallVector<Lanes> right, unsigned width, int64_t live) {
    SmallVector<Lanes> combined = combine(left, right);
    if (live < int64_t(width)) {
      SmallVector<llvm::Constant *> mask;
      for (unsigned l = 0; l < width; ++l)
        mask.push_back(b.getInt1(int64_t(l) < live));
      for (auto [value, old] : llvm::zip(combined, left))
        value = b.CreateSelect(llvm::ConstantVector::get(mask), value, old);
    }
    return combined;
  };
  for (int64_t s = chunk / 2; s >= 1; s /= 2) {
    if (exist <= s && s >= int64_t(lanes))
      continue;
    if (s >= int64_t(lanes)) {
      for (unsigned p = 0; p < s / lanes; ++p) {
        int64_t live = std::min<int64_t>(exist - (p * lanes + s), lanes);
        if (live <= 0)
          continue;
        SmallVector<Lanes> left, right;
        for (unsigned i = 0; i < n; ++i) {
          left.push_back(tree[i][p]);
          right.push_back(tree[i][p + s / lanes]);
        }
        left = step(left, right, lanes, live);
        for (unsigned i = 0; i < n; ++i)
          tree[i][p] = left[i];
      }
    } else {
      SmallVector<Lanes> left, right;
      for (unsigned i = 0; i < n; ++i) {
        left.push_back(e.slice(tree[i][0], 0, s));
        right.push_back(e.slice(tree[i][0], s, s));
      }
      if (exist > s)
        left = step(left, right, s, exist - s);
      for (unsigned i = 0; i < n; ++i)
        tree[i][0] = left[i];
    }
    exist = std::min(exist, s);
  }
  SmallVector<Lanes> results;
  for (unsigned i = 0; i < n; ++i)
    results.push_back(tree[i][0]);
  return results;
}

SmallVector<Value> NestEmitter::scalarResults() const {
  SmallVector<Value> results;
  for (const RowReduction &reduction : reductions)
    llvm::copy_if(tile::ReduceOp(reduction.op).getResults(), std::back_inserter(results),
                  [](Value result) { return !isa<RankedTensorType>(result.getType()); });
  return results;
}

// A row of so few vectors that there is no loop: once for rows that are there from end to end, and once with masks.
void NestEmitter::shortRow(ArrayRef<KnownBound> bounds) {
  auto &b = e.b;
  int64_t size = nest->shape[innerDim];
  llvm::Value *all = there;
  for (const KnownBound &bound : bounds)
    all = e.band(all, b.CreateAnd(b.CreateICmpSLE(evaluator.wide(bound.lo), e.i64(0)),
                                  b.CreateICmpSGE(evaluator.wide(bound.hi), e.i64(size))));
  SmallVector<SmallVector<llvm::Value *>> results;
  SmallVector<llvm::BasicBlock *> ends;
  twice(all ? all : b.getTrue(), [&](bool holds) {
    auto known = [&](ArrayRef<KnownBound> bounds) { return holds ? bounds : ArrayRef<KnownBound>(); };
    Evaluator::Assumption hold(evaluator, known(bounds)), rowsHold(evaluator, known(around));
    partials.clear();
    for (RowReduction &reduction : reductions)
      partials.append(reduction.start());
    firstChunk = nullptr;
    for (int64_t j = 0; j < size; j += lanes) {
      piece = j / lanes;
      body(e.i64(j), j, std::min<int64_t>(lanes, size - j), nullptr);
    }
    finishRow(partials);
    auto &own = results.emplace_back();
    for (Value scalar : scalarResults())
      own.push_back(evaluator.scalars.lookup(scalar));
    ends.push_back(b.GetInsertBlock());
  });
  if (ends.size() == 1)
    return;
  for (auto [i, scalar] : llvm::enumerate(scalarResults())) {
    llvm::PHINode *either = b.CreatePHI(results[0][i]->getType(), 2);
    for (auto [values, block] : llvm::zip(results, ends))
      either->addIncoming(values[i], block);
    evaluator.scalars[scalar] = either;
  }
}

void NestEmitter::reduceChunk(llvm::Value *j, llvm::function_ref<Lanes(llvm::Value *)> limit) {
  auto &b = e.b;
  firstChunk = b.CreateICmpEQ(j, e.i64(0));
  auto emitPiece = [&](unsigned p) {
    piece = p;
    llvm::Value *at = p ? b.CreateAdd(j, e.i64(int64_t(p) * lanes), "", true, true) : j;
    body(at, lanes, lanes, limit ? limit(at) : nullptr);
  };
  unsigned count = RowReduction::chunk / lanes, together = std::min(sideBySide, count);
  for (unsigned p = 0; p < count; p += together)
    emitInterleaved(b, together, [&](unsigned i) { emitPiece(p + i); });
  if (!limit)
    prefetch(j, RowReduction::chunk);
}

void NestEmitter::innerReducing(ArrayRef<KnownBound> bounds) {
  explain::way("along rows");
  if (nest->shape[innerDim] <= RowReduction::chunk)
    return shortRow(bounds);
  partials.clear();
  for (RowReduction &reduction : reductions)
    partials.append(reduction.start());
  SmallVector<Steady> values = steadyInRow();
  if (values.empty()) {
    reduceInOrder(bounds);
    return finishRow(partials);
  }
  SmallVector<Lanes> start(partials);
  SmallVector<SmallVector<Lanes>> results;
  SmallVector<llvm::BasicBlock *> ends;
  llvm::Value *areLong =
      Segments(evaluator, values, point, innerDim, nest->shape[innerDim]).areLong(std::max(lanes, leastSegment));
  twice(areLong, [&](bool segments) {
    partials = start;
    segments ? reduceInSegments(values, bounds) : reduceInOrder(bounds);
    results.push_back(partials);
    ends.push_back(e.b.GetInsertBlock());
  });
  if (ends.size() == 2)
    for (auto [partial, first, second] : llvm::zip_equal(partials, results[0], results[1])) {
      llvm::PHINode *either = e.b.CreatePHI(first->getType(), 2);
      either->addIncoming(first, ends[0]);
      either->addIncoming(second, ends[1]);
      partial = either;
    }
  finishRow(partials);
}

void NestEmitter::reduceInOrder(ArrayRef<KnownBound> bounds) {
  auto &b = e.b;
  int64_t size = nest->shape[innerDim];
  auto limit = [&](llvm::Value *at) -> Lanes {
    llvm::Value *left = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateSub(e.i64(size), at), e.i64(lanes));
    llvm::Type *narrow = b.getInt32Ty();
    return lanes == 1 ? b.CreateICmpSGT(left, e.i64(0))
                      : b.CreateICmpSLT(e.iota(narrow, lanes), e.splat(b.CreateTrunc(left, narrow), lanes));
  };
  auto run = [&](llvm::Value *&j, llvm::Value *to, bool whole, bool limited) {
    SmallVector<Lanes> start(partials);
    partials = loop(
        j, to, RowReduction::chunk, whole, start,
        [&](llvm::Value *at, ArrayRef<Lanes> carried) {
          partials.assign(carried.begin(), carried.end());
          reduceChunk(at, limited ? llvm::function_ref<Lanes(llvm::Value *)>(limit) : nullptr);
          return SmallVector<Lanes>(partials);
        },
        &j);
  };
  rowEnd = cut();
  llvm::Value *j = e.i64(0);
  Range sure{e.i64(0), e.i64(size)};
  for (const KnownBound &bound : bounds) {
    Range own = clamp(bound, size);
    if (auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(own.from); !fixed || !fixed->isZero())
      sure.from = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, sure.from, own.from);
    sure.to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, sure.to, own.to);
  }
  bool ragged = size % RowReduction::chunk != 0;
  if (there)
    sure.to = b.CreateSelect(there, sure.to, e.i64(0));
  if (!llvm::isa<llvm::ConstantInt>(sure.from))
    run(j, sure.from, false, ragged);
  {
    Evaluator::Assumption hold(evaluator, bounds), rowsHold(evaluator, around);
    run(j, sure.to, true, false);
  }
  run(j, e.i64(size), false, ragged);
  rowEnd = nullptr;
}

void NestEmitter::finishRow(ArrayRef<Lanes> all) {
  Evaluator::Vector single(evaluator, 1);
  unsigned from = 0;
  for (RowReduction &reduction : reductions) {
    e.at(reduction.op.getLoc());
    SmallVector<Lanes> results = reduction.finish(all.slice(from, reduction.size()));
    from += reduction.size();
    for (auto [result, value] : llvm::zip(reduction.op.getResults(), results)) {
      auto tensor = dyn_cast<RankedTensorType>(result.getType());
      if (!tensor) {
        evaluator.scalars[result] = value;
        continue;
      }
      Point outer(point.begin(), point.end() - 1);
      evaluator.memory.store(evaluator.addresses.ofStored(evaluator.plan.storage.lookup(result), tensor.getShape(), outer),
                             value);
    }
  }
}

} // namespace tilery::lower
