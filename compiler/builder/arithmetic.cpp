// Operators: promotion, broadcasting, then one op.
#include "compiler/builder/impl.h"
#include "mlir/IR/Matchers.h"

namespace tilery {
namespace arith = mlir::arith;

static bool compares(BinaryOp op) { return op >= BinaryOp::Eq && op <= BinaryOp::Ge; }

static arith::CmpIPredicate integerPredicate(BinaryOp op, bool isSigned) {
  switch (op) {
  case BinaryOp::Eq:
    return arith::CmpIPredicate::eq;
  case BinaryOp::Ne:
    return arith::CmpIPredicate::ne;
  case BinaryOp::Lt:
    return isSigned ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult;
  case BinaryOp::Le:
    return isSigned ? arith::CmpIPredicate::sle : arith::CmpIPredicate::ule;
  case BinaryOp::Gt:
    return isSigned ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::ugt;
  default:
    return isSigned ? arith::CmpIPredicate::sge : arith::CmpIPredicate::uge;
  }
}
static arith::CmpFPredicate floatPredicate(BinaryOp op) {
  switch (op) {
  case BinaryOp::Eq:
    return arith::CmpFPredicate::OEQ;
  case BinaryOp::Ne:
    return arith::CmpFPredicate::UNE;
  case BinaryOp::Lt:
    return arith::CmpFPredicate::OLT;
  case BinaryOp::Le:
    return arith::CmpFPredicate::OLE;
  case BinaryOp::Gt:
    return arith::CmpFPredicate::OGT;
  default:
    return arith::CmpFPredicate::OGE;
  }
}

static void unsupported(Builder &self, BinaryOp op, DType type) {
  std::string hint = isFloat8(type)  ? std::string("convert to float32 first: ") + spelling().conversion
                     : isFloat(type) ? std::string("only integers have bits: convert to one first, by ") + spelling().conversion
                                     : "";
  self.fail(Diagnostic::Kind::Type, std::string("invalid operands of type ") + dtypeName(type) + " for operator " + symbolOf(op),
            hint);
}

/// 1 in all lanes, also where a program's number was spread over them.
static bool isOne(mlir::Value value) {
  auto splat = value.getDefiningOp<tile::SplatOp>();
  return matchPattern(splat ? splat.getValue() : value, mlir::m_OneFloat());
}

static mlir::Value floatOp(Builder &self, Builder::Impl &impl, BinaryOp op, mlir::Value x, mlir::Value y, DType type) {
  // What stands between a product and the sums that it is added to would keep them apart.
  if ((op == BinaryOp::Mul || op == BinaryOp::TrueDiv || op == BinaryOp::RoundDiv) && isOne(y))
    return x;
  if (op == BinaryOp::Mul && isOne(x))
    return y;
  switch (op) {
  case BinaryOp::Add:
    return impl.create<arith::AddFOp>(x, y);
  case BinaryOp::Sub:
    return impl.create<arith::SubFOp>(x, y);
  case BinaryOp::Mul:
    return impl.create<arith::MulFOp>(x, y);
  case BinaryOp::TrueDiv: {
    auto quotient = impl.create<arith::DivFOp>(x, y);
    if ((self.policy() == Policy::Triton || impl.fastMath) && type == DType::F32)
      quotient.setFastmath(arith::FastMathFlags::arcp);
    return quotient;
  }
  case BinaryOp::RoundDiv:
    return impl.create<arith::DivFOp>(x, y);
  case BinaryOp::TruncMod:
    return impl.create<arith::RemFOp>(x, y);
  case BinaryOp::Pow:
    return impl.approximated(impl.create<mlir::math::PowFOp>(x, y));
  case BinaryOp::Min:
    return impl.create<arith::MinNumFOp>(x, y);
  case BinaryOp::Max:
    return impl.create<arith::MaxNumFOp>(x, y);
  case BinaryOp::MinNan:
    return impl.create<arith::MinimumFOp>(x, y);
  case BinaryOp::MaxNan:
    return impl.create<arith::MaximumFOp>(x, y);
  case BinaryOp::Mod:
    if (self.policy() == Policy::Triton)
      return impl.create<arith::RemFOp>(x, y);
    [[fallthrough]];
  case BinaryOp::FloorDiv: {
    if (self.policy() == Policy::Triton)
      break;
    mlir::Value quotient = impl.create<mlir::math::FloorOp>(impl.create<arith::DivFOp>(x, y).getResult());
    return op == BinaryOp::FloorDiv
               ? quotient
               : impl.create<arith::SubFOp>(x, impl.create<arith::MulFOp>(quotient, y).getResult()).getResult();
  }
  default:
    break;
  }
  unsupported(self, op, type);
  return {};
}

/// One is the stride of a last dimension: its quotients change from element to element, and hide that places are neighbours. Numbers stay
/// as they were written: how often a loop has gone around is read of a ring's `i // 1`, too.
static bool dividesTileByOne(mlir::Value x, mlir::Value y) {
  return mlir::isa<mlir::RankedTensorType>(x.getType()) && matchPattern(y, mlir::m_One());
}

/// `sign`: of what is divided, compared or shifted. Of a shift to the right that is the left operand's, whatever the common type, but in
/// TileLang, where operands are converted first.
static mlir::Value integerOp(Builder &self, Builder::Impl &impl, BinaryOp op, mlir::Value x, mlir::Value y, DType type,
                             bool sign) {
  bool floors = self.policy() == Policy::Tir && op != BinaryOp::TruncDiv && op != BinaryOp::TruncMod;
  auto mode = !sign ? tile::IntDivMode::unsigned_ : floors ? tile::IntDivMode::floor : tile::IntDivMode::trunc;
  switch (op) {
  case BinaryOp::Add:
    return impl.create<arith::AddIOp>(x, y);
  case BinaryOp::Sub:
    return impl.create<arith::SubIOp>(x, y);
  case BinaryOp::Mul:
    return impl.create<arith::MulIOp>(x, y);
  case BinaryOp::FloorDiv:
  case BinaryOp::TruncDiv:
    return dividesTileByOne(x, y) ? x : impl.create<tile::DivOp>(x.getType(), x, y, mode).getResult();
  case BinaryOp::Mod:
  case BinaryOp::TruncMod:
    if (dividesTileByOne(x, y))
      return impl.create<arith::ConstantOp>(mlir::cast<mlir::TypedAttr>(impl.b.getZeroAttr(x.getType())));
    return impl.create<tile::RemOp>(x.getType(), x, y, mode);
  case BinaryOp::And:
  case BinaryOp::LogicalAnd:
    return impl.create<arith::AndIOp>(x, y);
  case BinaryOp::Or:
  case BinaryOp::LogicalOr:
    return impl.create<arith::OrIOp>(x, y);
  case BinaryOp::Xor:
    return impl.create<arith::XOrIOp>(x, y);
  case BinaryOp::Shl:
    return impl.create<tile::ShiftOp>(x.getType(), x, y, tile::ShiftMode::left);
  case BinaryOp::Shr:
    return impl.create<tile::ShiftOp>(x.getType(), x, y, sign ? tile::ShiftMode::right_signed : tile::ShiftMode::right_unsigned);
  case BinaryOp::Min:
  case BinaryOp::MinNan:
    return sign ? impl.create<arith::MinSIOp>(x, y).getResult() : impl.create<arith::MinUIOp>(x, y).getResult();
  case BinaryOp::Max:
  case BinaryOp::MaxNan:
    return sign ? impl.create<arith::MaxSIOp>(x, y).getResult() : impl.create<arith::MaxUIOp>(x, y).getResult();
  case BinaryOp::MulHigh:
    return impl.create<tile::MulHighOp>(x.getType(), x, y, !sign);
  default:
    unsupported(self, op, type);
    return {};
  }
}

/// Stops the launch where a sum, difference or product of two integers of one type below 64 bits does not fit that type.
static void assertFits(Builder &self, Builder::Impl &impl, BinaryOp op, const std::vector<Value> &operands) {
  DType type = operands[0].dtype();
  Value x = self.cast(operands[0], DType::I64), y = self.cast(operands[1], DType::I64);
  Value exact = impl.wrap(integerOp(self, impl, op, impl.raw(x), impl.raw(y), DType::I64, true), DType::I64);
  int64_t least = isSigned(type) ? -(int64_t(1) << (bitWidth(type) - 1)) : 0;
  int64_t greatest = (int64_t(1) << (bitWidth(type) - isSigned(type))) - 1;
  Value fits = self.binary(BinaryOp::LogicalAnd, self.binary(BinaryOp::Ge, exact, Literal(least)),
                           self.binary(BinaryOp::Le, exact, Literal(greatest)));
  const char *name = op == BinaryOp::Add ? "add" : op == BinaryOp::Sub ? "sub" : "mul";
  self.assertTrue(fits, "int" + std::to_string(bitWidth(type)) + " overflow detected for operation " + name, std::nullopt);
}

Value Builder::binary(BinaryOp op, const Operand &lhs, const Operand &rhs) {
  auto *left = std::get_if<Value>(&lhs), *right = std::get_if<Value>(&rhs);
  bool leftPointer = left && left->type.pointer, rightPointer = right && right->type.pointer;
  if (leftPointer || rightPointer) {
    const Value &pointer = leftPointer ? *left : *right;
    if (op == BinaryOp::Add || (op == BinaryOp::Sub && leftPointer))
      return impl->offsetPointer(op, pointer, leftPointer ? rhs : lhs);
    requireNumbers(pointer, std::string("operator ") + symbolOf(op));
  }
  if (op == BinaryOp::LogicalAnd || op == BinaryOp::LogicalOr) {
    auto both = broadcast({cast(lhs, DType::Bool), cast(rhs, DType::Bool)});
    return impl->wrap(integerOp(*this, *impl, op, impl->raw(both[0]), impl->raw(both[1]), DType::Bool, false), DType::Bool);
  }
  DType type = commonType(lhs, rhs, op);
  if ((op == BinaryOp::TrueDiv || op == BinaryOp::RoundDiv) && !isFloat(type))
    type = DType::F32;
  bool shifts = op == BinaryOp::Shl || op == BinaryOp::Shr;
  if (isFloat(type) && (shifts || op == BinaryOp::And || op == BinaryOp::Or || op == BinaryOp::Xor || op == BinaryOp::MulHigh))
    unsupported(*this, op, type);
  if (isBool(type) && (op == BinaryOp::FloorDiv || op == BinaryOp::Mod || op == BinaryOp::Pow ||
                       (impl->policy == Policy::Tir && op <= BinaryOp::Mul)))
    type = DType::I32;
  // A literal becomes a constant of its own shape only if both are literals; else it takes the other's shape at once.
  auto typed = [&](const Operand &operand, const Operand &other) {
    if (auto *literal = std::get_if<Literal>(&operand))
      return impl->constant(*literal,
                            Type{type, std::holds_alternative<Value>(other) ? std::get<Value>(other).shape() : Shape()});
    return cast(operand, type);
  };
  auto both = broadcast({typed(lhs, rhs), typed(rhs, lhs)});
  mlir::Value x = impl->raw(both[0]), y = impl->raw(both[1]);
  if (compares(op))
    return impl->wrap(isFloat(type) ? impl->create<arith::CmpFOp>(floatPredicate(op), x, y).getResult()
                                    : impl->create<arith::CmpIOp>(integerPredicate(op, isSigned(type)), x, y).getResult(),
                      DType::Bool);
  if (isFloat(type) && !isFloat8(type)) {
    bool wide = type == DType::BF16 && (op == BinaryOp::Min || op == BinaryOp::Max || op == BinaryOp::MinNan ||
                                        op == BinaryOp::MaxNan || op == BinaryOp::Pow);
    if (!wide)
      return impl->wrap(floatOp(*this, *impl, op, x, y, type), type);
    Value result = impl->wrap(
        floatOp(*this, *impl, op, impl->raw(cast(both[0], DType::F32)), impl->raw(cast(both[1], DType::F32)), DType::F32),
        DType::F32);
    return cast(result, type);
  }
  if (isFloat8(type))
    unsupported(*this, op, type);
  if (impl->checksOverflow && op <= BinaryOp::Mul && isInteger(type) && bitWidth(type) < 64)
    assertFits(*this, *impl, op, both);
  bool sign = isSigned(op == BinaryOp::Shr && left && impl->policy != Policy::Tir ? left->dtype() : type);
  return impl->wrap(integerOp(*this, *impl, op, x, y, type, sign), type);
}

Value Builder::unary(UnaryOp op, const Value &value) {
  requireNumbers(value, std::string("operator ") + symbolOf(op));
  DType type = value.dtype();
  mlir::Value x = impl->raw(value);
  auto filled = [&](int64_t number) { return impl->raw(impl->constant(Literal(number), value.type)); };
  switch (op) {
  case UnaryOp::Pos:
    return value;
  case UnaryOp::Neg:
    return impl->like(isFloat(type) ? impl->create<arith::NegFOp>(x).getResult()
                                    : impl->create<arith::SubIOp>(filled(0), x).getResult(),
                      value.type);
  case UnaryOp::Invert:
    if (isFloat(type))
      fail(Diagnostic::Kind::Type, std::string("operator ~ does not take ") + dtypeName(type));
    return impl->like(impl->create<arith::XOrIOp>(x, isBool(type) ? filled(1) : filled(-1)), value.type);
  case UnaryOp::LogicalNot: {
    Value truth = cast(value, DType::Bool);
    return impl->like(impl->create<arith::XOrIOp>(impl->raw(truth), impl->raw(impl->constant(Literal(true), truth.type))),
                      truth.type);
  }
  case UnaryOp::Abs:
    if (isFloat(type))
      return impl->like(impl->create<mlir::math::AbsFOp>(x), value.type);
    if (!isSigned(type))
      return value;
    return select(binary(BinaryOp::Lt, value, Literal(int64_t(0))), unary(UnaryOp::Neg, value), value);
  }
  return value;
}

Value Builder::select(const Operand &condition, const Operand &x, const Operand &y) {
  Value first = materialize(x), second = materialize(y);
  if (first.type.pointer || second.type.pointer) {
    if (first.type.pointer != second.type.pointer)
      impl->failAddress("one value of a selection is a number", first.type.pointer ? first : second);
    if (first.type.pointer != second.type.pointer || first.dtype() != second.dtype())
      fail(Diagnostic::Kind::Type,
           "both values of a selection must have one type, got " + first.type.str() + " and " + second.type.str());
  } else {
    DType type = commonType(x, y, BinaryOp::Add);
    first = cast(x, type);
    second = cast(y, type);
  }
  auto all = broadcast({cast(condition, DType::Bool), first, second});
  return impl->like(impl->create<arith::SelectOp>(impl->raw(all[0]), impl->raw(all[1]), impl->raw(all[2])), all[1].type);
}

} // namespace tilery
