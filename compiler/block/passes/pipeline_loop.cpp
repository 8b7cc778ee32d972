#include "compiler/block/passes/pipeline_loop.h"
#include "compiler/block/passes/exchange_access.h"
#include "compiler/block/passes/near_exponentials.h"
#include "compiler/ir/zero.h"
#include <map>
#include <set>

using namespace mlir;

namespace tilery::block {
namespace {

Value number(OpBuilder &b, Location location, int32_t value) {
  return arith::ConstantOp::create(b, location, b.getI32IntegerAttr(value));
}

/// How far rings are that are filled once in each of the same stretches.
struct Counter {
  std::set<unsigned> stretches;
  std::map<unsigned, Value> positions; // of each
  Value now;

  Value at(unsigned stretch) const {
    auto found = positions.find(stretch);
    return found == positions.end() ? now : found->second;
  }
};

/// The kernel with i32s that its loops carry and its branches give, which count how often rings have been filled.
class Counting {
public:
  explicit Counting(const LoopKernel &found) : found(found) {
    for (const LoopRing &ring : found.rings()) {
      std::set<unsigned> stretches;
      for (tile::LoadOp load : ring.loads)
        if (!ring.held || found.isInLoop(load))
          stretches.insert(found.stretchOf(load));
      auto same = llvm::find_if(counters, [&](const Counter &counter) { return counter.stretches == stretches; });
      counterOf.push_back(same - counters.begin());
      if (same == counters.end())
        counters.push_back({stretches, {}, {}});
    }
    for (const StagingBuffer &staging : found.stagingBuffers()) {
      std::set<unsigned> stretches;
      for (Operation *user : staging.users)
        stretches.insert(found.stretchOf(user));
      if (llvm::none_of(counters, [&](const Counter &counter) { return counter.stretches == stretches; }))
        counters.push_back({stretches, {}, {}});
    }
  }

  void write() {
    Block &body = found.kernel.getBody().front();
    OpBuilder begin(&body.front());
    for (Counter &counter : counters)
      counter.now = number(begin, found.kernel.getLoc(), 0);
    countIn(body);
  }

  /// Of the ring in the stretch.
  Value position(size_t ring, unsigned stretch) const { return counters[counterOf[ring]].at(stretch); }
  /// Of a ring that is filled once in each of these stretches.
  Value position(const std::set<unsigned> &stretches, unsigned stretch) const {
    return llvm::find_if(counters, [&](const Counter &counter) { return counter.stretches == stretches; })->at(stretch);
  }

private:
  /// From the next stretch on, and what stands in the block's loops and branches.
  void countIn(Block &block) {
    for (Operation *op = &block.front(); op;) {
      Operation *nest = op;
      while (nest && !found.isNest(nest))
        nest = nest->getNextNode();
      countOnce(nest ? nest : block.getTerminator());
      ++stretch;
      if (!nest)
        return;
      op = (isa<scf::ForOp>(nest) ? countLoop(cast<scf::ForOp>(nest)) : countBranch(cast<scf::IfOp>(nest)))->getNextNode();
    }
  }

  void countOnce(Operation *end) {
    for (Counter &counter : counters)
      if (counter.stretches.count(stretch)) {
        counter.positions[stretch] = counter.now;
        OpBuilder b(end);
        Location location = found.kernel.getLoc();
        counter.now = arith::AddIOp::create(b, location, counter.now, number(b, location, 1));
      }
  }

  /// Those that go on in the stretches of the loop or branch.
  SmallVector<Counter *> countersIn(Operation *nest) {
    unsigned stretches = 0;
    nest->walk([&](Operation *op) {
      if (found.isNest(op))
        stretches += op->getNumRegions() + (op != nest);
    });
    SmallVector<Counter *> inside;
    for (Counter &counter : counters)
      if (auto first = counter.stretches.lower_bound(stretch); first != counter.stretches.end() && *first < stretch + stretches)
        inside.push_back(&counter);
    return inside;
  }

