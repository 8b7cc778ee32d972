// Staged operands to a warp's registers, and their products.
#include "compiler/targets/cuda/mma/mma.h"

using namespace mlir;

namespace tilery::cuda {

// laneA and laneB: an instruction takes 32 bytes of k (the fused forms 16) of 16 rows of A and 8 rows of B (columns of b). What ldmatrix
// hands out is the same for all sizes of elements: matrix i of 8 rows x 16 bytes, its rows named by lanes 8 i to 8 i + 7.
void MmaEmitter::placeLanes() {
  unsigned warps = plan.warpRows * plan.warpColumns;
  lane = b.CreateAnd(thread, 31);
  llvm::Value *warp = b.CreateLShr(thread, 5);
  works = warps < threads / 32 ? b.CreateICmpULT(warp, e.i64(warps)) : nullptr;
  warp = b.CreateAnd(warp, warps - 1); // both are powers of two
  warpRow = b.CreateMul(b.CreateUDiv(warp, e.i64(plan.warpColumns)), e.i64(16 * plan.tilesM));
  warpColumn = b.CreateMul(b.CreateURem(warp, e.i64(plan.warpColumns)), e.i64(8 * plan.tilesN));
  auto times = [&](llvm::Value *value, int64_t factor) { return b.CreateMul(value, e.i64(factor)); };
  auto place = [&](const MmaOperand &operand, llvm::Value *row, llvm::Value *rowOfFragment, llvm::Value *k) {
    row = b.CreateAdd(row, rowOfFragment);
    return b.CreateAdd(times(row, operand.kMajor ? operand.stride() : operand.elementBytes),
                       times(k, operand.kMajor ? operand.elementBytes : operand.stride()));
  };
  llvm::Value *group = b.CreateLShr(lane, 2), *member = b.CreateAnd(lane, 3);
  if (plan.form.fused()) {
    laneA = place(plan.a, warpRow, group, e.i64(0));
    laneB = place(plan.b, warpColumn, times(member, 2), e.i64(0));
  } else {
    unsigned half = 16 / plan.form.elementBytes();
    llvm::Value *row = b.CreateAnd(lane, 7), *odd = b.CreateAnd(b.CreateLShr(lane, 3), 1), *upper = b.CreateLShr(lane, 4);
    llvm::Value *rowOdd = b.CreateAdd(row, times(odd, 8)), *rowUpper = b.CreateAdd(row, times(upper, 8));
    // Transposed matrices: their rows are k.
    laneA = loadsElements(plan.a) ? place(plan.a, warpRow, group, member)
            : plan.a.kMajor       ? place(plan.a, warpRow, rowOdd, times(upper, half))
                                  : place(plan.a, warpRow, times(odd, 8), rowUpper);
    laneB = loadsElements(plan.b) ? place(plan.b, warpColumn, group, member)
            : plan.b.kMajor       ? place(plan.b, warpColumn, rowUpper, times(odd, half))
                                  : place(plan.b, warpColumn, times(upper, 8), rowOdd);
  }
  laneB = b.CreateAdd(laneB, e.i64(plan.a.bytes()));
}

// Two tiles of 16 x 8 side by side are what an instruction of depth 16 takes: upper and lower rows of the first, then of the second.
llvm::SmallVector<llvm::Value *, 8> MmaEmitter::fragmentOfFactor(unsigned tile, int64_t k) {
  llvm::SmallVector<llvm::Value *, 8> parts;
  int64_t perRow = plan.k / 8;
  for (unsigned i = 0; i < 4; ++i)
    parts.push_back(b.CreateBitCast(factor[(2 * tile + i % 2) * perRow + 2 * k + i / 2], b.getInt32Ty()));
  return parts;
}

MmaEmitter::Fragments MmaEmitter::loadFragments(llvm::Value *stage, int64_t k) {
  Fragments fragments;
  llvm::Value *baseA = b.CreateGEP(b.getInt8Ty(), stage, laneA), *baseB = b.CreateGEP(b.getInt8Ty(), stage, laneB);
  unsigned size = plan.form.elementBytes();
  auto at = [&](const MmaOperand &operand, llvm::Value *base, int64_t row, int64_t inner = 0) {
    int64_t along = k * plan.form.depth() + inner;
    int64_t offset = operand.kMajor ? row * operand.stride() + along * size : row * size + along * operand.stride();
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset);
  };
  if (plan.form.fused()) { // a row's elements of all k
    auto rowOf = [&](const MmaOperand &operand, llvm::Value *base, int64_t row) {
      auto *type = llvm::FixedVectorType::get(sum, plan.form.depth());
      if (operand.kMajor)
        return static_cast<llvm::Value *>(b.CreateAlignedLoad(type, at(operand, base, row), llvm::Align(16)));
      llvm::Value *elements = llvm::PoisonValue::get(type);
      for (unsigned i = 0; i < plan.form.depth(); ++i)
        elements =
            b.CreateInsertElement(elements, b.CreateAlignedLoad(sum, at(operand, base, row, i), llvm::Align(size)), uint64_t(i));
      return elements;
    };
    for (unsigned mi = 0; mi < plan.tilesM; ++mi)
      fragments.a.push_back({rowOf(plan.a, baseA, 16 * mi), rowOf(plan.a, baseA, 16 * mi + 8)});
    for (unsigned ni = 0; ni < plan.tilesN; ++ni)
      fragments.b.push_back({rowOf(plan.b, baseB, 8 * ni), rowOf(plan.b, baseB, 8 * ni + 1)});
    return fragments;
  }
  // Element by element: rows lane / 4 (and 8 further on), k lane % 4 (and 4 further on, where an instruction takes eight).
  auto elements = [&](const MmaOperand &operand, llvm::Value *base, int64_t row, unsigned halves) {
    llvm::Type *type = plan.form.kind == MmaForm::F64 ? b.getDoubleTy() : static_cast<llvm::Type *>(b.getInt32Ty());
    llvm::SmallVector<llvm::Value *, 8> parts;
    for (unsigned inner = 0; inner < plan.form.depth(); inner += 4)
      for (unsigned half = 0; half < halves; ++half)
        parts.push_back(b.CreateAlignedLoad(type, at(operand, base, row + 8 * half, inner), llvm::Align(size)));
    return parts;
  };
  for (unsigned mi = 0; mi < plan.tilesM; ++mi) {
    if (plan.a.inRegisters) // by multiplyStage
      break;
    if (loadsElements(plan.a)) {
      fragments.a.push_back(elements(plan.a, baseA, 16 * mi, 2));
      continue;
    }
    auto parts = machine.loadMatrices(e, at(plan.a, baseA, 16 * mi), 4, !plan.a.kMajor);
    fragments.a.emplace_back(parts.begin(), parts.end());
  }
  for (unsigned ni = 0; ni < plan.tilesN; ni += loadsElements(plan.b) ? 1 : 2) {
    if (loadsElements(plan.b)) {
      fragments.b.push_back(elements(plan.b, baseB, 8 * ni, 1));
      continue;
    }
    bool two = ni + 1 < plan.tilesN;
    auto parts = machine.loadMatrices(e, at(plan.b, baseB, 8 * ni), two ? 4 : 2, !plan.b.kMajor);
    for (unsigned i = 0; i < parts.size(); i += 2)
      fragments.b.push_back({parts[i], parts[i + 1]});
  }
  if (plan.form.kind == MmaForm::TF32)
    for (auto *all : {&fragments.a, &fragments.b})
      for (auto &parts : *all)
        for (llvm::Value *&part : parts)
          part = machine.roundTF32(e, part);
  return fragments;
}

