#pragma once
// The one way to build tile IR: values with types, operators, promotion, broadcasting and errors. Front ends (Python, C++) are thin over it.
// Every function throws tilery::Error (diagnostic.h) with the source location that the location provider reports.
#include "tilery/diagnostic.h"
#include "tilery/dtype.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

using Shape = std::vector<int64_t>;

/// Type of a tile value: element (or pointee) and static shape; an empty shape is a scalar.
struct Type {
  DType element = DType::F32;
  Shape shape;
  bool pointer = false; ///< lanes are addresses of `element`
  bool isConst = false; ///< pointers only: may not be stored through
  bool operator==(const Type &) const = default;
  /// "float32[128, 64]", "int32", "pointer<float16>[128]".
  std::string str() const;
};

/// Handle of an SSA value. Cheap to copy; valid while its Builder's module lives and only inside the region that defined it.
struct Value {
  void *handle = nullptr;
  Type type;
  explicit operator bool() const { return handle != nullptr; }
  const Shape &shape() const { return type.shape; }
  DType dtype() const { return type.element; }
};
/// A number written in the program: it has no type of its own and takes one by the promotion policy.
using Literal = std::variant<bool, int64_t, uint64_t, double>;
using Operand = std::variant<Value, Literal>;

/// What a program asks of targets, as "num_warps" of a kernel (compiler/ir/hints.h has the list): an attribute `tile.NAME` of a loop or
/// kernel. Hints never change what is computed; an image says which were ignored.
using Hint = std::variant<bool, int64_t>;
using Hints = std::vector<std::pair<std::string, Hint>>;

/// A strided tensor in global memory with run-time extents.
struct Root {
  void *handle = nullptr;
  DType dtype;
  int64_t rank = 0;
};
/// Lanes in global memory: a window of a root, or pointers with a mask.
struct Place {
  void *handle = nullptr;
  DType dtype;
  Shape shape;
};
enum class Space { Shared, Fragment, Local, Global };
/// Memory of one program instance.
struct Buffer {
  void *handle = nullptr;
  DType dtype;
  Shape shape;
  Space space = Space::Shared;
};
struct Barrier {
  void *handle = nullptr;
  int64_t count = 0;
};
/// A tensor as the host function sees it.
struct TensorArg {
  void *handle = nullptr;
  DType dtype;
  int64_t rank = 0;
};

/// Which promotion rules hold: Triton's (reference page 2.10) or TIR's.
enum class Policy { Triton, Tir };

enum class BinaryOp {
  Add,
  Sub,
  Mul,
  TrueDiv,  ///< under Triton's rules f32 quotients may be off by 2 units in the last place
  RoundDiv, ///< correctly rounded under any rules
  FloorDiv,
  Mod,
  TruncDiv,
  TruncMod,
  Pow,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  LogicalAnd,
  LogicalOr,
  Min,
  Max,
  MinNan,
  MaxNan,
  MulHigh
};
enum class UnaryOp { Neg, Invert, LogicalNot, Abs, Pos };
/// Elementwise functions of floats.
enum class MathOp {
  Exp,
  Exp2,
  Exp10,
  Log,
  Log2,
  Log10,
  Log1p,
  Expm1,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Sqrt,
  Rsqrt,
  Cbrt,
  Erf,
  Erfc,
  Floor,
  Ceil,
  Round,
  RoundEven,
  Trunc,
  IsNan,
  IsInf,
  IsFinite,
  Fma,
  Atan2,
  CopySign,
  Fmod
};
enum class ReduceKind { Sum, Product, Max, Min, MaxNan, MinNan, And, Or, Xor };
enum class ShuffleMode { Idx, Up, Down, Xor };
enum class VoteMode { Any, All, Ballot, Count };
enum class RmwKind { Add, Max, Min, And, Or, Xor, Exchange };
enum class MemoryOrder { Relaxed, Acquire, Release, AcqRel, SeqCst };
enum class SyncScope { Cta, Gpu, Sys };
enum class Precision { Ieee, Tf32, Tf32x3, Bf16x3, Bf16x6 };

