#include "compiler/block/price/live_words.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <map>

using namespace mlir;

namespace tilery::block {

static unsigned wordsOf(Value value) {
  auto tile = cast<RankedTensorType>(value.getType());
  return unsigned(llvm::divideCeil(tile.getNumElements() * tile.getElementTypeBitWidth(), 32));
}

/// The last op of the block that takes the tile, or what is computed from it element by element.
static Operation *lastTaker(Value tile, Block &block) {
  Operation *last = nullptr;
  SmallVector<Value> values{tile};
  llvm::DenseSet<Operation *> seen;
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      Operation *taker = block.findAncestorOpInBlock(*user);
      if (!taker || !seen.insert(user).second)
        continue;
      if (!last || last->isBeforeInBlock(taker))
        last = taker;
      if (!isa<tile::DotOp, tile::ReduceOp>(user) && isMemoryEffectFree(user))
        values.append(user->result_begin(), user->result_end());
    }
  return last;
}

unsigned mostLiveWords(Block &block, llvm::function_ref<bool(tile::DotOp)> takesRegisters) {
  std::map<Operation *, unsigned> taken; // words that nobody takes behind the op
  unsigned live = 0, most = 0;
  for (Operation &op : block) {
    unsigned before = taken[&op]; // of what the product goes on in, or of what its factors are computed from: gone when it runs
    live -= before;
    auto dot = dyn_cast<tile::DotOp>(op);
    unsigned own = dot ? wordsOf(dot) : 0, factor = dot && takesRegisters(dot) ? wordsOf(dot.getA()) : 0;
    most = std::max(most, live + std::max(before, own + factor));
    if (Operation *last = dot ? lastTaker(dot, block) : nullptr) {
      live += own;
      taken[last] += own;
    }
  }
  return most;
}

} // namespace tilery::block
