// choose-schedule: writes `block.schedule` on kernels that the block level takes. Later passes only carry it out.
#include "compiler/analysis/search.h"
#include "compiler/block/passes/early_loads.h"
#include "compiler/block/recognise/explain.h"
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/recognise/kernel_work.h"
#include "compiler/block/price/live_words.h"
#include "compiler/block/passes/load_ahead.h"
#include "compiler/block/passes/near_exponentials.h"
#include "compiler/block/passes/kernel_pass.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/passes/result_boxes.h"
#include "compiler/block/price/schedule.h"
#include "tilery/diagnostic.h"
#include "tilery/environment.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;

namespace tilery::block {

/// It is computed from the number of the product's step.
static bool isOfStep(Value value, Operation *product) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return value.getParentBlock()->getParentOp() == product;
  return product->isProperAncestor(op) && llvm::any_of(op->getOperands(), [&](Value each) { return isOfStep(each, product); });
}

/// In each step numbers of the tile's elements say anew where it is loaded, and what takes time is to compute them (measured: a convolution's
/// windows).
static bool isPlacedAnew(Value tile, Operation *product) {
  auto isAnew = [&](Value operand) { return isa<RankedTensorType>(operand.getType()) && isOfStep(operand, product); };
  for (analysis::Search<Value> values(tile); Value value = values.next();) {
    Operation *op = value.getDefiningOp();
    if (!op || !isa<RankedTensorType>(value.getType()))
      continue;
    auto load = dyn_cast<tile::LoadOp>(op);
    auto place = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    if (load && (!place || llvm::any_of(place->getOperands(), isAnew)))
      return true;
    if (!load)
      values.addAll(op->getOperands());
  }
  return false;
}

/// Of a step; nothing where both factors are boxes.
static std::optional<FetchWork> fetchWork(const BoxProduct &product) {
  FetchWork work;
  if (product.unpacked)
    return std::nullopt;
  for (const std::optional<FetchedFactor> *factor : {&product.fetchedA, &product.fetchedB})
    if (*factor) {
      unsigned line = (*factor)->turned ? 1 - (*factor)->line : (*factor)->line;
      bool isCopied = copiedLine((*factor)->tile) == line;
      FetchShape shape = shapeOf((*factor)->tile, line);
      (isCopied ? work.copied : work.computed) += shape.cycles;
      work.turned |= shape.across > 4;
      work.work += workOf((*factor)->tile);
      auto type = cast<RankedTensorType>((*factor)->tile.getType());
      work.pieces += type.getNumElements() * tile::elementBytes(type.getElementType()) / (16 * 128);
      work.words += isCopied || isPlacedAnew((*factor)->tile, product.op) ? 0 : shape.words;
    }
  return product.fetches() ? std::optional(work) : std::nullopt;
}

namespace {
/// What is to be scheduled, and what the passes behind are told of ops once there is a schedule.
struct Task {
  ScheduleProblem problem;
  SmallVector<std::pair<Operation *, const char *>> marks{};

  void mark() const {
    for (auto [op, name] : marks)
      op->setAttr(name, UnitAttr::get(op->getContext()));
  }
};
} // namespace