struct LoadOptions {
  bool isVolatile = false;
  std::string cache, eviction;
};
struct DotOptions {
  Precision precision = Precision::Ieee;
  /// Of 8-bit floats: sums of so many of k are added to the accumulator with all its bits, on any machine. 0: the machine's sums will do.
  int64_t partialSums = 0;
};

/// A kernel parameter. divisibility: known power-of-two factor of the value (integers) or of the address in bytes (pointers); 1: unknown.
struct Param {
  std::string name;
  Type type;
  int64_t divisibility = 1;
};
struct HostParam {
  std::string name;
  DType dtype;
  int64_t rank = -1; /* -1: a scalar */
};

/// Compiled-to-IR program: kernels and at most one host function. Opaque; see module.h for what can be done with it.
class Module;

class Builder {
public:
  explicit Builder(Policy policy);
  ~Builder();
  Builder(const Builder &) = delete;
  Policy policy() const;
  /// Called for each op and each error: the user's position, innermost first (helpers' call chain after it).
  void setLocationProvider(std::function<std::vector<SourceLocation>()> provider);
  /// Whether sums, differences and products of integers below 64 bits assert that they fit their type; off at first. Gives what held before.
  bool checkOverflow(bool on);
  /// Whether functions and quotients of floats may be a machine's approximations (`fastmath<afn>`, `fastmath<arcp>`) from here on; off at
  /// first. Gives what held before.
  bool fastMath(bool on);
  /// Products and sums of floats round each: none of the program become fused multiply-adds, whatever CompileOptions::fpContract says.
  void roundEach();
  /// Throws Error with the current position.
  [[noreturn]] void fail(Diagnostic::Kind kind, std::string message, std::string hint = "");

  // Kernels and host function.
  std::vector<Value> beginKernel(const std::string &name, const std::vector<Param> &params);
  /// Adds a hint to the open kernel; the last one of a name counts.
  void hintKernel(const std::string &name, const Hint &value);
  /// All blocks meet: what follows is a kernel of its own, `name_phase1`, `name_phase2`, ..., of the same parameters, launched after
  /// what precedes. Buffers keep nothing. It stands in no region but the threads of a block.
  void meet();
  /// Has anything named the buffer so far?
  bool isUsed(const Buffer &buffer) const;
  /// A scalar integer, or the first lane of a tile of them, is a multiple of `divisor` wherever the program comes by here; of an address:
  /// in bytes. A hint for accesses, used as far as powers of two go.
  void promiseMultiple(const Value &value, int64_t divisor);
  void endKernel();
  /// Ends building; the builder is empty afterwards. Verifies the module.
  std::shared_ptr<Module> finish();

