// PTX instructions as inline assembly.
#include "compiler/targets/cuda/ptx.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "mlir/IR/BuiltinTypes.h"

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
void Ptx::prefetchMap(llvm::Value *map) { assembly("prefetch.tensormap [$0];", "l", {map}); }
void Ptx::storeBox(llvm::Value *map, llvm::Value *inner, llvm::Value *outer, llvm::Value *shared) {
  assembly("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$0, {$2, $3}], [$1];", "l,r,r,r", {map, shared, inner, outer});
}
void Ptx::commitStores() { assembly("cp.async.bulk.commit_group;", "", {}); }
void Ptx::waitStores(bool read, unsigned pending) {
  assembly("cp.async.bulk.wait_group" + std::string(read ? ".read " : " ") + std::to_string(pending) + ";", "", {});
}
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
static std::string tied(llvm::ArrayRef<llvm::Value *> values) {
  std::string result = repeated(values[0]->getType()->isFloatTy() ? "=f" : "=r", values.size());
  for (size_t i = 0; i < values.size(); ++i)
    result += "," + std::to_string(i);
  return result;
}
static llvm::Type *structOf(llvm::ArrayRef<llvm::Value *> values) {
  llvm::Type *type = values[0]->getType();
  return llvm::StructType::get(type->getContext(), llvm::SmallVector<llvm::Type *>(values.size(), type));
}

void Ptx::wgmmaWait(unsigned pending, llvm::MutableArrayRef<llvm::Value *> accumulators) {
  std::string text = "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";";
  if (accumulators.empty()) {
    assembly(text, "", {});
    return;
  }
  llvm::Value *all = assembly(text, tied(accumulators), accumulators, structOf(accumulators));
  for (size_t i = 0; i < accumulators.size(); ++i)
    accumulators[i] = b.CreateExtractValue(all, i);
}

Ptx::Wgmma Ptx::wgmmaOf(unsigned n, mlir::Type operand, bool transA, bool transB) {
  Wgmma form{n, nullptr, 16, false, transA, transB};
  if (operand.isF16())
    form.type = "f16";
  else if (operand.isBF16())
    form.type = "bf16";
  else if (llvm::isa<mlir::Float8E4M3FNType>(operand))
    form.type = "e4m3", form.k = 32;
  else if (llvm::isa<mlir::Float8E5M2Type>(operand))
    form.type = "e5m2", form.k = 32;
  else if (operand.isInteger(8))
    form.type = "s8", form.k = 32, form.integer = true;
  else if (operand.isF32())
    form.type = "tf32", form.k = 8;
  return form;
}

void Ptx::wgmma(const Wgmma &form, llvm::MutableArrayRef<llvm::Value *> accumulators, llvm::Value *a, llvm::Value *bDescriptor,
                llvm::Value *scale) {
  size_t count = accumulators.size();
  std::string registers;
  for (size_t i = 0; i < count; ++i)
    registers += (i ? ", $" : "$") + std::to_string(i);
  auto operand = [&](size_t i) { return "$" + std::to_string(2 * count + i); };
  std::string type = form.type, immediates = form.integer ? "" : ", 1, 1";
  if (form.k == 16)
    immediates += std::string(form.transA ? ", 1" : ", 0") + (form.transB ? ", 1" : ", 0");
  std::string text = "{ .reg .pred p; setp.ne.b32 p, " + operand(2) + ", 0; wgmma.mma_async.sync.aligned.m64n" +
                     std::to_string(form.n) + "k" + std::to_string(form.k) + (form.integer ? ".s32." : ".f32.") + type + "." +
                     type + " {" + registers + "}, " + operand(0) + ", " + operand(1) + ", p" + immediates + "; }";
  llvm::SmallVector<llvm::Value *> args(accumulators.begin(), accumulators.end());
  args.append({a, bDescriptor, scale});
  llvm::Value *all = assembly(text, tied(accumulators) + ",l,l,r", args, structOf(accumulators));
  for (size_t i = 0; i < count; ++i)
    accumulators[i] = b.CreateExtractValue(all, i);
}

void Ptx::storePair(llvm::Value *address, llvm::Value *pair) {
  llvm::Value *words = b.CreateBitCast(pair, llvm::FixedVectorType::get(b.getInt32Ty(), 2));
  assembly("st.shared.v2.b32 [$0], {$1, $2};", "r,r,r",
           {address, b.CreateExtractElement(words, uint64_t(0)), b.CreateExtractElement(words, uint64_t(1))});
}

void Ptx::storeMatrices(llvm::Value *address, llvm::ArrayRef<llvm::Value *> registers) {
  llvm::SmallVector<llvm::Value *> args{address};
  args.append(registers.begin(), registers.end());
  assembly("stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], {$1, $2, $3, $4};", "r,r,r,r,r", args);
}

llvm::Value *Ptx::threadNow() { return assembly("mov.u32 $0, %tid.x;", "=r", {}, b.getInt32Ty()); }
llvm::Value *Ptx::here(llvm::Value *value) { return assembly("mov.b32 $0, $1;", "=r,r", {value}, b.getInt32Ty()); }

llvm::Value *Ptx::special(const char *name) {
  std::string_view which = name;
  llvm::Intrinsic::ID id = which == "tid.x"     ? llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x
                           : which == "ctaid.x" ? llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x
                                                : llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x;
  return b.CreateIntrinsic(b.getInt32Ty(), id, llvm::ArrayRef<llvm::Value *>());
}

} // namespace tilery::cuda
