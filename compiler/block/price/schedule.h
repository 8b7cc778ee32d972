#pragma once
// How a kernel with a product of boxes runs on a block: a value, chosen by a model before any code is made, printed, overridden by name.
#include "compiler/block/ir/gpu.h"
#include <array>
#include <string>
#include <vector>

namespace tilery::block {

/// A product with other rows than those that consumers share: these share its columns where they cannot share its rows evenly, each a multiple
/// of `unit` of them or a part of one: the second factor's rows lie so in pieces.
struct OtherProduct {
  unsigned m, n, unit;
};

/// A loop with several products and work between them, or such work without a loop, in place of the steps of one.
struct LoopWork {
  bool once = false;   // there is no loop: a step is the program
  bool nested = false; // products stand in loops in loops, or in branches: none is moved from step to step
  bool waits = false;  // beside its steps, or for their numbers, or it has few: another block would multiply meanwhile
  int64_t slotBytes = 0, heldBytes = 0; // shared memory of what a step loads; of what all steps read
  double operations = 0;                // of the tensor cores, in a step
  double lanes = 0;                     // elements that a step computes between products
  unsigned products = 0;                // of a step
  unsigned words = 0;                   // of 32 bits that sums and factors take in registers
  unsigned fewerWords = 0;              // where one factor at a time is there
  unsigned productWords = 0;            // of one product with its factor, the largest (where there is no loop)
  unsigned sharedWords = 0;             // of these, sums whose columns warpgroups with the same rows can share
  /// Where columns are shared so: words without those of a second factor that all threads write before a step's products, and these, with the
  /// sums that are there meanwhile.
  unsigned acrossWords = 0, dealtWords = 0, besideDealt = 0;
  double repeated = 0;                         // of the operations, those of other products
  bool oneSlot = false;                        // no two steps find shared memory
  bool wide = false;                           // a product has more columns than one of a warpgroup does
  unsigned heldWords = 0;                      // of first factors that stay for all steps
  unsigned allWords = 0;                       // where sums that come of others' factors are there with all others
  bool masked = false;                         // it selects lanes
  bool functions = false;                      // it computes others than exponentials, or quotients
  int64_t shownBytes = 0;                      // of computed factors that go through shared memory; 0: none do
  bool showsFirst = false;                     // first factors are among those
  bool addsToShown = false;                    // a product of one of them goes on in what the loop carries
  bool stores = false;                         // it stores in its steps
  bool loads = false;                          // threads load in its steps what they compute with: a bias, a mask
  unsigned aheadWords = 0;                     // of registers, what a step can load that the next one computes factors with
  llvm::SmallVector<OtherProduct> others = {}; // products of fewer rows, or of more
};

/// How many consumers stand side by side in such a product, each with all rows that fall to it of n / that many columns; 0: they cannot.
unsigned consumersAcross(const OtherProduct &product, unsigned consumers);

/// Cycles of an SM in which threads bring a step's factors that are no boxes.
struct FetchWork {
  double computed = 0, copied = 0; // written by threads; copied by them 16 bytes at a time
  double work = 0;                 // on the elements that are written
  unsigned words = 0;              // registers of what is loaded for these, of a thread of one warpgroup
  unsigned pieces = 0;             // of 16 bytes, of both, which that thread writes or copies
  bool turned = false;             // in blocks of 16 x 16 bytes, which take 64 registers
};

/// What the threads that multiply compute the first factor of.
struct UnpackWork {
  int64_t bytes;             // of a slot
  double cycles;             // of an SM, at least
  int64_t aheadElements = 0; // of what threads load for it, which the step before can do
};

/// Registers, of 32 bits, of a tile that work on results loads.
struct LoadedTile {
  unsigned words;  // of a thread, if one warpgroup had all rows
  bool sharesRows; // each consumer has its rows; else each has all

