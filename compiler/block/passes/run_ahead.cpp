// run-ahead: where the threads that multiply also copy what they multiply, a loop starts the copies of a later step:
//
//   for i carrying p { s = acquire p; fetch x[i] -> s; publish s; take p; multiply; release }
// becomes
//   a = for i up to D carrying p { s = acquire p; fetch x[i] -> s; publish s }
//   for i carrying p, a { if i + D < n { s = acquire a; fetch x[i + D] -> s; publish s }; take p; multiply; release }
//
// with D one less than the ring has slots: the slot is that of the step before, which all have released there. What leads to places (positions, offsets that the loop carries, numbers from memory) is carried
// a second time, D steps ahead.
#include "compiler/block/ir/gpu.h"
#include "compiler/block/passes/passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// The part of a loop's body that fills rings, and what leads to it.
class Filling {
public:
  explicit Filling(scf::ForOp loop) : loop(loop) {
    for (auto acquire : loop.getBody()->getOps<AcquireOp>())
      add(acquire);
    SmallVector<Operation *> from(fills.getArrayRef());
    for (size_t i = 0; i < from.size(); ++i)
      for (Value value : usedBy(from[i]))
        reach(value, from);
  }

  /// Steps by which it can run ahead; 0: it cannot.
  int64_t distance() const { return isPossible && !fills.empty() ? slots - 1 : 0; }
  /// What it carries from step to step: numbers of the loop's arguments.
  ArrayRef<unsigned> carried() const { return arguments.getArrayRef(); }

  /// Again, for the step `number`, of which the loop would carry `values`; gives what it would carry to the next one.
  SmallVector<Value> copy(OpBuilder &b, Value number, ValueRange values) {
    IRMapping step;
    step.map(loop.getInductionVar(), number);
    for (auto [argument, value] : llvm::zip_equal(arguments, values))
      step.map(loop.getRegionIterArg(argument), value);
    for (Operation &op : loop.getBody()->without_terminator())
      if (fills.contains(&op) || leading.contains(&op))
        b.clone(op, step);
    SmallVector<Value> next;
    for (unsigned argument : arguments)
      next.push_back(step.lookupOrDefault(loop.getYieldedValues()[argument]));
    return next;
  }

  void eraseFills() {
    for (Operation *op : llvm::reverse(fills))
      op->erase();
  }

private:
  void add(AcquireOp acquire) {
    SmallVector<Operation *> ops{acquire};
    for (size_t i = 0; i < ops.size(); ++i)
      for (Operation *user : ops[i]->getUsers()) {
        if (!isa<PartOp, FetchOp, PublishOp>(user) || user->getBlock() != loop.getBody())
          return; // it is filled with what is computed here
        ops.push_back(user);
      }
    fills.insert(ops.begin(), ops.end());
    int64_t count = acquire.getRing().getDefiningOp<RingOp>().getType().getCount();
    slots = slots ? std::min(slots, count) : count;
  }

  static SmallVector<Value> usedBy(Operation *op) {
    llvm::SetVector<Value> values;
    op->walk([&](Operation *inner) { values.insert(inner->operand_begin(), inner->operand_end()); });
    return values.takeVector();
  }

  void reach(Value value, SmallVectorImpl<Operation *> &from) {
    if (value == loop.getInductionVar() || value.getParentBlock() != loop.getBody())
      return;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned number = argument.getArgNumber() - 1;
      if (arguments.insert(number))
        reach(loop.getYieldedValues()[number], from);
      return;
    }
    Operation *op = value.getDefiningOp();
    if (fills.contains(op) || !leading.insert(op))
      return;
    auto load = dyn_cast<tile::LoadOp>(op);
    isPossible &= load ? !load.getIsVolatile() : isMemoryEffectFree(op) && !isa<BlockDialect>(op->getDialect());
    from.push_back(op);
  }

  scf::ForOp loop;
  llvm::SetVector<Operation *> fills, leading;
  llvm::SetVector<unsigned> arguments;
  int64_t slots = 0;
  bool isPossible = true;
};

/// In front of the loop, its first steps' copies; gives what the step behind them would carry.
SmallVector<Value> startCopies(OpBuilder &b, scf::ForOp loop, Filling &filling, Value ahead) {
  Location location = loop.getLoc();
  SmallVector<Value> inits;
  for (unsigned argument : filling.carried())
    inits.push_back(loop.getInitArgs()[argument]);
  Value end = arith::AddIOp::create(b, location, loop.getLowerBound(), ahead);
  end = arith::MinSIOp::create(b, location, end, loop.getUpperBound());
  auto body = [&](OpBuilder &b, Location location, Value number, ValueRange values) {
    scf::YieldOp::create(b, location, filling.copy(b, number, values));
  };
  auto first = scf::ForOp::create(b, location, loop.getLowerBound(), end, loop.getStep(), inits, body);
  return SmallVector<Value>(first.getResults());
}

void runAhead(scf::ForOp loop) {
  Filling filling(loop);
  int64_t distance = filling.distance();
  if (!distance)
    return;
  IRRewriter b(loop.getContext());
  b.setInsertionPoint(loop);
  Location location = loop.getLoc();
  Type type = loop.getStep().getType();
  Value count = arith::ConstantOp::create(b, location, b.getIntegerAttr(type, distance));
  Value ahead = arith::MulIOp::create(b, location, loop.getStep(), count);
  SmallVector<Value> started = startCopies(b, loop, filling, ahead);
  auto next = [&](OpBuilder &, Location, ArrayRef<BlockArgument> carried) {
    OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
    Value number = arith::AddIOp::create(b, location, loop.getInductionVar(), ahead);
    Value exists = arith::CmpIOp::create(b, location, arith::CmpIPredicate::slt, number, loop.getUpperBound());
    auto copies = [&](OpBuilder &b, Location location) {
      scf::YieldOp::create(b, location, filling.copy(b, number, ValueRange(SmallVector<Value>(carried.begin(), carried.end()))));
    };
    auto none = [&](OpBuilder &b, Location location) {
      scf::YieldOp::create(b, location, SmallVector<Value>(carried.begin(), carried.end()));
    };
    SmallVector<Value> ends(scf::IfOp::create(b, location, exists, copies, none).getResults());
    filling.eraseFills();
    return ends;
  };
  (void)loop.replaceWithAdditionalYields(b, started, /*replaceInitOperandUsesInLoop=*/false, next);
}
} // namespace

void runRunAhead(tile::KernelOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](TakeOp take) { // of rings that the same code fills
    auto loop = dyn_cast<scf::ForOp>(take->getParentOp());
    if (loop && !llvm::is_contained(loops, loop))
      loops.push_back(loop);
  });
  if (!Gpu::of(kernel).warpgroups)
    llvm::for_each(loops, runAhead);
}

} // namespace tilery::block
