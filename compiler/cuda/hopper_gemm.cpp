#include "compiler/cuda/hopper_gemm.h"
#include "compiler/cpu/evaluator.h"
#include "compiler/cuda/ptx.h"
#include "compiler/ir/dtype_of.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
constexpr unsigned barrierBytes = 1024; // full[s] at 16 s, empty[s] at 16 s + 8; the ring starts at a multiple of 1024

/// How an operand's stage lies in shared memory and what the tensor cores are told of it.
struct StageLayout {
  bool kMajor;                                               // k is contiguous
  unsigned rows, k;                                          // rows: the m or n extent
  unsigned rowBytes() const { return kMajor ? k * 2 : 128; } // of a swizzled row
  unsigned bytes() const { return rows * k * 2; }
  unsigned boxes() const { return kMajor ? 1 : rows / 64; }
  unsigned boxBytes() const { return bytes() / boxes(); }
  unsigned boxOuter() const { return kMajor ? rows : k; }
  uint64_t descriptor() const {
    uint64_t swizzle = rowBytes() == 128 ? 1 : rowBytes() == 64 ? 2 : 3;
    uint64_t group = 8 * rowBytes() / 16;                   // eight rows, in units of 16 bytes
    uint64_t leading = kMajor ? 1 : uint64_t(k) * 128 / 16; // between blocks of 64 along m or n
    return swizzle << 62 | group << 32 | leading << 16;
  }
  /// Units of 16 bytes from one group of sixteen k to the next.
  unsigned kStep() const { return kMajor ? 2 : 16 * 128 / 16; }
  /// Bytes from row 0 to row `row` (a multiple of 64).
  unsigned rowOffset(unsigned row) const { return kMajor ? row * rowBytes() : row / 64 * k * 128; }
};

class HopperGemm {
public:
  HopperGemm(cpu::Emitter &e, const GemmKernel &gemm, const GemmSchedule &schedule)
      : e(e), b(e.b), ptx(e.b), gemm(gemm), schedule(schedule), depth(std::min(gemm.k, schedule.k)),
        layoutA{gemm.a.contiguous == 1, gemm.m, depth}, layoutB{gemm.b.contiguous == 0, gemm.n, depth} {}

  GpuInfo emit();

private:
  void makeFunction();
  void initBarriers();
  void producer();
  void consumer();
  void epilogue(cpu::Evaluator &evaluator);
  void storeFromRegisters(cpu::Evaluator &evaluator);
  void stageOutput(cpu::Evaluator &evaluator);
  cpu::Point pointOf(unsigned tile, unsigned j, unsigned half);
  llvm::Value *pairAt(cpu::Evaluator &evaluator, const cpu::Point &point, unsigned tile, unsigned j, unsigned half);

  /// Runs body for tile = ctaid, ctaid + nctaid, ... below the number of programs, with the program ids set; carries an i32.
  void overTiles(llvm::function_ref<llvm::Value *(llvm::Value *ring)> body);
  /// Runs body(i, ring) for i in [0, count); `ring` counts the stages of all tiles, and is returned as it is after the loop.
  llvm::Value *overStages(llvm::Value *ring, llvm::function_ref<void(llvm::Value *i, llvm::Value *ring)> body);
  void when(llvm::Value *condition, llvm::function_ref<void()> then);
  void setProgram(llvm::Value *tile);
  llvm::Value *scalar(Value value);
  llvm::Value *polynomial(const Polynomial &p);
  llvm::Value *stageCount();
  llvm::MDNode *neverUnrolled();
  llvm::Value *barrier(llvm::Value *ring, unsigned offset) {
    llvm::Value *stage = b.CreateURem(ring, i32(schedule.stages));
    return b.CreateAdd(b.CreateAdd(base, b.CreateMul(stage, i32(16))), i32(offset));
  }
  llvm::Value *stageAddress(llvm::Value *ring) {
    llvm::Value *stage = b.CreateURem(ring, i32(schedule.stages));
    return b.CreateAdd(base, b.CreateAdd(b.CreateMul(stage, i32(stageBytes())), i32(barrierBytes)));
  }
  llvm::Value *parity(llvm::Value *ring) { return b.CreateAnd(b.CreateUDiv(ring, i32(schedule.stages)), i32(1)); }
  unsigned stageBytes() const { return layoutA.bytes() + layoutB.bytes(); }
  unsigned tilesOfConsumer() const { return gemm.m / 64 / schedule.consumers; }
  llvm::ConstantInt *i32(int64_t value) { return b.getInt32(value); }
  llvm::BasicBlock *newBlock(const char *name = "") { return llvm::BasicBlock::Create(b.getContext(), name, function); }