  unsigned wordsOf(unsigned consumers) const { return sharesRows ? llvm::divideCeil(words, consumers) : words; }
};

/// What the chooser knows of the kernel.
struct ScheduleProblem {
  unsigned m, n, k;                         // of the program's tile; k: one step of the product
  unsigned elementBytes;                    // of its factors
  llvm::SmallVector<unsigned> outputs;      // bytes of an element of each result that the copy engine can store
  llvm::SmallVector<unsigned> taking = {};  // of these, those that take turns with another one of their type in its shared memory
  unsigned fromRegisters = 0;               // results that it cannot store
  llvm::SmallVector<LoadedTile> loads = {}; // that may start before the result is there, those with most registers first
  unsigned boxBytes = 0;                    // of an element of the largest of them, if it is a box; 0: it is none
  bool readsFirst = false;                  // the first factor goes through registers
  bool generalByThreads = false;            // the general path's tensor cores do not have the type
  bool deals = false;                       // instances of the role that multiplies can take programs by turns
  bool reorder = true;                      // the order of the grid's tiles is known, or can be found at run time
  std::optional<LoopWork> loop = {};
  std::optional<FetchWork> fetch = {};
  std::optional<UnpackWork> unpack = {};
  Gpu gpu = {};
  unsigned stagesHint = 0; // the user's num_stages
  unsigned cluster = 0;    // blocks that share a program's steps; 0: one
  unsigned partial = 0;    // of k, whose sums are to be added with all bits of f32; 0: the tensor cores' sums will do
  bool inTurn = false;     // no product of several runs beside other work
};

/// How a kernel runs on a block. Of every kernel: consumers, k, stages, stageOutput, resident, fetchers and, on Hopper, registers of roles. Of
/// one product: group, early, boxed, cluster, instances, joined, partial, partialColumns and, where threads unpack a factor, ahead. Of
/// several: computedSlots, branch, longest and, where they stand in loops on Hopper, delay, spread, holdOperands, splitColumns, ahead,
/// overlap. Elsewhere they are 0 (group: 1).
struct Schedule {
  unsigned consumers = 2; // warpgroups that multiply, each 64 rows of the tile at a time
  unsigned k = 64;        // depth of a slot
  unsigned stages = 4;    // slots of the ring
  unsigned group = 8;     // tile rows that are walked together, so that a wave shares operands in L2; 1: the grid's own order
  /// Pieces of 64 rows x 128 bytes of a result that a consumer's part of shared memory holds on the way to the copy engine: all of
  /// them, or an even number that is used in halves by turns. 0: results are stored from registers.
  unsigned stageOutput = 8;
  unsigned computedSlots = 0; // slots of the rings through which computed factors go; 0: there are none
  unsigned delay = 0;         // 1: what comes of them and is added to memory is multiplied a step late
  unsigned spread = 0;        // 1: products with loaded factors start together, results are waited for where they are used
  /// 1: first factors that stay for all steps are read into registers, and shared memory has more to give.
  unsigned holdOperands = 0;
  /// 1: all consumers have the same 64 rows, and each its part of the columns of sums that no other product is computed from; the other
  /// products they make all.
  unsigned splitColumns = 0;
  unsigned early =
      0; // registers of a thread for tiles that work on results loads, and that are under way before the results are there
  unsigned ahead = 0;   // 1: what threads load to compute a step's factors with is loaded in the step before
  unsigned boxed = 0;   // 1: a tile that work on results loads, and that is a box, comes through the ring, behind the last step
  unsigned overlap = 0; // 1: a product with a computed factor runs under the next step's work
  unsigned branch = 0;  // 1: masks cost the steps only in which some lanes do not exist
  unsigned longest = 0; // 1: programs with most steps first, one a block, where their lengths differ in a way that is seen
  unsigned loadRegisters = 0, mathRegisters = 0; // of a thread of each role; 0: what the launch gives
  /// Blocks of a cluster, each of which multiplies a part of the steps; they add their sums up, each a part of the tile, and store that
  /// from registers. 0: one block a program, unless a launch has few programs; 1: in any case.
  unsigned cluster = 0;
  /// Copies of the role that multiplies, each with `consumers` warpgroups, which take programs by turns: results of one go out under another's
  /// products. 0: one.
  unsigned instances = 0;
  unsigned resident = 0;       // blocks that a multiprocessor runs side by side; 0: one
  unsigned fetchers = 0;       // warpgroups that fetch factors; 0: none do, and one thread starts the copies
  unsigned joined = 0;         // steps whose fetched factors are loaded before those of the first of them are written; 0: one
  unsigned partial = 0;        // of k, whose sums are added to the others by threads; 0: the tensor cores add all
  unsigned partialColumns = 0; // columns of the products that make such sums, so that few registers are needed beside the others'
  unsigned general = 0;        // 1: not on this path at all, but as every other program

  /// "consumers=2 k=64 ..."
  std::string print() const;
  /// Sets fields from "stages=3 group=1"; throws Error for a name there is not.
  void override(const std::string &text);
  /// The kernel's attribute `block.schedule`.
  mlir::DictionaryAttr attribute(mlir::MLIRContext *context) const;
  static std::optional<Schedule> of(tile::KernelOp kernel);
};

/// Throws Error.
[[noreturn]] void refuseSchedule(std::string message, std::string hint);

/// Pieces of all rows in which slots without factors can hold a tile of m x n: so few that all can be under way while the last step's slot is
/// read. 0: they cannot.
unsigned piecesInSlots(unsigned m, unsigned n, unsigned elementBytes, int64_t slotBytes, unsigned stages);
/// Pieces of a result of `outputBytes` an element that a consumer computes.
unsigned outputPieces(const ScheduleProblem &problem, const Schedule &schedule, unsigned outputBytes);
/// Bytes of shared memory: barriers, ring, staged results.
int64_t sharedBytes(const ScheduleProblem &problem, const Schedule &schedule);

struct Candidate {
  Schedule schedule;
  double cycles;     // of a program, of 64 steps where it has any
  size_t number = 0; // in the order of being thought of
};
/// All that fit, cheapest first; of equal ones the first that was thought of.
std::vector<Candidate> priceSchedules(const ScheduleProblem &problem);
/// Why the kernel is as fast as it is: "consumers=2 ..: 66336 cycles of 64 steps, bound by the tensor cores; next consumers=2 ..: 69408".
std::string explain(const ScheduleProblem &problem, const Schedule &chosen);
/// Cycles of a step on the general path, as far as its fetches tell.
double generalCycles(const ScheduleProblem &problem);
/// Of a step with the schedule, or of a program without steps, as the model has it.
double cyclesOfStep(const ScheduleProblem &problem, const Schedule &schedule);
/// The cheapest, nothing if none fits. TILERY_SCHEDULE: the cheapest with the fields that it names; if there is none, the cheapest of all
/// with these overridden. Throws Error if an override cannot be carried out, or if the sums of a cluster's blocks do not fit where the slots
/// were.
std::optional<Schedule> chooseSchedule(const ScheduleProblem &problem);

} // namespace tilery::block
