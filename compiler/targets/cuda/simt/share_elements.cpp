// How the threads of a block share the elements of tiles.
#include "compiler/ir/commutes.h"
#include "compiler/ir/hints.h"
#include "compiler/targets/cuda/simt/simt_plan.h"
#include "compiler/analysis/divisor.h"
#include "compiler/analysis/lane_groups.h"
#include "compiler/lower/emitter.h"
#include "compiler/lower/turned.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
using lower::Nest;
using lower::Sink;

constexpr uint64_t mostExchangeBytes = 8 << 10;
constexpr unsigned mostBlocks = 8;    // of a cluster that any device runs
constexpr int64_t mostHeld = 32;      // words of a thread, of what a scan combines
constexpr int64_t fewestElements = 4; // of a thread, where a program has no need of more threads

SmallVector<int64_t, 2> squeezed(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 2> sizes;
  for (int64_t size : shape)
    if (size != 1)
      sizes.push_back(size);
  return sizes;
}

class Decisions {
public:
  /// `crossing`: nests may lie along other dimensions than the last. `rowElements`: as for shareElements.
  Decisions(tile::KernelOp kernel, SimtPlan &block, bool crossing, int64_t rowElements)
      : kernel(kernel), block(block), crossing(crossing), rowElements(rowElements) {}
  /// False: the blocks that shared the program would need each other's memory.
  bool run() {
    forSteps([&](const lower::Step &step, bool) {
      if (auto scan = dyn_cast_if_present<tile::ScanOp>(step.op)) {
        largest = std::max(largest, ShapedType::getNumElements(tile::shapeOf(scan.getOperands()[0].getType())));
        reduces = true;
        inLoop |= bool(scan->getParentOfType<scf::ForOp>());
        rowsInLoop |= inLoop;
      }
      if (step.op)
        return;
      largest = std::max(largest, ShapedType::getNumElements(step.nest.shape));
      for (const Sink &sink : step.nest.sinks)
        if (sink.kind == Sink::Reduce) {
          reduces = true;
          if (!sink.op->getParentOfType<scf::ForOp>())
            continue;
          inLoop = true;
          ArrayRef<int64_t> behind = ArrayRef(step.nest.shape).drop_front(cast<tile::ReduceOp>(sink.op).getAxis() + 1);
          rowsInLoop |= llvm::all_of(behind, [](int64_t size) { return size == 1; });
        }
      noteTurned(step.nest);
    });
    chooseThreads();
    for (auto &[op, plan] : block.plan.products)
      if (const MmaPlan &product = block.product(op); product.wholeRows)
        block.maps.try_emplace({product.m, product.n}, mapProduct(product.warpRows, product.tilesM, product.tilesN));
    forSteps([&](const lower::Step &step, bool perThread) {
      if (!step.op && !perThread)
        mapNest(step.nest);
      if (auto scan = dyn_cast_if_present<tile::ScanOp>(step.op); scan && !perThread)
        mapScan(scan);
      isDealt &= step.op ? isScalar(step.op) : block.mapped.contains(&step.nest) && step.nest.sinks[0].kind != Sink::Update;
    });
    findRegisterTiles();
    return block.cluster == 1 || (isDealt && block.inRegisters.size() == block.plan.buffers.size());
  }

private:
  /// Every step with whether each thread runs it for itself.
  void forSteps(llvm::function_ref<void(const lower::Step &, bool perThread)> visit) {
    auto all = [&](const std::vector<lower::Step> &steps, Operation *parent) {
      bool perThread = lower::runsInThreads(parent);
      for (const lower::Step &step : steps)
        visit(step, perThread);
    };
    for (const auto &[home, steps] : block.plan.steps)
      all(steps, home->getParentOp());
    for (const auto &[home, steps] : block.plan.copies)
      all(steps, home->getParentOp());
    for (const auto &[op, steps] : block.plan.inits)
      all(steps, op->getParentOp());
  }

