// assign-layouts: tiles in shared memory lie as the copy engine's boxes do, tiles in registers as the products' sums that they are computed
// from, or that they are computed with; others are dealt to the threads in wide vectors.
//
// A layout spreads from its anchors through the ops that give their operands' layout on (or ask for it). Where two meet, what is cheap
// to compute is computed again, and anything else converted.
#include "compiler/block/passes/dealt_layouts.h"
#include "compiler/block/recognise/find_fetch.h"
#include "compiler/block/ir/gpu.h"
#include "compiler/block/ir/layouts.h"
#include "compiler/block/ir/uses.h"
#include "compiler/block/recognise/kernel_work.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/price/sum_layouts.h"
#include "compiler/block/price/warp_schedules.h"
#include "compiler/block/forms/transfer.h"
#include "compiler/block/forms/fragments.h"
#include "compiler/block/forms/memory.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <map>
#include <numeric>

using namespace mlir;

namespace tilery::block {
namespace {
using layout::Layout;

// ---- shared memory

/// Values that a loop carries start from `none` of the same type.
void retype(Value value, Type type) {
  for (Value each : flowOf(value)) {
    each.setType(type);
    auto argument = dyn_cast<BlockArgument>(each);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    if (!loop)
      continue;
    OpOperand *init = loop.getTiedLoopInit(argument);
    if (auto none = init->get().getDefiningOp<NoneOp>(); none && none.getType() != type) {
      OpBuilder builder(loop);
      init->set(NoneOp::create(builder, none.getLoc(), type));
      if (none.use_empty())
        none.erase();
    }
  }
}

/// The same shared memory, as its views show it.
void retypeViews(Value shared, SharedType type) {
  shared.setType(type);
  for (Operation *user : shared.getUsers())
    if (auto peer = dyn_cast<PeerOp>(user)) {
      retypeViews(peer, type);
    } else if (auto transpose = dyn_cast<TransposeOp>(user)) {
      auto layout = LayoutAttr::get(type.getContext(), type.getLayout().getLayout().transposed());
      SmallVector<int64_t> shape(llvm::reverse(type.getShape()));
      retypeViews(transpose, SharedType::get(type.getContext(), shape, type.getElementType(), layout));
    }
}

SharedType withLayout(SharedType tile, std::optional<unsigned> swizzle) {
  if (tile.getRank() > 2 || !swizzle || tile.getLayout())
    return tile;
  if (tile.getRank() == 1) {
    Layout line({{layout::dim(0), tile.getShape()[0]}});
    line.add(layout::Offset, tile.getShape()[0], {1});
    return SharedType::get(tile.getContext(), tile.getShape(), tile.getElementType(), LayoutAttr::get(tile.getContext(), line));
  }
  Layout memory = layout::copyBoxes(tile.getShape()[0], tile.getShape()[1], tile::elementBytes(tile.getElementType()),
                                    layout::Swizzle(*swizzle));
  return SharedType::get(tile.getContext(), tile.getShape(), tile.getElementType(), LayoutAttr::get(tile.getContext(), memory));
}

/// Row by row.
SharedType inOrder(SharedType tile) {
  SmallVector<Layout::Output, 2> outputs;
  for (auto [d, extent] : llvm::enumerate(tile.getShape()))
    outputs.push_back({layout::dim(d), extent});
  Layout memory(outputs);
  for (unsigned d = tile.getRank(); d-- > 0;) {
    Layout::Vector step(tile.getRank(), 0);
    step[d] = 1;
    memory.add(layout::Offset, tile.getShape()[d], step);
  }
  return SharedType::get(tile.getContext(), tile.getShape(), tile.getElementType(), LayoutAttr::get(tile.getContext(), memory));
}

/// Of a tile that threads write: the widest of which its rows are made.
unsigned swizzleOf(SharedType tile) {
  int64_t bytes = tile.getShape().back() * tile::elementBytes(tile.getElementType());
  return bytes % 128 == 0 ? 128 : bytes % 64 == 0 ? 64 : bytes % 32 == 0 ? 32 : 16;
}

/// Of what fills tile `index` of the ring's slots.
std::optional<unsigned> swizzleOf(RingOp ring, unsigned index) {
  for (Operation *user : ring.getResult().getUsers())
    if (auto acquire = dyn_cast<AcquireOp>(user))
      for (Operation *part : acquire.getResult().getUsers())
        if (isa<PartOp>(part) && cast<PartOp>(part).getIndex() == index)
          for (Operation *filler : part->getUsers()) {
            if (auto copy = dyn_cast<CopyOp>(filler))
              return copy.getMap().getType().getSwizzle();
            if (isa<WriteOp, FetchOp>(filler))
              return swizzleOf(cast<PartOp>(part).getType());
          }
  return std::nullopt;
}

void layOut(RingOp ring) {
  RingType before = ring.getType();
  SmallVector<SharedType> tiles;
  for (auto [i, tile] : llvm::enumerate(before.getTiles()))
    tiles.push_back(withLayout(tile, swizzleOf(ring, i)));
  ring.getResult().setType(RingType::get(before.getContext(), before.getCount(), tiles));
  auto slotType = SlotType::get(before.getContext(), tiles);
  for (Operation *user : ring.getResult().getUsers()) {
    if (isa<AllocOp>(user))
      continue;
    retype(user->getResult(0), slotType);
    for (Value slot : flowOf(user->getResult(0)))
      for (Operation *each : slot.getUsers())
        if (auto part = dyn_cast<PartOp>(each))
          retypeViews(part, tiles[part.getIndex()]);
  }
}

/// Columns of a second factor that lie together: where k is contiguous, eight rows of it.
int64_t columnUnit(SharedType factor) {
  constexpr int64_t rowsOfSwizzle = 8;
  unsigned bytes = tile::elementBytes(factor.getElementType());
  auto swizzle = factor.getLayout() ? layout::swizzleOf(factor.getLayout().getLayout(), bytes) : std::nullopt;
  return swizzle && *swizzle != layout::Swizzle::None ? int64_t(*swizzle) / bytes : rowsOfSwizzle;
}

bool isPeers(ReadOp read) { return bool(read.getShared().getDefiningOp<PeerOp>()); }

/// What one block of a cluster writes and others read, as the layouts in registers like it best.
void layOutShown(AllocOp alloc) {
  LayoutAttr written, taken;
  for (Operation *user : alloc.getResult().getUsers()) {
    if (auto write = dyn_cast<WriteOp>(user))
      written = layoutOf(write.getValue().getType());
    else if (isa<PeerOp>(user))
      for (Operation *reader : user->getUsers())
        if (auto read = dyn_cast<ReadOp>(reader))
          taken = layoutOf(read.getType());
  }
  if (alloc.getType().getLayout() || !written || !taken)
    return;
  unsigned bytes = tile::elementBytes(alloc.getType().getElementType()), least = 0;
  SharedType best;
  for (unsigned swizzle : {128, 64, 32, 16}) {
    if (alloc.getType().getShape().back() * bytes % swizzle)
      continue;
    SharedType laid = withLayout(alloc.getType(), swizzle);
    std::optional<Layout> places = laid.getLayout() ? invert(laid.getLayout().getLayout()) : std::nullopt;
    auto in = places ? layout::cheapestTransfer(written.getLayout(), *places, bytes) : std::nullopt;
    auto out = places ? layout::cheapestTransfer(taken.getLayout(), *places, bytes) : std::nullopt;
    if (in && out && (!best || in->passes + out->passes < least))
      best = laid, least = in->passes + out->passes;
  }
  if (best)
    retypeViews(alloc, best);
}

void layOut(AllocOp alloc) {
  for (Operation *user : alloc.getResult().getUsers())
    if (auto store = dyn_cast<StoreBoxOp>(user))
      return retypeViews(alloc, withLayout(alloc.getType(), store.getMap().getType().getSwizzle()));
    else if (isa<MmaStartOp, TransposeOp>(user))
      return retypeViews(alloc, withLayout(alloc.getType(), swizzleOf(alloc.getType())));
}

// ---- registers

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }
bool isPlain(Operation *op) { return OpTrait::hasElementwiseMappableTraits(op); }

/// Tiles that each use may have in a layout of its own.
bool isFree(Operation *op) { return op && (op->hasTrait<OpTrait::ConstantLike>() || isa<tile::SplatOp, tile::RangeOp>(op)); }

/// The layout that a term or a bound of dimension `d` of an access has beside a tile in `whole`.
Layout lineOf(Layout whole, unsigned rank, unsigned d) {
  for (unsigned other = rank; other-- > 0;)
    if (other != d)
      whole = layout::slice(whole, other);
  return whole;
}

class Registers {
public:
  explicit Registers(RoleOp role) : role(role), context(role.getContext()) {}

