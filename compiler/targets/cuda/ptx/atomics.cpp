// Atomic updates as single instructions that name their order and scope.
#include "compiler/lower/emitter.h"
#include "compiler/targets/cuda/ptx/lowering.h"
#include "compiler/targets/cuda/ptx/ptx_asm.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/IR/InlineAsm.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Emitter;

static StringRef nameOf(llvm::AtomicOrdering order) {
  switch (order) {
  case llvm::AtomicOrdering::Monotonic:
    return "relaxed";
  case llvm::AtomicOrdering::Acquire:
    return "acquire";
  case llvm::AtomicOrdering::Release:
    return "release";
  default:
    return "acq_rel";
  }
}

static StringRef nameOf(tile::SyncScope scope) {
  return scope == tile::SyncScope::cta ? "cta" : scope == tile::SyncScope::gpu ? "gpu" : "sys";
}

/// "add.u32"; empty: there is no such instruction.
static std::string instructionOf(tile::RmwKind kind, Type element, unsigned bits, unsigned sm) {
  using K = tile::RmwKind;
  std::string width = std::to_string(bits);
  if (kind == K::fadd) {
    if (element.isF16())
      return "add.noftz.f16";
    if (element.isBF16())
      return sm >= 90 ? "add.noftz.bf16" : "";
    return element.isF32() || element.isF64() ? "add.f" + width : "";
  }
  if (bits < 32)
    return "";
  switch (kind) {
  case K::add:
    return "add.u" + width;
  case K::max:
    return "max.s" + width;
  case K::min:
    return "min.s" + width;
  case K::umax:
    return "max.u" + width;
  case K::umin:
    return "min.u" + width;
  case K::and_:
    return "and.b" + width;
  case K::or_:
    return "or.b" + width;
  case K::xor_:
    return "xor.b" + width;
  case K::exchange:
    return "exch.b" + width;
  default:
    return "";
  }
}

/// atom.global`text` of bits in memory; gives the old ones.
static llvm::Value *atomic(Emitter &e, const std::string &text, llvm::Value *pointer, ArrayRef<llvm::Value *> values) {
  auto &b = e.b;
  llvm::Type *type = values.front()->getType();
  char kind = type->isIntegerTy(16) ? 'h' : type->isIntegerTy(32) ? 'r' : 'l';
  std::string line = "atom.global" + text + " $0, [$1]", constraints = std::string("=") + kind + ",l";
  SmallVector<llvm::Value *> args{b.CreateAddrSpaceCast(pointer, b.getPtrTy(1))};
  for (llvm::Value *value : values) {
    line += ", $" + std::to_string(args.size() + 1);
    constraints += std::string(",") + kind;
    args.push_back(value);
  }
  SmallVector<llvm::Type *> types;
  for (llvm::Value *arg : args)
    types.push_back(arg->getType());
  auto *call =
      b.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(type, types, false), line + ";", constraints + ",~{memory}",
                                        /*hasSideEffects=*/true),
                   args);
  call->setDoesNotThrow();
  return call;
}

/// Floats of 32 or 64 bits by instructions for integers: as signed ones they are in order where the sign of one is clear, as unsigned ones in
/// reverse where it is set. NaN loses: one that the order of integers puts in front is replaced when it was seen. (-0 and +0 are in order.)
static llvm::Value *updateByOrder(Emitter &e, bool isMax, llvm::Value *pointer, llvm::Value *bits, const std::string &order,
                                  function_ref<llvm::Value *(llvm::Value *, llvm::Value *)> swap) {
  auto &b = e.b;
  unsigned width = bits->getType()->getIntegerBitWidth();
  auto number = [&](const APInt &value) { return llvm::ConstantInt::get(e.context(), value); };
  APInt infinity =
      (width == 32 ? APFloat::getInf(APFloat::IEEEsingle()) : APFloat::getInf(APFloat::IEEEdouble())).bitcastToAPInt();
  APInt sign = APInt::getSignMask(width);
  llvm::Value *isNaN = b.CreateICmpUGT(b.CreateAnd(bits, number(~sign)), number(infinity));
  llvm::Value *isNegative = b.CreateOr(b.CreateICmpSLT(bits, number(APInt::getZero(width))), isNaN);
  llvm::Value *operand = b.CreateSelect(isNaN, number(isMax ? APInt::getAllOnes(width) : APInt::getZero(width)), bits);
  auto newBlock = [&] { return llvm::BasicBlock::Create(e.context(), "", b.GetInsertBlock()->getParent()); };
  llvm::BasicBlock *start = newBlock(), *negative = newBlock(), *positive = newBlock(), *seen = newBlock(), *mend = newBlock(),
                   *done = newBlock();
  b.CreateBr(start);
  b.SetInsertPoint(start);
  b.CreateCondBr(isNegative, negative, positive);
  std::string type = std::to_string(width);
  b.SetInsertPoint(negative);
  llvm::Value *below = atomic(e, order + (isMax ? "min.u" : "max.u") + type, pointer, operand);
  b.CreateBr(seen);
  b.SetInsertPoint(positive);
  llvm::Value *above = atomic(e, order + (isMax ? "max.s" : "min.s") + type, pointer, operand);
  b.CreateBr(seen);
  b.SetInsertPoint(seen);
  llvm::PHINode *old = b.CreatePHI(bits->getType(), 2);
  old->addIncoming(below, negative);
  old->addIncoming(above, positive);
  llvm::Value *stays = isMax ? b.CreateICmpSGT(old, number(infinity)) : b.CreateICmpUGT(old, number(infinity | sign));
  b.CreateCondBr(b.CreateAnd(stays, b.CreateNot(isNaN)), mend, done);
  b.SetInsertPoint(mend);
  b.CreateCondBr(b.CreateICmpEQ(swap(old, bits), old), done, start);
  b.SetInsertPoint(done);
  return old;
}

