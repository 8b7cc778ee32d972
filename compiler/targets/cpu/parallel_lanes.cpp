// Boxes of points in vectors: what has no tile form but is one statement after another, or under branches. The points of a tile.parallel
// have no order and do not meet, so that each op may run for some of them before the next one does. What threads of a block do one after
// another is one access of that kind: of lanes that store to one place the last one stays, as a vector's lanes are written in order.
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/interval.h"
#include "compiler/targets/cpu/kernel.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::lower;

namespace {

class ParallelLanes {
public:
  ParallelLanes(KernelEmitter &kernel, tile::ParallelOp op) : kernel(kernel), evaluator(kernel.evaluator), e(kernel.e), op(op) {}

  /// Whether all that the points do has a form in lanes.
  bool find() {
    for (Value extent : op.getExtents()) {
      auto size = analysis::constantOf(extent);
      if (!size || *size < 1)
        return false;
      shape.push_back(*size);
    }
    unsigned bits = 32;
    auto result = op.getBody().walk([&](Operation *inner) {
      if (auto store = dyn_cast<tile::ElementStoreOp>(inner))
        bits = std::max(bits, elementBytes(store.getValue().getType()) * 8);
      return takes(inner) ? WalkResult::advance() : WalkResult::interrupt();
    });
    lanes = e.options.target.machine.vectorBits / bits;
    return !result.wasInterrupted() && !shape.empty() && shape.back() >= int64_t(lanes) && lanes > 1;
  }

  void emit() {
    Evaluator::Body scope(evaluator);
    point.assign(shape.size(), evaluator.indices.constant(0));
    outer(0);
  }

private:
  Block &body() { return op.getBody().front(); }

