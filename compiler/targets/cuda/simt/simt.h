#pragma once
// Any tile program on any NVIDIA GPU from sm_80: one block a program, whose threads share the elements of each nest of the plan.
#include "compiler/lower/atomics.h"
#include "compiler/lower/codegen.h"
#include "compiler/targets/cuda/ptx/thread_machine.h"
#include "compiler/targets/cuda/simt/simt_plan.h"
#include "compiler/targets/cuda/simt/hazards.h"
#include "compiler/targets/cuda/ptx/target.h"
#include "tilery/runtime.h"
#include <set>

namespace tilery::cuda {

/// Shared memory in which threads hand values to each other: slots of one value of eight bytes a warp.
constexpr unsigned exchangeSlots = 8, exchangeBytes = 32 * 8;
/// What that leaves to stored tiles.
inline uint64_t tileBytes(const CudaTarget &target) { return target.sharedBytes - exchangeSlots * exchangeBytes; }

/// What a sink takes, as far as it has values.
llvm::SmallVector<mlir::Value> sourcesOf(const lower::Sink &sink);

/// Scalar code runs in every thread alike; effects on memory happen once. Stored tiles lie in registers where the plan says so, else in
/// shared memory; threads wait for each other where one may need what another one wrote.
class SimtEmitter : public lower::KernelEmitter, lower::ThreadModel {
public:
  /// mayAsk: the code may hang on conditions of a launch.
  SimtEmitter(lower::Emitter &e, tile::KernelOp kernel, const SimtPlan &plan, const CudaTarget &target, ThreadMachine &machine,
              bool mayAsk = false);
  /// Adds the kernel to the module; failure after an error was reported.
  mlir::FailureOr<GpuInfo> emit();

protected:
  using Indices = llvm::ArrayRef<lower::Index>;
  void forEach(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(Indices)> body) override;
  bool block(mlir::Block &block) override;
  bool nest(const lower::Nest &nest) override;
  /// A nest of one update, between fences where it is ordered.
  bool updates(const lower::Nest &nest);
  lower::OrderedUpdates orderOf(tile::AtomicRmwOp update);
  bool op(mlir::Operation *op) override;
  void dotOp(mlir::Operation *op) override;
  bool parallelOp(tile::ParallelOp op) override;
  void elementUpdateOp(tile::ElementUpdateOp op) override;
  void atomically(mlir::Operation *op, llvm::function_ref<lower::Address(Indices)> where, Update update) override;
  /// An effect of the first thread, whose scalar result all threads get.
  void inOneThread(mlir::Operation *op, llvm::function_ref<void()> effect);
  void histogramOp(tile::HistogramOp op) override;
  void sortOp(tile::SortOp op) override;
  bool targetOp(mlir::Operation *op) override;
  bool machineOp(mlir::Operation *op);
  void printOp(tile::PrintOp op) override;
  void assertOp(tile::AssertOp op) override;

private:
  lower::MemoryPort &memory() override { return machine; }
  bool mayBeWritten(mlir::Value place) const override;
  llvm::AllocaInst *variableOf(int buffer, llvm::ArrayRef<int64_t> shape, Indices point) const override;
  lower::Lanes readAcross(int buffer, llvm::ArrayRef<int64_t> shape, Indices point, unsigned lanes) override;
  lower::Lanes copied(tile::LoadOp load, Indices point, unsigned lanes) override;
  bool asksForPositive(llvm::ArrayRef<mlir::Value> scalars) override;
  llvm::Value *privateBuffer(mlir::Operation *alloc) const override { return privateBuffers.lookup(alloc); }

  // simt_sort.cpp
  struct SortedRows;
  struct RunSorter;
  /// Neighbouring runs of `run` elements become one; `isLast`: of values, in the result.
  void mergeRuns(SortedRows &rows, int64_t run, int from, int to, bool isLast);

  // simt_threads.cpp
  void threadsOp(tile::ThreadsOp op);
  void togetherOp(tile::TogetherOp op);
  void makePrivateBuffer(tile::AllocOp alloc);
  void shuffleOp(tile::ShuffleOp op);
  void voteOp(tile::VoteOp op);
  void warpDotOp(tile::WarpDotOp op);
  void syncOp(tile::SyncOp op);
  /// The lanes of each warp that come to the op, where that is the same for all warps that do; all where data decides. Refuses others.
  uint32_t lanesAt(mlir::Operation *op);
  /// What the op leaves behind, of the counted threads only.
  bool countedOp(mlir::Operation *op);

