#pragma once
// What a call of a program does before and between its kernels: checks, allocations, grids, launches (tile.host), as a small
// program over 64-bit registers that the runtime interprets and the cache stores.
#include "tilery/runtime.h"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

struct HostParameter {
  std::string name;
  DType dtype = DType::F32;
  int32_t rank = -1;    ///< -1: a scalar
  bool written = false; ///< a kernel may store through it; `parse` finds it
  bool operator==(const HostParameter &) const = default;
};

/// One argument of a call: a tensor, or a scalar as the bits of its parameter's type (integers extended to 64 bits).
struct HostArgument {
  const Tensor *tensor = nullptr;
  uint64_t bits = 0;
  bool readOnly = false; ///< a tensor that may not be written
};

/// What a program asks of its surroundings.
class HostEnvironment {
public:
  virtual ~HostEnvironment() = default;
  /// Memory, 64-byte aligned, for the next tensor that the program makes: `extents` for row-major elements of `dtype`. A workspace is given back when the call ends, an output belongs to the caller. Null: stop (an exception is
  /// pending).
  virtual void *allocate(std::span<const int64_t> extents, DType dtype, bool workspace) = 0;
  /// False: stop.
  virtual bool launch(const Kernel &kernel, const int64_t grid[3], const uint64_t *args, uint32_t flags) = 0;
};

/// Operations; operands are the words that follow. Registers hold int64; `t` numbers tensors: parameters first, then those made,
/// in order.
enum class HostOp : int64_t {
  Constant, ///< r value
  Scalar,   ///< r parameter
  Extent,   ///< r t dim
  Stride,   ///< r t dim
  Pointer,  ///< r t
  Add,
  Sub,
  Mul,
  DivTrunc,
  DivFloor,
  DivUnsigned,
  RemTrunc,
  RemFloor,
  RemUnsigned, ///< r a b; total, as tile.div and tile.rem
  MinSigned,
  MaxSigned,
  MinUnsigned,
  MaxUnsigned,
  And,
  Or,
  Xor, ///< r a b
  Equal,
  NotEqual,
  Less,
  LessEqual,
  LessUnsigned,
  LessEqualUnsigned, ///< r a b: 0 or 1
  Select,            ///< r condition a b
  SignExtend,        ///< r a bits
  ZeroExtend,        ///< r a bits
  Check,             ///< a b text assumption(0/1): refuses the call unless equal
  Empty,             ///< t dtype workspace rank extent-registers...
  Launch,            ///< kernel grid-rank registers... count (register, t or -1)...
  Return,            ///< count t...
};

class HostProgram {
public:
  std::string name;
  std::vector<HostParameter> parameters;
  uint32_t registers = 0;
  uint32_t tensors = 0; ///< parameters and made ones (scalar parameters have a number, too)
  std::vector<std::string> texts;
  std::vector<int64_t> code;

  std::string serialize() const;
  /// Throws Error if the bytes are no valid program for these kernels, its image's (every register, tensor, text and length is checked
  /// here, not when it runs).
  static HostProgram parse(std::string_view bytes, std::span<const KernelInfo> kernels);
  /// Throws Error, naming the argument, what was expected and what came. Otherwise the tensors it returns (numbers as above), or
  /// nullopt if the environment stopped it.
  std::optional<std::vector<uint32_t>> run(std::span<const HostArgument> args, std::span<const KernelPtr> kernels,
                                           HostEnvironment &environment) const;

private:
  void checkArguments(std::span<const HostArgument> args) const;
};

} // namespace tilery
#pragma GCC visibility pop
