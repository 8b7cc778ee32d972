#include "compiler/targets/cuda/simt/fetch_ahead.h"
#include "compiler/analysis/divisor.h"
#include "compiler/analysis/index_polynomial.h"
#include "compiler/lower/aliasing.h"
#include "compiler/lower/emitter.h"
#include "compiler/lower/math.h"
#include "compiler/targets/cuda/simt/simt_plan.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
constexpr uint64_t vectorBytes = 16;
constexpr unsigned mostSlots = 8;
constexpr uint64_t mostKept = 64; // vectors of a thread, where they are all: the first copies are written out
constexpr uint64_t schedulers = 4, warpBytes = 32 * vectorBytes;
/// What a multiprocessor must have under way for memory to be busy is 27 KB (4.5 TB/s by 800 ns by 132); more, as blocks compute meanwhile.
constexpr uint64_t underWay = 48 << 10;
/// What blocks side by side, or a block's several tiles, load at once without being ahead is enough from here on.
constexpr uint64_t enough = 112 << 10;
/// Bytes an element below which what is done with it takes longer than its way from memory.
constexpr int64_t fewBytes = 4;
/// Elements of a row that a thread holds with the next one on its way, in a block that is alone.
constexpr int64_t mostHeld = 64;
/// Programs that deal rows out by loops are launched so many a multiprocessor.
constexpr unsigned usualBlocks = 4;

bool isFixed(Value value, scf::ForOp loop) { return !loop.getRegion().isAncestor(value.getParentRegion()); }
bool isPlain(Operation *op) {
  auto load = dyn_cast<tile::LoadOp>(op);
  auto store = dyn_cast<tile::StoreOp>(op);
  return (load && !load.getIsVolatile()) || (store && !store.getIsVolatile()) ||
         isa<tile::BufferLoadOp, tile::BufferStoreOp, tile::AllocOp, scf::ForOp, scf::IfOp, tile::KernelOp>(op) ||
         op->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(op);
}
bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

bool hasOnly(int64_t constant, Value value) {
  APInt found;
  return matchPattern(value, m_ConstantInt(&found)) && found == constant;
}

