// The C interface of bundles.
#include "tilery/aot.h"
#include "runtime/cuda/driver.h"
#include "runtime/fork.h"
#include "tilery/bundle.h"
#include "tilery/diagnostic.h"
#include <cstring>

namespace tilery {
namespace {

thread_local std::string lastError;

template <typename T> T read(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// A number in the host's memory as the bits of its parameter's type.
uint64_t numberBits(const void *data, const BundleParameter &parameter) {
  if (parameter.memory == DType::F64 && parameter.dtype == DType::F32) {
    float single = float(read<double>(data));
    return read<uint32_t>(&single);
  }
  uint64_t bits = 0;
  const unsigned width = byteWidth(parameter.memory);
  std::memcpy(&bits, data, width);
  if (isBool(parameter.dtype))
    return bits != 0;
  const unsigned unused = 64 - 8 * width;
  return isSigned(parameter.memory) ? uint64_t(int64_t(bits << unused) >> unused) : bits;
}

int currentGpu() {
  int device = 0;
  const cuda::Driver *driver = cuda::Driver::find();
  if (driver && driver->cuCtxGetDevice(&device) != 0)
    device = 0;
  return device;
}

[[noreturn]] void refuse(std::string message) { throw Error({Diagnostic::Kind::Value, std::move(message), "", {}}); }

/// -1 for the CPU, or a GPU's number.
int deviceOf(int device) {
  if (device < TILERY_CURRENT_GPU)
    refuse("device " + std::to_string(device) + " is none: a GPU's number, TILERY_CPU (-1) or TILERY_CURRENT_GPU (-2)");
  return device == TILERY_CURRENT_GPU ? currentGpu() : device;
}

int call(Bundle &bundle, uint32_t number, const TileryArgument *given, uint32_t count, const int64_t *grid, Bundle::Place place) {
  if (size_t has = bundle.entries().size(); number >= has)
    refuse("the bundle has " + std::to_string(has) + (has == 1 ? " entry" : " entries") + ", got entry number " +
           std::to_string(number));
  const BundleEntry &entry = bundle.entries()[number];
  if (size_t takes = entry.parameters.size(); count != takes)
    refuse(entry.name + " takes " + std::to_string(takes) + (takes == 1 ? " argument" : " arguments") + ", got " +
           std::to_string(count));
  if (count && !given)
    refuse("the arguments of " + entry.name + " are null");
  std::vector<Tensor> tensors(count);
  std::vector<HostArgument> arguments(count);
  for (uint32_t i = 0; i < count; ++i) {
    const BundleParameter &parameter = entry.parameters[i];
    if (parameter.rank < 0) {
      if (!given[i].data)
        refuse("argument '" + parameter.name + "' of " + entry.name + " is a number, which its data points to; got null");
      arguments[i].bits = numberBits(given[i].data, parameter);
      continue;
    }
    tensors[i] = {given[i].data, parameter.dtype, parameter.rank, given[i].shape, given[i].strides, {}};
    arguments[i].tensor = &tensors[i];
  }
  if (bundle.call(number, arguments, grid, place))
    return TILERY_OK;
  lastError = entry.name + " was not compiled for this kind of call or machine: " + bundle.whyNone(number, arguments, place);
  return TILERY_NO_VARIANT;
}

std::mutex opening;
[[maybe_unused]] const bool forkable = freeAcrossFork<opening>();
} // namespace
} // namespace tilery

using namespace tilery;

extern "C" int tilery_aot_call(TileryBundle **bundle, const void *bytes, uint64_t size, uint32_t entry,
                               const TileryArgument *arguments, uint32_t count, const int64_t *grid, int device, void *stream) {
  try {
    if (!bundle)
      refuse("the bundle's place is null: give the address of a TileryBundle *, which is null before the first call");
    auto *known = reinterpret_cast<Bundle *>(__atomic_load_n(bundle, __ATOMIC_ACQUIRE));
    if (!known) {
      std::lock_guard lock(opening);
      known = reinterpret_cast<Bundle *>(__atomic_load_n(bundle, __ATOMIC_ACQUIRE));
      if (!known) {
        if (!bytes)
          refuse("the bundle's bytes are null");
        known = new Bundle({static_cast<const char *>(bytes), size});
        __atomic_store_n(bundle, reinterpret_cast<TileryBundle *>(known), __ATOMIC_RELEASE);
      }
    }
    return call(*known, entry, arguments, count, grid, {.device = deviceOf(device), .stream = stream});
  } catch (const Error &error) {
    lastError = error.diagnostic().message;
  } catch (const std::exception &error) {
    lastError = error.what();
  }
  return TILERY_ERROR;
}

extern "C" void tilery_aot_close(TileryBundle **bundle) {
  if (bundle)
    delete reinterpret_cast<Bundle *>(__atomic_exchange_n(bundle, nullptr, __ATOMIC_ACQ_REL));
}

extern "C" const char *tilery_aot_error(void) { return lastError.c_str(); }