  cpu::Emitter &e;
  llvm::IRBuilder<> &b;
  Ptx ptx;
  GemmKernel gemm;
  const GemmSchedule &schedule;
  unsigned depth; // k of a stage
  StageLayout layoutA, layoutB;

  llvm::Function *function = nullptr;
  llvm::Value *mapA = nullptr, *mapB = nullptr, *mapC = nullptr;
  llvm::Value *grid[3] = {}, *programs = nullptr;
  llvm::Value *base = nullptr, *thread = nullptr, *warpgroup = nullptr, *block = nullptr, *blocks = nullptr;
  llvm::DenseMap<Value, llvm::Value *> arguments;
  llvm::DenseMap<Value, llvm::Value *> scalars; // of the current tile
  llvm::Value *program[3] = {};
  // consumer
  llvm::Value *me = nullptr, *lane = nullptr, *warp = nullptr, *elected = nullptr, *barrierId = nullptr;
  SmallVector<SmallVector<llvm::Value *>> accumulators; // of each 64 x n tile
};

void HopperGemm::makeFunction() {
  llvm::Type *i64 = b.getInt64Ty();
  llvm::Type *map = llvm::ArrayType::get(i64, 16);
  SmallVector<llvm::Type *> types(schedule.stageOutput ? 3 : 2, b.getPtrTy());
  unsigned maps = types.size();
  for (BlockArgument argument : gemm.kernel.getBody().getArguments())
    types.push_back(e.memoryType(argument.getType()));
  types.append(3, b.getInt32Ty());
  function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), types, false), llvm::GlobalValue::ExternalLinkage,
                                    gemm.kernel.getSymName(), e.module);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->addFnAttr("nvvm.maxntid", std::to_string(schedule.threads()));
  function->addFnAttr("nvvm.minctasm", "1");
  function->addFnAttr(llvm::Attribute::Convergent);
  for (unsigned i = 0; i < maps; ++i) {
    llvm::AttrBuilder attributes(b.getContext());
    attributes.addByValAttr(map);
    attributes.addAlignmentAttr(llvm::Align(64));
    attributes.addAttribute("nvvm.grid_constant");
    function->addParamAttrs(i, attributes);
  }
  mapA = function->getArg(0), mapB = function->getArg(1);
  if (maps == 3)
    mapC = function->getArg(2);
  b.SetInsertPoint(newBlock("entry"));
  for (BlockArgument argument : gemm.kernel.getBody().getArguments())
    arguments[argument] = e.fromMemory(function->getArg(maps + argument.getArgNumber()), argument.getType());
  for (unsigned d = 0; d < 3; ++d)
    grid[d] = function->getArg(function->arg_size() - 3 + d);
  programs = b.CreateMul(b.CreateMul(grid[0], grid[1]), grid[2]);
  auto *shared =
      new llvm::GlobalVariable(e.module, llvm::ArrayType::get(b.getInt8Ty(), 0), false, llvm::GlobalValue::ExternalLinkage,
                               nullptr, gemm.kernel.getSymName() + "_shared", nullptr, llvm::GlobalValue::NotThreadLocal, Shared);
  shared->setAlignment(llvm::Align(1024));
  base = b.CreatePtrToInt(shared, b.getInt32Ty());
  thread = ptx.special("tid.x");
  block = ptx.special("ctaid.x");
  blocks = ptx.special("nctaid.x");
  // The warpgroup's number from lane 0: the compiler then knows that it is the same in the whole warp.
  warpgroup = b.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, {}, {i32(-1), b.CreateLShr(thread, 7), i32(0), i32(31)});
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
  when(b.CreateICmpEQ(thread, i32(0)), [&] {
    for (unsigned s = 0; s < schedule.stages; ++s) {
      ptx.barrierInit(b.CreateAdd(base, i32(16 * s)), 1);
      ptx.barrierInit(b.CreateAdd(base, i32(16 * s + 8)), schedule.consumers);
    }
    ptx.fenceBarrierInit();
  });
  ptx.blockBarrier();
}

