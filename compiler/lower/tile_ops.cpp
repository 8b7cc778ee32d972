// Ops on whole tiles that are no nests: extract, scan, sort, histogram.
#include "compiler/lower/codegen.h"
#include "compiler/lower/sort_keys.h"
#include "compiler/lower/loop.h"

using namespace mlir;

namespace tilery::lower {

void KernelEmitter::extractOp(tile::ExtractOp op) {
  auto &b = e.b;
  Lanes inside = nullptr;
  Point point = elementPoint(op.getIndices(), tile::shapeOf(op.getValue().getType()), inside);
  for (Index &index : point) // an index outside the tile reads lane 0, then gives 0
    if (inside)
      index.base = b.CreateSelect(inside, index.base, e.i64(0));
  Lanes value = evaluator.value(op.getValue(), point);
  evaluator.scalars[op] = inside ? b.CreateSelect(inside, value, llvm::Constant::getNullValue(value->getType())) : value;
}

void KernelEmitter::scanOp(tile::ScanOp op) {
  auto &b = e.b;
  ArrayRef<int64_t> shape = tile::shapeOf(op.getOperands()[0].getType());
  uint64_t axis = op.getAxis();
  SmallVector<int64_t> others(shape);
  others[axis] = 1;
  forEach(others, [&](ArrayRef<Index> outer) {
    auto pointAt = [&](llvm::Value *i) {
      Point point(outer);
      point[axis] = Index{op.getReverse() ? b.CreateSub(e.i64(shape[axis] - 1), i) : i, 0, nullptr, evaluator.levels.current()};
      return point;
    };
    auto operands = [&](const Point &point) {
      SmallVector<Lanes> values;
      for (Value operand : op.getOperands())
        values.push_back(evaluator.value(operand, point));
      return values;
    };
    auto write = [&](const Point &point, ArrayRef<Lanes> values) {
      for (auto [value, result] : llvm::zip(values, op.getResults()))
        evaluator.memory.store(evaluator.addresses.ofStored(plan.storage.lookup(result), shape, point), value);
    };
    Point first = pointAt(e.i64(0));
    SmallVector<Lanes> start = operands(first);
    write(first, start);
    nests.loop(e.i64(1), e.i64(shape[axis]), 1, false, start, [&](llvm::Value *i, ArrayRef<Lanes> before) {
      Point point = pointAt(i);
      SmallVector<Lanes> fresh = operands(point), after;
      if (!emitCombine(e, op.getCombine(), before, fresh, after, [&](Value v) { return evaluator.scalar(v); })) {
        evaluator.failed = true;
        return SmallVector<Lanes>(before);
      }
      write(point, after);
      return after;
    });
  });
}

llvm::Value *KernelEmitter::sortsBefore(tile::SortOp op, Lanes x, Lanes y) {
  return e.b.CreateICmpSLT(sortKey(e, op, x), sortKey(e, op, y));
}

// Insertion sort along the axis, in place in the result's buffer, which has room for those that are kept.
void KernelEmitter::sortOp(tile::SortOp op) {
  auto &b = e.b;
  ArrayRef<int64_t> shape = tile::shapeOf(op.getType());
  uint64_t axis = op.getAxis();
  int64_t count = tile::shapeOf(op.getValue().getType())[axis], kept = shape[axis];
  int buffer = plan.storage.lookup(op.getResult());
  SmallVector<int64_t> others(shape);
  others[axis] = 1;
  forEach(others, [&](ArrayRef<Index> outer) {
    nests.loop(e.i64(0), e.i64(count), 1, false, {}, [&](llvm::Value *i, ArrayRef<Lanes>) {
      Point point(outer);
      auto at = [&](llvm::Value *position) {
        point[axis] = Index{position, 0, nullptr, evaluator.levels.current()};
        return evaluator.addresses.ofStored(buffer, shape, point);
      };
      point[axis] = Index{i, 0, nullptr, evaluator.levels.current()};
      Lanes fresh = evaluator.value(op.getValue(), point);
      llvm::BasicBlock *head = newBlock(), *compare = newBlock(), *move = newBlock(), *place = newBlock(), *done = newBlock();
      llvm::Value *start = i;
      if (kept < count) { // once all places are taken, the last one is freed by what comes before it
        llvm::BasicBlock *full = newBlock(), *enters = newBlock();
        b.CreateCondBr(b.CreateICmpSGE(i, e.i64(kept)), full, enters);
        b.SetInsertPoint(full);
        b.CreateCondBr(sortsBefore(op, fresh, evaluator.memory.load(at(e.i64(kept - 1)))), enters, done);
        b.SetInsertPoint(enters);
        start = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, i, e.i64(kept - 1));
      }
      Loop loop(b, head, place);
      loop.enter();
      llvm::PHINode *hole = loop.carry(start);
      b.CreateCondBr(b.CreateICmpSGT(hole, e.i64(0)), compare, place);
      b.SetInsertPoint(compare);
      llvm::Value *left = b.CreateSub(hole, e.i64(1));
      Lanes other = evaluator.memory.load(at(left));
      b.CreateCondBr(sortsBefore(op, fresh, other), move, place);
      b.SetInsertPoint(move);
      evaluator.memory.store(at(hole), other);
      loop.repeat(left);
      loop.leave();
      evaluator.memory.store(at(hole), fresh);
      b.CreateBr(done);
      b.SetInsertPoint(done);
      return SmallVector<Lanes>();
    });
  });
}

void KernelEmitter::histogramOp(tile::HistogramOp op) {
  auto &b = e.b;
  auto result = cast<RankedTensorType>(op.getType());
  int buffer = plan.storage.lookup(op.getResult());
  llvm::Type *count = e.valueType(result.getElementType());
  forEach(result.getShape(), [&](ArrayRef<Index> point) {
    evaluator.memory.store(evaluator.addresses.ofStored(buffer, result.getShape(), point), llvm::Constant::getNullValue(count));
  });
  forEach(tile::shapeOf(op.getValue().getType()), [&](ArrayRef<Index> point) {
    llvm::Value *bin = b.CreateSExtOrTrunc(evaluator.value(op.getValue(), point), b.getInt64Ty());
    llvm::Value *counted = b.CreateICmpULT(bin, e.i64(result.getDimSize(0)));
    if (op.getMask())
      counted = b.CreateAnd(counted, evaluator.value(op.getMask(), point));
    when(counted, [&] {
      Address where =
          evaluator.addresses.ofStored(buffer, result.getShape(), {Index{bin, 0, nullptr, evaluator.levels.current()}});
      evaluator.memory.store(where, b.CreateAdd(evaluator.memory.load(where), llvm::ConstantInt::get(count, 1)));
    });
  });
}

} // namespace tilery::lower