  Operation *countLoop(scf::ForOp loop) {
    SmallVector<Counter *> counted = countersIn(loop);
    SmallVector<Value> starts;
    for (Counter *counter : counted)
      starts.push_back(counter->now);
    scf::ForOp made = loop;
    if (!counted.empty()) {
      IRRewriter rewriter(loop.getContext());
      rewriter.setInsertionPoint(loop);
      auto same = [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
        return SmallVector<Value>(added.begin(), added.end());
      };
      made = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, starts, /*replaceInitOperandUsesInLoop=*/false, same));
      llvm::replace(found.loops, loop, made);
    }
    size_t last = made.getNumResults() - counted.size();
    for (auto [i, counter] : llvm::enumerate(counted))
      counter->now = made.getRegionIterArg(last + i);
    countIn(*made.getBody());
    for (auto [i, counter] : llvm::enumerate(counted))
      made.getBody()->getTerminator()->setOperand(last + i, counter->now);
    for (auto [i, counter] : llvm::enumerate(counted))
      counter->now = made.getResult(last + i);
    return made;
  }

  Operation *countBranch(scf::IfOp branch) {
    SmallVector<Counter *> counted = countersIn(branch);
    SmallVector<Value> before;
    SmallVector<Type> types(branch.getResultTypes());
    for (Counter *counter : counted) {
      before.push_back(counter->now);
      types.push_back(counter->now.getType());
    }
    OpBuilder b(branch);
    auto made = scf::IfOp::create(b, branch.getLoc(), types, branch.getCondition(), /*withElseRegion=*/true);
    made->setAttrs(branch->getDiscardableAttrDictionary());
    for (auto [from, to] : llvm::zip_equal(branch->getRegions(), made->getRegions())) {
      OpBuilder inside = OpBuilder::atBlockEnd(&to.front());
      if (!from.empty())
        to.takeBody(from);
      else if (to.front().empty())
        scf::YieldOp::create(inside, branch.getLoc());
    }
    llvm::replace(found.branches, branch, made);
    for (Region &region : made->getRegions()) {
      for (auto [counter, start] : llvm::zip_equal(counted, before))
        counter->now = start;
      countIn(region.front());
      Operation *end = region.front().getTerminator();
      for (Counter *counter : counted)
        end->insertOperands(end->getNumOperands(), counter->now);
    }
    branch->replaceAllUsesWith(made->getResults().take_front(branch.getNumResults()));
    branch->erase();
    for (auto [i, counter] : llvm::enumerate(counted))
      counter->now = made.getResult(made.getNumResults() - counted.size() + i);
    return made;
  }

  LoopKernel found;
  std::vector<Counter> counters;
  SmallVector<size_t> counterOf; // each ring
  unsigned stretch = 0;          // the next one
};

/// What one load brings.
struct Stream {
  size_t ring;
  Operation *first = nullptr, *last = nullptr; // products that read it
  Value slot = {};                             // as it was taken
  Value inRegisters = {};                      // the tile, where threads hold it for all products whose first factor it is
  bool isShared = true;                        // others read it in its slot
};

/// A computed factor on its way through shared memory.
struct ShownFactor {
  Value ring, position, slot; // slot: as it was taken
  Operation *release = nullptr;
};

class Streams {
public:
  Streams(LoopKernel &found, const Counting &counting, const Schedule &schedule)
      : found(found), rings(found.rings()), counting(counting), schedule(schedule), builder(found.kernel),
        location(found.kernel.getLoc()) {}

  void write() {
    for (auto [i, ring] : llvm::enumerate(rings))
      for (tile::LoadOp load : ring.loads)
        streams.insert({load, Stream{i}});
    for (const BoxProduct &dot : found.dots) {
      auto op = cast<tile::DotOp>(dot.op);
      if (dot.loadedA)
        read(op, loadOf(op.getA()));
      if (dot.loadedB)
        read(op, loadOf(op.getB()));
    }
    for (auto [i, ring] : llvm::enumerate(rings))
      bring(i, ring);
    park();
    for (const BoxProduct &dot : found.dots)
      if (!dot.loadedB)
        showingSecond[dot.op] = found.showsSecond(dot);
    for (const BoxProduct &dot : found.dots)
      multiply(dot);
    for (tile::AtomicRmwOp addition : found.additions)
      add(addition);
  }

private:
  void read(Operation *product, tile::LoadOp load) {
    Stream &stream = streams.find(load)->second;
    if (!stream.first)
      stream.first = product;
    stream.last = product;
  }