  /// Small elements that a nest takes across a stored tile: words of them are for as many vectors side by side. Where rows are shorter than
  /// a line, words of such vectors meet in shared memory's banks.
  void noteTurned(const Nest &nest) {
    constexpr int64_t line = 128, word = 4;
    auto isStored = [](Value) { return false; };
    lower::forTurnedLoads(nest, isStored, [&](tile::LoadOp load, unsigned) {
      Type element = lower::elementOf(load.getResult());
      int64_t bytes = lower::elementBytes(element);
      if (block.plan.isVirtual(load.getResult()) || element.isInteger(1) || tile::shapeOf(load.getType()).back() * bytes < line)
        return;
      unsigned &vectors = abreast[squeezed(nest.shape)];
      vectors = std::max<unsigned>(vectors, word / std::min(bytes, word));
    });
  }

  // Of all that a scan of several words an element combines, the largest one's.
  int64_t wordsOfScans() {
    int64_t words = 0;
    kernel.walk([&](tile::ScanOp scan) {
      if (int64_t all = wordsOf(scan); all > ShapedType::getNumElements(tile::shapeOf(scan.getOperands()[0].getType())))
        words = std::max(words, all);
    });
    return words;
  }

  // What products want, those of explicit threads, the user's num_warps, else some 16 elements of the largest tile a thread, 32 where
  // threads reduce what they have before they meet; more where a thread could not hold its share, fewer than num_warps where it would have
  // hardly one. A program with a loop over reductions is one of few, and each turn holds what the turns before have left, too. Where all
  // add up columns each thread has several rows: they meet element by element.
  void chooseThreads() {
    if (unsigned wanted = mmaThreads(kernel)) {
      block.threads = wanted;
      return;
    }
    int64_t explicitly = 0;
    kernel.walk([&](tile::ThreadsOp op) { explicitly = std::max<int64_t>(explicitly, op.getCount()); });
    if (explicitly) {
      block.threads = llvm::alignTo(std::min<int64_t>(explicitly, 1024), 32);
      return;
    }
    auto warps = tile::hint(kernel, "num_warps");
    int64_t largest = this->largest / shareProgram();
    int64_t wanted = std::clamp<int64_t>(largest / 16, 128, 512);
    for (auto &[sizes, vectors] : abreast)
      if (vectors == 4) // of 16 bytes each
        wanted = std::clamp<int64_t>(largest / 64, 128, 512);
    if (inLoop) {
      int64_t own = tilesOfLoops(1) > 2 ? 8 : 16;
      if (!rowsInLoop)
        own = tilesOfLoops(largest / 2) > 1 ? 16 : 32;
      wanted = std::max(std::clamp<int64_t>(largest / own, 128, 512), std::min<int64_t>(largest / 32, 1024));
    } else if (reduces) // after loops, if any: each turn waits for as many loads as registers hold beside the sums
      wanted = std::clamp<int64_t>(largest / (tilesOfLoops(largest / 2) ? 16 : 32), 32, 512);
    if (warps) {
      wanted = std::clamp<int64_t>(*warps, 1, 32) * 32;
      bool meets = reduces || kernel.walk([](tile::SortOp) { return WalkResult::interrupt(); }).wasInterrupted();
      if (!meets) // threads with nothing of their own, or little, keep others' blocks off the multiprocessor
        wanted = std::min(wanted, std::max<int64_t>(largest / fewestElements, 32));
    }
    int64_t least = std::min<int64_t>(std::max(largest / mostElements, wordsOfScans() / mostHeld), 1024);
    block.threads = llvm::PowerOf2Ceil(std::max(wanted, least));
  }