/// Whether no two turns of the loop reach the same elements.
bool turnsAreApart(scf::ForOp loop, Value place) {
  auto access = place.getDefiningOp<tile::AccessOp>();
  APInt step;
  if (!loop || !access || access.getResidual() || !matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return false;
  int64_t perTurn = 0;
  analysis::IndexPolynomial offset = analysis::polynomialOf(access.getOffset());
  for (auto &[monomial, coefficient] : offset.terms()) {
    if (llvm::all_of(monomial, [&](Value atom) { return isFixed(atom, loop); }))
      continue;
    if (monomial.size() != 1 || monomial[0] != loop.getInductionVar())
      return false;
    perTurn = coefficient * step.getSExtValue();
  }
  int64_t span = 1;
  for (auto [size, along] : llvm::zip(cast<tile::AccessType>(access.getType()).getShape(), access.getSteps())) {
    APInt distance;
    if (size == 1)
      continue;
    if (!isFixed(access.getBase(), loop) || !matchPattern(along, m_ConstantInt(&distance)))
      return false;
    span += (size - 1) * std::abs(distance.getSExtValue());
  }
  return std::abs(perTurn) >= span;
}

/// By load that some nest takes, or stores first, element by element: how its elements are dealt.
using Loads = llvm::DenseMap<Value, const ThreadMap *>;

Loads loadsOf(const SimtPlan &block) {
  auto isStored = [&](Value value) { return !block.plan.isVirtual(value); };
  Loads loads;
  auto take = [&](Value value, const ThreadMap *map) {
    auto sizes = llvm::make_filter_range(tile::shapeOf(value.getType()), [](int64_t size) { return size != 1; });
    if (value.getDefiningOp<tile::LoadOp>() && llvm::equal(sizes, map->sizes))
      loads[value] = map;
  };
  auto takeOf = [&](const lower::Pull &pull, const ThreadMap *map) {
    for (const auto &[value, reach] : pull.tiles)
      if (reach.sameElement)
        take(value, map);
  };
  for (auto [nest, map] : block.mapped)
    for (const lower::Sink &sink : nest->sinks) {
      if (sink.kind == lower::Sink::Define)
        take(sink.value, map);
      if (sink.kind != lower::Sink::Copy || sink.value)
        takeOf(lower::pullOf(sink, isStored), map);
    }
  for (auto [scan, map] : block.scans) {
    lower::Pull pull;
    for (Value operand : scan->getOperands())
      pull.add(operand, isStored);
    takeOf(pull, map);
  }
  return loads;
}

class Finder {
public:
  Finder(Operation *home, const Loads &loads, bool disjoint)
      : home(home), loop(dyn_cast<scf::ForOp>(home)), loads(loads), disjoint(disjoint) {}

  std::optional<FetchLoop> run() {
    APInt step;
    if (loop && !loop.getInductionVar().getType().isInteger(32) &&
        (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || step.getActiveBits() > 32))
      return std::nullopt;
    if (!effectsAreKnown())
      return std::nullopt;
    FetchLoop found;
    found.home = home;
    for (auto load : body().getOps<tile::LoadOp>()) {
      if (!isTile(load)) {
        if (!load.getIsVolatile() && moves(load).value_or(false) && !mayChange(load))
          found.numbers.push_back(load);
        continue;
      }
      const ThreadMap *map = loads.lookup(load.getResult());
      if (!map || !isVectors(load, *map))
        continue;
      std::optional<bool> moving = moves(load);
      if (!moving || (!*moving && loop) || mayChange(load))
        continue;
      uint64_t &bytes = *moving ? found.turnBytes : found.fixedBytes;
      (*moving ? found.loads : found.fixed).push_back({load, map, bytes});
      found.placeBytes = map->threads * vectorBytes;
      bytes += map->chunks * found.placeBytes;
    }
    if (found.loads.empty())
      return std::nullopt;
    for (Operation &op : body())
      if (places.contains(&op))
        found.places.push_back(&op);
    return found;
  }

private:
  // Nothing that tells threads or other blocks of each other: then only the loop's own stores may change what it loads.
  bool effectsAreKnown() {
    return !home->walk([](Operation *op) { return isPlain(op) ? WalkResult::advance() : WalkResult::interrupt(); })
                .wasInterrupted();
  }

  Block &body() { return home->getRegion(0).front(); }

  // A thread's vectors are 16 bytes that exist or not as one.
  bool isVectors(tile::LoadOp load, const ThreadMap &map) {
    auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
    if (!access || access.getResidual() || map.copies() || map.crosses() || map.ofProduct())
      return false;
    auto type = cast<tile::AccessType>(access.getType());
    int64_t bytes = lower::elementBytes(type.getElementType());
    if (map.width * bytes != vectorBytes || isa<tile::PtrType>(type.getElementType()))
      return false;
    int64_t divisor = std::min(analysis::divisorOf(access.getBase()), bytes * analysis::divisorOf(access.getOffset()));
    bool inner = true;
    for (int64_t d = type.getRank(); d-- > 0;) {
      if (!access.isStrided(d) || access.getBound(d).size() == 1)
        return false;
      if (type.getShape()[d] == 1)
        continue;
      bool isInner = std::exchange(inner, false);
      if (isInner && !hasOnly(1, access.getSteps()[d]))
        return false;
      if (!isInner)
        divisor = std::min(divisor, bytes * analysis::divisorOf(access.getSteps()[d]));
      for (Value bound : access.getBound(d))
        if (isInner && analysis::divisorOf(bound) % map.width)
          return false;
    }
    return divisor >= int64_t(vectorBytes);
  }

  // Whether a load of which it is known ahead where it lies, by the turn's number, what the loop counts along and what is fixed, lies
  // elsewhere in each turn. Nothing: it is not known.
  std::optional<bool> moves(tile::LoadOp load) {
    Operation *place = load.getPlace().getDefiningOp();
    llvm::SmallPtrSet<Operation *, 16> needed;
    auto isOfTurn = [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      return argument && argument.getOwner() == &body();
    };
    std::function<bool(Value)> known = [&](Value value) {
      if (loop && isFixed(value, loop))
        return true;
      if (auto argument = dyn_cast<BlockArgument>(value))
        return argument.getOwner() == &body() && (!loop || argument == loop.getInductionVar() || stepOfCarried(loop, argument));
      Operation *op = value.getDefiningOp();
      if (op->getBlock() != &body() || op->getNumRegions() || !isMemoryEffectFree(op) || isTile(value) ||
          !(lower::isElementwise(op) || isa<arith::ConstantOp, tile::ProgramIdOp, tile::NumProgramsOp>(op)))
        return false;
      needed.insert(op);
      return llvm::all_of(op->getOperands(), known);
    };
    if (!place || !llvm::all_of(place->getOperands(), known))
      return std::nullopt;
    bool moving = loop && llvm::any_of(place->getOperands(), isOfTurn);
    for (Operation *op : needed)
      moving |= isa<tile::ProgramIdOp>(op) || (loop && llvm::any_of(op->getOperands(), isOfTurn));
    if (moving || !loop)
      places.insert(needed.begin(), needed.end());
    return moving;
  }

  // A store in the loop may write what a later turn loads, unless it writes what its own turn has loaded and turns are apart.
  bool mayChange(tile::LoadOp load) {
    lower::MemoryClass own = lower::classOfPlace(load.getPlace());
    return home
        ->walk([&](tile::StoreOp store) {
          bool apart = !lower::mayAlias(own, lower::classOfPlace(store.getPlace()), disjoint) ||
                       (lower::samePattern(load.getPlace(), store.getPlace()) && turnsAreApart(loop, load.getPlace()));
          return apart ? WalkResult::advance() : WalkResult::interrupt();
        })
        .wasInterrupted();
  }

  Operation *home;
  scf::ForOp loop;
  const Loads &loads;
  bool disjoint;
  llvm::SmallPtrSet<Operation *, 16> places;
};
} // namespace

