#include "compiler/block/recognise/find_kernel.h"
#include "compiler/analysis/search.h"
#include "compiler/block/ir/gpu.h"
#include "compiler/analysis/divisor.h"
#include "compiler/block/recognise/around_product.h"
#include "compiler/block/recognise/kernel_work.h"
#include "compiler/ir/zero.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;

namespace tilery::block {
namespace {

/// A branch that some steps take to store; its stores join `stores`.
bool isStoringBranch(Operation *op, SmallVectorImpl<tile::StoreOp> &stores) {
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch || branch.getNumResults())
    return false;
  SmallVector<tile::StoreOp> inside;
  auto look = [&](Operation *each) {
    auto store = dyn_cast<tile::StoreOp>(each);
    if (store && !store.getIsVolatile())
      inside.push_back(store);
    bool isWork = isMemoryEffectFree(each) && !each->getNumRegions() && followsSums(each, false);
    return each == op || store || isWork ? WalkResult::advance() : WalkResult::interrupt();
  };
  if (op->walk(look).wasInterrupted() || inside.empty())
    return false;
  stores.append(inside);
  return true;
}

/// An update of memory that nobody waits for: the kernel's `additions` first has all of them. What stands in the way of others.
const char *otherUpdate(LoopKernel &found, tile::AtomicRmwOp update) {
  if (!isa<RankedTensorType>(update.getValue().getType()) || !update.getResult().use_empty())
    return "it takes what an atomic update gives";
  found.inOrder |= update.getOrder() != tile::MemoryOrder::relaxed;
  found.additions.push_back(update);
  return nullptr;
}

const char *otherWork(LoopKernel &found, Block &block, SmallVectorImpl<tile::LoadOp> &loads);

/// What a loop or a branch of the kernel does besides loading factors, multiplying and computing; its other loads join `loads`.
const char *otherWork(LoopKernel &found, Operation *nest, SmallVectorImpl<tile::LoadOp> &loads) {
  for (Region &region : nest->getRegions())
    if (!region.empty())
      if (const char *reason = otherWork(found, region.front(), loads))
        return reason;
  bool loop = isa<scf::ForOp>(nest);
  bool stores = llvm::any_of(found.stores, [&](tile::StoreOp store) { return nest->isAncestor(store); });
  if (loop && stores && mayReread(nest, placesOf(found.stores)))
    return "it loads what it may have stored";
  found.loadsBehindStores |= loop && stores; // a step's loads come behind what the last one has stored
  return loop && !found.additions.empty() && !found.stores.empty() ? "it adds to memory behind its stores" : nullptr;
}

const char *otherWork(LoopKernel &found, Block &block, SmallVectorImpl<tile::LoadOp> &loads) {
  for (Operation &op : block)
    if (found.isNest(&op)) {
      if (const char *reason = otherWork(found, &op, loads))
        return reason;
    } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (!isFactor(load))
        loads.push_back(load);
    } else if (auto update = dyn_cast<tile::AtomicRmwOp>(op)) {
      if (const char *reason = otherUpdate(found, update))
        return reason;
    } else if (isOfNumbers(&op, loads)) {
      continue;
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      if (store.getIsVolatile())
        return "its store is volatile";
      found.stores.push_back(store);
    } else if (isStoringBranch(&op, found.stores) || isBranchOnSums(&op, loads)) {
      continue;
    } else if (!isMemoryEffectFree(&op)) {
      return "its loop does more than load and compute";
    } else if (op.getNumRegions() && !isa<tile::ReduceOp, tile::ScanOp>(op)) {
      return "it has control flow in its loop";
    } else if (!isa<tile::DotOp>(op) && !followsSums(&op, true)) {
      return "its work between products is neither elementwise nor along lines";
    }
  return nullptr;
}

/// What the loops add to memory by boxes, which other blocks may do, too, is nothing that the kernel loads or stores.
const char *otherAdditions(LoopKernel &found) {
  if (found.additions.empty())
    return nullptr;
  bool isElsewhere = mayReread(found.kernel, placesOf(found.additions));
  for (tile::AtomicRmwOp addition : found.additions) {
    Value root = rootOf(addition.getPlace());
    auto meets = [&](tile::StoreOp store) { return !rootOf(store.getPlace()) || rootOf(store.getPlace()) == root; };
    isElsewhere |= !root || llvm::any_of(found.stores, meets);
  }
  found.loadsBehindStores = true; // a step's loads come behind what the last one has added
  return isElsewhere ? "it loads or stores what it adds to" : nullptr;
}

