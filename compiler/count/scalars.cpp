#include "compiler/count/scalars.h"
#include "compiler/analysis/integer_op.h"

using namespace mlir;

namespace tilery::count {
namespace {

using Function = int64_t (*)(int64_t, int64_t);

// Divisions are total (TileArith.td): by 0 they give 0, and they wrap.
int64_t negative(int64_t x) { return int64_t(-uint64_t(x)); }
int64_t floorQuotient(int64_t x, int64_t y) {
  int64_t q = x / y;
  return q - (x % y != 0 && (x < 0) != (y < 0));
}

Function division(tile::IntDivMode mode, bool remainder) {
  switch (mode) {
  case tile::IntDivMode::floor:
    if (remainder)
      return [](int64_t x, int64_t y) -> int64_t { return y == 0 || y == -1 ? 0 : x - floorQuotient(x, y) * y; };
    return [](int64_t x, int64_t y) -> int64_t { return y == 0 ? 0 : y == -1 ? negative(x) : floorQuotient(x, y); };
  case tile::IntDivMode::trunc:
    if (remainder)
      return [](int64_t x, int64_t y) -> int64_t { return y == 0 || y == -1 ? 0 : x % y; };
    return [](int64_t x, int64_t y) -> int64_t { return y == 0 ? 0 : y == -1 ? negative(x) : x / y; };
  case tile::IntDivMode::unsigned_:
    if (remainder)
      return [](int64_t x, int64_t y) -> int64_t { return y ? int64_t(uint64_t(x) % uint64_t(y)) : 0; };
    return [](int64_t x, int64_t y) -> int64_t { return y ? int64_t(uint64_t(x) / uint64_t(y)) : 0; };
  }
  return nullptr;
}

Function comparison(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return [](int64_t x, int64_t y) { return -int64_t(x == y); };
  case P::ne:
    return [](int64_t x, int64_t y) { return -int64_t(x != y); };
  case P::slt:
    return [](int64_t x, int64_t y) { return -int64_t(x < y); };
  case P::sle:
    return [](int64_t x, int64_t y) { return -int64_t(x <= y); };
  case P::sgt:
    return [](int64_t x, int64_t y) { return -int64_t(x > y); };
  case P::sge:
    return [](int64_t x, int64_t y) { return -int64_t(x >= y); };
  case P::ult:
    return [](int64_t x, int64_t y) { return -int64_t(uint64_t(x) < uint64_t(y)); };
  case P::ule:
    return [](int64_t x, int64_t y) { return -int64_t(uint64_t(x) <= uint64_t(y)); };
  case P::ugt:
    return [](int64_t x, int64_t y) { return -int64_t(uint64_t(x) > uint64_t(y)); };
  case P::uge:
    return [](int64_t x, int64_t y) { return -int64_t(uint64_t(x) >= uint64_t(y)); };
  }
  return nullptr;
}

/// Of operands with their signs; true is -1.
Function functionOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Function>(op)
      .Case([](arith::AddIOp) { return [](int64_t x, int64_t y) { return int64_t(uint64_t(x) + uint64_t(y)); }; })
      .Case([](arith::SubIOp) { return [](int64_t x, int64_t y) { return int64_t(uint64_t(x) - uint64_t(y)); }; })
      .Case([](arith::MulIOp) { return [](int64_t x, int64_t y) { return int64_t(uint64_t(x) * uint64_t(y)); }; })
      .Case([](arith::AndIOp) { return [](int64_t x, int64_t y) { return x & y; }; })
      .Case([](arith::OrIOp) { return [](int64_t x, int64_t y) { return x | y; }; })
      .Case([](arith::XOrIOp) { return [](int64_t x, int64_t y) { return x ^ y; }; })
      .Case([](arith::MaxSIOp) { return [](int64_t x, int64_t y) { return std::max(x, y); }; })
      .Case([](arith::MinSIOp) { return [](int64_t x, int64_t y) { return std::min(x, y); }; })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>([](auto) { return [](int64_t x, int64_t) { return x; }; })
      .Case([](arith::ExtUIOp op) -> Function {
        switch (getElementTypeOrSelf(op.getIn()).getIntOrFloatBitWidth()) {
        case 1:
          return [](int64_t x, int64_t) { return x & 1; };
        case 8:
          return [](int64_t x, int64_t) { return x & 0xff; };
        case 16:
          return [](int64_t x, int64_t) { return x & 0xffff; };
        case 32:
          return [](int64_t x, int64_t) { return x & 0xffffffff; };
        default:
          return nullptr;
        }
      })
      .Case([](arith::CmpIOp op) { return comparison(op.getPredicate()); })
      .Case([](tile::DivOp op) { return division(op.getMode(), false); })
      .Case([](tile::RemOp op) { return division(op.getMode(), true); })
      .Case([](tile::ShiftOp op) -> Function {
        if (op.getMode() == tile::ShiftMode::left)
          return [](int64_t x, int64_t y) -> int64_t { return uint64_t(y) < 64 ? int64_t(uint64_t(x) << y) : 0; };
        if (op.getMode() == tile::ShiftMode::right_signed)
          return [](int64_t x, int64_t y) -> int64_t { return x >> std::min<uint64_t>(uint64_t(y), 63); };
        return nullptr;
      })
      .Default([](Operation *) { return nullptr; });
}
} // namespace

