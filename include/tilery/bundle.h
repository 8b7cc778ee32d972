#pragma once
// Programs compiled ahead of time: entries that callers know by name, each with code for several kinds of call. The first variant whose
// conditions hold runs.
#include "tilery/host.h"
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

/// What an entry takes, in order.
struct BundleParameter {
  std::string name; ///< of the host program's or kernel's parameter that gets it
  DType dtype = DType::F32;
  int32_t rank = -1;         ///< -1: a number
  bool onlyChooses = false;  ///< an int64 that conditions ask for and no program gets
  DType memory = DType::F32; ///< numbers: what a C caller's pointer points to
  bool operator==(const BundleParameter &) const = default;
};

/// One fact of a call.
struct BundleCondition {
  enum Kind : uint8_t {
    Cpu,              ///< the call is for the CPU, which has all features in `value` (cpuFeatures)
    Gpu,              ///< for a GPU of compute capability `value` (80) or newer
    GpuExactly,       ///< for a GPU of compute capability `value`
    AddressDivisible, ///< the argument's address by `value`
    ExtentIs,
    ExtentDivisible, ///< of dimension `dim` by `value`
    StrideIs,
    StrideDivisible, ///< and positive
    NumberIs,        ///< an argument that only chooses
    Disjoint,        ///< no tensor that the program writes overlaps another (a pointer without extents counts as one element)
    NumberDivisible, ///< an integer that programs get
  } kind;
  uint32_t argument = 0, dim = 0;
  int64_t value = 0;
  bool operator==(const BundleCondition &) const = default;
};

struct BundleVariant {
  std::vector<BundleCondition> conditions;
  std::string image;        ///< CodeImage's bytes
  std::string withoutBoxes; ///< the same for launches that break a condition of a GPU's kernel; empty: none
};

struct BundleEntry {
  std::string name;
  std::vector<BundleParameter> parameters;
  bool takesGrid = false; ///< its image is one kernel without a host program
  std::vector<BundleVariant> variants;
};

std::string serialize(const std::vector<BundleEntry> &entries);
/// Throws Error if the bytes are no bundle of this version. Images are read when they first run.
std::vector<BundleEntry> parseBundle(std::string_view bytes);

/// Features of this machine's processor that generated code asks for, one bit each.
uint64_t cpuFeatures();
/// Those that code for a CPU target ("host", "avx2", "aarch64-neon", ...) needs. Throws Error for another name.
uint64_t cpuFeaturesOf(std::string_view target);
/// The target whose code needs these; empty: no named one's does.
std::string cpuTargetOf(uint64_t features);

/// Entries, and the code of those variants that have run.
class Bundle {
public:
  explicit Bundle(std::string_view bytes);
  ~Bundle();
  const std::vector<BundleEntry> &entries() const { return all; }
  struct Place {
    int device = -1; ///< a GPU's number; -1: the CPU
    void *stream = nullptr;
    bool (*interrupted)(void *) = nullptr; ///< on the CPU: LaunchOptions::interrupted, which may end the call
    void *context = nullptr;
  };
  /// False: there is no variant for this call. Numbers: the bits of their parameter's type, extended to 64. Throws Error.
  bool call(size_t entry, std::span<const HostArgument> arguments, const int64_t *grid, Place place);
  /// Of a call for which there is no variant: what the nearest one expects and what came, or for which machines there is code.
  std::string whyNone(size_t entry, std::span<const HostArgument> arguments, Place place);

private:
  struct Loaded;
  Loaded &load(const BundleVariant &variant);
  bool isFor(const BundleVariant &variant, std::span<const HostArgument> arguments, Place place);
  std::vector<BundleEntry> all;
  std::mutex mutex;
  std::vector<std::pair<const BundleVariant *, std::unique_ptr<Loaded>>> loaded;
};

} // namespace tilery
#pragma GCC visibility pop
