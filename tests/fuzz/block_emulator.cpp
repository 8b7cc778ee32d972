#include "block_emulator.h"
#include "compiler/targets/cpu/emit_object.h"
#include "compiler/targets/cuda/lowering.h"
#include "compiler/targets/cuda/simt.h"
#include "runtime/cuda/reports.h"
#include "runtime/elf_code.h"
#include "tilery/abi.h"
#include "warp_emulator.h"
#include "llvm/IR/Verifier.h"
#include <cstring>
#include <deque>
#include <memory>
#include <ucontext.h>
#include <vector>

using namespace mlir;

namespace tilery::fuzz {
namespace {
constexpr size_t stackBytes = 64 << 10, guardBytes = 256;

/// An asynchronous copy, done when it is waited for and no sooner: code that does not wait reads what was there before.
struct Copy {
  char *to;
  const char *from;
  uint32_t bytes;
};

/// What emitted code gets: it reads the first fields and calls the functions.
struct Thread {
  const uint64_t *slots;
  uint32_t grid[3];
  uint32_t block;
  uint64_t number;
  void *shared, *workspace, *reports;
  uint32_t blocks;
  void (*barrier)(Thread *);
  uint32_t (*shuffle)(Thread *, uint32_t value, uint32_t lane); // of the warp; from 32 on: the own value
  void (*together)(Thread *, WarpOperation *);
  void (*copy)(Thread *, char *to, const char *from, uint32_t bytes);
  void (*commit)(Thread *);
  void (*wait)(Thread *, uint32_t pending);
  // the emulator's own
  ucontext_t context;
  ucontext_t *scheduler;
  std::vector<Thread> *all;
  uint32_t offered;
  WarpOperation *operation;
  std::deque<std::vector<Copy>> *copies; // groups, the last one not yet committed
  char stopped;                          // 'b': at a barrier, 's': in a shuffle, 'm': in a matrix operation, 'e': at the end
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
void together(Thread *thread, WarpOperation *operation) {
  WarpOperation *operations[32] = {};
  if (operation->kind == WarpOperation::RoundTF32) { // needs no other thread
    operations[thread->number % 32] = operation;
    return emulate(thread->number % 32, operations);
  }
  thread->operation = operation;
  stop(thread, 'm');
  uint64_t first = thread->number / 32 * 32;
  for (unsigned i = 0; i < 32; ++i)
    operations[i] = (*thread->all)[first + i].operation;
  emulate(thread->number % 32, operations);
  stop(thread, 'm');
}
void copy(Thread *thread, char *to, const char *from, uint32_t bytes) { thread->copies->back().push_back({to, from, bytes}); }
void commit(Thread *thread) { thread->copies->emplace_back(); }
void wait(Thread *thread, uint32_t pending) {
  while (thread->copies->size() > pending + 1) {
    for (const Copy &copy : thread->copies->front()) {
      std::memset(copy.to, 0, 16);
      std::memcpy(copy.to, copy.from, copy.bytes);
    }
    thread->copies->pop_front();
  }
}
void run(unsigned low, unsigned high) {
  auto *thread = reinterpret_cast<Thread *>(uint64_t(high) << 32 | low);
  entryPoint(thread);
  stop(thread, 'e');
}

class EmulatedMachine : public cuda::BlockMachine {
public:
  cuda::BlockEntry begin(lower::Emitter &e, tile::KernelOp kernel, const cuda::BlockNeeds &) override {
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
    entry.programs = b.CreateMul(b.CreateMul(entry.grid[0], entry.grid[1]), entry.grid[2]);
    entry.number = field(e, b.getInt32Ty(), offsetof(Thread, block));
    entry.thread = field(e, b.getInt64Ty(), offsetof(Thread, number));
    entry.shared = field(e, b.getPtrTy(), offsetof(Thread, shared));
    entry.workspace = field(e, b.getPtrTy(), offsetof(Thread, workspace));
    entry.reports = field(e, b.getPtrTy(), offsetof(Thread, reports));
    entry.blocks = field(e, b.getInt32Ty(), offsetof(Thread, blocks));
    operation = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), sizeof(WarpOperation) / 8));
    return entry;
  }
  void barrier(lower::Emitter &e) override {
    auto *type = llvm::FunctionType::get(e.b.getVoidTy(), {e.b.getPtrTy()}, false);
    e.b.CreateCall(type, field(e, e.b.getPtrTy(), offsetof(Thread, barrier)), {self});
  }
  llvm::Value *shuffleDown(lower::Emitter &e, llvm::Value *value, unsigned distance) override {
    auto &b = e.b;
    llvm::Value *number = b.CreateTrunc(field(e, b.getInt64Ty(), offsetof(Thread, number)), b.getInt32Ty());
    return shuffleFrom(e, value, b.CreateAdd(b.CreateAnd(number, b.getInt32(31)), b.getInt32(distance)), nullptr);
  }
  llvm::Value *shuffleFrom(lower::Emitter &e, llvm::Value *value, llvm::Value *lane, llvm::Value *) override {
    auto &b = e.b;
    auto *type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getInt32Ty(), b.getInt32Ty()}, false);
    return b.CreateCall(type, field(e, b.getPtrTy(), offsetof(Thread, shuffle)), {self, value, lane});
  }
  llvm::Value *load(lower::Emitter &e, const lower::Address &where, llvm::Type *type, llvm::Value *exists,
                    llvm::Value *other) override {
    auto &b = e.b;
    llvm::Align align(where.alignment);
    if (!exists)
      return b.CreateAlignedLoad(type, where.pointer, align, where.isVolatile);
    auto *vector = vectorOf(type);
    llvm::Value *mask = b.CreateVectorSplat(vector->getNumElements(), exists);
    return b.CreateBitCast(b.CreateMaskedLoad(vector, where.pointer, align, mask, asVector(b, other)), type);
  }
  void store(lower::Emitter &e, const lower::Address &where, llvm::Value *bits, llvm::Value *exists) override {
    auto &b = e.b;
    llvm::Align align(where.alignment);
    if (!exists) {
      b.CreateAlignedStore(bits, where.pointer, align, where.isVolatile);
      return;
    }
    auto *vector = vectorOf(bits->getType());
    llvm::Value *mask = b.CreateVectorSplat(vector->getNumElements(), exists);
    b.CreateMaskedStore(asVector(b, bits), where.pointer, align, mask);
  }

  SmallVector<llvm::Value *, 4> loadMatrices(lower::Emitter &e, llvm::Value *row, unsigned count, bool transposed) override {
    put(e, offsetof(WarpOperation, count), e.b.getInt32(count));
    put(e, offsetof(WarpOperation, row), row);
    perform(e, transposed ? WarpOperation::LoadTransposed : WarpOperation::LoadMatrices);
    SmallVector<llvm::Value *, 4> results;
    for (unsigned i = 0; i < count; ++i)
      results.push_back(get(e, offsetof(WarpOperation, results) + 4 * i, e.b.getInt32Ty()));
    return results;
  }
  void multiply(lower::Emitter &e, const cuda::MmaForm &form, llvm::MutableArrayRef<llvm::Value *> accumulators,
                ArrayRef<llvm::Value *> a, ArrayRef<llvm::Value *> b) override {
    unsigned bytes = form.kind == cuda::MmaForm::F64 ? 8 : 4;
    for (auto [i, value] : llvm::enumerate(a))
      put(e, offsetof(WarpOperation, a) + bytes * i, value);
    for (auto [i, value] : llvm::enumerate(b))
      put(e, offsetof(WarpOperation, b) + bytes * i, value);
    for (auto [i, value] : llvm::enumerate(accumulators))
      put(e, offsetof(WarpOperation, sums) + bytes * i, value);
    perform(e, WarpOperation::Multiply + unsigned(form.kind) + 16 * form.unsignedA + 32 * form.unsignedB);
    for (auto [i, value] : llvm::enumerate(accumulators))
      value = get(e, offsetof(WarpOperation, sums) + bytes * i, value->getType());
  }
  llvm::Value *roundTF32(lower::Emitter &e, llvm::Value *bits) override {
    put(e, offsetof(WarpOperation, a), bits);
    perform(e, WarpOperation::RoundTF32);
    return get(e, offsetof(WarpOperation, results), e.b.getInt32Ty());
  }
  void copyAsync(lower::Emitter &e, llvm::Value *to, llvm::Value *from, llvm::Value *bytes) override {
    call(e, offsetof(Thread, copy), {to, from, bytes});
  }
  void commitCopies(lower::Emitter &e) override { call(e, offsetof(Thread, commit), {}); }
  void waitCopies(lower::Emitter &e, unsigned pending) override { call(e, offsetof(Thread, wait), {e.b.getInt32(pending)}); }

  // Hopper's instructions, which the general path does not use.
  void namedBarrier(lower::Emitter &, Value *, unsigned) override { llvm_unreachable("not emulated"); }
  void arriveNamed(lower::Emitter &, Value *, unsigned) override { llvm_unreachable("not emulated"); }
  Value *elect(lower::Emitter &) override { llvm_unreachable("not emulated"); }
  Value *threadNow(lower::Emitter &) override { llvm_unreachable("not emulated"); }
  Value *here(lower::Emitter &, Value *) override { llvm_unreachable("not emulated"); }
  void setRegisters(lower::Emitter &, unsigned, bool) override { llvm_unreachable("not emulated"); }
  void role(lower::Emitter &, llvm::StringRef) override { llvm_unreachable("not emulated"); }
  Value *clusterRank(lower::Emitter &) override { llvm_unreachable("not emulated"); }
  void clusterBarrier(lower::Emitter &) override { llvm_unreachable("not emulated"); }
  Value *peerAddress(lower::Emitter &, Value *, Value *) override { llvm_unreachable("not emulated"); }
  void waitForLaunch(lower::Emitter &) override { llvm_unreachable("not emulated"); }
  void letLaunchFollow(lower::Emitter &) override { llvm_unreachable("not emulated"); }
  void initBarrier(lower::Emitter &, Value *, unsigned) override { llvm_unreachable("not emulated"); }
  void fenceBarrierInit(lower::Emitter &) override { llvm_unreachable("not emulated"); }
  void arrive(lower::Emitter &, Value *) override { llvm_unreachable("not emulated"); }
  void arrivePeer(lower::Emitter &, Value *) override { llvm_unreachable("not emulated"); }
  void arriveExpect(lower::Emitter &, Value *, Value *) override { llvm_unreachable("not emulated"); }
  void expectBytes(lower::Emitter &, Value *, Value *) override { llvm_unreachable("not emulated"); }
  void waitBarrier(lower::Emitter &, Value *, Value *) override { llvm_unreachable("not emulated"); }
  void prefetchMap(lower::Emitter &, Value *) override { llvm_unreachable("not emulated"); }
  void loadBox(lower::Emitter &, Value *, Value *, Values, Value *) override { llvm_unreachable("not emulated"); }
  void loadBytes(lower::Emitter &, Value *, Value *, Value *, Value *) override { llvm_unreachable("not emulated"); }
  void storeBox(lower::Emitter &, Value *, Values, Value *, bool) override { llvm_unreachable("not emulated"); }
  void storeBytes(lower::Emitter &, Value *, Value *, Value *) override { llvm_unreachable("not emulated"); }
  void commitStores(lower::Emitter &) override { llvm_unreachable("not emulated"); }
  void waitStores(lower::Emitter &, bool, unsigned) override { llvm_unreachable("not emulated"); }
  void fenceProxy(lower::Emitter &) override { llvm_unreachable("not emulated"); }
  Value *loadShared(lower::Emitter &, llvm::Type *, Value *, bool) override { llvm_unreachable("not emulated"); }
  void storeShared(lower::Emitter &, Value *, Value *, bool) override { llvm_unreachable("not emulated"); }
  void storeMatrices(lower::Emitter &, Value *, Values, bool) override { llvm_unreachable("not emulated"); }
  void wgmmaFence(lower::Emitter &) override { llvm_unreachable("not emulated"); }
  void wgmma(lower::Emitter &, const cuda::WgmmaForm &, Tied, Tied, Value *, Value *) override {
    llvm_unreachable("not emulated");
  }
  void wgmmaCommit(lower::Emitter &) override { llvm_unreachable("not emulated"); }
  void wgmmaWait(lower::Emitter &, unsigned, Tied) override { llvm_unreachable("not emulated"); }

