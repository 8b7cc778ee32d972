// scf ops, and the ops of a kernel: its coordinates and its end.
#include "compiler/oracle/interpreter.h"

using namespace mlir;

namespace tilery::oracle {

// All are read before any is written: a loop may swap its carried values.
static void assign(Interpreter &in, ValueRange to, ValueRange from) {
  SmallVector<RuntimeValue> values;
  for (Value value : from)
    values.push_back(in.get(value));
  for (auto [target, value] : llvm::zip_equal(to, values))
    in.set(target, std::move(value));
}

static void runFor(Interpreter &in, scf::ForOp op) {
  int64_t lo = in.decide(op.getLowerBound()), hi = in.decide(op.getUpperBound()), step = in.decide(op.getStep());
  Element e = elementOf(op.getInductionVar().getType());
  if (step <= 0)
    in.fail(op, "the step of this loop is " + std::to_string(step) + ", it must be positive");
  assign(in, op.getRegionIterArgs(), op.getInitArgs());
  bool isUnsigned = op.getUnsignedCmp();
  auto before = [&](int64_t a, int64_t b) { return isUnsigned ? asUnsigned(e, a) < asUnsigned(e, b) : a < b; };
  for (int64_t i = lo; before(i, hi);) {
    in.countStep(op);
    Tile iv(e, {});
    iv.lanes[0] = uint64_t(i);
    in.set(op.getInductionVar(), std::move(iv));
    Operation *yield = in.runBlock(*op.getBody());
    assign(in, op.getRegionIterArgs(), yield->getOperands());
    if (__builtin_add_overflow(i, step, &i))
      break;
  }
  assign(in, op.getResults(), op.getRegionIterArgs());
}

static void runIf(Interpreter &in, scf::IfOp op) {
  Region &chosen = in.decide(op.getCondition()) ? op.getThenRegion() : op.getElseRegion();
  if (chosen.empty())
    return;
  assign(in, op.getResults(), in.runBlock(chosen.front())->getOperands());
}

static void runWhile(Interpreter &in, scf::WhileOp op) {
  assign(in, op.getBeforeArguments(), op.getInits());
  while (true) {
    in.countStep(op);
    auto condition = cast<scf::ConditionOp>(in.runBlock(*op.getBeforeBody()));
    if (!in.decide(condition.getCondition())) {
      assign(in, op.getResults(), condition.getArgs());
      return;
    }
    assign(in, op.getAfterArguments(), condition.getArgs());
    assign(in, op.getBeforeArguments(), in.runBlock(*op.getAfterBody())->getOperands());
  }
}

static void runIndexSwitch(Interpreter &in, scf::IndexSwitchOp op) {
  int64_t value = in.decide(op.getArg());
  Region *chosen = &op.getDefaultRegion();
  for (auto [expected, region] : llvm::zip_equal(op.getCases(), op.getCaseRegions()))
    if (expected == value)
      chosen = &region;
  assign(in, op.getResults(), in.runBlock(chosen->front())->getOperands());
}

static Tile scalar32(uint32_t value) {
  Tile result({Format::Int, 32}, {});
  result.lanes[0] = wrap(result.element, value);
  return result;
}

void addControlHandlers(Handlers &table) {
  table.add<scf::ForOp>(runFor);
  table.add<scf::IfOp>(runIf);
  table.add<scf::WhileOp>(runWhile);
  table.add<scf::IndexSwitchOp>(runIndexSwitch);
  table.add<scf::ExecuteRegionOp>([](Interpreter &in, scf::ExecuteRegionOp op) {
    assign(in, op.getResults(), in.runBlock(op.getRegion().front())->getOperands());
  });
  table.add<ub::PoisonOp>([](Interpreter &in, ub::PoisonOp op) {
    in.set(op.getResult(), Tile(elementOf(op.getType()), tile::shapeOf(op.getType())));
  });
  table.add<tile::ProgramIdOp>(
      [](Interpreter &in, tile::ProgramIdOp op) { in.set(op.getResult(), scalar32(in.programId[op.getAxis()])); });
  table.add<tile::NumProgramsOp>(
      [](Interpreter &in, tile::NumProgramsOp op) { in.set(op.getResult(), scalar32(in.run.grid[op.getAxis()])); });
}

} // namespace tilery::oracle
