// spread-rows: rows of shared memory lie 16 bytes further apart where threads that read or write elements of theirs would meet in its banks.
//
// Lanes of a warp that name elements of different rows and the same columns, as those of a matrix instruction's factors, meet where rows are
// a multiple of 64 bytes long.
#include "compiler/analysis/thread_set.h"
#include "compiler/ir/warp.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>
#include <set>

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

constexpr int64_t banks = 32, bankBytes = 4, padBytes = 16, lanes = tile::warpLanes;

/// Indices of an element in the first lanes of a block, in each loop's first turn; others lie alike. Nothing if data is among them.
using Places = SmallVector<SmallVector<int64_t>>;

std::optional<Places> placesOf(ValueRange indices, ThreadsOp threads) {
  Places places;
  for (int64_t lane = 0; lane < std::min<int64_t>(lanes, threads.getCount()); ++lane) {
    analysis::Numbers known{{threads.getBody().getArgument(0), lane}};
    SmallVector<int64_t> at;
    for (Value index : indices) {
      for (Operation *parent = index.getParentRegion()->getParentOp(); parent && parent != threads;
           parent = parent->getParentOp())
        if (auto loop = dyn_cast<scf::ForOp>(parent))
          known[loop.getInductionVar()] = 0;
      std::optional<int64_t> number = analysis::numberOf(index, known);
      if (!number)
        return std::nullopt;
      at.push_back(*number);
    }
    places.push_back(at);
  }
  return places;
}

/// Words of one bank that are asked for at once, in the worst one.
int64_t turnsOf(const Places &places, ArrayRef<int64_t> shape, int64_t elementBytes, int64_t pad) {
  std::map<int64_t, std::set<int64_t>> words;
  for (ArrayRef<int64_t> at : places) {
    int64_t bytes = 0;
    for (auto [d, index] : llvm::enumerate(at))
      bytes = bytes * (shape[d] + (d + 1 == shape.size() ? pad : 0)) + index;
    int64_t word = bytes * elementBytes / bankBytes;
    words[word % banks].insert(word);
  }
  int64_t most = 0;
  for (auto &[bank, asked] : words)
    most = std::max<int64_t>(most, asked.size());
  return most;
}

/// What names its elements, and nothing else but whole tiles in it.
bool isOfElements(AllocOp buffer, SmallVectorImpl<std::pair<Operation *, ValueRange>> &named) {
  for (Operation *user : buffer->getUsers()) {
    bool inThread = user->getParentOfType<ThreadsOp>() && !user->getParentOfType<TogetherOp>();
    if (auto load = dyn_cast<ElementLoadOp>(user); load && inThread)
      named.emplace_back(user, load.getIndices());
    else if (auto store = dyn_cast<ElementStoreOp>(user); store && store.getBuffer() == buffer && inThread)
      named.emplace_back(user, store.getIndices());
    else if (!isa<BufferLoadOp, BufferStoreOp>(user))
      return false;
  }
  return !named.empty();
}

struct SpreadRows : PassWrapper<SpreadRows, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SpreadRows)
  StringRef getArgument() const final { return "spread-rows"; }
  StringRef getDescription() const final { return "rows of shared memory lie apart where threads would meet in its banks"; }

  void runOnOperation() final {
    SmallVector<AllocOp> buffers;
    getOperation()->walk([&](AllocOp buffer) { buffers.push_back(buffer); });
    for (AllocOp buffer : buffers)
      if (wantsPad(buffer))
        pad(buffer);
  }

private:
  static bool wantsPad(AllocOp buffer) {
    BufferType type = buffer.getType();
    int64_t bytes = elementBytes(type.getElementType()), row = type.getRank() ? type.getShape().back() * bytes : 0;
    SmallVector<std::pair<Operation *, ValueRange>> named;
    if (type.getSpace() != Space::shared || type.getRank() < 2 || row % 64 || buffer->getParentOfType<ThreadsOp>() ||
        !isOfElements(buffer, named))
      return false;
    int64_t before = 0, after = 0;
    for (auto [op, indices] : named) {
      std::optional<Places> places = placesOf(indices, op->getParentOfType<ThreadsOp>());
      if (!places)
        return false;
      before += turnsOf(*places, type.getShape(), bytes, 0);
      after += turnsOf(*places, type.getShape(), bytes, padBytes / bytes);
    }
    return before >= 2 * after;
  }

  static void pad(AllocOp buffer) {
    BufferType type = buffer.getType();
    SmallVector<int64_t> shape(type.getShape()), dims(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
    shape.back() += padBytes / elementBytes(type.getElementType());
    OpBuilder b(buffer);
    auto wide = AllocOp::create(b, buffer.getLoc(), BufferType::get(shape, type.getElementType(), type.getSpace()));
    SmallVector<Value> zeros(type.getRank(), arith::ConstantOp::create(b, buffer.getLoc(), b.getI64IntegerAttr(0)));
    buffer.replaceAllUsesWith(SubviewOp::create(b, buffer.getLoc(), type, wide, zeros, dims).getResult());
    buffer.erase();
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createSpreadRows() { return std::make_unique<SpreadRows>(); }
