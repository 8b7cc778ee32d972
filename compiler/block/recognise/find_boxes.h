#pragma once
// Accesses that a GPU's copy engine can make: boxes of a strided tensor of rank one to five whose extents and strides the host knows.
#include "compiler/analysis/sign.h"

namespace tilery::block {
using analysis::IndexPolynomial;

/// One dimension of a box's tensor.
struct BoxDimension {
  IndexPolynomial stride; // elements from one to the next; the host knows it
  IndexPolynomial start;  // coordinate of the tile's first lane
  IndexPolynomial extent; // coordinates from 0 to there exist: others read 0 and ignore writes; the host knows it
  int tile = -1;          // the tile dimension that runs along it; -1: the whole tile lies at one coordinate
  /// Of one coordinate: where the stride is 0 at a launch, all coordinates mean the first.
  bool mayRepeat = false;
  /// Of a map made on the device: the start may be negative. The base then moves there, and the coordinate is 0.
  bool shifts = false;
  /// The start comes of loaded numbers, which may be any: more than coordinates have bits for.
  bool isLoaded = false;
  /// A bound says that lanes begin at 0, whatever the start.
  bool mayBeNegative = false;
};

/// What a launch must keep for a box to be the access.
struct BoxCondition {
  IndexPolynomial value; // the host knows it
  int64_t divisor = 0;   // of the value; 0: the value is not negative
};

/// Lane (i_0, ..) of the tile is the element of the tensor at base + offset whose coordinate is start + i_t in the dimension that tile
/// dimension t runs along, and start in the others. Tile dimensions of extent 1 have none.
struct Box {
  mlir::Value base;                              // a pointer argument of the kernel, at a multiple of 16 bytes
  IndexPolynomial offset;                        // elements, a multiple of 16 bytes; the host knows it
  llvm::SmallVector<BoxDimension, 5> dimensions; // innermost first, which has stride 1
  llvm::SmallVector<BoxCondition> conditions;
  /// The kernel makes the map, of what it has loaded: `base` is any pointer, offset, extents and strides may hold such numbers, too.
  bool made = false;
  mlir::Value stem;                       // then: the argument over which the host makes a map of the same boxes
  llvm::SmallVector<BoxCondition> guards; // then: what the device must find kept, or the access is no box
  bool guardsBase = false;                // and base + offset must be a multiple of 16 bytes

  /// The dimension along which a tile dimension runs.
  BoxDimension &along(unsigned tile);
  const BoxDimension &along(unsigned tile) const { return const_cast<Box *>(this)->along(tile); }
  /// Tile dimensions get other numbers: `tile` becomes numbers[tile].
  void renumber(llvm::ArrayRef<int> numbers);
  /// "a_ptr + 16, rank 3: [program 1, 128 * program 0, 64 * step] of [.., M, K], strides [stride_ab, stride_am, 1]", outermost first.
  void print(llvm::raw_ostream &stream) const;
};

/// A box's map may be made on the device in front of an op, of numbers that are computed outside it.
struct MadeMaps {
  mlir::Operation *before = nullptr; // null: it may not
  int64_t promised = 1;              // bytes: of what the address of each row's first lane is a multiple
  bool guarded = false;              // what nobody promises may be asked on the device
};

/// The box that the access is. Nothing if there is none: `why` then says what stands in the way ("its rows are 3 elements apart, ...").
/// live[d], if given: lanes from there on may hold anything, so that rows numbered `(start + i) % rows` are those from start on, with zeros
/// behind the last.
std::optional<Box> findBox(tile::AccessOp access, std::string &why, llvm::ArrayRef<mlir::Value> live = {},
                           const MadeMaps &made = {});
/// What programs promise of the addresses of a load's or a store's rows, in bytes.
int64_t promisedOf(mlir::Operation *op);

/// As a person writes it: arguments by their names, "program 0", "(program 0 / N)".
void print(const IndexPolynomial &polynomial, llvm::raw_ostream &stream);
/// "1 <= stride_am", "8 divides 3 * t".
void print(const BoxCondition &condition, llvm::raw_ostream &stream);

} // namespace tilery::block
