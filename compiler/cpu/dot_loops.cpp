// dot and contract as plain loops: one row and a few vectors of columns at a time, accumulators in registers, products in increasing k.
#include "compiler/cpu/codegen.h"

using namespace mlir;

namespace tilery::cpu {

void KernelEmitter::convertBuffer(int from, int to, int64_t elements) {
  forEach({elements}, [&](ArrayRef<Index> point) {
    Type source = plan.buffers[from].element, target = plan.buffers[to].element;
    Lanes value = evaluator.load(evaluator.scratchAddress(from, {elements}, point));
    value = source.isF32() ? e.narrowFloat(value, target) : e.widenFloat(value, source);
    evaluator.store(evaluator.scratchAddress(to, {elements}, point), value);
  });
}

// acc (in the op's own buffer) += a * b.
void KernelEmitter::multiplyTiles(Operation *op, Value a, Value b, bool aUnsigned, bool bUnsigned) {
  auto &ir = e.b;
  Value result = op->getResult(0);
  ArrayRef<int64_t> shape = tile::shapeOf(result.getType());
  int64_t k = tile::shapeOf(a.getType()).back(), n = shape.back();
  int buffer = plan.storage.lookup(result);
  if (auto temporary = plan.temporaries.lookup(op); !temporary.empty())
    buffer = temporary[0];
  Type compute = plan.buffers[buffer].element;
  auto convert = [&](Lanes value, Type from, bool isUnsigned) -> Lanes {
    llvm::Type *type = e.vectorOf(e.valueType(compute), e.lanesOf(value));
    if (from.isInteger())
      return isUnsigned ? ir.CreateZExtOrTrunc(value, type) : ir.CreateSExtOrTrunc(value, type);
    if (from.getIntOrFloatBitWidth() == 16)
      value = e.widenFloat(value, from);
    return ir.CreateFPCast(value, type);
  };
  unsigned lanes = std::min<int64_t>(n, e.options.target.lanes(compute.getIntOrFloatBitWidth()));
  SmallVector<int64_t> rows(shape.begin(), shape.end() - 1);
  forEach(rows, [&](ArrayRef<Index> row) {
    auto columns = [&](llvm::Value *j, unsigned width, unsigned vectors) {
      Point at(row);
      at.push_back({});
      SmallVector<Index> places;
      SmallVector<Lanes> acc;
      evaluator.lanes = width;
      for (unsigned v = 0; v < vectors; ++v) {
        places.push_back(Index{ir.CreateAdd(j, e.i64(v * width)), width == 1 ? 0 : 1, nullptr, evaluator.level()});
        at.back() = places.back();
        acc.push_back(evaluator.load(evaluator.scratchAddress(buffer, shape, at)));
      }
      acc = nests.loop(e.i64(0), e.i64(k), 1, false, acc, [&](llvm::Value *kk, ArrayRef<Lanes> carried) {
        SmallVector<Lanes> next;
        Index step{kk, 0, nullptr, evaluator.level()};
        Point left(row);
        left.push_back(step);
        Lanes x = convert(evaluator.value(a, left), elementOf(a), aUnsigned);
        for (unsigned v = 0; v < vectors; ++v) {
          Point right(row.begin(), row.end() - 1);
          right.push_back(step);
          right.push_back(places[v]);
          Lanes y = convert(evaluator.value(b, right), elementOf(b), bUnsigned);
          Lanes both[] = {x, y};
          e.unify(both);
          bool real = isa<FloatType>(compute);
          next.push_back(real ? ir.CreateFAdd(carried[v], ir.CreateFMul(both[0], both[1]))
                              : ir.CreateAdd(carried[v], ir.CreateMul(both[0], both[1])));
        }
        return next;
      });
      for (unsigned v = 0; v < vectors; ++v) {
        at.back() = places[v];
        evaluator.store(evaluator.scratchAddress(buffer, shape, at), acc[v]);
      }
      evaluator.lanes = 1;
    };
    int64_t done = 0;
    for (unsigned vectors : {4u, 1u}) {
      int64_t width = lanes * vectors, end = done + (n - done) / width * width;
      nests.loop(e.i64(done), e.i64(end), width, false, {}, [&](llvm::Value *j, ArrayRef<Lanes>) {
        columns(j, lanes, vectors);
        return SmallVector<Lanes>();
      });
      done = end;
    }
    if (done < n)
      columns(e.i64(done), n - done, 1);
  });
}

void KernelEmitter::dotOp(tile::DotOp op) {
  int buffer = plan.storage.lookup(op.getResult());
  auto type = cast<RankedTensorType>(op.getType());
  if (op.getClear())
    when(evaluator.scalar(op.getClear()), [&] {
      forEach({type.getNumElements()}, [&](ArrayRef<Index> point) {
        evaluator.store(evaluator.scratchAddress(buffer, {type.getNumElements()}, point),
                        llvm::Constant::getNullValue(e.valueType(type.getElementType())));
      });
    });
  auto temporary = plan.temporaries.lookup(op);
  if (!temporary.empty())
    convertBuffer(buffer, temporary[0], type.getNumElements());
  multiplyTiles(op, op.getA(), op.getB(), op.getAUnsigned(), op.getBUnsigned());
  if (!temporary.empty())
    convertBuffer(temporary[0], buffer, type.getNumElements());
}

bool KernelEmitter::contractOp(tile::ContractOp op) {
  auto &b = e.b;
  int buffer = plan.storage.lookup(op.getResult());
  int64_t elements = cast<RankedTensorType>(op.getType()).getNumElements();
  auto temporary = plan.temporaries.lookup(op);
  if (!temporary.empty())
    convertBuffer(buffer, temporary[0], elements);
  Block &body = op.getBody().front();
  llvm::Value *steps = evaluator.scalar(op.getSteps());
  llvm::BasicBlock *before = b.GetInsertBlock(), *start = newBlock("contract"), *exit = newBlock();
  b.CreateCondBr(b.CreateICmpSLT(e.i64(0), steps), start, exit);
  b.SetInsertPoint(start);
  llvm::PHINode *step = b.CreatePHI(b.getInt64Ty(), 2);
  step->addIncoming(e.i64(0), before);
  evaluator.scalars[body.getArgument(0)] = step;
  if (!block(body))
    return false;
  Operation *terminator = body.getTerminator();
  multiplyTiles(op, terminator->getOperand(0), terminator->getOperand(1), op.getAUnsigned(), op.getBUnsigned());
  llvm::Value *next = b.CreateAdd(step, e.i64(1));
  step->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, steps), start, exit);
  b.SetInsertPoint(exit);
  if (!temporary.empty())
    convertBuffer(temporary[0], buffer, elements);
  return true;
}

} // namespace tilery::cpu
