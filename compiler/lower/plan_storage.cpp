// Tiles into buffers of the scratch arena: which share one, where each lies.
#include "compiler/lower/emitter.h"
#include "compiler/lower/planner.h"
#include "compiler/lower/turned.h"

using namespace mlir;

namespace tilery::lower {

Value Planner::leader(Value value) const {
  while (true) {
    auto found = leaders.find(value);
    if (found == leaders.end())
      return value;
    value = found->second;
  }
}

// The new value of a carried tile (or the merged value of a branch) is computed straight into its buffer if nothing reads the old one later.
void Planner::shareWithYield(Value value, Value target) {
  Operation *def = value.getDefiningOp();
  Operation *terminator = nullptr;
  auto argument = dyn_cast<BlockArgument>(target);
  Block *body = def ? def->getBlock() : nullptr;
  if (!def || !stored(value) || doubled.count(target) || (argument && argument.getOwner() != body))
    return;
  terminator = body->getTerminator();
  if (llvm::count(terminator->getOperands(), value) != 1 || leader(value) == leader(target))
    return;
  if (!argument && terminator->getParentOp() != target.getDefiningOp())
    return;
  const Info *info = definitions.lookup(value);
  if (!info)
    return;
  if (argument)
    for (const PullSite &site : sites.lookup(target)) {
      bool before = lastPosition(target, site) < begin[def];
      bool sameElement = site.info == info && !info->step.op && site.reach.sameElement;
      bool initOfSame = isProduct(def) && site.info->initOf == def && site.reach.sameElement; // the one copy that begins the sums
      if (site.info->initOf == def)
        for (const Sink &sink : site.info->step.nest.sinks)
          if (sink.value == target) {
            Value carried = isa<scf::ForOp>(def) ? def->getResult(sink.buffers[0]) : def->getResult(0);
            initOfSame = carried == value && !isa<scf::WhileOp>(def);
          }
      // The new value of another yielded tile may still need the old one.
      bool copyInSameNest = site.info == info;
      if (!(before || sameElement || initOfSame) || (copyInSameNest && !sameElement))
        return;
    }
  leaders[leader(value)] = leader(target);
}

// A loop takes over the buffer of its initial tile if that is read by nothing else from there on.
void Planner::shareWithInit(Operation *op, Value value, Value target) {
  if (!stored(value) || value.getParentBlock() != op->getBlock() || leader(value) == leader(target) ||
      llvm::count(op->getOperands(), value) != 1)
    return;
  for (Operation *user : value.getUsers())
    if (user->hasTrait<OpTrait::IsTerminator>())
      return;
  for (const PullSite &site : sites.lookup(value))
    if (site.info->initOf != op && lastPosition(value, site) >= begin[op])
      return;
  leaders[leader(target)] = leader(value);
}

void Planner::shareBuffers() {
  kernel.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (auto [argument, result] : llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
        leaders[result] = argument;
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      for (auto [argument, result] : llvm::zip(loop.getAfterArguments(), loop.getResults()))
        leaders[result] = argument;
  });
  kernel.walk([&](Operation *op) {
    auto isTile = [](Value v) { return isa<RankedTensorType>(v.getType()); };
    if (isa<scf::ForOp, scf::IfOp>(op))
      for (Region &region : op->getRegions())
        for (Block &block : region) {
          Operation *terminator = block.getTerminator();
          for (auto [value, target] : llvm::zip(terminator->getOperands(), terminatorTargets(terminator)))
            if (isTile(value))
              shareWithYield(value, target);
        }
    auto inits = [&](ValueRange values, ValueRange targets) {
      for (auto [value, target] : llvm::zip(values, targets))
        if (isTile(value))
          shareWithInit(op, value, target);
    };
    if (auto loop = dyn_cast<scf::ForOp>(op))
      inits(loop.getInitArgs(), loop.getRegionIterArgs());
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      inits(loop.getInits(), loop.getBeforeArguments());
    else if (isProduct(op) && !startsAtZero(op))
      inits(accumulatorOf(op), op->getResult(0));
  });
}

