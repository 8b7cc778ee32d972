#include "compiler/targets/cuda/hopper_gemm.h"
#include "compiler/targets/cuda/hopper_emitter.h"
#include "compiler/ir/dtype_of.h"

using namespace mlir;

namespace tilery::cuda {

HopperGemm::HopperGemm(lower::Emitter &e, const GemmKernel &gemm, const GemmSchedule &schedule, BlockMachine &machine)
    : e(e), b(e.b), machine(machine), gemm(gemm), schedule(schedule) {
  unsigned bytes = gemm.operand.getIntOrFloatBitWidth() / 8;
  layout[0] = {GemmKernel::kMajor(gemm.a, 1), gemm.m, schedule.k, bytes};
  layout[1] = {GemmKernel::kMajor(gemm.b, 0), gemm.n, schedule.k, bytes};
}

void HopperGemm::makeFunction() {
  BlockNeeds needs;
  needs.threads = schedule.threads();
  needs.residentBlocks = 1;
  needs.maps = schedule.stageOutput ? 3 : 2;
  needs.sharedAlignment = 1024;
  BlockEntry entry = machine.begin(e, gemm.kernel, needs);
  function = entry.function;
  maps = entry.maps;
  shared = entry.shared;
  for (BlockArgument argument : gemm.kernel.getBody().getArguments())
    arguments[argument] = e.fromMemory(entry.arguments[argument.getArgNumber()], argument.getType());
  std::copy(std::begin(entry.grid), std::end(entry.grid), grid);
  programs = entry.programs;
  base = entry.sharedAddress;
  thread = b.CreateTrunc(entry.thread, b.getInt32Ty());
  block = entry.number;
  blocks = entry.blocks;
  // The warpgroup's number from lane 0: the compiler then knows that it is the same in the whole warp.
  warpgroup = machine.shuffleFrom(e, b.CreateLShr(thread, 7), i32(0), i32(-1));
}

void HopperGemm::when(llvm::Value *condition, llvm::function_ref<void()> then) {
  llvm::BasicBlock *yes = newBlock(), *after = newBlock();
  b.CreateCondBr(condition, yes, after);
  b.SetInsertPoint(yes);
  then();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

void HopperGemm::initBarriers() {
  when(b.CreateICmpEQ(thread, i32(128)), [&] {
    for (unsigned s = 0; s < schedule.stages; ++s) {
      machine.initBarrier(e, b.CreateAdd(base, i32(16 * s)), 1);
      machine.initBarrier(e, b.CreateAdd(base, i32(16 * s + 8)), schedule.consumers);
    }
    machine.fenceBarrierInit(e);
  });
}

llvm::Value *HopperGemm::barrier(llvm::Value *ring, unsigned offset) {
  llvm::Value *stage = b.CreateURem(ring, i32(schedule.stages));
  return b.CreateAdd(b.CreateAdd(base, b.CreateMul(stage, i32(16))), i32(offset));
}

llvm::Value *HopperGemm::stageAddress(llvm::Value *ring) {
  llvm::Value *stage = b.CreateURem(ring, i32(schedule.stages));
  return b.CreateAdd(base, b.CreateAdd(b.CreateMul(stage, i32(pitch())), i32(barrierBytes)));
}

llvm::Value *HopperGemm::parity(llvm::Value *ring) { return b.CreateAnd(b.CreateUDiv(ring, i32(schedule.stages)), i32(1)); }

llvm::Value *HopperGemm::stageCount() {
  llvm::Value *steps = gemm.steps() ? b.CreateTrunc(scalar(gemm.steps()), b.getInt32Ty()) : i32(1);
  return b.CreateMul(steps, i32(gemm.k / schedule.k));
}

llvm::Value *HopperGemm::overStages(llvm::Value *count, llvm::Value *ring,
                                    llvm::function_ref<void(llvm::Value *, llvm::Value *)> body) {
  llvm::BasicBlock *before = b.GetInsertBlock(), *loop = newBlock("stages"), *after = newBlock("");
  b.CreateCondBr(b.CreateICmpSGT(count, i32(0)), loop, after);
  b.SetInsertPoint(loop);
  llvm::PHINode *i = b.CreatePHI(b.getInt32Ty(), 2), *now = b.CreatePHI(b.getInt32Ty(), 2);
  i->addIncoming(i32(0), before);
  now->addIncoming(ring, before);
  body(i, now);
  llvm::Value *next = b.CreateAdd(i, i32(1)), *nextRing = b.CreateAdd(now, i32(1));
  i->addIncoming(next, b.GetInsertBlock());
  now->addIncoming(nextRing, b.GetInsertBlock());
  llvm::BasicBlock *last = b.GetInsertBlock();
  b.CreateCondBr(b.CreateICmpSLT(next, count), loop, after);
  b.SetInsertPoint(after);
  llvm::PHINode *result = b.CreatePHI(b.getInt32Ty(), 2);
  result->addIncoming(ring, before);
  result->addIncoming(nextRing, last);
  return result;
}

// -- the producer

SmallVector<llvm::Value *, 5> HopperGemm::corner(const Box &box) {
  SmallVector<llvm::Value *, 5> result;
  for (const block::BoxDimension &dimension : box.dimensions) {
    llvm::Value *start = polynomial(dimension.start);
    if (dimension.mayRepeat && !dimension.stride.constant()) {
      llvm::Value *repeats = b.CreateICmpEQ(polynomial(dimension.stride, 64), b.getInt64(0));
      start = b.CreateSelect(repeats, i32(0), start);
    }
    result.push_back(start);
  }
  return result;
}

void HopperGemm::load(bool isB, ArrayRef<llvm::Value *> corner, llvm::Value *k, llvm::Value *at, llvm::Value *full) {
  const StageLayout &operand = layout[isB];
  for (unsigned box = 0; box < operand.boxes(); ++box) {
    llvm::Value *where = b.CreateAdd(at, i32(box * operand.boxBytes()));
    SmallVector<llvm::Value *, 5> coordinates(corner);
    for (auto [coordinate, dimension] : llvm::zip(coordinates, (isB ? gemm.b : gemm.a).dimensions))
      if (dimension.tile >= 0)
        coordinate = b.CreateAdd(coordinate, bool(dimension.tile) != isB ? k : i32(64 * box));
    machine.loadBox(e, where, maps[isB], coordinates, full);
  }
}

SmallVector<llvm::Value *> HopperGemm::workOf(llvm::Value *number) {
  setTile(number);
  SmallVector<llvm::Value *> work = {stageCount()};
  work.append(corner(gemm.a));
  work.append(corner(gemm.b));
  for (llvm::Value *&value : work)
    value = machine.here(e, value);
  return work;
}

// The producer finds out where its first tile lies, which takes several divisions, while the consumers set up the barriers.
SmallVector<llvm::Value *> HopperGemm::begin(llvm::Value *produces) {
  llvm::BasicBlock *first = newBlock("first"), *set = newBlock("set"), *begun = newBlock("begun");
  b.CreateCondBr(produces, first, set);
  b.SetInsertPoint(first);
  when(b.CreateICmpEQ(thread, i32(0)), [&] {
    for (llvm::Value *map : maps)
      machine.prefetchMap(e, map);
  });
  latencyBound = true;
  SmallVector<llvm::Value *> start = workOf(block);
  latencyBound = false;
  first = b.GetInsertBlock();
  b.CreateBr(begun);
  b.SetInsertPoint(set);
  initBarriers();
  set = b.GetInsertBlock();
  b.CreateBr(begun);
  b.SetInsertPoint(begun);
  for (llvm::Value *&value : start) {
    llvm::PHINode *phi = b.CreatePHI(b.getInt32Ty(), 2);
    phi->addIncoming(value, first);
    phi->addIncoming(i32(0), set);
    value = phi;
  }
  machine.barrier(e);
  return start;
}

void HopperGemm::producer(SmallVector<llvm::Value *> start) {
  start.push_back(i32(0));                   // the ring's counter
  when(b.CreateICmpEQ(thread, i32(0)), [&] { // one thread does all the work
    overTiles(start, [&](ArrayRef<llvm::Value *> work) {
      size_t rankA = gemm.a.dimensions.size(), rankB = gemm.b.dimensions.size();
      ArrayRef<llvm::Value *> corners[] = {work.slice(1, rankA), work.slice(1 + rankA, rankB)};
      llvm::Value *ring = overStages(work.front(), work.back(), [&](llvm::Value *i, llvm::Value *ring) {
        llvm::Value *full = barrier(ring, 0), *at = stageAddress(ring), *k = b.CreateMul(i, i32(schedule.k));
        machine.waitBarrier(e, barrier(ring, 8), b.CreateXor(parity(ring), i32(1)));
        machine.arriveExpect(e, full, i32(stageBytes()));
        for (unsigned operand = 0; operand < 2; ++operand) {
          load(operand, corners[operand], k, at, full);
          at = b.CreateAdd(at, i32(layout[operand].bytes()));
        }
      });
      llvm::Value *last = b.CreateSub(programs, i32(1));
      SmallVector<llvm::Value *> next = workOf(b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b.CreateAdd(tile, blocks), last));
      next.push_back(ring);
      return next;
    });
  });
}

// -- the consumers

// A stage is a loop's worth of instructions already.
llvm::MDNode *HopperGemm::neverUnrolled() {
  llvm::LLVMContext &context = b.getContext();
  auto *disable = llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.disable")});
  auto *loop = llvm::MDNode::getDistinct(context, {nullptr, disable});
  loop->replaceOperandWith(0, loop);
  return loop;
}

void HopperGemm::release(llvm::Value *ring, llvm::Value *condition) {
  when(b.CreateAnd(condition, elected), [&] { machine.arrive(e, barrier(ring, 8)); });
}

llvm::Value *HopperGemm::multiply(llvm::Value *ring, llvm::function_ref<void()> meanwhile) {
  unsigned tiles = tilesOfConsumer(), count = gemm.n / 2, perMultiply = 32 / layout[0].elementBytes;
  WgmmaForm::Type factor = *WgmmaForm::typeOf(gemm.operand);
  WgmmaForm form{gemm.n, factor, factor, !layout[0].kMajor, !layout[1].kMajor};
  llvm::Value *offsetA = b.CreateMul(me, i32(layout[0].rowOffset(64 * tiles)));
  // A descriptor takes 18 bits of the address; in clusters, more are set.
  auto descriptor = [&](llvm::Value *address, uint64_t rest) {
    llvm::Value *units = b.CreateAnd(b.CreateLShr(address, 4), i32(0x3fff));
    return b.CreateOr(b.CreateZExt(units, b.getInt64Ty()), b.getInt64(rest));
  };
  // The loop is written out here, for the accumulators are its phis.
  llvm::Value *stages = stageCount();
  llvm::Type *type = form.integer() ? static_cast<llvm::Type *>(b.getInt32Ty()) : b.getFloatTy();
  llvm::Constant *zero = llvm::Constant::getNullValue(type);
  llvm::BasicBlock *before = b.GetInsertBlock(), *loop = newBlock("multiply"), *after = newBlock("finish");
  b.CreateCondBr(b.CreateICmpSGT(stages, i32(0)), loop, after);
  b.SetInsertPoint(loop);
  llvm::PHINode *i = b.CreatePHI(b.getInt32Ty(), 2), *now = b.CreatePHI(b.getInt32Ty(), 2);
  i->addIncoming(i32(0), before);
  now->addIncoming(ring, before);
  SmallVector<SmallVector<llvm::PHINode *>> phis(tiles);
  accumulators.assign(tiles, {});
  for (unsigned t = 0; t < tiles; ++t)
    for (unsigned r = 0; r < count; ++r) {
      phis[t].push_back(b.CreatePHI(type, 2));
      phis[t].back()->addIncoming(zero, before);
      accumulators[t].push_back(phis[t].back());
    }
  machine.waitBarrier(e, barrier(now, 0), parity(now));
  llvm::Value *stage = stageAddress(now);
  layout::MatrixDescriptor inA = layout[0].descriptor(), inB = layout[1].descriptor();
  llvm::Value *descriptorB = descriptor(b.CreateAdd(stage, i32(layout[0].bytes())), inB.bits());
  llvm::Value *addressA = b.CreateAdd(stage, offsetA);
  llvm::Value *notFirst = b.CreateICmpNE(i, i32(0));
  llvm::Value *scale = b.CreateZExt(notFirst, b.getInt32Ty());
  machine.wgmmaFence(e);
  for (unsigned k = 0; k < schedule.k / perMultiply; ++k)
    for (unsigned t = 0; t < tiles; ++t) {
      llvm::Value *descriptorA = descriptor(b.CreateAdd(addressA, i32(layout[0].rowOffset(64 * t))), inA.bits());
      llvm::Value *stepA = b.CreateAdd(descriptorA, b.getInt64(k * inA.kStep / 16));
      llvm::Value *stepB = b.CreateAdd(descriptorB, b.getInt64(k * inB.kStep / 16));
      machine.wgmma(e, form, accumulators[t], stepA, stepB, k == 0 ? scale : i32(1));
    }
  machine.wgmmaCommit(e);
  machine.wgmmaWait(e, 1, {}); // the previous stage's products are done: that stage is free
  release(b.CreateSub(now, i32(1)), notFirst);
  llvm::Value *next = b.CreateAdd(i, i32(1)), *nextRing = b.CreateAdd(now, i32(1));
  llvm::BasicBlock *last = b.GetInsertBlock();
  i->addIncoming(next, last);
  now->addIncoming(nextRing, last);
  for (unsigned t = 0; t < tiles; ++t)
    for (unsigned r = 0; r < count; ++r)
      phis[t][r]->addIncoming(accumulators[t][r], last);
  llvm::Instruction *again = b.CreateCondBr(b.CreateICmpSLT(next, stages), loop, after);
  again->setMetadata(llvm::LLVMContext::MD_loop, neverUnrolled());
  b.SetInsertPoint(after);
  llvm::PHINode *result = b.CreatePHI(b.getInt32Ty(), 2);
  result->addIncoming(ring, before);
  result->addIncoming(nextRing, last);
  SmallVector<llvm::Value *> all;
  for (unsigned t = 0; t < tiles; ++t)
    for (unsigned r = 0; r < count; ++r) {
      llvm::PHINode *phi = b.CreatePHI(type, 2);
      phi->addIncoming(zero, before);
      phi->addIncoming(accumulators[t][r], last);
      all.push_back(phi);
    }
  meanwhile();
  machine.wgmmaWait(e, 0, all);
  for (unsigned t = 0; t < tiles; ++t)
    accumulators[t].assign(all.begin() + t * count, all.begin() + (t + 1) * count);
  release(b.CreateSub(result, i32(1)), b.CreateICmpSGT(stages, i32(0)));
  return result;
}

void HopperGemm::locate() {
  llvm::Value *now = machine.threadNow(e);
  me = b.CreateSub(b.CreateLShr(now, 7), i32(1));
  llvm::Value *own = b.CreateAnd(now, i32(127));
  lane = b.CreateAnd(now, i32(31));
  warp = b.CreateLShr(own, 5);
  elected = b.CreateICmpEQ(own, i32(0));
  barrierId = b.CreateAdd(me, i32(1));
}

void HopperGemm::consumer() {
  me = b.CreateSub(warpgroup, i32(1));
  elected = b.CreateICmpEQ(b.CreateAnd(thread, i32(127)), i32(0));
  overTiles({i32(0)}, [&](ArrayRef<llvm::Value *> ring) {
    if (!gemm.equalSteps)
      setTile(tile);
    llvm::Value *result = multiply(ring[0], [&] {
      if (gemm.equalSteps)
        setTile(tile);
      findOutput();
    });
    locate(); // again: what the epilogue derives from it would take registers from the accumulators if it were kept
    epilogue();
    return SmallVector<llvm::Value *>{result};
  });
  if (schedule.stageOutput)
    machine.waitStores(e, false, 0);
}

GpuInfo HopperGemm::emit() {
  makeFunction();
  findOrder();
  llvm::Value *produces = b.CreateICmpEQ(warpgroup, i32(0));
  SmallVector<llvm::Value *> start = begin(produces);
  llvm::BasicBlock *producerBlock = newBlock("producer"), *consumerBlock = newBlock("consumer"), *exit = newBlock("exit");
  b.CreateCondBr(produces, producerBlock, consumerBlock);
  b.SetInsertPoint(producerBlock);
  machine.role(e, "producer");
  producer(std::move(start));
  b.CreateBr(exit);
  b.SetInsertPoint(consumerBlock);
  machine.role(e, "consumer");
  consumer();
  b.CreateBr(exit);
  b.SetInsertPoint(exit);
  b.CreateRetVoid();

  GpuInfo info;
  info.threads = schedule.threads();
  info.sharedBytes = sharedBytes(problemOf(gemm), schedule);
  info.persistent = true;
  DType dtype = *dtypeOf(gemm.operand);
  describeBox(gemm.a, {layout[0].boxInner(), layout[0].boxOuter()}, dtype, info);
  describeBox(gemm.b, {layout[1].boxInner(), layout[1].boxOuter()}, dtype, info);
  if (schedule.stageOutput)
    describeBox(*gemm.c, {128 / outputBytes(), 64}, *dtypeOf(gemm.output), info);
  return info;
}

GemmProblem problemOf(const GemmKernel &gemm) {
  unsigned bytes = gemm.operand.getIntOrFloatBitWidth() / 8;
  GemmProblem problem{
      gemm.m, gemm.n, gemm.k, bytes, gemm.c ? gemm.output.getIntOrFloatBitWidth() / 8 : 0, gemm.order != GemmKernel::Order::Own};
  if (auto contract = dyn_cast<tile::ContractOp>(gemm.product); contract && contract.getNumStages())
    problem.stagesHint = *contract.getNumStages();
  return problem;
}

GpuInfo emitHopperGemm(lower::Emitter &e, const GemmKernel &gemm, const GemmSchedule &schedule, BlockMachine &machine) {
  return HopperGemm(e, gemm, schedule, machine).emit();
}

} // namespace tilery::cuda
