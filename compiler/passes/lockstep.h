#pragma once
// Scalar code for all points of a box at once: what parallel-to-tiles and threads-to-tiles share.
//
// Each statement runs for all points before the next one does. A value that depends on some dimensions of the box becomes a tile of
// the box's rank with size 1 where it does not depend; a value that depends on none stays a scalar. Branches become masks and selects.
#include "compiler/passes/parallel_affine.h"
#include "mlir/IR/IRMapping.h"

namespace tilery {

class Lockstep {
public:
  Lockstep(mlir::Operation *op, llvm::ArrayRef<int64_t> box);
  virtual ~Lockstep() = default;

protected:
  /// Adds the form of the body to `scratch`, where the builder stands, and puts that in place of the op; leaves everything as it was if
  /// there is none.
  bool replace(mlir::Block &body, mlir::Block &scratch);

  /// Marks what may differ between points. Loads of uniform places do not: no point writes what another one reads. A pointer that only
  /// some points may follow is an exception: the load is a tile with their mask.
  virtual void findVarying();
  bool anyVaries(mlir::ValueRange values) const;

  // Shapes: every tile has the box's rank.
  llvm::SmallVector<int64_t> thin() const { return llvm::SmallVector<int64_t>(box.size(), 1); }
  void cover(llvm::SmallVectorImpl<int64_t> &shape, mlir::Value value) const;
  /// A tile that was made before the box got another dimension.
  mlir::Value padded(mlir::Value tile);
  /// A tile at the positions that are fixed.
  mlir::Value narrowed(mlir::Value tile);
  /// What a value of the body has become.
  mlir::Value lookup(mlir::Value value);
  /// A converted value in every lane of `shape`.
  mlir::Value spread(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// A tile over the dimensions `dims` (increasing) as a tile of the box's rank.
  mlir::Value stretch(mlir::Value tile, llvm::ArrayRef<int64_t> dims);
  /// The positions along a dimension, as integers of a type.
  mlir::Value positions(unsigned d, mlir::Type type, mlir::Location loc);
  /// The number that is at each point.
  mlir::Value tileOfForm(const Affine &form, mlir::Type type, mlir::Location loc);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value inverse(mlir::Value condition, mlir::Location loc);
  /// yes where the condition holds, else no.
  mlir::Value chosen(mlir::Value condition, mlir::Value yes, mlir::Value no, mlir::Location loc);

  bool convert(mlir::Block &block);
  virtual bool convert(mlir::Operation &inner);
  bool convertElementwise(mlir::Operation &inner);
  bool convertIf(mlir::scf::IfOp branch);
  bool convertFor(mlir::scf::ForOp loop);

  // lockstep_memory.cpp
  /// `place` as a tile place over `dims` of the box: all of them, or for a load those it depends on. Null: none exists.
  mlir::Value tilePlace(mlir::Value place, llvm::SmallVectorImpl<int64_t> &dims, bool load);
  /// All points' indices are from 0 on, below a constant extent.
  bool liesWithin(mlir::Value index, mlir::Value extent);
  /// What tilePlace does with a view that is no box.
  mlir::Value scatteredPlace(tile::ViewOp view, llvm::SmallVectorImpl<int64_t> &dims, bool load);
  /// Whether lanes may lie at places that are computed one by one.
  virtual bool scatters(bool) const { return false; }
  mlir::Value tileView(tile::ViewOp view, llvm::SmallVectorImpl<int64_t> &dims, bool load);
  bool convertLoad(tile::LoadOp load);
  bool cloneLoad(tile::LoadOp load);
  bool convertStore(tile::StoreOp store);
  /// Do two points share an element of `place`?
  bool repeats(mlir::Value place) const;
  bool convertAtomic(mlir::Operation &inner);

  /// Where the points' elements of a buffer are: the buffer that it has become, and where an element lies in that.
  struct Position {
    mlir::Value buffer;
    llvm::SmallVector<Affine> indices;
  };
  virtual std::optional<Position> position(mlir::TypedValue<tile::BufferType> buffer, mlir::ValueRange indices,
                                           mlir::Location loc);
  /// Whether windows may be lines of a buffer that the box numbers with several dimensions.
  virtual bool takesLines() const { return false; }
  /// The dimensions of the box that number the elements of a line of `size`, the slowest first: `8 * t + i` of 32 x 8. Empty: none do.
  llvm::SmallVector<unsigned> digits(const Affine &index, int64_t size) const;
  /// The same for all indices of a buffer, of which one at least is numbered by several dimensions.
  llvm::SmallVector<unsigned> linesOf(llvm::ArrayRef<Affine> indices, llvm::ArrayRef<int64_t> shape) const;
  /// The window of a buffer that the box walks; order[n] is the dimension of the box of window dimension n. Null: none exists.
  mlir::Value window(mlir::TypedValue<tile::BufferType> buffer, mlir::ValueRange indices, mlir::Location loc,
                     llvm::SmallVectorImpl<int64_t> &order);
  /// Buffers are the same for all points, so that an index may be divided: `j // 2`.
  virtual bool takesQuotients() const { return false; }
  struct Quotient {
    unsigned dim; // of the box
    int64_t by;
  };
  /// An index that walks a dimension of `size`, each place for as many points of the box: `j // 2` of 128 points and 64 places.
  std::optional<Quotient> quotient(mlir::Value index, int64_t size);
  /// The buffer's elements, each as often as its places are; `order` as of `window`. Null: some index is another one.
  mlir::Value repeated(mlir::TypedValue<tile::BufferType> buffer, mlir::ValueRange indices, mlir::Location loc,
                       llvm::SmallVectorImpl<int64_t> &order);
  /// One element each of groups that a dimension of the buffer consists of; `order` as of `window`. Null: some index is another one.
  mlir::Value picked(mlir::TypedValue<tile::BufferType> buffer, mlir::ValueRange indices, mlir::Location loc,
                     llvm::SmallVectorImpl<int64_t> &order);
  bool convertElementLoad(tile::ElementLoadOp load);
  bool convertElementStore(tile::ElementStoreOp store);
  bool convertUpdate(tile::ElementUpdateOp update);

  // lockstep_combine.cpp
  mlir::Value combine(tile::RmwKind kind, mlir::Location loc, mlir::Value x, mlir::Value y);
  /// What a point that a branch leaves out contributes.
  mlir::TypedAttr neutral(tile::RmwKind kind, mlir::Type type);
  mlir::Value reduced(tile::RmwKind kind, mlir::Location loc, mlir::Value tile, int64_t axis);

  mlir::Operation *op;
  llvm::SmallVector<int64_t> box;
  mlir::OpBuilder builder;
  mlir::IRMapping map;                 // body value -> its scalar or tile
  llvm::DenseSet<mlir::Value> varying; // body values that may differ between points
  AffineReader affine;
  mlir::Value mask; // points that reach the current statement; null: all
};

} // namespace tilery