  // Regions. Values defined inside do not exist outside, except as results.
  struct ForArgs {
    Value iv;
    std::vector<Value> carried;
  };
  /// for iv in [lower, upper) by step > 0 (i32 or i64, all of one type).
  ForArgs beginFor(Value lower, Value upper, Value step, const std::vector<Value> &init, const Hints &hints = {});
  std::vector<Value> endFor(const std::vector<Value> &yields);
  void beginIf(Value condition);
  void beginElse();
  /// Pairs of results, one from each branch: of one type, or signed integers (the wider). A null Value: that branch does not care.
  std::vector<Value> endIf(const std::vector<Value> &thenYields, const std::vector<Value> &elseYields);
  /// The condition is built between beginWhile and whileBody, which pass the carried values to either region.
  std::vector<Value> beginWhile(const std::vector<Value> &init);
  std::vector<Value> whileBody(Value condition);
  std::vector<Value> endWhile(const std::vector<Value> &yields);
  /// What is built between is thrown away (dry traces); nests. discard also closes regions opened since.
  void beginScratch();
  void discardScratch();
  /// Inside a scratch: some value of the type of `value`.
  Value placeholder(const Value &value);
  /// True if `value` may be used at the current position.
  bool visible(const Value &value) const;
  /// True if `value` is computed from `other`, through values alone.
  bool dependsOn(const Value &value, const Value &other) const;
  /// Where the value was made.
  std::vector<SourceLocation> whereDefined(const Value &value) const;
  std::vector<Value> beginReduce(const std::vector<Value> &tiles, int64_t axis);
  std::vector<Value> endReduce(const std::vector<Value> &yields);
  std::vector<Value> beginScan(const std::vector<Value> &tiles, int64_t axis, bool reverse);
  std::vector<Value> endScan(const std::vector<Value> &yields);
  std::vector<Value> beginParallel(const std::vector<Value> &extents);
  void endParallel();
  /// What is built until endThreads runs once in each of `count` threads (tile.threads); the thread's number, int32. Parallel regions and
  /// functions on regions are carried out by all of them together, but those on buffers of Space::Local, which each thread has for itself.
  Value beginThreads(int64_t count);
  void endThreads();
  /// What the threads in some ranges, {first, end, first, end, ...}, do beside the others. Roles that follow each other, with nothing
  /// between them but values and allocations, run side by side and meet at the end of the last; those of the same threads are one.
  void beginRole(const std::vector<int64_t> &threads);
  void endRole();

  // Barriers of a program: a phase completes after its arrivals.
  Barrier barriers(const std::vector<int64_t> &arrivals);
  /// What errors call them.
  void name(const Barrier &barrier, const std::string &name);
  void arrive(const Barrier &barrier, const Operand &index, int64_t count);
  /// Waits until the phase of parity `parity` has completed.
  void wait(const Barrier &barrier, const Operand &index, const Operand &parity);
  /// True where code that is built runs once in each thread.
  bool inThreads() const;
  /// What is built until endTogether is carried out once by all threads together; gives what the region yields.
  void beginTogether();
  std::vector<Value> endTogether(const std::vector<Value> &yields);
  /// All threads of the block wait for each other. Outside threads nothing is built: there is nobody to wait for.
  /// arrivals: how many threads the program says come (0: it does not say).
  void sync(int64_t width = 0, int64_t arrivals = 0);
  /// Value of another thread of the same `width` threads; see tile.shuffle.
  Value shuffle(ShuffleMode mode, const Value &value, const Operand &lane, int64_t width = 32);
  /// c + a * b over the threads of a warp, which hold the elements in parts (see tile.warp_dot).
  std::vector<Value> warpDot(const std::vector<Value> &a, const std::vector<Value> &b, const std::vector<Value> &c);
  /// Any and All give a Bool, Ballot a uint32, Count an int32; width 0: all threads of the block.
  Value vote(VoteMode mode, const Operand &predicate, int64_t width = 32);

  // Values.
  Value constant(const Literal &value, DType dtype);
  /// The integer that every lane of a value is known to hold while the program is built.
  std::optional<int64_t> knownNumber(const Value &value);
  /// The literal with the type it has by itself (policy: 1 -> int32, 1 << 40 -> int64, 1.5 -> float32, True -> bool).
  Value materialize(const Operand &operand);
  Value full(const Shape &shape, const Operand &value, DType dtype);
  Value programId(int axis);
  Value numPrograms(int axis);
  /// Nanoseconds of a clock that never goes back (i64), read where the program is now.
  Value clock();
  /// The number of the GPU's multiprocessor, or of the thread on a CPU, that runs the program (i32).
  Value processor();
  /// What `value`, computed from program ids and kernel arguments alone, is in the program with the ids `ids` (one an axis).
  Value elsewhere(const Value &value, const std::vector<Value> &ids);
  Value arange(int64_t start, int64_t end);
  Value binary(BinaryOp op, const Operand &lhs, const Operand &rhs);
  Value unary(UnaryOp op, const Value &value);
  Value math(MathOp op, const std::vector<Operand> &args);
  Value select(const Operand &condition, const Operand &x, const Operand &y);
  /// Conversion by value; rounding to nearest even, or towards zero; float to int truncates and saturates; anything to Bool is != 0.
  /// Under Triton's rules what is too large for an 8-bit float becomes its greatest number.
  Value cast(const Operand &value, DType dtype, bool towardsZero = false);
  /// The same, but what is too large for a float of 8 bits becomes its nearest finite value; NaN stays.
  Value castFinite(const Operand &value, DType dtype, bool towardsZero = false);
  Value bitcast(const Value &value, DType dtype);
  /// The element type two operands are computed in (before the op), by the policy.
  DType commonType(const Operand &lhs, const Operand &rhs, BinaryOp op);
  /// A value with `literal` typed against nothing, or the value itself, converted to `type` (implicit conversion of an assignment).
  Value convert(const Operand &value, const Type &type);

