// stage-stores: a tile in registers that goes to a box is written to shared memory, from where the copy engine stores it.
#include "compiler/block/map_boxes.h"
#include "compiler/block/passes.h"

using namespace mlir;

namespace tilery::block {
namespace {

struct StageStores : PassWrapper<StageStores, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StageStores)
  StringRef getArgument() const final { return "stage-stores"; }
  StringRef getDescription() const final { return "tiles that go to boxes are stored by the copy engine"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<BlockDialect, arith::ArithDialect, scf::SCFDialect>();
  }

  void runOnOperation() final {
    Block &body = getOperation().getBody().front();
    if (body.getOps<RingOp>().empty())
      return; // memory is best left to the rings of what is loaded
    for (auto store : llvm::make_early_inc_range(body.getOps<tile::StoreOp>()))
      if (!store.getIsVolatile())
        stage(store);
  }

  void stage(tile::StoreOp store) {
    auto access = store.getPlace().getDefiningOp<tile::AccessOp>();
    std::string why;
    std::optional<MappedTile> tile = access ? mapTile(access, why) : std::nullopt;
    if (!tile || !llvm::is_sorted(tile->order) ||
        sharedBytes(getOperation()) + tile->sharedType().getBytes() + 1024 > sharedLimit)
      return;
    OpBuilder builder(store);
    Location location = store.getLoc();
    auto same = [](Value atom) { return atom; };
    Value map = placeMap(builder, location, *tile, same);
    Value shared = AllocOp::create(builder, location, tile->sharedType());
    WriteOp::create(builder, location, shared, store.getValue());
    StoreBoxOp::create(builder, location, shared, map, placeCoords(builder, location, *tile, same), false);
    store.erase();
  }
};
} // namespace

std::unique_ptr<Pass> createStageStores() { return std::make_unique<StageStores>(); }

} // namespace tilery::block