private:
  static llvm::FixedVectorType *vectorOf(llvm::Type *type) {
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector ? vector : llvm::FixedVectorType::get(type, 1);
  }
  static llvm::Value *asVector(llvm::IRBuilder<> &b, llvm::Value *value) {
    return value->getType()->isVectorTy() ? value : b.CreateVectorSplat(1, value);
  }
  llvm::Value *part(lower::Emitter &e, uint64_t offset) {
    return e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), operation, offset);
  }
  void put(lower::Emitter &e, uint64_t offset, llvm::Value *value) {
    e.b.CreateAlignedStore(value, part(e, offset), llvm::Align(4));
  }
  llvm::Value *get(lower::Emitter &e, uint64_t offset, llvm::Type *type) {
    return e.b.CreateAlignedLoad(type, part(e, offset), llvm::Align(4));
  }
  void call(lower::Emitter &e, uint64_t function, ArrayRef<llvm::Value *> args) {
    SmallVector<llvm::Value *> all{self};
    all.append(args.begin(), args.end());
    SmallVector<llvm::Type *> types;
    for (llvm::Value *arg : all)
      types.push_back(arg->getType());
    e.b.CreateCall(llvm::FunctionType::get(e.b.getVoidTy(), types, false), field(e, e.b.getPtrTy(), function), all);
  }
  void perform(lower::Emitter &e, uint32_t kind) {
    put(e, offsetof(WarpOperation, kind), e.b.getInt32(kind));
    call(e, offsetof(Thread, together), {operation});
  }
  llvm::Value *field(lower::Emitter &e, llvm::Type *type, uint64_t offset) {
    return e.b.CreateLoad(type, e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), self, offset));
  }
  llvm::Value *self = nullptr, *operation = nullptr;
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
  cuda::CudaTarget gpu;
  cuda::GpuLowering lowering(gpu, /*instructions=*/false);
  lower::Options lanes{lowering, disjoint, /*fpContract=*/false};
  const cpu::CpuTarget &host = cpu::hostTarget();
  uint64_t tileBytes = grid[0] % 2 ? 512 : cuda::tileBytes(gpu); // in half of the runs the larger tiles go to the workspace
  cpu::prepareModule(module, host);
  lower::Emitter e(module, lanes);
  tile::KernelOp kernel = *source.getOps<tile::KernelOp>().begin();
  cuda::BlockPlan plan = cuda::planBlock(kernel, lanes, tileBytes);
  EmulatedMachine machine;
  FailureOr<GpuInfo> info = cuda::SimtEmitter(e, kernel, plan, gpu, machine).emitBlock();
  if (failed(info)) {
    unsupported = "the general GPU path cannot run it";
    return "";
  }
  cpu::EmitOptions emit;
  emit.fpContract = false;
  if (llvm::verifyModule(module, &llvm::errs()))
    return "the generated code does not verify";
  ElfCode code(cpu::emitObject(module, host, emit));
  entryPoint = reinterpret_cast<Entry>(code.find(kernel.getSymName().str()));

  std::unique_ptr<char[]> stacks(new char[info->threads * stackBytes]);
  size_t sharedBytes = (info->sharedBytes + guardBytes + 63) / 64 * 64;
  std::unique_ptr<char, void (*)(void *)> shared(static_cast<char *>(std::aligned_alloc(64, sharedBytes)), std::free);
  std::vector<char> workspace(info->workspaceBytes + 64);
  std::string reports(info->sites.empty() ? 0 : TILERY_REPORT_BYTES, '\0');
  if (!reports.empty())
    std::memset(reports.data() + offsetof(TileryReports, failure), 0xff, 8);
  auto *workspaceStart = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(workspace.data()) + 63) / 64 * 64);
  uint32_t blocks = grid[0] * grid[1] * grid[2];
  for (uint32_t block = blocks; block-- > 0;) { // programs come in any order
    std::memset(shared.get(), 0xE7, sharedBytes);
    std::memset(workspace.data(), 0xE7, workspace.size());
    std::vector<Thread> threads(info->threads);
    std::vector<std::deque<std::vector<Copy>>> copies(info->threads, std::deque<std::vector<Copy>>(1));
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
      thread.together = together;
      thread.copy = copy;
      thread.commit = commit;
      thread.wait = wait;
      thread.copies = &copies[i];
      thread.all = &threads;
    }
    if (std::string wrong = runBlock(threads, stacks.get()); !wrong.empty())
      return wrong;
    for (size_t i = info->sharedBytes; i < sharedBytes; ++i)
      if (shared.get()[i] != char(0xE7))
        return "a thread writes past the shared memory";
  }
  if (!reports.empty()) {
    TileryReports head;
    std::memcpy(&head, reports.data(), sizeof head);
    KernelInfo described;
    described.name = kernel.getSymName().str();
    described.gpu = *info;
    std::string_view records = std::string_view(reports).substr(sizeof head);
    cuda::deliverReports(described, head, records.substr(0, head.used), grid);
  }
  return "";
}

} // namespace tilery::fuzz