  // simt_reports.cpp
  /// The offset of a new record behind the reports' head, the same in all threads that run this code together.
  llvm::Value *newReport(uint64_t bytes);
  void reportFailure(unsigned site);

  // simt_nest.cpp
  void mapNest(const lower::Nest &nest);
  /// body(number) for the numbers below `total`, each in one thread.
  void deal(int64_t total, llvm::function_ref<void(llvm::Value *number)> body);
  bool hasRowsAlone(const lower::Nest &nest, uint64_t axis) const;
  void reduceNest(const lower::Nest &nest, uint64_t axis);
  struct RowReduction;
  /// Nothing after it was refused.
  std::optional<RowReduction> rowReduction(const lower::Nest &nest, uint64_t axis);
  llvm::SmallVector<lower::Lanes> reducePartial(const RowReduction &reduction, const lower::Point &row, llvm::Value *end,
                                                int64_t offset);
  void combinePartials(const RowReduction &reduction, tile::ReduceOp reduce, llvm::SmallVectorImpl<lower::Lanes> &values,
                       llvm::Value *has);
  void storeRow(const RowReduction &reduction, const lower::Sink &sink, const lower::Point &row, llvm::Value *active,
                llvm::ArrayRef<lower::Lanes> values);
  unsigned lanesOf(const lower::Nest &nest, unsigned dim) const;
  std::string dealing(const lower::Nest &nest) const;
  llvm::SmallVector<lower::KnownBound> boundsOf(const lower::Nest &nest) const;
  /// Every sink at `width` lanes of the point; what reductions take goes to `reduced`.
  void body(const lower::Nest &nest, const lower::Point &point, unsigned width, llvm::SmallVectorImpl<lower::Lanes> &reduced);
  /// The same, without masks where all bounds hold for these lanes, one lane at a time elsewhere.
  void boundedBody(const lower::Nest &nest, const lower::Point &point, unsigned dim, unsigned width,
                   llvm::ArrayRef<lower::KnownBound> bounds, llvm::SmallVectorImpl<lower::Lanes> &reduced);
  /// What each sink takes at these lanes; of a reduction, every operand.
  llvm::SmallVector<lower::Lanes> valuesOf(const lower::Nest &nest, const lower::Point &point);
  /// Memory that threads share is written where `only` (null: always) holds.
  void commit(const lower::Nest &nest, const lower::Sink &sink, const lower::Point &point, lower::Lanes value,
              llvm::Value *only = nullptr);
  /// Combines the partial results of `group` neighbouring threads of a warp (a power of two) in the first of them.
  void combineThreads(tile::ReduceOp reduce, unsigned group, llvm::SmallVectorImpl<lower::Lanes> &values, llvm::Value *&has);
  void combine(tile::ReduceOp reduce, llvm::SmallVectorImpl<lower::Lanes> &values, llvm::Value *&has,
               llvm::ArrayRef<lower::Lanes> others, llvm::Value *otherHas);
  llvm::Value *shuffle(llvm::Value *value, unsigned distance);
  /// A value of any scalar type through `move`, which takes 32 bits.
  llvm::Value *movedBetweenThreads(llvm::Value *value, llvm::function_ref<llvm::Value *(llvm::Value *)> move);
  /// An entry of the memory in which threads hand values to each other.
  llvm::Value *exchange(unsigned slot, llvm::Value *entry);

