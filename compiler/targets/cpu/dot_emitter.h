#pragma once
// The emission of one dot or contraction. dot.cpp: tiles of the result, the loop over K; dot_panels.cpp: operands into panels.
#include "compiler/targets/cpu/dot.h"
#include "compiler/lower/scopes.h"
#include "compiler/targets/cpu/dot_pack.h"

namespace tilery::cpu {

/// Rows of a sliver, K elements each as they lie in memory.
struct CopiedRows {
  llvm::Value *memory = nullptr; // null: none are copied, or they are packed already
  llvm::Value *first = nullptr;  // the position of the first row
};

class DotEmitter {
public:
  DotEmitter(Evaluator &ev, mlir::Operation *op, const DotPlan &plan, const DotSurroundings &around)
      : ev(ev), e(ev.e), b(ev.e.b), op(op), around(around), plan(plan), contract(mlir::dyn_cast<tile::ContractOp>(op)),
        compute(e.valueType(plan.compute)), bytes(compute->getScalarSizeInBits() / 8) {}

  void run();

private:
  llvm::Value *i64(int64_t value) { return b.getInt64(value); }
  llvm::Value *element(llvm::Value *base, llvm::Value *index) { return b.CreateInBoundsGEP(compute, base, index); }
  void emitBatch(llvm::Value *batch, llvm::Value *tile, llvm::Value *steps);
  llvm::Value *depthInUse(llvm::Value *to, llvm::Value *depth);
  void emitTiles(llvm::Value *a, llvm::Value *bPanel, llvm::Value *depth, llvm::Value *used, llvm::Value *tile,
                 llvm::Value *accumulate);
  llvm::Value *placeOfStore(llvm::Value *steps, llvm::Value *&place, llvm::Value *&stride);
  llvm::Value *liveSlivers(bool ofRows);
  using SliverBody = llvm::function_ref<void(llvm::Value *sliver, llvm::Value *first, unsigned width)>;
  void forSlivers(bool ofRows, SliverBody body) { forSlivers(cut(ofRows), live[ofRows], body); }
  void forSlivers(const Cut &cut, llvm::Value *slivers, SliverBody body);
  void forWidth(const Cut &cut, llvm::Value *sliver, llvm::function_ref<void(unsigned width)> body);
  llvm::Value *startOf(const Cut &cut, llvm::Value *sliver);
  const Cut &cut(bool ofRows) const { return ofRows ? plan.blocking.rows : plan.blocking.columns; }
  const Cut &cut(const DotOperand &operand) const { return cut(operand.isA); }
  int64_t aheadAlongK(const DotOperand &operand);
  LaneMemory::Ahead ahead(const DotOperand &operand);
  int64_t stepsPerPiece() const { return std::max<int64_t>(1, 64 / plan.k); }
  llvm::Value *piecesOf(const DotOperand &operand, llvm::Value *from, llvm::Value *to);