  /// The blocks that share a program, if they may: one that has a row until it knows what comes of all of it. A block's part leaves a
  /// multiprocessor room for a second block: one loads or stores while the other computes.
  unsigned shareProgram() {
    bool stores = false;
    kernel.walk([&](tile::StoreOp store) { stores |= isa<RankedTensorType>(store.getValue().getType()); });
    if (rowElements && reduces && stores && !inLoop && largest > rowElements * (waitsForMemory(kernel) ? 1 : 2))
      while (block.cluster < mostBlocks && largest > int64_t(block.cluster) * rowElements / 2)
        block.cluster *= 2;
    return block.cluster;
  }

  /// What every thread of a program computes, or does once, for itself.
  static bool isScalar(Operation *op) {
    auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
    auto load = dyn_cast<tile::LoadOp>(op);
    return op->getNumRegions() == 0 && (isMemoryEffectFree(op) || isa<tile::StoreOp>(op) || (load && !load.getIsVolatile())) &&
           llvm::none_of(op->getOperandTypes(), isTile) && llvm::none_of(op->getResultTypes(), isTile);
  }

  /// Tiles of at least so many elements that the turns of loops carry or load.
  int64_t tilesOfLoops(int64_t least) {
    int64_t count = 0;
    auto isTile = [&](Type type) {
      return isa<RankedTensorType>(type) && ShapedType::getNumElements(tile::shapeOf(type)) >= least;
    };
    kernel.walk([&](scf::ForOp loop) { count += llvm::count_if(loop.getResultTypes(), isTile); });
    kernel.walk([&](tile::LoadOp load) {
      auto inLoop = [](Operation *user) { return bool(user->getParentOfType<scf::ForOp>()); };
      count += isTile(load.getType()) && llvm::any_of(load->getUsers(), inLoop);
    });
    return count;
  }

  /// Neighbours along dimension `inner` of `sizes` that a thread should have: so many that all accesses of these extents take the fewest
  /// instructions and lines of memory, of which one that is not aligned for that many takes more. 0: no access of these extents.
  unsigned accessWidth(ArrayRef<int64_t> sizes, unsigned inner) {
    SmallVector<std::pair<unsigned, unsigned>>
        accesses; // neighbours that one moves: its alignment, at most 16 bytes; bytes of an element
    bool isAny = false;
    kernel.walk([&](Operation *op) {
      Value place;
      if (auto load = dyn_cast<tile::LoadOp>(op))
        place = load.getPlace();
      else if (auto store = dyn_cast<tile::StoreOp>(op))
        place = store.getPlace();
      auto type = place ? dyn_cast<tile::AccessType>(place.getType()) : tile::AccessType();
      if (!type || squeezed(type.getShape()) != sizes)
        return;
      isAny = true;
      if (unsigned width = neighbours(place.getDefiningOp<tile::AccessOp>(), type, sizes.size() - 1 - inner))
        accesses.emplace_back(width, lower::elementBytes(type.getElementType()));
    });
    unsigned best = isAny, least = UINT_MAX;
    for (unsigned width = 16; width; width /= 2) {
      bool isOfOne = llvm::any_of(accesses, [&](auto &access) { return access.first >= width; });
      unsigned cost = 0;
      for (auto [moved, bytes] : accesses)
        cost += costOf(width, moved, bytes);
      if (isOfOne && cost < least)
        best = width, least = cost;
    }
    return best;
  }

  /// Instructions and lines of 128 bytes for 16 elements of each of a warp's threads, which have `width` neighbours each and move `moved` of
  /// them at a time. Where that is 16 bytes, a line is whole after two of them, in the cache.
  static unsigned costOf(unsigned width, unsigned moved, unsigned bytes) {
    constexpr unsigned elements = 16, warp = 32, line = 128, most = 16;
    unsigned at = std::min(width, moved), apart = moved * bytes < most ? width : at;
    return elements / at * (1 + std::clamp(warp * apart * bytes / line, 1u, warp));
  }

