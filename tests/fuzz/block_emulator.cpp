#include "block_emulator.h"
#include "compiler/cpu/emit_object.h"
#include "compiler/cuda/cuda.h"
#include "compiler/cuda/simt.h"
#include "runtime/elf_code.h"
#include "tilery/abi.h"
#include <cstring>
#include <memory>
#include <ucontext.h>
#include <vector>

using namespace mlir;

namespace tilery::fuzz {
namespace {
constexpr size_t stackBytes = 64 << 10, guardBytes = 256;

/// What emitted code gets: it reads the first fields and calls the two functions.
struct Thread {
  const uint64_t *slots;
  uint32_t grid[3];
  uint32_t block;
  uint64_t number;
  void *shared, *workspace, *reports;
  uint32_t blocks;
  void (*barrier)(Thread *);
  uint32_t (*shuffle)(Thread *, uint32_t value, uint32_t lane); // of the warp; from 32 on: the own value
  // the emulator's own
  ucontext_t context;
  ucontext_t *scheduler;
  std::vector<Thread> *all;
  uint32_t offered;
  char stopped; // 'b': at a barrier, 's': in a shuffle, 'e': at the end
};
using Entry = void (*)(Thread *);
Entry entryPoint;

void stop(Thread *thread, char where) {
  thread->stopped = where;
  swapcontext(&thread->context, thread->scheduler);
}
void barrier(Thread *thread) { stop(thread, 'b'); }
uint32_t shuffle(Thread *thread, uint32_t value, uint32_t lane) {
  thread->offered = value;
  stop(thread, 's');
  uint32_t taken = lane < 32 ? (*thread->all)[thread->number / 32 * 32 + lane].offered : value;
  stop(thread, 's'); // nobody offers the next value before all have taken this one
  return taken;
}
void run(unsigned low, unsigned high) {
  auto *thread = reinterpret_cast<Thread *>(uint64_t(high) << 32 | low);
  entryPoint(thread);
  stop(thread, 'e');
}

class EmulatedMachine : public cuda::BlockMachine {
public:
  cuda::BlockEntry begin(cpu::Emitter &e, tile::KernelOp kernel, const cuda::BlockNeeds &) override {
    auto &b = e.b;
    cuda::BlockEntry entry;
    entry.function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false),
                                            llvm::GlobalValue::ExternalLinkage, kernel.getSymName(), e.module);
    b.SetInsertPoint(llvm::BasicBlock::Create(e.context(), "entry", entry.function));
    self = entry.function->getArg(0);
    llvm::Value *slots = field(e, b.getPtrTy(), offsetof(Thread, slots));
    for (BlockArgument argument : kernel.getBody().getArguments())
      entry.arguments.push_back(b.CreateLoad(e.memoryType(argument.getType()),
                                             b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), slots, argument.getArgNumber())));
    for (unsigned d = 0; d < 3; ++d)
      entry.grid[d] = field(e, b.getInt32Ty(), offsetof(Thread, grid) + 4 * d);
    entry.number = field(e, b.getInt32Ty(), offsetof(Thread, block));
    entry.thread = field(e, b.getInt64Ty(), offsetof(Thread, number));
    entry.shared = field(e, b.getPtrTy(), offsetof(Thread, shared));
    entry.workspace = field(e, b.getPtrTy(), offsetof(Thread, workspace));
    entry.reports = field(e, b.getPtrTy(), offsetof(Thread, reports));
    entry.blocks = field(e, b.getInt32Ty(), offsetof(Thread, blocks));
    return entry;
  }
  void barrier(cpu::Emitter &e) override {
    auto *type = llvm::FunctionType::get(e.b.getVoidTy(), {e.b.getPtrTy()}, false);
    e.b.CreateCall(type, field(e, e.b.getPtrTy(), offsetof(Thread, barrier)), {self});
  }
  llvm::Value *shuffleDown(cpu::Emitter &e, llvm::Value *value, unsigned distance) override {
    auto &b = e.b;
    llvm::Value *number = b.CreateTrunc(field(e, b.getInt64Ty(), offsetof(Thread, number)), b.getInt32Ty());
    return shuffleFrom(e, value, b.CreateAdd(b.CreateAnd(number, b.getInt32(31)), b.getInt32(distance)), nullptr);
  }
  llvm::Value *shuffleFrom(cpu::Emitter &e, llvm::Value *value, llvm::Value *lane, llvm::Value *) override {
    auto &b = e.b;
    auto *type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getInt32Ty(), b.getInt32Ty()}, false);
    return b.CreateCall(type, field(e, b.getPtrTy(), offsetof(Thread, shuffle)), {self, value, lane});
  }