/// What a kernel with loops does besides, whose stores it finds.
const char *otherWork(LoopKernel &found) {
  SmallVector<tile::LoadOp> loads;
  for (Operation &op : found.kernel.getBody().front()) {
    bool isNest = found.isNest(&op),
         findsNumbers = !isNest && isOfNumbers(&op, loads); // say, a search for the program's sequence
    if (!found.stores.empty() && (isNest || findsNumbers || isa<tile::LoadOp>(op))) {
      if (mayReread(&op, placesOf(found.stores)))
        return "it loads what it may have stored";
      found.loadsBehindStores = true;
    }
    if (findsNumbers)
      continue;
    if (isNest) {
      if (const char *reason = otherWork(found, &op, loads))
        return reason;
    } else if (auto update = dyn_cast<tile::AtomicRmwOp>(op)) {
      if (const char *reason = otherUpdate(found, update))
        return reason;
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      if (store.getIsVolatile())
        return "its store is volatile";
      found.stores.push_back(store);
    } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (!isFactor(load))
        loads.push_back(load);
    } else if (isStoringBranch(&op, found.stores) || isBranchOnSums(&op, loads)) {
      continue;
    } else if (!isa<tile::ReturnOp, ReturnIfOp>(op) && !isMemoryEffectFree(&op)) {
      return "it has effects besides its loads and its stores";
    } else if (!isa<tile::DotOp>(op) && !followsSums(&op, true)) {
      return "its work on the result is neither elementwise nor along lines";
    }
  }
  if (found.stores.empty() && found.additions.empty())
    return "it stores nothing";
  if (const char *reason = otherAdditions(found))
    return reason;
  return anyClash(loads, placesOf(found.stores));
}

/// The tensor and how boxes of it lie in shared memory; where they begin does not count.
bool haveOneTensor(const MappedTile &x, const MappedTile &y) {
  auto same = [](const BoxDimension &a, const BoxDimension &b) {
    return a.stride == b.stride && a.extent == b.extent && a.tile == b.tile;
  };
  return x.box.base == y.box.base && x.box.offset == y.box.offset && x.element == y.element && x.extents == y.extents &&
         x.swizzle == y.swizzle && x.order == y.order && x.shape == y.shape &&
         llvm::equal(x.box.dimensions, y.box.dimensions, same);
}
} // namespace

static std::optional<std::pair<unsigned, unsigned>> sumsIn(Type stored, ArrayRef<std::pair<unsigned, unsigned>> results) {
  if (auto tile = dyn_cast<RankedTensorType>(stored))
    for (auto [m, n] : results)
      if (!sameButOnes(tile.getShape(), {m, n}).empty())
        return std::pair(m, n);
  return std::nullopt;
}

/// What is added, with the shape that the product gave it.
static RankedTensorType tileOfSums(tile::AtomicRmwOp addition, ArrayRef<std::pair<unsigned, unsigned>> results) {
  Type value = addition.getValue().getType();
  auto [m, n] = *sumsIn(value, results);
  return RankedTensorType::get({m, n}, getElementTypeOrSelf(value));
}

/// The line, or the tile (`wide`), that a loop loads, if the copy engine can bring it.
static std::optional<LoadedLine> lineOf(tile::LoadOp load, bool wide) {
  auto tile = dyn_cast<RankedTensorType>(load.getType());
  auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
  if (!tile || !(tile.getRank() == 1 || (wide && tile.getRank() == 2 && !llvm::is_contained(tile.getShape(), 1))) || !access ||
      load.getIsVolatile() || (load.getOther() && !tile::isPlusZero(load.getOther())))
    return std::nullopt;
  std::string why;
  std::optional<MappedTile> mapped = mapTile(access, why);
  bool whole = mapped && (tile.getRank() == 2 || mapped->extents.back() == tile.getDimSize(0));
  return whole ? std::optional(LoadedLine{load, *mapped}) : std::nullopt;
}

