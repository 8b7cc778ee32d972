#pragma once
// What the files of the builder share.
#include "compiler/builder/module_impl.h"
#include "tilery/builder.h"
#include "tilery/spelling.h"

namespace tilery {

struct Builder::Impl {
  explicit Impl(Builder &self, Policy policy);

  Builder &self;
  Policy policy;
  bool checksOverflow = false;
  bool fastMath = false;
  std::unique_ptr<Module::Impl> module;
  mlir::OpBuilder b;
  std::function<std::vector<SourceLocation>()> provider;
  /// Regions being built, innermost last; `op` is null for a scratch mark.
  struct Frame {
    mlir::Operation *op = nullptr;
    mlir::OpBuilder::InsertPoint after; ///< where building goes on when the region ends
    mlir::Operation *last = nullptr;    ///< scratch: the op before the mark, null at the start of a block
    std::vector<DType> dtypes;          ///< of the tiles a combine region reduces
    std::vector<Type> types;            ///< of the values a while loop carries
  };
  std::vector<Frame> frames;
  mlir::Operation *parallelTogether = nullptr; ///< what the open parallel region of threads stands in

  mlir::Location loc();
  mlir::Type elementType(DType dtype);
  mlir::Type memoryType(DType dtype) { return elementType(dtype == DType::Bool ? DType::U8 : dtype); }
  mlir::Type lower(const Type &type);
  /// The SSA value; throws if it does not exist at the current position.
  mlir::Value raw(const Value &value);
  std::vector<mlir::Value> raw(const std::vector<Value> &values);
  Value wrap(mlir::Value value, DType dtype) const;
  Value wrapPointer(mlir::Value value, DType pointee, bool isConst) const;
  Value like(mlir::Value value, const Type &type) const { return {value.getAsOpaquePointer(), type}; }
  template <typename Op, typename... Args> Op create(Args &&...args) { return Op::create(b, loc(), std::forward<Args>(args)...); }

  /// The value of a function, which may be an approximation where the program wants fast math.
  mlir::Value approximated(mlir::Value value);

  Value constant(const Literal &value, const Type &type);
  /// An integer operand as i64 (literals too), scalars only.
  mlir::Value index(const Operand &operand);
  std::vector<mlir::Value> indices(const std::vector<Operand> &operands);
  /// What takes numbers got an address: "`wanted`, and `n` is the address of a tensor".
  [[noreturn]] void failAddress(const std::string &wanted, const Value &pointer);
  Value offsetPointer(BinaryOp op, const Value &pointer, const Operand &offset);
  /// Mask as bool of exactly `shape`.
  mlir::Value mask(const std::optional<Operand> &mask, const Shape &shape);
  /// Converts to the form memory holds (Bool becomes a byte) and back.
  mlir::Value toMemory(const Value &value);
  Value fromMemory(mlir::Value value, DType dtype);
  void addHint(mlir::Operation *op, const std::string &name, const Hint &hint);
  void openRegion(mlir::Operation *op, mlir::Region &region);
  Frame &top(llvm::StringRef what);
  void endBody(const char *what, mlir::ValueRange yields = {});
  /// The innermost open region of that kind; null: none is open.
  template <typename Op> Op open() const {
    for (const Frame &frame : llvm::reverse(frames))
      if (auto op = llvm::dyn_cast_if_present<Op>(frame.op))
        return op;
    return {};
  }
  /// What is built now runs once in each thread.
  bool runsThreads() const { return open<tile::ThreadsOp>() && !open<tile::TogetherOp>(); }
};

/// Rewrites the arithmetic that feeds addresses and access masks to be marked as not wrapping; see docs/reference/ir.md, "Index arithmetic".
void markIndexArithmetic(tile::KernelOp kernel);
/// A kernel whose blocks meet becomes several.
void splitIntoPhases(tile::KernelOp kernel);

/// Threads wait for each other between conflicting accesses to a buffer that they share, where the body has no such wait yet.
void placeSyncs(tile::ThreadsOp threads);

/// What a program has promised of the rows of a place or of a tile of pointers (bytes); null: nothing.
mlir::Attribute promiseOfRows(mlir::Value addresses);

inline mlir::Value toMlir(void *handle) { return mlir::Value::getFromOpaquePointer(handle); }
/// The promotion tables (promotion.cpp). Null kind of failure: throws through `self`.
DType promote(Builder &self, Policy policy, const Operand &lhs, const Operand &rhs, BinaryOp op);
DType literalType(Policy policy, const Literal &literal);
/// The greatest finite number of an element type.
double greatestNumber(DType type);
std::string literalText(const Literal &literal);
std::string shapeText(const Shape &shape);
const char *symbolOf(BinaryOp op);
const char *symbolOf(UnaryOp op);

tile::RmwKind lowerKind(RmwKind kind, DType type);

} // namespace tilery
