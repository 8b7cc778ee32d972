#pragma once
// The emission of one kernel in block IR. block_emitter.cpp: the kernel, its shared memory and its roles; block_scalars.cpp: numbers, loops,
// branches; block_programs.cpp: which program is next; block_rings.cpp: slots, the copy engine, meetings; block_products.cpp: the tensor
// cores of warpgroups; block_warp_products.cpp: of warps; block_tiles.cpp, block_reduces.cpp: registers; block_lines.cpp: between warps; block_shared.cpp: between them and
// shared memory; block_atomics.cpp: updates of memory.
#include "compiler/block/ir/gpu.h"
#include "compiler/lower/scopes.h"
#include "compiler/lower/aliasing.h"
#include "compiler/targets/cuda/block/block_lines.h"
#include "compiler/targets/cuda/block/block_scales.h"
#include "compiler/targets/cuda/block/emit_block.h"
#include "compiler/layout/layout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <array>
#include <deque>
#include <map>
#include <set>

namespace tilery::cuda {

/// Where rings and allocations lie in shared memory.
struct SharedPlan {
  static constexpr unsigned alignment = 1024; // bytes, of what the copy engine swizzles
  struct Ring {
    unsigned barriers = 0, slots = 0, pitch = 0; // bytes: of the first barrier and of the first slot, from slot to slot
    llvm::SmallVector<unsigned> parts;           // bytes from the slot's beginning
  };
  llvm::DenseMap<mlir::Operation *, Ring> rings;
  llvm::DenseMap<mlir::Operation *, unsigned> allocations;
  llvm::MapVector<mlir::Operation *, unsigned> made;        // of maps that are made on the device: what the last one was made of
  unsigned madeMaps = 0;                                    // places for such maps, in the block's part of the workspace
  llvm::DenseMap<mlir::Operation *, unsigned> betweenWarps; // of roles: where warps show each other what they have combined
  unsigned exchange = 0; // where one thread shows the others of its role what an update has given
  unsigned bytes = 0;

  explicit SharedPlan(tile::KernelOp kernel);
};

constexpr unsigned barriersOfSlot = 2 * block::barrierBytes; // full, empty
/// The map is for boxes that are stored, by a thread of each warpgroup of its role; else it is for copies.
bool storesBoxes(block::RemapOp remap);
/// Threads of the role that make it, each for itself.
unsigned copiesOf(block::RemapOp remap);

/// How many products of its role have been started since the one that `wait` waits for, at least.
unsigned startedSince(mlir::Operation *wait, mlir::Value product);

/// A first factor of products in registers: four words of 32 bits for each of the units that an instruction takes.
struct HeldFactor {
  layout::Layout units;

  static std::optional<HeldFactor> find(mlir::Value factor, const layout::ProductForm &form, layout::Rows rows);
  /// Those of these rows and this step of k, in units; nothing if this thread does not hold them.
  llvm::MutableArrayRef<llvm::Value *> words(llvm::MutableArrayRef<llvm::Value *> all, int64_t rows, int64_t step) const;
};

class BlockEmitter : lower::ThreadModel {
public:
  using Parts = llvm::SmallVector<llvm::Value *>; // what a thread holds of a value

  BlockEmitter(lower::Emitter &e, tile::KernelOp kernel, BlockMachine &machine);
  mlir::FailureOr<GpuInfo> emit();

private:
  // -- global memory, for the evaluator
  lower::MemoryPort &memory() override { return machine; }
  bool mayBeWritten(mlir::Value place) const override;
  llvm::AllocaInst *variableOf(int, llvm::ArrayRef<int64_t>, llvm::ArrayRef<lower::Index>) const override { return nullptr; }
  llvm::Value *privateBuffer(mlir::Operation *) const override { return nullptr; }

  // -- the kernel
  struct Role {
    block::RoleOp op;
    unsigned firstWarp = 0, warps = 0; // of one instance
    unsigned barrier = 0;              // its named barrier; those of its warpgroups follow, then those of the next instance
    bool oneThread = false;            // it has no tiles
    bool storesBoxes = false;          // one or each warpgroup
    block::ProgramsOp programs;        // of a role of one thread that computes each program's scalars ahead; null: of none
    llvm::SmallVector<mlir::Value> ahead;
    Parts first;