  /// In the block of the load, what holds the product.
  static Operation *holder(tile::LoadOp load, Operation *product) { return load->getBlock()->findAncestorOpInBlock(*product); }

  /// Fills the ring where each of its loads stood, and takes it in front of the load's first product.
  void bring(size_t number, LoopRing &ring) {
    auto same = [](Value atom) { return atom; };
    Operation *first = found.kernel.getBody().front().findAncestorOpInBlock(*ring.loads[0].getOperation());
    location = ring.loads[0].getLoc();
    builder.setInsertionPoint(first);
    Value map;
    if (!ring.fetched) {
      placeConditions(builder, location, ring.tile.box);
      map = placeMap(builder, location, ring.tile, same);
    }
    auto type = RingType::get(builder.getContext(), ring.held ? 1 : schedule.stages, {ring.sharedType()});
    Value made = RingOp::create(builder, location, type, 1);
    for (tile::LoadOp load : ring.loads) {
      Stream &stream = streams.find(load)->second;
      location = load.getLoc();
      builder.setInsertionPoint(load);
      Value position = counting.position(number, found.stretchOf(load));
      if (ring.fetched) {
        auto place = load.getPlace().getDefiningOp<tile::AccessOp>();
        tile::AccessOp lines = copiedLine(load.getResult()) == 1u ? place : exchanged(builder, place);
        Value filled = AcquireOp::create(builder, location, made, position);
        FetchOp::create(builder, location, lines, PartOp::create(builder, location, filled, 0));
        PublishOp::create(builder, location, filled);
      } else {
        MappedTile tile = ring.isRead ? lineOf(load) : tileOf(load);
        placeOtherConditions(first, tile);
        SmallVector<Value> coords = placeCoords(builder, location, tile, same);
        Value filled = AcquireOp::create(builder, location, made, position);
        CopyOp::create(builder, location, map, coords, PartOp::create(builder, location, filled, 0));
        PublishOp::create(builder, location, filled);
      }
      if (!ring.isRead)
        builder.setInsertionPoint(holder(load, stream.first));
      stream.slot = TakeOp::create(builder, location, made, position);
      if (ring.isRead)
        load.replaceAllUsesWith(readTile(stream.slot, true, ring.tile.order.front() == 1));
      else if (ring.held && schedule.holdOperands && isFirstFactor(load)) {
        stream.isShared = isSecondFactor(load);
        stream.inRegisters = readTile(stream.slot, !stream.isShared);
      }
    }
  }

  /// 0 or another number, lane by lane: to add it to a product costs less than to start from it, for most steps are all 0.
  static bool isMask(Value sums) {
    auto choice = sums.getDefiningOp<arith::SelectOp>();
    auto isNumber = [](Value value) {
      auto splat = value.getDefiningOp<tile::SplatOp>();
      return matchPattern(splat ? splat.getValue() : value, m_Constant());
    };
    return choice && isa<FloatType>(getElementTypeOrSelf(sums)) && isNumber(choice.getTrueValue()) &&
           isNumber(choice.getFalseValue()) &&
           (tile::isPlusZero(choice.getTrueValue()) || tile::isPlusZero(choice.getFalseValue()));
  }

  /// What alone takes the product, which starts from zero, and adds it to sums that are there before it: those may go on in it.
  static Operation *additionOf(tile::DotOp op) {
    auto sum = op->hasOneUse() ? dyn_cast<arith::AddFOp>(*op->user_begin()) : arith::AddFOp();
    if (!sum || sum->getBlock() != op->getBlock() || !startsFresh(op))
      return nullptr;
    Value before = sum->getOperand(sum.getLhs() == op.getResult());
    if (isMask(before))
      return nullptr;
    Operation *made = before.getDefiningOp();
    return made && made->getBlock() == op->getBlock() && !made->isBeforeInBlock(op) ? nullptr : sum.getOperation();
  }

