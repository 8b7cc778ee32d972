#pragma once
// What a block of threads is on an AMD GPU with wavefronts of 64 lanes: the part that a machine owes the general path. A warp of that path, 32
// lanes, is half a wavefront.
#include "compiler/targets/cuda/ptx/thread_machine.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace tilery::amd {

/// Address spaces of AMDGPU.
enum AddressSpace : unsigned { Global = 1, Local = 3 };

class AmdMachine : public cuda::ThreadMachine {
public:
  llvm::Value *thread = nullptr; // i64: of the block

  cuda::BlockEntry begin(lower::Emitter &e, tile::KernelOp kernel, const cuda::BlockNeeds &needs) override {
    auto &b = e.b;
    llvm::SmallVector<llvm::Type *> types;
    for (mlir::BlockArgument argument : kernel.getBody().getArguments())
      types.push_back(e.memoryType(argument.getType()));
    types.append(3, b.getInt32Ty());
    cuda::BlockEntry entry;
    entry.function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), types, false),
                                            llvm::GlobalValue::ExternalLinkage, kernel.getSymName(), e.module);
    entry.function->setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
    entry.function->addFnAttr("amdgpu-flat-work-group-size", "1," + std::to_string(needs.threads));
    b.SetInsertPoint(llvm::BasicBlock::Create(e.context(), "entry", entry.function));
    llvm::Argument *next = entry.function->arg_begin();
    for (size_t i = 0; i < kernel.getBody().getNumArguments(); ++i)
      entry.arguments.push_back(next++);
    for (llvm::Value *&extent : entry.grid)
      extent = next++;
    entry.programs = entry.blocks = b.CreateMul(b.CreateMul(entry.grid[0], entry.grid[1]), entry.grid[2]);
    auto *shared =
        new llvm::GlobalVariable(e.module, llvm::ArrayType::get(b.getInt8Ty(), 0), false, llvm::GlobalValue::ExternalLinkage,
                                 nullptr, kernel.getSymName() + "_shared", nullptr, llvm::GlobalValue::NotThreadLocal, Local);
    shared->setAlignment(llvm::Align(needs.sharedAlignment));
    entry.shared = b.CreateAddrSpaceCast(shared, b.getPtrTy());
    entry.sharedAddress = b.CreatePtrToInt(shared, b.getInt32Ty());
    thread = entry.thread = b.CreateZExt(number(e, llvm::Intrinsic::amdgcn_workitem_id_x), b.getInt64Ty());
    entry.number = number(e, llvm::Intrinsic::amdgcn_workgroup_id_x);
    return entry;
  }

  void barrier(lower::Emitter &e) override { meet(e, llvm::Intrinsic::amdgcn_s_barrier, "workgroup"); }
  void warpBarrier(lower::Emitter &e, Value *) override { meet(e, llvm::Intrinsic::amdgcn_wave_barrier, "wavefront"); }
  void namedBarrier(lower::Emitter &, Value *, unsigned) override { lacks("barriers of some wavefronts"); }
  Value *shuffleDown(lower::Emitter &e, Value *value, unsigned distance) override {
    auto &b = e.b;
    Value *own = lane(e), *other = b.CreateAdd(own, b.getInt32(distance));
    Value *isInWarp = b.CreateICmpEQ(b.CreateLShr(own, 5), b.CreateLShr(other, 5));
    return permute(e, value, b.CreateSelect(isInWarp, other, own));
  }
  Value *shuffleFrom(lower::Emitter &e, Value *value, Value *from, Value *) override {
    return permute(e, value, e.b.CreateOr(e.b.CreateAnd(lane(e), e.b.getInt32(-32)), from));
  }
  Value *clock(lower::Emitter &) override { lacks("a clock in nanoseconds"); }
  Value *processor(lower::Emitter &) override { lacks("the number of a compute unit"); }

  Value *clusterRank(lower::Emitter &) override { lacks("clusters"); }
  void clusterBarrier(lower::Emitter &) override { lacks("clusters"); }
  Value *peerAddress(lower::Emitter &, Value *, Value *) override { lacks("clusters"); }
  Value *loadShared(lower::Emitter &, llvm::Type *, Value *, bool) override { lacks("addresses of shared memory"); }
  void storeShared(lower::Emitter &, Value *, Value *, bool) override { lacks("clusters"); }
  void waitForLaunch(lower::Emitter &) override {}   // a queue runs one kernel after the other
  void letLaunchFollow(lower::Emitter &) override {} // likewise

  llvm::SmallVector<Value *, 4> loadMatrices(lower::Emitter &, Value *, unsigned, bool, unsigned) override { lacks("ldmatrix"); }
  Value *permuteBytes(lower::Emitter &, Value *, Value *, Value *) override { lacks("bytes chosen by four bits"); }
  void multiply(lower::Emitter &, const cuda::MmaForm &, Tied, Values, Values) override { lacks("products of 16 x 8"); }
  Value *roundTF32(lower::Emitter &, Value *) override { lacks("tf32"); }

  /// By way of registers, at once.
  void copyAsync(lower::Emitter &e, Value *to, Value *from, Value *bytes) override {
    auto &b = e.b;
    auto *type = llvm::FixedVectorType::get(b.getInt8Ty(), 16);
    Value *exists = b.CreateICmpULT(e.iota(b.getInt32Ty(), 16), b.CreateVectorSplat(16, bytes));
    Value *value = b.CreateMaskedLoad(type, global(e, from), llvm::Align(16), exists, llvm::Constant::getNullValue(type));
    b.CreateAlignedStore(value, to, llvm::Align(16));
  }
  void commitCopies(lower::Emitter &) override {}
  void waitCopies(lower::Emitter &, unsigned) override {}

  Value *load(lower::Emitter &e, const lower::Address &where, llvm::Type *type, Value *exists, Value *other) override {
    auto &b = e.b;
    if (!exists)
      return b.CreateAlignedLoad(type, global(e, where.pointer), llvm::Align(where.alignment), where.isVolatile);
    unsigned lanes = lower::Emitter::lanesOf(other);
    auto *vector = llvm::FixedVectorType::get(type->getScalarType(), lanes);
    Value *read = b.CreateMaskedLoad(vector, global(e, where.pointer), llvm::Align(where.alignment),
                                     b.CreateVectorSplat(lanes, exists), b.CreateBitCast(other, vector));
    return type->isVectorTy() ? read : b.CreateExtractElement(read, uint64_t(0));
  }
  void store(lower::Emitter &e, const lower::Address &where, Value *bits, Value *exists) override {
    auto &b = e.b;
    Value *to = global(e, where.pointer);
    if (!exists) {
      b.CreateAlignedStore(bits, to, llvm::Align(where.alignment), where.isVolatile);
      return;
    }
    unsigned lanes = lower::Emitter::lanesOf(bits);
    if (!bits->getType()->isVectorTy())
      bits = b.CreateVectorSplat(1, bits);
    b.CreateMaskedStore(bits, to, llvm::Align(where.alignment), b.CreateVectorSplat(lanes, exists));
  }