static Task taskOf(const ProductKernel &found) {
  const BoxProduct &product = found.product;
  Task task{{product.m, product.n, product.k, product.elementBytes(), {}}};
  ScheduleProblem &problem = task.problem;
  problem.stagesHint = product.stagesHint();
  problem.partial = product.partialSums();
  problem.fetch = fetchWork(product);
  problem.readsFirst = product.inRegisters();
  if (product.unpacked) {
    problem.unpack = UnpackWork{product.unpacked->bytes(), workOf(product.fetchedA->tile)};
    for (tile::LoadOp load : product.unpacked->byThreads) {
      problem.unpack->aheadElements += differentElements(load);
      task.marks.emplace_back(load, "block.ahead");
    }
  }
  problem.generalByThreads = isa<Float8E4M3FNType, Float8E5M2Type>(product.element);
  // Nobody knows where fetched tiles lie; loops over tiles, and programs that wait for others, have an order of their own.
  if (problem.fetch || found.isNested() || found.spins || product.movesAcross())
    problem.reorder = false;
  std::string why;
  for (const LoadBehind &behind : loadsBehind(product.op, product.m, product.n))
    if (!found.showsStores || !llvm::is_contained(found.rereads, behind.load)) // the role meets in front of those
      problem.loads.push_back(behind.registers);
  SmallVector<BoxCondition> asked; // of launches
  if (!product.fetches())
    for (const Box *factor : {&product.a, &product.b})
      asked.append(factor->conditions);
  bool inOrder =
      found.synchronizes || (found.showsStores && !found.rereads.empty()); // the copy engine's stores come some time later
  llvm::SmallDenseSet<Type> staged;
  auto add = [&](Type element) {
    problem.outputs.push_back(element.getIntOrFloatBitWidth() / 8);
    if (!staged.insert(element).second)
      problem.taking.push_back(problem.outputs.back());
  };
  for (Operation *op : found.outputs()) {
    std::optional<StoredTile> stored = storedTile(op);
    std::optional<MappedTile> tile = stored && !inOrder ? mapStored(*stored, product, why) : std::nullopt;
    if (tile && tile->box.made)
      task.marks.emplace_back(op, "block.device_map");
    if (tile) {
      add(tile->element);
      asked.append(tile->box.conditions);
    } else {
      ++problem.fromRegisters;
    }
  }
  problem.deals = !found.isNested() && !found.synchronizes && !found.spins && !found.showsStores && !product.fetches() &&
                  product.steps() && !product.a.made && !product.b.made && !product.readA && problem.loads.empty();
  bool isAlone = !found.isNested() && !found.showsStores && !product.fetches();
  if (std::optional<ResultBox> box = isAlone ? findResultBox(product, asked) : std::nullopt) {
    problem.boxBytes = tile::elementBytes(box->tile.element);
    task.marks.emplace_back(box->load, "block.boxed");
  }
  return task;
}

/// Elements of the tiles that are computed, exponentials eight times: their unit gives 16 a cycle, others 128. With those of branches that
/// hold products.
static double lanesOf(Block &block, const LoopKernel &found) {
  double lanes = 0;
  for (Operation &op : block)
    if (llvm::is_contained(found.branches, &op))
      for (Region &region : op.getRegions())
        lanes += region.empty() ? 0 : lanesOf(region.front(), found);
    else if (op.getNumResults() == 1 && !isa<tile::DotOp, tile::LoadOp>(op))
      if (auto tile = dyn_cast<RankedTensorType>(op.getResult(0).getType()))
        lanes += double(tile.getNumElements()) * (isa<math::Exp2Op, math::ExpOp>(op) ? 8 : 1);
  return lanes;
}

/// The product goes on in another one's sums, which may have been scaled meanwhile.
static bool goesOn(tile::DotOp dot) {
  auto sumsBefore = [](Value acc, auto follow) -> tile::DotOp {
    Operation *op = acc.getDefiningOp();
    if (auto before = dyn_cast_or_null<tile::DotOp>(op))
      return before;
    return isa_and_nonnull<arith::MulFOp>(op) && op->hasOneUse() && op->getOperand(0).hasOneUse()
               ? follow(op->getOperand(0), follow)
               : tile::DotOp();
  };
  if (auto before = sumsBefore(dot.getAcc(), sumsBefore); before && before->getBlock() == dot->getBlock())
    return true;
  auto sum = dot->hasOneUse() ? dyn_cast<arith::AddFOp>(*dot->user_begin()) : arith::AddFOp();
  auto before = sum ? sum.getOperand(sum.getLhs() == dot.getResult()).getDefiningOp<tile::DotOp>() : tile::DotOp();
  return before && before->getBlock() == dot->getBlock() && before->isBeforeInBlock(dot) && startsFresh(dot);
}

