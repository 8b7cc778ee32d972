#include "compiler/targets/cpu/dot_plan.h"
#include "compiler/targets/cpu/dot_sharing.h"
#include "compiler/targets/cpu/dot_tiles.h"
#include "compiler/analysis/lane_repeats.h"
#include "compiler/analysis/lane_runs.h"
#include "compiler/lower/emitter.h"
#include "compiler/lower/aliasing.h"

using namespace mlir;

namespace tilery::cpu {

// Longest K that a panel holds: accumulators go to memory once in so many steps; a sliver of B (64 KiB) and the panel of A stay in L2.
constexpr int64_t sharedDepth = 1024;
// In tiles of AMX: slivers of A and B (64 KiB each) stay in L2 beside the others.
constexpr int64_t tilesDepth = 512;
// Private panels are packed again by every program and should stay in L2.
constexpr int64_t privateDepth = 256;

int64_t DotPlan::panelElements(bool isA) const {
  int64_t depth = privateSteps * packedK();
  return isA ? blocking.panelA(depth) : blocking.panelB(depth);
}

static bool contiguousAlong(tile::AccessOp access, unsigned dim) {
  APInt step;
  return access.isStrided(dim) && matchPattern(access.getSteps()[dim], m_ConstantInt(&step)) && step == 1;
}

/// Pieces of rows along `dim`: what is loaded under masks, and needs no transposing, where k has no neighbours either.
static bool runsAlong(tile::AccessOp access, unsigned dim, unsigned lanes) {
  return !access.isStrided(dim) && analysis::laneRun(access.getSteps()[dim]) >= lanes / 2;
}

/// Where a factor's elements lie: what a load reads, else a tile in rows.
struct Source {
  tile::AccessOp access;
  SmallVector<unsigned> dims; // by the factor's dimensions
};

static Source sourceOf(Value factor, llvm::function_ref<bool(Value)> stored) {
  Source source;
  for (unsigned d = 0; d < tile::shapeOf(factor.getType()).size(); ++d)
    source.dims.push_back(d);
  while (Operation *op = stored(factor) ? nullptr : factor.getDefiningOp()) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      source.access = load.getPlace().getDefiningOp<tile::AccessOp>();
    auto permute = dyn_cast<tile::PermuteOp>(op);
    if (!permute && (!isElementwise(op) || op->getNumOperands() == 0))
      break;
    if (permute)
      for (unsigned &d : source.dims)
        d = permute.getOrder()[d];
    factor = op->getOperand(0);
  }
  return source;
}

/// All elements are one, by the looks of it.
static bool isOneNumber(Value value) {
  DenseElementsAttr numbers;
  return !isa<RankedTensorType>(value.getType()) || value.getDefiningOp<tile::SplatOp>() ||
         (matchPattern(value, m_Constant(&numbers)) && numbers.isSplat());
}

/// The strands of a load's lanes along the dimension that is K, where each row would be loaded by itself or gathered otherwise. `everyLane`:
/// conditions (DotOperand::everyLane), where K ends within a tile, say.
static std::optional<analysis::LaneStrands> strandsOf(Value factor, unsigned outer, unsigned inner, int64_t rows,
                                                      Value &everyLane) {
  constexpr int64_t mostBytes = 1 << 15; // of a sliver's rows, which stay in the first-level cache
  auto load = factor.getDefiningOp<tile::LoadOp>();
  auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
  int64_t k = tile::shapeOf(factor.getType())[inner], bytes = elementBytes(elementOf(factor));
  if (!access || load.getIsVolatile() || rows * k * bytes > mostBytes || access.isStrided(outer) ||
      (load.getOther() && !isOneNumber(load.getOther())))
    return std::nullopt;
  SmallVector<analysis::Condition> conditions;
  if (access.getResidual())
    conditions.push_back({access.getResidual(), int(inner)});
  auto strands = [&](ArrayRef<analysis::Condition> conditions) -> std::optional<analysis::LaneStrands> {
    if (!access.isStrided(inner))
      return analysis::laneStrands(access.getSteps()[inner], conditions);
    // Rows that lie as they are read are as well loaded by themselves, but where each asks whether it exists.
    bool asks = contiguousAlong(access, inner) && access.getBound(outer).size() == 1;
    bool alike = llvm::all_of(conditions,
                              [](const analysis::Condition &each) { return analysis::growthOver(each.value, each.dim, 1) == 0; });
    return asks && alike ? std::optional(analysis::LaneStrands{k, 1, {}}) : std::nullopt;
  };
  OperandRange bound = access.getBound(inner);
  if (bound.size() != 1)
    return strands(conditions);
  everyLane = bound[0];
  auto found = strands(conditions);
  conditions.push_back({bound[0], 0});
  if (auto alike = strands(conditions); alike && found && alike->period == found->period && alike->group == found->group) {
    everyLane = nullptr;
    return alike;
  }
  return found;
}