llvm::Value *HopperGemm::scalar(Value value) {
  if (auto found = arguments.find(value); found != arguments.end())
    return found->second;
  if (auto found = scalars.find(value); found != scalars.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  llvm::Value *result;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    return e.constant(constant.getValue(), value.getType());
  } else if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    result = program[id.getAxis()];
  } else if (auto count = dyn_cast<tile::NumProgramsOp>(op)) {
    result = grid[count.getAxis()];
  } else {
    SmallVector<cpu::Lanes> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalar(operand));
    result = cpu::emitElementwise(e, op, operands);
  }
  return scalars[value] = result;
}

// In 32 bits: coordinates of the copy engine.
llvm::Value *HopperGemm::polynomial(const Polynomial &p) {
  llvm::Value *sum = nullptr;
  for (auto &[monomial, coefficient] : p.terms) {
    llvm::Value *product = monomial.empty() || coefficient != 1 ? i32(coefficient) : nullptr;
    for (const void *atom : monomial) {
      llvm::Value *factor = b.CreateSExtOrTrunc(scalar(Value::getFromOpaquePointer(atom)), b.getInt32Ty());
      product = product ? b.CreateMul(product, factor) : factor;
    }
    sum = sum ? b.CreateAdd(sum, product) : product;
  }
  return sum ? sum : i32(0);
}

// Tiles in groups of `group` rows of tiles where the grid is rows by columns: a wave then shares both operands in L2.
void HopperGemm::setProgram(llvm::Value *tile) {
  scalars.clear();
  if (schedule.group > 1 && gemm.twoDimensional) {
    llvm::Value *perGroup = b.CreateMul(grid[0], i32(schedule.group));
    llvm::Value *plane = b.CreateMul(grid[0], grid[1]);
    llvm::Value *inPlane = b.CreateURem(tile, plane);
    llvm::Value *first = b.CreateMul(b.CreateUDiv(inPlane, perGroup), i32(schedule.group));
    llvm::Value *rows = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b.CreateSub(grid[1], first), i32(schedule.group));
    llvm::Value *inside = b.CreateURem(inPlane, perGroup);
    program[1] = b.CreateAdd(first, b.CreateURem(inside, rows));
    program[0] = b.CreateUDiv(inside, rows);
    program[2] = b.CreateUDiv(tile, plane);
  } else {
    program[0] = b.CreateURem(tile, grid[0]);
    llvm::Value *rest = b.CreateUDiv(tile, grid[0]);
    program[1] = b.CreateURem(rest, grid[1]);
    program[2] = b.CreateUDiv(rest, grid[1]);
  }
}

void HopperGemm::overTiles(llvm::function_ref<llvm::Value *(llvm::Value *)> body) {
  llvm::BasicBlock *before = b.GetInsertBlock(), *loop = newBlock("tiles"), *after = newBlock("");
  b.CreateCondBr(b.CreateICmpULT(block, programs), loop, after);
  b.SetInsertPoint(loop);
  llvm::PHINode *tile = b.CreatePHI(b.getInt32Ty(), 2), *ring = b.CreatePHI(b.getInt32Ty(), 2);
  tile->addIncoming(block, before);
  ring->addIncoming(i32(0), before);
  setProgram(tile);
  llvm::Value *nextRing = body(ring);
  llvm::Value *next = b.CreateAdd(tile, blocks);
  tile->addIncoming(next, b.GetInsertBlock());
  ring->addIncoming(nextRing, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpULT(next, programs), loop, after);
  b.SetInsertPoint(after);
}

llvm::Value *HopperGemm::stageCount() {
  llvm::Value *steps = gemm.steps() ? b.CreateTrunc(scalar(gemm.steps()), b.getInt32Ty()) : i32(1);
  return b.CreateMul(steps, i32(gemm.k / depth));
}