int Planner::newBuffer(Type type, int64_t first, int64_t last) {
  ScratchBuffer buffer;
  buffer.element = getElementTypeOrSelf(type);
  ArrayRef<int64_t> shape;
  if (auto b = dyn_cast<tile::BufferType>(type)) {
    buffer.element = b.getElementType();
    shape = b.getShape();
  } else {
    shape = tile::shapeOf(type);
  }
  buffer.elements = ShapedType::getNumElements(shape);
  buffer.bytes = llvm::alignTo(uint64_t(buffer.elements) * elementBytes(buffer.element), 64);
  buffer.first = first;
  buffer.last = last;
  scratchBuffers.push_back(buffer);
  return int(scratchBuffers.size()) - 1;
}

int Planner::bufferOf(Value value) {
  Operation *def = value.getDefiningOp();
  Operation *owner = def ? def : cast<BlockArgument>(value).getOwner()->getParentOp();
  int64_t first = begin[owner], last = def ? begin[def] : end[owner];
  for (const PullSite &site : sites.lookup(value))
    last = std::max(last, lastPosition(value, site));
  if (const Info *info = definitions.lookup(value)) // filled with all else of its nest, also if nothing reads it
    last = std::max(last, info->position);
  if (def && def->getNumRegions())
    last = std::max(last, end[def]);
  for (Operation *user : value.getUsers())
    if (user->hasTrait<OpTrait::IsTerminator>())
      last = std::max(last, end[user->getParentOp()]);
  auto [entry, fresh] = buffers.try_emplace(leader(value), -1);
  if (fresh)
    entry->second = newBuffer(value.getType(), first, last);
  ScratchBuffer &buffer = scratchBuffers[entry->second];
  buffer.first = std::min(buffer.first, first);
  buffer.last = std::max(buffer.last, last);
  return entry->second;
}

void Planner::finishSteps(Plan &plan) {
  for (auto &info : infos) {
    Step step = info->step;
    if (!step.op) {
      std::vector<Sink> sinks;
      for (Sink &sink : step.nest.sinks) {
        if (sink.kind == Sink::Define)
          sink.buffers = {plan.storage[sink.value]};
        if (sink.kind == Sink::Reduce)
          for (Value result : sink.op->getResults())
            if (isa<RankedTensorType>(result.getType()))
              sink.buffers.push_back(plan.storage[result]);
        if (sink.kind == Sink::Copy) {
          int index = sink.buffers[0];
          Value target;
          if (!info->initOf)
            target = terminatorTargets(sink.op)[index];
          else if (auto loop = dyn_cast<scf::ForOp>(sink.op))
            target = loop.getRegionIterArgs()[index];
          else if (auto loop = dyn_cast<scf::WhileOp>(sink.op))
            target = loop.getBeforeArguments()[index];
          else
            target = sink.op->getResult(0);
          int buffer = plan.storage[target];
          if (stored(sink.value) && plan.storage[sink.value] == buffer)
            continue;
          if (!info->initOf && doubled.count(target)) {
            Operation *loop = sink.op->getParentOp();
            int temporary = newBuffer(target.getType(), begin[loop], end[loop]);
            Step copy;
            copy.nest.shape = step.nest.shape;
            copy.nest.sinks.push_back({Sink::Copy, sink.op, {}, {buffer}, temporary});
            plan.copies[info->block].push_back(std::move(copy));
            buffer = temporary;
          }
          sink.buffers = {buffer};
        }
        sinks.push_back(sink);
      }
      if (sinks.empty())
        continue;
      step.nest.sinks = std::move(sinks);
    }
    if (info->initOf)
      plan.inits[info->initOf].push_back(std::move(step));
    else
      plan.steps[info->block].push_back(std::move(step));
  }
}

void Planner::addTemporaries(Plan &plan) {
  kernel.walk([&](Operation *op) {
    if (isa<tile::AllocOp>(op) && !isThreadsOwn(op))
      plan.temporaries[op].push_back(newBuffer(op->getResult(0).getType(), 0, std::numeric_limits<int64_t>::max()));
    for (Type type : options.target.temporaries(op))
      plan.temporaries[op].push_back(newBuffer(type, begin[op], end[op]));
    auto product = isProduct(op) ? options.target.planProduct(op, options, [&](Value value) { return stored(value); }) : nullptr;
    if (product) {
      for (Temporary *temporary : product->temporaries())
        temporary->buffer = newBuffer(temporary->type, begin[op], end[op]);
      plan.products[op] = std::move(product);
    }
  });
}