  bool takes(Operation *inner) {
    if (llvm::any_of(inner->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); }))
      return false;
    if (auto branch = dyn_cast<scf::IfOp>(inner))
      return branch.getNumResults() == 0;
    return isa<tile::ExtractOp, tile::ElementLoadOp, tile::ElementStoreOp, tile::YieldOp, scf::YieldOp, arith::ConstantOp>(
               inner) ||
           isElementwise(inner);
  }

  void outer(unsigned d) {
    if (d + 1 == shape.size())
      return inner();
    kernel.nests.loop(e.i64(0), e.i64(shape[d]), 1, false, {}, [&](llvm::Value *i, ArrayRef<Lanes>) {
      point[d] = Index{i, 0, nullptr, evaluator.levels.current()};
      outer(d + 1);
      return SmallVector<Lanes>();
    });
  }

  void inner() {
    int64_t done = shape.back() / lanes * lanes;
    kernel.nests.loop(e.i64(0), e.i64(done), lanes, false, {}, [&](llvm::Value *j, ArrayRef<Lanes>) {
      vector(j, lanes, lanes);
      return SmallVector<Lanes>();
    });
    if (done < shape.back())
      vector(e.i64(done), done, unsigned(shape.back() - done));
  }

  void vector(llvm::Value *j, int64_t multiple, unsigned width) {
    Evaluator::Vector scope(evaluator, width);
    point.back() = Index{j, width > 1 ? 1 : 0, nullptr, evaluator.levels.current(), multiple};
    values.clear();
    for (auto [d, argument] : llvm::enumerate(body().getArguments())) {
      llvm::Value *position = evaluator.indices.vectorOf(point[d]);
      values[argument] = e.b.CreateTrunc(position, e.vectorOf(e.valueType(argument.getType()), e.lanesOf(position)));
    }
    block(body(), nullptr);
  }

  Lanes value(Value of) {
    auto found = values.find(of);
    return found == values.end() ? evaluator.scalar(of) : found->second;
  }

  void block(Block &block, Lanes exists) {
    for (Operation &inner : block)
      visit(inner, exists);
  }

  void visit(Operation &inner, Lanes exists) {
    e.at(inner.getLoc());
    if (isa<tile::YieldOp, scf::YieldOp, arith::ConstantOp>(inner))
      return;
    if (auto extract = dyn_cast<tile::ExtractOp>(inner)) {
      Lanes inside = nullptr;
      Point at = places(extract.getIndices(), tile::shapeOf(extract.getValue().getType()), inside);
      Lanes element = evaluator.value(extract.getValue(), at);
      Lanes parts[] = {inside ? inside : e.b.getTrue(), element, llvm::Constant::getNullValue(element->getType())};
      e.unify(parts);
      values[extract] = inside ? e.b.CreateSelect(parts[0], parts[1], parts[2]) : element;
    } else if (auto branch = dyn_cast<scf::IfOp>(inner)) {
      Lanes condition = value(branch.getCondition());
      block(*branch.thenBlock(), e.band(exists, condition));
      if (branch.elseBlock())
        block(*branch.elseBlock(), e.band(exists, e.b.CreateNot(condition)));
    } else if (auto load = dyn_cast<tile::ElementLoadOp>(inner)) {
      values[load] = evaluator.memory.load(address(load.getBuffer(), load.getIndices(), exists));
    } else if (auto store = dyn_cast<tile::ElementStoreOp>(inner)) {
      Address where = address(store.getBuffer(), store.getIndices(), exists);
      evaluator.memory.store(where, value(store.getValue()));
    } else {
      SmallVector<Lanes> operands;
      for (Value operand : inner.getOperands())
        operands.push_back(value(operand));
      values[inner.getResult(0)] = emitElementwise(e, &inner, operands);
    }
  }

  /// Where lanes are that have these indices, some place where they are outside: `inside` says which are not (null: all).
  Point places(OperandRange indices, ArrayRef<int64_t> shape, Lanes &inside) {
    auto &b = e.b;
    Point at;
    for (auto [index, size] : llvm::zip(indices, shape)) {
      Lanes position = value(index);
      position = b.CreateSExtOrTrunc(position, e.vectorOf(b.getInt64Ty(), e.lanesOf(position)));
      auto own = llvm::find(body().getArguments(), index);
      bool counts = own != body().getArguments().end();
      std::optional<analysis::Interval> known = analysis::Interval{0, counts ? this->shape[own->getArgNumber()] - 1 : 0};
      if (!counts)
        known = analysis::intervalOf(index);
      if (!known || known->least < 0 || known->greatest >= size) {
        Lanes exists = b.CreateICmpULT(position, llvm::ConstantInt::get(position->getType(), size));
        position = b.CreateSelect(exists, position, llvm::Constant::getNullValue(position->getType()));
        inside = e.band(inside, exists);
        counts = false;
      }
      if (counts)
        at.push_back(point[own->getArgNumber()]);
      else if (e.lanesOf(position) == 1)
        at.push_back(Index{position, 0, nullptr, evaluator.levels.current()});
      else
        at.push_back(Index{nullptr, 0, position, evaluator.levels.current()});
    }
    return at;
  }

  Address address(Value buffer, OperandRange indices, Lanes exists) {
    Lanes inside = nullptr;
    Point at = places(indices, cast<tile::BufferType>(buffer.getType()).getShape(), inside);
    if (evaluator.width() > 1 && !at.empty() && llvm::all_of(at, [](const Index &index) { return index.uniform(); }))
      at.back() =
          Index{nullptr, 0, e.splat(at.back().base, evaluator.width()), evaluator.levels.current()}; // one place for all lanes
    Address where = evaluator.addresses.ofBuffer(buffer, at);
    where.exists = e.band(where.exists, e.band(exists, inside));
    return where;
  }

  KernelEmitter &kernel;
  Evaluator &evaluator;
  Emitter &e;
  tile::ParallelOp op;
  SmallVector<int64_t> shape;
  unsigned lanes = 1;
  Point point;
  llvm::DenseMap<Value, Lanes> values; // of the body, for the current lanes
};

} // namespace

bool cpu::CpuKernel::parallelOp(tile::ParallelOp op) {
  ParallelLanes lanes(*this, op);
  if (!lanes.find())
    return KernelEmitter::parallelOp(op);
  lanes.emit();
  return !evaluator.failed;
}
