// Numbers are computed where they are first needed; loops and branches carry whatever a thread holds of their values.
#include "compiler/ir/hints.h"
#include "compiler/lower/unroll.h"
#include "compiler/targets/cuda/block/block_emitter.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
bool isNumber(Type type) { return isa<IntegerType, FloatType, IndexType, tile::PtrType>(type); }

bool yieldsNumbers(Operation *op) { return op->getNumResults() && llvm::all_of(op->getResultTypes(), isNumber); }

/// Whether its result is computed where it is needed rather than where the op stands.
bool isLazy(Operation *op) {
  if (!yieldsNumbers(op))
    return false;
  if (isa<scf::IfOp>(op))
    return isMemoryEffectFree(op);
  return op->hasTrait<OpTrait::ConstantLike>() || lower::isElementwise(op) ||
         isa<tile::ProgramIdOp, tile::NumProgramsOp, block::ClusterRankOp, ub::PoisonOp>(op);
}

/// Threads fill slots in it.
bool fetches(scf::ForOp loop) {
  auto isFetched = [](Operation *op) {
    auto write = dyn_cast<block::WriteOp>(op);
    bool fills = isa<block::FetchOp>(op) || (write && write.getShared().getDefiningOp<block::PartOp>());
    return fills ? WalkResult::interrupt() : WalkResult::advance();
  };
  return loop.walk(isFetched).wasInterrupted();
}
} // namespace

void BlockEmitter::forget(size_t before) {
  for (Value value : llvm::drop_begin(known, before)) {
    evaluator.scalars.erase(value);
    values.erase(value);
    noPlan.storage.erase(value);
  }
  known.truncate(before);
}

void BlockEmitter::remember(Value value, Parts parts) {
  known.push_back(value);
  if (isNumber(value.getType()))
    evaluator.scalars[value] = parts.front();
  else
    values[value] = std::move(parts);
}

llvm::Value *BlockEmitter::scalar(Value value) {
  if (auto found = evaluator.scalars.find(value); found != evaluator.scalars.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  if (!op) { // a coordinate of the program
    place(number);
    return evaluator.scalars.lookup(value);
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return e.constant(constant.getValue(), value.getType());
  if (isa<ub::PoisonOp>(op))
    return llvm::Constant::getNullValue(e.valueType(value.getType()));
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    emitBranch(branch);
    return evaluator.scalars.lookup(value);
  }
  llvm::Value *result = nullptr;
  if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    result = programId(id.getAxis());
  } else if (auto count = dyn_cast<tile::NumProgramsOp>(op)) {
    result = launched[count.getAxis()];
  } else if (isa<block::ClusterRankOp>(op)) {
    result = machine.clusterRank(e);
  } else if (lower::isElementwise(op)) {
    SmallVector<lower::Lanes> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalar(operand));
    result = lower::emitElementwise(e, op, operands);
  }
  if (!result) {
    fail(op, "has no code in a block");
    result = llvm::Constant::getNullValue(e.valueType(value.getType()));
  }
  remember(value, {result});
  return result;
}

void BlockEmitter::ensure(Value value) {
  llvm::SetVector<Value> all;
  all.insert(value);
  for (size_t i = 0; i < all.size(); ++i) {
    scalar(all[i]);
    if (Operation *op = all[i].getDefiningOp(); op && lower::isElementwise(op))
      all.insert(op->operand_begin(), op->operand_end());
  }
}

void BlockEmitter::prepare(Operation *op) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isNumber(operand.getType()) && !op->isProperAncestor(operand.getParentBlock()->getParentOp()) &&
          operand.getParentBlock()->getParentOp() != op)
        scalar(operand);
  });
}

