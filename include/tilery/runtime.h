#pragma once
// Loading and launching compiled kernels: libtilery_rt. No Python, no MLIR, no LLVM.
#include "tilery/abi.h"
#include "tilery/dtype.h"
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

/// Where memory lives; kinds are DLPack's (1: CPU, 2: CUDA).
struct Device {
  int32_t kind = 1;
  int32_t index = 0;
  bool operator==(const Device &) const = default;
};

/// A strided tensor somebody else owns.
struct Tensor {
  void *data = nullptr; ///< address of element 0
  DType dtype = DType::F32;
  int32_t rank = 0;
  const int64_t *extents = nullptr;
  const int64_t *strides = nullptr; ///< in elements, any sign, 0 repeats
  Device device;
};

/// One argument slot of a kernel.
struct ArgInfo {
  std::string name;
  DType dtype = DType::I64;
  bool pointer = false; ///< `dtype` is the pointee
  bool written = false; ///< pointers: the kernel may store through it
  bool operator==(const ArgInfo &) const = default;
};

/// An integer that the host computes at each launch: the sum of coefficient * product of factors.
struct PolynomialInfo {
  /// As a factor: the grid's extent along an axis is gridExtent + axis; smaller factors are the slots of integer arguments.
  static constexpr uint32_t gridExtent = 1u << 31;
  struct Term {
    int64_t coefficient = 0;
    std::vector<uint32_t> factors; ///< of the constant: none
    bool operator==(const Term &) const = default;
  };
  std::vector<Term> terms; ///< none: 0

  PolynomialInfo() = default;
  PolynomialInfo(int64_t constant) {
    if (constant)
      terms.push_back({constant, {}});
  }
  bool operator==(const PolynomialInfo &) const = default;
};

/// A tensor map that a launch makes for the GPU's copy engine: a tensor behind a pointer argument that is read and written in boxes.
struct TensorMapInfo {
  struct Dimension {
    PolynomialInfo extent; ///< elements, at most 2^31; others are neither read (they are 0) nor written
    PolynomialInfo stride =
        1; ///< elements from one to the next: 1 in the innermost dimension, a multiple of 16 bytes below 2^40 in others
    uint32_t box = 1; ///< elements of a box, at most 256
    bool operator==(const Dimension &) const = default;
  };
  uint32_t slot = 0; ///< of the pointer argument
  DType dtype = DType::F16;
  PolynomialInfo offset; ///< elements from the pointer to the tensor's first element, which lies at a multiple of 16 bytes
  std::vector<Dimension> dimensions; ///< one to five, the innermost first
  uint32_t swizzle = 0; ///< bytes of the rows whose 16-byte pieces are exchanged in shared memory: 32, 64, 128; 0: none
  bool operator==(const TensorMapInfo &) const = default;

  /// Bytes that a copy of one box moves.
  uint64_t boxBytes() const {
    uint64_t bytes = byteWidth(dtype);
    for (const Dimension &dimension : dimensions)
      bytes *= dimension.box;
    return bytes;
  }
};

/// What a kernel's code takes for granted of a launch.
struct ConditionInfo {
  PolynomialInfo value;
  uint64_t divisor = 0; ///< of the value; 0: the value is not negative
  bool operator==(const ConditionInfo &) const = default;
};

/// A print or an assertion of a GPU kernel.
struct ReportSite {
  bool assertion = false;
  std::string text;              ///< message or prefix
  std::string file;              ///< assertions; may be empty
  uint32_t line = 0, column = 0; ///< of assertions
  bool hex = false;              ///< prints
  struct Value {
    std::vector<int64_t> shape;
    uint32_t dtype; ///< as in TileryPrinted
    bool operator==(const Value &) const = default;
  };
  std::vector<Value> values; ///< of prints
  bool operator==(const ReportSite &) const = default;
};

/// Steps of a program that the blocks of a cluster may share (CompileOptions::cluster): they go along a dimension of a tensor.
struct SplitInfo {
  uint32_t map = 0, dimension = 0; ///< of GpuInfo::maps, and of that tensor
  uint32_t depth = 0;              ///< elements of it that a step takes; 0: there is nothing to share
  bool operator==(const SplitInfo &) const = default;
};