  /// All of the slot, which may then be free; `turned`: its dimensions exchanged.
  Value readTile(Value slot, bool isLast, bool turned = false) {
    Value part = PartOp::create(builder, location, slot, 0);
    if (turned)
      part = TransposeOp::create(builder, location, part);
    auto type = cast<RankedTensorType>(cast<SharedType>(part.getType()).getTileType());
    Value tile = ReadOp::create(builder, location, type, part, IntegerAttr());
    if (isLast)
      ReleaseOp::create(builder, location, slot);
    return tile;
  }

  bool isFirst(const BoxProduct &dot, tile::LoadOp load) {
    return dot.loadedA && loadOf(cast<tile::DotOp>(dot.op).getA()) == load;
  }
  /// Of products, as it lies in memory.
  bool isFirstFactor(tile::LoadOp load) {
    bool any = llvm::any_of(found.dots, [&](const BoxProduct &dot) { return isFirst(dot, load); });
    return any && llvm::all_of(found.dots, [&](const BoxProduct &dot) {
             return !isFirst(dot, load) || (dot.elementBytes() == 2 && !dot.fetchedA && factorTile(dot, false).order[0] == 0);
           });
  }
  bool isSecondFactor(tile::LoadOp load) {
    return llvm::any_of(found.dots, [&](const BoxProduct &dot) { return loadOf(cast<tile::DotOp>(dot.op).getB()) == load; });
  }

  /// What the place of a later load asks of a launch.
  void placeOtherConditions(Operation *first, const MappedTile &tile) {
    OpBuilder b(first);
    placeConditions(b, location, tile.box);
  }

  MappedTile lineOf(tile::LoadOp load) {
    return llvm::find_if(found.lines, [&](const LoadedLine &line) { return line.load == load; })->tile;
  }

  MappedTile tileOf(tile::LoadOp load) {
    for (const BoxProduct &dot : found.dots)
      if (auto op = dyn_cast<tile::DotOp>(dot.op)) {
        if (dot.loadedA && loadOf(op.getA()) == load)
          return factorTile(dot, false);
        if (loadOf(op.getB()) == load)
          return factorTile(dot, true);
      }
    llvm_unreachable("a load of a ring is a factor");
  }

  Value shown(tile::LoadOp load, const BoxProduct &dot, bool second) {
    const std::optional<FetchedFactor> &fetched = second ? dot.fetchedB : dot.fetchedA;
    bool transposed = fetched ? fetched->line == 0 : factorTile(dot, second).order[0] == 1;
    Value part = PartOp::create(builder, location, streams.find(load)->second.slot, 0);
    return transposed ? Value(TransposeOp::create(builder, location, part)) : part;
  }

  /// The tile in shared memory, where it was loaded: once for all products.
  Value written(Value tile) {
    Value &memory = writtenTiles[tile];
    if (!memory) {
      OpBuilder behind(builder.getContext());
      behind.setInsertionPointAfterValue(tile);
      auto type = cast<RankedTensorType>(tile.getType());
      memory = AllocOp::create(behind, location, SharedType::get(type.getContext(), type.getShape(), type.getElementType(), {}));
      WriteOp::create(behind, location, memory, tile);
    }
    return memory;
  }

  /// The next product, at `next`, adds to sums that this one is still adding to: nobody waits between them, and its slots stay.
  static void goOnIn(MmaWaitOp wait, Operation *next, Operation *firstBehind) {
    auto start = wait.getProduct().getDefiningOp<MmaStartOp>();
    Value slots[] = {slotOf(start.getA()), slotOf(start.getB())};
    for (Operation *op = wait->getNextNode(), *behind = nullptr; op != firstBehind; op = behind) {
      behind = op->getNextNode();
      if (auto release = dyn_cast<ReleaseOp>(op); release && llvm::is_contained(slots, release.getSlot()))
        release->moveBefore(next);
    }
    OpBuilder builder(next);
    builder.setInsertionPoint(firstBehind);
    MmaSettleOp::create(builder, wait.getLoc(), wait.getProduct());
  }

  /// The slot that a factor in a ring is part of.
  static Value slotOf(Value factor) {
    while (isa_and_nonnull<TransposeOp, PartOp>(factor.getDefiningOp()))
      factor = factor.getDefiningOp()->getOperand(0);
    return factor;
  }

