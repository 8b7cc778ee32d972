#include "compiler/lower/square_reads.h"
#include "compiler/lower/scopes.h"
#include "compiler/lower/turned.h"
#include "llvm/Analysis/VectorUtils.h"

using namespace mlir;

namespace tilery::lower {
namespace {

/// rows[i] is in each piece of rows.size() lanes a row of a square: rows and lanes change places in all of them.
void transposePieces(llvm::IRBuilder<> &b, SmallVectorImpl<llvm::Value *> &rows) {
  int size = rows.size(), lanes = llvm::cast<llvm::FixedVectorType>(rows[0]->getType())->getNumElements();
  SmallVector<int> halves[2];
  for (int half : {0, 1})
    for (int lane = 0; lane < lanes; ++lane) {
      int inPiece = lane % size;
      halves[half].push_back(lane - inPiece + half * size / 2 + inPiece / 2 + inPiece % 2 * lanes);
    }
  // Interleaved with the row half of them away, the numbers of row and lane turn by a bit.
  for (int done = 1; done < size; done *= 2) {
    SmallVector<llvm::Value *> next;
    for (int i = 0; i < size / 2; ++i)
      for (const SmallVector<int> &half : halves)
        next.push_back(b.CreateShuffleVector(rows[i], rows[i + size / 2], half));
    rows = std::move(next);
  }
}

/// The lanes of a tile whose neighbours in memory lie along `dim`, if that is where the rows of the current square are and those exist; null
/// else: pieces of its rows are loaded, as many side by side as the lanes have room for. Those of the other rows are remembered.
Lanes fromSquare(Evaluator &ev, Value tile, ArrayRef<Index> point, unsigned dim,
                 llvm::function_ref<Address(ArrayRef<Index>)> addressAt) {
  ArrayRef<llvm::Value *> square = ev.known().square;
  if (square.empty() || !point[dim].uniform() || !llvm::is_contained(square, point[dim].base))
    return nullptr;
  std::optional<unsigned> along;
  for (auto [d, index] : llvm::enumerate(point))
    if (!index.uniform()) {
      if (along || index.lanes)
        return nullptr;
      along = d;
    }
  Type type = elementOf(tile);
  unsigned rows = square.size(), count = std::min({squareLaneBytes / elementBytes(type), rows, ev.width()});
  if (!along || count < 2)
    return nullptr;
  Emitter &e = ev.e;
  auto &b = e.b;
  SmallVector<llvm::Value *> loaded; // by row of pieces, by lane
  {
    Evaluator::Vector few(ev, count);
    SmallVector<Address> places;
    unsigned lanes = few.outside();
    for (unsigned first = 0; first < rows; first += count)
      for (unsigned lane = 0; lane < lanes; ++lane) {
        Point at(point);
        const Index &lanesAt = point[*along];
        at[*along] = Index{b.CreateAdd(lanesAt.base, e.i64(lane * lanesAt.step)), 0, nullptr, lanesAt.level, 1, lanesAt.loop};
        at[dim] = Index{square[first], 1, nullptr, point[dim].level, 1, point[dim].loop};
        places.push_back(addressAt(at));
        if (places.back().exists || places.back().offsets || places.back().step != 1)
          return nullptr;
      }
    for (const Address &place : places) {
      auto *read = b.CreateAlignedLoad(e.vectorOf(e.memoryType(type), count), place.pointer, llvm::Align(elementBytes(type)));
      place.annotate(read);
      loaded.push_back(read);
    }
  }
  Lanes result = nullptr;
  for (ArrayRef<llvm::Value *> parts(loaded); !parts.empty(); parts = parts.drop_front(ev.width())) {
    SmallVector<llvm::Value *> pieces;
    for (unsigned i = 0; i < count; ++i) {
      SmallVector<llvm::Value *> sideBySide;
      for (unsigned lane = i; lane < ev.width(); lane += count)
        sideBySide.push_back(parts[lane]);
      pieces.push_back(sideBySide.size() == 1 ? sideBySide[0] : llvm::concatenateVectors(b, sideBySide));
    }
    transposePieces(b, pieces);
    for (llvm::Value *piece : pieces) {
      Point at(point);
      at[dim].base = square.front();
      square = square.drop_front();
      Lanes lanes = e.fromMemory(piece, type);
      ev.provide(tile, at, lanes);
      if (at[dim].base == point[dim].base)
        result = lanes;
    }
  }
  return result;
}
} // namespace

Lanes loadedFromSquare(Evaluator &ev, tile::LoadOp load, ArrayRef<Index> point) {
  auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
  const Known &known = ev.known();
  std::optional<unsigned> dim =
      known.square.empty() || load.getIsVolatile() ? std::nullopt : neighbourDim(load.getPlace(), known.counting);
  if (!dim || access.getResidual() || access.getBound(*dim).size() == 1)
    return nullptr;
  return fromSquare(ev, load, point, *dim, [&](ArrayRef<Index> at) { return ev.addresses.ofAccess(load, at); });
}

Lanes storedFromSquare(Evaluator &ev, int buffer, Value tile, ArrayRef<Index> point) {
  ArrayRef<int64_t> shape = tile::shapeOf(tile.getType());
  if (ev.known().square.empty() || shape.empty())
    return nullptr;
  return fromSquare(ev, tile, point, lastDim(shape),
                    [&](ArrayRef<Index> at) { return ev.addresses.ofStored(buffer, shape, at); });
}

} // namespace tilery::lower