  /// Along a dimension of more than one element behind which there are so many others; 0: they are no neighbours in memory.
  unsigned neighbours(tile::AccessOp access, tile::AccessType type, unsigned behind) {
    if (!access)
      return 0;
    unsigned bytes = lower::elementBytes(type.getElementType());
    int64_t divisor =
        std::min<int64_t>(16, std::min(analysis::divisorOf(access.getBase()), bytes * analysis::divisorOf(access.getOffset())));
    for (int64_t d = type.getRank(); d-- > 0;) {
      if (type.getShape()[d] == 1)
        continue;
      APInt step;
      bool isInner = behind-- == 0;
      if (isInner && (!access.isStrided(d) || !matchPattern(access.getSteps()[d], m_ConstantInt(&step)) || step != 1))
        return 0;
      if (!isInner) // rows that are gathered, too
        divisor = std::min(divisor, bytes * (access.isStrided(d) ? analysis::divisorOf(access.getSteps()[d])
                                                                 : analysis::laneGroups(access.getSteps()[d], 0, 1).divisor));
    }
    return std::max<int64_t>(1, divisor / bytes);
  }

  const ThreadMap *mapOf(const Nest &nest) {
    SmallVector<int64_t, 2> sizes = squeezed(nest.shape);
    if (!llvm::isPowerOf2_32(block.threads))
      return nullptr;
    unsigned inner = sizes.empty() ? 0 : squeezed(ArrayRef(nest.shape).take_front(lower::vectorDim(nest) + 1)).size() - 1;
    bool crosses = crossing && inner + 1 < sizes.size();
    if (!crosses) {
      inner = sizes.empty() ? 0 : sizes.size() - 1;
      if (auto found = block.maps.find(sizes); found != block.maps.end())
        return &found->second;
    } else if (auto found = block.crossMaps.find({sizes, inner}); found != block.crossMaps.end()) {
      return &found->second;
    }
    unsigned width = accessWidth(sizes, inner);
    if (!width)
      width = 4;
    int64_t elements = ShapedType::getNumElements(sizes);
    unsigned threads = block.threads * block.cluster;
    while (width > 1 && (sizes.empty() || sizes[inner] % width || elements / width < threads))
      width /= 2;
    std::optional<ThreadMap> map = mapThreads(sizes, threads, width, inner, abreastOf(sizes));
    if (!map)
      return nullptr;
    return crosses ? &block.crossMaps.emplace(std::pair(sizes, inner), *map).first->second
                   : &block.maps.emplace(sizes, *map).first->second;
  }

  unsigned abreastOf(ArrayRef<int64_t> sizes) {
    auto found = abreast.find(SmallVector<int64_t, 2>(sizes));
    return found == abreast.end() ? 1 : std::max(1u, found->second);
  }

  void mapNest(const Nest &nest) {
    const ThreadMap *map = mapOf(nest);
    if (!map)
      return;
    std::optional<ThreadMap::Rows> rows = map->rows();
    uint64_t bytes = 0;
    unsigned inner = nest.shape.size();
    while (inner && nest.shape[inner - 1] == 1)
      --inner;
    for (const Sink &sink : nest.sinks) {
      if (sink.kind != Sink::Reduce)
        continue;
      auto reduce = cast<tile::ReduceOp>(sink.op);
      if (reduce.getAxis() + 1 == inner) {
        if (!rows)
          return;
        bytes += sink.op->getNumOperands() * rows->count * 32 * 8 * block.cluster;
        continue;
      }
      std::optional<ThreadMap::Lines> lines = map->lines(nest.shape, reduce.getAxis());
      if (!lines || block.cluster > 1 || !(tile::commutes(reduce) || tile::picksOne(reduce)))
        return;
      bytes += bytesOf(*map, *lines, map->chunks / lines->chunks, reduce);
    }
    if (bytes > mostExchangeBytes)
      return;
    block.exchangeBytes = std::max(block.exchangeBytes, bytes);
    block.mapped[&nest] = map;
  }

