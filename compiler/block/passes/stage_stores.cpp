// stage-stores: a tile in registers that goes to a box is written to shared memory piece by piece, from where the copy engine stores it.
//
// A piece has 64 rows of each consumer and as many columns of 128 bytes as the schedule says: all of them, each piece with memory of its
// own, or fewer, and two places by turns.
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/price/schedule.h"
#include <tuple>

using namespace mlir;

namespace tilery::block {
namespace {

/// Shared memory on the way out. Results of one type take turns in it, whichever branches they are in.
struct Places {
  SmallVector<AllocOp> places;
  unsigned turn = 0;

  AllocOp next() { return places[turn++ % places.size()]; }
};

class Staged {
public:
  Staged(Operation *store, const StoredTile &stored, const MappedTile &tile, const Schedule &schedule,
         llvm::MapVector<Type, Places> &places)
      : store(store), stored(stored), tile(tile), schedule(schedule), places(places), builder(store), location(store->getLoc()) {}

  /// `turned`: warpgroups share the columns, 64 at a time.
  void write(unsigned m, unsigned n, bool turned) {
    auto same = [](Value atom) { return atom; };
    if (Value kept = placeGuards(builder, location, tile.box, same)) { // else threads store it
      auto branch = scf::IfOp::create(builder, location, kept, /*withElseRegion=*/true);
      store->moveBefore(branch.elseBlock()->getTerminator());
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    Operation *inside = builder.getInsertionBlock() == store->getBlock() ? store : builder.getInsertionBlock()->getParentOp();
    OpBuilder outside(store->getParentOfType<tile::KernelOp>().getBody().front().findAncestorOpInBlock(*inside));
    placeConditions(outside, location, tile.box);
    Value map = placeMap(outside, builder, location, tile, same), value = stored.value;
    SmallVector<Value> corner = placeCoords(builder, location, tile, same);
    if (SmallVector<int64_t> shape{m, n}; tile::shapeOf(value.getType()) != ArrayRef<int64_t>(shape))
      value = tile::ReshapeOp::create(builder, location, RankedTensorType::get(shape, tile.element), value);
    unsigned column = 128 / tile::elementBytes(tile.element), all = m / 64 / schedule.consumers * (n / column);
    bool whole = schedule.stageOutput >= all;
    unsigned rows = 64 * schedule.consumers, columns = whole ? n : schedule.stageOutput / 2 * column;
    if (turned)
      std::tie(rows, columns) = std::pair(64u, rows);
    unsigned count = turned ? std::min(schedule.stageOutput, m / rows * (n / columns)) : whole ? m / rows : 2;
    auto type = SharedType::get(builder.getContext(), {rows, columns}, tile.element, {});
    Places &ofType = places[type];
    while (ofType.places.size() < count)
      ofType.places.push_back(AllocOp::create(outside, location, type));
    for (unsigned row = 0; row < m; row += rows)
      for (unsigned at = 0; at < n; at += columns)
        writePiece(ofType.next(), value, map, movedCoords(builder, location, tile.box, corner, row, at), {row, at});
    if (builder.getInsertionBlock() == store->getBlock())
      store->erase();
  }

private:
  void writePiece(AllocOp shared, Value value, Value map, ArrayRef<Value> coords, ArrayRef<int64_t> at) {
    auto piece =
        tile::shapeOf(value.getType()) == shared.getType().getShape() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(at);
    WriteOp::create(builder, location, shared, value, piece, IntegerAttr());
    StoreBoxOp::create(builder, location, shared, map, coords, stored.adds);
  }

  Operation *store;
  StoredTile stored;
  const MappedTile &tile;
  const Schedule &schedule;
  llvm::MapVector<Type, Places> &places;
  OpBuilder builder;
  Location location;
};
} // namespace

void runStageStores(tile::KernelOp kernel) {
  std::optional<Schedule> schedule = Schedule::of(kernel);
  SmallVector<std::pair<unsigned, unsigned>> results;
  SmallVector<MmaWaitOp> waits;
  kernel.walk([&](MmaWaitOp wait) { waits.push_back(wait); });
  if (!schedule || !schedule->stageOutput)
    return;
  auto isTurned = [](MmaWaitOp wait) { return wait->hasOneUse() && isa<tile::PermuteOp>(*wait->user_begin()); };
  bool turned = waits.size() == 1 && isTurned(waits[0]);
  unsigned rows = 0; // that consumers share
  for (MmaWaitOp wait : waits) {
    rows = std::max(rows, unsigned(tile::shapeOf(wait.getType())[0]));
    ArrayRef<int64_t> shape = tile::shapeOf(turned ? wait->user_begin()->getResult(0).getType() : wait.getType());
    if (turned || !isTurned(wait)) // threads store what one of several turned products gives
      results.push_back({unsigned(shape[0]), unsigned(shape[1])});
  }
  std::string why;
  SmallVector<Operation *> stores;
  kernel.walk([&](Operation *op) {
    if (storedTile(op))
      stores.push_back(op);
  });
  llvm::MapVector<Type, Places> places;
  std::optional<unsigned> columns; // of all that is staged, where there are several products: the schedule has room for these
  for (Operation *store : stores) {
    StoredTile stored = *storedTile(store);
    if (turned && tile::elementBytes(getElementTypeOrSelf(stored.value.getType())) != 2)
      continue; // stored from registers
    auto sums = storedSums(stored, results);
    if (sums && (waits.size() == 1 || sums->first == rows))
      if (std::optional<MappedTile> tile = mapStored(stored, sums->first, sums->second, why)) {
        if (results.size() > 1) { // accounted for one by one
          if (columns.value_or(sums->second) != sums->second)
            continue;
          columns = sums->second;
          places.clear();
        }
        Staged(store, stored, *tile, *schedule, places).write(sums->first, sums->second, turned);
      }
  }
}

} // namespace tilery::block