/// What first factors are computed from where they hang on no product of their step: nothing goes on while it is on its way.
static llvm::DenseSet<Operation *> loadsInFront(ArrayRef<BoxProduct> dots) {
  llvm::DenseSet<Operation *> loads;
  for (const BoxProduct &dot : dots) {
    if (dot.loadedA || dot.writtenA)
      continue;
    analysis::Search<Operation *> ops;
    auto add = [&](Value value) {
      if (Operation *op = value.getDefiningOp();
          op && isa<RankedTensorType>(value.getType()) && op->getBlock() == dot.op->getBlock())
        ops.add(op);
    };
    add(cast<tile::DotOp>(dot.op).getA());
    while (Operation *op = ops.next())
      if (!isa<tile::LoadOp>(op))
        llvm::for_each(op->getOperands(), add);
    if (llvm::none_of(ops.all(), [](Operation *op) { return isa<tile::DotOp>(op) || op->getNumRegions(); }))
      loads.insert_range(llvm::make_filter_range(ops.all(), [](Operation *op) { return isa<tile::LoadOp>(op); }));
  }
  return loads;
}

/// What tells the role that fetches where to find factors.
static llvm::DenseSet<Operation *> opsOfPlaces(ArrayRef<BoxProduct> dots) {
  llvm::DenseSet<Operation *> ops;
  SmallVector<Value> values;
  for (const BoxProduct &dot : dots)
    for (const std::optional<FetchedFactor> *factor : {&dot.fetchedA, &dot.fetchedB})
      if (*factor)
        values.push_back((*factor)->tile.getDefiningOp<tile::LoadOp>().getPlace());
  while (!values.empty())
    if (Operation *op = values.pop_back_val().getDefiningOp(); op && ops.insert(op).second)
      values.append(op->operand_begin(), op->operand_end());
  return ops;
}

bool LoopKernel::isNest(Operation *op) const { return llvm::is_contained(loops, op) || llvm::is_contained(branches, op); }

bool LoopKernel::isNested() const {
  auto isInside = [&](scf::ForOp loop) { return loop->getParentOp() != kernel; };
  return !branches.empty() || llvm::any_of(loops, isInside);
}

bool LoopKernel::isInLoop(Operation *op) const {
  return llvm::any_of(loops, [&](scf::ForOp loop) { return loop->isProperAncestor(op); });
}

unsigned LoopKernel::stretchOf(Operation *op) const {
  unsigned number = 0;
  auto reaches = [&](auto &self, Block &block) -> bool { // counts stretches up to the op
    for (Operation &each : block) {
      if (&each == op || (each.isProperAncestor(op) && !isNest(&each)))
        return true;
      if (!isNest(&each))
        continue;
      for (Region &region : each.getRegions()) {
        ++number;
        if (!region.empty() && self(self, region.front()))
          return true;
      }
      ++number;
    }
    return false;
  };
  reaches(reaches, tile::KernelOp(kernel).getBody().front());
  return number;
}

MappedTile factorTile(const BoxProduct &product, bool second) {
  SmallVector<int64_t, 2> shape =
      second ? SmallVector<int64_t, 2>{product.k, product.n} : SmallVector<int64_t, 2>{product.m, product.k};
  return *coverBox(second ? product.b : product.a, shape, product.element);
}

std::optional<FetchedTile> fetchedTile(const BoxProduct &product, bool second) {
  const std::optional<FetchedFactor> &factor = second ? product.fetchedB : product.fetchedA;
  if (!factor)
    return std::nullopt;
  int64_t shape[] = {second ? product.k : product.m, second ? product.n : product.k};
  return FetchedTile{{shape[1 - factor->line], shape[factor->line]}, product.element};
}

int64_t LoopRing::bytes() const {
  ArrayRef<int64_t> shape = fetched ? ArrayRef<int64_t>(fetched->shape) : ArrayRef<int64_t>(this->tile.shape);
  return ShapedType::getNumElements(shape) * tile::elementBytes(fetched ? fetched->element : this->tile.element);
}

/// They stand on two sides of a branch: what is counted through both is followed by nobody (order-programs).
static bool areOnTwoSides(Operation *a, Operation *b) {
  for (auto branch = a->getParentOfType<scf::IfOp>(); branch; branch = branch->getParentOfType<scf::IfOp>())
    if (branch->isProperAncestor(b))
      return branch.getThenRegion().isAncestor(a->getParentRegion()) != branch.getThenRegion().isAncestor(b->getParentRegion());
  return false;
}

