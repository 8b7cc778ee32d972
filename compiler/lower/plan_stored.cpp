// Which tiles are stored rather than computed again where they are used.
#include "compiler/lower/aliasing.h"
#include "compiler/lower/planner.h"
#include "compiler/lower/taken.h"
#include "compiler/lower/turned.h"

using namespace mlir;

namespace tilery::lower {
namespace {
// When it is. All in costOf's vector instructions of an element's expression. docs/notebook.md,
// "Thresholds of the planner", has half and twice of each measured (benchmarks/planner.py).
/// In a loop around the uses: a store outside and a load with its address inside take as many.
constexpr unsigned worthStoringForLoop = 3;
/// Two uses without a loop, or one that repeats elements: both a store and loads are paid, and the tile's bytes displace others from the
/// first-level cache. What is cheaper than a division and a few instructions more is recomputed, what has a polynomial never is.
constexpr unsigned worthStoringForUses = 8;
/// Index tiles keep their affine form, which makes loads contiguous, unless they divide twice.
constexpr unsigned worthStoringIndices = 2 * costOfDivision;
} // namespace

// Where the reads of `value` by a step end: inside a nested region they may repeat until that region's op ends.
int64_t Planner::lastPosition(Value value, const PullSite &site) const {
  Block *home = value.getParentBlock();
  if (site.info->block == home) // a contraction's steps read what lies outside until its end
    return isa_and_present<tile::ContractOp>(site.info->step.op) ? end.lookup(site.info->step.op) : site.info->position;
  if (Operation *op = site.info->step.op; op && op->isAncestor(home->getParentOp()))
    return end.lookup(op); // a contraction reads what its own region yields
  Operation *ancestor = home->findAncestorOpInBlock(*site.info->block->getParentOp());
  return ancestor ? end.lookup(ancestor) : site.info->position;
}

bool Planner::illegalLoad(Value value, const PullSite &site) const {
  Operation *load = value.getDefiningOp();
  int64_t from = begin.lookup(load), to = lastPosition(value, site);
  auto first = llvm::upper_bound(writers, from, [&](int64_t place, Operation *write) { return place < begin.lookup(write); });
  for (Operation *write : llvm::make_range(first, writers.end())) { // in program order
    if (begin.lookup(write) > to)
      break;
    MemoryClass written;
    classOfWrite(write, written);
    bool feeds = site.info->step.op == write ||
                 (!site.info->step.op && llvm::any_of(site.info->step.nest.sinks, [&](const Sink &s) { return s.op == write; }));
    if (isa<tile::LoadOp>(load) && isSignal(write) && !feeds)
      return true;
    if (!mayAlias(classOfLoad(load), written, options.disjoint))
      continue;
    bool sameNest = site.info->block == load->getBlock() && !site.info->step.op &&
                    llvm::any_of(site.info->step.nest.sinks, [&](const Sink &s) { return s.op == write; });
    if (!(sameNest && site.reach.sameElement && sameElements(load, write)))
      return true;
  }
  return false;
}

bool Planner::worthStoring(Value value, ArrayRef<PullSite> where) const {
  bool index = !isa<FloatType>(getElementTypeOrSelf(value.getType())) && !loading.contains(value);
  unsigned limit = index ? worthStoringIndices : std::max(worthStoringForLoop, worthStoringForUses);
  unsigned cost = costOf(value, [&](Value v) { return stored(v); }, limit, options.target.machine.stridedLoad);
  if (index)
    cost = cost >= worthStoringIndices ? cost : 0;
  auto inLoop = [&](const PullSite &site) {
    for (Operation *op = site.info->block->getParentOp(); op && op->getBlock() && site.info->block != value.getParentBlock();
         op = op->getParentOp()) {
      if (op->isAncestor(value.getDefiningOp())) // what a contraction yields is read by a step outside of its region
        return false;
      if (isa<LoopLikeOpInterface, tile::ParallelOp, tile::ContractOp>(op))
        return true;
      if (op->getBlock() == value.getParentBlock())
        break;
    }
    return false;
  };
  int64_t elements = cast<RankedTensorType>(value.getType()).getNumElements();
  // Of the smaller factor of a product, where what it repeats is worth storing.
  auto factorElements = [&](Operation *op) -> int64_t {
    if (!options.target.machine.storesRepeated || index || !isProduct(op))
      return 0;
    auto [a, b] = factorsOf(op);
    return std::min(ShapedType::getNumElements(tile::shapeOf(a.getType())),
                    ShapedType::getNumElements(tile::shapeOf(b.getType())));
  };
  // Each element is computed for both of a pair.
  bool joined = options.target.machine.storesJoined && !index &&
                llvm::any_of(value.getUsers(), [](Operation *user) { return isa<tile::JoinOp>(user); });
  for (const PullSite &site : where) {
    if (cost >= worthStoringForLoop && inLoop(site))
      return true;
    bool wider = elements < (site.info->step.op ? factorElements(site.info->step.op)
                                                : ShapedType::getNumElements(site.info->step.nest.shape));
    if (cost >= worthStoringForUses && (site.reach.spread || joined) && wider)
      return true;
    if (unsigned taken = site.info->taken.lookup(value); taken > 1 && cost * (taken - 1) >= worthStoringForUses)
      return true;
  }
  return where.size() > 1 && cost >= worthStoringForUses;
}

/// The one operand that makes a value costly, null if there are several or none. Both halves of a tile count as that tile.
Value Planner::costlyOperand(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || !canBeVirtual(op) || isa<tile::LoadOp, tile::BufferLoadOp, tile::TakeOp>(op))
    return {};
  Value only;
  for (Value operand : op->getOperands()) {
    if (auto split = operand.getDefiningOp<tile::SplitOp>())
      operand = split.getValue();
    if (!isa<RankedTensorType>(operand.getType()) || operand == only || stored(operand) ||
        costOf(
            operand, [&](Value v) { return stored(v); }, worthStoringForUses, options.target.machine.stridedLoad) <
            worthStoringForUses)
      continue;
    if (only)
      return {};
    only = operand;
  }
  return only;
}

