// overlap-products: of a loop with several products, the one whose first factor is computed starts a step late, beside the first product of
// the next step, and the work between products runs under it.
//
//   for i: s = a b(i); p, scale = f(s); c = (c * scale) + p d(i)
// becomes
//   if any step: s = a b(0); p, scale = f(s); c = c * scale
//     for i from 1 on: [s = a b(i)] [r = c + p d(i - 1)]; p, scale = f(s); c = r * scale     [..]: under way together
//     c = c + p d(last)
#include "compiler/block/passes/late_step.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/price/schedule.h"
#include "compiler/analysis/integer_op.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// A product that can be late, in its loop.
struct Late {
  MmaStartOp start;
  MmaWaitOp wait;
  unsigned number;                      // of the sums among what the loop carries
  TakeOp take;                          // of its second factor
  unsigned counter;                     // number of the take's position, one more each step
  llvm::SetVector<Operation *> rescale; // from the carried sums to those it adds to
  llvm::SetVector<Operation *> moved;   // with it: its views and, unless others use the slot, take
  SmallVector<ReleaseOp> releases;
};

class Loop {
public:
  explicit Loop(scf::ForOp loop) : loop(loop), yield(cast<scf::YieldOp>(loop.getBody()->getTerminator())) {}

  /// The last of the loop's products that have a computed factor, if it can be late.
  std::optional<Late> find() {
    constexpr int64_t few = 2; // steps, of which one would stand in front of the loop
    if (std::optional<int64_t> steps = stepsOf(loop); steps && *steps <= few)
      return std::nullopt;
    SmallVector<MmaStartOp> starts(loop.getBody()->getOps<MmaStartOp>());
    if (starts.size() > 1)
      for (MmaStartOp start : llvm::reverse(starts))
        if (std::optional<Late> late = isa<RankedTensorType>(start.getA().getType()) ? lateOf(start) : std::nullopt)
          return late;
    return std::nullopt;
  }

  void write(Late &late) {
    auto starts = [&](const IRMapping &first) {
      SmallVector<Value> values;
      for (auto [i, end] : llvm::enumerate(yield.getOperands()))
        values.push_back(first.lookupOrDefault(i == late.number ? late.start.getC() : end));
      values.push_back(first.lookupOrDefault(late.start.getA()));
      return values;
    };
    auto finish = [&](OpBuilder &b, scf::ForOp rest) {
      auto [started, slot] = start(b, late, rest.getResult(late.number), rest.getResults().back(), rest.getResult(late.counter));
      SmallVector<Value> results(rest.getResults().drop_back());
      results[late.number] = waitFor(b, late, started, slot);
      return results;
    };
    runLate(loop,
            {[&](Operation *op) { return isLate(late, op); }, starts, [&](scf::ForOp rest) { writeStep(late, rest); }, finish});
  }

private:
  /// Where it is known, as of a diagonal: from a number up to that and a constant.
  static std::optional<int64_t> stepsOf(scf::ForOp loop) {
    auto end = loop.getUpperBound().getDefiningOp<arith::AddIOp>();
    std::optional<int64_t> span = analysis::constantOf(loop.getUpperBound()), first = analysis::constantOf(loop.getLowerBound()),
                           step = analysis::constantOf(loop.getStep());
    if (span && first)
      span = *span - *first;
    else if (end && end.getLhs() == loop.getLowerBound())
      span = analysis::constantOf(end.getRhs());
    else
      return std::nullopt;
    return span && step ? std::optional(llvm::divideCeil(std::max<int64_t>(*span, 0), *step)) : std::nullopt;
  }

  static bool isLate(Late &late, Operation *op) {
    return op == late.start || op == late.wait || late.moved.contains(op) || llvm::is_contained(late.releases, op);
  }

  std::optional<Late> lateOf(MmaStartOp start) {
    Late late;
    late.start = start;
    late.wait = start->hasOneUse() ? dyn_cast<MmaWaitOp>(*start->user_begin()) : MmaWaitOp();
    if (!late.wait || !late.wait->hasOneUse() || *late.wait->user_begin() != yield.getOperation() ||
        !isa<RankedTensorType>(start.getC().getType()))
      return std::nullopt;
    late.number = late.wait->use_begin()->getOperandNumber();
    return findRescale(late) && findSlot(late) ? std::optional(std::move(late)) : std::nullopt;
  }

  /// The carried sums serve nothing but the sums that are added to.
  bool findRescale(Late &late) {
    SmallVector<Value> values{loop.getRegionIterArg(late.number)};
    while (!values.empty())
      for (OpOperand &use : values.pop_back_val().getUses()) {
        Operation *user = use.getOwner();
        if (user == late.start && use.get() == late.start.getC())
          continue;
        if (user->getBlock() != loop.getBody() || user->getNumRegions() || !isMemoryEffectFree(user) || isa<scf::YieldOp>(user))
          return false;
        if (late.rescale.insert(user))
          values.append(user->result_begin(), user->result_end());
      }
    return true;
  }

