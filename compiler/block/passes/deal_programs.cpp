// deal-programs: the role that multiplies becomes instances that take programs by turns, so that one's results go out under another's products.
//
//   role math { programs (.., p) { ..; yield q } }
// becomes
//   role math instances 2 (who) {
//     programs (.., p, next = 0) { r = if next == who { turn { the loop }; ..; yield q } else { yield what q is without the work }; yield r, next + 1 mod 2 } }
//
// All go over the same programs, for positions in rings go on from program to program. Loops run by turns: a slot is waited for by who comes right
// behind those that took it before (a barrier tells two fillings apart, not more). What only the role uses of shared memory each has for itself.
#include "compiler/block/ir/Block.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/price/schedule.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// What numbers of a program's code are, without its work: a loop's counts are multiplied out.
class WithoutWork {
public:
  WithoutWork(Block &body, OpBuilder &b) : body(body), b(b) {}

  /// Null if it takes the work to know.
  Value of(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !body.getParentOp()->isProperAncestor(op))
      return value;
    if (Value known = map.lookupOrNull(value))
      return known;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return countOf(loop, cast<OpResult>(value).getResultNumber());
    if (op->getNumResults() != 1 || op->getNumRegions() || !isPure(op) || !value.getType().isIntOrIndex())
      return {};
    for (Value operand : op->getOperands())
      if (Value without = of(operand); !without)
        return {};
      else
        map.map(operand, without);
    return b.clone(*op, map)->getResult(0);
  }

private:
  Value countOf(scf::ForOp loop, unsigned number) {
    auto sum = loop.getYieldedValues()[number].getDefiningOp<arith::AddIOp>();
    APInt each, step;
    if (!sum || sum.getLhs() != loop.getRegionIterArg(number) || !matchPattern(sum.getRhs(), m_ConstantInt(&each)) ||
        !matchPattern(loop.getStep(), m_ConstantInt(&step)))
      return {};
    Value first = of(loop.getLowerBound()), end = of(loop.getUpperBound()), begin = of(loop.getInitArgs()[number]);
    if (!first || !end || !begin)
      return {};
    Location loc = loop.getLoc();
    auto constant = [&](Type type, int64_t value) {
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value)).getResult();
    };
    Value most = arith::MaxSIOp::create(b, loc, end, first);
    Value turns = arith::SubIOp::create(b, loc, most, first);
    if (!step.isOne()) {
      Value last = arith::AddIOp::create(b, loc, turns, constant(turns.getType(), step.getSExtValue() - 1));
      turns = arith::DivUIOp::create(b, loc, last, constant(turns.getType(), step.getSExtValue()));
    }
    Type type = begin.getType();
    if (turns.getType().getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
      turns = arith::TruncIOp::create(b, loc, type, turns);
    else if (turns.getType() != type)
      turns = arith::ExtSIOp::create(b, loc, type, turns);
    Value all = arith::MulIOp::create(b, loc, turns, constant(type, each.getSExtValue()));
    return arith::AddIOp::create(b, loc, begin, all);
  }

  Block &body;
  OpBuilder &b;
  IRMapping map;
};

/// The one loop in which the program takes slots.
scf::ForOp loopOf(Block &body) {
  SetVector<Operation *> takes;
  body.walk([&](TakeOp take) { takes.insert(body.findAncestorOpInBlock(*take)); });
  return takes.size() == 1 ? dyn_cast<scf::ForOp>(takes[0]) : scf::ForOp();
}

void runByTurns(scf::ForOp loop) {
  OpBuilder b(loop->getParentOfType<RolesOp>());
  Value baton = BatonOp::create(b, loop.getLoc(), BatonType::get(b.getContext()));
  b.setInsertionPoint(loop);
  auto turn = TurnOp::create(b, loop.getLoc(), loop.getResultTypes(), baton);
  loop.replaceAllUsesWith(turn.getResults());
  b.createBlock(&turn.getBody());
  auto yield = YieldOp::create(b, loop.getLoc(), loop.getResults());
  loop->moveBefore(yield);
}

void deal(RoleOp role, ProgramsOp programs, unsigned instances) {
  Block &body = programs.getBody().front();
  scf::ForOp loop = loopOf(body);
  if (!loop)
    return;
  Operation *yield = body.getTerminator();
  Location loc = programs.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  auto number = [&](int64_t value) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value)).getResult(); };
  Value turn = body.addArgument(b.getI32Type(), loc), who = role.getBody().addArgument(b.getI32Type(), loc);
  Value mine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, turn, who);
  auto branch = scf::IfOp::create(b, loc, yield->getOperandTypes(), mine, /*withElse=*/true);
  Block &own = branch.getThenRegion().front(), &others = branch.getElseRegion().front();

  b.setInsertionPointToEnd(&others);
  SmallVector<Value> ends;
  for (WithoutWork numbers(body, b); Value end : yield->getOperands())
    ends.push_back(numbers.of(end));
  if (!llvm::all_of(ends, [](Value end) { return bool(end); })) { // then one instance does all
    branch.erase();
    mine.getDefiningOp()->erase();
    body.eraseArgument(body.getNumArguments() - 1);
    role.getBody().eraseArgument(0);
    return;
  }
  scf::YieldOp::create(b, loc, ends);
  own.getOperations().splice(own.end(), body.getOperations(), std::next(branch->getIterator()), yield->getIterator());
  b.setInsertionPointToEnd(&own);
  scf::YieldOp::create(b, loc, yield->getOperands());
  runByTurns(loop);

  b.setInsertionPoint(yield);
  Value zero = number(0), next = arith::AddIOp::create(b, loc, turn, number(1));
  Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next, number(instances));
  SmallVector<Value> carried(branch.getResults());
  carried.push_back(arith::SelectOp::create(b, loc, last, zero, next));
  yield->setOperands(carried);
  b.setInsertionPoint(programs);
  SmallVector<Value> inits(programs.getInits());
  inits.push_back(number(0));
  auto wider = ProgramsOp::create(b, loc, programs.getOrder(), programs.getGroupAttr(), programs.getInner(), programs.getByRows(),
                                  programs.getPlane(), inits);
  wider.getBody().takeBody(programs.getBody());
  programs.replaceAllUsesWith(wider.getResults().drop_back());
  programs.erase();
  role.setInstances(instances);
  for (auto alloc : llvm::make_early_inc_range(role->getParentOfType<tile::KernelOp>().getBody().getOps<AllocOp>()))
    if (llvm::all_of(alloc->getUsers(), [&](Operation *user) { return role->isProperAncestor(user); }))
      alloc->moveBefore(&role.getBody().front(), role.getBody().front().begin());
}
} // namespace

void runDealPrograms(tile::KernelOp kernel) {
  std::optional<Schedule> schedule = Schedule::of(kernel);
  if (!schedule || schedule->instances < 2)
    return;
  kernel.walk([&](ProgramsOp programs) {
    auto role = programs->getParentOfType<RoleOp>();
    if (role && role.walk([](MmaStartOp) { return WalkResult::interrupt(); }).wasInterrupted())
      deal(role, programs, schedule->instances);
  });
}

} // namespace tilery::block
