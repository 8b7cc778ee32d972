#include "machine.h"
#include "run.h"
#include "runtime/pool.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace tilery::emulator {
namespace {
constexpr unsigned operationWords = 1024;
constexpr unsigned registersOfMultiprocessor = 65536;

/// Calls a function of the emulator. Code may be kept and run by another process: it knows how far the function is from the first one, whose
/// place threads are told.
template <typename R, typename... Args>
llvm::Value *callOf(lower::Emitter &e, llvm::Value *first, R (*function)(Args...), ArrayRef<llvm::Value *> args) {
  assert(args.size() == sizeof...(Args));
  auto &b = e.b;
  SmallVector<llvm::Type *> types;
  for (llvm::Value *arg : args)
    types.push_back(arg->getType());
  llvm::Type *result = b.getVoidTy();
  if constexpr (!std::is_void_v<R>)
    result = b.getIntNTy(8 * sizeof(R));
  auto *type = llvm::FunctionType::get(result, types, false);
  llvm::Value *address = b.CreateConstGEP1_64(b.getInt8Ty(), first, reinterpret_cast<const char *>(function) - firstFunction());
  return b.CreateCall(type, address, args);
}

llvm::FixedVectorType *vectorOf(llvm::Type *type) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? vector : llvm::FixedVectorType::get(type, 1);
}
llvm::Value *asVector(llvm::IRBuilder<> &b, llvm::Value *value) {
  return value->getType()->isVectorTy() ? value : b.CreateVectorSplat(1, value);
}
} // namespace

/// The kernel's CodeFacts, by a function of their name.
static void tellFacts(lower::Emitter &e, tile::KernelOp kernel, const cuda::BlockNeeds &needs) {
  unsigned threads = needs.threads * std::max(needs.residentBlocks, 1u);
  unsigned registers = std::min(registersOfMultiprocessor / threads / 8 * 8, 248u);
  auto *function = llvm::Function::Create(llvm::FunctionType::get(e.b.getVoidTy(), {e.b.getPtrTy()}, false),
                                          llvm::GlobalValue::ExternalLinkage, kernel.getSymName() + factsSuffix, e.module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(e.context(), "entry", function));
  auto tell = [&](uint64_t offset, llvm::Value *value) {
    b.CreateStore(value, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), function->getArg(0), offset));
  };
  tell(offsetof(CodeFacts, maps), b.getInt32(needs.maps));
  tell(offsetof(CodeFacts, arguments), b.getInt32(kernel.getBody().getNumArguments()));
  tell(offsetof(CodeFacts, registers), b.getInt32(registers));
  tell(offsetof(CodeFacts, reports), b.getInt32(needs.reports));
  tell(offsetof(CodeFacts, workspaceBytes), b.getInt64(needs.workspaceBytes));
  b.CreateRetVoid();
}

cuda::BlockEntry EmulatedMachine::begin(lower::Emitter &e, tile::KernelOp kernel, const cuda::BlockNeeds &needs) {
  auto &b = e.b;
  tellFacts(e, kernel, needs);
  cuda::BlockEntry entry;
  entry.function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false),
                                          llvm::GlobalValue::ExternalLinkage, kernel.getSymName(), e.module);
  b.SetInsertPoint(llvm::BasicBlock::Create(e.context(), "entry", entry.function));
  self = entry.function->getArg(0);
  functions = field(e, b.getPtrTy(), offsetof(Thread, functions));
  llvm::Value *slots = field(e, b.getPtrTy(), offsetof(Thread, slots));
  for (BlockArgument argument : kernel.getBody().getArguments())
    entry.arguments.push_back(b.CreateLoad(e.memoryType(argument.getType()),
                                           b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), slots, argument.getArgNumber())));
  for (unsigned d = 0; d < 3; ++d)
    entry.grid[d] = field(e, b.getInt32Ty(), offsetof(Thread, grid) + 4 * d);
  entry.programs = b.CreateMul(b.CreateMul(entry.grid[0], entry.grid[1]), entry.grid[2]);
  entry.number = field(e, b.getInt32Ty(), offsetof(Thread, block));
  entry.thread = b.CreateZExt(threadNow(e), b.getInt64Ty());
  entry.shared = field(e, b.getPtrTy(), offsetof(Thread, shared));
  entry.sharedAddress = b.getInt32(firstAddress);
  llvm::Value *maps = field(e, b.getPtrTy(), offsetof(Thread, maps));
  for (unsigned i = 0; i < needs.maps; ++i)
    entry.maps.push_back(b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), maps, i * sizeof(TensorMap)));
  entry.workspace = field(e, b.getPtrTy(), offsetof(Thread, workspace));
  entry.reports = field(e, b.getPtrTy(), offsetof(Thread, reports));
  entry.blocks = field(e, b.getInt32Ty(), offsetof(Thread, blocks));
  auto *variable = b.CreateAlloca(llvm::ArrayType::get(b.getInt32Ty(), operationWords));
  variable->setAlignment(llvm::Align(16));
  operation = variable;
  return entry;
}

