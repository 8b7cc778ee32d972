// pipeline: the product of a scheduled kernel becomes a loop over a ring that copies and threads fill and products read.
//
// All is still one thread of control: each step acquires a slot, starts its copies, writes what threads fetch and publishes it, takes it
// again and starts the product.
// A slot is released one product late, so that one product runs while the next one starts; so a ring has two slots at least. split-roles
// then lets copies run ahead.
#include "compiler/block/exchange_access.h"
#include "compiler/block/find_kernel.h"
#include "compiler/block/narrow_numbers.h"
#include "compiler/block/passes.h"
#include "compiler/block/carry_count.h"
#include "compiler/block/pipeline_loop.h"
#include "compiler/ir/partial_sums.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilery::block {
namespace {

struct Factor {
  std::optional<FetchedFactor> fetched; // else a box:
  MappedTile tile;
  unsigned kDim;                 // of the factor's two dimensions
  bool transposed;               // of how it lies in shared memory
  bool stepped = false;          // of a box: its place follows from the number of the step
  Value map = {};                // of a box
  SmallVector<Value> start = {}; // coordinates of the first slot
};

/// How a fetched factor lies in shared memory: its lines are rows.
SharedType sharedType(const FetchedFactor &factor, ArrayRef<int64_t> shape, Type element) {
  return SharedType::get(element.getContext(), {shape[1 - factor.line], shape[factor.line]}, element, {});
}

class Loop {
public:
  Loop(const BoxProduct &product, const Schedule &schedule)
      : product(product), schedule(schedule), builder(product.op),
        outside(product.op->getParentOfType<tile::KernelOp>().getBody().front().findAncestorOpInBlock(*product.op)),
        location(product.op->getLoc()) {}

  void write() {
    narrowNumbers(product);
    MLIRContext *context = builder.getContext();
    int64_t k = schedule.k;
    auto same = [](Value atom) { return atom; };
    SmallVector<SharedType> tiles;
    for (bool second : {false, true}) {
      const std::optional<FetchedFactor> &fetched = second ? product.fetchedB : product.fetchedA;
      SmallVector<int64_t, 2> shape = second ? SmallVector<int64_t, 2>{k, product.n} : SmallVector<int64_t, 2>{product.m, k};
      Factor &factor = factors.emplace_back(Factor{fetched, {}, second ? 0u : 1u, fetched && fetched->line == 0});
      if (fetched) {
        tiles.push_back(sharedType(*fetched, shape, product.element));
        continue;
      }
      factor.tile = *coverBox(second ? product.b : product.a, shape, product.element);
      factor.transposed = factor.tile.order[0] == 1;
      placeConditions(outside, location, factor.tile.box);
      factor.map = placeMap(outside, builder, location, factor.tile, same);
      factor.stepped = second ? product.steppedB : product.steppedA;
      if (!factor.stepped)
        factor.start = placeCoords(builder, location, factor.tile, same);
      tiles.push_back(factor.tile.sharedType());
    }
    ring = RingOp::create(outside, location, RingType::get(context, schedule.stages, tiles), 1);
    auto type = cast<RankedTensorType>(product.op->getResult(0).getType());
    auto sumType = PendingType::get(context, RankedTensorType::get({product.m, product.n}, type.getElementType()));
    Value sum = NoneOp::create(builder, location, sumType),
          slot = NoneOp::create(builder, location, SlotType::get(context, tiles));
    Value first = arith::ConstantOp::create(outside, location, builder.getI32IntegerAttr(0));
    SmallVector<Value, 3> carried{sum, first};
    if (!product.readA)
      carried.push_back(slot);
    auto loop = scf::ForOp::create(builder, location, number(0), slots(), number(1), carried);
    builder.setInsertionPointToStart(loop.getBody());
    writeStep(loop);
    builder.setInsertionPointAfter(loop);
    Value result = MmaWaitOp::create(builder, location, sumType.getTile(), loop.getResult(0));
    if (!product.readA)
      ReleaseOp::create(builder, location, loop.getResult(2));
    if (product.swapped)
      result = tile::PermuteOp::create(builder, location, type, result, ArrayRef<int64_t>{1, 0});
    product.op->getResult(0).replaceAllUsesWith(result);
    product.op->erase();
    carryOn(loop, 1);
  }

private:
  Value number(int32_t value) { return arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(value)); }

