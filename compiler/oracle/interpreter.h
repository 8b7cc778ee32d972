#pragma once
// Executes ops on frames of values. One Interpreter is one thread of control of one program.
#include "compiler/oracle/fiber.h"
#include "compiler/oracle/iterations.h"
#include "compiler/oracle/memory.h"
#include "compiler/oracle/shadow.h"
#include <deque>
#include <list>

namespace tilery::oracle {

class Interpreter;
using Handler = std::function<void(Interpreter &, mlir::Operation *)>;

/// What executes each op. `lanewise` ops work lane by lane on any number of lanes, also where their types say scalar.
struct Handlers {
  struct Entry {
    Handler run;
    bool lanewise = false;
  };
  llvm::DenseMap<mlir::TypeID, Entry> table;

  template <typename Op, typename F> void add(F run) {
    table[mlir::TypeID::get<Op>()] = {[run](Interpreter &in, mlir::Operation *op) { run(in, mlir::cast<Op>(op)); }, false};
  }
  template <typename Op, typename F> void addLanewise(F run) {
    add<Op>(run);
    table[mlir::TypeID::get<Op>()].lanewise = true;
  }
};
const Handlers &handlers();
void addArithHandlers(Handlers &);
void addCastHandlers(Handlers &);
void addMathHandlers(Handlers &);
void addControlHandlers(Handlers &);
void addShapeHandlers(Handlers &);
void addAccessHandlers(Handlers &);
void addBufferHandlers(Handlers &);
void addReduceHandlers(Handlers &);
void addDotHandlers(Handlers &);
void addAtomicHandlers(Handlers &);
void addRegionHandlers(Handlers &);
void addThreadHandlers(Handlers &);
void addDebugHandlers(Handlers &);
void addMachineHandlers(Handlers &);
void addHostHandlers(Handlers &);
void addBlockMemoryHandlers(Handlers &);
void addBlockRingHandlers(Handlers &);
void addBlockProductHandlers(Handlers &);
void addBlockRoleHandlers(Handlers &);

/// A place where threads meet: everyone who is alive has to come.
struct Meeting {
  unsigned live = 0, arrived = 0;
  uint64_t round = 0;
  mlir::Operation *where = nullptr; ///< of the first that has come
};
/// Threads that meet beside the others; of none: all do.
struct Part {
  llvm::BitVector threads;
  Meeting meeting;
  std::vector<RuntimeValue> results; ///< of what they carry out together
};
struct ThreadGroup {
  unsigned count;
  std::vector<bool> alive;
  std::vector<Tile> exchange;                                   ///< one value a thread, for shuffles and votes
  std::map<std::pair<unsigned, unsigned>, Meeting> meetings;    ///< by width (0: all) and number of the sub-group
  std::map<std::pair<mlir::Operation *, unsigned>, Part> parts; ///< by the place where they wait and number of the sub-group
  std::vector<Interpreter *> members;
};

struct BlockState;
struct RoleState;

/// A wait that has not ended, for the report of a deadlock.
struct Waiting {
  mlir::Operation *op;
  std::string text; ///< who waits for what
};

/// What the programs of a launch share.
struct Run {
  const Options &options;
  Memory memory;
  Scheduler scheduler;
  llvm::DenseMap<mlir::Value, unsigned> number; ///< slot of each SSA value in a frame
  std::array<uint32_t, 3> grid{1, 1, 1};
  uint64_t steps = 0;
  int64_t asked;            ///< when Options::interrupted was, in nanoseconds
  bool interleaved = false; ///< programs wait for each other: they take turns at atomic and volatile accesses
  std::list<Waiting> waiting;
  bool forceRounding = false; ///< the order of the float operations at hand is free: even exact ones get an interval

  explicit Run(const Options &options);
  void numberValues(mlir::Operation *function);
  /// Throws Interrupted where Options::interrupted says so; asks at times.
  void mayEnd();
};

class Interpreter {
public:
  Run &run;
  std::array<uint32_t, 3> programId{0, 0, 0};
  int64_t program = 0; ///< linear id
  ThreadGroup *threads = nullptr;
  unsigned thread = 0;
  BlockState *block = nullptr; ///< of kernels in block IR
  RoleState *role = nullptr;
  bool returns = false;                           ///< the program ends here (`block.return_if`)
  std::vector<std::unique_ptr<Iterations>> loops; ///< debug: the parallel loops around, outermost first

  explicit Interpreter(Run &run) : run(run), slots(run.number.size()) {}
  /// A thread beside `parent`: sees its values, defines its own.
  Interpreter(Interpreter &parent, unsigned thread, ThreadGroup *threads);

  const RuntimeValue &get(mlir::Value value) const;
  template <typename T> const T &as(mlir::Value value) const { return std::get<T>(get(value)); }
  const Tile &tile(mlir::Value value) const { return as<Tile>(value); }
  void set(mlir::Value value, RuntimeValue content);

  /// Goes on as the program with this linear id.
  void enterProgram(int64_t id);
  /// Runs the ops of `block`, whose arguments are set; returns its terminator, whose operands are values of this frame.
  mlir::Operation *runBlock(mlir::Block &block);
  void execute(mlir::Operation *op);
  /// Every op and every turn of a loop is a step.
  void countStep(mlir::Operation *op);

  /// An integer that decides where to go or what to touch; reports unwritten values, notes rounded ones.
  int64_t decide(mlir::Value value);
  /// Lets others run until `condition` holds. `what` is reported, at `op`, if it never does.
  void await(mlir::Operation *op, std::string what, const std::function<bool()> &condition);
  void requireDefined(const Tile &value, int64_t lane);
  /// Lanes that decide (masks, addresses).
  void requireDecided(const Tile &value);
  [[noreturn]] void fail(mlir::Operation *op, std::string message, std::string hint = {},
                         Diagnostic::Kind kind = Diagnostic::Kind::Runtime) const;
  std::string programText() const;
  /// Tells the parallel loops around, all but the `outer` outermost ones, of an access; fails where another iteration is in its way.
  /// `does`: what the message calls the access.
  void besideIterations(mlir::Operation *op, size_t outer, llvm::function_ref<std::string(Iterations &)> access,
                        llvm::function_ref<std::string()> does) const;

private:
  Interpreter *parent = nullptr;
  std::vector<std::unique_ptr<RuntimeValue>> slots;
};

/// Gives the kernel's arguments, as in runKernel, to a new program.
void bindArguments(Interpreter &in, tile::KernelOp kernel, llvm::ArrayRef<uint64_t> args);

/// True if every op of the block (but its terminator) is lanewise.
bool isLanewise(mlir::Block &block);

/// Shape, size and undefined marks of a lanewise result: operands have one lane or all of them the same number.
Tile lanewiseResult(Element element, llvm::ArrayRef<const Tile *> operands);
/// Lane of an operand that stands at lane `i` of the result.
inline int64_t laneOf(const Tile &operand, int64_t i) { return operand.lanes.size() == 1 ? 0 : i; }
/// Integer or boolean results of rounded operands: unknown.
void forgetRounded(Tile &result, llvm::ArrayRef<const Tile *> operands);
bool hasRanges(llvm::ArrayRef<const Tile *> operands);

} // namespace tilery::oracle
