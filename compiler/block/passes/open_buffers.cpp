// open-buffers: lines of a buffer that a program stores one by one (the maximum of each step, `S[:, k] = m`) are lanes of whole stores, so that
// promote-buffers makes tile values of the buffer, which loops carry: other work than that of tiles is on no role.
#include "compiler/block/passes/passes.h"
#include "compiler/ir/Tile.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// Some dimensions at a number of the program's, the others whole.
bool isLine(tile::SubviewOp view) {
  ArrayRef<int64_t> all = view.getBuffer().getType().getShape(), own = view.getType().getShape();
  for (auto [i, d] : llvm::enumerate(view.getDims()))
    if (own[i] != all[d] || !matchPattern(view.getOffsets()[d], m_Zero()))
      return false;
  return !own.empty() && own.size() < all.size();
}

/// The views that keep the buffer from being read and written as a whole alone; nothing if something else does, too.
SmallVector<tile::SubviewOp> linesOf(tile::AllocOp alloc) {
  SmallVector<tile::SubviewOp> lines;
  for (Operation *user : alloc->getUsers()) {
    auto view = dyn_cast<tile::SubviewOp>(user);
    bool isStored = view && isLine(view) && llvm::all_of(view->getUsers(), [&](Operation *access) {
                      auto store = dyn_cast<tile::BufferStoreOp>(access);
                      return store && store.getBuffer() == view.getResult() && !store.getMask();
                    });
    if (isStored)
      lines.push_back(view);
    else if (!isa<tile::BufferLoadOp, tile::BufferStoreOp>(user))
      return {};
  }
  return lines;
}

class Line {
public:
  explicit Line(tile::SubviewOp view) : view(view), shape(view.getBuffer().getType().getShape()) {}

  /// Stores it as lanes of the buffer: an index that is none of its own is that of no lane.
  void widen(tile::BufferStoreOp store) {
    OpBuilder b(store);
    Value mask;
    for (int64_t d = 0, rank = shape.size(); d < rank; ++d)
      if (!llvm::is_contained(view.getDims(), d)) {
        Value lanes = lanesAt(b, store.getLoc(), d);
        mask = mask ? arith::AndIOp::create(b, store.getLoc(), mask, lanes).getResult() : lanes;
      }
    tile::BufferStoreOp::create(b, store.getLoc(), view.getBuffer(), spread(b, store.getLoc(), store.getValue(), view.getDims()),
                                mask);
    store.erase();
  }

private:
  /// i_d == the line's.
  Value lanesAt(OpBuilder &b, Location loc, int64_t d) {
    Value at = tile::SplatOp::create(b, loc, RankedTensorType::get({shape[d]}, b.getI32Type()), lane(b, loc, d));
    Value lanes = tile::RangeOp::create(b, loc, at.getType(), 0, shape[d]);
    return spread(b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lanes, at), {d});
  }

  /// The line's index in 32 bits, which hold all that are lanes'.
  Value lane(OpBuilder &b, Location loc, int64_t d) {
    Value at = view.getOffsets()[d];
    unsigned bits = at.getType().getIntOrFloatBitWidth();
    if (bits == 32)
      return at;
    if (bits < 32)
      return arith::ExtSIOp::create(b, loc, b.getI32Type(), at);
    Value end = arith::ConstantOp::create(b, loc, b.getIntegerAttr(at.getType(), shape[d]));
    Value none = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(-1));
    Value isLane = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at, end);
    return arith::SelectOp::create(b, loc, isLane, arith::TruncIOp::create(b, loc, b.getI32Type(), at), none);
  }

  /// A tile of the buffer's shape, of one of its dimensions `dims`.
  Value spread(OpBuilder &b, Location loc, Value tile, ArrayRef<int64_t> dims) {
    SmallVector<int64_t> sizes(tile::shapeOf(tile.getType()));
    Type element = getElementTypeOrSelf(tile);
    for (int64_t d = 0, rank = shape.size(); d < rank; ++d)
      if (!llvm::is_contained(dims, d)) {
        sizes.insert(sizes.begin() + d, 1);
        tile = tile::ExpandDimsOp::create(b, loc, RankedTensorType::get(sizes, element), tile, d);
      }
    auto whole = RankedTensorType::get(shape, element);
    return tile.getType() == whole ? tile : tile::BroadcastOp::create(b, loc, whole, tile).getResult();
  }

  tile::SubviewOp view;
  ArrayRef<int64_t> shape; // of the buffer
};
} // namespace

void runOpenBuffers(tile::KernelOp kernel) {
  SmallVector<tile::AllocOp> allocs;
  kernel.walk([&](tile::AllocOp alloc) { allocs.push_back(alloc); });
  for (tile::AllocOp alloc : allocs)
    for (tile::SubviewOp view : linesOf(alloc)) {
      for (Operation *store : llvm::make_early_inc_range(view->getUsers()))
        Line(view).widen(cast<tile::BufferStoreOp>(store));
      view.erase();
    }
}

} // namespace tilery::block
