// PTX instructions as inline assembly.
#include "compiler/cuda/ptx.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tilery::cuda {

llvm::CallInst *Ptx::assembly(const std::string &text, const std::string &constraints, llvm::ArrayRef<llvm::Value *> args,
                              llvm::Type *result) {
  llvm::SmallVector<llvm::Type *> types;
  for (llvm::Value *arg : args)
    types.push_back(arg->getType());
  auto *type = llvm::FunctionType::get(result ? result : b.getVoidTy(), types, false);
  std::string all = constraints.empty() ? "~{memory}" : constraints + ",~{memory}";
  auto *call = b.CreateCall(type, llvm::InlineAsm::get(type, text, all, /*hasSideEffects=*/true), args);
  call->setConvergent();
  return call;
}

void Ptx::barrierInit(llvm::Value *barrier, unsigned arrivals) {
  assembly("mbarrier.init.shared::cta.b64 [$0], " + std::to_string(arrivals) + ";", "r", {barrier});
}
void Ptx::fenceBarrierInit() { assembly("fence.mbarrier_init.release.cluster;", "", {}); }
void Ptx::arrive(llvm::Value *barrier) { assembly("mbarrier.arrive.shared::cta.b64 _, [$0];", "r", {barrier}); }
void Ptx::arriveExpect(llvm::Value *barrier, unsigned bytes) {
  assembly("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], " + std::to_string(bytes) + ";", "r", {barrier});
}

void Ptx::wait(llvm::Value *barrier, llvm::Value *parity) {
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto *loop = llvm::BasicBlock::Create(b.getContext(), "wait", function);
  auto *done = llvm::BasicBlock::Create(b.getContext(), "ready", function);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::Value *ok = assembly("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [$1], $2; selp.u32 $0, 1, 0, p; }",
                             "=r,r,r", {barrier, parity}, b.getInt32Ty());
  b.CreateCondBr(b.CreateICmpNE(ok, b.getInt32(0)), done, loop);
  b.SetInsertPoint(done);
}

void Ptx::loadBox(llvm::Value *shared, llvm::Value *map, llvm::Value *inner, llvm::Value *outer, llvm::Value *barrier) {
  assembly("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4}], [$2];", "r,l,r,r,r",
           {shared, map, barrier, inner, outer});
}
void Ptx::storeBox(llvm::Value *map, llvm::Value *inner, llvm::Value *outer, llvm::Value *shared) {
  assembly("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$0, {$2, $3}], [$1];", "l,r,r,r", {map, shared, inner, outer});
}
void Ptx::commitStores() { assembly("cp.async.bulk.commit_group;", "", {}); }
void Ptx::waitStores(bool read) { assembly(read ? "cp.async.bulk.wait_group.read 0;" : "cp.async.bulk.wait_group 0;", "", {}); }
void Ptx::fenceProxy() { assembly("fence.proxy.async.shared::cta;", "", {}); }
void Ptx::namedBarrier(llvm::Value *id, unsigned threads) {
  assembly("bar.sync $0, " + std::to_string(threads) + ";", "r", {id});
}
void Ptx::blockBarrier() { assembly("bar.sync 0;", "", {}); }

void Ptx::wgmmaFence() { assembly("wgmma.fence.sync.aligned;", "", {}); }
void Ptx::wgmmaCommit() { assembly("wgmma.commit_group.sync.aligned;", "", {}); }

static std::string repeated(const char *text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += (i ? "," : "") + std::string(text);
  return result;
}
/// "=f,=f,..,0,1,..": results tied to the operands of the same number.
static std::string tied(size_t count) {
  std::string result = repeated("=f", count);
  for (size_t i = 0; i < count; ++i)
    result += "," + std::to_string(i);
  return result;
}
static llvm::Type *floats(llvm::IRBuilder<> &b, size_t count) {
  return llvm::StructType::get(b.getContext(), llvm::SmallVector<llvm::Type *>(count, b.getFloatTy()));
}

void Ptx::wgmmaWait(unsigned pending, llvm::MutableArrayRef<llvm::Value *> accumulators) {
  size_t count = accumulators.size();
  if (!count) {
    assembly("wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";", "", {});
    return;
  }
  llvm::Value *all =
      assembly("wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";", tied(count), accumulators, floats(b, count));
  for (size_t i = 0; i < count; ++i)
    accumulators[i] = b.CreateExtractValue(all, i);
}

void Ptx::wgmma(const Wgmma &form, llvm::MutableArrayRef<llvm::Value *> accumulators, llvm::Value *a, llvm::Value *bDescriptor,
                llvm::Value *scale) {
  size_t count = accumulators.size();
  std::string registers;
  for (size_t i = 0; i < count; ++i)
    registers += (i ? ", $" : "$") + std::to_string(i);
  auto operand = [&](size_t i) { return "$" + std::to_string(2 * count + i); };
  std::string text = "{ .reg .pred p; setp.ne.b32 p, " + operand(2) + ", 0; wgmma.mma_async.sync.aligned.m64n" +
                     std::to_string(form.n) + "k16.f32." + form.type + "." + form.type + " {" + registers + "}, " + operand(0) +
                     ", " + operand(1) + ", p, 1, 1, " + (form.transA ? "1" : "0") + ", " + (form.transB ? "1" : "0") + "; }";
  llvm::SmallVector<llvm::Value *> args(accumulators.begin(), accumulators.end());
  args.append({a, bDescriptor, scale});
  llvm::Value *all = assembly(text, tied(count) + ",l,l,r", args, floats(b, count));
  for (size_t i = 0; i < count; ++i)
    accumulators[i] = b.CreateExtractValue(all, i);
}

void Ptx::storeMatrices(llvm::Value *address, llvm::ArrayRef<llvm::Value *> registers) {
  llvm::SmallVector<llvm::Value *> args{address};
  args.append(registers.begin(), registers.end());
  assembly("stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], {$1, $2, $3, $4};", "r,r,r,r,r", args);
}

llvm::Value *Ptx::special(const char *name) {
  std::string_view which = name;
  llvm::Intrinsic::ID id = which == "tid.x"     ? llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x
                           : which == "ctaid.x" ? llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x
                                                : llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x;
  return b.CreateIntrinsic(b.getInt32Ty(), id, llvm::ArrayRef<llvm::Value *>());
}

} // namespace tilery::cuda