/// Can the product add to what the loop carries? Its result may not be computed with before it is added.
static bool addsToCarried(tile::DotOp dot) {
  return !startsFresh(dot) || (dot->hasOneUse() && isa<arith::AddFOp>(*dot->user_begin()));
}

/// Words of the tiles that steps of the loop hand on beside its products' sums, in registers all the time.
static unsigned carriedWords(scf::ForOp loop, const LoopKernel &found) {
  unsigned words = 0, sums = 0;
  for (const BoxProduct &dot : found.dots)
    if (auto op = cast<tile::DotOp>(dot.op); loop->isAncestor(op) && !goesOn(op) && addsToCarried(op))
      sums += dot.m * dot.n;
  for (Value carried : loop.getRegionIterArgs())
    if (auto tile = dyn_cast<RankedTensorType>(carried.getType()); tile && tile.getRank() > 1)
      words += unsigned(tile.getNumElements()) * tile.getElementTypeBitWidth() / 32;
  return words - std::min(words, sums);
}

namespace {
/// What ops that combine lanes of several warps take besides.
struct Mixing {
  unsigned words = 0;      // of registers, of the one that takes most: their operands are there as a whole
  int64_t sharedBytes = 0; // through which warps show each other what they have
};
} // namespace

/// Whether dimensions were exchanged between a product and the tile that is computed of it; nothing: it comes of none.
static std::optional<bool> isTurned(Value tile) {
  SmallVector<std::pair<Value, bool>> values{{tile, false}};
  llvm::SmallDenseSet<Value> seen;
  while (!values.empty()) {
    auto [value, turned] = values.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !isa<RankedTensorType>(value.getType()) || !seen.insert(value).second)
      continue;
    if (isa<tile::DotOp>(op))
      return turned;
    bool turns = isa<tile::PermuteOp>(op);
    if (turns || OpTrait::hasElementwiseMappableTraits(op))
      for (Value operand : op->getOperands())
        values.emplace_back(operand, turned != turns);
  }
  return std::nullopt;
}

static Mixing mixingOf(tile::KernelOp kernel) {
  constexpr int64_t mostWarps = 12, rowsOfWarp = 16, copies = 64; // copies: of a sum of columns, in as many threads
  Mixing most;
  kernel.walk([&](Operation *op) {
    auto reduce = dyn_cast<tile::ReduceOp>(op);
    if (!reduce && !isa<tile::ScanOp>(op))
      return;
    auto tile = cast<RankedTensorType>(op->getOperand(0).getType());
    bool isAlong = reduce && int64_t(reduce.getAxis()) + 1 == tile.getRank() && tile.getRank() > 1;
    bool turns = reduce && reduce.getOperand(0).getDefiningOp<tile::PermuteOp>();
    if (isAlong && !(turns && isTurned(reduce.getOperand(0)).value_or(true))) // rows lie in single warps, mostly
      return;
    int64_t elements = tile.getNumElements(), bytes = tile::elementBytes(tile.getElementType());
    int64_t shown = reduce ? elements / tile.getDimSize(reduce.getAxis()) * mostWarps : elements / rowsOfWarp;
    most.sharedBytes = std::max(most.sharedBytes, int64_t(llvm::alignTo(shown * bytes, 1024)));
    int64_t held = reduce ? elements + elements / tile.getDimSize(reduce.getAxis()) * copies : 2 * elements;
    most.words = std::max(most.words, unsigned(held * llvm::divideCeil(bytes, 4)));
  });
  return most;
}