  /// Makes the shared memory through which tiles go (of factors a ring, so that warpgroups need not go in step), and the maps of what is
  /// added to memory.
  void park() {
    auto same = [](Value atom) { return atom; };
    std::string why;
    for (const StagingBuffer &staging : found.stagingBuffers()) {
      Operation *first = found.kernel.getBody().front().findAncestorOpInBlock(*staging.users[0]);
      builder.setInsertionPoint(first);
      location = found.kernel.getLoc();
      bool isRing = isa<tile::DotOp>(staging.users[0]);
      auto ring = isRing ? RingType::get(builder.getContext(), std::max(schedule.computedSlots, 1u), {staging.type}) : RingType();
      Value memory =
          isRing ? Value(RingOp::create(builder, location, ring, 1)) : AllocOp::create(builder, location, staging.type);
      std::set<unsigned> stretches;
      for (Operation *user : staging.users)
        stretches.insert(found.stretchOf(user));
      for (Operation *user : staging.users) {
        if (isRing)
          shownFactors[{user, staging.second}] = {memory, counting.position(stretches, found.stretchOf(user)), {}, nullptr};
        else
          parked[user] = memory;
        auto addition = dyn_cast<tile::AtomicRmwOp>(user);
        if (!addition)
          continue;
        location = addition.getLoc();
        added.insert({user, *mapAdded(addition, found.results(), why)});
        placeConditions(builder, location, added.find(user)->second.box);
        maps[user] = placeMap(builder, location, added.find(user)->second, same);
      }
    }
  }

  /// Sums go to shared memory, from where the copy engine adds them to what memory holds.
  void add(tile::AtomicRmwOp addition) {
    auto same = [](Value atom) { return atom; };
    location = addition.getLoc();
    builder.setInsertionPoint(addition);
    Value memory = parked.lookup(addition), sums = addition.getValue();
    RankedTensorType type = cast<SharedType>(memory.getType()).getTileType();
    if (sums.getType() != type)
      sums = tile::ReshapeOp::create(builder, location, type, sums);
    SmallVector<Value> coords = placeCoords(builder, location, added.find(addition)->second, same);
    WriteOp::create(builder, location, memory, sums);
    StoreBoxOp::create(builder, location, memory, maps.lookup(addition), coords, /*add=*/true);
    addition.erase();
  }

  /// A computed factor as the tensor cores find it in shared memory.
  Value showComputed(const BoxProduct &dot, ShownFactor &factor, bool second) {
    if (!factor.slot) {
      Value filled = AcquireOp::create(builder, location, factor.ring, factor.position);
      filled.getDefiningOp()->setAttr("block.consumer_filled", builder.getUnitAttr());
      WriteOp::create(builder, location, PartOp::create(builder, location, filled, 0), computedFactor(dot, second));
      PublishOp::create(builder, location, filled);
      factor.slot = TakeOp::create(builder, location, factor.ring, factor.position);
    }
    Value part = PartOp::create(builder, location, factor.slot, 0);
    return (second ? dot.turnedB : dot.turnedA) ? Value(TransposeOp::create(builder, location, part)) : part;
  }

  /// The product, the last one so far, has read it.
  void releaseBehind(ShownFactor &factor) {
    if (factor.release)
      factor.release->erase();
    factor.release = ReleaseOp::create(builder, location, factor.slot);
  }

  /// A product before this one that has the same first factor in registers, if this one can start in front of it: what becomes of its
  /// result can then be done while the other one runs.
  Operation *otherProductOf(const BoxProduct &dot) {
    auto op = cast<tile::DotOp>(dot.op);
    if (!dot.loadedB)
      return nullptr;
    Operation *slot = streams.find(loadOf(op.getB()))->second.slot.getDefiningOp();
    for (Operation *user : computedFactor(dot).getUsers()) {
      bool isBefore = isa<MmaStartOp>(user) && user->getBlock() == op->getBlock() && user->isBeforeInBlock(op);
      if (isBefore && (slot->getBlock() != user->getBlock() || slot->isBeforeInBlock(user)))
        return user;
    }
    return nullptr;
  }