std::vector<LoopRing> LoopKernel::rings() const {
  llvm::MapVector<Operation *, std::pair<LoopRing, std::set<unsigned>>> tiles; // with the stretches that multiply them
  for (const BoxProduct &dot : dots) {
    auto op = cast<tile::DotOp>(dot.op);
    for (bool second : {false, true})
      if (second ? dot.loadedB : dot.loadedA) {
        Operation *load = loadOf(second ? op.getB() : op.getA());
        std::optional<FetchedTile> fetched = fetchedTile(dot, second);
        if (!tiles.contains(load))
          tiles.insert({load, {{fetched ? MappedTile() : factorTile(dot, second), fetched, {}}, {}}});
        tiles.find(load)->second.second.insert(stretchOf(op));
      }
  }
  std::vector<LoopRing> rings;
  auto add = [&](tile::LoadOp load, const LoopRing &made, bool held, bool isRead) {
    unsigned own = stretchOf(load);
    auto takes = [&](const LoopRing &ring) {
      bool same = ring.fetched ? ring.fetched == made.fetched : !made.fetched && haveOneTensor(ring.tile, made.tile);
      return !held && !ring.held && isRead == ring.isRead && same &&
             llvm::none_of(ring.loads, [&](tile::LoadOp other) { return stretchOf(other) == own || areOnTwoSides(load, other); });
    };
    if (auto ring = llvm::find_if(rings, takes); ring != rings.end())
      ring->loads.push_back(load);
    else
      rings.push_back({made.tile, made.fetched, {load}, held, isRead});
  };
  for (auto &[op, entry] : tiles) {
    auto &[made, stretches] = entry;
    add(cast<tile::LoadOp>(op), made, stretches.size() > 1 || !stretches.contains(stretchOf(op)), false);
  }
  for (const LoadedLine &line : lines)
    add(line.load, {line.tile, {}, {}}, false, true);
  for (LoopRing &ring : rings)
    ring.held |= ring.loads.size() == 1 && !isInLoop(ring.loads[0]);
  return rings;
}

unsigned LoopKernel::rows() const {
  unsigned rows = 0;
  for (const BoxProduct &dot : dots)
    if (llvm::all_of(dots, [&](const BoxProduct &other) { return other.m >= dot.m || dot.m % other.m == 0; }))
      rows = std::max(rows, dot.m);
  return rows;
}

Operation *LoopKernel::showsSecond(const BoxProduct &dot) const {
  for (const BoxProduct &other : dots)
    if (other.op == dot.op || (!other.loadedB && other.op->getBlock() == dot.op->getBlock() &&
                               computedFactor(other, true) == computedFactor(dot, true)))
      return other.op;
  llvm_unreachable("the product is one of the kernel's");
}

std::vector<StagingBuffer> LoopKernel::stagingBuffers() const {
  std::vector<StagingBuffer> stagingBuffers;
  auto add = [&](Operation *user, Type tile, bool second = false) {
    auto type = SharedType::get(user->getContext(), tile::shapeOf(tile), getElementTypeOrSelf(tile), {});
    auto fits = [&](const StagingBuffer &staging) {
      return staging.type == type && staging.second == second && staging.users[0]->getName() == user->getName() &&
             llvm::none_of(staging.users,
                           [&](Operation *other) { return stretchOf(other) == stretchOf(user) || areOnTwoSides(user, other); });
    };
    if (auto same = llvm::find_if(stagingBuffers, fits); same != stagingBuffers.end())
      same->users.push_back(user);
    else
      stagingBuffers.push_back({type, {user}, second});
  };
  for (const BoxProduct &dot : dots) {
    if (isShown(dot))
      add(dot.op, computedFactor(dot).getType());
    if (!dot.loadedB && showsSecond(dot) == dot.op)
      add(dot.op, computedFactor(dot, true).getType(), true);
  }
  for (tile::AtomicRmwOp addition : additions)
    add(addition, tileOfSums(addition, results()));
  return stagingBuffers;
}