  /// One operand's panel for steps [from, to): its memory, complete.
  llvm::Value *panel(const DotOperand &operand, llvm::Value *batch, llvm::Value *from, llvm::Value *to, llvm::Value *&handle);
  llvm::Value *findPanel(const DotOperand &operand, llvm::Value *batch, llvm::Value *from, llvm::Value *to, llvm::Value *pieces);
  void packPiece(const DotOperand &operand, llvm::Value *memory, llvm::Value *piece, llvm::Value *batch, llvm::Value *from,
                 llvm::Value *to);
  void enterStep(llvm::Value *step);
  void knowingNothing(llvm::function_ref<void()> code);
  void whereInside(const DotOperand &operand, const Sliver &sliver, llvm::function_ref<void()> code);
  void packStep(const DotOperand &operand, const Sliver &sliver, llvm::Value *batch);
  // -- one row (dot_row.cpp)
  llvm::Value *readsInPlace();
  void multiplyRow(llvm::Value *a, llvm::Value *batch, llvm::Value *from, llvm::Value *to, llvm::Value *tile,
                   llvm::Value *accumulate);
  void multiplyRowStep(const Sliver &sliver, llvm::Value *a, llvm::Value *batch, llvm::Value *tile, llvm::Value *accumulate);
  Point pointOf(const DotOperand &operand, llvm::Value *batch, llvm::Value *position, llvm::Value *k, unsigned n,
                bool lanesAlongK);
  /// Where n lanes along K lie and those of the next positions, if the operand is nothing but elements in memory, all of them there.
  std::optional<PackRows> rowsInMemory(const DotOperand &operand, llvm::Value *batch, llvm::Value *position, llvm::Value *k,
                                       unsigned n);
  llvm::Value *fetch(const DotOperand &operand, llvm::Value *batch, llvm::Value *position, llvm::Value *k, unsigned n,
                     bool lanesAlongK);
  llvm::Value *fetchWords(const DotOperand &operand, llvm::Value *batch, llvm::Value *position, llvm::Value *word, unsigned n,
                          bool lanesAlongK, unsigned count);
  bool flips(const DotOperand &operand) const { return !operand.isA && plan.blocking.flipsB(); }
  llvm::Value *turnWords(llvm::Value *words, const DotOperand &operand);
  llvm::Value *toPart(llvm::Value *value, const DotOperand &operand, unsigned n);
  llvm::Value *toCompute(llvm::Value *value, const DotOperand &operand, unsigned n);
  /// n words, as they are packed, of all their values.
  llvm::Value *packedWords(llvm::Value *values, const DotOperand &operand, unsigned n);
  void forVirtual(const DotOperand &operand, llvm::function_ref<void(mlir::Operation *)> each);
  bool sameAlong(const DotOperand &operand);
  llvm::Value *covered(tile::LoadOp load, llvm::SmallVectorImpl<KnownBound> &known);
  llvm::Value *inStrands(const DotOperand &operand, llvm::SmallVectorImpl<KnownBound> &known);
  /// Packs the rows of a sliver at once, where they are put together in the order of a panel, or copies them.
  CopiedRows copyRows(const DotOperand &operand, const Sliver &sliver, llvm::Value *batch);
  llvm::Value *copiedAt(const DotOperand &operand, llvm::Value *position, llvm::Value *k);
  Lanes fetchCopied(const DotOperand &operand, llvm::Value *position, llvm::Value *k, unsigned n);
  std::optional<PackRows> rowsOf(const DotOperand &operand, mlir::Type element, llvm::Value *first, llvm::Value *bytes,
                                 int64_t ahead);
  llvm::Value *inside(const DotOperand &operand, const Sliver &sliver, llvm::SmallVectorImpl<KnownBound> &known);
  bool hasSeveralStored(mlir::Value indices);
  llvm::Value *consecutive(mlir::Value indices, const Sliver &sliver);
  llvm::Value *inRuns(tile::LoadOp load, mlir::Value steps, llvm::Value *first, unsigned count, unsigned lanes);
  int64_t number();
  llvm::Value *programsPerPanel(const DotOperand &operand);
  llvm::Value *packsAlone(const DotOperand &operand, llvm::Value *steps);
  void convertTile(mlir::Type from, llvm::Value *source, mlir::Type to, llvm::Value *target);

  Evaluator &ev;
  Emitter &e;
  llvm::IRBuilder<> &b;
  mlir::Operation *op;
  const DotSurroundings &around;
  const DotPlan &plan;
  tile::ContractOp contract;
  llvm::Type *compute;
  int64_t bytes;
  llvm::Value *square = nullptr;    // memory for rows of vectors that are computed to be packed
  CopiedRows copied;                // of the sliver that is packed
  llvm::AllocaInst *copies[2] = {}; // where those of B, of A are
  bool rowMoves = false;            // the innermost loop goes over positions along a sliver
  bool kIsOutside = false;          // and k is of the next one
  bool kIsWhole = false;            // lanes along K begin at a multiple of their number
  llvm::Value *ldc = nullptr;       // elements a row of where the products go
  llvm::Value *alone[2] = {};       // the program packs B, A for itself (i1); null: never
  llvm::Value *oneRow = nullptr;    // no more than one row of few is used (i1); null: never asked
  llvm::Value *live[2] = {};        // slivers of columns and of rows that hold something used, at least 1; null: all
};

} // namespace tilery::cpu
