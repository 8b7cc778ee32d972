#include "compiler/targets/cuda/barrier_trace.h"
#include "compiler/targets/cuda/lowering.h"
#include "compiler/targets/cuda/ptx.h"
#include "compiler/targets/cuda/ptx_machine.h"
#include "llvm/IR/InlineAsm.h"
#include <gtest/gtest.h>

using namespace tilery;
using namespace tilery::cuda;

namespace {
/// A kernel whose producer thread fills a ring for one warpgroup, in emitted code, and what may be wrong with it.
struct RingKernel {
  unsigned stages = 3, depth = 64, bytes = 64 * 64 * 2, arrivals = 1, producerPhase = 1;
  bool dataDependent = false;

  std::string fault(std::string *unknown = nullptr) {
    llvm::LLVMContext context;
    llvm::Module module("test", context);
    GpuLowering lowering(CudaTarget{});
    lower::Options options{lowering};
    lower::Emitter e(module, options);
    auto &b = e.b;
    PtxMachine machine;
    auto *i32 = b.getInt32Ty();
    auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), i32, i32, i32, i32}, false);
    auto *function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "kernel", module);
    auto block = [&](const char *name) { return llvm::BasicBlock::Create(context, name, function); };
    b.SetInsertPoint(block("entry"));
    auto *shared =
        new llvm::GlobalVariable(module, llvm::ArrayType::get(b.getInt8Ty(), 0), false, llvm::GlobalValue::ExternalLinkage,
                                 nullptr, "shared", nullptr, llvm::GlobalValue::NotThreadLocal, Shared);
    llvm::Value *base = b.CreatePtrToInt(shared, i32), *thread = machine.threadNow(e);
    auto at = [&](llvm::Value *step, unsigned size, unsigned from) {
      return b.CreateAdd(base,
                         b.CreateAdd(b.CreateMul(b.CreateURem(step, b.getInt32(stages)), b.getInt32(size)), b.getInt32(from)));
    };
    auto phase = [&](llvm::Value *step) { return b.CreateAnd(b.CreateUDiv(step, b.getInt32(stages)), b.getInt32(1)); };
    auto *init = block("init"), *begin = block("begin"), *produce = block("produce"), *consume = block("consume"),
         *exit = block("exit");
    llvm::Value *first = b.CreateICmpEQ(thread, b.getInt32(0));
    b.CreateCondBr(first, init, begin);
    b.SetInsertPoint(init);
    for (unsigned s = 0; s < stages; ++s) {
      machine.initBarrier(e, at(b.getInt32(s), 16, 0), 1);
      machine.initBarrier(e, at(b.getInt32(s), 16, 8), arrivals);
    }
    b.CreateBr(begin);
    b.SetInsertPoint(begin);
    machine.barrier(e);
    llvm::Value *steps = b.CreateUDiv(function->getArg(2), b.getInt32(depth));
    if (dataDependent)
      steps = b.CreateLoad(i32, function->getArg(1));
    b.CreateCondBr(first, produce, consume);
    auto loop = [&](llvm::BasicBlock *from, auto &&body) {
      b.SetInsertPoint(from);
      auto *head = block("loop"), *inside = block("body");
      b.CreateBr(head);
      b.SetInsertPoint(head);
      auto *step = b.CreatePHI(i32, 2);
      step->addIncoming(b.getInt32(0), from);
      b.CreateCondBr(b.CreateICmpULT(step, steps), inside, exit);
      b.SetInsertPoint(inside);
      body(step);
      step->addIncoming(b.CreateAdd(step, b.getInt32(1)), b.GetInsertBlock());
      b.CreateBr(head);
    };
    loop(produce, [&](llvm::Value *step) {
      machine.waitBarrier(e, at(step, 16, 8), b.CreateXor(phase(step), b.getInt32(producerPhase)));
      machine.arriveExpect(e, at(step, 16, 0), b.getInt32(bytes));
      machine.loadBox(e, at(step, 8192, 1024), function->getArg(0), {step, step}, at(step, 16, 0));
    });
    loop(consume, [&](llvm::Value *step) {
      machine.waitBarrier(e, at(step, 16, 0), phase(step));
      llvm::Value *a = b.CreateZExt(b.CreateLShr(at(step, 8192, 1024), 4), b.getInt64Ty());
      auto *multiply = llvm::FunctionType::get(b.getVoidTy(), {b.getInt64Ty(), b.getInt64Ty(), i32}, false);
      b.CreateCall(multiply,
                   llvm::InlineAsm::get(multiply, "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 $0, $1;", "l,l,r", true),
                   {a, a, b.getInt32(1)});
      machine.wgmmaCommit(e);
      machine.wgmmaWait(e, 0, {});
      machine.arrive(e, at(step, 16, 8));
    });
    b.SetInsertPoint(exit);
    b.CreateRetVoid();
    GpuInfo info;
    info.threads = 256;
    info.maps.resize(1);
    info.maps[0].dimensions = {{64, 1, 64}, {64, 64, 64}};
    return checkBarriers(*function, info, depth, stages, unknown).value_or("none");
  }
};
} // namespace

TEST(BarrierTrace, EmittedCodeIsRun) {
  std::string unknown;
  EXPECT_EQ(RingKernel().fault(&unknown), "none");
  EXPECT_EQ(unknown, "");
  EXPECT_EQ(RingKernel{.producerPhase = 0}.fault().substr(0, 31), "the producer waits for ever: em") << "the phase";
  EXPECT_EQ(RingKernel{.arrivals = 2}.fault(),
            "the producer waits for ever: empty barrier 0 counts 2 arrivals a phase and gets 1");
  EXPECT_EQ(RingKernel{.bytes = 16384}.fault(), "warpgroup 1 waits for ever: full barrier 0 expects 8192 bytes that never come");
  EXPECT_EQ(RingKernel{.bytes = 4096}.fault(), "warpgroup 1 waits for ever: full barrier 0 gets 4096 bytes more than it expects");
}

TEST(BarrierTrace, SaysWhatItDoesNotKnow) {
  std::string unknown;
  EXPECT_EQ(RingKernel{.dataDependent = true}.fault(&unknown), "none");
  EXPECT_EQ(unknown, "a branch depends on data");
}