llvm::Value *EmulatedMachine::field(lower::Emitter &e, llvm::Type *type, uint64_t offset) {
  return e.b.CreateLoad(type, e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), self, offset));
}
llvm::Value *EmulatedMachine::part(lower::Emitter &e, uint64_t offset) {
  return e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), operation, offset);
}
void EmulatedMachine::put(lower::Emitter &e, uint64_t offset, Value *value) {
  e.b.CreateAlignedStore(value, part(e, offset), llvm::Align(4));
}
llvm::Value *EmulatedMachine::get(lower::Emitter &e, uint64_t offset, llvm::Type *type) {
  return e.b.CreateAlignedLoad(type, part(e, offset), llvm::Align(4));
}
llvm::Value *EmulatedMachine::words(lower::Emitter &e, Values values) {
  assert(values.size() <= operationWords);
  for (auto [i, value] : llvm::enumerate(values))
    put(e, 4 * i, value);
  return operation;
}

// -- threads

void EmulatedMachine::barrier(lower::Emitter &e) { callOf(e, functions, emulator::barrier, {self}); }
void EmulatedMachine::namedBarrier(lower::Emitter &e, Value *id, unsigned threads) {
  callOf(e, functions, emulator::namedBarrier, {self, id, e.b.getInt32(threads)});
}
void EmulatedMachine::arriveNamed(lower::Emitter &e, Value *id, unsigned threads) {
  callOf(e, functions, emulator::arriveNamed, {self, id, e.b.getInt32(threads)});
}
void EmulatedMachine::warpBarrier(lower::Emitter &e, Value *mask) { callOf(e, functions, emulator::warpBarrier, {self, mask}); }
llvm::Value *EmulatedMachine::shuffleDown(lower::Emitter &e, Value *value, unsigned distance) {
  auto &b = e.b;
  return shuffleFrom(e, value, b.CreateAdd(b.CreateAnd(threadNow(e), b.getInt32(31)), b.getInt32(distance)), b.getInt32(-1));
}
llvm::Value *EmulatedMachine::shuffleFrom(lower::Emitter &e, Value *value, Value *lane, Value *mask) {
  return callOf(e, functions, emulator::shuffle, {self, value, lane, mask});
}
llvm::Value *EmulatedMachine::elect(lower::Emitter &e) {
  return e.b.CreateICmpEQ(e.b.CreateAnd(threadNow(e), e.b.getInt32(31)), e.b.getInt32(0));
}
llvm::Value *EmulatedMachine::threadNow(lower::Emitter &e) { return field(e, e.b.getInt32Ty(), offsetof(Thread, number)); }
llvm::Value *EmulatedMachine::clock(lower::Emitter &e) { return callOf(e, functions, nowNanoseconds, {}); }
void EmulatedMachine::setRegisters(lower::Emitter &e, unsigned count, bool more) {
  callOf(e, functions, emulator::setRegisters, {self, e.b.getInt32(count), e.b.getInt32(more)});
}
void EmulatedMachine::role(lower::Emitter &e, llvm::StringRef name) {
  std::string symbol = ("role." + name).str(); // one for all threads of the role, which are told apart by it
  llvm::Value *text = e.module.getGlobalVariable(symbol, /*AllowInternal=*/true);
  callOf(e, functions, emulator::setRole, {self, text ? text : e.b.CreateGlobalString(name, symbol)});
}

