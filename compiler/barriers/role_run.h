#pragma once
// One role of a kernel, run for what it does with barriers.
#include "compiler/barriers/model.h"
#include "compiler/block/ir/Block.h"
#include <functional>

namespace tilery {

/// What cannot be told: control flow, a barrier or a buffer that depends on data.
struct UnknownRole {
  const char *why;
  bool isLong = false; ///< what was written down so far is right, but not all
};

/// Where barriers and buffers lie in the model's memory.
class BarrierMemory {
public:
  /// An allocation's first byte; it is made here when it is first asked for.
  uint32_t of(mlir::Value allocation, int64_t bytes);
  /// How many arrivals at these barriers are one event: what all their counts are multiples of.
  int64_t arrivalsAnEvent(mlir::Value ring);
  /// The two barriers of a ring's slot, and a tile of it.
  barriers::SharedAddress full(block::RingOp ring, int64_t position);
  barriers::SharedAddress empty(block::RingOp ring, int64_t position);
  barriers::SharedAddress tile(block::RingOp ring, int64_t position, unsigned index);
  /// Where an instance waits for its turn.
  barriers::SharedAddress turn(mlir::Value baton, int64_t instances, int64_t who);

private:
  uint32_t ringAt(block::RingOp ring);
  llvm::DenseMap<mlir::Value, uint32_t> offsets;
  llvm::DenseMap<mlir::Value, int64_t> units;
  uint32_t next = 0;
};

/// Runs the integer code of a role and writes down its barrier operations, copies and reads. Throws UnknownRole.
class RoleRun {
public:
  using Number = std::optional<int64_t>;
  /// `outside`: numbers of values that are defined around the role.
  RoleRun(BarrierMemory &memory, const llvm::DenseMap<mlir::Value, Number> &outside) : memory(memory), values(outside) {}
  std::vector<barriers::Event> events;
  /// What integers that arguments or data decide are taken for, of one bit and of more: the same wherever they are computed, so that
  /// roles decide alike as far as they compute alike. None: such a number is unknown.
  struct Assumption {
    bool bit;
    int64_t number;
  };
  std::optional<Assumption> assumed;
  /// Numbers of values, whatever computes them.
  llvm::DenseMap<mlir::Value, int64_t> given;
  /// The loops whose turns began, each with how many events there were before.
  std::vector<std::pair<mlir::Operation *, size_t>> turnsBegun;
  /// Writes down barriers alone, and that they are made; reads and copies are not looked at. The threads of `tile.threads` run in lockstep.
  bool onlyBarriers = false;

  /// What to do at roles; none: they are not known.
  std::function<void(tile::RolesOp)> atRoles;

  void run(mlir::Block &block);
  void run(mlir::Operation &op);
  uint64_t known(mlir::Value value);
  void set(mlir::Value value, int64_t number) { values[value] = number; }
  /// What is known of values so far.
  const llvm::DenseMap<mlir::Value, Number> &numbers() const { return values; }

private:
  Number get(mlir::Value value);
  Number assume(mlir::Value value);
  Number compute(mlir::Operation *op);
  /// A branch that some of the threads take.
  void split(mlir::scf::IfOp branch);
  void forget(mlir::Operation &op);
  void assign(mlir::ValueRange to, mlir::ValueRange from);
  void forLoop(mlir::scf::ForOp loop);
  void whileLoop(mlir::scf::WhileOp loop);
  barriers::SharedAddress barrierAt(mlir::Value ring, mlir::Value index);
  barriers::SharedAddress bufferAt(mlir::Value buffer);
  void read(mlir::Value buffer);
  void add(barriers::Event::Kind kind, barriers::SharedAddress at, int64_t count = 0, barriers::SharedAddress data = {});

  // Block IR. Slots are numbers: the position; products, too: their group of reads. None is -1.
  bool runBlockOp(mlir::Operation &op);
  bool runReader(mlir::Operation &op);
  block::RingOp ringOf(mlir::Value slot);
  void readOperand(mlir::Value operand);
  void waitForProduct(mlir::Value product);
  void runTurn(block::TurnOp turn);

  BarrierMemory &memory;
  llvm::DenseMap<mlir::Value, Number> values;
  llvm::DenseMap<std::pair<mlir::Operation *, int64_t>, int64_t> filled; // bytes that were copied into a ring's position
  llvm::DenseMap<mlir::Operation *, int64_t> taken;                      // the last position of a ring that was waited for
  llvm::DenseMap<mlir::Operation *, int64_t> turns;                      // that this instance has had
  int64_t groups = 0;
  mlir::Value thread;                   // the number of each of those that execute what is run; null: there is one
  llvm::SmallVector<int64_t> active{0}; // those
  bool parted = false;                  // the others do something else
  uint64_t steps = 0;
  const void *source = nullptr; // the op that is run
};

/// True if the op, or one inside it, is of those that RoleRun writes down.
bool touchesBarriers(mlir::Operation &op);

} // namespace tilery
