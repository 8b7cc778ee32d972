#pragma once
// What holds a kernel back, noted by those who make its code, where they make it. A finding is what was done, never a guess at the source.
#include "compiler/ir/Tile.h"
#include "compiler/pch.h"
#include "mlir/IR/Operation.h"
#include "tilery/finding.h"

namespace tilery::explain {

/// Collects what the calling thread's compilation finds, from the construction on; outside of one nothing is noted.
/// inWords: what is said of the plan, too.
class Findings {
public:
  explicit Findings(bool inWords = false);
  ~Findings();
  Findings(const Findings &) = delete;
  /// One of each kind a place, in the order in which code was made.
  std::vector<Finding> take() { return std::move(found); }
  std::vector<Diagnostic> takeSteps() { return std::move(steps); }

private:
  friend void find(mlir::Operation *, llvm::StringRef, const llvm::Twine &, llvm::StringRef);
  friend class Aside;
  friend bool wanted();
  friend bool isAside();
  friend void say(mlir::Operation *, const std::string &);
  friend class Access;
  friend class Loops;
  friend void beginKernel();
  friend void way(const llvm::Twine &);
  friend std::string waysOf(const void *);
  friend void lanesApart();
  std::vector<Finding> found;
  std::vector<Diagnostic> steps;
  bool inWords;
  unsigned aside = 0;
  mlir::Operation *access = nullptr;
  const void *loops = nullptr;
  llvm::DenseMap<const void *, std::vector<std::string>> ways;
  Findings *outer; ///< a signal's handler may compile between two steps
};

/// Whether a plan in words is asked for.
bool wanted();
/// A sentence of that, at the op's place.
void say(mlir::Operation *op, const std::string &text);
/// Notes `fault` at the op's place. message: what was done; hint: what to change in the source.
void find(mlir::Operation *op, llvm::StringRef fault, const llvm::Twine &message, llvm::StringRef hint);

/// Code beside the way that launches usually take (edges, rare layouts) is made: nothing is noted.
class Aside {
public:
  explicit Aside(bool is = true);
  ~Aside();
  Aside(const Aside &) = delete;

private:
  Findings *of;
};

bool isAside();

/// While the lanes of a load, store or update are moved.
class Access {
public:
  explicit Access(mlir::Operation *op);
  ~Access();
  Access(const Access &) = delete;

private:
  Findings *of;
  mlir::Operation *outer = nullptr;
};

/// Forgets the ways of nests: those of the next kernel may lie where these did.
void beginKernel();
/// While the code of a nest of loops is made.
class Loops {
public:
  explicit Loops(const void *nest);
  ~Loops();
  Loops(const Loops &) = delete;

private:
  Findings *of;
};
/// Notes of the current Loops in which way they are walked, or lanes of the current Access are moved.
void way(const llvm::Twine &text);
/// The ways that were noted of a nest, each once, with commas between them.
std::string waysOf(const void *nest);

// -- what more than one place finds
/// The lanes of the current Access are moved one by one.
void lanesApart();
/// Neighbouring threads move an element each of a load or store, along its dimension `dim`.
void threadsApart(mlir::Operation *access, unsigned dim);
/// In a launch neighbouring elements of a load or store lie apart, at places some of which are computed.
void placesApart(mlir::Operation *access, bool onCpu);
/// Rows of a tile that is loaded or stored have `extent` elements, fewer than a vector's `lanes`. Noted where they lie apart in memory.
/// `isKept`: the nest stores in scratch memory what is loaded.
void narrow(mlir::Operation *access, int64_t extent, int64_t lanes, bool isKept = false);
/// On a CPU short rows of a load or store, of so many elements and bytes, begin `apart` bytes one after another: each asks memory for a few
/// lines, where longer ones are fetched ahead. Kernels with products are left out: those read their tiles again and again.
void rowsApart(mlir::Operation *access, int64_t elements, int64_t bytes, int64_t apart);
/// Lanes of integers are divided by what is not known when code is made.
void division(mlir::Operation *op);
/// Lanes are converted. Noted where a kernel computes in more bits than it keeps in memory, and in such as have no instructions.
void conversion(mlir::Operation *op, mlir::Type from, mlir::Type to);
/// A tile of so many elements along its dimensions is read along one of them and used along another.
void transposed(mlir::Operation *op, llvm::ArrayRef<int64_t> shape);
/// A reduction is computed. Noted where it adds up what is a product of two matrices.
void reduction(tile::ReduceOp op);
/// Each element of a tile is updated by an indivisible step.
void atomics(mlir::Operation *op);
/// Elements are computed one after another: `why` there are no vectors.
void oneByOne(mlir::Operation *op, llvm::StringRef why);
/// So is all that a serial loop does, where it moves single elements and has no tiles.
void serialLoop(mlir::Operation *loop);
/// So are the points of a parallel loop.
void pointsOneByOne(mlir::Operation *parallel);

} // namespace tilery::explain