bool isOfSeveralThreads(tile::LoadOp load, ArrayRef<std::pair<unsigned, unsigned>> results) {
  auto liesAs = [&](std::pair<unsigned, unsigned> sums) {
    return !sameButOnes(tile::shapeOf(load.getType()), {sums.first, sums.second}).empty();
  };
  return !isa<RankedTensorType>(load.getType()) || llvm::none_of(results, liesAs);
}

SmallVector<tile::LoadOp> LoopKernel::rereads() const {
  SmallVector<tile::LoadOp> loads;
  SmallVector<Value> places = storedPlaces(kernel);
  tile::KernelOp(kernel).walk([&](tile::LoadOp load) {
    bool isOfThreads = !isFactor(load) && llvm::none_of(lines, [&](const LoadedLine &line) { return line.load == load; });
    if (isOfThreads && llvm::any_of(places, [&](Value place) { return rootOf(place) == rootOf(load.getPlace()); }))
      loads.push_back(load);
  });
  return loads;
}

SmallVector<std::pair<unsigned, unsigned>> LoopKernel::results() const {
  SmallVector<std::pair<unsigned, unsigned>> results;
  for (const BoxProduct &dot : dots)
    results.push_back({dot.m, dot.n});
  return results;
}

/// The loops of the kernel's body, and what else products stand in.
static const char *findNests(LoopKernel &found) {
  bool isElse = false, hangs = false;
  auto holdsProducts = [](Operation *op) {
    return op->walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  };
  found.kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isOnTop = op->getParentOp() == found.kernel;
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && (isOnTop || holdsProducts(op))) {
      found.loops.push_back(loop);
      hangs |= llvm::any_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}, comesOfTiles);
    } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && holdsProducts(op)) {
      found.branches.push_back(branch);
      hangs |= comesOfTiles(branch.getCondition());
    } else if (op->getNumRegions() && op != found.kernel && holdsProducts(op)) {
      isElse = true;
    }
  });
  return isElse  ? "it has control flow around its products"
         : hangs ? "what decides whether it multiplies comes of tiles"
                 : nullptr;
}

std::optional<LoopKernel> findLoopKernel(tile::KernelOp kernel, std::string &why) {
  auto no = [&](const char *reason) -> std::optional<LoopKernel> {
    why = reason;
    return std::nullopt;
  };
  LoopKernel found{kernel, {}, {}, {}, {}, {}, {}, {}};
  SmallVector<tile::DotOp> dots;
  bool contracts = false;
  kernel.walk([&](Operation *op) {
    contracts |= isa<tile::ContractOp>(op);
    if (auto dot = dyn_cast<tile::DotOp>(op))
      dots.push_back(dot);
  });
  if (dots.empty() || contracts) // a contraction is one product with what is around it, or it is opened
    return std::nullopt;
  if (kernel->hasAttr("block.no_boxes") && Gpu::of(kernel).warpgroups)
    return no("a launch broke the conditions of its boxes");
  if (const char *reason = findNests(found))
    return no(reason);
  if (!found.branches.empty() && !Gpu::of(kernel).warpgroups) // run-ahead copies for steps of loops, whatever they do
    return no("it has control flow around its products");
  for (tile::DotOp dot : dots) {
    std::optional<BoxProduct> product = findDot(dot, why);
    if (!product)
      return std::nullopt;
    if (product->writtenA && found.isNested())
      return no("its first factor is no box, and its products are in loops in loops or in branches");
    found.dots.push_back(*product);
  }
  if (const char *reason = otherWork(found))
    return no(reason);
  auto isOfThreads = [&](tile::AtomicRmwOp addition) {
    std::string reason;
    return found.inOrder || !found.isInLoop(addition) || !mapAdded(addition, found.results(), reason);
  };
  llvm::copy_if(found.additions, std::back_inserter(found.updates), isOfThreads);
  llvm::erase_if(found.additions, isOfThreads);
  llvm::DenseSet<Operation *> places = opsOfPlaces(found.dots), inFront = loadsInFront(found.dots);
  bool wide = llvm::any_of(found.dots, [](const BoxProduct &dot) { return !dot.loadedB; }) ||
              llvm::any_of(found.stores, [&](tile::StoreOp store) { return found.isInLoop(store); });
  kernel.walk([&](tile::LoadOp load) {
    if (!found.isNest(load->getParentOp()) || !found.isInLoop(load) || isFactor(load) || places.contains(load))
      return;
    if (std::optional<LoadedLine> line = lineOf(load, wide || inFront.contains(load)))
      found.lines.push_back(*line);
  });
  bool streams = false;
  for (const LoopRing &ring : found.rings()) {
    if (!ring.isRead && !llvm::all_of(ring.loads, isFactor)) // each use of a slot is one load
      return no("it computes with a tile that it multiplies");
    if (llvm::any_of(ring.loads, [](tile::LoadOp load) { return liesByTiles(load.getPlace()); }))
      return no("where it loads hangs on what tiles are combined to");
    streams |= !ring.held && (!ring.isRead || ring.tile.shape.size() > 1);
  }
  if (!streams && !found.loops.empty())
    return no("its loops load no factor that can be brought ahead of its step");
  return found;
}

