#include "runtime/cuda/memory.h"
#include "tilery/runtime.h"
#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

namespace tilery::cuda {

Address reserve(Use use, int device, Stream stream, size_t bytes, const std::string &kernel) {
  struct Piece {
    Address address = 0;
    size_t bytes = 0;
  };
  static std::mutex mutex;
  static auto *pieces = new std::map<std::tuple<Use, int, Stream>, Piece>; // contexts may be gone when statics are destroyed
  std::lock_guard lock(mutex);
  Piece &piece = (*pieces)[{use, device, stream}];
  if (piece.bytes < bytes) {
    size_t wanted = std::max(bytes, 2 * piece.bytes);
    CaptureScope capture;
    Address fresh = 0;
    check(Driver::get().cuMemAlloc_v2(&fresh, wanted),
          "allocating " + std::to_string(wanted) + " bytes of GPU memory in which " + kernel + " works");
    piece = {fresh, wanted};
  }
  return piece.address;
}

} // namespace tilery::cuda

namespace tilery {
void readGpu(void *to, const void *from, size_t bytes, int device, void *stream) {
  cuda::DeviceScope scope(device);
  const cuda::Driver &driver = cuda::Driver::get();
  auto cudaStream = static_cast<cuda::Stream>(stream);
  cuda::check(driver.cuMemcpyDtoHAsync_v2(to, reinterpret_cast<cuda::Address>(from), bytes, cudaStream), "reading GPU memory");
  cuda::check(driver.cuStreamSynchronize(cudaStream), "reading GPU memory");
}
} // namespace tilery
