#pragma once
// Products that Hopper's tensor cores can make of boxes, and of what threads fetch.
#include "compiler/block/recognise/find_boxes.h"
#include "compiler/block/recognise/find_fetch.h"
#include "compiler/block/recognise/find_unpacked.h"
#include "compiler/ir/Tile.h"

namespace tilery::block {

/// One dot, or a contraction, from zero, whose factors are boxes or fetched.
struct BoxProduct {
  mlir::Operation *op = nullptr; // a tile.contract, or a tile.dot: one step
  mlir::Type element;            // of both factors
  unsigned m = 0, n = 0, k = 0;  // k: of one step
  /// a: m x k, b: k x n, of step 0, and the steps are neighbours along k; or (`stepped`) of any step, by its number.
  Box a, b;
  bool steppedA = false, steppedB = false;
  bool loadedA = true;  // else a is computed, in registers
  bool turnedA = false; // and then its dimensions are exchanged: threads show it to the tensor cores in shared memory
  /// The first factor is a box of bytes that lie across k: threads read it from its slot into registers, as the tensor cores want them.
  bool readA = false;
  bool loadedB = true;  // else b is computed, and threads show it to the tensor cores in shared memory,
  bool turnedB = false; // its dimensions exchanged
  /// The op's result is the product's transpose, and its second factor our first: so products of few rows take the tensor cores' 64.
  bool swapped = false;

  /// Factors that are no boxes: `a` or `b` then says nothing.
  std::optional<FetchedFactor> fetchedA, fetchedB;
  /// The first factor, `fetchedA`, is computed by the threads that multiply, of what comes as boxes.
  std::optional<UnpackedFactor> unpacked;
  /// The first factor is no box and stays for all steps of a loop: the threads that multiply load it and write it to shared memory.
  bool writtenA = false;

  bool fetches() const { return fetchedA || fetchedB; }
  /// Threads that multiply read the first factor's slot, and hold it in registers.
  bool inRegisters() const { return readA || unpacked; }
  /// True where k is contiguous.
  bool kMajorA() const { return fetchedA ? fetchedA->line == 1 : a.dimensions[0].tile == 1; }
  bool kMajorB() const { return !loadedB ? turnedB : fetchedB ? fetchedB->line == 0 : b.dimensions[0].tile == 0; }
  /// Columns that lie together in shared memory, in a swizzle's row or in neighbouring rows: a product of fewer begins where some of them do,
  /// or within them.
  unsigned columnUnit() const;
  unsigned elementBytes() const { return element.getIntOrFloatBitWidth() / 8; }
  /// Number of steps; null: one.
  mlir::Value steps() const;
  /// The number of a step, in the op; null: there is one.
  mlir::Value step() const;
  /// The rows or columns of a program's tile are others in other steps.
  bool movesAcross() const;
  tile::Precision precision() const;
  bool isUnsigned() const;
  unsigned partialSums() const; // of so many of k, with all bits of their type; 0: the tensor cores' will do
  unsigned stagesHint() const;  // the user's num_stages, or 0
};

/// Nothing if `op` is no such product; `why` then says what stands in the way.
std::optional<BoxProduct> findProduct(mlir::Operation *op, std::string &why);
/// A dot among others: its sums may start from anything, its first factor may be computed, and threads may copy what is no box.
std::optional<BoxProduct> findDot(tile::DotOp dot, std::string &why);
/// True if the dot's sums are of its own products alone.
bool startsFresh(tile::DotOp dot);
/// What is computed of a factor: the tile, as threads hold it.
mlir::Value computedFactor(const BoxProduct &product, bool second = false);
/// The load that a factor shows, with its dimensions exchanged or elements named otherwise; null: it is computed.
tile::LoadOp loadOf(mlir::Value factor);

/// The dimensions of `to`, without those of extent 1, are those of `from`: number[d] in `to` of dimension d of `from` (-1: it has extent 1).
/// Empty: they are not.
llvm::SmallVector<int> sameButOnes(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

} // namespace tilery::block