    unsigned end() { return firstWarp + op.allWarps(); }
    unsigned barriers() const { return warps % 4 ? 1 : 1 + warps / 4; } // of one instance
    /// Who takes turns: instances, or the warpgroups of one. Each waits at a named barrier of its own, behind the others of the role.
    unsigned turns() { return op.instanceCount() > 1 ? op.instanceCount() : warps / 4; }
    unsigned turnBarrier() { return barrier + barriers() * op.instanceCount(); }
  };
  void findRoles();
  void makeFunction();
  void joinPrograms();
  void initBarriers();
  /// All before the roles: barriers, and what roles of one thread begin with.
  void begin();
  void runRole(Role &role);
  unsigned registersOfLaunch() { return block::Gpu::registersOfLaunch(32 * resident * roles.back().end()); } // of a thread
  llvm::Value *isIn(Role &role);

  struct Where {
    llvm::Value *warpgroup, *lane, *warp, *inWarpgroup; // i32; warps and warpgroups of the role's instance
    llvm::Value *block;                                 // of its cluster
  };
  /// A register of this thread among the places of a layout.
  std::array<std::pair<layout::Axis, llvm::Value *>, 4> placeOf(unsigned number);

  // -- numbers (block_scalars.cpp)
  /// Values computed inside are known inside only.
  class Scope {
  public:
    explicit Scope(BlockEmitter &emitter) : emitter(emitter), before(emitter.known.size()), where(emitter.where) {}
    ~Scope() {
      emitter.forget(before);
      emitter.where = where;
    }
    Scope(const Scope &) = delete;

  private:
    BlockEmitter &emitter;
    size_t before;
    std::optional<Where> where;
  };
  friend class Scope;
  void forget(size_t before);
  void remember(mlir::Value value, Parts parts);
  /// A number of rank 0, computed here if it is not known yet.
  llvm::Value *scalar(mlir::Value value);
  /// It and all it is computed from.
  void ensure(mlir::Value value);
  /// What a thread holds of any value: tiles are computed here.
  Parts partsOf(mlir::Value value);
  llvm::SmallVector<llvm::Type *> typesOf(mlir::Value value);
  /// Numbers from outside that the op's regions use are known from here on.
  void prepare(mlir::Operation *op);
  void emitBlock(mlir::Block &block);
  void emitOp(mlir::Operation &op);
  /// As loops and branches carry them.
  Parts carriedParts(mlir::Value value);
  void rememberCarried(mlir::Value value, Parts parts);
  bool isFactorMadeAhead(mlir::scf::ForOp loop, mlir::BlockArgument argument, mlir::Value next);
  void emitLoop(mlir::scf::ForOp loop);
  void emitWhile(mlir::scf::WhileOp loop);
  void emitBranch(mlir::scf::IfOp branch);
  void emitLoadOfScalar(tile::LoadOp load);
  void when(llvm::Value *condition, llvm::function_ref<void()> then);

  // -- programs (block_programs.cpp)
  void findOrder();
  void emitPrograms(block::ProgramsOp programs);
  /// Runs body(number, carried) for each program of this block.
  Parts overPrograms(Parts start, llvm::function_ref<Parts(llvm::Value *number, llvm::ArrayRef<llvm::Value *> carried)> body);
  /// The numbers that a role computes ahead, of program `number`.
  Parts aheadOf(Role &role, llvm::Value *number);
  void findAhead(Role &role);
  llvm::Value *programId(unsigned axis);
  void place(llvm::Value *number);
  llvm::Value *ordered(llvm::Value *number);
  llvm::Value *longestFirst(llvm::Value *number);
  std::pair<llvm::Value *, llvm::Value *> divide(llvm::Value *dividend, llvm::Value *divisor);