  /// Shared memory for `count` values of each operand of a thread.
  static uint64_t bytesOf(const ThreadMap &map, const ThreadMap::Lines &lines, int64_t count, Operation *op) {
    uint64_t bytes = 0;
    for (Value operand : op->getOperands())
      bytes += map.bytesBetweenWarps(lines, count, lower::elementBytes(lower::elementOf(operand)));
    return llvm::alignTo(bytes, 256);
  }

  static int64_t wordsOf(tile::ScanOp scan) {
    int64_t words = 0;
    for (Value operand : scan.getOperands())
      words += llvm::divideCeil(lower::elementBytes(lower::elementOf(operand)), 4);
    return words * ShapedType::getNumElements(tile::shapeOf(scan.getOperands()[0].getType()));
  }

  // Each thread takes what all warps have of its lines. It holds its elements with those that follow from them, and of another scan's.
  void mapScan(tile::ScanOp scan) {
    constexpr int64_t mostTaken = 256; // elements
    ArrayRef<int64_t> shape = tile::shapeOf(scan.getOperands()[0].getType());
    const ThreadMap *map = mapOf({SmallVector<int64_t>(shape), {}});
    std::optional<ThreadMap::Lines> lines = map ? map->lines(shape, scan.getAxis()) : std::nullopt;
    if (!lines || block.cluster > 1 || map->chunks * lines->warps * (map->width / lines->lanes) > mostTaken)
      return;
    int64_t words = 0;
    for (Value operand : scan.getOperands())
      words += map->chunks * map->width * llvm::divideCeil(lower::elementBytes(lower::elementOf(operand)), 4);
    uint64_t bytes = bytesOf(*map, *lines, map->chunks, scan);
    if (words > mostHeld || bytes > mostExchangeBytes)
      return;
    block.exchangeBytes = std::max(block.exchangeBytes, bytes);
    block.scans[scan] = map;
  }

  /// The map by which threads have the elements of a product's first factor where its instructions want them; null if there is none.
  const ThreadMap *mapOfFactor(Operation *op, const MmaPlan &product) {
    if (!isa<tile::DotOp>(op) || (product.form.kind != MmaForm::F16 && product.form.kind != MmaForm::BF16) || product.k % 16)
      return nullptr;
    auto found = block.maps.find({product.m, product.k});
    return found != block.maps.end() && found->second.tilesM == product.tilesM ? &found->second : nullptr;
  }