// -- clusters

llvm::Value *EmulatedMachine::clusterRank(lower::Emitter &e) { return field(e, e.b.getInt32Ty(), offsetof(Thread, rank)); }
void EmulatedMachine::clusterBarrier(lower::Emitter &e) { callOf(e, functions, emulator::clusterBarrier, {self}); }
llvm::Value *EmulatedMachine::peerAddress(lower::Emitter &e, Value *address, Value *rank) {
  return callOf(e, functions, emulator::peerAddress, {self, address, rank});
}

// -- barriers in shared memory

void EmulatedMachine::initBarrier(lower::Emitter &e, Value *barrier, unsigned arrivals) {
  callOf(e, functions, emulator::initBarrier, {self, barrier, e.b.getInt32(arrivals)});
}
void EmulatedMachine::fenceBarrierInit(lower::Emitter &e) { callOf(e, functions, emulator::fenceBarrierInit, {self}); }
void EmulatedMachine::arrive(lower::Emitter &e, Value *barrier) {
  callOf(e, functions, emulator::arrive, {self, barrier, e.b.getInt32(0)});
}
void EmulatedMachine::arrivePeer(lower::Emitter &e, Value *barrier) {
  callOf(e, functions, emulator::arrive, {self, barrier, e.b.getInt32(1)});
}
void EmulatedMachine::arriveExpect(lower::Emitter &e, Value *barrier, Value *bytes) {
  callOf(e, functions, emulator::arriveExpect, {self, barrier, bytes});
}
void EmulatedMachine::expectBytes(lower::Emitter &e, Value *barrier, Value *bytes) {
  callOf(e, functions, emulator::expectBytes, {self, barrier, bytes});
}
void EmulatedMachine::waitBarrier(lower::Emitter &e, Value *barrier, Value *parity) {
  callOf(e, functions, emulator::waitBarrier, {self, barrier, parity});
}

// -- the copy engine

void EmulatedMachine::makeMap(lower::Emitter &e, Value *place, Value *map, Value *base, Values extents, Values strides) {
  auto &b = e.b;
  llvm::BasicBlock &first = b.GetInsertBlock()->getParent()->getEntryBlock(); // once, not in each turn of a loop
  llvm::AllocaInst *numbers = llvm::IRBuilder<>(&first, first.begin()).CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), 10));
  llvm::SmallVector<Value *> all(extents.begin(), extents.end());
  all.append(strides.begin(), strides.end());
  for (auto [i, number] : llvm::enumerate(all))
    b.CreateStore(number, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), numbers, i));
  callOf(e, functions, emulator::makeMap, {self, place, map, base, numbers, b.getInt32(extents.size())});
}
void EmulatedMachine::loadBox(lower::Emitter &e, Value *shared, Value *map, Values coordinates, Value *barrier) {
  callOf(e, functions, emulator::loadBox, {self, shared, map, words(e, coordinates), e.b.getInt32(coordinates.size()), barrier});
}
void EmulatedMachine::loadBytes(lower::Emitter &e, Value *shared, Value *global, Value *bytes, Value *barrier) {
  callOf(e, functions, emulator::loadBytes, {self, shared, global, bytes, barrier});
}
void EmulatedMachine::storeBox(lower::Emitter &e, Value *map, Values coordinates, Value *shared, bool add) {
  auto &b = e.b;
  callOf(e, functions, emulator::storeBox,
         {self, map, words(e, coordinates), b.getInt32(coordinates.size()), shared, b.getInt32(add)});
}
void EmulatedMachine::storeBytes(lower::Emitter &e, Value *global, Value *shared, Value *bytes) {
  callOf(e, functions, emulator::storeBytes, {self, global, shared, bytes});
}
void EmulatedMachine::commitStores(lower::Emitter &e) { callOf(e, functions, emulator::commitStores, {self}); }
void EmulatedMachine::waitStores(lower::Emitter &e, bool read, unsigned pending) {
  callOf(e, functions, emulator::waitStores, {self, e.b.getInt32(read), e.b.getInt32(pending)});
}
void EmulatedMachine::fenceProxy(lower::Emitter &e) { callOf(e, functions, emulator::fenceProxy, {self}); }