  // -- rings, the copy engine, meetings (block_rings.cpp)
  block::RingOp ringOf(mlir::Value slot);
  llvm::Value *barrierOf(block::RingOp ring, llvm::Value *position, bool empty);
  llvm::Value *parityOf(block::RingOp ring, llvm::Value *position);
  void emitAcquire(block::AcquireOp acquire);
  void emitPublish(block::PublishOp publish);
  /// How often threads arrive at a slot's full barrier: once where all its bytes come by copies.
  unsigned arrivalsToFill(block::RingOp ring);
  /// Holds in the one thread of a role that starts copies; null: there is no other.
  llvm::Value *copier();
  void emitTake(block::TakeOp take);
  void emitRelease(block::ReleaseOp release);
  void emitPart(block::PartOp part);
  void emitCopy(block::CopyOp copy);
  /// The copy engine's map, a generic pointer; null: there is no code for it.
  llvm::Value *mapOf(mlir::Value map);
  void emitStoreBox(block::StoreBoxOp store);
  void emitSync(block::SyncOp sync);
  /// Holds in the thread that speaks for the warpgroup (of roles that do not consist of warpgroups: for the role).
  llvm::Value *speaker();

  // -- maps made on the device (block_maps.cpp)
  /// How far rings were filled, for roles that make maps for their copies.
  struct Filled {
    llvm::AllocaInst *now = nullptr, *before = nullptr; // positions: the next one; the next one when the last map was made
  };
  struct MadeMap {
    unsigned place = 0;                // in the workspace
    llvm::AllocaInst *count = nullptr; // how often it has been made
    llvm::MapVector<mlir::Operation *, Filled> rings;
  };
  void prepareMaps();
  void emitRemap(block::RemapOp remap);
  void waitForCopies(MadeMap &made);
  llvm::AllocaInst *variable();

  // -- products (block_products.cpp)
  class ProductStart;
  void emitStart(block::MmaStartOp start);
  void failProduct(block::MmaStartOp start, const llvm::Twine &what);
  /// The same by warps, at once: nothing waits for it (block_warp_products.cpp).
  void emitWarpProduct(block::MmaStartOp start);
  void emitWait(block::MmaWaitOp wait);
  void emitSettle(block::MmaSettleOp settle);
  /// The registers of a tile, as words of 32 bits.
  Parts packed(mlir::Value tile);
  void computeBefore(block::MmaWaitOp wait);
  /// Numbers that the ops after it use are computed while the product runs.
  void computeMeanwhile(mlir::Operation *wait);

  // -- tiles in registers (block_tiles.cpp)
  /// This thread's place, computed anew where it would otherwise live through a product.
  const Where &here();
  void locate(llvm::Value *thread);
  /// Neighbouring registers along one dimension; their common place.
  struct Vectors {
    layout::Layout layout;
    unsigned width = 1;
    int along = -1;
  };
  Vectors vectorsOf(const layout::Layout &layout, unsigned most);
  /// By dimension: what all registers share, and by what a register adds to it the whole, in 64 bits.
  struct Coordinates {
    std::map<unsigned, llvm::Value *> ofThread;
    std::map<std::pair<unsigned, int64_t>, llvm::Value *> whole;
  };
  /// The place of a vector: of this thread, and as numbers of some threads, by which layouts are told apart.
  struct Places {
    lower::Point point;
    llvm::SmallVector<lower::Point> fixed;
  };
  Places pointsOf(const Vectors &vectors, unsigned number, Coordinates &coordinates); // of that which begins with this register
  llvm::Value *coordinateOf(const layout::Layout &layout, unsigned dim, unsigned number, int64_t added, Coordinates &known);
  /// What registers hold of a tile in the threads by which layouts are told apart.
  struct Holding {
    std::map<llvm::SmallVector<int64_t, 4>, unsigned> registers; // of the first of these threads, by coordinates
    llvm::SmallVector<llvm::SmallVector<int64_t, 4>> places;     // by thread, and register by register
  };
  const Holding &holdingOf(block::LayoutAttr layout);
  llvm::Value *heldAt(block::LayoutAttr layout, llvm::ArrayRef<llvm::Value *> parts, llvm::ArrayRef<lower::Point> fixed);
  void provide(mlir::Value tile, llvm::ArrayRef<lower::Index> point, llvm::ArrayRef<lower::Point> fixed);
  void provideFound(mlir::Value tile, llvm::ArrayRef<lower::Index> point, llvm::ArrayRef<lower::Point> fixed);
  std::set<lower::Key> provided; // on the way to what is provided now
  unsigned providing = 0;
  void provideAddresses(mlir::Value place, llvm::ArrayRef<lower::Index> point, llvm::ArrayRef<lower::Point> fixed);
  void prepareTile(mlir::Value tile, mlir::Value place = {});
  /// The vector of `tile` that begins with this register.
  llvm::Value *valueAt(mlir::Value tile, const Vectors &vectors, unsigned number, Coordinates &coordinates);
  /// In vectors of so many elements at most.
  Parts materialize(mlir::Value tile, unsigned most = 2);
  /// All vectors of the tile, whose lanes keep these bounds (their loops are its dimensions).
  Parts vectorsAt(mlir::Value tile, const Vectors &vectors, llvm::ArrayRef<lower::KnownBound> kept);
  Parts loadEarly(mlir::Value tile, const Vectors &vectors);
  /// One that is under way from here on.
  void emitLoadOfTile(tile::LoadOp load);
  void emitJoin(block::JoinOp join);

