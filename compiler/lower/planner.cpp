// Ops into steps: which tiles are virtual, which sinks share a nest.
#include "compiler/lower/planner.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/lower/aliasing.h"
#include "compiler/lower/element_loops.h"
#include "compiler/lower/taken.h"
#include "compiler/lower/turned.h"
#include "compiler/progress.h"

using namespace mlir;

namespace tilery::lower {
namespace {
/// Beside the 64 partials of a row's reduction, half of 16 registers, the polynomial of one function does not fit: softmax had 27 accesses of
/// the stack in its loop when both shared a nest, none since.
constexpr unsigned spillsBesideReduction = costOfFunction;
constexpr unsigned fewRegisters = 16;

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }
bool isPlace(Operation *op) {
  return isa<tile::AccessOp, tile::PointerAccessOp, tile::RootOp, tile::ViewOp, tile::SubviewOp, tile::ReinterpretOp>(op);
}
} // namespace

SmallVector<Value> terminatorTargets(Operation *terminator) {
  Operation *parent = terminator->getParentOp();
  SmallVector<Value> targets;
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    llvm::append_range(targets, loop.getRegionIterArgs());
  else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    if (isa<scf::ConditionOp>(terminator)) {
      targets.push_back({}); // the condition itself
      llvm::append_range(targets, loop.getAfterArguments());
    } else {
      llvm::append_range(targets, loop.getBeforeArguments());
    }
  } else if (isa<scf::IfOp>(parent))
    llvm::append_range(targets, parent->getResults());
  return targets;
}

bool Planner::stored(Value value) const {
  if (scratch.count(value))
    return true;
  Operation *op = value.getDefiningOp();
  return !op || !canBeVirtual(op);
}