  // simt_mapped.cpp
  /// The points of a map, as all nests over its tiles have them.
  struct Points {
    std::map<llvm::SmallVector<llvm::Value *, 2>, unsigned> slots;
    llvm::SmallVector<llvm::SmallVector<lower::Index, 2>> chunks; // by chunk, an index a dimension
    llvm::Value *lastExists = nullptr;                            // ragged maps: the thread has the last chunk
    llvm::Value *first = nullptr;                                 // maps with copies: no other thread's copy comes before
  };
  /// A stored tile in variables of the thread: which one by the indices' bases, dimensions of size 1 left out.
  struct RegisterTile {
    llvm::SmallVector<llvm::AllocaInst *> variables;
    const std::map<llvm::SmallVector<llvm::Value *, 2>, unsigned> *slots = nullptr;
  };
  const Points &pointsOf(const ThreadMap &map);
  /// Those of a map of a product's result, of one that crosses, of another one; `own`: the thread's number among the vectors.
  void productPoints(const ThreadMap &map, llvm::Value *own, Points &result);
  void crossingPoints(const ThreadMap &map, llvm::Value *own, Points &result);
  void straightPoints(const ThreadMap &map, llvm::Value *own, Points &result);
  /// Of an index of vectors that lie side by side: that of the first of them, which of them it is, and how many they are.
  struct Beside {
    llvm::Value *first;
    unsigned number, count;
  };
  lower::Point pointAt(const Points &points, unsigned chunk, llvm::ArrayRef<int64_t> shape);
  void makeRegisterTiles();
  /// `overwrites`: it writes memory that other threads' copies of its elements read.
  void mappedNest(const lower::Nest &nest, const ThreadMap &map, bool overwrites);
  void mappedUpdates(const lower::Nest &nest, const ThreadMap &map);
  llvm::SmallVector<mlir::Value> loadsOf(const lower::Nest &nest, const ThreadMap &map) const;
  void commitChunk(const lower::Nest &nest, const ThreadMap &map, unsigned chunk, llvm::ArrayRef<lower::Lanes> values);
  struct Sum; // simt_sums.h
  struct RowSums;
  static Sum sumOf(const lower::Nest &nest, const lower::Sink &sink, const ThreadMap &map, const ThreadMap::Rows &rows);
  void accumulate(RowSums &sums, unsigned chunk, llvm::ArrayRef<lower::Lanes> fresh);
  void finishRows(const lower::Nest &nest, const ThreadMap &map, RowSums &sums);
  /// The first `lanes` lanes of the warp, in the first one.
  void combineLanes(tile::ReduceOp reduce, llvm::SmallVectorImpl<lower::Lanes> &values, unsigned lanes);
  void combineWarps(RowSums &sums, unsigned warps);
  /// In shared memory: the place of a warp's value (`entry`) of an item there.
  llvm::Value *warpsPlace(uint64_t item, mlir::Type element, llvm::Value *entry);
  /// Puts a value of a warp (that of its first thread) at its place, in each block of the cluster.
  void tellWarps(uint64_t item, mlir::Type element, llvm::Value *warp, lower::Lanes value);
  void combineAlways(mlir::Region &combine, llvm::SmallVectorImpl<lower::Lanes> &values, llvm::ArrayRef<lower::Lanes> others);
  /// Where warps tell each other values: an area that no thread still reads; and when all have told theirs.
  uint64_t beginExchange();
  void endExchange(uint64_t area);

  // simt_early.cpp
  /// Values that were loaded before the nests that take them, and how many elements of a thread they are.
  struct EarlyLoads {
    llvm::SmallPtrSet<llvm::Value *, 32> loaded;
    std::set<lower::Key> seen;
    int64_t held = 0;
  };
  /// In front of a turn's first nest or scan: begins what it and later nests load.
  void loadEarly(const void *first);
  bool mayLoadEarly(tile::LoadOp load, mlir::Block &turn) const;
  /// The loads below what a nest takes (or defines) at a point.
  void loadBelow(mlir::Value value, const lower::Point &point, mlir::Block &turn, EarlyLoads &early, bool defines = false);