/// How a kernel is launched on a GPU. Its parameters are the tensor maps, the argument slots, the grid's three extents, and addresses of
/// the workspace and of TileryReports where it needs them.
struct GpuInfo {
  uint32_t threads = 0; ///< of a block; 0: not a GPU kernel
  uint32_t sharedBytes = 0;
  /// As many blocks (or clusters) as run at once share the programs of the grid; otherwise one a program.
  bool persistent = false;
  uint32_t cluster = 1; ///< blocks that run a program together, neighbours along x; at most 8
  /// Programs along each axis of the grid, one behind the other, that one of the kernel's does.
  std::array<uint32_t, 3> joined{1, 1, 1};
  /// The blocks may start while the launch before this one still runs: each waits for its end (griddepcontrol.wait) before it touches global
  /// memory.
  bool programmatic = false;
  uint64_t workspaceBytes = 0; ///< of global memory, for each block that runs at once
  uint32_t spillBytes = 0;     ///< that a thread's code stores and loads for want of registers; known once assembled
  std::vector<TensorMapInfo> maps;
  std::vector<ConditionInfo> conditions; ///< launches that break one need code without boxes: LaunchOptions::withoutBoxes
  SplitInfo split;                       ///< launches of few programs ask for LaunchOptions::clustered
  std::vector<ReportSite> sites;         ///< launches of kernels that have some are waited for
  /// Programs that the kernel has in a launch.
  uint64_t programs(const int64_t grid[3]) const;
  bool operator==(const GpuInfo &) const = default;
};

/// How a kernel updates memory by steps that others cannot part (atomics).
enum class Updates : uint8_t {
  None,
  Shared, ///< programs may wait for each other or for others, or others of the system may update the same memory
  Alone, ///< none of that: run one after the other, while nobody else updates memory, programs need no indivisible steps (TILERY_ALONE)
};

/// What a caller must know of a compiled kernel.
struct KernelInfo {
  std::string name; ///< its symbol in the object
  uint64_t scratchBytes = 0;
  std::vector<ArgInfo> args{};
  GpuInfo gpu{};
  Updates updates = Updates::None; ///< of kernels for CPUs
  /// Programs may wait for each other: all of a launch run at once, or it is refused.
  bool cooperative = false;
  bool operator==(const KernelInfo &) const = default;
};

/// The result of a compilation, ready to be stored or loaded.
struct CodeImage {
  std::string object; ///< a relocatable ELF object for x86-64, or PTX text, or an ELF object for NVIDIA GPUs
  std::vector<KernelInfo> kernels;
  std::string host; ///< a HostProgram's bytes (host.h), or empty
  /// Names of hints (builder.h) that the module gives and its code does not heed: other values of them give the same code.
  std::vector<std::string> ignoredHints{};
  bool operator==(const CodeImage &) const = default;
};
std::string serialize(const CodeImage &image);
/// Throws Error if `bytes` is not an image of this version.
CodeImage deserialize(std::string_view bytes);

namespace cuda {
class Code;
}

/// A kernel in executable memory. Code is unloaded when the last Kernel of its object goes.
class Kernel {
public:
  Kernel(KernelInfo info, TileryKernel entry, std::shared_ptr<const void> code);
  Kernel(KernelInfo info, std::shared_ptr<const cuda::Code> code);
  const KernelInfo &info() const { return info_; }
  TileryKernel entry() const { return entry_; } ///< null: a GPU's kernel
  const std::shared_ptr<const cuda::Code> &gpuCode() const { return gpuCode_; }
  /// Nanoseconds a program took lately, 0 if it never ran; the launch plans its chunks with it. `alone`: with TILERY_ALONE.
  double cost(bool alone = false) const;
  void setCost(double nanoseconds, bool alone = false) const;

private:
  KernelInfo info_;
  TileryKernel entry_;
  std::shared_ptr<const void> code;
  std::shared_ptr<const cuda::Code> gpuCode_;
  mutable double costs_[2] = {};
};
using KernelPtr = std::shared_ptr<const Kernel>;

/// Places the object in memory, resolves the runtime's and libm's symbols, tells debuggers, profilers and the unwinder. Throws
/// Error.
std::vector<KernelPtr> load(const CodeImage &image);