  // A stored tile stays in registers if each thread computes and reads its own elements only. Tiles of one element are every thread's.
  void findRegisterTiles() {
    const lower::Plan &plan = block.plan;
    DenseMap<int, const ThreadMap *> maps;
    llvm::DenseSet<int> shared;
    for (auto [value, buffer] : plan.storage) {
      auto found = block.maps.find(squeezed(tile::shapeOf(value.getType())));
      if (found == block.maps.end())
        shared.insert(buffer);
      else
        maps[buffer] = &found->second;
    }
    // Nests along other dimensions have what they write where they want it; what a loop's turns hand on may be no value of its own.
    for (auto [nest, map] : block.mapped)
      for (const Sink &sink : nest->sinks)
        for (int buffer : sink.buffers)
          if ((map->crosses() && sink.kind != Sink::Reduce) || (sink.kind == Sink::Copy && !maps.contains(buffer)))
            maps[buffer] = map;
    auto isStored = [&](Value value) { return !plan.isVirtual(value); };
    auto isOne = [&](int buffer) { return plan.buffers[buffer].elements == 1; };
    auto reads = [&](const lower::Pull &pull, const ThreadMap *map) {
      for (const auto &[value, reach] : pull.tiles)
        if (auto stored = plan.storage.find(value); stored != plan.storage.end())
          if (!isOne(stored->second) && !(map && reach.ownElement && maps.lookup(stored->second) == map))
            shared.insert(stored->second);
    };
    forSteps([&](const lower::Step &step, bool) {
      if (step.op) {
        if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(step.op))
          return; // their tiles are copied by nests
        if (MmaPlan *product = lower::isProduct(step.op) ? &block.product(step.op) : nullptr; product && product->wholeRows) {
          // The accumulators' first values are in the result's buffer already.
          for (MmaOperand *operand : {&product->a, &product->b}) {
            const ThreadMap *map = operand->isA ? mapOfFactor(step.op, *product) : nullptr;
            lower::Pull own, any;
            own.add(operand->tile, isStored);
            operand->inRegisters =
                map && llvm::any_of(own.tiles, [&](auto &tile) {
                  auto stored = plan.storage.find(tile.first);
                  return stored != plan.storage.end() && tile.second.ownElement && maps.lookup(stored->second) == map;
                });
            any.add(operand->tile, isStored, false);
            reads(operand->inRegisters ? own : any, operand->inRegisters ? map : nullptr);
          }
          return;
        }
        if (const ThreadMap *map = block.scans.lookup(step.op)) {
          lower::Pull own;
          for (Value operand : step.op->getOperands())
            own.add(operand, isStored);
          reads(own, map);
          for (Value result : step.op->getResults())
            if (int buffer = plan.storage.lookup(result); maps.lookup(buffer) != map)
              shared.insert(buffer);
          return;
        }
        reads(lower::pullOf(step.op, isStored), nullptr);
        for (Value result : step.op->getResults())
          if (auto stored = plan.storage.find(result); stored != plan.storage.end())
            shared.insert(stored->second);
        return;
      }
      const ThreadMap *map = block.mapped.lookup(&step.nest);
      for (const Sink &sink : step.nest.sinks) {
        if (sink.kind != Sink::Copy || sink.value)
          reads(lower::pullOf(sink, isStored), map);
        else if (!map || maps.lookup(sink.source) != map)
          shared.insert(sink.source);
        for (int buffer : sink.buffers)
          if (!map || (sink.kind == Sink::Reduce ? !isOne(buffer) : !isOne(buffer) && maps.lookup(buffer) != map))
            shared.insert(buffer);
      }
    });
    for (auto [buffer, map] : maps)
      if (!shared.contains(buffer))
        block.inRegisters[buffer] = map;
  }

  tile::KernelOp kernel;
  SimtPlan &block;
  bool crossing;
  int64_t rowElements;
  std::map<SmallVector<int64_t, 2>, unsigned> abreast; // vectors, by extents
  bool isDealt = true;                                 // each tile's elements are some thread's own
  int64_t largest = 1;
  bool reduces = false, inLoop = false, rowsInLoop = false; // in turns of a loop; there along the last dimension
};
} // namespace

// Where tiles that cross from nest to nest do not fit shared memory, all lie along the last dimension.
void shareElements(tile::KernelOp kernel, SimtPlan &block, uint64_t tileBytes, int64_t rowElements) {
  SmallVector<uint64_t> bytes = llvm::map_to_vector(block.plan.buffers, [](const lower::ScratchBuffer &b) { return b.bytes; });
  struct {
    bool crossing, sharing;
  } tries[] = {{false, true}, {true, false}, {false, false}};
  for (auto [crossing, sharing] : ArrayRef(tries).drop_front(!rowElements)) {
    bool possible = Decisions(kernel, block, crossing, sharing ? rowElements : 0).run();
    if (possible && (!sharing || block.cluster > 1)) {
      for (auto [buffer, map] : block.inRegisters)
        block.plan.buffers[buffer].bytes = 0;
      uint64_t needed = 2 * block.exchangeBytes;
      lower::placeBuffers(block.plan, tileBytes > needed ? tileBytes - needed : 0);
      if (sharing || !block.plan.workspaceBytes || block.crossMaps.empty())
        return;
    }
    for (auto [buffer, all] : llvm::zip(block.plan.buffers, bytes))
      buffer.bytes = all;
    block.maps.clear();
    block.crossMaps.clear();
    block.mapped.clear();
    block.scans.clear();
    block.inRegisters.clear();
    block.exchangeBytes = 0;
    block.cluster = 1;
  }
}

} // namespace tilery::cuda