  // simt_lines.cpp
  struct LinePlace;
  struct Scan;
  LinePlace placeIn(const ThreadMap::Lines &lines, unsigned width);
  /// The value of the thread so many further on in the line, around the warp's end.
  lower::Lanes fromThread(const LinePlace &place, lower::Lanes value, int distance);
  lower::Lanes fromLane(lower::Lanes value, llvm::Value *lane);
  llvm::SmallVector<lower::Lanes> combined(mlir::Region &combine, llvm::ArrayRef<lower::Lanes> left,
                                           llvm::ArrayRef<lower::Lanes> right);
  /// In shared memory: the place of a value of the thread's line in the line's warp number `warp`.
  llvm::Value *placeBetween(const LinePlace &place, uint64_t item, mlir::Type element, unsigned warp);
  void tellLine(const LinePlace &place, uint64_t item, mlir::Type element, lower::Lanes value);
  lower::Lanes toldBy(const LinePlace &place, uint64_t item, mlir::Type element, unsigned warp);
  llvm::Align alignmentBetween(const LinePlace &place, mlir::Type element) const;
  /// To a stored tile, in registers or, where `only` holds, in shared memory.
  void writeTile(int buffer, llvm::ArrayRef<int64_t> shape, const lower::Point &point, lower::Lanes value, llvm::Value *only);
  void finishLines(const lower::Nest &nest, const ThreadMap &map, llvm::ArrayRef<Sum *> sums);
  void combineWarpsOf(const lower::Nest &nest, const ThreadMap &map, Sum &sum, int64_t line, uint64_t item);
  /// Where the element of this number (i32, row by row) of a tile is, but for one dimension.
  lower::Point pointWithout(llvm::ArrayRef<int64_t> shape, unsigned axis, llvm::Value *element);
  void mappedScan(tile::ScanOp op, const ThreadMap &map);
  /// The place of a number in the scan's order.
  llvm::Value *place(const Scan &scan, llvm::Value *number, unsigned count);
  std::vector<llvm::SmallVector<lower::Lanes>> scanWarp(const Scan &scan, std::vector<llvm::SmallVector<lower::Lanes>> &totals);
  std::vector<llvm::SmallVector<lower::Lanes>> takeTotals(const Scan &scan, const ThreadMap &map,
                                                          llvm::ArrayRef<llvm::SmallVector<lower::Lanes>> totals);
  /// Calls back with what comes before the thread's part of each chunk, if anything may: where the condition (null: always) holds.
  void scanChunks(const Scan &scan, const ThreadMap &map, llvm::ArrayRef<llvm::SmallVector<lower::Lanes>> taken,
                  llvm::function_ref<void(int64_t chunk, llvm::SmallVector<lower::Lanes> before, llvm::Value *exists)> found);

  // simt_fetch.cpp
  /// The plan of a loop (or the kernel) whose loads run ahead; null: this is none.
  const FetchLoop *fetchOf(mlir::Operation *home) const;
  /// What a loop counts and carries in a turn (null: tiles); the number of a program.
  struct Turn {
    llvm::Value *number;
    llvm::SmallVector<llvm::Value *> carried;
  };
  Turn turnBefore(mlir::scf::ForOp loop);
  /// Copies for the first turns, in front of the loop.
  void startFetching(const FetchLoop &fetch, const Turn &first);
  /// At the beginning of a turn: its vectors into registers, and copies for a later turn.
  void takeFetched(const FetchLoop &fetch);
  std::pair<llvm::Value *, llvm::Value *> laterTurn(const FetchLoop &fetch, const Turn &turn, unsigned distance);
  void inTurn(const FetchLoop &fetch, const Turn &turn, unsigned distance, llvm::function_ref<void(llvm::Value *runs)> body);
  struct FetchedVector {
    mlir::Operation *op;
    lower::Point point;
    llvm::Value *shared; // the thread's place
    unsigned width;
    llvm::Value *limit; // null: every thread has it
    tile::LoadOp load() const { return mlir::cast<tile::LoadOp>(op); }
  };
  llvm::SmallVector<FetchedVector> vectorsOf(const FetchLoop &fetch, llvm::Value *first);
  FetchedVector vectorOf(const FetchLoop::Load &load, int64_t chunk, llvm::Value *shared);
  FetchedVector fixedVector(const FetchLoop &fetch, const FetchLoop::Load &load, int64_t chunk);
  llvm::Value *placesOf(const FetchLoop &fetch);
  lower::Address addressIn(const FetchedVector &vector);
  void copy(const FetchedVector &vector, const lower::Address &where, llvm::Value *exists);
  /// The copy of one vector of a turn, if there is that turn.
  void fetch(const FetchedVector &vector, lower::Address where, llvm::Value *runs, bool kept);
  lower::Lanes fetched(const FetchedVector &vector);
  void mirrorTurns(mlir::scf::ForOp loop);
  void loadNumbers(const FetchLoop &fetch, llvm::Value *runs);

  bool placeAreas(GpuInfo &info);
  BlockEntry beginKernel(GpuInfo &info);
  void numberProgram(llvm::Value *program);