BlockEmitter::Parts BlockEmitter::partsOf(Value value) {
  if (isNumber(value.getType()))
    return {scalar(value)};
  if (auto found = values.find(value); found != values.end())
    return found->second;
  if (isa<RankedTensorType>(value.getType())) {
    Parts parts = materialize(value);
    if (Operation *op = value.getDefiningOp(); op && !op->hasTrait<OpTrait::ConstantLike>())
      remember(value, parts); // what comes next takes it from there
    return parts;
  }
  if (!value.getDefiningOp<block::NoneOp>()) {
    if (Operation *op = value.getDefiningOp())
      fail(op, "is used where there is nothing of it");
    failed = true; // what follows goes on with as many parts
  }
  if (isa<block::SlotType>(value.getType()))
    return {i32(0), b.getFalse()};
  if (auto pending = dyn_cast<block::PendingType>(value.getType()))
    if (block::LayoutAttr layout = block::layoutOf(pending.getTile()))
      return Parts(layout.getLayout().extent(layout::Register),
                   llvm::Constant::getNullValue(e.valueType(pending.getTile().getElementType())));
  return {i32(0)};
}

void BlockEmitter::when(llvm::Value *condition, llvm::function_ref<void()> then) {
  if (!condition)
    return then();
  Scope scope(*this);
  llvm::BasicBlock *yes = newBlock(), *after = newBlock();
  b.CreateCondBr(condition, yes, after);
  b.SetInsertPoint(yes);
  then();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

// What is smaller than a register shares one where it is carried.
BlockEmitter::Parts BlockEmitter::carriedParts(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  unsigned bits = tile && tile.getElementType().isIntOrFloat() ? tile.getElementType().getIntOrFloatBitWidth() : 0;
  return (bits == 8 || bits == 16) && partsOf(value).size() % (32 / bits) == 0 ? packed(value) : partsOf(value);
}

// A factor that the next step's product takes is written while this step's still reads its own, in the same registers as the assembler sees
// it (C7513), where it is not made just here: something else needs it or what it is rounded from, rounded.
bool BlockEmitter::isFactorMadeAhead(scf::ForOp loop, BlockArgument argument, Value next) {
  auto isFactor = [&](Operation *user) {
    auto start = dyn_cast<block::MmaStartOp>(user);
    return start && start.getA() == argument && start->getBlock() == loop.getBody();
  };
  auto isRounded = [](Operation *user) { return isa<arith::TruncFOp>(user); };
  if (!isa<RankedTensorType>(next.getType()) || llvm::none_of(argument.getUsers(), isFactor))
    return false;
  auto rounded = next.getDefiningOp<arith::TruncFOp>();
  return values.contains(next) || !next.hasOneUse() || (rounded && llvm::count_if(rounded.getIn().getUsers(), isRounded) > 1);
}

void BlockEmitter::rememberCarried(Value value, Parts parts) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  llvm::Type *element = tile ? e.valueType(tile.getElementType()) : nullptr;
  if (!tile || parts.empty() || parts[0]->getType() == element)
    return remember(value, std::move(parts));
  Parts elements;
  unsigned each = 32 / element->getPrimitiveSizeInBits();
  for (llvm::Value *word : parts)
    for (unsigned i = 0; i < each; ++i)
      elements.push_back(b.CreateExtractElement(b.CreateBitCast(word, llvm::FixedVectorType::get(element, each)), uint64_t(i)));
  remember(value, std::move(elements));
}