  /// Fails if `value` is an address: `what` ("operator <", "a mask") takes numbers.
  void requireNumbers(const Value &value, const std::string &what);

  // Shapes.
  Value splat(const Value &scalar, const Shape &shape);
  Value broadcastTo(const Value &value, const Shape &shape);
  /// NumPy broadcasting of all values to one shape.
  std::vector<Value> broadcast(const std::vector<Value> &values);
  Value expandDims(const Value &value, int64_t axis);
  Value reshape(const Value &value, const Shape &shape);
  Value permute(const Value &value, const std::vector<int64_t> &order);
  Value join(const Value &lhs, const Value &rhs);
  std::pair<Value, Value> split(const Value &value);
  Value cat(const Value &lhs, const Value &rhs, int64_t axis);
  Value take(const Value &value, const Value &indices, int64_t axis);
  Value extract(const Value &value, const std::vector<Value> &indices);
  /// Stable, NaNs last; `keep`: the first so many of the order only.
  Value sort(const Value &value, int64_t axis, bool descending, std::optional<int64_t> keep = {});
  Value histogram(const Value &value, int64_t bins, const std::optional<Value> &mask);

  // Reductions of one tile; keepDims leaves a dimension of size 1. nullopt axis: all lanes.
  Value reduce(ReduceKind kind, const Value &value, std::optional<int64_t> axis, bool keepDims);
  /// The extreme lane's value and its index (int32); ties: the lower index when tieBreakLeft. NaNs lose to all others: nothing but NaNs gives
  /// NaN and the first one's index.
  std::pair<Value, Value> argReduce(bool isMax, const Value &value, std::optional<int64_t> axis, bool keepDims,
                                    bool tieBreakLeft);
  /// Sums and products of 16-bit floats are carried in 32 bits; each result is rounded once.
  Value scan(ReduceKind kind, const Value &value, int64_t axis, bool reverse);
  /// acc + a * b, acc given or zeros of `accType`. `clear` (bool scalar): ignore acc.
  Value dot(const Value &a, const Value &b, const std::optional<Value> &acc, const std::optional<Value> &clear, DType accType,
            const DotOptions &options);

  // Memory through pointers (a pointer or a tile of pointers).
  Value load(const Value &pointer, const std::optional<Operand> &mask, const std::optional<Operand> &other,
             const LoadOptions &options = {});
  void store(const Value &pointer, const Operand &value, const std::optional<Operand> &mask, const LoadOptions &options = {});
  Value pointerCast(const Value &pointer, DType pointee);
  /// The address as int64: the only way from a pointer to a number.
  Value pointerToInt(const Value &pointer);
  Value intToPointer(const Value &value, DType pointee);
  Value atomicRmw(RmwKind kind, const Value &pointer, const Operand &value, const std::optional<Operand> &mask, MemoryOrder order,
                  SyncScope scope);
  Value atomicCas(const Value &pointer, const Operand &expected, const Operand &desired, MemoryOrder order, SyncScope scope);