void Planner::number() {
  int64_t next = 1;
  std::function<void(Operation *)> visit = [&](Operation *op) {
    begin[op] = next++;
    MemoryClass written;
    if (classOfWrite(op, written))
      writers.push_back(op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          visit(&inner);
    end[op] = next++;
  };
  visit(kernel);
}

void Planner::close() {
  if (!open)
    return;
  SmallVector<Operation *> later = std::move(open->later);
  infos.push_back(std::move(open));
  for (Operation *op : later) {
    auto info = std::make_unique<Info>();
    info->pull = pullOf(op, [&](Value v) { return stored(v); });
    addStep(std::move(info), *op);
  }
}

void Planner::addStep(std::unique_ptr<Info> info, Operation &op) {
  info->step.op = &op;
  info->block = op.getBlock();
  info->order = order++;
  info->position = begin[&op];
  infos.push_back(std::move(info));
}

bool Planner::mayWait(Operation &op, const Pull &pull) const {
  return open && op.getNumRegions() == 0 && isMemoryEffectFree(&op) && pull.tiles.empty() &&
         llvm::none_of(op.getResults(), isTile) &&
         llvm::any_of(pull.scalars, [&](Value scalar) { return open->pending.count(scalar); });
}

// A load that is stored to be turned is a nest of its own, or one with others that lie like it; so are stores along different dimensions.
bool Planner::lieAlike(const Info &nest, const Sink &sink, ArrayRef<int64_t> shape) const {
  if (!options.target.machine.turnedBytes)
    return true;
  auto isTurned = [&](const Sink &s) { return s.kind == Sink::Define && turned.contains(s.value); };
  auto storedAlong = [&](const Sink &s) {
    return s.kind == Sink::Store ? neighbourDim(cast<tile::StoreOp>(s.op).getPlace()) : std::nullopt;
  };
  Nest own{SmallVector<int64_t>(shape), {sink}};
  for (const Sink &other : nest.step.nest.sinks) {
    if (isTurned(other) != isTurned(sink) || (isTurned(sink) && vectorDim(own) != vectorDim(nest.step.nest)))
      return false;
    if (auto mine = storedAlong(sink), theirs = storedAlong(other); mine && theirs && mine != theirs)
      return false;
  }
  return true;
}

bool Planner::canJoin(const Info &nest, const Sink &sink, ArrayRef<int64_t> shape, const Pull &pull) const {
  return ArrayRef<int64_t>(nest.step.nest.shape) == shape && lieAlike(nest, sink, shape) && isWorthJoining(nest, sink, pull) &&
         !waitsFor(nest, sink, pull) &&
         llvm::all_of(
             nest.step.nest.sinks,
             [&](const Sink &other) { return !copyOverRead(nest, other, sink, pull) && keepOrder(other, sink, pull); }) &&
         leavesReads(nest, sink);
}

// Code of one nest may grow too long, or hold too many values beside a row's sums.
bool Planner::isWorthJoining(const Info &nest, const Sink &sink, const Pull &pull) const {
  if (unsigned longest = options.target.machine.longestNest; longest && nest.work + workOf(pull) > longest)
    return false;
  if (options.target.machine.vectorRegisters > fewRegisters)
    return true;
  auto isHeavy = [&](const Sink &s) {
    return s.kind == Sink::Define &&
           costOf(s.value, [&](Value v) { return stored(v); }, spillsBesideReduction) >= spillsBesideReduction;
  };
  auto reducesRow = [&](const Sink &s) {
    return s.kind == Sink::Reduce && cast<tile::ReduceOp>(s.op).getAxis() + 1 == nest.step.nest.shape.size();
  };
  return !(reducesRow(sink) && llvm::any_of(nest.step.nest.sinks, isHeavy)) &&
         !(isHeavy(sink) && llvm::any_of(nest.step.nest.sinks, reducesRow));
}

// The sink takes what is there when the nest is done.
bool Planner::waitsFor(const Info &nest, const Sink &sink, const Pull &pull) const {
  if (sink.kind == Sink::Update || nest.step.nest.sinks[0].kind == Sink::Update)
    return true; // whoever waits for it may then read what was written before
  // A reduction's result is there when its nest is done, also where it keeps the shape because the axis has one element.
  auto isPending = [&](auto &tile) {
    return nest.pending.count(tile.first) && (!tile.second.sameElement || tile.first.template getDefiningOp<tile::ReduceOp>());
  };
  return llvm::any_of(pull.tiles, isPending) ||
         llvm::any_of(pull.scalars, [&](Value value) { return nest.pending.count(value); });
}

// A carried tile's buffer is written by the copy that ends its loop's body: another copy of that loop reads other elements of it.
bool Planner::copyOverRead(const Info &nest, const Sink &other, const Sink &sink, const Pull &pull) const {
  if (other.kind != Sink::Copy || other.op != sink.op || sink.kind != Sink::Copy)
    return false;
  unsigned mine = sink.buffers[0], theirs = other.buffers[0];
  SmallVector<Value> targets = terminatorTargets(sink.op);
  if (mine >= targets.size() || theirs >= targets.size())
    return false;
  auto readsOthers = [](const Pull &from, Value target) {
    auto found = from.tiles.find(target);
    return found != from.tiles.end() && !found->second.sameElement;
  };
  return readsOthers(nest.pull, targets[mine]) || readsOthers(pull, targets[theirs]);
}

static bool writesMemory(const Sink &sink, MemoryClass &written) {
  return sink.op && (sink.kind == Sink::Store || sink.kind == Sink::BufferStore) && classOfWrite(sink.op, written);
}

// What another sink of the nest has written is not read, nor written again.
bool Planner::keepOrder(const Sink &other, const Sink &sink, const Pull &pull) const {
  MemoryClass written, own;
  if (!writesMemory(other, written))
    return true;
  auto readsLater = [&](auto &tile) {
    Operation *load = tile.first.getDefiningOp();
    return isLoad(load) && !stored(tile.first) && begin.lookup(load) > begin.lookup(other.op) &&
           mayAlias(classOfLoad(load), written, options.disjoint);
  };
  // The expression of a stored load reads memory too.
  bool isRead = sink.kind == Sink::Define && isLoad(sink.op) && mayAlias(classOfLoad(sink.op), written, options.disjoint);
  return !isRead && llvm::none_of(pull.tiles, readsLater) &&
         !(writesMemory(sink, own) && mayAlias(own, written, options.disjoint));
}

// What the nest reads, the sink does not write; but where it reads the element that is written then.
bool Planner::leavesReads(const Info &nest, const Sink &sink) const {
  MemoryClass own;
  if (!writesMemory(sink, own))
    return true;
  auto isWritten = [&](Operation *load) { return mayAlias(classOfLoad(load), own, options.disjoint); };
  auto isOverwritten = [&](auto &tile) {
    Operation *load = tile.first.getDefiningOp();
    return isLoad(load) && !stored(tile.first) && isWritten(load) && !(tile.second.sameElement && sameElements(load, sink.op));
  };
  return llvm::none_of(nest.pull.tiles, isOverwritten) && llvm::none_of(nest.step.nest.sinks, [&](const Sink &other) {
           return other.kind == Sink::Define && isLoad(other.op) && isWritten(other.op);
         });
}

void Planner::addSink(Sink sink, ArrayRef<int64_t> shape, int64_t position, Block &block, Operation *initOf) {
  Pull pull = pullOf(sink, [&](Value v) { return stored(v); });
  if (open && (open->initOf != initOf || !canJoin(*open, sink, shape, pull)))
    close();
  if (!open) {
    open = std::make_unique<Info>();
    open->block = &block;
    open->initOf = initOf;
    open->order = order++;
    open->step.nest.shape.assign(shape.begin(), shape.end());
  }
  open->position = position;
  for (const auto &[value, reach] : pull.tiles) {
    auto [entry, fresh] = open->pull.tiles.try_emplace(value, reach);
    if (!fresh) {
      entry->second.sameElement &= reach.sameElement;
      entry->second.spread |= reach.spread;
    } else if (!stored(value)) {
      open->work += workOf(value);
    }
  }
  open->pull.scalars.insert(pull.scalars.begin(), pull.scalars.end());
  if (sink.kind == Sink::Define)
    open->pending.insert(sink.value);
  if (sink.kind == Sink::Reduce)
    open->pending.insert(sink.op->result_begin(), sink.op->result_end());
  open->step.nest.sinks.push_back(std::move(sink));
}

void Planner::buildInits(Operation *op, ValueRange tiles, ValueRange targets) {
  for (auto [index, pair] : llvm::enumerate(llvm::zip(tiles, targets)))
    if (auto [value, target] = pair; isTile(value))
      addSink({Sink::Copy, op, value, {int(index)}}, tile::shapeOf(value.getType()), begin[op], *op->getBlock(), op);
  close();
}

bool Planner::isNestedUpdate(tile::AtomicRmwOp update) const {
  return options.target.updatesInNests() && isTile(update.getValue()) && update.getResult().use_empty() &&
         !isa<tile::PtrType>(getElementTypeOrSelf(update.getValue().getType()));
}

void Planner::buildOp(Operation &op, Block &block) {
  int64_t position = begin[&op];
  if (isPlace(&op))
    return;
  if (op.getNumResults() && isTile(op.getResult(0)) && canBeVirtual(&op)) {
    for (Value result : op.getResults())
      if (isTile(result) && scratch.count(result))
        addSink({Sink::Define, &op, result, {}}, tile::shapeOf(result.getType()), position, block);
    return;
  }
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return addSink({Sink::Reduce, &op, {}, {}}, tile::shapeOf(reduce.getOperands()[0].getType()), position, block);
  if (auto store = dyn_cast<tile::StoreOp>(op); store && isTile(store.getValue()) && !store.getIsVolatile())
    return addSink({Sink::Store, &op, {}, {}}, tile::shapeOf(store.getValue().getType()), position, block);
  if (auto store = dyn_cast<tile::BufferStoreOp>(op); store && isTile(store.getValue()))
    return addSink({Sink::BufferStore, &op, {}, {}}, tile::shapeOf(store.getValue().getType()), position, block);
  if (auto update = dyn_cast<tile::AtomicRmwOp>(op); update && isNestedUpdate(update))
    return addSink({Sink::Update, &op, {}, {}}, tile::shapeOf(update.getValue().getType()), position, block);

  auto info = std::make_unique<Info>();
  info->pull = pullOf(&op, [&](Value v) { return stored(v); });
  if (mayWait(op, info->pull)) {
    open->pending.insert(op.result_begin(), op.result_end());
    open->later.push_back(&op);
    return;
  }
  bool harmless = isa<tile::AllocOp>(op) || (op.getNumRegions() == 0 && isMemoryEffectFree(&op) && info->pull.tiles.empty());
  if (auto load = dyn_cast<tile::LoadOp>(op); load && !load.getIsVolatile() && open && info->pull.tiles.empty())
    harmless = llvm::none_of(open->step.nest.sinks, [](const Sink &s) {
      return s.kind == Sink::Store || s.kind == Sink::BufferStore || s.kind == Sink::Update;
    });
  if (open)
    for (Value scalar : info->pull.scalars)
      harmless &= !open->pending.count(scalar);
  if (!harmless)
    close();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    buildInits(&op, loop.getInitArgs(), loop.getRegionIterArgs());
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    buildInits(&op, loop.getInits(), loop.getBeforeArguments());
  else if (isProduct(&op) && !startsAtZero(&op))
    buildInits(&op, accumulatorOf(&op), op.getResult(0));
  addStep(std::move(info), op);
  if (isa<tile::ReduceOp, tile::ScanOp>(op))
    return;
  for (Region &region : op.getRegions())
    for (Block &inner : region)
      buildBlock(inner);
}

void Planner::buildTerminator(Operation *op, Block &block) {
  SmallVector<Value> targets = terminatorTargets(op);
  for (auto [index, value] : llvm::enumerate(op->getOperands()))
    if (index < targets.size() && targets[index] && isTile(value) && value != targets[index])
      addSink({Sink::Copy, op, value, {int(index)}}, tile::shapeOf(value.getType()), begin[op], block);
}

void Planner::buildBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    buildOp(op, block);
  if (block.mightHaveTerminator())
    buildTerminator(block.getTerminator(), block);
  close();
}

