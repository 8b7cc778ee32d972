// delay-additions: a product that is added to memory, of a factor that all consumers have a part in, starts a step late: nobody waits for
// what others compute in the same step, and the sums go out under later products.
//
//   for i: s = a b(i); x(i) = f(s); memory(i) += x(i) c
// becomes
//   if any step: s = a b(0); x(0) = f(s)
//     for i from 1 on: [s = a b(i)] [r = x(i - 1) c]; memory(i - 1) += r; x(i) = f(s)     [..]: under way together
//     memory(last) += x(last) c
#include "compiler/block/passes/late_step.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/price/schedule.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// The ops of one addition in the body of a loop, in their order.
struct Addition {
  SmallVector<Operation *> first; // up to the start of its product
  SmallVector<Operation *> rest;  // from where it is waited for
  MmaStartOp start;
  MmaWaitOp wait;
};

class Loop {
public:
  explicit Loop(scf::ForOp loop) : loop(loop), body(*loop.getBody()) {}

  std::optional<Addition> find() {
    for (auto store : body.getOps<StoreBoxOp>())
      if (store.getAdd())
        if (std::optional<Addition> found = additionOf(store))
          return found;
    return std::nullopt;
  }

  void write(Addition &addition) {
    auto starts = [&](const IRMapping &first) {
      SmallVector<Value> ends;
      for (Value end : body.getTerminator()->getOperands())
        ends.push_back(first.lookupOrDefault(end));
      return ends;
    };
    auto finish = [&](OpBuilder &b, scf::ForOp others) {
      Location location = loop.getLoc();
      Value past = arith::SubIOp::create(b, location, loop.getUpperBound(), loop.getLowerBound()), step = loop.getStep();
      Value one = arith::ConstantOp::create(b, location, IntegerAttr::get(past.getType(), 1));
      past = arith::SubIOp::create(b, location, past, one); // to the last step's number
      past = arith::MulIOp::create(b, location, tile::DivOp::create(b, location, past, step, tile::IntDivMode::trunc), step);
      Value last = arith::AddIOp::create(b, location, loop.getLowerBound(), past);
      IRMapping late = before(b, last, others.getResults());
      for (Operation *op : llvm::concat<Operation *>(addition.first, addition.rest))
        b.clone(*op, late);
      return SmallVector<Value>(others.getResults());
    };
    runLate(loop, {[&](Operation *op) { return isPartOnly(addition, op); }, starts,
                   [&](scf::ForOp others) { writeStep(addition, others); }, finish});
  }

private:
  static bool isPart(const Addition &addition, Operation *op) {
    return llvm::is_contained(addition.first, op) || llvm::is_contained(addition.rest, op);
  }

  /// The number that each step makes one more.
  bool counts(BlockArgument argument) {
    if (argument.getOwner() != &body || !argument.getArgNumber())
      return false;
    auto next = body.getTerminator()->getOperand(argument.getArgNumber() - 1).getDefiningOp<arith::AddIOp>();
    return next && next.getLhs() == argument && matchPattern(next.getRhs(), m_One());
  }

