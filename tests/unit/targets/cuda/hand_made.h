#pragma once
// Kernels written by hand on the block machine: run on the emulator, written as PTX, assembled where ptxas is.
#include "../cpu/run_kernel.h"
#include "compiler/targets/cuda/ptx/lowering.h"
#include "compiler/targets/cuda/ptx/ptx.h"
#include "compiler/targets/cuda/ptx/ptx_machine.h"
#include "tests/emulator/emulator.h"
#include "llvm/IR/Verifier.h"
#include <cstdio>
#include <fstream>

namespace tilery::test {
using emulator::Timing;

/// What a kernel is written with. Its arguments: a and b (pointers), n (i64).
struct Code {
  lower::Emitter &e;
  cuda::BlockMachine &m;
  cuda::BlockEntry in;
  llvm::IRBuilder<> &b;
  llvm::Value *thread; // i32

  llvm::ConstantInt *i32(int64_t value) const { return b.getInt32(value); }
  /// The place `offset` of shared memory.
  llvm::Value *shared(int64_t offset) const { return b.CreateAdd(in.sharedAddress, i32(offset)); }
  llvm::Value *sharedAt(llvm::Value *offset) const { return b.CreateAdd(in.sharedAddress, offset); }
  llvm::Value *times(llvm::Value *value, int64_t factor) const { return b.CreateMul(value, i32(factor)); }
  /// argument + offset bytes.
  llvm::Value *global(unsigned argument, llvm::Value *offset) const {
    return b.CreateGEP(b.getInt8Ty(), in.arguments[argument], b.CreateZExt(offset, b.getInt64Ty()));
  }
  void when(llvm::Value *condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr) const {
    auto block = [&] { return llvm::BasicBlock::Create(b.getContext(), "", in.function); };
    auto *yes = block(), *no = block(), *after = block();
    b.CreateCondBr(condition, yes, no);
    b.SetInsertPoint(yes);
    then();
    b.CreateBr(after);
    b.SetInsertPoint(no);
    if (otherwise)
      otherwise();
    b.CreateBr(after);
    b.SetInsertPoint(after);
  }
  llvm::Value *is(unsigned number) const { return b.CreateICmpEQ(thread, i32(number)); }
  llvm::Value *below(unsigned number) const { return b.CreateICmpULT(thread, i32(number)); }
  /// out[index] = value, of 4 bytes.
  void put(llvm::Value *index, llvm::Value *value) const {
    b.CreateAlignedStore(value, global(1, times(index, 4)), llvm::Align(4));
  }
  /// A barrier at `offset` that the whole block knows.
  void makeBarrier(int64_t offset, unsigned arrivals) const {
    when(is(0), [&] {
      m.initBarrier(e, shared(offset), arrivals);
      m.fenceBarrierInit(e);
    });
    m.barrier(e);
  }
  /// Thread 0 asks for `bytes` at the barrier and starts copies.
  void fetch(int64_t barrier, int64_t bytes, llvm::function_ref<void()> copies) const {
    when(is(0), [&] {
      m.arriveExpect(e, shared(barrier), i32(bytes));
      copies();
    });
  }
};

struct HandMade {
  std::function<void(Code &)> body;
  unsigned threads = 128, sharedBytes = 64 << 10, cluster = 1;
  std::vector<TensorMapInfo> maps = {};

  mlir::FailureOr<GpuInfo> write(tile::KernelOp kernel, lower::Emitter &e, cuda::BlockMachine &machine) const {
    cuda::BlockNeeds needs;
    needs.threads = threads;
    needs.maps = maps.size();
    needs.cluster = cluster;
    needs.residentBlocks = 1; // the assembler must know the registers that setmaxnreg changes
    needs.sharedAlignment = 1024;
    cuda::BlockEntry in = machine.begin(e, kernel, needs);
    Code code{e, machine, in, e.b, e.b.CreateTrunc(in.thread, e.b.getInt32Ty())};
    body(code);
    e.b.CreateRetVoid();
    GpuInfo info;
    info.threads = threads;
    info.sharedBytes = sharedBytes;
    info.cluster = cluster;
    info.maps = maps;
    return info;
  }
  static mlir::OwningOpRef<mlir::ModuleOp> module() {
    return mlir::parseSourceString<mlir::ModuleOp>(
        "tile.kernel @k(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %n: i64) {\n  tile.return\n}", &context());
  }
  static tile::KernelOp kernelOf(mlir::ModuleOp module) { return *module.getOps<tile::KernelOp>().begin(); }

  /// What went wrong in a run; empty: nothing.
  std::string run(const void *a, void *b, Timing timing, int64_t n = 0) const {
    auto source = module();
    tile::KernelOp kernel = kernelOf(*source);
    auto code =
        emulator::Kernel::emit(kernel, [&](lower::Emitter &e, cuda::BlockMachine &machine) { return write(kernel, e, machine); });
    if (!code)
      return "it is not translated";
    uint32_t grid[] = {1, 1, 1};
    uint64_t slots[] = {slot(a), slot(b), slot(n)};
    return code->run(grid, slots, timing);
  }
  std::string ptx() const {
    cuda::CudaTarget target;
    target.ptx = 84; // for products of mixed integers
    cuda::PtxMachine machine;
    return ptx(machine, target);
  }
  std::string ptx(cuda::PtxMachine &machine, const cuda::CudaTarget &target) const {
    auto source = module();
    tile::KernelOp kernel = kernelOf(*source);
    llvm::LLVMContext llvmContext;
    llvm::Module into("k", llvmContext);
    cuda::prepareModule(into, target);
    cuda::GpuLowering lowering(target);
    lower::Options options{lowering};
    lower::Emitter e(into, options);
    (void)write(kernel, e, machine);
    EXPECT_FALSE(llvm::verifyModule(into, &llvm::errs()));
    return cuda::emitPtx(into, target, true);
  }
};

/// What ptxas says against it; empty: nothing, or there is no ptxas here.
inline std::string refusalOf(const std::string &ptx, const std::string &arch = "sm_90a") {
  if (std::system("ptxas --version > /dev/null 2>&1"))
    return "";
  char name[] = "/tmp/tileryXXXXXX.ptx";
  close(mkstemps(name, 4));
  std::ofstream(name) << ptx;
  std::string said, command = "ptxas -arch=" + arch + " -o /dev/null " + name + " 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  for (char buffer[512]; fgets(buffer, sizeof buffer, pipe);)
    said += buffer;
  bool refused = pclose(pipe) != 0 || said.find("(C75") != std::string::npos;
  std::remove(name);
  return refused ? said : "";
}

/// It runs as it should with both timings, and as PTX has these instructions and is assembled.
inline void expectRight(const HandMade &kernel, llvm::ArrayRef<const char *> instructions, const void *a, void *b,
                        llvm::function_ref<void()> check) {
  for (Timing timing : {Timing::CopiesAtOnce, Timing::CopiesLate}) {
    ASSERT_EQ(kernel.run(a, b, timing), "");
    check();
  }
  std::string ptx = kernel.ptx();
  for (const char *instruction : instructions)
    EXPECT_NE(ptx.find(instruction), std::string::npos) << instruction << " in\n" << ptx;
  EXPECT_EQ(refusalOf(ptx), "");
}

inline void expectFault(const HandMade &kernel, const void *a, void *b, const char *fault, Timing timing = Timing::CopiesLate) {
  EXPECT_NE(kernel.run(a, b, timing).find(fault), std::string::npos)
      << "\"" << kernel.run(a, b, timing) << "\" has no \"" << fault << "\"";
}

} // namespace tilery::test
