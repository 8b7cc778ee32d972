// Atomic updates as single instructions that name their order and scope.
#include "compiler/lower/emitter.h"
#include "compiler/targets/cuda/lowering.h"
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

bool GpuLowering::ordersAtomics(unsigned bits, llvm::AtomicOrdering order) const {
  return approximates && bits >= 16 && order != llvm::AtomicOrdering::SequentiallyConsistent;
}

llvm::Value *GpuLowering::update(Emitter &e, tile::RmwKind kind, Type element, llvm::Value *pointer, llvm::Value *bits,
                                 const lower::AtomicOrder &as) const {
  unsigned width = bits->getType()->getIntegerBitWidth();
  std::string instruction = instructionOf(kind, element, width, sm);
  if (instruction.empty() || !ordersAtomics(width, as.order))
    return nullptr;
  return atomic(e, ("." + nameOf(as.scope) + "." + nameOf(as.order) + "." + instruction).str(), pointer, bits);
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