/// The scalars outside `op` that an operand depends on, beyond kernel arguments and constants; nullopt if other programs may see other values.
static std::optional<SmallVector<Value>> keyOf(Operation *op, Value tile, bool disjoint) {
  tile::KernelOp kernel = op->getParentOfType<tile::KernelOp>();
  SmallVector<MemoryClass> written;
  kernel.walk([&](Operation *each) {
    for (Value operand : each->getOperands())
      if (isa<tile::AccessType>(operand.getType()) && !isa<tile::LoadOp>(each))
        written.push_back(classOfPlace(operand));
  });
  llvm::SetVector<Value> key;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> work{tile};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *def = value.getDefiningOp();
    bool inside = op->isAncestor(value.getParentRegion()->getParentOp());
    bool isTile = isa<RankedTensorType>(value.getType());
    if (!def) {
      bool argument = isa<tile::KernelOp>(value.getParentRegion()->getParentOp());
      if (argument || inside)
        continue; // the same in all programs, or the step
      if (isTile)
        return std::nullopt;
      key.insert(value);
      continue;
    }
    if (def->hasTrait<OpTrait::ConstantLike>())
      continue;
    if (auto load = dyn_cast<tile::LoadOp>(def); load && (isTile || inside)) {
      MemoryClass source = classOfPlace(load.getPlace());
      if (load.getIsVolatile() || llvm::any_of(written, [&](MemoryClass each) { return mayAlias(source, each, disjoint); }))
        return std::nullopt;
    }
    bool place = isa<tile::AccessType>(value.getType());
    if (!place && !isTile && !inside) {
      key.insert(value);
      continue;
    }
    if (isTile && (!canBeVirtual(def) || isa<tile::BufferLoadOp>(def)))
      return std::nullopt;
    if (!isTile && !place && (def->getNumRegions() || !(isMemoryEffectFree(def) || isa<tile::LoadOp>(def))))
      return std::nullopt;
    llvm::append_range(work, def->getOperands());
  }
  return key.takeVector();
}

static bool inLoop(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface, tile::ParallelOp>(parent))
      return true;
  return false;
}

static tile::StoreOp onlyStore(Operation *op) {
  Value result = op->getResult(0);
  auto store = result.hasOneUse() ? dyn_cast<tile::StoreOp>(*result.user_begin()) : tile::StoreOp();
  bool fits = store && store.getValue() == result && !store.getIsVolatile() && store->getBlock() == op->getBlock();
  return fits ? store : tile::StoreOp();
}

void hoistStorePlaces(tile::KernelOp kernel) {
  kernel.walk([&](Operation *op) {
    auto store = isProduct(op) ? onlyStore(op) : tile::StoreOp();
    auto access = store ? store.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    if (!access || access->getBlock() != op->getBlock())
      return;
    std::function<void(Value)> hoist = [&](Value value) {
      Operation *def = value.getDefiningOp();
      if (!def || def->getBlock() != op->getBlock() || def->isBeforeInBlock(op) || def == op || !isPure(def) ||
          def->getNumRegions() || isa<RankedTensorType>(value.getType()))
        return;
      for (Value operand : def->getOperands())
        hoist(operand);
      if (llvm::all_of(def->getOperands(), [&](Value operand) {
            Operation *each = operand.getDefiningOp();
            return !each || each->getBlock() != op->getBlock() || each->isBeforeInBlock(op);
          }))
        def->moveBefore(op);
    };
    hoist(access.getResult());
  });
}

