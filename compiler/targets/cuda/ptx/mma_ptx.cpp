// Matrix products of a warp and asynchronous copies, as PTX has them.
#include "compiler/targets/cuda/ptx/ptx.h"
#include "compiler/targets/cuda/ptx/ptx_machine.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tilery::cuda {
namespace {
using llvm::Intrinsic::ID;

llvm::Value *addressIn(lower::Emitter &e, AddressSpace space, llvm::Value *pointer) {
  return e.b.CreateAddrSpaceCast(pointer, e.b.getPtrTy(space));
}

ID multiplication(const MmaForm &form) {
  switch (form.kind) {
  case MmaForm::F16:
    return llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32;
  case MmaForm::BF16:
    return llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16;
  case MmaForm::TF32:
    return llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_tf32;
  case MmaForm::F64:
    return llvm::Intrinsic::nvvm_mma_m8n8k4_row_col_f64;
  default:
    return form.unsignedA
               ? form.unsignedB ? llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_u8 : llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_u8_s8
           : form.unsignedB ? llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8_u8
                            : llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8;
  }
}
} // namespace

llvm::SmallVector<llvm::Value *, 4> PtxMachine::loadMatrices(lower::Emitter &e, llvm::Value *row, unsigned count, bool transposed,
                                                             unsigned offset) {
  static constexpr ID ids[][2] = {
      {llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_b16, llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_trans_b16},
      {llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16, llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16},
      {llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16, llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16}};
  llvm::Value *address =
      row->getType()->isPointerTy() ? addressIn(e, Shared, row) : e.b.CreateIntToPtr(row, e.b.getPtrTy(Shared));
  if (offset)
    address = e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), address, offset);
  llvm::Value *all = e.b.CreateIntrinsic(ids[count / 2][transposed], {address->getType()}, {address});
  if (count == 1)
    return {all};
  llvm::SmallVector<llvm::Value *, 4> parts;
  for (unsigned i = 0; i < count; ++i)
    parts.push_back(e.b.CreateExtractValue(all, i));
  return parts;
}

void PtxMachine::multiply(lower::Emitter &e, const MmaForm &form, Tied accumulators, Values a, Values b) {
  bool f64 = form.kind == MmaForm::F64; // its instruction has 8 rows
  for (unsigned half = 0; half < (f64 ? 2 : 1); ++half) {
    auto own = f64 ? accumulators.slice(2 * half, 2) : accumulators;
    llvm::SmallVector<llvm::Value *, 12> args(f64 ? a.slice(half, 1) : a);
    args.append(b.begin(), b.end());
    if (form.kind == MmaForm::F16)
      for (llvm::Value *&arg : args)
        arg = e.b.CreateBitCast(arg, llvm::FixedVectorType::get(e.b.getHalfTy(), 2));
    args.append(own.begin(), own.end());
    llvm::Value *sums = e.b.CreateIntrinsic(multiplication(form), llvm::ArrayRef<llvm::Type *>(), args);
    for (unsigned i = 0; i < own.size(); ++i)
      own[i] = e.b.CreateExtractValue(sums, i);
  }
}

llvm::Value *PtxMachine::roundTF32(lower::Emitter &e, llvm::Value *bits) {
  return e.b.CreateIntrinsic(e.b.getInt32Ty(), llvm::Intrinsic::nvvm_f2tf32_rna, {e.b.CreateBitCast(bits, e.b.getFloatTy())});
}

void PtxMachine::copyAsync(lower::Emitter &e, llvm::Value *to, llvm::Value *from, llvm::Value *bytes) {
  to = addressIn(e, Shared, to), from = addressIn(e, Global, from);
  auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(bytes);
  if (fixed && fixed->getZExtValue() == 16)
    e.b.CreateIntrinsic(e.b.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16, {to, from});
  else
    e.b.CreateIntrinsic(e.b.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s, {to, from, bytes});
}

void PtxMachine::commitCopies(lower::Emitter &e) {
  e.b.CreateIntrinsic(e.b.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_commit_group, {});
}

void PtxMachine::waitCopies(lower::Emitter &e, unsigned pending) {
  e.b.CreateIntrinsic(e.b.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_wait_group, {e.b.getInt32(pending)});
}

} // namespace tilery::cuda