  /// How many the product takes: a step may be several slots deep.
  Value slots() {
    int32_t each = product.k / schedule.k;
    if (!product.steps())
      return number(each);
    Value steps = arith::TruncIOp::create(builder, location, builder.getI32Type(), product.steps());
    return each == 1 ? steps : Value(arith::MulIOp::create(builder, location, steps, number(each)));
  }

  /// Where the factor's box begins in slot number `i` of the product.
  SmallVector<Value> coords(unsigned which, Value i) {
    int32_t each = product.k / schedule.k; // slots of a step
    SmallVector<Value> coords = factors[which].start;
    if (factors[which].stepped) {
      Value step = i;
      if (each > 1) {
        step = tile::DivOp::create(builder, location, i, number(each), tile::IntDivMode::trunc);
        i = tile::RemOp::create(builder, location, i, number(each), tile::IntDivMode::trunc);
      }
      step = arith::ExtSIOp::create(builder, location, builder.getI64Type(), step);
      auto ofStep = [&](Value atom) { return atom == product.step() ? step : atom; };
      coords = placeCoords(builder, location, factors[which].tile, ofStep);
      if (each == 1)
        return coords;
    }
    for (auto [coord, dimension] : llvm::zip(llvm::reverse(coords), factors[which].tile.box.dimensions))
      if (dimension.tile == int(factors[which].kDim)) {
        Value depth = arith::MulIOp::create(builder, location, i, number(schedule.k));
        coord = arith::AddIOp::create(builder, location, coord, depth);
      }
    return coords;
  }

  /// Brings the tile of step `i` to the slot, as it lies there.
  void fetch(const FetchedFactor &factor, Value i, IRMapping &step, Value part) {
    Value tile = factor.tile;
    bool exchanged = (factor.line == 0) != factor.turned;
    bool copied = copiedLine(tile) == std::optional(exchanged ? 0u : 1u);
    if (auto contract = dyn_cast<tile::ContractOp>(product.op)) {
      Block &body = contract.getBody().front();
      if (!step.contains(body.getArgument(0)))
        step.map(body.getArgument(0), arith::ExtSIOp::create(builder, location, builder.getI64Type(), i));
      copyInto(tile, body, step);
      tile = step.lookupOrDefault(tile);
    }
    if (copied) {
      auto access = tile.getDefiningOp<tile::LoadOp>().getPlace().getDefiningOp<tile::AccessOp>();
      FetchOp::create(builder, location, exchanged ? block::exchanged(builder, access) : access, part);
      return;
    }
    ArrayRef<int64_t> shape = tile::shapeOf(tile.getType());
    if (exchanged) {
      auto type = RankedTensorType::get({shape[1], shape[0]}, product.element);
      tile = tile::PermuteOp::create(builder, location, type, tile, ArrayRef<int64_t>{1, 0});
    }
    WriteOp::create(builder, location, part, tile);
  }