Operation *stepOfCarried(scf::ForOp loop, BlockArgument carried) {
  Operation *step = loop.getTiedLoopYieldedValue(carried)->get().getDefiningOp();
  bool adds = isa_and_nonnull<arith::AddIOp, arith::SubIOp, tile::AddPtrOp>(step) && step->getOperand(0) == carried &&
              isFixed(step->getOperand(1), loop) && !isa<RankedTensorType>(carried.getType());
  return adds ? step : nullptr;
}

bool mayRunBackwards(scf::ForOp loop, bool disjoint) {
  if (loop.getNumResults() || loop.getUnsignedCmp())
    return false;
  SmallVector<tile::StoreOp> stores;
  SmallVector<tile::LoadOp> loads;
  bool known = true;
  loop.walk([&](Operation *op) {
    known &= isPlain(op) && !isa<tile::BufferLoadOp, tile::BufferStoreOp>(op);
    if (auto store = dyn_cast<tile::StoreOp>(op))
      stores.push_back(store);
    if (auto load = dyn_cast<tile::LoadOp>(op))
      loads.push_back(load);
  });
  auto mayMeet = [&](Value place, Value other) {
    return lower::mayAlias(lower::classOfPlace(place), lower::classOfPlace(other), disjoint);
  };
  for (tile::StoreOp store : stores) {
    known &= turnsAreApart(loop, store.getPlace());
    for (tile::StoreOp other : stores)
      known &= other == store || !mayMeet(store.getPlace(), other.getPlace());
    for (tile::LoadOp load : loads)
      known &= !mayMeet(store.getPlace(), load.getPlace()) || lower::samePattern(load.getPlace(), store.getPlace());
  }
  return known;
}

namespace {
/// Two loops of as many turns, and which turn of the second one is compared with the first one's turn `first`'s variable: `number`.
struct Turns {
  scf::ForOp first, second;
  analysis::IndexPolynomial number;

  /// The turn of the same number, or, of loops that count by ones, as far from the end as the other one is from the beginning.
  Turns(scf::ForOp first, scf::ForOp second, bool isMirrored)
      : first(first), second(second), number(analysis::polynomialOf(second.getInductionVar())) {
    if (isMirrored)
      number = analysis::polynomialOf(first.getLowerBound()) + analysis::polynomialOf(first.getUpperBound()) -
               analysis::IndexPolynomial(1) - number;
  }

  /// Whether a value of the first loop's turn is that of the second one's.
  bool areSame(Value x, Value y) {
    if (x.getType() != y.getType())
      return false;
    if (x == y)
      return isFixed(x, first);
    if (x.getType().isIntOrIndex() && inSecond(x) == analysis::polynomialOf(y))
      return true;
    Operation *p = x.getDefiningOp(), *q = y.getDefiningOp();
    return p && q && p->getName() == q->getName() && p->getAttrDictionary() == q->getAttrDictionary() &&
           p->getPropertiesAsAttribute() == q->getPropertiesAsAttribute() && p->getNumRegions() == 0 && isMemoryEffectFree(p) &&
           p->getResultTypes() == q->getResultTypes() &&
           cast<OpResult>(x).getResultNumber() == cast<OpResult>(y).getResultNumber() &&
           p->getNumOperands() == q->getNumOperands() &&
           llvm::all_of(llvm::zip(p->getOperands(), q->getOperands()),
                        [&](auto both) { return areSame(std::get<0>(both), std::get<1>(both)); });
  }

private:
  analysis::IndexPolynomial inSecond(Value x) {
    analysis::IndexPolynomial rest, turn = analysis::polynomialOf(x).coefficient(first.getInductionVar(), rest);
    return turn * number + rest; // a square leaves the variable, which no value of the other loop has
  }
};
} // namespace