// Factors are computed once, and not in every step that multiplies with them. Divisions that tell rows of windows apart are not for every
// step, either. What a tile in another layout is computed from must not be in registers: then all of it is computed where it is used.
void BlockEmitter::computeBefore(scf::ForOp loop) {
  constexpr unsigned few = 16; // registers
  auto isOutside = [&](Value value) { return !loop->isAncestor(value.getParentRegion()->getParentOp()); };
  loop.walk([&](Operation *op) {
    auto start = dyn_cast<block::MmaStartOp>(op);
    auto write = dyn_cast<block::WriteOp>(op);
    Value factor = start ? start.getA() : write ? write.getValue() : Value();
    if (factor && isa<RankedTensorType>(factor.getType()) && isOutside(factor) && lower::isElementwise(factor.getDefiningOp()) &&
        !values.contains(factor))
      rememberCarried(factor, carriedParts(factor));
  });
  if (!fetches(loop) || role->op.walk([](block::ConvertOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return;
  llvm::SetVector<Value> tiles;
  loop.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && isOutside(operand))
        tiles.insert(operand);
  });
  for (Value tile : tiles) {
    Operation *op = tile.getDefiningOp();
    block::LayoutAttr layout = block::layoutOf(tile.getType());
    if (op && layout && !op->hasTrait<OpTrait::ConstantLike>() && !isa<tile::SplatOp, tile::RangeOp>(op) &&
        layout.getLayout().extent(layout::Register) <= few)
      partsOf(tile);
  }
}

/// It has several products, and updates memory with a tile.
static bool addsByThreads(scf::ForOp loop) {
  auto isUpdate = [](tile::AtomicRmwOp update) { return isa<RankedTensorType>(update.getValue().getType()); };
  return llvm::range_size(loop.getBody()->getOps<block::MmaStartOp>()) > 1 &&
         llvm::any_of(loop.getBody()->getOps<tile::AtomicRmwOp>(), isUpdate);
}

