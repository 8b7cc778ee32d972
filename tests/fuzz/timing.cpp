// Readings of the clock and of the processor's number: what programs make of them here is the same whatever they are.
#include "compiler/ir/machine_ops.h"
#include "generator.h"

using namespace mlir;

namespace tilery::fuzz {

/// A loop that reads the clock until `nanoseconds` have passed since `begin`; the last reading.
static Value waitFor(OpBuilder &b, Location loc, Value begin, Value nanoseconds) {
  Type i64 = b.getI64Type();
  auto loop = scf::WhileOp::create(b, loc, TypeRange{i64}, ValueRange{begin});
  OpBuilder::InsertionGuard guard(b);
  Value last = b.createBlock(&loop.getBefore(), {}, {i64}, {loc})->getArgument(0);
  Value passed = arith::SubIOp::create(b, loc, last, begin);
  scf::ConditionOp::create(b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, passed, nanoseconds), last);
  b.createBlock(&loop.getAfter(), {}, {i64}, {loc});
  scf::YieldOp::create(b, loc, ValueRange(tile::ClockOp::create(b, loc, i64)));
  return loop.getResult(0);
}

void Generator::timing() {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto holds = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    add(arith::ExtUIOp::create(b, loc, i32, arith::CmpIOp::create(b, loc, predicate, x, y)));
  };
  Value begin = tile::ClockOp::create(b, loc, i64);
  if (random.chance(0.3)) {
    Value nanoseconds = integer(1 + random.below(2000), 64);
    Value end = waitFor(b, loc, begin, nanoseconds);
    holds(arith::CmpIPredicate::sge, arith::SubIOp::create(b, loc, end, begin), nanoseconds);
  } else {
    elementwise();
    holds(arith::CmpIPredicate::sge, tile::ClockOp::create(b, loc, i64), begin);
  }
  if (random.chance(0.3))
    holds(arith::CmpIPredicate::sge, tile::ProcessorOp::create(b, loc, i32), integer(0, 32));
}

} // namespace tilery::fuzz
