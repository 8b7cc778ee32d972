// Vectors of integers divided by one number: by its reciprocal, which loops compute once.
#include "compiler/lower/quotient.h"
#include "llvm/Analysis/VectorUtils.h"

namespace tilery::lower {

llvm::Value *oneDivisor(Emitter &e, Lanes x, Lanes y, bool isUnsigned) {
  const auto &machine = e.options.target.machine;
  constexpr unsigned registers = 256; // a GPU's threads have narrower vectors
  unsigned bits = x->getType()->getScalarSizeInBits();
  if (machine.vectorBits < registers || e.lanesOf(x) == 1 || bits > 32 ||
      (isUnsigned && bits == 32 && !machine.unsignedVectors) || llvm::isa<llvm::Constant>(y))
    return nullptr;
  return llvm::getSplatValue(y);
}

// The reciprocal of d is taken a little too large, by 2^-52 to 2^-50 of it, so that a product is at least the true quotient, and exceeds it
// by less than 2^-49 of it: for numbers below 2^32 by less than 2^-17 / d, while the next integer above what is none is 1 / d away.
Lanes quotientByOne(Emitter &e, Lanes x, llvm::Value *by, bool isUnsigned) {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(x);
  llvm::Type *narrow = by->getType(), *real = b.getDoubleTy(), *reals = e.vectorOf(real, lanes);
  auto *zero = llvm::Constant::getNullValue(narrow);
  llvm::Value *isZero = b.CreateICmpEQ(by, zero);
  llvm::Value *size = isUnsigned ? by : b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, by, b.getFalse());
  llvm::Value *divisor = b.CreateUIToFP(b.CreateSelect(isZero, llvm::ConstantInt::get(narrow, 1), size), real);
  llvm::Value *reciprocal =
      b.CreateFMul(b.CreateFDiv(llvm::ConstantFP::get(real, 1.0), divisor), llvm::ConstantFP::get(real, 1 + 0x1p-51));
  reciprocal = b.CreateSelect(isZero, llvm::ConstantFP::get(real, 0.0), reciprocal);
  Lanes numbers = isUnsigned ? b.CreateUIToFP(x, reals) : b.CreateSIToFP(x, reals);
  Lanes product = b.CreateFMul(numbers, e.splat(reciprocal, lanes));
  if (isUnsigned)
    return b.CreateFPToUI(product, x->getType());
  Lanes quotient = b.CreateFPToSI(product, x->getType());
  Lanes sign = e.splat(b.CreateAShr(by, narrow->getScalarSizeInBits() - 1), lanes);
  return b.CreateSub(b.CreateXor(quotient, sign), sign);
}

} // namespace tilery::lower