void MmaEmitter::multiplyFragments(const Fragments &fragments, Carried &accumulators) {
  llvm::MutableArrayRef<llvm::Value *> all(accumulators);
  if (!plan.form.fused()) {
    for (unsigned mi = 0; mi < plan.tilesM; ++mi)
      for (unsigned ni = 0; ni < plan.tilesN; ++ni)
        machine.multiply(e, plan.form, all.slice((mi * plan.tilesN + ni) * 4, 4), fragments.a[mi], fragments.b[ni]);
    return;
  }
  for (unsigned k = 0; k < plan.form.depth(); ++k)
    for (unsigned mi = 0; mi < plan.tilesM; ++mi)
      for (unsigned ni = 0; ni < plan.tilesN; ++ni)
        for (unsigned r = 0; r < 4; ++r) {
          llvm::Value *&value = all[(mi * plan.tilesN + ni) * 4 + r];
          llvm::Value *x = b.CreateExtractElement(fragments.a[mi][r / 2], uint64_t(k));
          llvm::Value *y = b.CreateExtractElement(fragments.b[ni][r % 2], uint64_t(k));
          value = sum->isIntegerTy() ? b.CreateAdd(value, b.CreateMul(x, y))
                                     : e.intrinsic(llvm::Intrinsic::fma, {x, y, value}, {sum});
        }
}

} // namespace tilery::cuda