void Planner::collectSites() {
  sites.clear();
  definitions.clear();
  loading.clear();
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto reads = [&](Value operand) { return !stored(operand) && loading.contains(operand); };
    if (op->getNumResults() && canBeVirtual(op) && (isLoad(op) || llvm::any_of(op->getOperands(), reads)))
      loading.insert(op->result_begin(), op->result_end());
  });
  for (auto &info : infos) {
    if (info->step.op)
      for (Value result : info->step.op->getResults())
        definitions[result] = info.get();
    for (Value value : info->pending)
      definitions[value] = info.get();
    if (!info->step.op)
      info->taken = takenElements(info->step.nest, [&](Value v) { return stored(v); });
    for (const auto &[value, reach] : info->pull.tiles)
      sites[value].push_back({info.get(), reach});
  }
}

// A scan of one row (of several, chains overlap); the store is all that reads it, is the next step, and what it writes is read by neither.
bool Planner::mayStoreStraight(const Info &info, const Info &next) const {
  auto scan = dyn_cast_if_present<tile::ScanOp>(info.step.op);
  if (!scan || scan.getNumResults() != 1 || next.step.op || next.block != info.block || next.initOf ||
      next.step.nest.sinks.size() != 1 || next.step.nest.sinks[0].kind != Sink::Store)
    return false;
  auto store = cast<tile::StoreOp>(next.step.nest.sinks[0].op);
  Value result = scan.getResult(0);
  ArrayRef<int64_t> shape = tile::shapeOf(result.getType());
  if (scan.getAxis() + 1 != shape.size() || ShapedType::getNumElements(shape) != shape.back())
    return false;
  MemoryClass written;
  if (store.getValue() != result || !result.hasOneUse() || !classOfWrite(store, written))
    return false;
  for (const Pull *pull : {&info.pull, &next.pull})
    for (const auto &[value, reach] : pull->tiles)
      if (Operation *load = value.getDefiningOp();
          isLoad(load) && !stored(value) && mayAlias(classOfLoad(load), written, options.disjoint))
        return false;
  return true;
}