llvm::Value *HopperGemm::overStages(llvm::Value *ring, llvm::function_ref<void(llvm::Value *, llvm::Value *)> body) {
  llvm::Value *count = stageCount();
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

void HopperGemm::producer() {
  when(b.CreateICmpEQ(thread, i32(0)), [&] { // one thread does all the work
    overTiles([&](llvm::Value *ring) {
      llvm::Value *row = polynomial(gemm.a.start[0]), *column = polynomial(gemm.b.start[1]);
      llvm::Value *kA = polynomial(gemm.a.start[1]), *kB = polynomial(gemm.b.start[0]);
      return overStages(ring, [&](llvm::Value *i, llvm::Value *ring) {
        llvm::Value *full = barrier(ring, 0);
        ptx.wait(barrier(ring, 8), b.CreateXor(parity(ring), i32(1)));
        ptx.arriveExpect(full, stageBytes());
        llvm::Value *at = stageAddress(ring), *k = b.CreateMul(i, i32(depth));
        auto load = [&](const StageLayout &layout, llvm::Value *map, llvm::Value *row, llvm::Value *k) {
          for (unsigned box = 0; box < layout.boxes(); ++box) {
            llvm::Value *where = b.CreateAdd(at, i32(box * layout.boxBytes()));
            llvm::Value *along = b.CreateAdd(row, i32(64 * box));
            ptx.loadBox(where, map, layout.kMajor ? k : along, layout.kMajor ? row : k, full);
          }
          at = b.CreateAdd(at, i32(layout.bytes()));
        };
        load(layoutA, mapA, row, b.CreateAdd(kA, k));
        load(layoutB, mapB, column, b.CreateAdd(kB, k));
      });
    });
  });
}

// A stage is a loop's worth of instructions already.
llvm::MDNode *HopperGemm::neverUnrolled() {
  llvm::LLVMContext &context = b.getContext();
  auto *disable = llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.disable")});
  auto *loop = llvm::MDNode::getDistinct(context, {nullptr, disable});
  loop->replaceOperandWith(0, loop);
  return loop;
}

void HopperGemm::consumer() {
  me = b.CreateSub(warpgroup, i32(1));
  llvm::Value *own = b.CreateAnd(thread, i32(127));
  lane = b.CreateAnd(thread, i32(31));
  warp = b.CreateLShr(own, 5);
  elected = b.CreateICmpEQ(own, i32(0));
  barrierId = b.CreateAdd(me, i32(1));
  unsigned tiles = tilesOfConsumer(), count = gemm.n / 2;
  Ptx::Wgmma form{gemm.n, gemm.operand.isF16() ? "f16" : "bf16", !layoutA.kMajor, !layoutB.kMajor};
  llvm::Value *offsetA = b.CreateMul(me, i32(layoutA.rowOffset(64 * tiles)));
  auto descriptor = [&](llvm::Value *address, uint64_t rest) {
    return b.CreateOr(b.CreateZExt(b.CreateLShr(address, 4), b.getInt64Ty()), b.getInt64(rest));
  };

  overTiles([&](llvm::Value *ring) {
    // The loop is written out here, for the accumulators are its phis.
    llvm::Value *stages = stageCount();
    auto *zero = llvm::ConstantFP::get(b.getFloatTy(), 0);
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
        phis[t].push_back(b.CreatePHI(b.getFloatTy(), 2));
        phis[t].back()->addIncoming(zero, before);
        accumulators[t].push_back(phis[t].back());
      }
    ptx.wait(barrier(now, 0), parity(now));
    llvm::Value *stage = stageAddress(now);
    llvm::Value *descriptorB = descriptor(b.CreateAdd(stage, i32(layoutA.bytes())), layoutB.descriptor());
    llvm::Value *addressA = b.CreateAdd(stage, offsetA);
    llvm::Value *notFirst = b.CreateICmpNE(i, i32(0));
    llvm::Value *scale = b.CreateZExt(notFirst, b.getInt32Ty());
    ptx.wgmmaFence();
    for (unsigned k = 0; k < depth / 16; ++k)
      for (unsigned t = 0; t < tiles; ++t) {
        llvm::Value *descriptorA = descriptor(b.CreateAdd(addressA, i32(layoutA.rowOffset(64 * t))), layoutA.descriptor());
        ptx.wgmma(form, accumulators[t], b.CreateAdd(descriptorA, b.getInt64(k * layoutA.kStep())),
                  b.CreateAdd(descriptorB, b.getInt64(k * layoutB.kStep())), k == 0 ? scale : i32(1));
      }
    ptx.wgmmaCommit();
    ptx.wgmmaWait(1, {}); // the previous stage's products are done: that stage is free
    when(b.CreateAnd(notFirst, elected), [&] { ptx.arrive(barrier(b.CreateSub(now, i32(1)), 8)); });
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
        llvm::PHINode *phi = b.CreatePHI(b.getFloatTy(), 2);
        phi->addIncoming(zero, before);
        phi->addIncoming(accumulators[t][r], last);
        all.push_back(phi);
      }
    ptx.wgmmaWait(0, all);
    for (unsigned t = 0; t < tiles; ++t)
      accumulators[t].assign(all.begin() + t * count, all.begin() + (t + 1) * count);
    llvm::Value *some = b.CreateICmpSGT(stages, i32(0));
    when(b.CreateAnd(some, elected), [&] { ptx.arrive(barrier(b.CreateSub(result, i32(1)), 8)); });

    cpu::Plan plan; // nothing is stored: every value is computed where it is used
    cpu::Evaluator evaluator(e, plan);
    epilogue(evaluator);
    return result;
  });
  if (schedule.stageOutput)
    ptx.waitStores(false);
}