  void assign() {
    separate();
    role.walk([&](MmaStartOp start) { anchor(start); });
    spread();
    role.walk([&](MmaStartOp start) {
      if (isTile(start.getA()))
        give(start.getA(), factorLayout(cast<RankedTensorType>(start.getA().getType()), rowsOf(start)));
    });
    role.walk([&](ReadOp read) {
      if (isPeers(read))
        give(read, LayoutAttr::get(context, dealtToBlocks(tile::shapeOf(read.getType()),
                                                          tile::elementBytes(getElementTypeOrSelf(read.getType())),
                                                          role.getWarps(), unsigned(clusterSize(read)))));
    });
    role.walk([&](WriteOp write) {
      if (write.getShared().getDefiningOp<PartOp>()) // fetched into a slot
        give(write.getValue(),
             LayoutAttr::get(context, fetchLayout(write.getShared().getType(), shapeOf(write.getValue(), 1), role.getWarps())));
    });
    role.walk([&](FetchOp fetch) {
      SharedType to = fetch.getTo().getType();
      auto layout = LayoutAttr::get(context, fetchLayout(to, shapeOfCopies(to), role.getWarps()));
      fetch.setLayoutAttr(layout);
      giveAccess(fetch.getPlace(), layout);
    });
    spread();
    std::multimap<int64_t, Value, std::greater<int64_t>> rest; // what has nothing to do with a product, the largest first
    role.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (isTile(result))
          rest.emplace(cast<RankedTensorType>(result.getType()).getNumElements(), result);
    });
    for (auto [count, value] : rest) {
      auto type = cast<RankedTensorType>(value.getType());
      unsigned bytes = tile::elementBytes(type.getElementType());
      give(value, LayoutAttr::get(context, dealt(type.getShape(), widestOf(bytes), role.getWarps())));
      spread();
    }
    settle();
    role.walk([&](Operation *op) { convertOperands(op); });
    for (auto alloc : role->getParentOfType<tile::KernelOp>().getBody().getOps<AllocOp>())
      layOutShown(alloc);
    role.walk([&](WriteOp write) { statePasses(write, write.getValue()); });
    role.walk([&](ReadOp read) { statePasses(read, read.getResult()); });
  }