SmallVector<tile::LoadOp> loadedAgain(const FetchLoop &before, const FetchLoop &after, bool isMirrored, bool disjoint) {
  scf::ForOp first = before.loop(), second = after.loop();
  if (!first || !second || first->getBlock() != second->getBlock() || !first->isBeforeInBlock(second))
    return {};
  Turns turns(first, second, isMirrored);
  if (!turns.areSame(first.getLowerBound(), second.getLowerBound()) ||
      !turns.areSame(first.getUpperBound(), second.getUpperBound()) || !turns.areSame(first.getStep(), second.getStep()) ||
      first.getUnsignedCmp() || second.getUnsignedCmp() || (isMirrored && !hasOnly(1, first.getStep())))
    return {};
  auto changes = [&](Operation *op) { // what is loaded, or the places where it is kept
    return op
        ->walk([&](Operation *inner) {
          auto store = dyn_cast<tile::StoreOp>(inner);
          bool harmless = isPlain(inner) && !(inner != first && isa<scf::ForOp>(inner));
          for (FetchLoop::Load load : before.loads)
            harmless &= !store || !lower::mayAlias(lower::classOfPlace(load.op.getPlace()), lower::classOfPlace(store.getPlace()),
                                                   disjoint);
          return harmless ? WalkResult::advance() : WalkResult::interrupt();
        })
        .wasInterrupted();
  };
  for (Operation *op = first; op != second; op = op->getNextNode())
    if (changes(op))
      return {};
  if (second.walk([&](scf::ForOp inner) { return inner == second ? WalkResult::advance() : WalkResult::interrupt(); })
          .wasInterrupted())
    return {};
  SmallVector<tile::LoadOp> again;
  for (FetchLoop::Load load : before.loads)
    for (FetchLoop::Load other : after.loads)
      if (load.map == other.map && turns.areSame(load.op.getPlace(), other.op.getPlace())) {
        again.push_back(other.op);
        break;
      }
  return again.size() == before.loads.size() ? again : SmallVector<tile::LoadOp>();
}