/// What is worth storing may be a few instructions away from a tile of which several elements are taken: with that one stored, it is not
/// worth it, nor is what else is computed of it in as few (both sides of a comparison in a sorting network).
Value Planner::betterStored(Value value) {
  Value best = value;
  for (Value below = costlyOperand(value); below; below = costlyOperand(below)) {
    auto where = sites.find(below);
    auto takesSeveral = [&](const PullSite &site) { return site.info->taken.lookup(below) > 1; };
    if (where == sites.end() || llvm::none_of(where->second, takesSeveral) || !worthStoring(below, where->second))
      continue;
    scratch.insert(below);
    bool stays = worthStoring(value, sites.find(value)->second);
    scratch.erase(below);
    if (stays)
      break;
    best = below;
  }
  if (options.target.machine.turnsFactors)
    best = beforeTurn(best);
  return options.target.machine.storesJoined ? inLongRows(best) : best;
}

/// The tile that products take turned: they read factors along any dimension of what is stored, in vectors along its rows. Of loads only those
/// that are worth storing as they lie, gathered rows.
Value Planner::beforeTurn(Value value) const {
  auto permute = value.getDefiningOp<tile::PermuteOp>();
  if (!permute || !llvm::all_of(value.getUsers(), isProduct))
    return value;
  Value source = permute.getOperand();
  auto where = sites.find(source);
  if (source.getParentBlock() != value.getParentBlock() || where == sites.end())
    return value;
  auto load = source.getDefiningOp<tile::LoadOp>();
  bool alongRows = load && neighbourDim(load.getPlace()) == unsigned(cast<RankedTensorType>(load.getType()).getRank() - 1);
  return !isLoad(source.getDefiningOp()) || (alongRows && (stored(source) || worthStoring(source, where->second))) ? source
                                                                                                                   : value;
}

