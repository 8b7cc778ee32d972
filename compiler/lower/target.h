#pragma once
// What a target decides and emits where the shared lowering asks. compiler/targets/X implements it; nothing in this folder knows which X
// there are.
#include "compiler/lower/product.h"

namespace tilery::lower {

struct Emitter;
struct Options;
using Lanes = llvm::Value *; // a scalar (the same in every lane) or a vector of lanes

/// The numbers that plans and loops are made to.
struct Machine {
  unsigned vectorBits = 128;     ///< of the vectors that an inner loop computes
  unsigned vectorRegisters = 16; ///< that hold such vectors
  bool floatAtomics = false;     ///< f32 and f64 in memory are added to by one atomic instruction
  bool relaxedAtomics = false;   ///< atomic updates other than compare-and-swap order nothing else: that takes fences
  bool unsignedVectors = false;  ///< vectors of u32 and f64 are converted by instructions
  unsigned stridedLoad = 2;      ///< costOf of a load whose lanes lie apart
  uint64_t turnedBytes =
      0; ///< of scratch memory for loads whose neighbours lie along another dimension than those of what takes them
  unsigned maskedBits = 0; ///< elements so wide or wider are moved under a mask by one instruction (0: none are)
  bool storesDivisions =
      false;                 ///< products read index tiles that take a division from memory, whatever shape they are brought into
  bool storesJoined = false; ///< tiles that are joined are stored, and in the shape whose rows are longest
  bool carriesElements = false; ///< tiles that a loop carries may stay in registers, some of their elements at a time
  unsigned longestNest = 0;     ///< what one computes for an element (costOf) before it is cut in two; 0: never
  bool turnsFactors = false; ///< products take factors in vectors along the rows of a stored tile, whichever dimension those are
  bool storesRepeated = false; ///< and what their factors repeat, where it is not cheap
};

/// What an atomic update orders, and for whom.
struct AtomicOrder {
  llvm::AtomicOrdering order;
  tile::SyncScope scope = tile::SyncScope::sys;
};

/// One object serves one compilation and is not changed by it. What a hook has no answer for (null, nothing) is done in the shared way.
class Target {
public:
  /// `name`: the subject of what is refused ("the CPU target").
  Target(std::string name, Machine machine) : name(std::move(name)), machine(machine) {}
  virtual ~Target() = default;
  const std::string name;
  const Machine machine;

  // -- plans
  /// What is decided about a product, once in a compilation. `stored`: the plan's choice for tiles outside the op. Null: the target plans
  /// its products by itself.
  virtual std::unique_ptr<ProductPlan> planProduct(mlir::Operation * /*op*/, const Options & /*options*/,
                                                   llvm::function_ref<bool(mlir::Value)> /*stored*/) const {
    return nullptr;
  }
  /// Tiles in scratch memory that the code of an op other than a product needs for itself (Plan::temporaries).
  virtual llvm::SmallVector<mlir::Type> temporaries(mlir::Operation * /*op*/) const { return {}; }

  /// Whether a scan writes its elements straight to memory where a store is all that reads them. What waits for the sum before gains by
  /// it; threads that write rows side by side lose.
  virtual bool storesScans() const { return false; }

  // -- atomic updates
  /// Whether updates whose old values nobody reads are nests, like stores: vectors of their values and places are computed at once.
  virtual bool updatesInNests() const { return false; }
  /// LLVM's name of a scope of atomic updates; empty: the whole system.
  virtual llvm::StringRef syncScope(tile::SyncScope /*scope*/) const { return ""; }
  /// Whether the two functions below keep that order, so that no fence is needed.
  virtual bool ordersAtomics(unsigned /*bits*/, llvm::AtomicOrdering /*order*/) const { return false; }
  /// memory = kind(memory, bits) of global memory in one step; gives the bits before.
  virtual llvm::Value *update(Emitter & /*e*/, tile::RmwKind /*kind*/, mlir::Type /*element*/, llvm::Value * /*pointer*/,
                              llvm::Value * /*bits*/, const AtomicOrder & /*as*/) const {
    return nullptr;
  }
  /// How many neighbours of that type one instruction adds to global memory, each indivisibly, at a multiple of their bytes; 1: one.
  virtual unsigned addsTogether(mlir::Type /*element*/) const { return 1; }
  /// memory = memory + bits of so many (a vector); false: there is no such instruction, and nothing has happened.
  virtual bool addTogether(Emitter & /*e*/, mlir::Type /*element*/, llvm::Value * /*pointer*/, llvm::Value * /*bits*/,
                           tile::SyncScope /*scope*/) const {
    return false;
  }
  /// If global memory holds `expected`, it becomes `desired`; gives the bits before.
  virtual llvm::Value *compareAndSwap(Emitter & /*e*/, llvm::Value * /*pointer*/, llvm::Value * /*expected*/,
                                      llvm::Value * /*desired*/, const AtomicOrder & /*as*/) const {
    return nullptr;
  }

  // -- arithmetic on lanes
  /// The libm function `name` ("exp") at the operands' type; "exp2 nearly": within 2^-22, 0 below 2^-126; "erf nearly": 2^-22
  /// off; "exp nearly": within 2^-21 and |x| 2^-24, for results of 8 bits; other names with "nearly": as quick as the machine can, for
  /// programs that want fast math; "exp summed": as "exp", and may be fused with what adds it.
  virtual Lanes function(Emitter & /*e*/, llvm::StringRef /*name*/, llvm::ArrayRef<Lanes> /*operands*/) const { return nullptr; }
  /// x / y of f32, either a scalar or a vector. `approximately`: within 2 ULP, else correctly rounded.
  virtual Lanes divide(Emitter & /*e*/, Lanes /*x*/, Lanes /*y*/, bool /*approximately*/) const { return nullptr; }
  /// Lanes of bf16 (i16) to f32, and back with round to nearest even; denormals and NaNs stay what they are.
  virtual Lanes widenBF16(Emitter & /*e*/, Lanes /*bits*/) const { return nullptr; }
  virtual Lanes narrowBF16(Emitter & /*e*/, Lanes /*value*/) const { return nullptr; }
  /// x where the condition holds, else y, of scalars and vectors of integers.
  virtual Lanes select(Emitter & /*e*/, Lanes /*condition*/, Lanes /*x*/, Lanes /*y*/) const { return nullptr; }
  /// Between bytes of an 8-bit float and f32; rounds to nearest even, what is too large becomes NaN (e4m3fn) or an infinity (e5m2). NaNs
  /// keep their signs, where those can be told (`keepsNaNSign`) and were given.
  virtual Lanes widenFloat8(Emitter & /*e*/, Lanes /*bits*/, mlir::Type /*element*/, bool /*keepsNaNSign*/) const {
    return nullptr;
  }
  virtual Lanes narrowFloat8(Emitter & /*e*/, Lanes /*value*/, mlir::Type /*element*/) const { return nullptr; }
  /// Bytes of an 8-bit float to f16 (i16), which has all their numbers.
  virtual Lanes float8ToHalf(Emitter & /*e*/, Lanes /*bits*/, mlir::Type /*element*/) const { return nullptr; }
};

} // namespace tilery::lower