// -- shared memory by address

llvm::Value *EmulatedMachine::loadShared(lower::Emitter &e, llvm::Type *type, Value *address, bool peer) {
  unsigned bytes = e.module.getDataLayout().getTypeStoreSize(type).getFixedValue();
  callOf(e, functions, emulator::loadShared, {self, address, operation, e.b.getInt32(bytes), e.b.getInt32(peer)});
  return get(e, 0, type);
}
void EmulatedMachine::storeShared(lower::Emitter &e, Value *address, Value *value, bool peer) {
  unsigned bytes = e.module.getDataLayout().getTypeStoreSize(value->getType()).getFixedValue();
  put(e, 0, value);
  callOf(e, functions, emulator::storeShared, {self, address, operation, e.b.getInt32(bytes), e.b.getInt32(peer)});
}

// -- what a warp does together

void EmulatedMachine::perform(lower::Emitter &e, uint32_t kind) {
  put(e, offsetof(WarpOperation, kind), e.b.getInt32(kind));
  callOf(e, functions, emulator::warpOperation, {self, operation});
}
void EmulatedMachine::putRow(lower::Emitter &e, Value *row, unsigned count) {
  auto &b = e.b;
  bool pointer = row->getType()->isPointerTy();
  put(e, offsetof(WarpOperation, count), b.getInt32(count));
  put(e, offsetof(WarpOperation, row), pointer ? row : llvm::ConstantPointerNull::get(b.getPtrTy()));
  if (!pointer)
    put(e, offsetof(WarpOperation, address), row);
}
SmallVector<llvm::Value *, 4> EmulatedMachine::loadMatrices(lower::Emitter &e, Value *row, unsigned count, bool transposed,
                                                            unsigned offset) {
  if (offset)
    row = row->getType()->isPointerTy() ? e.b.CreateConstGEP1_64(e.b.getInt8Ty(), row, offset)
                                        : e.b.CreateAdd(row, e.b.getInt32(offset));
  putRow(e, row, count);
  perform(e, transposed ? WarpOperation::LoadTransposed : WarpOperation::LoadMatrices);
  SmallVector<llvm::Value *, 4> results;
  for (unsigned i = 0; i < count; ++i)
    results.push_back(get(e, offsetof(WarpOperation, results) + 4 * i, e.b.getInt32Ty()));
  return results;
}
void EmulatedMachine::storeMatrices(lower::Emitter &e, Value *row, Values matrices, bool transposed) {
  putRow(e, row, matrices.size());
  for (auto [i, value] : llvm::enumerate(matrices))
    put(e, offsetof(WarpOperation, results) + 4 * i, value);
  perform(e, transposed ? WarpOperation::StoreTransposed : WarpOperation::StoreMatrices);
}
llvm::Value *EmulatedMachine::permuteBytes(lower::Emitter &e, Value *low, Value *high, Value *which) {
  llvm::IRBuilder<> &b = e.b;
  llvm::Type *wide = b.getInt64Ty();
  Value *all = b.CreateOr(b.CreateZExt(low, wide), b.CreateShl(b.CreateZExt(high, wide), 32)), *result = b.getInt32(0);
  for (unsigned i = 0; i < 4; ++i) {
    Value *number = b.CreateAnd(b.CreateLShr(which, 4 * i), 7);
    Value *byte = b.CreateAnd(b.CreateLShr(all, b.CreateZExt(b.CreateShl(number, 3), wide)), 255);
    result = b.CreateOr(result, b.CreateShl(b.CreateTrunc(byte, b.getInt32Ty()), 8 * i));
  }
  return result;
}
void EmulatedMachine::multiply(lower::Emitter &e, const cuda::MmaForm &form, Tied accumulators, Values a, Values b) {
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
llvm::Value *EmulatedMachine::roundTF32(lower::Emitter &e, Value *bits) {
  put(e, offsetof(WarpOperation, a), bits);
  perform(e, WarpOperation::RoundTF32);
  return get(e, offsetof(WarpOperation, results), e.b.getInt32Ty());
}

// -- products of a warpgroup

void EmulatedMachine::wgmmaFence(lower::Emitter &e, Tied, Values) { callOf(e, functions, emulator::wgmmaFence, {self}); }
void EmulatedMachine::wgmmaCommit(lower::Emitter &e) { callOf(e, functions, emulator::wgmmaCommit, {self}); }
void EmulatedMachine::wgmma(lower::Emitter &e, const cuda::WgmmaForm &form, Tied sums, llvm::ArrayRef<WgmmaStep> steps,
                            Value *scale) {
  llvm::SmallSet<unsigned, 4> begun;
  for (const WgmmaStep &step : steps) {
    assert(step.sums + form.sums() <= sums.size());
    bool registers = step.a.size() > 1;
    put(e, offsetof(WarpgroupOperation, form), e.b.getInt32(packForm(form, registers)));
    put(e, offsetof(WarpgroupOperation, scale), begun.insert(step.sums).second ? scale : e.b.getInt32(1));
    put(e, offsetof(WarpgroupOperation, descriptorB), step.b);
    for (auto [i, value] : llvm::enumerate(step.a))
      put(e, registers ? offsetof(WarpgroupOperation, a) + 4 * i : offsetof(WarpgroupOperation, descriptorA), value);
    for (auto [i, value] : llvm::enumerate(sums.slice(step.sums, form.sums())))
      put(e, offsetof(WarpgroupOperation, sums) + 4 * i, value);
    callOf(e, functions, emulator::wgmma, {self, operation});
    for (auto [i, value] : llvm::enumerate(sums.slice(step.sums, form.sums())))
      value = get(e, offsetof(WarpgroupOperation, sums) + 4 * i, value->getType());
  }
}
void EmulatedMachine::wgmmaWait(lower::Emitter &e, unsigned pending, Tied values, Values) {
  callOf(e, functions, emulator::wgmmaWait, {self, e.b.getInt32(pending), words(e, values), e.b.getInt32(values.size())});
  for (auto [i, value] : llvm::enumerate(values))
    value = get(e, 4 * i, value->getType());
}

// -- copies by threads, global memory

void EmulatedMachine::copyAsync(lower::Emitter &e, Value *to, Value *from, Value *bytes) {
  callOf(e, functions, emulator::copyAsync, {self, to, from, bytes});
}
void EmulatedMachine::commitCopies(lower::Emitter &e) { callOf(e, functions, emulator::commitCopies, {self}); }
void EmulatedMachine::arriveCopies(lower::Emitter &e, Value *barrier) {
  callOf(e, functions, emulator::arriveCopies, {self, barrier});
}
void EmulatedMachine::waitCopies(lower::Emitter &e, unsigned pending) {
  callOf(e, functions, emulator::waitCopies, {self, e.b.getInt32(pending)});
}
llvm::Value *EmulatedMachine::load(lower::Emitter &e, const lower::Address &where, llvm::Type *type, Value *exists,
                                   Value *other) {
  auto &b = e.b;
  llvm::Align align(where.alignment);
  if (!exists)
    return b.CreateAlignedLoad(type, where.pointer, align, where.isVolatile);
  auto *vector = vectorOf(type);
  llvm::Value *mask = b.CreateVectorSplat(vector->getNumElements(), exists);
  return b.CreateBitCast(b.CreateMaskedLoad(vector, where.pointer, align, mask, asVector(b, other)), type);
}
void EmulatedMachine::store(lower::Emitter &e, const lower::Address &where, Value *bits, Value *exists) {
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

} // namespace tilery::emulator
