#pragma once
// Block IR: what the roles of a block share, and what each of them has under way.
#include "compiler/block/ir/Block.h"
#include "compiler/oracle/interpreter.h"
#include <set>

namespace tilery::oracle {

/// One tile in shared memory.
struct SharedMemory {
  mlir::Operation *op; ///< what made it: a ring or an alloc
  unsigned slot = 0, index = 0;
  Tile content;
  bool defined = false;
};

struct SlotState {
  int64_t position = -1; ///< of its current use; -1: it was never used
  bool published = false, taken = false;
  unsigned arrivals = 0;
  std::vector<std::shared_ptr<SharedMemory>> tiles;
  std::vector<std::function<void()>> copies; ///< that have not landed
  std::set<const RoleState *> releasedBy;
};
struct RingState {
  block::RingOp op;
  int64_t next = 0; ///< position to be acquired
  std::vector<SlotState> slots;
  SlotState &slotOf(int64_t position) { return slots[position % int64_t(slots.size())]; }
};

struct Product {
  block::MmaStartOp op;
  SharedTile b;
  std::optional<SharedTile> sharedA = {};
  Tile a = {};           ///< without `sharedA`
  Pending previous = {}; ///< what it continues; else:
  Tile c = {};
  bool clear = false;
  std::optional<Tile> result = {};
};

struct StoreUnderWay {
  block::StoreBoxOp op;
  SharedTile shared;
  Places places;
  std::optional<Tile> content; ///< once it has read
  bool mayRead = true;         ///< nobody has waited for the reads
  bool written = false;
};

/// One thread of control of a block: an instance of a role, or the whole block.
struct RoleState {
  block::RoleOp op; ///< null: the kernel has no roles
  unsigned instance = 0;
  std::deque<Pending> products; ///< that are not settled, in the order of their starts
  std::deque<StoreUnderWay> stores;
};

/// The blocks of a cluster; one without clusters.
struct Cluster {
  std::vector<BlockState *> blocks;
  std::map<std::pair<mlir::Operation *, unsigned>, Meeting> meetings; ///< by role and instance
};

struct BlockState {
  std::vector<int64_t> programs; ///< that it runs, in order; linear ids
  unsigned rank = 0;
  Cluster *cluster = nullptr;
  std::map<std::tuple<mlir::Operation *, unsigned, unsigned>, std::shared_ptr<SharedMemory>> memory; ///< by op, slot, index
  std::vector<Ring> rings;

  std::shared_ptr<SharedMemory> allocate(mlir::Operation *op, block::SharedType type, unsigned slot = 0, unsigned index = 0);
};

/// "role @math of program (0, 0, 0)".
std::string whoText(const Interpreter &in);

/// What the view shows; reports contents that are undefined, of another use of the slot, or given back by this role.
Tile readShared(Interpreter &in, mlir::Operation *op, const SharedTile &shared);
/// Reports what may still read the memory, then writes it.
void writeShared(Interpreter &in, mlir::Operation *op, const SharedTile &shared, Tile value);
/// True if a product of this role that is not settled, or a store, may still read the memory. `what` says which.
bool isBeingRead(const Interpreter &in, const SharedMemory *memory, std::string &what);
/// Fills a part of an acquired slot: at once, or when it is taken.
void fill(Interpreter &in, mlir::Operation *op, const SharedTile &to, std::function<Tile()> contents);
/// Ends the stores of a role.
void finishStores(Interpreter &in);
/// Ends what is left of a block, and reports what is left over.
void finishBlock(Interpreter &in);

bool isBlockKernel(tile::KernelOp kernel);
/// Runs the grid of run.grid by blocks, each with the programs that are dealt to it.
void runBlocks(Run &run, tile::KernelOp kernel, llvm::ArrayRef<uint64_t> args);

} // namespace tilery::oracle
