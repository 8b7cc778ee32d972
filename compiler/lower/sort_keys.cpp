#include "compiler/lower/sort_keys.h"

using namespace mlir;

namespace tilery::lower {
namespace {
unsigned widthOf(Type element) { return 8 * elementBytes(element); }

/// Bits of a float whose sign bit is taken for that of an integer <-> an integer in the floats' order: those below 0 run the other way.
Lanes turnNegative(Emitter &e, Lanes bits, unsigned width) {
  auto *type = bits->getType();
  llvm::Value *sign = e.b.CreateAShr(bits, llvm::ConstantInt::get(type, width - 1));
  return e.b.CreateXor(bits, e.b.CreateAnd(sign, llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(width))));
}

/// The greatest bits of a float without a sign that are no NaN.
llvm::APInt lastNumber(FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  bool infinite = llvm::APFloat::semanticsHasInf(semantics);
  return (infinite ? llvm::APFloat::getInf(semantics) : llvm::APFloat::getLargest(semantics)).bitcastToAPInt();
}
} // namespace

llvm::APInt lastSortKey(tile::SortOp op) { return llvm::APInt::getSignedMaxValue(widthOf(elementOf(op.getResult()))); }

Lanes sortKey(Emitter &e, tile::SortOp op, Lanes value) {
  auto &b = e.b;
  Type element = elementOf(op.getResult());
  unsigned width = widthOf(element);
  llvm::Type *type = e.vectorOf(b.getIntNTy(width), Emitter::lanesOf(value));
  auto number = [&](const llvm::APInt &bits) { return llvm::ConstantInt::get(type, bits); };
  if (auto floating = dyn_cast<FloatType>(element)) {
    llvm::Value *bits = b.CreateBitCast(value, type), *last = number(lastSortKey(op));
    llvm::Value *isNaN = b.CreateICmpUGT(b.CreateAnd(bits, last), number(lastNumber(floating)));
    llvm::Value *key = turnNegative(e, bits, width);
    return b.CreateSelect(isNaN, last, op.getDescending() ? b.CreateNot(key) : key);
  }
  bool isUnsigned = op.getIsUnsigned() || value->getType()->isPtrOrPtrVectorTy();
  llvm::Value *key = value->getType()->isPtrOrPtrVectorTy() ? b.CreatePtrToInt(value, type)
                     : isUnsigned                           ? b.CreateZExt(value, type)
                                                            : b.CreateSExt(value, type);
  if (isUnsigned)
    key = b.CreateXor(key, number(llvm::APInt::getSignMask(width)));
  return op.getDescending() ? b.CreateNot(key) : key;
}

Lanes valueOfSortKey(Emitter &e, tile::SortOp op, Lanes key) {
  auto &b = e.b;
  Type element = elementOf(op.getResult());
  unsigned width = widthOf(element), lanes = Emitter::lanesOf(key);
  llvm::Type *type = e.vectorOf(e.valueType(element), lanes);
  if (op.getDescending())
    key = b.CreateNot(key);
  if (isa<FloatType>(element))
    return b.CreateBitCast(turnNegative(e, key, width), type);
  if (op.getIsUnsigned() || type->isPtrOrPtrVectorTy())
    key = b.CreateXor(key, llvm::ConstantInt::get(key->getType(), llvm::APInt::getSignMask(width)));
  return type->isPtrOrPtrVectorTy() ? b.CreateIntToPtr(key, type) : b.CreateTrunc(key, type);
}

} // namespace tilery::lower