GpuInfo HopperGemm::emit() {
  makeFunction();
  initBarriers();
  llvm::BasicBlock *producerBlock = newBlock("producer"), *consumerBlock = newBlock("consumer"), *exit = newBlock("exit");
  b.CreateCondBr(b.CreateICmpEQ(warpgroup, i32(0)), producerBlock, consumerBlock);
  b.SetInsertPoint(producerBlock);
  producer();
  b.CreateBr(exit);
  b.SetInsertPoint(consumerBlock);
  consumer();
  b.CreateBr(exit);
  b.SetInsertPoint(exit);
  b.CreateRetVoid();

  GpuInfo info;
  info.threads = schedule.threads();
  info.sharedBytes = sharedBytes(problemOf(gemm), schedule);
  info.persistent = true;
  DType dtype = *dtypeOf(gemm.operand);
  info.maps.push_back(describeBox(gemm.a, gemm.kernel, layoutA.rowBytes() / 2, layoutA.boxOuter(), dtype));
  info.maps.push_back(describeBox(gemm.b, gemm.kernel, layoutB.rowBytes() / 2, layoutB.boxOuter(), dtype));
  if (schedule.stageOutput)
    info.maps.push_back(describeBox(*gemm.c, gemm.kernel, 64, 64, *dtypeOf(gemm.output)));
  return info;
}

// -- epilogue

// Where a thread's accumulators 4 j + 2 half and the next one are in the program's tile: neighbours of one row.
cpu::Point HopperGemm::pointOf(unsigned tile, unsigned j, unsigned half) {
  llvm::Value *row = b.CreateAdd(b.CreateLShr(lane, 2), b.CreateShl(warp, 4));
  row = b.CreateAdd(row, b.CreateMul(me, i32(64 * tilesOfConsumer())));
  row = b.CreateAdd(row, i32(64 * tile + 8 * half));
  llvm::Value *column = b.CreateAdd(b.CreateShl(b.CreateAnd(lane, i32(3)), 1), i32(8 * j));
  auto index = [&](llvm::Value *at, int64_t step) {
    cpu::Index result;
    result.base = b.CreateZExt(at, b.getInt64Ty());
    result.step = step;
    result.multiple = step ? 2 : 1;
    return result;
  };
  return {index(row, 0), index(column, 1)};
}

// The stored value there.
llvm::Value *HopperGemm::pairAt(cpu::Evaluator &evaluator, const cpu::Point &point, unsigned tile, unsigned j, unsigned half) {
  llvm::Value *pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(b.getFloatTy(), 2));
  for (unsigned i = 0; i < 2; ++i)
    pair = b.CreateInsertElement(pair, accumulators[tile][4 * j + 2 * half + i], uint64_t(i));
  evaluator.lanes = 2;
  evaluator.provide(gemm.product->getResult(0), point, pair);
  return e.splat(evaluator.value(gemm.store.getValue(), point), 2);
}