  // -- between registers and shared memory (block_shared.cpp)
  void emitAlloc(block::AllocOp alloc);
  void emitRead(block::ReadOp read);
  /// Of bytes that lie across k (layout::turnedBytes): what the instructions bring is turned where a product takes it (turnWords).
  void emitTurnedRead(block::ReadOp read, const layout::Layout &rows);
  void turnWords(llvm::MutableArrayRef<llvm::Value *> words);
  void emitWrite(block::WriteOp write);
  /// Of elements that lie in memory across the rows of the slot: each access brings some, which are turned in registers.
  unsigned acrossOf(block::WriteOp write, const Vectors &vectors);
  llvm::Value *rowOf(llvm::ArrayRef<llvm::Value *> columns, unsigned row);
  void emitTurned(block::WriteOp write, const Vectors &vectors, unsigned across,
                  llvm::function_ref<llvm::Value *(unsigned number)> addressOf);
  llvm::Value *roundedTF32(llvm::Value *elements);
  void emitFetch(block::FetchOp fetch); // block_fetch.cpp
  llvm::Value *isFirstOfCopies(const layout::Layout &dealt);

  // -- numbers that the lanes of a warp share (block_numbers.cpp)
  /// Those that the tile is computed from, where all lanes need the same and they are dear. All threads of the role are here.
  void shareNumbers(mlir::Value tile);
  void shareTile(mlir::Value tile, const layout::Layout &layout);
  llvm::Value *fromLaneOf(llvm::Value *value, unsigned lane);
  /// Computes what the op's region reads of tiles from outside, where all of it fits a few registers.
  void computeBefore(mlir::scf::ForOp loop);
  void emitStore(tile::StoreOp store);

  // -- what a product's sums are scaled by in each step (block_scales.cpp)
  /// Those of the loop that is to be emitted: where they lie.
  void findScales(mlir::scf::ForOp loop);
  /// Loads them; false: they are none. They are known behind their product's wait.
  bool startScales(tile::LoadOp load);
  void finishScales(mlir::Operation *wait);

  // -- updates of memory (block_atomics.cpp)
  void emitUpdate(tile::AtomicRmwOp update);
  void emitSwap(tile::AtomicCasOp swap);
  void emitUpdateOfTile(tile::AtomicRmwOp update);
  /// One thread of the role does it, behind all that the role has stored; the others go on with what it gives.
  void once(mlir::Operation *op, mlir::Value place, llvm::function_ref<llvm::Value *(llvm::Value *pointer)> update);
  void meetRole();
  /// Its named barrier, of this instance.
  llvm::Value *barrierOfRole();
  void emitTurn(block::TurnOp turn);
  /// Who takes the turn behind `who` need not wait any more.
  void handOn(llvm::Value *who);

