#pragma once
// How plans are made: ops into steps (planner.cpp), which tiles are stored (plan_stored.cpp), and in which buffers (plan_storage.cpp).
#include "compiler/lower/pull.h"

namespace tilery::lower {

class Planner {
public:
  Planner(tile::KernelOp kernel, const Options &options) : kernel(kernel), options(options) {}
  Plan run();

private:
  /// A step with what the decisions need to know of it. `order` grows within a block.
  struct Info {
    Step step;
    mlir::Block *block = nullptr;
    mlir::Operation *initOf = nullptr; // belongs to plan.inits of this op
    int64_t order = 0, position = 0;   // position: of its last op, in program order of the kernel
    Pull pull;
    unsigned work = 0;
    llvm::DenseMap<mlir::Value, unsigned> taken; // elements of each tile that one of the nest's takes
    llvm::DenseSet<mlir::Value> pending;         // what it defines, and what is computed of that behind it
    llvm::SmallVector<mlir::Operation *> later;  // scalar ops that wait for it: other sinks may join it meanwhile
  };
  struct PullSite {
    Info *info;
    Pull::Reach reach;
  };

  // planner.cpp
  void number();
  bool stored(mlir::Value value) const;
  void buildBlock(mlir::Block &block);
  void buildTerminator(mlir::Operation *op, mlir::Block &block);
  void buildInits(mlir::Operation *op, mlir::ValueRange tiles, mlir::ValueRange targets);
  void buildOp(mlir::Operation &op, mlir::Block &block);
  void addSink(Sink sink, llvm::ArrayRef<int64_t> shape, int64_t position, mlir::Block &block, mlir::Operation *initOf = nullptr);
  /// The sink may be computed in the nest, and is worth it.
  bool canJoin(const Info &nest, const Sink &sink, llvm::ArrayRef<int64_t> shape, const Pull &pull) const;
  bool isWorthJoining(const Info &nest, const Sink &sink, const Pull &pull) const;
  bool waitsFor(const Info &nest, const Sink &sink, const Pull &pull) const;
  bool copyOverRead(const Info &nest, const Sink &other, const Sink &sink, const Pull &pull) const;
  bool keepOrder(const Sink &other, const Sink &sink, const Pull &pull) const;
  bool leavesReads(const Info &nest, const Sink &sink) const;
  void close();
  void addStep(std::unique_ptr<Info> info, mlir::Operation &op);
  /// An op on what the open nest reduces, which need not end the nest.
  bool mayWait(mlir::Operation &op, const Pull &pull) const;
  bool isNestedUpdate(tile::AtomicRmwOp update) const;
  bool lieAlike(const Info &nest, const Sink &sink, llvm::ArrayRef<int64_t> shape) const;
  void collectSites();
  void storeScans(Plan &plan);
  bool mayStoreStraight(const Info &info, const Info &next) const;

  // plan_stored.cpp
  /// Stores one more tile, or several, if that is needed or worth it: then steps are made anew.
  bool refine();
  int64_t lastPosition(mlir::Value value, const PullSite &site) const;
  bool illegalLoad(mlir::Value load, const PullSite &site) const;
  bool worthStoring(mlir::Value value, llvm::ArrayRef<PullSite> sites) const;
  mlir::Value costlyOperand(mlir::Value value) const;
  mlir::Value betterStored(mlir::Value value);
  mlir::Value beforeTurn(mlir::Value value) const;
  mlir::Value inLongRows(mlir::Value value) const;
  // plan_pieces.cpp
  /// What an element of the tiles takes that are not stored, as of costOf, at least 1 each.
  unsigned workOf(const Pull &pull) const;
  static unsigned workOf(mlir::Value value);
  bool staysVirtual(mlir::Value value) const;
  /// Stores what lives between two pieces of a nest.
  bool cutNest(const Info &info);
  bool cutLong();

  bool doubleCarried();
  bool storeTurned();

  // plan_storage.cpp
  void assignBuffers(Plan &plan);
  void shareBuffers();
  void exchangeTurned();
  void shareWithYield(mlir::Value value, mlir::Value target);
  void shareWithInit(mlir::Operation *op, mlir::Value value, mlir::Value target);
  int bufferOf(mlir::Value value);
  int newBuffer(mlir::Type type, int64_t first, int64_t last);
  void finishSteps(Plan &plan);
  void addTemporaries(Plan &plan);
  mlir::Value leader(mlir::Value value) const;

  tile::KernelOp kernel;
  const Options &options;
  llvm::DenseMap<mlir::Operation *, int64_t> begin, end;
  std::vector<mlir::Operation *> writers;
  llvm::DenseSet<mlir::Value> scratch; // chosen, beyond those that must be stored
  llvm::DenseMap<mlir::Value, unsigned>
      turned;                          // loads stored because steps take them along this dimension, not along their neighbours
  llvm::DenseSet<mlir::Value> doubled; // carried arguments whose new value goes through a temporary
  uint64_t rounds = 0;                 // of refine
  std::vector<std::unique_ptr<Info>> infos;
  std::unique_ptr<Info> open;
  int64_t order = 0;
  llvm::MapVector<mlir::Value, llvm::SmallVector<PullSite>> sites;
  llvm::DenseMap<mlir::Value, Info *> definitions;  // the step that fills a stored tile
  llvm::DenseSet<mlir::Value> loading;              // whose expressions read memory
  llvm::DenseMap<mlir::Value, mlir::Value> leaders; // tiles that share a buffer
  llvm::DenseMap<mlir::Value, int> buffers;
  std::vector<ScratchBuffer> scratchBuffers;
};

/// The carried tiles of a loop or the merged ones of an `if`: where a terminator's operand goes. Null for scalars' positions too.
llvm::SmallVector<mlir::Value> terminatorTargets(mlir::Operation *terminator);

} // namespace tilery::lower