/// The store that may be written to directly: rows of contiguous elements, in memory that nothing else in the kernel touches.
static tile::StoreOp directStore(Operation *op, const DotPlan &plan, bool disjoint) {
  tile::StoreOp store = onlyStore(op);
  auto access = store ? store.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
  if (!access || !disjoint || plan.batch != 1 || !plan.startsAtZero || elementOf(op->getResult(0)) != plan.compute ||
      access.getResidual() || access.getSteps().size() != 2 || !access.isStrided(0) || !contiguousAlong(access, 1))
    return {};
  if (llvm::is_contained(access.getBoundKinds(), 2))
    return {};
  if (access->getBlock() == op->getBlock() && !access->isBeforeInBlock(op))
    return {};
  // Other programs may wait for what happens in between (a lock, an assertion).
  for (Operation *each = op->getNextNode(); each != store; each = each->getNextNode())
    if (!isMemoryEffectFree(each) && !isa<tile::LoadOp, tile::StoreOp, tile::ContractOp>(each))
      return {};
  MemoryClass target = classOfPlace(access.getResult());
  bool untouched = true;
  op->getParentOfType<tile::KernelOp>().walk([&](Operation *each) {
    for (Value operand : each->getOperands())
      if (isa<tile::AccessType>(operand.getType()) && each != store && mayAlias(classOfPlace(operand), target, disjoint))
        untouched = false;
  });
  return untouched ? store : tile::StoreOp();
}

static const char *nameOf(Multiply multiply) {
  switch (multiply) {
  case Multiply::single:
    return "";
  case Multiply::bf16Pairs:
    return " of bf16 pairs";
  case Multiply::int16Pairs:
    return " of int16 pairs";
  case Multiply::int8Quads:
    return " of int8 quads";
  case Multiply::bf16Tiles:
    return " in tiles of bf16";
  case Multiply::int8Tiles:
    return " in tiles of int8";
  }
  llvm_unreachable("all are named");
}

void DotPlan::print(llvm::raw_ostream &stream) const {
  stream << blocking.rows.width << "x" << blocking.columns.width << nameOf(blocking.multiply) << ", K " << k << " x "
         << stepsPerBlock;
  for (const DotOperand *operand : {&a, &b}) {
    stream << (operand->isA ? ", a " : ", b ") << (operand->shared ? "shared" : "private") << (operand->kMajor ? " k-major" : "");
    if (operand->strands)
      stream << " in strands of " << operand->strands->group << "/" << operand->strands->period
             << (operand->strands->undivided.empty() ? "" : " or not");
  }
  stream << (directStore ? ", stored at once" : "");
}

SmallVector<Temporary *> DotPlan::temporaries() {
  SmallVector<Temporary *> needed;
  if (sums.type)
    needed.push_back(&sums);
  for (DotOperand *operand : {&a, &b})
    if (operand->mayBeOwn())
      needed.push_back(&operand->panel);
  return needed;
}

/// Several neighbours along K at once, where an instruction has the sums of their products as exact as they are asked for.
static Multiply multiplyOf(const DotPlan &plan, const CpuTarget &target) {
  auto both = [&](llvm::function_ref<bool(const DotOperand &)> holds) { return holds(plan.a) && holds(plan.b); };
  auto fitTiles = [&](unsigned pack) { return target.amx && rowDepth((plan.k + pack - 1) / pack) >= 4; };
  if (plan.compute.isF32()) {
    bool fits = both([](const DotOperand &each) {
      mlir::Type type = elementOf(each.tile);
      return type.isBF16() || (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8); // exact in bf16
    });
    if (fits && fitTiles(2))
      return Multiply::bf16Tiles;
    return fits && target.fastDotBF16 ? Multiply::bf16Pairs : Multiply::single;
  }
  if (plan.compute.isInteger(32)) {
    if (both([](const DotOperand &each) { return elementOf(each.tile).isInteger(8); })) {
      if (fitTiles(4) || target.dotInt8)
        return fitTiles(4) ? Multiply::int8Tiles : Multiply::int8Quads;
    }
    auto fits = [](const DotOperand &each) {
      return elementOf(each.tile).isInteger(8) || (elementOf(each.tile).isInteger(16) && !each.isUnsigned);
    };
    return target.dotInt16 && both(fits) ? Multiply::int16Pairs : Multiply::single;
  }
  return Multiply::single;
}