void BlockEmitter::emitLoop(scf::ForOp loop) {
  prepare(loop);
  computeBefore(loop);
  findScales(loop);
  llvm::Value *lower = scalar(loop.getLowerBound()), *upper = scalar(loop.getUpperBound()), *step = scalar(loop.getStep());
  SmallVector<Parts> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(carriedParts(init));
  llvm::BasicBlock *before = b.GetInsertBlock(), *body = newBlock("loop"), *after = newBlock();
  b.CreateCondBr(b.CreateICmpSLT(lower, upper), body, after);
  b.SetInsertPoint(body);
  llvm::PHINode *counter = b.CreatePHI(lower->getType(), 2);
  counter->addIncoming(lower, before);
  SmallVector<SmallVector<llvm::PHINode *>> phis;
  SmallVector<Parts> results, arguments;
  {
    Scope scope(*this);
    remember(loop.getInductionVar(), {counter});
    for (auto [argument, init] : llvm::zip_equal(loop.getRegionIterArgs(), inits)) {
      Parts parts;
      auto &list = phis.emplace_back();
      for (llvm::Value *part : init) {
        list.push_back(b.CreatePHI(part->getType(), 2));
        list.back()->addIncoming(part, before);
        parts.push_back(list.back());
      }
      arguments.push_back(std::move(parts));
    }
    for (auto [argument, parts] : llvm::zip_equal(loop.getRegionIterArgs(), arguments)) // behind all phis
      rememberCarried(argument, std::move(parts));
    if (addsByThreads(loop))
      where.reset(); // places of what is added would take registers from the sums of its products
    emitBlock(*loop.getBody());
    for (Value operand : loop.getBody()->getTerminator()->getOperands()) {
      if (reading.contains(operand))
        fail(loop, "carries a product that still reads registers");
      bool ahead = isFactorMadeAhead(loop, loop.getRegionIterArgs()[results.size()], operand);
      Parts parts = carriedParts(operand);
      if (ahead)
        machine.copyRegisters(e, parts);
      results.push_back(std::move(parts));
    }
  }
  llvm::Value *next = b.CreateAdd(counter, step);
  llvm::BasicBlock *last = b.GetInsertBlock();
  counter->addIncoming(next, last);
  llvm::Instruction *again = b.CreateCondBr(b.CreateICmpSLT(next, upper), body, after);
  bool multiplies = loop.walk([](block::MmaStartOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (multiplies || fetches(loop)) // a step of a pipeline is a loop's worth of instructions already
    lower::neverUnroll(again);
  else if (std::optional<int64_t> rounds = tile::givenHint(loop, "unroll"))
    lower::unrollBy(again, *rounds);
  if (multiplies) {
    where.reset(); // what is derived from the thread's place would take registers from the sums if it were kept
  }
  b.SetInsertPoint(after);
  SmallVector<Parts> ends(results.size());
  for (size_t i = 0; i < results.size(); ++i)
    for (auto [p, phi] : llvm::enumerate(phis[i])) {
      phi->addIncoming(results[i][p], last);
      llvm::PHINode *end = b.CreatePHI(phi->getType(), 2);
      end->addIncoming(inits[i][p], before);
      end->addIncoming(results[i][p], last);
      ends[i].push_back(end);
    }
  for (auto [result, parts] : llvm::zip_equal(loop.getResults(), ends))
    rememberCarried(result, std::move(parts));
}

// It carries numbers only.
void BlockEmitter::emitWhile(scf::WhileOp loop) {
  prepare(loop);
  Parts inits, passed, results;
  for (Value init : loop.getInits())
    inits.push_back(scalar(init));
  llvm::BasicBlock *before = b.GetInsertBlock(), *head = newBlock("while"), *body = newBlock(), *after = newBlock();
  b.CreateBr(head);
  b.SetInsertPoint(head);
  SmallVector<llvm::PHINode *> phis;
  for (llvm::Value *init : inits) {
    phis.push_back(b.CreatePHI(init->getType(), 2));
    phis.back()->addIncoming(init, before);
  }
  {
    Scope scope(*this);
    for (auto [argument, phi] : llvm::zip_equal(loop.getBeforeArguments(), phis))
      remember(argument, {phi});
    emitBlock(*loop.getBeforeBody());
    for (Value operand : loop.getConditionOp().getArgs())
      passed.push_back(scalar(operand));
    b.CreateCondBr(scalar(loop.getConditionOp().getCondition()), body, after);
    b.SetInsertPoint(body);
    for (auto [argument, value] : llvm::zip_equal(loop.getAfterArguments(), passed))
      remember(argument, {value});
    emitBlock(*loop.getAfterBody());
    for (Value operand : loop.getYieldOp().getResults())
      results.push_back(scalar(operand));
  }
  for (auto [phi, result] : llvm::zip_equal(phis, results))
    phi->addIncoming(result, b.GetInsertBlock());
  lower::neverUnroll(b.CreateBr(head));
  b.SetInsertPoint(after);
  for (auto [result, value] : llvm::zip_equal(loop.getResults(), passed))
    remember(result, {value});
}

void BlockEmitter::emitBranch(scf::IfOp branch) {
  prepare(branch);
  llvm::BasicBlock *after = newBlock(), *blocks[2] = {newBlock(), newBlock()};
  SmallVector<Parts> results[2];
  b.CreateCondBr(scalar(branch.getCondition()), blocks[0], blocks[1]);
  for (unsigned side = 0; side < 2; ++side) {
    b.SetInsertPoint(blocks[side]);
    Scope scope(*this);
    Region &region = side ? branch.getElseRegion() : branch.getThenRegion();
    if (!region.empty()) {
      emitBlock(region.front());
      for (Value operand : region.front().getTerminator()->getOperands())
        results[side].push_back(carriedParts(operand));
    }
    blocks[side] = b.GetInsertBlock();
    b.CreateBr(after);
  }
  b.SetInsertPoint(after);
  SmallVector<Parts> ends(branch.getNumResults());
  for (size_t i = 0; i < ends.size(); ++i)
    for (auto [yes, no] : llvm::zip_equal(results[0][i], results[1][i])) {
      llvm::PHINode *phi = b.CreatePHI(yes->getType(), 2);
      phi->addIncoming(yes, blocks[0]);
      phi->addIncoming(no, blocks[1]);
      ends[i].push_back(phi);
    }
  for (auto [result, parts] : llvm::zip_equal(branch.getResults(), ends))
    rememberCarried(result, std::move(parts));
}

void BlockEmitter::emitLoadOfScalar(tile::LoadOp load) {
  prepareTile({}, load.getPlace());
  lower::Evaluator::Region region(evaluator);
  lower::Address where = evaluator.addresses.ofPlace(load.getPlace(), {});
  llvm::Value *other = load.getOther() && where.exists ? scalar(load.getOther()) : nullptr;
  remember(load, {evaluator.memory.load(where, other)});
}

void BlockEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    emitOp(op);
}

void BlockEmitter::emitOp(Operation &op) {
  e.at(op.getLoc());
  if (isLazy(&op))
    return;
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](scf::ForOp op) { emitLoop(op); })
      .Case([&](scf::WhileOp op) { emitWhile(op); })
      .Case([&](scf::IfOp op) { emitBranch(op); })
      .Case([&](tile::AtomicRmwOp op) { emitUpdate(op); })
      .Case([&](tile::AtomicCasOp op) { emitSwap(op); })
      .Case([&](block::ProgramsOp op) { emitPrograms(op); })
      .Case([&](block::AcquireOp op) { emitAcquire(op); })
      .Case([&](block::TakeOp op) { emitTake(op); })
      .Case([&](block::ReleaseOp op) { emitRelease(op); })
      .Case([&](block::PartOp op) { emitPart(op); })
      .Case([&](block::TransposeOp op) { remember(op, partsOf(op.getShared())); })
      .Case([&](block::CopyOp op) { emitCopy(op); })
      .Case([&](block::RemapOp op) { emitRemap(op); })
      .Case([&](block::PublishOp op) { emitPublish(op); })
      .Case([&](block::FetchOp op) { emitFetch(op); })
      .Case([&](block::StoreBoxOp op) { emitStoreBox(op); })
      .Case([&](block::StoreWaitOp op) { when(speaker(), [&] { machine.waitStores(e, op.getRead(), op.getGroups()); }); })
      .Case([&](block::SyncOp op) { emitSync(op); })
      .Case([&](block::FenceOp) { machine.fenceProxy(e); })
      .Case([&](block::TurnOp op) { emitTurn(op); })
      .Case([&](block::ClusterSyncOp) { machine.clusterBarrier(e); })
      .Case([&](block::PeerOp op) { remember(op, {machine.peerAddress(e, partsOf(op.getShared())[0], scalar(op.getRank()))}); })
      .Case([&](block::MmaStartOp op) { emitStart(op); })
      .Case([&](block::MmaSettleOp op) { emitSettle(op); })
      .Case([&](block::MmaWaitOp op) { emitWait(op); })
      .Case([&](block::WriteOp op) { emitWrite(op); })
      .Case([&](block::ReadOp op) { emitRead(op); })
      .Case([&](block::JoinOp op) { emitJoin(op); })
      .Case([&](tile::ReduceOp op) { emitReduce(op); })
      .Case([&](tile::ScanOp op) { emitScan(op); })
      .Case([&](block::AllocOp op) { emitAlloc(op); })
      .Case([&](tile::StoreOp op) { emitStore(op); })
      .Case([&](tile::LoadOp op) { isa<RankedTensorType>(op.getType()) ? emitLoadOfTile(op) : emitLoadOfScalar(op); })
      .Case<block::MapOp, block::RequireOp, block::RingOp, block::BatonOp, block::NoneOp, tile::ReturnOp, tile::AccessOp,
            tile::PointerAccessOp>([](Operation *) {}) // told to the launch, done at the acquire, or looked at where it is used
      .Default([&](Operation *op) {
        bool isValue = op->getNumResults() && isMemoryEffectFree(op) && isa<RankedTensorType>(op->getResult(0).getType());
        if (!isValue)
          fail(op, "has no code in a block");
      });
}

} // namespace tilery::cuda
