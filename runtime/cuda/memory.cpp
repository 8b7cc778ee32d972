#include "runtime/cuda/memory.h"
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
