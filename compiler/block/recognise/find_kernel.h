#pragma once
// Kernels that the block level takes: one product with elementwise work on its result (`ProductKernel`), or products among other work, in
// loops or without (`LoopKernel`).
#include "compiler/block/recognise/find_product.h"
#include "compiler/block/recognise/map_boxes.h"
#include <variant>

namespace tilery::block {

struct ProductKernel {
  tile::KernelOp kernel;
  BoxProduct product; // in loops over tiles and branches, it may be
  llvm::SmallVector<tile::StoreOp> stores;
  llvm::SmallVector<tile::AtomicRmwOp> sums; // tiles that memory is updated with; nobody takes what was there before
  llvm::SmallVector<tile::LoadOp> rereads;   // loads of arguments that it stores to, too
  bool showsStores = false;                  // a load may come behind what this program or another one has stored
  bool loadsBehindStores = false;            // of other arguments, which must not overlap those that are stored
  bool synchronizes = false;                 // programs wait for each other, or show each other what they have stored
  bool spins = false;                        // in a loop

  /// All that it stores and adds.
  llvm::SmallVector<mlir::Operation *> outputs() const;
  bool isNested() const { return product.op->getParentOp() != tile::KernelOp(kernel); }
};

/// What an op puts into memory, and where.
struct StoredTile {
  mlir::Value value, place;
  bool adds = false; // to what is there
  mlir::Operation *op = nullptr;
};
/// Nothing for ops that store no tile, and for updates that the copy engine does not make: any other than sums, those whose old values
/// somebody takes, or whose order other devices see.
std::optional<StoredTile> storedTile(mlir::Operation *op);

/// Nothing if the kernel is anything else; `why` then says what stands in the way of its product (empty: it has none).
std::optional<ProductKernel> findKernel(tile::KernelOp kernel, std::string &why);

/// How threads leave a factor in shared memory: its lines are rows.
struct FetchedTile {
  int64_t shape[2];
  mlir::Type element;

  SharedType sharedType() const { return SharedType::get(element.getContext(), shape, element, {}); }
  bool operator==(const FetchedTile &other) const {
    return shape[0] == other.shape[0] && shape[1] == other.shape[1] && element == other.element;
  }
};

/// What one ring brings: tiles of one tensor, each by a load.
struct LoopRing {
  MappedTile tile;
  std::optional<FetchedTile> fetched = {}; // where threads copy it, in place of `tile`
  llvm::SmallVector<tile::LoadOp> loads;   // at most one of a stretch
  bool held = false;                       // one tile stays for products of other stretches
  bool isRead = false;                     // threads read it; else products do

  SharedType sharedType() const { return fetched ? fetched->sharedType() : tile.sharedType(); }
  int64_t bytes() const; // of a slot
};

/// A row or a column that a loop computes with, beside its factors.
struct LoadedLine {
  tile::LoadOp load;
  MappedTile tile;
};

/// Shared memory in which threads hand a tile on: a computed factor to the tensor cores, sums that are added to memory to the copy engine.
struct StagingBuffer {
  SharedType type;
  llvm::SmallVector<mlir::Operation *> users; // products and additions, at most one of a stretch
  bool second = false;                        // of products: their second factors
};

/// Products among other work, in loops and branches or without, as attention has them.
struct LoopKernel {
  tile::KernelOp kernel;
  llvm::SmallVector<mlir::scf::ForOp> loops; // those of the kernel's body, and others that hold products, each before those in it
  llvm::SmallVector<mlir::scf::IfOp> branches; // that hold products
  std::vector<BoxProduct> dots;                // of the loops, and of the code around them
  std::vector<LoadedLine> lines; // of the loops, those that are boxes; tiles, too, where loops show or store what they compute
  llvm::SmallVector<tile::StoreOp> stores;        // of the loops, too
  llvm::SmallVector<tile::AtomicRmwOp> additions; // of the loops: products' sums that are added to memory, in boxes
  llvm::SmallVector<tile::AtomicRmwOp> updates;   // other tiles that memory is updated with, by threads
  bool loadsBehindStores = false;                 // of other arguments, which must not overlap those that are stored
  bool inOrder =
      false; // an update orders what is stored before it: threads store and update, for the copy engine does some time later