void HopperGemm::epilogue(cpu::Evaluator &evaluator) {
  for (auto [value, emitted] : arguments)
    evaluator.scalars[value] = emitted;
  // Scalars that the stored value and its place are computed from.
  for (Operation &op : *gemm.product->getBlock())
    if (op.getNumResults() == 1 && !isa<RankedTensorType>(op.getResult(0).getType()) &&
        (cpu::isElementwise(&op) || isa<tile::ProgramIdOp, tile::NumProgramsOp>(op)))
      evaluator.scalars[op.getResult(0)] = scalar(op.getResult(0));
  if (schedule.stageOutput)
    stageOutput(evaluator);
  else
    storeFromRegisters(evaluator);
}

void HopperGemm::storeFromRegisters(cpu::Evaluator &evaluator) {
  for (unsigned t = 0; t < tilesOfConsumer(); ++t)
    for (unsigned j = 0; j < gemm.n / 8; ++j)
      for (unsigned half = 0; half < 2; ++half) {
        cpu::Point point = pointOf(t, j, half);
        llvm::Value *value = pairAt(evaluator, point, t, j, half);
        evaluator.store(evaluator.address(gemm.store.getPlace(), point), value);
      }
}

// Through shared memory in blocks of 64 x 64, swizzled as the copy engine wants them.
void HopperGemm::stageOutput(cpu::Evaluator &evaluator) {
  unsigned tiles = tilesOfConsumer(), boxBytes = 64 * 128, tileBytes = gemm.n / 64 * boxBytes;
  llvm::Value *buffer =
      b.CreateAdd(base, b.CreateAdd(b.CreateMul(me, i32(tiles * tileBytes)), i32(barrierBytes + schedule.stages * stageBytes())));
  llvm::Value *low = b.CreateAnd(lane, i32(7));
  llvm::Value *row =
      b.CreateAdd(b.CreateAdd(b.CreateShl(warp, 4), b.CreateShl(b.CreateAnd(b.CreateLShr(lane, 3), i32(1)), 3)), low);
  llvm::Value *rowAddress = b.CreateAdd(buffer, b.CreateShl(row, 7));
  llvm::Value *upper = b.CreateLShr(lane, 4);
  llvm::Value *chunk[8] = {};
  for (unsigned c = 0; c < 8; c += 2) // chunks of 16 bytes, numbered xor the row: the 128-byte swizzle
    chunk[c] = b.CreateAdd(rowAddress, b.CreateShl(b.CreateXor(b.CreateAdd(upper, i32(c)), low), 4));
  when(elected, [&] { ptx.waitStores(true); }); // the last tile's stores have left this memory
  ptx.namedBarrier(barrierId, 128);
  for (unsigned t = 0; t < tiles; ++t)
    for (unsigned j = 0; j < gemm.n / 8; j += 2) {
      SmallVector<llvm::Value *> registers;
      for (unsigned r = 0; r < 4; ++r)
        registers.push_back(
            b.CreateBitCast(pairAt(evaluator, pointOf(t, j + r / 2, r % 2), t, j + r / 2, r % 2), b.getInt32Ty()));
      ptx.storeMatrices(b.CreateAdd(chunk[j % 8], i32(t * tileBytes + j / 8 * boxBytes)), registers);
    }
  ptx.fenceProxy();
  ptx.namedBarrier(barrierId, 128);
  when(elected, [&] {
    llvm::Value *row = b.CreateAdd(polynomial(gemm.c->start[0]), b.CreateMul(me, i32(64 * tiles)));
    llvm::Value *column = polynomial(gemm.c->start[1]);
    for (unsigned t = 0; t < tiles; ++t)
      for (unsigned box = 0; box < gemm.n / 64; ++box)
        ptx.storeBox(mapC, b.CreateAdd(column, i32(64 * box)), b.CreateAdd(row, i32(64 * t)),
                     b.CreateAdd(buffer, i32(t * tileBytes + box * boxBytes)));
    ptx.commitStores();
  });
}
} // namespace

GemmProblem problemOf(GemmKernel gemm) {
  GemmProblem problem{gemm.m, gemm.n, gemm.k, 2, gemm.c ? 2u : 0u, gemm.twoDimensional};
  if (auto contract = dyn_cast<tile::ContractOp>(gemm.product); contract && contract.getNumStages())
    problem.stagesHint = *contract.getNumStages();
  return problem;
}

GpuInfo emitHopperGemm(cpu::Emitter &e, const GemmKernel &gemm, const GemmSchedule &schedule) {
  return HopperGemm(e, gemm, schedule).emit();
}

} // namespace tilery::cuda