int Scalars::slot(Value value) {
  auto [entry, isNew] = slots.try_emplace(value, int(values.size()));
  if (isNew) {
    values.emplace_back();
    hangsOn.push_back(0);
    if (auto number = analysis::constantOf(value); number && !isa<RankedTensorType>(value.getType()))
      values.back() = {kept(*number, value.getType().getIntOrFloatBitWidth()), true};
  }
  return entry->second;
}

std::optional<Arithmetic> arithmeticOf(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || op->getNumOperands() > 3 ||
      !getElementTypeOrSelf(op->getResult(0)).isSignlessInteger())
    return std::nullopt;
  Arithmetic result;
  result.compute = functionOf(op);
  if (!result.compute && !isa<arith::SelectOp>(op))
    return std::nullopt;
  auto quotient = dyn_cast<tile::DivOp>(op);
  auto rest = dyn_cast<tile::RemOp>(op);
  result.isUnsigned =
      (quotient && quotient.getMode() == tile::IntDivMode::unsigned_) || (rest && rest.getMode() == tile::IntDivMode::unsigned_);
  result.bits = getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth();
  return result;
}

Known Arithmetic::operator()(ArrayRef<Known> operands) const {
  if (!compute)
    return operands[0].is ? operands[operands[0].number ? 1 : 2] : Known();
  const Known x = operands[0], y = operands.size() < 2 ? Known{0, true} : operands[1];
  if (!x.is || !y.is)
    return {};
  auto operand = [&](int64_t number) { return isUnsigned && bits < 64 ? number & ((int64_t(1) << bits) - 1) : number; };
  return {Scalars::kept(compute(operand(x.number), operand(y.number)), bits), true};
}

std::optional<ScalarStep> Scalars::step(Operation *op) {
  std::optional<Arithmetic> arithmetic = arithmeticOf(op);
  if (!arithmetic || isa<RankedTensorType>(op->getResult(0).getType()))
    return std::nullopt;
  ScalarStep step{.arithmetic = *arithmetic};
  step.out = slot(op->getResult(0));
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    step.in[i] = slot(operand);
    hangsOn[step.out] |= hangsOn[step.in[i]];
  }
  return step;
}

void Scalars::run(const ScalarStep &step) {
  SmallVector<Known, 3> operands;
  for (int slot : step.in)
    if (slot >= 0)
      operands.push_back(values[slot]);
  values[step.out] = step.arithmetic(operands);
}

} // namespace tilery::count