private:
  [[noreturn]] static void lacks(const char *what) { llvm::report_fatal_error(llvm::Twine("the skeleton lacks ") + what); }
  static Value *global(lower::Emitter &e, Value *pointer) { return e.b.CreateAddrSpaceCast(pointer, e.b.getPtrTy(Global)); }
  static Value *number(lower::Emitter &e, llvm::Intrinsic::ID id) { return e.b.CreateIntrinsic(e.b.getInt32Ty(), id, Values()); }
  static Value *lane(lower::Emitter &e) {
    auto &b = e.b;
    Value *low = b.CreateIntrinsic(b.getInt32Ty(), llvm::Intrinsic::amdgcn_mbcnt_lo, {b.getInt32(-1), b.getInt32(0)});
    return b.CreateIntrinsic(b.getInt32Ty(), llvm::Intrinsic::amdgcn_mbcnt_hi, {b.getInt32(-1), low});
  }
  static Value *permute(lower::Emitter &e, Value *value, Value *lane) {
    return e.b.CreateIntrinsic(e.b.getInt32Ty(), llvm::Intrinsic::amdgcn_ds_bpermute, {e.b.CreateShl(lane, 2), value});
  }
  static void meet(lower::Emitter &e, llvm::Intrinsic::ID id, const char *scope) {
    llvm::SyncScope::ID who = e.context().getOrInsertSyncScopeID(scope);
    e.b.CreateFence(llvm::AtomicOrdering::Release, who);
    e.b.CreateIntrinsic(e.b.getVoidTy(), id, Values());
    e.b.CreateFence(llvm::AtomicOrdering::Acquire, who);
  }
};

} // namespace tilery::amd