private:
  /// What is free is each use's own, and the role's.
  void separate() {
    SmallVector<OpOperand *> uses;
    role.walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (isTile(operand.get()) && isFree(operand.get().getDefiningOp()))
          uses.push_back(&operand);
    });
    for (OpOperand *use : uses) {
      Operation *op = use->get().getDefiningOp();
      if (role->isProperAncestor(op) && op->hasOneUse())
        continue;
      OpBuilder builder(use->getOwner());
      use->set(builder.clone(*op)->getResult(0));
    }
  }

  void anchor(MmaStartOp start) {
    RankedTensorType tile = start.getType().getTile();
    int64_t m = tile.getDimSize(0), n = tile.getDimSize(1), warpgroups = role.getWarps() / warpsOfGroup;
    bool byWarps = multipliesByWarps(start) && isOnlyProduct(start);
    Layout lies = byWarps ? sumLayoutOfWarps(m, n, warpGrid(m, n, role.getWarps()))
                  : m / form.rows % warpgroups
                      ? sumLayoutAcross(form, m, n, warpgroups, isNeededWhole(start), columnUnit(start.getB().getType()))
                      : sumLayout(form, m, n, warpgroups, rowsOf(start));
    LayoutAttr sums = LayoutAttr::get(context, lies);
    auto type = PendingType::get(context, RankedTensorType::get(tile.getShape(), tile.getElementType(), sums));
    retype(start, type);
    for (Value product : flowOf(start))
      for (Operation *user : product.getUsers())
        if (auto wait = dyn_cast<MmaWaitOp>(user))
          give(wait, sums);
    if (isTile(start.getC()))
      give(start.getC(), sums);
    if (auto none = start.getC().getDefiningOp<NoneOp>(); none && none.getType() != type) {
      OpBuilder builder(start);
      start.getCMutable().assign(NoneOp::create(builder, none.getLoc(), type));
      if (none.use_empty())
        none.erase();
    }
  }

  /// Other products, and what rows are combined to, want whole rows in few lanes.
  bool isOnlyProduct(MmaStartOp start) {
    unsigned count = 0;
    role.walk([&](MmaStartOp) { ++count; });
    return count == 1 && !isNeededWhole(start) && !isTile(start.getA());
  }

  /// How a first factor lies in registers.
  LayoutAttr factorLayout(RankedTensorType type, layout::Rows inTile) {
    int64_t bits = 8 * tile::elementBytes(type.getElementType()), depth = 8 * form.depthBytes / bits,
            warpgroups = role.getWarps() / warpsOfGroup;
    int64_t rows = type.getDimSize(0) / form.rows, steps = type.getDimSize(1) / depth;
    Layout tiles({{layout::dim(0), rows}, {layout::dim(1), steps}});
    tiles.add(layout::Register, steps, {0, 1});
    if (rows % warpgroups == 0)
      tiles.add(layout::Register, rows / warpgroups, {warpgroups, 0}).add(layout::Warp, warpgroups, {1, 0});
    else
      tiles.add(layout::Warp, warpgroups, {0, 0});
    return LayoutAttr::get(context, product(form.factor(bits, inTile), tiles).canonical());
  }

  /// The value gets the layout if it has none.
  void give(Value value, LayoutAttr layout) {
    auto reduce = value.getDefiningOp<tile::ReduceOp>(); // follows from its operand's
    LayoutAttr operand = reduce ? layouts.lookup(reduce.getOperand(0)) : LayoutAttr();
    if (reduce && !(operand && resultLayout(reduce, operand.getLayout()) == layout.getLayout()))
      return;
    if (isTile(value) && layouts.try_emplace(value, layout).second)
      fresh.push_back(value);
  }
  void give(Value value, const std::optional<Layout> &layout) {
    if (layout)
      give(value, LayoutAttr::get(context, *layout));
  }

  void spread() {
    while (!fresh.empty()) {
      Value value = fresh.pop_back_val();
      LayoutAttr layout = layouts.lookup(value);
      for (Value same : flowOf(value))
        give(same, layout);
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
          for (Value from : {loop.getTiedLoopInit(argument)->get(), loop.getTiedLoopYieldedValue(argument)->get()})
            give(from, layout);
      } else {
        backward(value.getDefiningOp(), value, layout);
      }
      for (Operation *user : value.getUsers())
        forward(user, layout);
    }
  }

  void backward(Operation *op, Value result, LayoutAttr layout) {
    if (isPlain(op) || isa<tile::LoadOp>(op))
      for (Value operand : op->getOperands())
        give(operand, layout);
    else if (!isFree(op))
      for (Value operand : op->getOperands())
        if (isTile(operand))
          give(operand, operandLayout(op, layout.getLayout()));
    if (auto loop = dyn_cast<scf::ForOp>(op))
      give(loop.getYieldedValues()[cast<OpResult>(result).getResultNumber()], layout);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      for (Region *region : branch.getRegions())
        give(region->front().getTerminator()->getOperand(cast<OpResult>(result).getResultNumber()), layout);
    if (auto load = dyn_cast<tile::LoadOp>(op))
      giveAccess(load.getPlace(), layout);
    if (isPlain(op))
      for (Value other : op->getResults())
        give(other, layout);
  }

  void forward(Operation *user, LayoutAttr layout) {
    if (isPlain(user)) {
      for (Value other : user->getOperands())
        give(other, layout);
      for (Value result : user->getResults())
        give(result, layout);
    } else if (auto store = dyn_cast<tile::StoreOp>(user)) {
      giveAccess(store.getPlace(), layout);
    } else if (auto update = dyn_cast<tile::AtomicRmwOp>(user)) {
      giveAccess(update.getPlace(), layout);
      give(update.getResult(), layout); // which nobody takes
    } else {
      for (Value result : user->getResults())
        give(result, resultLayout(user, layout.getLayout()));
    }
  }

  void giveAccess(Value place, LayoutAttr layout) {
    if (auto pointers = place.getDefiningOp<tile::PointerAccessOp>())
      for (Value operand : pointers->getOperands())
        give(operand, layout);
    auto access = place.getDefiningOp<tile::AccessOp>();
    if (!access)
      return;
    for (unsigned d = 0, rank = access.getType().getRank(); d < rank; ++d) {
      give(access.getSteps()[d], lineOf(layout.getLayout(), rank, d));
      for (Value bound : access.getBound(d))
        give(bound, lineOf(layout.getLayout(), rank, d));
    }
    if (access.getResidual())
      give(access.getResidual(), layout);
  }

  /// Writes the layouts into the types.
  void settle() {
    for (auto [value, layout] : layouts) {
      auto type = cast<RankedTensorType>(value.getType());
      value.setType(RankedTensorType::get(type.getShape(), type.getElementType(), layout));
    }
    role.walk([&](arith::ConstantOp constant) {
      if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
        constant.setValueAttr(dense.reshape(cast<ShapedType>(constant.getType())));
    });
  }

  /// The layout that the op asks of an operand; null: any.
  LayoutAttr wanted(OpOperand &operand) {
    Operation *op = operand.getOwner();
    auto of = [](Value value) { return layoutOf(value.getType()); };
    if (isPlain(op)) {
      if (op->getNumResults() && isTile(op->getResult(0)))
        return of(op->getResult(0));
      return of(*llvm::find_if(op->getOperands(), isTile));
    }
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return of(load);
    if (auto start = dyn_cast<MmaStartOp>(op))
      return operand.getOperandNumber() == 0 ? layoutOf(start.getType().getTile())
                                             : factorLayout(cast<RankedTensorType>(operand.get().getType()), rowsOf(start));
    if (isa<scf::YieldOp>(op))
      return of(op->getParentOp()->getResult(operand.getOperandNumber()));
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return of(loop.getTiedLoopResult(&operand));
    if (isa<tile::ReduceOp>(op))
      return of(op->getOperand(0));
    if (op->getNumResults() == 1 && isTile(op->getResult(0)))
      if (auto asked = operandLayout(op, of(op->getResult(0)).getLayout()))
        return LayoutAttr::get(context, *asked);
    return {};
  }

  void convertOperands(Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isTile(operand.get()))
        continue;
      LayoutAttr layout = wanted(operand);
      if (!layout || layoutOf(operand.get().getType()) == layout)
        continue;
      OpBuilder builder(op);
      operand.set(inLayout(builder, operand.get(), layout));
    }
  }

  Value inLayout(OpBuilder &builder, Value value, LayoutAttr layout) {
    auto type = cast<RankedTensorType>(value.getType());
    type = RankedTensorType::get(type.getShape(), type.getElementType(), layout);
    Operation *op = value.getDefiningOp();
    auto read = value.getDefiningOp<ReadOp>();
    if (read && !isPeers(read)) // once more, as it is wanted here
      builder.setInsertionPointAfter(read);
    else if (!isFree(op))
      return canBeComputedAnywhere(value) ? Value(ConvertOp::create(builder, value.getLoc(), type, value))
                                          : handedOn(builder, value, type);
    Operation *again = builder.clone(*op);
    again->getResult(0).setType(type);
    if (auto constant = dyn_cast<arith::ConstantOp>(again))
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).reshape(type));
    return again->getResult(0);
  }

  /// From those who hold it to those who take it, through shared memory; as it is where that has no way, for which there is no code.
  Value handedOn(OpBuilder &builder, Value value, RankedTensorType type) {
    auto plain = SharedType::get(context, type.getShape(), type.getElementType(), {});
    int64_t bytes = type.getShape().back() * tile::elementBytes(type.getElementType());
    bool isOfBoxes = type.getRank() == 2 && bytes % 16 == 0 && type.getDimSize(0) % 8 == 0;
    SharedType shared = isOfBoxes ? withLayout(plain, swizzleOf(plain)) : inOrder(plain);
    std::optional<Layout> places = invert(shared.getLayout().getLayout());
    auto reaches = [&](LayoutAttr held) { return places && held && compose(*places, held.getLayout()); };
    if (!reaches(layoutOf(value.getType())) || !reaches(layoutOf(type)))
      return ConvertOp::create(builder, value.getLoc(), type, value);
    AllocOp &memory = handing[shared];
    if (!memory) {
      OpBuilder before(role->getParentOfType<RolesOp>());
      memory = AllocOp::create(before, value.getLoc(), shared);
    }
    WriteOp::create(builder, value.getLoc(), memory, value);
    return ReadOp::create(builder, value.getLoc(), type, memory, IntegerAttr());
  }

  /// Of a read or a write of shared memory.
  template <typename Move> void statePasses(Move move, Value value) {
    LayoutAttr registers = layoutOf(value.getType()), memory = move.getShared().getType().getLayout();
    if (!registers || !memory)
      return;
    std::optional<Layout> held = registers.getLayout(), places = invert(memory.getLayout());
    if (auto write = dyn_cast<WriteOp>(move.getOperation()); write && write.getAt())
      held = layout::piece(*held, move.getShared().getType().getShape());
    if (!held || !places)
      return;
    unsigned bytes = tile::elementBytes(move.getShared().getType().getElementType());
    auto transfer = layout::cheapestTransfer(*held, *places, bytes);
    if (transfer && transfer->passes > transfer->least)
      move.setPasses(transfer->passes);
  }

  RoleOp role;
  MLIRContext *context;
  const layout::ProductForm &form = layout::warpgroupForm(); // whose tiles loops of warps' products have, too
  llvm::MapVector<Value, LayoutAttr> layouts;
  SmallVector<Value> fresh;
  llvm::DenseMap<SharedType, AllocOp> handing; // shared memory of tiles that change their layouts
};
} // namespace

void runAssignLayouts(tile::KernelOp kernel) {
  Block &body = kernel.getBody().front();
  for (auto ring : body.getOps<RingOp>())
    layOut(ring);
  for (auto alloc : body.getOps<AllocOp>())
    layOut(alloc);
  for (auto roles : body.getOps<RolesOp>())
    for (auto role : roles.getBody().getOps<RoleOp>())
      Registers(role).assign();
}

} // namespace tilery::block
