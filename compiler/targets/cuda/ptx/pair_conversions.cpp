#include "compiler/targets/cuda/ptx/pair_conversions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tilery::cuda {
namespace {
/// LLVM computes in `type` itself what extensions from it alone are computed to, and fuses its products with sums: it has to see the conversion.
bool isOfExtended(llvm::Value *value, llvm::Type *type) {
  auto *computed = llvm::dyn_cast<llvm::Instruction>(value);
  if (!computed)
    return false;
  auto isExtension = [&](llvm::Value *operand) {
    auto *extension = llvm::dyn_cast<llvm::FPExtInst>(operand);
    return extension && extension->getSrcTy() == type;
  };
  auto isKnown = [&](llvm::Value *operand) {
    return isExtension(operand) || llvm::isa<llvm::Constant>(operand) || operand->getType() != value->getType();
  };
  return isExtension(value) || (llvm::any_of(computed->operands(), isExtension) && llvm::all_of(computed->operands(), isKnown));
}

bool isOfPairs(const llvm::Instruction &instruction) {
  auto *to = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
  return llvm::isa<llvm::FPTruncInst>(instruction) && to && to->getNumElements() % 2 == 0 && to->getScalarSizeInBits() == 16 &&
         instruction.getOperand(0)->getType()->getScalarType()->isFloatTy() && !isOfExtended(instruction.getOperand(0), to);
}

llvm::Value *inPairs(llvm::FPTruncInst &conversion) {
  llvm::IRBuilder<> b(&conversion);
  auto *type = llvm::cast<llvm::FixedVectorType>(conversion.getType());
  auto id = type->getElementType()->isHalfTy() ? llvm::Intrinsic::nvvm_ff2f16x2_rn : llvm::Intrinsic::nvvm_ff2bf16x2_rn;
  llvm::Value *from = conversion.getOperand(0), *result = llvm::PoisonValue::get(type);
  for (uint64_t i = 0; i < type->getNumElements(); i += 2) {
    llvm::Value *pair = b.CreateIntrinsic(id, {}, {b.CreateExtractElement(from, i + 1), b.CreateExtractElement(from, i)});
    if (type->getNumElements() == 2)
      return pair;
    for (uint64_t j : {0, 1})
      result = b.CreateInsertElement(result, b.CreateExtractElement(pair, j), i + j);
  }
  return result;
}
} // namespace

void pairConversions(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (isOfPairs(instruction)) {
        instruction.replaceAllUsesWith(inPairs(llvm::cast<llvm::FPTruncInst>(instruction)));
        instruction.eraseFromParent();
      }
}

} // namespace tilery::cuda