/// How two byte ranges relate.
enum class Alias : uint8_t { Disjoint, Identical, Overlapping };
/// The bytes [first, last) that the elements of a tensor span; empty for a tensor without elements.
struct Span {
  uintptr_t first = 0, last = 0;
};
Span byteSpan(const Tensor &tensor);
/// Identical: element by element the same addresses; else by overlap of the spans.
Alias classify(const Tensor &a, const Tensor &b);
/// Bytes of the last-level cache.
size_t lastLevelCacheBytes();
/// TILERY_DISJOINT and TILERY_STREAM for a kernel: spans[i] belongs to slot i (scalars: empty).
uint32_t launchFlags(const KernelInfo &info, std::span<const Span> spans);

struct LaunchOptions {
  uint32_t flags = 0; ///< TILERY_DISJOINT | TILERY_STREAM
  /// Asked by the launching thread every 50 ms or so, between programs and at the back edges of loops that nothing bounds; true stops the launch:
  /// programs end there, those that come to no such place are finished. A second SIGINT that finds no such place in a second ends the process,
  /// if the program handles SIGINT.
  bool (*interrupted)(void *) = nullptr;
  void *context = nullptr;
  /// GPU kernels: the device's number, and the CUDA stream (null: the default one). The launch returns before they have run.
  int device = 0;
  void *stream = nullptr;
  /// GPU kernels: the same kernel compiled with CompileOptions::boxes off, asked for by a launch that breaks a condition of `kernel`. It
  /// stays as it is until the launch is over. None: such a launch is an error.
  const Kernel &(*withoutBoxes)(void *context, const Kernel &kernel) = nullptr;
  /// GPU kernels: the same, compiled with CompileOptions::cluster, asked for by a launch whose programs would leave most of the device idle
  /// (GpuInfo::split). None: not asked for.
  const Kernel &(*clustered)(void *context, const Kernel &kernel, unsigned blocks) = nullptr;
};
enum class LaunchResult { Done, Interrupted };
/// Runs the programs of the grid (three extents; one < 1 runs nothing) and waits for them. `args`: one slot an argument, see
/// abi.h. May be called by several threads at once. Throws Error for a failed assertion of a program.
LaunchResult launch(const Kernel &kernel, const int64_t grid[3], const uint64_t *args, const LaunchOptions &options = {});
/// Throws: the argument may not be written, and the kernel writes to it.
[[noreturn]] void refuseReadOnly(const std::string &argument, const std::string &kernel);

/// The GPUs that the driver sees; 0 without a driver.
int gpuCount();
/// Whether the driver's PTX compiler is here, which makes code for its GPUs.
bool gpuAssemblerIsHere();
/// What the driver says of a GPU. Clocks are in kHz; 0: it does not say.
struct GpuProperties {
  std::string name;
  unsigned sm = 0; ///< compute capability: major * 10 + minor
  unsigned multiprocessors = 0;
  unsigned sharedBytes = 0; ///< a block may use
  unsigned registers = 0;   ///< of a multiprocessor
  unsigned clock = 0, memoryClock = 0;
  unsigned memoryBits = 0; ///< width of the memory's bus
  unsigned cacheBytes = 0; ///< of the second-level cache that may be set aside
};
/// Throws Error if there is no such device.
const GpuProperties &gpuProperties(int device);
/// What to compile for on a GPU ("sm_90a:ptx87"): CompileOptions::target. Throws Error if there is no such GPU.
std::string gpuTarget(int device);
/// Waits for the stream, then copies memory of the GPU to the host. Throws Error.
void readGpu(void *to, const void *from, size_t bytes, int device, void *stream);
/// The image with its PTX assembled by the driver's compiler for this device: it loads in milliseconds. Where that is not installed, or
/// refuses, the image as it is. Throws Error.
CodeImage assembled(CodeImage image, int device);

/// Threads that run programs, the launching one included: TILERY_NUM_THREADS, else the processors of the process's affinity mask.
unsigned numThreads();
/// Sets it from now on (0: as at the start).
void setNumThreads(unsigned count);

} // namespace tilery
#pragma GCC visibility pop
