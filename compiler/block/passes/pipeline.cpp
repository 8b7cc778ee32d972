// pipeline: the product of a scheduled kernel becomes a loop over a ring that copies and threads fill and products read.
//
// All is still one thread of control: each step acquires a slot, starts its copies, writes what threads fetch and publishes it, takes it
// again and starts the product.
// A slot is released one product late, so that one product runs while the next one starts; so a ring has two slots at least. split-roles
// then lets copies run ahead.
#include "compiler/block/passes/early_loads.h"
#include "compiler/block/passes/exchange_access.h"
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/ir/gpu.h"
#include "compiler/block/passes/narrow_numbers.h"
#include "compiler/block/passes/kernel_pass.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/passes/carry_count.h"
#include "compiler/block/passes/pipeline_loop.h"
#include "compiler/block/passes/result_boxes.h"
#include "compiler/ir/partial_sums.h"
#include "compiler/lower/product.h"
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
        location(product.op->getLoc()) {
    if (product.unpacked)
      unpacked.emplace(cast<tile::ContractOp>(product.op), *this->product.unpacked);
  }

  /// `brought`: what else comes through the ring.
  void write(std::optional<ResultBox> brought) {
    if (brought)
      placeInFront(brought->load);
    narrowNumbers(product);
    MLIRContext *context = builder.getContext();
    int64_t k = schedule.k;
    auto same = [](Value atom) { return atom; };
    SmallVector<SharedType> tiles;
    for (bool second : {false, true}) {
      const std::optional<FetchedFactor> &fetched = second ? product.fetchedB : product.fetchedA;
      SmallVector<int64_t, 2> shape = second ? SmallVector<int64_t, 2>{k, product.n} : SmallVector<int64_t, 2>{product.m, k};
      Factor &factor = factors.emplace_back(Factor{fetched, {}, second ? 0u : 1u, fetched && fetched->line == 0});
      if (unpacked && !second) {
        unpacked->placeMaps(outside, location);
        tiles.push_back(unpacked->tileOf(0));
        continue;
      }
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
    for (size_t source = 1; source < sources(); ++source)
      tiles.push_back(unpacked->tileOf(source));
    unsigned instead = brought ? addPieces(*brought, tiles) : 0;
    ring = RingOp::create(outside, location, RingType::get(context, schedule.stages, tiles), 1, instead);
    auto type = cast<RankedTensorType>(product.op->getResult(0).getType());
    auto sumType = PendingType::get(context, RankedTensorType::get({product.m, product.n}, type.getElementType()));
    Value sum = NoneOp::create(builder, location, sumType),
          slot = NoneOp::create(builder, location, SlotType::get(context, tiles));
    Value first = arith::ConstantOp::create(outside, location, builder.getI32IntegerAttr(0));
    SmallVector<Value, 3> carried{sum, first};
    if (!releasesAtOnce())
      carried.push_back(slot);
    auto loop = scf::ForOp::create(builder, location, number(0), slots(), number(1), carried);
    builder.setInsertionPointToStart(loop.getBody());
    writeStep(loop);
    builder.setInsertionPointAfter(loop);
    if (brought)
      bring(*brought, instead, loop.getResult(1));
    Value result = MmaWaitOp::create(builder, location, sumType.getTile(), loop.getResult(0));
    if (!releasesAtOnce())
      ReleaseOp::create(builder, location, loop.getResult(2));
    if (product.swapped)
      result = tile::PermuteOp::create(builder, location, type, result, ArrayRef<int64_t>{1, 0});
    product.op->getResult(0).replaceAllUsesWith(result);
    product.op->erase();
    carryOn(loop, 1);
  }

private:
  /// A step's product is over when the next one's begins: it takes registers, or is of warps.
  bool releasesAtOnce() const { return product.inRegisters() || byWarps; }

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
      IRMapping copies;
      nameStep(step, copies);
      auto ofStep = [&](Value atom) {
        copyInto(builder, atom, cast<tile::ContractOp>(product.op).getBody().front(), copies);
        return copies.lookupOrDefault(atom);
      };
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

  size_t sources() const { return unpacked ? product.unpacked->sources.size() : 0; }
  /// The slot's part that a source of the first factor comes in: behind both factors' but for the first of them.
  static unsigned partOf(size_t source) { return source ? unsigned(source) + 1 : 0; }

  /// `step` knows the number of the step.
  void nameStep(Value i, IRMapping &step) {
    if (Value number = product.step(); number && !step.contains(number))
      step.map(number, arith::ExtSIOp::create(builder, location, builder.getI64Type(), i));
  }

  /// The first factor in registers, of the slot's parts.
  Value unpack(Value taken, Value i) {
    IRMapping step;
    nameStep(i, step);
    for (size_t source = 0; source < sources(); ++source)
      unpacked->read(builder, location, source, PartOp::create(builder, location, taken, partOf(source)), step);
    Value tile = product.fetchedA->tile;
    copyInto(builder, tile, cast<tile::ContractOp>(product.op).getBody().front(), step);
    tile = step.lookupOrDefault(tile);
    auto type = RankedTensorType::get({product.m, schedule.k}, product.element);
    return product.fetchedA->turned ? Value(tile::PermuteOp::create(builder, location, type, tile, ArrayRef<int64_t>{1, 0}))
                                    : tile;
  }

  /// Brings the tile of step `i` to the slot, as it lies there.
  void fetch(const FetchedFactor &factor, Value i, IRMapping &step, Value part) {
    Value tile = factor.tile;
    bool exchanged = (factor.line == 0) != factor.turned;
    bool copied = copiedLine(tile) == std::optional(exchanged ? 0u : 1u);
    if (auto contract = dyn_cast<tile::ContractOp>(product.op)) {
      Block &body = contract.getBody().front();
      nameStep(i, step);
      copyInto(builder, tile, body, step);
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

  /// The load's place is computed in front of the product.
  void placeInFront(tile::LoadOp load) {
    for (Operation *op : placeBehind(load, product.op))
      if (op != load)
        op->moveBefore(product.op);
  }

  /// A slot's factors, and then what it holds instead of them behind the last step: from which number on.
  unsigned addPieces(ResultBox &box, SmallVector<SharedType> &tiles) {
    int64_t slotBytes = 0;
    for (SharedType factor : tiles)
      slotBytes += factor.getBytes();
    unsigned bytes = tile::elementBytes(box.tile.element);
    int64_t columns = product.n / piecesInSlots(product.m, product.n, bytes, slotBytes, schedule.stages);
    tiles.push_back(SharedType::get(builder.getContext(), {int64_t(product.m), columns}, box.tile.element, {}));
    return tiles.size() - 1;
  }

  /// What the work on the result loads comes through the ring, as tile `part` of slots behind the last step's: it is on its way while that runs.
  void bring(ResultBox &box, unsigned part, Value position) {
    auto same = [](Value atom) { return atom; };
    SharedType piece = ring.getType().getTiles()[part];
    Value map = placeMap(outside, location, *coverBox(box.tile.box, piece.getShape(), box.tile.element), same);
    SmallVector<Value> corner = placeCoords(builder, location, box.tile, same), positions, tiles;
    for (int64_t column = 0; column < product.n; column += piece.getShape()[1]) {
      positions.push_back(arith::AddIOp::create(builder, location, position, number(int32_t(positions.size()))));
      Value filled = AcquireOp::create(builder, location, ring, positions.back());
      Value to = PartOp::create(builder, location, filled, part);
      CopyOp::create(builder, box.load.getLoc(), map, movedCoords(builder, location, box.tile.box, corner, 0, column), to);
      PublishOp::create(builder, location, filled);
    }
    for (Value each : positions) {
      Value taken = TakeOp::create(builder, location, ring, each), from = PartOp::create(builder, location, taken, part);
      tiles.push_back(ReadOp::create(builder, location, piece.getTileType(), from, IntegerAttr()));
      ReleaseOp::create(builder, location, taken);
    }
    Value whole = tiles.size() == 1 ? tiles[0] : Value(JoinOp::create(builder, location, box.load.getType(), tiles));
    box.load.getResult().replaceAllUsesWith(whole);
    box.load.erase();
  }

  /// The program's line that loads a factor.
  Location placeOf(unsigned which) {
    auto [left, right] = lower::factorsOf(product.op);
    tile::LoadOp load = loadOf((which == 1) != product.swapped ? right : left);
    return load ? load.getLoc() : location;
  }

  void writeStep(scf::ForOp loop) {
    Value i = loop.getInductionVar(), sum = loop.getRegionIterArg(0), position = loop.getRegionIterArg(1);
    Value filled = AcquireOp::create(builder, location, ring, position);
    for (unsigned which : {0, 1})
      if (!factors[which].fetched) {
        Value part = PartOp::create(builder, location, filled, which);
        CopyOp::create(builder, placeOf(which), factors[which].map, coords(which, i), part);
      }
    IRMapping step; // what the op's region computes, for this step
    nameStep(i, step);
    for (size_t source = 0; source < sources(); ++source)
      unpacked->copy(builder, location, source, PartOp::create(builder, location, filled, partOf(source)), step);
    for (unsigned which : {0, 1})
      if (factors[which].fetched && !(unpacked && which == 0)) {
        Value part = PartOp::create(builder, location, filled, which);
        fetch(*factors[which].fetched, i, step, part);
      }
    PublishOp::create(builder, location, filled);
    Value taken = TakeOp::create(builder, location, ring, position);
    SmallVector<Value, 2> tiles;
    for (unsigned which : {0, 1}) {
      if (unpacked && which == 0) {
        tiles.push_back(unpack(taken, i));
        continue;
      }
      Value part = PartOp::create(builder, location, taken, which);
      tiles.push_back(factors[which].transposed ? Value(TransposeOp::create(builder, location, part)) : part);
    }
    if (product.readA) {
      auto type = RankedTensorType::get({product.m, schedule.k}, product.element);
      tiles[0] = ReadOp::create(builder, location, type, tiles[0], IntegerAttr());
    }
    Value first; // threads add to the zeros of no product; the tensor cores need not be given them
    if (!schedule.partial && !byWarps)
      first = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, i, number(0));
    auto next = MmaStartOp::create(builder, location, sum.getType(), sum, tiles[0], tiles[1], first, product.precision(),
                                   product.isUnsigned(), product.isUnsigned());
    tile::setPartialSums(next, schedule.partial);
    if (schedule.partial)
      next->setAttr("block.columns", builder.getI64IntegerAttr(schedule.partialColumns));
    // Registers of a factor are free when the product is over; another warpgroup's products run meanwhile.
    MmaSettleOp::create(builder, location, releasesAtOnce() ? next : sum);
    ReleaseOp::create(builder, location, releasesAtOnce() ? taken : loop.getRegionIterArg(2));
    Value after = arith::AddIOp::create(builder, location, position, number(1));
    SmallVector<Value, 3> carried{next, after};
    if (!releasesAtOnce())
      carried.push_back(taken);
    scf::YieldOp::create(builder, location, carried);
  }

  BoxProduct product;
  bool byWarps = multipliesByWarps(product.op);
  const Schedule &schedule;
  OpBuilder builder, outside; // outside: in front of the loops and branches around it
  Location location;
  SmallVector<Factor, 2> factors;
  std::optional<UnpackedParts> unpacked; // what the first factor is computed of
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

/// Threads load where the result is taken; of what is stored, too, that must not be later. Lines lie with several threads each, none of which
/// may store before all have loaded.
void reread(tile::LoadOp load, bool showsStores, ArrayRef<std::pair<unsigned, unsigned>> results) {
  OpBuilder builder(load);
  if (showsStores) // of all threads
    SyncOp::create(builder, load.getLoc(), IntegerAttr());
  bool isShared = isOfSeveralThreads(load, results);
  if (isShared || !isTakenAtOnce(load))
    load.setIsVolatile(true);
  builder.setInsertionPointAfter(load);
  if (isShared)
    SyncOp::create(builder, load.getLoc(), IntegerAttr());
}
} // namespace

void runPipeline(KernelPass &pass) {
  tile::KernelOp kernel = pass.getOperation();
  std::optional<Schedule> schedule = Schedule::of(kernel);
  if (!schedule)
    return;
  const auto &found = pass.getAnalysis<KernelAnalysis>();
  if (const ProductKernel *product = found.product()) {
    for (tile::LoadOp load : product->rereads)
      reread(load, product->showsStores, {{product->product.m, product->product.n}});
    Loop(product->product, *schedule).write(schedule->boxed ? markedResultBox(kernel) : std::nullopt);
  } else if (const LoopKernel *loops = found.loops()) {
    for (tile::LoadOp load : loops->rereads())
      reread(load, false, loops->results());
    pipelineLoop(*loops, *schedule);
  }
}

} // namespace tilery::block