  /// What the value is computed from in `body`, again at the builder's place.
  void copyInto(Value value, Block &body, IRMapping &copies) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &body || copies.contains(value))
      return;
    for (Value operand : op->getOperands())
      copyInto(operand, body, copies);
    builder.clone(*op, copies);
  }

  void writeStep(scf::ForOp loop) {
    Value i = loop.getInductionVar(), sum = loop.getRegionIterArg(0), position = loop.getRegionIterArg(1);
    Value filled = AcquireOp::create(builder, location, ring, position);
    for (unsigned which : {0, 1})
      if (!factors[which].fetched) {
        Value part = PartOp::create(builder, location, filled, which);
        CopyOp::create(builder, location, factors[which].map, coords(which, i), part);
      }
    IRMapping step; // what the op's region computes, for this step
    for (unsigned which : {0, 1})
      if (factors[which].fetched) {
        Value part = PartOp::create(builder, location, filled, which);
        fetch(*factors[which].fetched, i, step, part);
      }
    PublishOp::create(builder, location, filled);
    Value taken = TakeOp::create(builder, location, ring, position);
    SmallVector<Value, 2> tiles;
    for (unsigned which : {0, 1}) {
      Value part = PartOp::create(builder, location, taken, which);
      tiles.push_back(factors[which].transposed ? Value(TransposeOp::create(builder, location, part)) : part);
    }
    if (product.readA) {
      auto type = RankedTensorType::get({product.m, schedule.k}, product.element);
      tiles[0] = ReadOp::create(builder, location, type, tiles[0], IntegerAttr());
    }
    Value first; // threads add to the zeros of no product; the tensor cores need not be given them
    if (!schedule.partial)
      first = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, i, number(0));
    auto next = MmaStartOp::create(builder, location, sum.getType(), sum, tiles[0], tiles[1], first, product.precision(),
                                   product.isUnsigned(), product.isUnsigned());
    tile::setPartialSums(next, schedule.partial);
    if (schedule.partial)
      next->setAttr("block.columns", builder.getI64IntegerAttr(schedule.apart));
    // Registers of a factor are free when the product is over; another warpgroup's products run meanwhile.
    MmaSettleOp::create(builder, location, product.readA ? next : sum);
    ReleaseOp::create(builder, location, product.readA ? taken : loop.getRegionIterArg(2));
    Value after = arith::AddIOp::create(builder, location, position, number(1));
    SmallVector<Value, 3> carried{next, after};
    if (!product.readA)
      carried.push_back(taken);
    scf::YieldOp::create(builder, location, carried);
  }

  BoxProduct product;
  const Schedule &schedule;
  OpBuilder builder, outside; // outside: in front of the loops and branches around it
  Location location;
  SmallVector<Factor, 2> factors;
  RingOp ring;
};

/// Everything that is computed from the load goes into the first op behind it that has effects, or out of its block.
bool isTakenAtOnce(tile::LoadOp load) {
  Operation *first = load->getNextNode();
  while (!first->hasTrait<OpTrait::IsTerminator>() && (isMemoryEffectFree(first) || isa<tile::LoadOp>(first)))
    first = first->getNextNode();
  SmallVector<Operation *> users(load->getUsers());
  for (size_t i = 0; i < users.size(); ++i)
    if (users[i]->getBlock() != load->getBlock() || !(users[i] == first || isMemoryEffectFree(users[i])))
      return false;
    else if (users[i] != first)
      users.append(users[i]->user_begin(), users[i]->user_end());
  return true;
}

/// Threads load where the result is taken; of what is stored, too, that must not be later.
void reread(tile::LoadOp load, bool showsStores) {
  OpBuilder builder(load);
  if (showsStores) // of all threads
    SyncOp::create(builder, load.getLoc(), IntegerAttr());
  if (!isTakenAtOnce(load))
    load.setIsVolatile(true);
}

struct Pipeline : PassWrapper<Pipeline, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Pipeline)
  StringRef getArgument() const final { return "pipeline"; }
  StringRef getDescription() const final { return "products of boxes become loops over a ring"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<BlockDialect, arith::ArithDialect, scf::SCFDialect>();
  }

  void runOnOperation() final {
    std::optional<Schedule> schedule = Schedule::of(getOperation());
    std::string why;
    std::optional<FoundKernel> found = schedule ? findAnyKernel(getOperation(), why) : std::nullopt;
    if (!found)
      return;
    if (auto *product = std::get_if<ProductKernel>(&*found)) {
      for (tile::LoadOp load : product->rereads)
        reread(load, product->showsStores);
      Loop(product->product, *schedule).write();
    } else {
      pipelineLoop(std::get<LoopKernel>(*found), *schedule);
    }
  }
};
} // namespace

std::unique_ptr<Pass> createPipeline() { return std::make_unique<Pipeline>(); }

} // namespace tilery::block
