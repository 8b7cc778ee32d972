#pragma once
// Builds random kernels: a pool of values that random ops draw from and add to.
#include "program.h"

namespace tilery::fuzz {

using Shape = llvm::SmallVector<int64_t, 4>;

class Generator {
public:
  Generator(mlir::MLIRContext &context, uint64_t seed, Style style);
  Program run();

private:
  // values.cpp: scalar and elementwise ops; they work on tiles and on scalars alike.
  mlir::Value pick(llvm::function_ref<bool(mlir::Value)> wanted);
  mlir::Value pickLike(mlir::Type type);
  mlir::Value constant(mlir::Type type);
  mlir::Value integer(int64_t value, unsigned width);
  void elementwise();
  mlir::Value unary(mlir::Value x);
  mlir::Value binary(mlir::Value x, mlir::Value y);
  mlir::Value compare(mlir::Value x, mlir::Value y);
  mlir::Value convert(mlir::Value x, mlir::Type element);

  // shapes.cpp: ops that move or combine lanes.
  void shapeOp();
  void reduction();
  mlir::Value rowsReduced(mlir::Value x); ///< along the last dimension
  void scan();
  void dot();

  // memory.cpp: arguments, loads, stores.
  struct Array {
    mlir::Value pointer;
    Shape extents, strides;                      ///< in elements; dimension 0 is cut among the programs
    llvm::SmallVector<mlir::Value> extentValues; ///< the extents as i64
  };
  /// `exact`: of this shape and dense; else cut among the programs, of about that size.
  Array makeArray(llvm::ArrayRef<int64_t> shape, mlir::Type element, bool written, bool exact = false);
  mlir::Value place(const Array &array, llvm::ArrayRef<int64_t> shape, mlir::Type element, bool forStore);
  mlir::Value pointerPlace(const Array &array, llvm::ArrayRef<int64_t> shape, mlir::Type element, bool forStore);
  mlir::Value accessPlace(const Array &array, llvm::ArrayRef<int64_t> shape, mlir::Type element);
  mlir::Value viewPlace(const Array &array, llvm::ArrayRef<int64_t> shape, mlir::Type element);
  mlir::Value load(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  void store(mlir::Value value);
  void atomic();
  mlir::Value scalarArgument(mlir::Type type, uint64_t slot);

  // products.cpp
  struct Operand { ///< of a contraction
    Array array;
    Shape tile;
    unsigned kDim;
    bool cutRows; ///< its rows are cut among the programs
  };
  Operand operand(llvm::ArrayRef<int64_t> tile, unsigned kDim, int64_t steps, mlir::Type element, bool cutRows);
  mlir::Value loadOperand(const Operand &operand, mlir::Value step, mlir::Type element);
  void contract();
  /// One product of tiles that tensor cores take, elementwise work on it and a store: a kernel as libraries write it.
  void productKernel();
  /// body(number of a tile), for the program's number along the axis (no turns), or in a loop or a branch.
  void overTiles(unsigned axis, int64_t turns, llvm::function_ref<void(mlir::Value)> body);
  /// An array of these extents and rows of a multiple of 16 bytes, at an aligned pointer that the compiler knows to be aligned.
  Array alignedArray(llvm::ArrayRef<int64_t> extents, bool transposed, mlir::Type element, bool written);
  mlir::Value alignedPlace(const Array &array, llvm::ArrayRef<int64_t> tile, llvm::ArrayRef<mlir::Value> starts,
                           mlir::Type element);

  // rows.cpp
  /// Loops over rows or pieces of rows, which load, compute, reduce and store: a kernel as libraries write it.
  void rowKernel();
  /// A row a program, all of it at once: what blocks of a cluster may share.
  void wholeRowKernel();
  Array arrayOfRows(llvm::ArrayRef<int64_t> extents, mlir::Type element, bool written);

  // chains.cpp
  struct Chain;
  mlir::Value chainTile(const Array &array, llvm::ArrayRef<int64_t> shape, mlir::Value row, mlir::Type element);
  mlir::Value chainLine(const Chain &chain, mlir::Value at);
  mlir::Value chainTakes(const Chain &chain, mlir::Value number);
  llvm::SmallVector<mlir::Value> chainLoop(const Chain &chain, unsigned sums);
  /// One or two loops of products that need each other's results, with stores between them.
  void chainKernel();

  // control.cpp: regions.
  /// At most `count` values of the pool, for a loop to carry.
  llvm::SmallVector<mlir::Value> carried(int count);
  void repeat(mlir::ValueRange inits, mlir::Value from, mlir::Value to, mlir::Value step,
              llvm::function_ref<void(mlir::Value)> body);
  void loop();
  void branch();
  void whileLoop();
  void buffers();
  void update(mlir::Value output, mlir::ValueRange indices, mlir::Value value);
  void parallelBody(mlir::ValueRange inputs, mlir::Value output, mlir::ValueRange indices);
  mlir::Value condition();
  void someOps(int count);
  void step();

  // roles.cpp
  /// A ring of tiles that one role fills and others read, by barriers.
  void roles();
  /// A buffer whose elements lie in another order than they are written and read.
  void layout();

  // threads.cpp
  void threads();
  mlir::Value otherThread(mlir::Value thread, int64_t count);
  void exchange(mlir::Value thread, int64_t count, mlir::Value shared);
  void shuffleOrVote(int64_t count);
  void warpDot(int64_t count);
  void ownArray(mlir::Value thread);
  void threadFlow(mlir::Value thread, int64_t count);

  // timing.cpp
  /// Two readings of the clock, around another op or in a loop that waits.
  void timing();

  mlir::Type floatType();
  mlir::Type intType();
  mlir::Type anyType() { return random.chance(0.6) ? floatType() : intType(); }
  Shape anyShape();
  void add(mlir::Value value) { pool.push_back(value); }
  /// The program's own start along dimension 0 of tiles of `rows` rows, as `width`-bit integer.
  mlir::Value start(int64_t rows, unsigned width);

  Random random;
  Style style;
  bool product;  ///< the program is one product, or loops of several
  bool rowwise;  ///< it is loops over rows
  bool wholeRow; ///< it is one row a program
  bool timed;    ///< it has readings of the clock
  bool threaded; ///< it has code for the threads of a block
  bool roled;    ///< it has roles and barriers
  bool laidOut;  ///< it has a buffer with a layout
  mlir::OpBuilder b;
  mlir::Location loc;
  Program program;
  mlir::Block *entry = nullptr;
  mlir::Value pid;               ///< i32, linear over the grid
  std::vector<mlir::Value> pool; ///< values in scope
  int depth = 0;                 ///< of regions
  int loads = 0;
  llvm::SmallVector<unsigned> aligned; ///< arguments that the kernel knows to be multiples of 16
};

} // namespace tilery::fuzz
