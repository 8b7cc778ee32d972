// split-k: where the schedule has clusters, each block of one runs a part of the product's steps. A block shows its sums to the others
// where its slots were; all add them up in the order of the blocks, each for the elements that it stores (which is a matter of layouts), so
// that results are the same each time.
#include "compiler/block/ir/Block.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/price/schedule.h"

using namespace mlir;

namespace tilery::block {
namespace {

class Split {
public:
  Split(scf::ForOp loop, MmaStartOp product, int32_t blocks)
      : loop(loop), product(product), blocks(blocks), builder(loop), location(product.getLoc()) {}

  /// Steps from steps * rank / blocks on, to where the next block begins.
  void shareSteps() {
    Value rank = ClusterRankOp::create(builder, location, builder.getI32Type()), steps = loop.getUpperBound();
    Value next = arith::AddIOp::create(builder, location, rank, number(1));
    Value from = partOf(steps, rank);
    loop.setLowerBound(from);
    loop.setUpperBound(partOf(steps, next));
    if (Value clear = product.getClear())
      clear.getDefiningOp<arith::CmpIOp>().getRhsMutable().assign(from);
  }

  /// The sums of all blocks in place of this one's.
  void addUp(Value own, RingOp ring) {
    auto tile = cast<RankedTensorType>(own.getType());
    builder.setInsertionPointAfterValue(own);
    auto type = SharedType::get(builder.getContext(), tile.getShape(), tile.getElementType(), {});
    Value shown = AllocOp::create(builder, location, type, ring);
    auto write = WriteOp::create(builder, location, shown, own);
    ClusterSyncOp::create(builder, location);
    Value sum;
    for (int32_t rank = 0; rank < blocks; ++rank) {
      Value peer = PeerOp::create(builder, location, shown, number(rank));
      Value part = ReadOp::create(builder, location, tile, peer, IntegerAttr());
      if (!sum)
        sum = part;
      else if (isa<FloatType>(tile.getElementType()))
        sum = arith::AddFOp::create(builder, location, sum, part);
      else
        sum = arith::AddIOp::create(builder, location, sum, part);
    }
    own.replaceAllUsesExcept(sum, write);
  }

private:
  Value number(int32_t value) { return arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(value)); }
  Value partOf(Value steps, Value rank) {
    Value most = arith::MulIOp::create(builder, location, steps, rank);
    return tile::DivOp::create(builder, location, most, number(blocks), tile::IntDivMode::trunc);
  }

  scf::ForOp loop;
  MmaStartOp product;
  int32_t blocks;
  OpBuilder builder;
  Location location;
};
} // namespace

void runSplitK(tile::KernelOp kernel) {
  std::optional<Schedule> schedule = Schedule::of(kernel);
  Block &body = kernel.getBody().front();
  SmallVector<MmaWaitOp> waits(body.getOps<MmaWaitOp>());
  SmallVector<RingOp> rings(body.getOps<RingOp>());
  if (!schedule || schedule->cluster < 2 || waits.size() != 1 || rings.size() != 1)
    return;
  auto loop = waits[0].getProduct().getDefiningOp<scf::ForOp>();
  SmallVector<MmaStartOp> products;
  if (loop)
    llvm::append_range(products, loop.getBody()->getOps<MmaStartOp>());
  if (products.size() != 1)
    return;
  kernel->setAttr("block.cluster", OpBuilder(kernel.getContext()).getI64IntegerAttr(schedule->cluster));
  Value sums = waits[0];
  if (auto permute = dyn_cast<tile::PermuteOp>(*sums.user_begin()); permute && sums.hasOneUse())
    sums = permute; // rows are read as they are stored
  Split split(loop, products[0], schedule->cluster);
  split.shareSteps();
  split.addUp(sums, rings[0]);
  OpBuilder builder(body.getTerminator());
  ClusterSyncOp::create(builder, kernel.getLoc()); // a block's memory lasts until all have read it
}

} // namespace tilery::block