void Planner::storeScans(Plan &plan) {
  for (size_t i = 0; i + 1 < infos.size(); ++i) {
    Info &scan = *infos[i], &next = *infos[i + 1];
    if (!mayStoreStraight(scan, next))
      continue;
    plan.straight[scan.step.op] = next.step.nest.sinks[0].op;
    for (const auto &[value, reach] : next.pull.tiles)
      if (value != scan.step.op->getResult(0))
        scan.pull.tiles.try_emplace(value, reach);
    scan.pull.scalars.insert(next.pull.scalars.begin(), next.pull.scalars.end());
    infos.erase(infos.begin() + ptrdiff_t(i) + 1);
  }
}

/// Places that are computed of lanes' numbers: to read such a tile anywhere is to compute it there.
static bool isIndexArithmetic(Value value, unsigned depth = 6) {
  using Kind = analysis::IntegerOp::Kind;
  if (!isa<RankedTensorType>(value.getType()))
    return true;
  analysis::IntegerOp op = analysis::integerOpOf(value, analysis::Wrapping::any);
  return op.kind == Kind::constant || op.kind == Kind::range ||
         (depth && op.kind != Kind::opaque && isIndexArithmetic(op.lhs, depth - 1) &&
          (!op.rhs || isIndexArithmetic(op.rhs, depth - 1)));
}

Plan Planner::run() {
  number();
  kernel.walk([&](Operation *op) {
    if (auto take = dyn_cast<tile::TakeOp>(op); take && canBeVirtual(take) &&
                                                !take.getValue().getDefiningOp<tile::BufferLoadOp>() && // which lies somewhere
                                                !isIndexArithmetic(take.getValue()))
      scratch.insert(take.getValue()); // read at computed places
    if (isProduct(op))
      for (Value indices : dividingIndices(op, options.target.machine.storesDivisions))
        scratch.insert(indices);
  });
  do {
    Progress::step("planning"); // a round of a long kernel takes long: it may be interrupted here
    infos.clear();
    order = 0;
    for (Block &block : kernel.getBody())
      buildBlock(block);
  } while (refine());
  Plan plan;
  if (options.target.storesScans())
    storeScans(plan);
  collectSites();
  assignBuffers(plan);
  if (options.target.machine.carriesElements)
    findElementLoops(plan, kernel, options);
  return plan;
}

Plan planKernel(tile::KernelOp kernel, const Options &options) { return Planner(kernel, options).run(); }

} // namespace tilery::lower