// Neighbours in scratch memory are those of the last dimension. Where vectors are written along that and read along another (or the other
// way round), threads side by side would meet in one bank.
void Planner::exchangeTurned() {
  constexpr int64_t vectorBytes = 16, mostUnits = 8; // of the 32 banks
  llvm::DenseMap<int, unsigned> tiles;
  for (auto [value, buffer] : buffers)
    ++tiles[buffer];
  for (auto [value, following] : leaders)
    ++tiles[buffers.lookup(leader(value))];
  for (auto [load, along] : turned) {
    auto found = buffers.find(load);
    if (found == buffers.end() || tiles[found->second] != 1)
      continue;
    ArrayRef<int64_t> shape = tile::shapeOf(load.getType());
    unsigned neighbours = *neighbourDim(load.getDefiningOp<tile::LoadOp>().getPlace()), last = shape.size() - 1;
    int64_t unit = vectorBytes / elementBytes(getElementTypeOrSelf(load.getType())),
            pieces = shape[last] / std::max<int64_t>(unit, 1);
    if ((along != last && neighbours != last) || unit < 2 || shape[last] % unit)
      continue;
    unsigned other = along == last ? neighbours : along;
    scratchBuffers[found->second].exchange = {other, unit, std::min(mostUnits, pieces & -pieces)};
  }
}

void Planner::assignBuffers(Plan &plan) {
  shareBuffers();
  auto assign = [&](Value value) {
    if (isa<RankedTensorType>(value.getType()) && stored(value) && !plan.straight.contains(value.getDefiningOp()))
      plan.storage[value] = bufferOf(value);
  };
  kernel.walk([&](Operation *op) {
    if (isa<tile::KernelOp>(op))
      return;
    for (Value result : op->getResults())
      assign(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          assign(argument);
  });
  exchangeTurned();
  finishSteps(plan);
  addTemporaries(plan);
  plan.buffers = scratchBuffers;
  placeBuffers(plan, UINT64_MAX);
}

// First fit by the positions between which a buffer is in use: tiles that are never alive together share memory, which keeps it in cache.
static uint64_t place(std::vector<ScratchBuffer> &buffers, bool outside) {
  SmallVector<int> byFirst;
  for (int i = 0, n = buffers.size(); i < n; ++i)
    if (buffers[i].outside == outside)
      byFirst.push_back(i);
  llvm::sort(byFirst, [&](int a, int b) { return std::pair(buffers[a].first, a) < std::pair(buffers[b].first, b); });
  SmallVector<int> placed;
  uint64_t bytes = 0;
  for (int index : byFirst) {
    ScratchBuffer &buffer = buffers[index];
    SmallVector<std::pair<uint64_t, uint64_t>> taken;
    for (int other : placed)
      if (ScratchBuffer &o = buffers[other]; o.last >= buffer.first && o.first <= buffer.last)
        taken.push_back({o.offset, o.offset + o.bytes});
    llvm::sort(taken);
    uint64_t at = 0;
    for (auto [from, to] : taken) {
      if (at + buffer.bytes <= from)
        break;
      at = std::max(at, to);
    }
    buffer.offset = at;
    bytes = std::max(bytes, at + buffer.bytes);
    placed.push_back(index);
  }
  return bytes;
}

void placeBuffers(Plan &plan, uint64_t arenaLimit) {
  for (ScratchBuffer &buffer : plan.buffers)
    buffer.outside = false;
  plan.arenaBytes = place(plan.buffers, false);
  while (plan.arenaBytes > arenaLimit) { // the largest go first: few accesses are slow per byte that is gained
    auto largest = llvm::max_element(plan.buffers, [](const ScratchBuffer &a, const ScratchBuffer &b) {
      return (a.outside ? 0 : a.bytes) < (b.outside ? 0 : b.bytes);
    });
    largest->outside = true;
    plan.arenaBytes = place(plan.buffers, false);
  }
  plan.workspaceBytes = place(plan.buffers, true);
  plan.arenaBytes = std::max<uint64_t>(plan.arenaBytes, 64); // somewhere to read from in place of an element that does not exist
}

} // namespace tilery::lower