namespace {
/// Functions of the elements of tiles.
bool computesFunctions(Operation *home) {
  return home
      ->walk([](Operation *op) {
        bool function = op->getNumResults() && isTile(op->getResult(0)) && lower::isInlineMath(op);
        return function ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Loops that compute functions of few bytes have no time to gain: softmax of 131072 in bf16 lost 6 %.
bool waitForMemory(const FetchLoop &first, const FetchLoop &second) {
  int64_t bytes = 0;
  for (FetchLoop::Load load : first.loads)
    bytes += lower::elementBytes(lower::elementOf(load.op.getResult()));
  return bytes >= fewBytes || (!computesFunctions(first.loop()) && !computesFunctions(second.loop()));
}

/// Vectors of a thread that all turns of a loop load; 0: it is not known.
uint64_t vectorsOfAll(const FetchLoop &fetch) {
  std::optional<APInt> turns = fetch.loop().getStaticTripCount();
  return turns ? turns->getZExtValue() * fetch.vectors() : 0;
}

/// `second` is left with the loads that `first` has kept for it, in as many places as blocks side by side have room for: of all its turns, if
/// fewer blocks have that and are still a warp for each scheduler. Memory is then read once.
bool keepBetween(FetchLoop &first, FetchLoop &second, unsigned blocks, bool disjoint, uint64_t freeBytes) {
  SmallVector<tile::LoadOp> again = loadedAgain(first, second, false, disjoint);
  if (!again.empty() && !mayRunBackwards(second.loop(), disjoint))
    return false;
  second.isMirrored = again.empty();
  if (second.isMirrored)
    again = loadedAgain(first, second, true, disjoint);
  if (again.empty())
    return false;
  uint64_t all = vectorsOfAll(first), whole = all && all <= mostKept ? freeBytes / (all * first.placeBytes) : 0;
  if (whole * first.placeBytes >= schedulers * warpBytes)
    blocks = std::min<uint64_t>(blocks, whole);
  first.ring = freeBytes / blocks / first.placeBytes;
  if (whole)
    first.ring = std::min<uint64_t>(first.ring, all);
  if (first.ring < first.vectors())
    return false;
  first.keeps = true;
  second.keeper = first.loop();
  second.ring = first.ring;
  second.turnBytes = first.turnBytes;
  second.loads = first.loads;
  second.numbers.clear();
  for (auto [load, op] : llvm::zip(second.loads, again))
    load.op = op;
  return true;
}

/// A block's programs one after the other: where a multiprocessor holds one block, which computes a row longer than it waits for it (functions
/// of its elements, or sums that wait for sums). Blocks that load, compute and store by turns are as fast where elements are larger: others
/// fill memory's time.
void planPrograms(tile::KernelOp kernel, SimtPlan &block, const Loads &loads, bool disjoint, uint64_t freeBytes) {
  int64_t meetings = 0;
  for (auto [nest, map] : block.mapped)
    meetings += llvm::any_of(nest->sinks, [](const lower::Sink &sink) { return sink.kind == lower::Sink::Reduce; });
  if (!meetings || (meetings < 2 && waitsForMemory(kernel)) || block.residentBlocks > 1 || block.plan.workspaceBytes)
    return;
  std::optional<FetchLoop> found = Finder(kernel, loads, disjoint).run();
  if (!found || found->turnBytes + found->fixedBytes > freeBytes)
    return;
  int64_t held = 0;
  const ThreadMap *map = found->loads[0].map;
  for (const FetchLoop::Load &load : found->loads) {
    held += load.map->chunks * int64_t(load.map->width);
    if (load.map != map || lower::elementBytes(lower::elementOf(load.op->getResult(0))) >= fewBytes)
      return;
  }
  if (held > mostHeld)
    return;
  found->ring = found->vectors();
  block.fetchBytes = found->bytes() + found->fixedBytes;
  block.fetches.push_back(std::move(*found));
}
} // namespace

bool waitsForMemory(tile::KernelOp kernel) {
  int64_t bytes = 0;
  kernel.walk([&](tile::LoadOp load) {
    if (isTile(load.getResult()))
      bytes += lower::elementBytes(lower::elementOf(load.getResult()));
  });
  return bytes >= fewBytes || !computesFunctions(kernel);
}

void planFetches(tile::KernelOp kernel, SimtPlan &block, bool disjoint, uint64_t freeBytes) {
  bool loops = false;
  Loads loads = loadsOf(block);
  unsigned resident = std::max(block.residentBlocks, 1u);
  std::optional<FetchLoop> before; // the loop in front
  kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    loops = true;
    if (lower::runsInThreads(loop))
      return;
    std::optional<FetchLoop> found = Finder(loop, loads, disjoint).run();
    if (!found)
      return;
    auto inUse = [&](const FetchLoop &other) { return other.home->isProperAncestor(loop); };
    if (before && !llvm::any_of(block.fetches, inUse) && waitForMemory(*before, *found) &&
        keepBetween(*before, *found, resident, disjoint, freeBytes)) {
      if (!block.fetches.empty() && block.fetches.back().home == before->home)
        block.fetches.pop_back();
      block.fetchBytes = std::max(block.fetchBytes, found->bytes());
      block.fetches.push_back(std::move(*before));
      block.fetches.push_back(std::move(*found));
      before.reset();
      return;
    }
    before = found;
    for (const FetchLoop &other : block.fetches) // its slots are in use meanwhile
      if (inUse(other))
        found->offset = std::max(found->offset, other.offset + other.bytes());
    // Fewer blocks side by side, where there is no room for one turn of each.
    unsigned blocks = resident;
    auto room = [&] { return freeBytes / blocks - std::min(freeBytes / blocks, found->offset); };
    while (blocks > 1 && room() < found->turnBytes)
      --blocks;
    if ((blocks > 1 || found->loads.size() > 1) && blocks * found->turnBytes >= enough)
      return;
    uint64_t wanted = std::max<uint64_t>(1, underWay / std::min(blocks, usualBlocks) / found->turnBytes);
    found->ring = std::min<uint64_t>({wanted, mostSlots, room() / found->turnBytes}) * found->vectors();
    if (!found->ring)
      return;
    block.fetchBytes = std::max(block.fetchBytes, found->offset + found->bytes());
    block.fetches.push_back(std::move(*found));
  });
  if (!loops)
    planPrograms(kernel, block, loads, disjoint, freeBytes);
}

} // namespace tilery::cuda