  /// What a nest reads and writes of memory that threads share.
  Footprint footprintOf(const lower::Nest &nest) const;
  Footprint footprintOf(tile::ScanOp scan) const;
  /// Of an op that reads a number from memory or a tile; none: it is another one.
  std::optional<Footprint> footprintOfNumber(mlir::Operation *op) const;
  /// Of all of its turns; none: not known, or some of its steps wait by themselves.
  std::optional<Footprint> footprintOf(mlir::scf::ForOp loop) const;
  bool overwrites(const Footprint &step) const {
    auto meets = [&](lower::MemoryClass read) {
      return llvm::any_of(step.writes, [&](auto write) { return lower::mayAlias(read, write, e.options.disjoint); });
    };
    return llvm::any_of(step.reads, meets);
  }
  void addReads(Footprint &footprint, mlir::Operation *load) const;
  void addReads(Footprint &footprint, const lower::Pull &pull) const;
  Footprint footprintOfKernel();
  /// Waits for what the step needs.
  void prepare(const Footprint &step) {
    if (hazards.conflict(step))
      barrier();
    hazards.add(step);
  }

  void refuse(mlir::Operation *op, const char *what);
  void barrier() {
    if (perThread)
      return;
    simtPlan.cluster > 1 ? machine.clusterBarrier(e) : machine.barrier(e);
    hazards.settled();
    exchangeRead[0] = exchangeRead[1] = false;
  }
  lower::Point pointOf(llvm::ArrayRef<int64_t> shape, llvm::Value *linear);

  const SimtPlan &simtPlan;
  const CudaTarget &target;
  ThreadMachine &machine;
  const bool mayAsk; // something of a launch
  Hazards hazards;
  mlir::Block *knownBody = nullptr; // of a loop whose footprint `hazards` has
  unsigned threads;                 // of a program, as `thread` counts them: in all blocks that share it
  bool perThread = false;           // inside code that each thread runs for itself
  /// Inside `threads` of fewer threads than the block's, if they wait for each other: whether this is one of them. The others do as the
  /// last one does, but for what it leaves behind.
  llvm::Value *counted = nullptr;
  unsigned count = 0;                    // of those threads
  std::vector<llvm::BitVector> meetings; // of some threads: barrier i + 1 is of meetings[i]
  llvm::Value *thread = nullptr, *reports = nullptr;
  llvm::Value *sharedAddress = nullptr; // i32: of the arena
  llvm::Value *program = nullptr, *programs = nullptr,
              *blocks = nullptr; // i32: the program's number; how many there are, and blocks
  std::vector<ReportSite> sites;
  std::vector<ConditionInfo> conditions; // of launches
  uint64_t exchangeOffset = 0;           // shared memory in which threads of a block hand values to each other
  uint64_t sumsOffset = 0;               // two areas more, for the reductions of mapped nests
  uint64_t fetchOffset = 0;              // of what loops fetch ahead
  bool exchangeRead[2] = {};             // of those areas: some thread may still read it
  llvm::Instruction *entryEnd = nullptr;
  mlir::Block *freshTurn = nullptr;               // a loop's body, until its first nest
  llvm::SmallPtrSet<mlir::Operation *, 16> begun; // steps of that turn in front of the first nest
  Footprint everything;                           // that the kernel touches
  const bool byOthers;                            // memory may be written by other kernels meanwhile
  std::map<const ThreadMap *, Points> points;
  llvm::DenseMap<llvm::Value *, Beside> besides; // by index
  std::map<std::pair<int, llvm::SmallVector<llvm::Value *, 2>>, llvm::SmallVector<lower::Lanes, 4>>
      across;                                      // vectors that the nest has read together, by the first's place
  llvm::DenseMap<int, RegisterTile> registerTiles; // by buffer
  llvm::DenseMap<mlir::Operation *, llvm::Value *> privateBuffers; // of each thread, by allocation
  llvm::DenseMap<mlir::Operation *, llvm::AllocaInst *>
      ringPlaces;                                           // by loop: where its turn begins in the ring, if there are several
  llvm::DenseMap<mlir::Operation *, llvm::Value *> mirrors; // of loops that run backwards
  llvm::DenseMap<mlir::Operation *, llvm::AllocaInst *> fetchedNumbers; // of a loop's next turn, by load
};

} // namespace tilery::cuda