  /// Stretches of the kernel's code run from one of its loops and branches, or their ends, to the next; numbered as they stand.
  unsigned stretchOf(mlir::Operation *op) const;
  bool isInLoop(mlir::Operation *op) const;
  /// One of `loops` or `branches`.
  bool isNest(mlir::Operation *op) const;
  /// Products stand in loops in loops, or in branches.
  bool isNested() const;
  /// In the order of their first loads. Loads of equal tensors share a ring where each has its products in its own stretch.
  std::vector<LoopRing> rings() const;
  /// What consumers share: the most rows that a product has and that are a multiple of those of all products with fewer.
  unsigned rows() const;
  /// The product's first factor is computed, and other threads hold what a warpgroup multiplies of it.
  bool isShown(const BoxProduct &dot) const { return !dot.loadedA && !dot.writtenA && (dot.turnedA || dot.m != rows()); }
  /// The product that shows the computed second factor of this one, before it in the same code or itself.
  mlir::Operation *showsSecond(const BoxProduct &dot) const;
  std::vector<StagingBuffer> stagingBuffers() const;
  /// What threads load of what it changes.
  llvm::SmallVector<tile::LoadOp> rereads() const;
  /// Shapes of the products' sums.
  llvm::SmallVector<std::pair<unsigned, unsigned>> results() const;
};
/// How an addition to memory is one of boxes; nothing (`why`) if threads have to make it.
std::optional<MappedTile> mapAdded(tile::AtomicRmwOp addition, llvm::ArrayRef<std::pair<unsigned, unsigned>> results,
                                   std::string &why);
/// Leaves `why` alone where no loop has products.
std::optional<LoopKernel> findLoopKernel(tile::KernelOp kernel, std::string &why);

/// The product's first or second factor as threads bring it; nothing: it is a box.
std::optional<FetchedTile> fetchedTile(const BoxProduct &product, bool second);
/// The product's first or second factor, in boxes.
MappedTile factorTile(const BoxProduct &product, bool second);

/// A line or a number, which several threads load, unlike a tile that lies as one of the products' sums do.
bool isOfSeveralThreads(tile::LoadOp load, llvm::ArrayRef<std::pair<unsigned, unsigned>> results);

using FoundKernel = std::variant<ProductKernel, LoopKernel>;
std::optional<FoundKernel> findAnyKernel(tile::KernelOp kernel, std::string &why);

/// What passes ask about a kernel (`getAnalysis`): looked for once, and anew where a pass has changed the kernel.
struct KernelAnalysis {
  explicit KernelAnalysis(mlir::Operation *kernel) : found(findAnyKernel(llvm::cast<tile::KernelOp>(kernel), why)) {}

  const ProductKernel *product() const { return found ? std::get_if<ProductKernel>(&*found) : nullptr; }
  const LoopKernel *loops() const { return found ? std::get_if<LoopKernel>(&*found) : nullptr; }

  std::string why; // nothing is found: what stands in the way
  std::optional<FoundKernel> found;
};

/// The two dimensions of what is stored that are not of one lane, if a product has such a result.
std::optional<std::pair<unsigned, unsigned>> storedSums(const StoredTile &stored,
                                                        llvm::ArrayRef<std::pair<unsigned, unsigned>> results);

/// A stored tile of the product's shape (beside dimensions of one lane) in boxes that the copy engine may write. Nothing if threads have to
/// store it; `why`.
std::optional<MappedTile> mapStored(const StoredTile &stored, const BoxProduct &product, std::string &why);
/// A stored m x n tile (beside dimensions of one lane) in boxes that the copy engine may write. Nothing if threads have to store it; `why`.
/// Of ops with `block.device_map` the device may make the map, where it finds kept what the box needs: threads store it otherwise.
std::optional<MappedTile> mapStored(const StoredTile &stored, unsigned m, unsigned n, std::string &why);

} // namespace tilery::block