bool GpuLowering::ordersAtomics(unsigned bits, llvm::AtomicOrdering order) const {
  return approximates && bits >= 16 && order != llvm::AtomicOrdering::SequentiallyConsistent;
}

llvm::Value *GpuLowering::update(Emitter &e, tile::RmwKind kind, Type element, llvm::Value *pointer, llvm::Value *bits,
                                 const lower::AtomicOrder &as) const {
  unsigned width = bits->getType()->getIntegerBitWidth();
  if (!ordersAtomics(width, as.order))
    return nullptr;
  std::string order = ("." + nameOf(as.scope) + "." + nameOf(as.order) + ".").str();
  if ((kind == tile::RmwKind::fmax || kind == tile::RmwKind::fmin) && width >= 32)
    return updateByOrder(e, kind == tile::RmwKind::fmax, pointer, bits, order, [&](llvm::Value *expected, llvm::Value *desired) {
      return compareAndSwap(e, pointer, expected, desired, as);
    });
  std::string instruction = instructionOf(kind, element, width, sm);
  return instruction.empty() ? nullptr : atomic(e, order + instruction, pointer, bits);
}

unsigned GpuLowering::addsTogether(Type element) const {
  constexpr unsigned most = 16; // bytes
  bool can = sm >= 90 && (element.isF32() || element.isF16() || element.isBF16());
  return can ? most / tile::elementBytes(element) : 1;
}

bool GpuLowering::addTogether(Emitter &e, Type element, llvm::Value *pointer, llvm::Value *bits, tile::SyncScope scope) const {
  if (!approximates)
    return false;
  auto &b = e.b;
  unsigned words = tile::elementBytes(element) * cast<llvm::FixedVectorType>(bits->getType())->getNumElements() / 4;
  std::string kind = element.isF32() ? "f32" : element.isF16() ? "f16x2" : "bf16x2", list, constraints = "l";
  SmallVector<llvm::Value *> args{b.CreateAddrSpaceCast(pointer, b.getPtrTy(1))};
  llvm::Value *all = b.CreateBitCast(bits, llvm::FixedVectorType::get(b.getInt32Ty(), words));
  for (unsigned i = 0; i < words; ++i) {
    list += (i ? ", $" : "$") + std::to_string(i + 1);
    constraints += ",r";
    args.push_back(b.CreateExtractElement(all, uint64_t(i)));
  }
  std::string text = "red.relaxed." + nameOf(scope).str() + ".global.add" + (element.isF32() ? "" : ".noftz");
  text += words > 1 ? ".v" + std::to_string(words) + "." + kind + " [$0], {" + list + "};" : "." + kind + " [$0], " + list + ";";
  assembly(b, text, constraints + ",~{memory}", args);
  return true;
}

llvm::Value *GpuLowering::compareAndSwap(Emitter &e, llvm::Value *pointer, llvm::Value *expected, llvm::Value *desired,
                                         const lower::AtomicOrder &as) const {
  unsigned width = expected->getType()->getIntegerBitWidth();
  if (!ordersAtomics(width, as.order))
    return nullptr;
  return atomic(e, ("." + nameOf(as.order) + "." + nameOf(as.scope) + ".cas.b" + Twine(width)).str(), pointer,
                {expected, desired});
}

} // namespace tilery::cuda