std::optional<FoundKernel> findAnyKernel(tile::KernelOp kernel, std::string &why) {
  if (std::optional<ProductKernel> found = findKernel(kernel, why))
    return found;
  std::string ofAll;
  std::optional<LoopKernel> found = findLoopKernel(kernel, ofAll);
  auto isInLoop = [](tile::DotOp dot) {
    return dot->getParentOfType<scf::ForOp>() ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (found)
    why.clear();
  else if (why.empty() || kernel.walk(isInLoop).wasInterrupted()) // else it is of one product, and says more
    why = ofAll;
  return found ? std::optional<FoundKernel>(*found) : std::nullopt;
}

SmallVector<Operation *> ProductKernel::outputs() const {
  SmallVector<Operation *> ops(stores.begin(), stores.end());
  ops.append(sums.begin(), sums.end());
  return ops;
}

std::optional<StoredTile> storedTile(Operation *op) {
  StoredTile stored;
  if (auto store = dyn_cast<tile::StoreOp>(op))
    stored = {store.getValue(), store.getPlace(), false, op};
  else if (auto sum = dyn_cast<tile::AtomicRmwOp>(op);
           sum && sum.getKind() == tile::RmwKind::fadd && sum.getResult().use_empty() && sum.getScope() != tile::SyncScope::sys)
    stored = {sum.getValue(), sum.getPlace(), true, op};
  return stored.value && isa<RankedTensorType>(stored.value.getType()) ? std::optional(stored) : std::nullopt;
}

std::optional<std::pair<unsigned, unsigned>> storedSums(const StoredTile &stored,
                                                        ArrayRef<std::pair<unsigned, unsigned>> results) {
  return sumsIn(stored.value.getType(), results);
}

std::optional<MappedTile> mapAdded(tile::AtomicRmwOp addition, ArrayRef<std::pair<unsigned, unsigned>> results,
                                   std::string &why) {
  auto no = [&](const std::string &reason) -> std::optional<MappedTile> {
    why = "what its loop adds to memory is no box: " + reason;
    return std::nullopt;
  };
  std::optional<StoredTile> stored = storedTile(addition);
  if (!stored)
    return no("the copy engine adds, in an order that this device alone sees, what nobody waits for");
  auto sums = storedSums(*stored, results);
  if (!sums)
    return no("it has not a product's shape");
  std::string reason;
  std::optional<MappedTile> tile = mapStored(*stored, sums->first, sums->second, reason);
  return tile ? tile : no(reason);
}

std::optional<ProductKernel> findKernel(tile::KernelOp kernel, std::string &why) {
  why.clear();
  SmallVector<Operation *> products;
  kernel.walk([&](Operation *op) {
    if (isa<tile::ContractOp, tile::DotOp>(op) && !op->getParentOfType<tile::ContractOp>())
      products.push_back(op);
  });
  if (products.size() != 1) {
    why = "";
    return std::nullopt;
  }
  Operation *product = products[0];
  std::optional<BoxProduct> boxes = findProduct(product, why);
  if (!boxes)
    return std::nullopt;
  ProductKernel found{kernel, *boxes, {}, {}, {}};
  if (const char *reason = otherWork(found)) {
    why = reason;
    return std::nullopt;
  }
  return found;
}

} // namespace tilery::block