std::unique_ptr<DotPlan> planDot(Operation *op, const CpuTarget &target, bool disjoint, llvm::function_ref<bool(Value)> stored) {
  auto result = std::make_unique<DotPlan>();
  DotPlan &plan = *result;
  auto dot = dyn_cast<tile::DotOp>(op);
  auto contract = dyn_cast<tile::ContractOp>(op);
  std::tie(plan.a.tile, plan.b.tile) = factorsOf(op);
  plan.b.isA = false;
  plan.a.isUnsigned = dot ? dot.getAUnsigned() : contract.getAUnsigned();
  plan.b.isUnsigned = dot ? dot.getBUnsigned() : contract.getBUnsigned();
  plan.live = liveExtents(op);
  ArrayRef<int64_t> a = tile::shapeOf(plan.a.tile.getType()), b = tile::shapeOf(plan.b.tile.getType());
  unsigned rank = a.size();
  plan.batch = rank == 3 ? a[0] : 1;
  plan.m = a[rank - 2];
  plan.k = a[rank - 1];
  plan.n = b[rank - 1];
  mlir::Type element = elementOf(op->getResult(0));
  bool narrow = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  plan.compute = narrow ? Float32Type::get(op->getContext()) : element;
  if (narrow)
    plan.sums.type = cast<RankedTensorType>(op->getResult(0).getType()).clone(plan.compute);
  plan.startsAtZero = startsAtZero(op);
  plan.farFetch = target.farFetch;
  Multiply multiply = multiplyOf(plan, target);
  plan.pack = packOf(multiply);
  plan.blocking = chooseBlocking(target, plan.m, plan.n, plan.packedK(), plan.compute.getIntOrFloatBitWidth(), multiply,
                                 plan.a.isUnsigned, plan.b.isUnsigned);

  for (DotOperand *operand : {&plan.a, &plan.b}) {
    unsigned along = rank - (operand->isA ? 2 : 1), contracted = rank - (operand->isA ? 1 : 2);
    Source source = sourceOf(operand->tile, stored);
    unsigned outer = source.dims[along], inner = source.dims[contracted];
    operand->kMajor = inner + 1 == rank; // as a stored tile lies
    if (source.access) {
      operand->isPlain = source.access.isStrided(outer) && source.access.isStrided(inner);
      bool across = contiguousAlong(source.access, outer);
      operand->kMajor = contiguousAlong(source.access, inner) && !(across && !operand->isA);
      bool repeats = !source.access.isStrided(inner) && analysis::laneRepeats(source.access.getSteps()[inner]).width > 1;
      operand->kMajor |= repeats && !across; // of several weights in a byte or a word along K one is loaded
      if (operand->isA)                      // few rows: gathered along K rather than along them
        operand->kMajor |= !(across || runsAlong(source.access, outer, plan.blocking.lanes));
    }
    if (operand->kMajor && !stored(operand->tile))
      operand->strands = strandsOf(operand->tile, along, contracted,
                                   (operand->isA ? plan.blocking.rows : plan.blocking.columns).width, operand->everyLane);
    if (disjoint && (contract || !inLoop(op)))
      if (auto key = keyOf(op, operand->tile, disjoint)) {
        operand->shared = true;
        operand->key = std::move(*key);
        operand->sharers = sharersOf(operand->key);
        operand->decided = llvm::any_of(operand->key, [&](Value number) {
          return llvm::any_of(operand->sharers, [&](unsigned axis) { return divisionsOf(number, axis).has_value(); });
        });
      }
  }
  if (!inTiles(multiply) && plan.a.kMajor && plan.m > fewRows) // a product of one row reads its elements one after the other
    layRows(plan.blocking, target, plan.packedK());
  plan.directStore = directStore(op, plan, disjoint);
  if (contract) {
    int64_t shared = inTiles(multiply) ? tilesDepth : sharedDepth;
    int64_t depth = plan.a.shared && plan.b.shared ? shared : privateDepth;
    plan.stepsPerBlock = std::max<int64_t>(1, depth * plan.pack / plan.k); // the same bytes, paired or not
    plan.privateSteps = std::max<int64_t>(1, privateDepth * plan.pack / plan.k);
  }
  for (DotOperand *operand : {&plan.a, &plan.b})
    operand->panel.type = RankedTensorType::get({plan.panelElements(operand->isA)}, plan.compute);
  return result;
}

} // namespace tilery::cpu