  /// The body's values a step earlier: of the loop's number, and of what counts steps.
  IRMapping before(OpBuilder &b, Value number, ValueRange carried) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), number);
    for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), carried))
      if (counts(argument)) {
        Value one = arith::ConstantOp::create(b, loop.getLoc(), IntegerAttr::get(value.getType(), 1));
        mapping.map(argument, arith::SubIOp::create(b, loop.getLoc(), value, one));
      }
    return mapping;
  }

  /// What the op takes of the body, in front of it; false if that is not there a step later.
  bool collect(Operation *op, llvm::SetVector<Operation *> &ops) {
    for (Value operand : op->getOperands()) {
      if (auto argument = dyn_cast<BlockArgument>(operand)) {
        if (argument.getOwner() == &body && argument != loop.getInductionVar() && !counts(argument))
          return false;
        continue;
      }
      Operation *made = operand.getDefiningOp();
      if (made->getBlock() != &body || ops.contains(made))
        continue;
      bool isPure = isMemoryEffectFree(made) && !made->getNumRegions();
      if ((!isPure && !isa<TakeOp, MmaStartOp, MmaWaitOp>(made)) || !collect(made, ops))
        return false;
    }
    ops.insert(op);
    return true;
  }

  std::optional<Addition> additionOf(StoreBoxOp store) {
    WriteOp write;
    for (Operation *user : store.getShared().getUsers())
      if (isa<WriteOp>(user) && user->getBlock() == &body)
        write = cast<WriteOp>(user);
    llvm::SetVector<Operation *> ops;
    if (!write || !collect(write, ops) || !collect(store, ops))
      return std::nullopt;
    Addition addition;
    TakeOp take;
    for (Operation *op : ops) {
      if (auto start = dyn_cast<MmaStartOp>(op)) {
        if (addition.start)
          return std::nullopt;
        addition.start = start;
      } else if (auto wait = dyn_cast<MmaWaitOp>(op)) {
        addition.wait = wait;
      } else if (auto each = dyn_cast<TakeOp>(op)) {
        if (take)
          return std::nullopt;
        take = each;
      }
    }
    if (!addition.start || !addition.wait || !take)
      return std::nullopt;
    for (Operation *user : take->getUsers())
      if (isa<ReleaseOp>(user))
        ops.insert(user);
    // Others may take numbers that it takes, but nothing of the product.
    for (Operation *op : ops)
      if (!isNumber(op))
        for (Operation *user : op->getUsers())
          if (!ops.contains(user))
            return std::nullopt;
    SmallVector<Operation *> inOrder(ops.getArrayRef());
    llvm::sort(inOrder, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    llvm::SetVector<Operation *> needed;
    collect(addition.start, needed);
    for (Operation *op : inOrder)
      (needed.contains(op) ? addition.first : addition.rest).push_back(op);
    return addition;
  }

  /// The step's second product starts when the sums have gone out: until then they have the registers that its own will take, and threads
  /// that others are ahead of let these multiply.
  void writeStep(Addition &addition, scf::ForOp others) {
    OpBuilder b = OpBuilder::atBlockBegin(others.getBody());
    Value number = arith::SubIOp::create(b, loop.getLoc(), others.getInductionVar(), loop.getStep());
    IRMapping late = before(b, number, others.getRegionIterArgs()), mapping;
    mapping.map(loop.getInductionVar(), others.getInductionVar());
    for (auto [argument, own] : llvm::zip(loop.getRegionIterArgs(), others.getRegionIterArgs()))
      mapping.map(argument, own);
    SmallVector<MmaWaitOp> waits(body.getOps<MmaWaitOp>());
    llvm::erase(waits, addition.wait);
    MmaWaitOp out = waits[std::min<size_t>(1, waits.size() - 1)];
    auto second = waits.size() > 1 ? out.getProduct().getDefiningOp<MmaStartOp>() : MmaStartOp();
    if (second && !(second->getBlock() == &body && second->isBeforeInBlock(waits[0]) && second.getC().getDefiningOp<NoneOp>()))
      second = {};
    for (Operation &op : body.without_terminator()) {
      if (&op == waits.front())
        for (Operation *each : addition.first)
          b.clone(*each, late);
      if (&op == out) {
        for (Operation *each : addition.rest)
          b.clone(*each, late);
        if (second)
          b.clone(*second, mapping);
      }
      if (!isPartOnly(addition, &op) && &op != second)
        b.clone(op, mapping);
    }
    SmallVector<Value> ends;
    for (Value end : body.getTerminator()->getOperands())
      ends.push_back(mapping.lookupOrDefault(end));
    scf::YieldOp::create(b, loop.getLoc(), ends);
  }

  static bool isNumber(Operation *op) {
    auto isScalar = [](Type type) { return type.isIntOrFloat() || isa<tile::PtrType>(type); };
    return isMemoryEffectFree(op) && llvm::all_of(op->getResultTypes(), isScalar);
  }

  /// Numbers are computed for others, too.
  static bool isPartOnly(const Addition &addition, Operation *op) { return isPart(addition, op) && !isNumber(op); }

  scf::ForOp loop;
  Block &body;
};
} // namespace

void runDelayAdditions(tile::KernelOp kernel) {
  std::optional<Schedule> schedule = Schedule::of(kernel);
  if (!schedule || !schedule->delay)
    return;
  rewriteLoops<Loop>(kernel);
}

} // namespace tilery::block