  // Memory through roots and views. Integer operands of any integer type.
  Root root(const Value &pointer, const std::vector<Value> &extents, const std::vector<Value> &strides);
  /// See tile.view: dims[d] is the root dimension that tile dimension d walks, or -1. dilations: one a tile dimension, or empty (all 1). limits: empty, or one a tile dimension.
  /// residual: which lanes exist at all (a scalar or a tile).
  Place view(const Root &root, const std::vector<Operand> &starts, const Shape &shape, const std::vector<int64_t> &dims,
             const std::vector<Operand> &dilations = {}, const std::vector<Operand> &limits = {},
             const std::optional<Operand> &residual = {});
  /// Pointers with a mask as a place.
  Place pointerPlace(const Value &pointers, const std::optional<Operand> &mask);
  Value load(const Place &place, const std::optional<Operand> &other, const LoadOptions &options = {});
  void store(const Place &place, const Operand &value, const LoadOptions &options = {});
  Value atomicRmw(RmwKind kind, const Place &place, const Operand &value, MemoryOrder order, SyncScope scope);

  // Buffers.
  Buffer alloc(const Shape &shape, DType dtype, Space space);
  Buffer subview(const Buffer &buffer, const std::vector<Operand> &offsets, const Shape &shape, const std::vector<int64_t> &dims);
  Buffer reinterpret(const Buffer &buffer, const Shape &shape, DType dtype);
  Value bufferLoad(const Buffer &buffer);
  void bufferStore(const Buffer &buffer, const Operand &value, const std::optional<Value> &mask = {});
  Value elementLoad(const Buffer &buffer, const std::vector<Operand> &indices);
  /// More dimensions for the parallel loop whose body is being built and has no effect so far; their indices.
  std::vector<Value> extendParallel(const std::vector<Operand> &extents);
  /// How many ops of the current block do more than compute.
  int64_t effects() const;
  /// What changes memory in the loop body being built, in order, with what it accesses: buffers, by an address that names each.
  struct Statement {
    std::vector<const void *> reads, writes;
    int64_t apart = 0; ///< how many more it may count as: loads on other lines before it, what follows a `continue`
    bool jump = false; ///< a branch that may leave the loop, or the iteration
    std::vector<SourceLocation> where; ///< innermost first
  };
  std::vector<Statement> statements() const;
  /// Does something need the value whatever conditions hold? Not what only a branch or one side of a select reads.
  bool isUsed(const Value &value) const;
  /// Combines an element with a value, indivisibly among the iterations of a parallel loop; gives what was there.
  Value elementUpdate(RmwKind kind, const Buffer &buffer, const std::vector<Operand> &indices, const Operand &value);
  void elementStore(const Buffer &buffer, const std::vector<Operand> &indices, const Operand &value);

  // Debugging.
  void print(const std::string &prefix, const std::vector<Value> &values, bool hex);
  void assertTrue(const Operand &condition, const std::string &message, const std::optional<Operand> &mask);

  // Host function. Scalars of the host are int64 Values (and float parameters as they are); arithmetic by binary().
  struct HostArg {
    TensorArg tensor;
    Value scalar;
  };
  std::vector<HostArg> beginHost(const std::string &name, const std::vector<HostParam> &params);
  Value hostExtent(const TensorArg &tensor, int64_t dim);
  Value hostStride(const TensorArg &tensor, int64_t dim);
  Value hostPointer(const TensorArg &tensor);
  /// `assumption`: a breach is an error of the run, not of a value.
  void hostCheck(const Value &lhs, const Value &rhs, const std::string &message, bool assumption = false);
  TensorArg hostEmpty(const std::vector<Value> &extents, DType dtype, bool workspace);
  void launch(const std::string &kernel, const std::vector<Value> &grid, const std::vector<Value> &args);
  void endHost(const std::vector<TensorArg> &outputs);

  struct [[gnu::visibility("hidden")]] Impl; ///< compiler/builder/impl.h
private:
  std::unique_ptr<Impl> impl;
};

} // namespace tilery
#pragma GCC visibility pop