private:
  llvm::Value *field(cpu::Emitter &e, llvm::Type *type, uint64_t offset) {
    return e.b.CreateLoad(type, e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), self, offset));
  }
  llvm::Value *self = nullptr;
};

std::string runBlock(std::vector<Thread> &threads, char *stacks) {
  ucontext_t scheduler;
  for (Thread &thread : threads) {
    thread.scheduler = &scheduler;
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = stacks + thread.number * stackBytes;
    thread.context.uc_stack.ss_size = stackBytes;
    thread.context.uc_link = nullptr;
    uint64_t self = reinterpret_cast<uint64_t>(&thread);
    makecontext(&thread.context, reinterpret_cast<void (*)()>(run), 2, unsigned(self), unsigned(self >> 32));
  }
  for (bool backwards = false;; backwards = !backwards) { // in changing order, so that a missing barrier shows
    for (size_t i = 0; i < threads.size(); ++i)
      swapcontext(&scheduler, &threads[backwards ? threads.size() - 1 - i : i].context);
    for (Thread &thread : threads)
      if (thread.stopped != threads[0].stopped)
        return "threads part: thread 0 stops at '" + std::string(1, threads[0].stopped) + "', thread " +
               std::to_string(thread.number) + " at '" + thread.stopped + "'";
    if (threads[0].stopped == 'e')
      return "";
  }
}
} // namespace

std::string runBlocks(ModuleOp source, bool disjoint, const uint32_t grid[3], const uint64_t *slots, std::string &unsupported) {
  llvm::LLVMContext context;
  llvm::Module module("blocks", context);
  cuda::Options options;
  options.disjoint = disjoint;
  options.fpContract = false;
  cpu::Options lanes = cuda::laneOptions(options);
  cpu::CpuTarget host = cpu::hostTarget();
  lanes.target.cpu = host.cpu, lanes.target.features = host.features;
  lanes.target.narrowsBF16 = false;
  if (grid[0] % 2) // in half of the runs the larger tiles go to the workspace
    lanes.arenaLimit = 512;
  cpu::prepareModule(module, host);
  cpu::Emitter e(module, lanes);
  tile::KernelOp kernel = *source.getOps<tile::KernelOp>().begin();
  cpu::Plan plan = cpu::planKernel(kernel, lanes);
  EmulatedMachine machine;
  FailureOr<GpuInfo> info = cuda::SimtEmitter(e, kernel, plan, options.target, machine).emitBlock();
  if (failed(info)) {
    unsupported = "the general GPU path cannot run it";
    return "";
  }
  cpu::EmitOptions emit;
  emit.fpContract = false;
  ElfCode code(cpu::emitObject(module, host, emit));
  entryPoint = reinterpret_cast<Entry>(code.find(kernel.getSymName().str()));

  std::unique_ptr<char[]> stacks(new char[info->threads * stackBytes]);
  size_t sharedBytes = (info->sharedBytes + guardBytes + 63) / 64 * 64;
  std::unique_ptr<char, void (*)(void *)> shared(static_cast<char *>(std::aligned_alloc(64, sharedBytes)), std::free);
  std::vector<char> workspace(info->workspaceBytes + 64), reports(info->sites.empty() ? 0 : TILERY_REPORT_BYTES);
  auto *workspaceStart = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(workspace.data()) + 63) / 64 * 64);
  uint32_t blocks = grid[0] * grid[1] * grid[2];
  for (uint32_t block = blocks; block-- > 0;) { // programs come in any order
    std::memset(shared.get(), 0xE7, sharedBytes);
    std::memset(workspace.data(), 0xE7, workspace.size());
    std::vector<Thread> threads(info->threads);
    for (uint64_t i = 0; i < threads.size(); ++i) {
      Thread &thread = threads[i];
      thread.slots = slots;
      std::copy(grid, grid + 3, thread.grid);
      thread.block = block;
      thread.number = i;
      thread.shared = shared.get();
      thread.workspace = workspaceStart;
      thread.reports = reports.data();
      thread.blocks = blocks; // this one runs no second program
      thread.barrier = barrier;
      thread.shuffle = shuffle;
      thread.all = &threads;
    }
    if (std::string wrong = runBlock(threads, stacks.get()); !wrong.empty())
      return wrong;
    for (size_t i = info->sharedBytes; i < sharedBytes; ++i)
      if (shared.get()[i] != char(0xE7))
        return "a thread writes past the shared memory";
  }
  return "";
}

} // namespace tilery::fuzz