  /// Its second factor is in a slot at a position that each step makes one more.
  bool findSlot(Late &late) {
    Value shared = late.start.getB();
    for (Operation *op = shared.getDefiningOp(); isa_and_nonnull<TransposeOp, PartOp>(op);
         op = op->getOperand(0).getDefiningOp()) {
      if (!op->hasOneUse())
        return false;
      late.moved.insert(op);
      late.take = op->getOperand(0).getDefiningOp<TakeOp>();
    }
    auto position = late.take ? dyn_cast<BlockArgument>(late.take.getPosition()) : BlockArgument();
    if (!position || position.getOwner() != loop.getBody() || position.getArgNumber() == 0)
      return false;
    for (Operation *user : late.take.getRing().getUsers())
      if (user->hasAttr("block.consumer_filled")) // its slot is filled anew before the product would start
        return false;
    late.counter = position.getArgNumber() - 1;
    auto next = yield.getOperand(late.counter).getDefiningOp<arith::AddIOp>();
    if (!next || next.getLhs() != position || !matchPattern(next.getRhs(), m_One()))
      return false;
    bool alone = true; // nobody else uses the slot
    for (Operation *user : late.take->getUsers())
      if (auto release = dyn_cast<ReleaseOp>(user))
        late.releases.push_back(release);
      else
        alone &= late.moved.contains(user);
    if (alone)
      late.moved.insert(late.take);
    return llvm::all_of(late.releases, [&](ReleaseOp release) { return late.wait->isBeforeInBlock(release); });
  }

  /// The product of the step before: as it is under way, and its slot.
  std::pair<Value, Value> start(OpBuilder &b, Late &late, Value sums, Value factor, Value next) {
    Location location = late.start->getLoc();
    Value one = arith::ConstantOp::create(b, location, b.getI32IntegerAttr(1));
    Value position = arith::SubIOp::create(b, location, next, one);
    Value slot = TakeOp::create(b, location, late.take.getRing(), position);
    IRMapping mapping;
    mapping.map(late.take.getResult(), slot);
    mapping.map(late.start.getC(), sums);
    mapping.map(late.start.getA(), factor);
    for (Operation *op : llvm::reverse(late.moved))
      if (op != late.take)
        b.clone(*op, mapping);
    return {b.clone(*late.start, mapping)->getResult(0), slot};
  }

  static Value waitFor(OpBuilder &b, Late &late, Value started, Value slot) {
    Value result = MmaWaitOp::create(b, late.wait.getLoc(), late.wait.getType(), started);
    ReleaseOp::create(b, late.wait.getLoc(), slot);
    return result;
  }

  /// ptxas serialises products if sums are computed with that one goes on in while the late one is under way (C7514).
  bool waitsForLate(Operation *op) {
    auto other = dyn_cast<MmaStartOp>(op);
    Operation *sums = other ? other.getC().getDefiningOp() : nullptr;
    return sums && sums->getBlock() == loop.getBody() && !isa<NoneOp>(sums) && !sums->hasTrait<OpTrait::ConstantLike>();
  }

  /// The next step's other products start first, but for those; what needs the late one's sums comes last.
  void writeStep(Late &late, scf::ForOp rest) {
    OpBuilder b = OpBuilder::atBlockBegin(rest.getBody());
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), rest.getInductionVar());
    for (auto [argument, own] : llvm::zip(loop.getRegionIterArgs(), rest.getRegionIterArgs()))
      mapping.map(argument, own);
    std::pair<Value, Value> started;
    Value sums;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (isLate(late, &op) || late.rescale.contains(&op))
        continue;
      if (isa<MmaWaitOp>(op) && !started.first)
        started = start(b, late, rest.getRegionIterArg(late.number), rest.getRegionIterArgs().back(),
                        rest.getRegionIterArg(late.counter));
      if (started.first && !sums && waitsForLate(&op))
        sums = waitFor(b, late, started.first, started.second);
      b.clone(op, mapping);
    }
    mapping.map(loop.getRegionIterArg(late.number), sums ? sums : waitFor(b, late, started.first, started.second));
    for (Operation &op : loop.getBody()->without_terminator())
      if (late.rescale.contains(&op))
        b.clone(op, mapping);
    SmallVector<Value> ends;
    for (auto [i, end] : llvm::enumerate(yield.getOperands()))
      ends.push_back(mapping.lookupOrDefault(i == late.number ? late.start.getC() : end));
    ends.push_back(mapping.lookupOrDefault(late.start.getA()));
    scf::YieldOp::create(b, loop.getLoc(), ends);
  }

  scf::ForOp loop;
  scf::YieldOp yield;
};
} // namespace

void runOverlapProducts(tile::KernelOp kernel) {
  std::optional<Schedule> schedule = Schedule::of(kernel);
  if (!schedule || !schedule->overlap)
    return;
  rewriteLoops<Loop>(kernel);
}

} // namespace tilery::block