  // -- reductions and scans (block_reduces.cpp)
  struct Scanned;
  void emitReduce(tile::ReduceOp reduce);
  void emitScan(tile::ScanOp scan);
  /// Nothing, and an error, where there is no code for such lines.
  std::optional<llvm::SmallVector<LineDigit>> linesOf(mlir::Operation *op, unsigned axis);
  /// Into `left`, one value an operand.
  void combine(mlir::Region &region, Parts &left, const Parts &right);
  /// `own` behind `before`, where `exists` (null: always) says that there is something.
  void putBefore(Scanned &scan, const Parts &before, llvm::Value *exists, Parts &own);
  void scanRegisters(Scanned &scan, const LineDigit &digit);
  void scanLanes(Scanned &scan, const LineDigit &digit);
  void scanWarps(Scanned &scan, const LineDigit &digit);
  /// The value of the lane whose number differs in this bit.
  llvm::Value *fromLane(llvm::Value *value, unsigned distance);
  Parts fromLane(const Parts &values, unsigned distance);

  // -- what warps combine (block_lines.cpp)
  /// A line of values, one of each warp that shares it, from number `first` on; one an operand is this warp's.
  struct Shown {
    llvm::Value *first;
    Parts values;
  };
  /// What all `count` warps have of each line, this one's number among them is `own`. `values`: of all lines of a tile.
  std::vector<llvm::SmallVector<Parts>> showWarps(llvm::ArrayRef<Shown> shown, llvm::ArrayRef<mlir::Type> elements,
                                                  int64_t values, llvm::Value *own, unsigned count);
  /// This lane's, or warp's, number in the digit.
  llvm::Value *digitOf(const LineDigit &digit);
  /// Of the element that the register holds, in the layout's tile.
  llvm::Value *numberIn(const layout::Layout &layout, unsigned number);

  // -- helpers
  llvm::ConstantInt *i32(int64_t value) { return b.getInt32(value); }
  llvm::BasicBlock *newBlock(const char *name = "") { return llvm::BasicBlock::Create(b.getContext(), name, entry.function); }
  void fail(mlir::Operation *op, const llvm::Twine &what) {
    op->emitOpError(what);
    failed = true;
  }

  lower::Emitter &e;
  llvm::IRBuilder<> &b;
  tile::KernelOp kernel;
  BlockMachine &machine;
  SharedPlan plan;
  lower::Plan noPlan; // no tile is stored: each is computed where it is used, but for numbers that lanes share
  lower::Evaluator evaluator;
  std::deque<Role> roles;
  llvm::DenseMap<mlir::Value, unsigned> maps;
  llvm::DenseMap<mlir::Operation *, MadeMap> made;
  BlockEntry entry;
  bool failed = false;
  bool byWarps = false; // products are of warps
  bool programmatic = false;
  const bool byOthers;       // memory may be written by other kernels meanwhile
  bool synchronizes = false; // programs wait for each other, or show each other what they have stored

  llvm::DenseMap<mlir::Value, Parts> values; // of more than one part, or of none; those of rank 0 are the evaluator's
  llvm::SmallVector<mlir::Value> known;      // all of both, in the order in which they became so
  llvm::DenseMap<block::LayoutAttr, Holding> holdings;
  llvm::DenseMap<mlir::Value, Parts> reading;        // registers that a product under way, or one before it, reads
  llvm::MapVector<mlir::Operation *, Scales> scales; // of loops so far
  llvm::DenseMap<mlir::Value, Parts> unturned;       // words of factors that a product turns
  Role *role = nullptr;                              // that is emitted
  llvm::Value *base = nullptr, *thread = nullptr, *group = nullptr, *warpgroup = nullptr, *instance = nullptr;
  unsigned warpsOfGroup = 4, cluster = 1, resident = 1; // resident: blocks of a multiprocessor
  llvm::SmallVector<lower::MemoryClass> written;        // what the kernel stores to
  std::optional<Where> where;
  // programs
  llvm::Value *number = nullptr; // of the current one, as blocks count them
  block::ProgramsOp current;
  block::ProgramsOp order;                 // any of the kernel's
  std::array<llvm::Value *, 3> launched{}; // extents of the grid, as the kernel's own code asks for them
  llvm::Value *inner = nullptr, *byRows = nullptr, *plane = nullptr, *outer = nullptr;
  bool latencyBound = false; // branches around divisions are worth it: nothing else happens meanwhile
};

} // namespace tilery::cuda
