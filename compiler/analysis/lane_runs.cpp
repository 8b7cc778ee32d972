#include "compiler/analysis/lane_runs.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/remembered.h"

using namespace mlir;

namespace tilery::analysis {
namespace {
constexpr int64_t whole = INT64_MAX, unknownDivisor = 16;

/// Lane to lane `step` more, in pieces of `length` lanes.
struct Run {
  int64_t step = 0, length = whole;
};
using MaybeRun = std::optional<Run>;

/// Whether lanes are numbered by one dimension alone.
bool isLine(Value value) {
  return llvm::count_if(tile::shapeOf(value.getType()), [](int64_t size) { return size != 1; }) <= 1;
}

MaybeRun runOf(Value value, unsigned depth);

MaybeRun ofQuotient(Operation *op, unsigned depth) {
  MaybeRun x = runOf(op->getOperand(0), depth), by = runOf(op->getOperand(1), depth);
  if (!x || !by || by->step || by->length != whole || x->step < 0 || x->step > 1)
    return std::nullopt;
  auto divisor = constantOf(op->getOperand(1));
  int64_t length = x->step ? std::min(x->length, divisor && *divisor > 0 ? *divisor : unknownDivisor) : x->length;
  return Run{isa<tile::DivOp>(op) ? 0 : x->step, length};
}

MaybeRun computed(Value value, unsigned depth) {
  if (!isa<RankedTensorType>(value.getType()))
    return Run();
  if (!depth)
    return std::nullopt;
  if (Operation *op = value.getDefiningOp(); op && isa<tile::DivOp, tile::RemOp>(op))
    return ofQuotient(op, depth - 1);
  IntegerOp op = integerOpOf(value, Wrapping::any);
  using Kind = IntegerOp::Kind;
  switch (op.kind) {
  case Kind::constant:
  case Kind::splat:
    return Run();
  case Kind::range:
    return Run{1, whole};
  case Kind::extend:
    return runOf(op.lhs, depth - 1);
  case Kind::reindex:
    return isLine(op.lhs) && isLine(value) ? runOf(op.lhs, depth - 1) : std::nullopt;
  case Kind::add:
  case Kind::subtract:
  case Kind::multiply: {
    MaybeRun x = runOf(op.lhs, depth - 1), y = runOf(op.rhs, depth - 1);
    if (!x || !y)
      return std::nullopt;
    int64_t length = std::min(x->length, y->length);
    if (op.kind != Kind::multiply)
      return Run{op.kind == Kind::add ? x->step + y->step : x->step - y->step, length};
    auto factor = constantOf(x->step ? op.rhs : op.lhs);
    if (!x->step && !y->step)
      return Run{0, length};
    return factor ? MaybeRun(Run{(x->step ? x->step : y->step) * *factor, length}) : std::nullopt;
  }
  case Kind::opaque:
    return std::nullopt;
  }
  llvm_unreachable("kind");
}

MaybeRun runOf(Value value, unsigned depth) {
  static thread_local Remembered<MaybeRun, unsigned> remembered;
  return remembered.of(value, depth, [&] { return computed(value, depth); });
}
} // namespace

int64_t laneRun(Value integers) {
  constexpr unsigned mostDepth = 24; // longer chains are generated code, not an address
  MaybeRun run = isa<RankedTensorType>(integers.getType()) && isLine(integers) ? runOf(integers, mostDepth) : std::nullopt;
  return run && run->step == 1 ? run->length : 0;
}

} // namespace tilery::analysis
