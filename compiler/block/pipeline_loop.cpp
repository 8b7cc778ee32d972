#include "compiler/block/pipeline_loop.h"
#include "compiler/ir/zero.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// What one load brings.
struct Stream {
  tile::LoadOp load;
  MappedTile tile;
  bool inLoop;
  Operation *first = nullptr, *last = nullptr; // products that read it
  Value slot = {};                             // as it was taken
};

/// The kernel with an i32 more that its loop carries: the position of all rings that the loop fills.
LoopKernel withPosition(const LoopKernel &found) {
  tile::KernelOp kernel = found.kernel;
  IRRewriter rewriter(kernel.getContext());
  rewriter.setInsertionPoint(found.loop);
  auto number = [](OpBuilder &b, Location location, int32_t value) -> Value {
    return arith::ConstantOp::create(b, location, b.getI32IntegerAttr(value));
  };
  scf::ForOp loop = found.loop;
  Value zero = number(rewriter, loop.getLoc(), 0);
  auto next = [&](OpBuilder &b, Location location, ArrayRef<BlockArgument> added) {
    return SmallVector<Value>{arith::AddIOp::create(b, location, added[0], number(b, location, 1))};
  };
  (void)loop.replaceWithAdditionalYields(rewriter, zero, /*replaceInitOperandUsesInLoop=*/false, next);
  std::string why;
  return *findLoopKernel(kernel, why);
}

class Streams {
public:
  Streams(const LoopKernel &before, const Schedule &schedule)
      : found(withPosition(before)), schedule(schedule), builder(found.loop), location(found.loop.getLoc()) {}

  void write() {
    for (const BoxProduct &dot : found.dots) {
      auto op = cast<tile::DotOp>(dot.op);
      if (dot.loadedA)
        read(op, loadOf(op.getA()), tileOf(dot, false));
      read(op, loadOf(op.getB()), tileOf(dot, true));
    }
    for (auto &[load, stream] : streams)
      bring(stream);
    for (const BoxProduct &dot : found.dots)
      multiply(dot);
  }

private:
  Value number(int32_t value) { return arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(value)); }

  static MappedTile tileOf(const BoxProduct &dot, bool second) {
    SmallVector<int64_t, 2> shape = second ? SmallVector<int64_t, 2>{dot.k, dot.n} : SmallVector<int64_t, 2>{dot.m, dot.k};
    return *coverBox(second ? dot.b : dot.a, shape, dot.element);
  }

  void read(Operation *product, tile::LoadOp load, const MappedTile &tile) {
    auto [entry, isNew] = streams.try_emplace(load, Stream{load, tile, found.isInLoop(load)});
    Stream &stream = entry->second;
    if (isNew)
      stream.first = product;
    stream.last = product;
  }

  /// In the block of the load, what holds the product.
  Operation *holder(const Stream &stream, Operation *product) {
    return stream.inLoop || !found.isInLoop(product) ? product : found.loop.getOperation();
  }

  /// Fills the ring where the load stood, and takes it in front of the first product.
  void bring(Stream &stream) {
    auto same = [](Value atom) { return atom; };
    builder.setInsertionPoint(stream.inLoop ? found.loop.getOperation() : stream.load.getOperation());
    placeConditions(builder, location, stream.tile.box);
    Value map = placeMap(builder, location, stream.tile, same);
    auto type = RingType::get(builder.getContext(), stream.inLoop ? schedule.stages : 1, {stream.tile.sharedType()});
    Value ring = RingOp::create(builder, location, type, 1);
    builder.setInsertionPoint(stream.load);
    Value position = stream.inLoop ? Value(found.loop.getRegionIterArgs().back()) : number(0);
    SmallVector<Value> coords = placeCoords(builder, location, stream.tile, same);
    Value filled = AcquireOp::create(builder, location, ring, position);
    CopyOp::create(builder, location, map, coords, PartOp::create(builder, location, filled, 0));
    PublishOp::create(builder, location, filled);
    builder.setInsertionPoint(holder(stream, stream.first));
    stream.slot = TakeOp::create(builder, location, ring, position);
  }

  Value shown(tile::LoadOp load, const MappedTile &tile) {
    Value part = PartOp::create(builder, location, streams.find(load)->second.slot, 0);
    return tile.order[0] == 1 ? Value(TransposeOp::create(builder, location, part)) : part;
  }

  void multiply(const BoxProduct &dot) {
    auto op = cast<tile::DotOp>(dot.op);
    location = op.getLoc();
    builder.setInsertionPoint(op);
    auto sum = PendingType::get(builder.getContext(), cast<RankedTensorType>(op.getType()));
    Value a = dot.loadedA ? shown(loadOf(op.getA()), tileOf(dot, false)) : op.getA(),
          b = shown(loadOf(op.getB()), tileOf(dot, true));
    bool fresh = tile::isPlusZero(op.getAcc());
    Value c = fresh ? Value(NoneOp::create(builder, location, sum)) : op.getAcc();
    Value clear = fresh ? Value(arith::ConstantOp::create(builder, location, builder.getBoolAttr(true))) : Value();
    Value started =
        MmaStartOp::create(builder, location, sum, c, a, b, clear, dot.precision(), dot.isUnsigned(), dot.isUnsigned());
    Value result = MmaWaitOp::create(builder, location, sum.getTile(), started);
    for (auto &[load, stream] : streams)
      if (stream.last == op) {
        OpBuilder behind(op);
        if (holder(stream, op) != op)
          behind.setInsertionPointAfter(found.loop);
        ReleaseOp::create(behind, location, stream.slot);
      }
    op.getResult().replaceAllUsesWith(result);
    op.erase();
  }

  LoopKernel found;
  const Schedule &schedule;
  OpBuilder builder;
  Location location;
  llvm::MapVector<Operation *, Stream> streams; // by load
};
} // namespace

void pipelineLoop(const LoopKernel &found, const Schedule &schedule) { Streams(found, schedule).write(); }

} // namespace tilery::block
