#include "compiler/lower/quotient.h"
#include "compiler/lower/branch.h"
#include "compiler/lower/floats.h"
#include "llvm/Analysis/VectorUtils.h"

using namespace mlir;

namespace tilery::lower {

/// A GPU's threads have narrower vectors than CPUs, and divide numbers of 32 bits one by one in a dozen instructions.
static bool ofThread(Emitter &e) {
  constexpr unsigned registers = 256;
  return e.options.target.machine.vectorBits < registers;
}

// Of 64 bits that are mostly indices: where all lanes of both fit into 31, as those of 32 bits.
static Lanes quotientOfIndices(Emitter &e, Lanes x, Lanes y, bool isUnsigned) {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(x);
  auto number = [&](uint64_t value) { return llvm::ConstantInt::get(x->getType(), value); };
  auto *bias = number(isUnsigned ? 0 : 1 << 30);
  Lanes high = b.CreateLShr(b.CreateOr(b.CreateAdd(x, bias), b.CreateAdd(y, bias)), number(isUnsigned ? 30 : 31));
  llvm::Type *narrow = e.vectorOf(b.getInt32Ty(), lanes), *real = e.vectorOf(b.getDoubleTy(), lanes);
  auto exact = [&](Lanes v) { return b.CreateSIToFP(b.CreateTrunc(v, narrow), real); };
  auto ofIndices = [&] { return Values{b.CreateSExt(b.CreateFPToSI(b.CreateFDiv(exact(x), exact(y)), narrow), x->getType())}; };
  auto ofNumbers = [&] { return Values{isUnsigned ? b.CreateUDiv(x, y) : b.CreateSDiv(x, y)}; };
  return emitEither(b, b.CreateICmpEQ(b.CreateOrReduce(high), b.getInt64(0)), ofIndices, ofNumbers)[0];
}

/// Lane by lane: LLVM looks whether a scalar of 64 bits fits into 32 before it divides.
static Lanes quotientOfEach(Emitter &e, Lanes x, Lanes y, bool isUnsigned) {
  auto &b = e.b;
  Lanes result = llvm::PoisonValue::get(x->getType());
  for (unsigned lane = 0; lane < e.lanesOf(x); ++lane) {
    llvm::Value *of = b.CreateExtractElement(x, lane), *by = b.CreateExtractElement(y, lane);
    result = b.CreateInsertElement(result, isUnsigned ? b.CreateUDiv(of, by) : b.CreateSDiv(of, by), lane);
  }
  return result;
}

// Hardly a CPU divides vectors of integers, and LLVM divides lane by lane. In double, n / d of 32-bit integers has the right integer
// part: it is at least 1 / d away from the next integer that it is not, which is more than 2^-53 of it.
Lanes quotientOf(Emitter &e, Lanes x, Lanes y, bool isUnsigned) {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(x), bits = x->getType()->getScalarSizeInBits();
  if (lanes == 1 || llvm::isa<llvm::Constant>(y))
    return isUnsigned ? b.CreateUDiv(x, y) : b.CreateSDiv(x, y);
  if (ofThread(e))
    return quotientOfEach(e, x, y, isUnsigned);
  if (bits == 64)
    return callOwnFunction(e, isUnsigned ? "udiv" : "sdiv", {x, y},
                           [&](llvm::ArrayRef<Lanes> of) { return quotientOfIndices(e, of[0], of[1], isUnsigned); });
  if (bits > 32 || (isUnsigned && bits == 32 && !e.options.target.machine.unsignedVectors))
    return isUnsigned ? b.CreateUDiv(x, y) : b.CreateSDiv(x, y);
  llvm::Type *real = e.vectorOf(b.getDoubleTy(), lanes);
  if (isUnsigned)
    return b.CreateFPToUI(b.CreateFDiv(b.CreateUIToFP(x, real), b.CreateUIToFP(y, real)), x->getType());
  return b.CreateFPToSI(b.CreateFDiv(b.CreateSIToFP(x, real), b.CreateSIToFP(y, real)), x->getType());
}

bool isOneNumber(Value tile) {
  for (Operation *op = tile.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp()) {
    if (isa<tile::SplatOp>(op))
      return !op->getOperand(0).getDefiningOp<arith::ConstantOp>();
    if (!isa<tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
      return false;
  }
  return false;
}

namespace {

/// Division of whole numbers by one that is not negative. With m = floor((2^w - 1) / d), n m / 2^w is below n / d by n (1 + e) / (d 2^w) with
/// 0 <= e < d, which is less than 1: the integer part of the product is right or one too small, and what is left over says which.
struct Reciprocal {
  Emitter &e;
  llvm::Value *by, *factor; // scalars

  Reciprocal(Emitter &e, llvm::Value *divisor) : e(e) {
    auto *type = divisor->getType();
    by = e.intrinsic(llvm::Intrinsic::umax, {divisor, llvm::ConstantInt::get(type, 1)}, {type});
    factor = e.b.CreateUDiv(llvm::Constant::getAllOnesValue(type), by);
  }
  Lanes quotient(Lanes n) {
    auto &b = e.b;
    unsigned lanes = e.lanesOf(n), bits = n->getType()->getScalarSizeInBits();
    llvm::Type *wide = e.vectorOf(b.getIntNTy(2 * bits), lanes);
    Lanes product = b.CreateMul(b.CreateZExt(n, wide), b.CreateZExt(e.splat(factor, lanes), wide));
    Lanes few = b.CreateTrunc(b.CreateLShr(product, bits), n->getType()), divisor = e.splat(by, lanes);
    Lanes rest = b.CreateSub(n, b.CreateMul(few, divisor));
    return b.CreateAdd(few, b.CreateZExt(b.CreateICmpUGE(rest, divisor), n->getType()));
  }
};

/// Of numbers of one width.
Lanes quotientByReciprocal(Emitter &e, Lanes x, llvm::Value *y, bool isUnsigned) {
  auto &b = e.b;
  if (isUnsigned)
    return Reciprocal(e, y).quotient(x);
  // The least number is its own negative: as one without a sign, what it should be.
  auto sizeOf = [&](Lanes v) { return e.intrinsic(llvm::Intrinsic::abs, {v, b.getFalse()}, {v->getType()}); };
  Lanes sign = b.CreateAShr(b.CreateXor(x, e.splat(y, e.lanesOf(x))), x->getType()->getScalarSizeInBits() - 1);
  return b.CreateSub(b.CreateXor(Reciprocal(e, sizeOf(y)).quotient(sizeOf(x)), sign), sign);
}

// Of 64 bits, which are mostly indices: where what is divided fits into 32, without signs, so does all the rest. A product of 64 bits takes as
// long as a dozen of those.
Lanes quotientOfLong(Emitter &e, Lanes x, Lanes y, bool isUnsigned) {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(x);
  llvm::Type *narrow = b.getInt32Ty(), *narrows = e.vectorOf(narrow, lanes);
  llvm::Value *divisor = lanes == 1 ? y : b.CreateExtractElement(y, uint64_t(0)), *high = divisor;
  for (unsigned lane = 0; lane < lanes; ++lane)
    high = b.CreateOr(high, lanes == 1 ? x : b.CreateExtractElement(x, lane));
  Reciprocal ofIndices(e, b.CreateTrunc(divisor, narrow));
  return emitEither(
      b, b.CreateICmpEQ(b.CreateLShr(high, 32), e.i64(0)),
      [&] { return Values{b.CreateZExt(ofIndices.quotient(b.CreateTrunc(x, narrows)), x->getType())}; },
      [&] { return Values{quotientByReciprocal(e, x, divisor, isUnsigned)}; })[0];
}

} // namespace

// What branches is a function of its own: code may be emitted into the middle of a block.
Lanes quotientByUniform(Emitter &e, Lanes x, Lanes y, bool isUnsigned) {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(x), bits = x->getType()->getScalarSizeInBits();
  llvm::Value *divisor = lanes == 1 ? y : llvm::getSplatValue(y);
  if (!ofThread(e) || !divisor || llvm::isa<llvm::Constant>(divisor) || bits > 64)
    return nullptr;
  if (bits < 32) {
    llvm::Type *narrow = b.getInt32Ty(), *narrows = e.vectorOf(narrow, lanes);
    auto widen = [&](Lanes v, llvm::Type *to) { return isUnsigned ? b.CreateZExt(v, to) : b.CreateSExt(v, to); };
    return b.CreateTrunc(quotientByReciprocal(e, widen(x, narrows), widen(divisor, narrow), isUnsigned), x->getType());
  }
  if (bits == 32)
    return quotientByReciprocal(e, x, divisor, isUnsigned);
  auto *call =
      llvm::cast<llvm::CallInst>(callOwnFunction(e, isUnsigned ? "udiv.one" : "sdiv.one", {x, y}, [&](llvm::ArrayRef<Lanes> of) {
        return quotientOfLong(e, of[0], of[1], isUnsigned);
      }));
  call->getCalledFunction()->addFnAttr(llvm::Attribute::AlwaysInline);
  return call;
}

} // namespace tilery::lower
