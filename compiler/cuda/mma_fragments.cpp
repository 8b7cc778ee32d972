// Staged operands to a warp's registers, and their products.
#include "compiler/cuda/mma.h"

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
  } else if (plan.form.kind == MmaForm::F64) {
    laneA = place(plan.a, warpRow, group, member);
    laneB = place(plan.b, warpColumn, group, member);
  } else {
    unsigned half = 16 / plan.form.elementBytes();
    llvm::Value *row = b.CreateAnd(lane, 7), *odd = b.CreateAnd(b.CreateLShr(lane, 3), 1), *upper = b.CreateLShr(lane, 4);
    llvm::Value *rowOdd = b.CreateAdd(row, times(odd, 8)), *rowUpper = b.CreateAdd(row, times(upper, 8));
    // Transposed matrices: their rows are k.
    laneA = plan.a.kMajor ? place(plan.a, warpRow, rowOdd, times(upper, half)) : place(plan.a, warpRow, times(odd, 8), rowUpper);
    laneB = plan.b.kMajor ? place(plan.b, warpColumn, rowUpper, times(odd, half))
                          : place(plan.b, warpColumn, times(upper, 8), rowOdd);
  }
  laneB = b.CreateAdd(laneB, e.i64(plan.a.bytes()));
}

MmaEmitter::Fragments MmaEmitter::loadFragments(llvm::Value *stage, int64_t k) {
  Fragments fragments;
  llvm::Value *baseA = b.CreateGEP(b.getInt8Ty(), stage, laneA), *baseB = b.CreateGEP(b.getInt8Ty(), stage, laneB);
  unsigned size = plan.form.elementBytes();
  auto at = [&](const MmaOperand &operand, llvm::Value *base, int64_t row) {
    int64_t along = k * plan.form.depth();
    int64_t offset = operand.kMajor ? row * operand.stride() + along * size : row * size + along * operand.stride();
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset);
  };
  if (plan.form.fused() || plan.form.kind == MmaForm::F64) {
    llvm::Type *type = plan.form.fused() ? llvm::FixedVectorType::get(sum, 16 / size) : sum;
    llvm::Align align(plan.form.fused() ? 16 : size);
    for (unsigned mi = 0; mi < plan.tilesM; ++mi)
      fragments.a.push_back({b.CreateAlignedLoad(type, at(plan.a, baseA, 16 * mi), align),
                             b.CreateAlignedLoad(type, at(plan.a, baseA, 16 * mi + 8), align)});
    for (unsigned ni = 0; ni < plan.tilesN; ++ni) {
      fragments.b.push_back({b.CreateAlignedLoad(type, at(plan.b, baseB, 8 * ni), align)});
      if (plan.form.fused())
        fragments.b.back().push_back(b.CreateAlignedLoad(type, at(plan.b, baseB, 8 * ni + 1), align));
    }
    return fragments;
  }
  for (unsigned mi = 0; mi < plan.tilesM; ++mi) {
    auto parts = machine.loadMatrices(e, at(plan.a, baseA, 16 * mi), 4, !plan.a.kMajor);
    fragments.a.emplace_back(parts.begin(), parts.end());
  }
  for (unsigned ni = 0; ni < plan.tilesN; ni += 2) {
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