/// The same elements in the shape whose rows are longest, where a tile's own are shorter than a vector: vectors lie along rows.
Value Planner::inLongRows(Value value) const {
  auto rowOf = [](Value tile) {
    ArrayRef<int64_t> shape = tile::shapeOf(tile.getType());
    return shape.empty() ? 1 : shape[lastDim(shape)];
  };
  if (rowOf(value) >=
      int64_t(options.target.machine.vectorBits) / (8 * tile::elementBytes(getElementTypeOrSelf(value.getType()))))
    return value;
  Value best = value;
  auto moved = [&](Value tile) { // in the same rounds of the same loops
    return tile.hasOneUse() && isa<tile::ReshapeOp, tile::PermuteOp>(*tile.user_begin()) &&
           tile.user_begin()->getBlock() == value.getParentBlock();
  };
  for (Value next = value; moved(next);) {
    next = next.user_begin()->getResult(0);
    if (!stored(next) && rowOf(next) > rowOf(best))
      best = next;
  }
  return best;
}

bool Planner::doubleCarried() {
  bool changed = false;
  for (auto &info : infos)
    for (const Sink &sink : info->step.nest.sinks) {
      if (sink.kind != Sink::Copy || info->initOf || info->step.op)
        continue;
      Value target = terminatorTargets(sink.op)[sink.buffers[0]];
      if (doubled.count(target) || isa<scf::IfOp>(sink.op->getParentOp()))
        continue;
      for (const PullSite &site : sites.lookup(target))
        if (site.info->block == info->block &&
            (site.info->order > info->order || (site.info == info.get() && !site.reach.sameElement)))
          changed |= doubled.insert(target).second;
    }
  return changed;
}

bool Planner::storeTurned() {
  constexpr uint64_t worthTurning = 1024; // bytes, and of each dimension
  constexpr uint64_t worthAlong = 16;
  uint64_t room = options.target.machine.turnedBytes;
  if (!room)
    return false;
  auto bytesOf = [](Value load) {
    return uint64_t(cast<RankedTensorType>(load.getType()).getNumElements()) *
           tile::elementBytes(getElementTypeOrSelf(load.getType()));
  };
  for (auto [load, dim] : turned)
    room -= bytesOf(load);
  bool changed = false;
  auto isStored = [&](Value value) { return stored(value); };
  for (auto &info : infos)
    if (!info->step.op)
      forTurnedLoads(info->step.nest, isStored, [&](tile::LoadOp load, unsigned along) {
        ArrayRef<int64_t> shape = tile::shapeOf(load.getType());
        uint64_t element = tile::elementBytes(getElementTypeOrSelf(load.getType())), bytes = bytesOf(load);
        bool worth = bytes >= worthTurning && shape[along] * element >= worthAlong &&
                     shape[*neighbourDim(load.getPlace())] * element >= worthAlong;
        if (!worth || bytes > room || turned.contains(load))
          return;
        room -= bytes;
        turned[load] = along;
        changed |= scratch.insert(load).second;
      });
  return changed;
}

bool Planner::refine() {
  collectSites();
  bool changed = doubleCarried();
  for (auto &[value, where] : sites)
    if (!stored(value) && isLoad(value.getDefiningOp()) &&
        llvm::any_of(where, [&, v = value](const PullSite &site) { return illegalLoad(v, site); }))
      changed |= scratch.insert(value).second;
  if (changed)
    return true;
  // The last one first, and one at a time: what lies below it is then reached less often.
  SmallVector<Value> worth;
  for (auto &[value, where] : sites)
    if (!stored(value) && worthStoring(value, where))
      worth.push_back(value);
  llvm::sort(worth, [&](Value a, Value b) { return begin.lookup(b.getDefiningOp()) < begin.lookup(a.getDefiningOp()); });
  // Unrolled programs would take a round for each of their steps: of those, what lies far below the one before is stored with it.
  constexpr uint64_t careful = 200'000, far = 64;
  bool several = ++rounds * sites.size() > careful;
  int64_t last = std::numeric_limits<int64_t>::max();
  for (Value value : worth) {
    int64_t at = begin.lookup(value.getDefiningOp());
    if (last - at < int64_t(far) && changed)
      continue;
    changed |= scratch.insert(betterStored(value)).second;
    last = at;
    if (!several)
      break;
  }
  if (changed)
    return true;
  return storeTurned() || cutLong();
}

} // namespace tilery::lower