  void multiply(const BoxProduct &dot) {
    auto op = cast<tile::DotOp>(dot.op);
    location = op.getLoc();
    builder.setInsertionPoint(op);
    auto sum = PendingType::get(builder.getContext(), cast<RankedTensorType>(op.getType()));
    Value held = dot.loadedA ? streams.find(loadOf(op.getA()))->second.inRegisters : dot.writtenA ? Value() : op.getA();
    Operation *addition = additionOf(op);
    Value start = addition ? addition->getOperand(addition->getOperand(0) == op.getResult()) : op.getAcc();
    bool isMasked = !addition && !startsFresh(op) && isMask(start);
    bool fresh = addition ? tile::isPlusZero(start) : isMasked || startsFresh(op), isShown = found.isShown(dot);
    auto before = fresh ? MmaWaitOp() : start.getDefiningOp<MmaWaitOp>();
    if (before && (!before->hasOneUse() || before->getBlock() != op->getBlock()))
      before = {};
    if (Operation *other = isShown && fresh ? otherProductOf(dot) : nullptr)
      builder.setInsertionPoint(other);
    auto *own = isShown ? &shownFactors.find({dot.op, false})->second : nullptr;
    auto *ownSecond = dot.loadedB ? nullptr : &shownFactors.find({showingSecond.lookup(dot.op), true})->second;
    Value a = isShown        ? showComputed(dot, *own, false)
              : held         ? held
              : dot.writtenA ? written(op.getA())
                             : shown(loadOf(op.getA()), dot, false);
    Value b = ownSecond ? showComputed(dot, *ownSecond, true) : shown(loadOf(op.getB()), dot, true);
    Value c = fresh ? Value(NoneOp::create(builder, location, sum)) : before ? before.getProduct() : start;
    Value clear = fresh ? Value(arith::ConstantOp::create(builder, location, builder.getBoolAttr(true))) : Value();
    Value started =
        MmaStartOp::create(builder, location, sum, c, a, b, clear, dot.precision(), dot.isUnsigned(), dot.isUnsigned());
    builder.setInsertionPoint(op);
    Value result = MmaWaitOp::create(builder, location, sum.getTile(), started);
    for (ShownFactor *each : {own, ownSecond})
      if (each)
        releaseBehind(*each);
    for (auto &[load, stream] : streams)
      if (stream.last == op && stream.isShared) {
        OpBuilder behind(op);
        if (Operation *held = holder(cast<tile::LoadOp>(load), op); held != op)
          behind.setInsertionPointAfter(held);
        ReleaseOp::create(behind, location, stream.slot);
      }
    if (addition) {
      addition->getResult(0).replaceAllUsesWith(result);
      addition->erase();
    }
    op.getResult().replaceAllUsesWith(isMasked ? Value(arith::AddFOp::create(builder, location, result, start)) : result);
    if (before)
      goOnIn(before, op, result.getDefiningOp()->getNextNode());
    op.erase();
    if (before)
      before.erase();
  }

  LoopKernel &found;
  std::vector<LoopRing> rings;
  const Counting &counting;
  const Schedule &schedule;
  OpBuilder builder;
  Location location;
  llvm::MapVector<Operation *, Stream> streams;                     // by load
  llvm::DenseMap<Operation *, Value> parked, maps;                  // by addition
  llvm::DenseMap<Operation *, Operation *> showingSecond;           // the product that shows the computed second factor
  std::map<std::pair<Operation *, bool>, ShownFactor> shownFactors; // by product, first and second
  std::map<Operation *, MappedTile> added;
  llvm::DenseMap<Value, Value> writtenTiles;
};
} // namespace

void pipelineLoop(const LoopKernel &found, const Schedule &schedule) {
  Counting counting(found);
  counting.write();
  std::string why;
  std::optional<LoopKernel> counted = findLoopKernel(found.kernel, why);
  if (!counted) { // a defect of ours: it is what it was, with counters; without rings the passes behind leave it alone
    tile::KernelOp kernel = found.kernel;
    kernel->setAttr("block.general", StringAttr::get(kernel.getContext(), "with counters of its rings, " + why));
    return;
  }
  Streams(*counted, counting, schedule).write();
  computeNearly(counted->kernel, counted->loops); // the tensor cores wait for what lanes compute between products
}

} // namespace tilery::block