/// So few steps that what a program does before and behind them takes much of its time, or steps that look for their numbers (skip-steps), or
/// which may be left out.
static bool waitsForSteps(const LoopKernel &found) {
  constexpr int64_t few = 32;
  int64_t steps = 0;
  if (llvm::any_of(found.branches, [&](scf::IfOp branch) { return found.isInLoop(branch); }))
    return true;
  for (scf::ForOp loop : found.loops) {
    if (loop->getParentOp() != found.kernel)
      continue;
    if (loop->walk([](scf::WhileOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return true;
    auto count = loop.getStaticTripCount();
    steps += count ? count->getSExtValue() : few + 1;
  }
  return steps <= few;
}

namespace {
/// The products of one stretch of the code: words of registers that they take, operations.
struct Stretch {
  unsigned products = 0, sums = 0, shared = 0, factors = 0, largest = 0;
  unsigned behind = 0;  // of sums that come of factors in shared memory
  unsigned before = 0;  // of sums that such factors come of, and nothing else
  unsigned carried = 0; // of what the loop carries beside sums
  unsigned kept = 0;    // of first factors that are made in front of the loop: its steps have copies of them (copyRegisters)
  unsigned dealt = 0;   // of a second factor that all threads write before the stretch multiplies
  unsigned undealt = 0; // the largest factors but for it
  double operations = 0, repeated = 0;

  unsigned words(unsigned ofFactors) const { return sums + std::max(before, behind) + ofFactors; }
};

/// What there is to schedule in a kernel of several products.
class LoopTask {
public:
  explicit LoopTask(const LoopKernel &found) : found(found) {}

  Task write() {
    work.once = found.loops.empty();
    work.nested = found.isNested();
    work.waits = !work.once && waitsForSteps(found);
    std::map<unsigned, Stretch> stretches;
    for (const BoxProduct &dot : found.dots)
      addProduct(dot, stretches[found.stretchOf(dot.op)]);
    for (auto &[number, stretch] : stretches)
      takeMost(stretch);
    if (work.once)
      addStraight();
    addMixing();
    addRings();
    addLanes();
    addHeld();
    addParkings();
    for (tile::LoadOp load : loadsOfFactors(found)) {
      work.aheadWords += wordsOf(load, llvm::any_of(found.dots, [](const BoxProduct &dot) { return !dot.loadedB; }));
      task.marks.emplace_back(load, "block.ahead");
    }
    SmallVector<Operation *> outputs = addStores();
    problem.loop = work;
    problem.reorder = false;
    for (Operation *output : outputs)
      addResult(output);
    return std::move(task);
  }

private:
  void addProduct(const BoxProduct &dot, Stretch &stretch) {
    constexpr unsigned mostColumns = 256; // of one product of a warpgroup
    auto op = cast<tile::DotOp>(dot.op);
    bool isShown = found.isShown(dot), isFresh = startsFresh(op);
    unsigned each = dot.elementBytes() == 4 ? 2 : 1; // of 32 bits: with what they are computed from
    unsigned factor = dot.loadedA || dot.writtenA || isShown ? 0 : each * dot.m * dot.k * dot.elementBytes() / 4;
    ++stretch.products;
    unsigned sums = goesOn(op) ? 0 : dot.m * dot.n;
    // (Of products of as many rows as others, too, this would leave too few registers: the delta rule spills.)
    bool comesOfShown = isShown || (dot.m > problem.m && !dot.loadedB && comesOfProduct(computedFactor(dot, true)));
    (comesOfShown && isFresh ? stretch.behind : isFresh && factor == 0 ? stretch.before : stretch.sums) += sums;
    unsigned second =
        dot.loadedB || found.showsSecond(dot) != dot.op ? 0 : each * dot.n * dot.k * dot.elementBytes() / 4; // on its way
    if (stretch.products == 1)
      stretch.dealt = second;
    stretch.undealt = std::max(stretch.undealt, factor + (stretch.products == 1 ? 0 : second));
    stretch.factors += factor;
    stretch.largest = std::max(stretch.largest, factor + second);
    scf::ForOp inner; // the loops around are before it
    for (scf::ForOp loop : found.loops)
      inner = loop->isAncestor(dot.op) ? loop : inner;
    if (inner)
      stretch.carried = carriedWords(inner, found);
    if (inner && !inner->isAncestor(op.getA().getParentBlock()->getParentOp()))
      stretch.kept += factor;
    double operations = work.once || found.isInLoop(dot.op) ? 2. * dot.m * dot.n * dot.k : 0;
    stretch.operations += operations;
    bool isWhole = isNeededWhole(dot.op->getResult(0));
    stretch.shared += isWhole ? 0 : sums;
    stretch.repeated += isWhole ? operations : 0;
    if (dot.m != problem.m)
      work.others.push_back({dot.m, dot.n, dot.columnUnit()});
    work.showsFirst |= isShown;
    work.addsToShown |= isShown && !isFresh;
    work.waits |= !work.once && !found.isInLoop(dot.op);
    work.wide |= dot.n > mostColumns;
    canShare &= isWhole || consumersAcross({dot.m, dot.n, dot.columnUnit()}, 2);
  }

  void takeMost(Stretch &stretch) {
    stretch.sums += stretch.carried;
    work.products = std::max(work.products, stretch.operations > 0 ? stretch.products : 0);
    work.words = std::max(work.words, stretch.words(stretch.factors));
    bool isCopied = stretch.kept && stretch.kept < stretch.factors; // beside others
    work.fewerWords = std::max(work.fewerWords, stretch.words(stretch.largest) + (isCopied ? stretch.kept : 0));
    work.acrossWords = std::max(work.acrossWords, stretch.words(stretch.undealt));
    if (stretch.dealt)
      work.dealtWords = std::max(work.dealtWords, stretch.dealt), work.besideDealt = std::max(work.besideDealt, stretch.sums);
    work.allWords = std::max(work.allWords, stretch.sums + stretch.before + stretch.behind + stretch.largest);
    work.sharedWords = canShare ? std::max(work.sharedWords, stretch.shared) : 0;
    work.operations = std::max(work.operations, stretch.operations);
    work.repeated = std::max(work.repeated, stretch.repeated);
  }

  /// One product after the other, without a loop.
  void addStraight() {
    Block &body = tile::KernelOp(found.kernel).getBody().front();
    auto takesRegisters = [&](tile::DotOp op) {
      auto dot = llvm::find_if(found.dots, [&](const BoxProduct &each) { return each.op == op; });
      return !dot->loadedA && !dot->writtenA && !found.isShown(*dot);
    };
    if (found.branches.empty()) // else stretch by stretch
      work.words = work.fewerWords = mostLiveWords(body, takesRegisters);
    for (const BoxProduct &dot : found.dots) {
      bool takes = takesRegisters(cast<tile::DotOp>(dot.op));
      work.productWords = std::max(work.productWords, dot.m * dot.n + (takes ? dot.m * dot.k * dot.elementBytes() / 4 : 0));
    }
    work.lanes = lanesOf(body, found);
  }

  void addMixing() {
    Mixing mixing = mixingOf(found.kernel);
    for (unsigned *words : {&work.words, &work.fewerWords, &work.acrossWords, &work.allWords})
      *words += mixing.words;
    work.heldBytes += mixing.sharedBytes;
  }

  /// Shared memory of what is loaded, and of first factors that the threads which multiply load.
  void addRings() {
    FetchWork fetch;
    for (const LoopRing &ring : found.rings()) {
      (ring.held ? work.heldBytes : work.slotBytes) += llvm::alignTo(ring.bytes(), 1024);
      fetch.copied += ring.fetched ? shapeOf(tile::LoadOp(ring.loads[0]).getResult()).cycles : 0;
    }
    llvm::DenseMap<Value, int64_t> written;
    for (const BoxProduct &dot : found.dots)
      if (dot.writtenA)
        written[cast<tile::DotOp>(dot.op).getA()] = llvm::alignTo(int64_t(dot.m) * dot.k * dot.elementBytes(), 1024);
    for (auto [tile, bytes] : written)
      work.heldBytes += bytes;
    if (fetch.copied > 0)
      problem.fetch = fetch;
  }

  /// What steps compute between products.
  void addLanes() {
    for (scf::ForOp loop : found.loops) {
      work.lanes = std::max(work.lanes, lanesOf(*loop.getBody(), found));
      work.loads |= llvm::any_of(loop.getBody()->getOps<tile::LoadOp>(), [&](tile::LoadOp load) { return isOfThreads(load); });
      work.masked |= llvm::any_of(loop.getBody()->getOps<arith::SelectOp>(),
                                  [](arith::SelectOp select) { return isa<RankedTensorType>(select.getType()); });
      work.functions |= llvm::any_of(*loop.getBody(), [](Operation &op) {
        bool isFunction =
            isa<arith::DivFOp>(op) || (isa<math::MathDialect>(op.getDialect()) && !isa<math::Exp2Op, math::FmaOp>(op));
        auto exponential = dyn_cast<math::ExpOp>(op);
        return isFunction && isa<RankedTensorType>(op.getResult(0).getType()) && !(exponential && isOfSoftmax(exponential));
      });
    }
  }

  /// A tile that no copy brings ahead of its step.
  bool isOfThreads(tile::LoadOp load) const {
    auto brings = [&](const LoopRing &ring) { return llvm::is_contained(ring.loads, load); };
    return isa<RankedTensorType>(load.getType()) && llvm::none_of(found.rings(), brings);
  }

  /// First factors that stay for all steps.
  void addHeld() {
    llvm::DenseSet<Operation *> held;
    for (const LoopRing &ring : found.rings())
      if (ring.held)
        held.insert(ring.loads[0]);
    for (const BoxProduct &dot : found.dots)
      if (auto load = loadOf(cast<tile::DotOp>(dot.op).getA()); dot.loadedA && !dot.fetchedA && held.erase(load))
        work.heldWords += dot.m * dot.k * dot.elementBytes() / 4;
  }

  void addParkings() {
    for (const StagingBuffer &staging : found.stagingBuffers())
      (isa<tile::DotOp>(staging.users[0]) ? work.shownBytes : work.heldBytes) += llvm::alignTo(staging.type.getBytes(), 1024);
  }

  /// What leaves the kernel behind its loops, in the order in which it is staged.
  SmallVector<Operation *> addStores() {
    auto isInLoop = [&](Operation *op) { return found.isInLoop(op); };
    work.stores = llvm::any_of(found.stores, isInLoop) || llvm::any_of(found.updates, isInLoop);
    llvm::SmallPtrSet<Operation *, 8> leaving(found.stores.begin(), found.stores.end());
    for (tile::AtomicRmwOp update : found.updates)
      isInLoop(update) ? void(++problem.fromRegisters) : void(leaving.insert(update));
    SmallVector<Operation *> outputs;
    tile::KernelOp(found.kernel).walk([&](Operation *op) {
      if (leaving.contains(op))
        outputs.push_back(op);
    });
    return outputs;
  }

  void addResult(Operation *output) {
    std::string why;
    std::optional<StoredTile> stored = storedTile(output);
    auto sums = stored ? storedSums(*stored, found.results()) : std::nullopt;
    bool isShared = sums && sums->first == found.rows() && !found.inOrder; // by all consumers
    std::optional<MappedTile> tile = isShared ? mapStored(*stored, sums->first, sums->second, why) : std::nullopt;
    if (tile && (problem.outputs.empty() || problem.n == sums->second)) {
      problem.n = sums->second;
      problem.outputs.push_back(tile->element.getIntOrFloatBitWidth() / 8);
    } else {
      ++problem.fromRegisters;
    }
  }

  const LoopKernel &found;
  const BoxProduct &first = found.dots[0];
  Task task{{found.rows(), first.n, first.k, first.elementBytes(), {}}};
  ScheduleProblem &problem = task.problem;
  LoopWork work;
  bool canShare = true; // columns
};
} // namespace

static Task taskOf(const LoopKernel &found) { return LoopTask(found).write(); }

/// The dimension of the first factor's tensor along which the steps go, the innermost is 0, and how many elements of it a slot has:
/// nothing if blocks of a cluster cannot share them: lines that are loaded and stored belong to several of them.
static std::optional<std::array<int64_t, 2>> stepsOf(const FoundKernel &found, ScheduleProblem problem,
                                                     const Schedule &schedule) {
  auto *kernel = std::get_if<ProductKernel>(&found);
  problem.cluster = 2;
  problem.outputs.clear();
  problem.taking.clear();
  auto isOfSeveral = [&](tile::LoadOp load) { return isOfSeveralThreads(load, {{kernel->product.m, kernel->product.n}}); };
  if (!kernel || kernel->isNested() || kernel->synchronizes || !kernel->sums.empty() ||
      llvm::any_of(kernel->rereads, isOfSeveral) || !kernel->product.steps() || kernel->product.steppedA ||
      kernel->product.steppedB || kernel->product.fetches() || kernel->product.a.made || kernel->product.b.made ||
      priceSchedules(problem).empty())
    return std::nullopt;
  ArrayRef<BoxDimension> dimensions = kernel->product.a.dimensions;
  auto along = llvm::find_if(dimensions, [](const BoxDimension &dimension) { return dimension.tile == 1; });
  return std::array<int64_t, 2>{along - dimensions.begin(), schedule.k};
}

namespace {
void say(tile::KernelOp kernel, const std::string &text) { block::explain(kernel, text); }

/// Why the general path is cheaper, unless somebody asked for a schedule; empty: it is not.
std::string cheaperElsewhere(const ScheduleProblem &problem, const Schedule &schedule) {
  double here = cyclesOfStep(problem, schedule), general = generalCycles(problem);
  if (!problem.gpu.warpgroups || !problem.fetch || problem.loop || here <= general ||
      !environmentText("TILERY_SCHEDULE").value_or("").empty())
    return "";
  return "fetching its operands would take " + std::to_string(int64_t(here)) + " cycles a step where the general path takes " +
         std::to_string(int64_t(general));
}
} // namespace

void runChooseSchedule(KernelPass &pass) {
  tile::KernelOp kernel = pass.getOperation();
  pass.markAllAnalysesPreserved();
  const auto &[why, found] = pass.getAnalysis<KernelAnalysis>();
  if (!found)
    return why.empty() ? void() : say(kernel, "no blocks, for " + why);
  Task task = std::visit([](auto &kernel) { return taskOf(kernel); }, *found);
  ScheduleProblem &problem = task.problem;
  problem.gpu = Gpu::of(kernel);
  problem.inTurn = kernel->hasAttr("block.in_turn");
  if (auto cluster = kernel->getAttrOfType<IntegerAttr>("block.split_k");
      cluster && !problem.loop && !problem.fetch && !problem.unpack)
    problem.cluster = unsigned(cluster.getInt());
  try {
    std::optional<Schedule> schedule = chooseSchedule(problem);
    say(kernel, schedule ? explain(problem, *schedule) : "no blocks, for no schedule fits shared memory and registers");
    if (!schedule || schedule->general)
      return;
    if (std::string reason = cheaperElsewhere(problem, *schedule); !reason.empty()) {
      kernel->setAttr("block.general", StringAttr::get(kernel.getContext(), reason));
      return say(kernel, "no blocks, for " + reason);
    }
    task.mark();
    kernel->setAttr("block.schedule", schedule->attribute(kernel.getContext()));
    if (auto steps = stepsOf(*found, problem, *schedule); steps && !schedule->cluster)
      kernel->setAttr("block.steps", DenseI64ArrayAttr::get(kernel.getContext(), *steps));
  } catch (const tilery::Error &error) {
    kernel.emitError() << error.diagnostic().message << (error.diagnostic().hint.empty() ? "" : ": " + error.diagnostic().hint);
    pass.signalPassFailure();
  }
}

} // namespace tilery::block
