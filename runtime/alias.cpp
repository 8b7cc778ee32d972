// How the arguments of a launch relate in memory.
#include "tilery/runtime.h"
#include <algorithm>
#include <fstream>
#include <string>
#include <unistd.h>

namespace tilery {

/// Of a tensor whose elements no address space holds: it may overlap whatever else there is.
static constexpr Span everything{0, UINTPTR_MAX};

Span byteSpan(const Tensor &tensor) {
  int64_t low = 0, high = 1; // elements
  int64_t dense = 1;         // without strides: row-major
  bool wide = false;
  for (int32_t dim = tensor.rank - 1; dim >= 0; --dim) {
    int64_t extent = tensor.extents[dim];
    if (extent < 1)
      return {};
    int64_t reach;
    wide |= __builtin_mul_overflow(extent - 1, tensor.strides ? tensor.strides[dim] : dense, &reach);
    int64_t &end = reach < 0 ? low : high;
    wide |= __builtin_add_overflow(end, reach, &end);
    wide |= __builtin_mul_overflow(dense, extent, &dense) && !tensor.strides;
  }
  const int64_t width = byteWidth(tensor.dtype);
  const uintptr_t base = reinterpret_cast<uintptr_t>(tensor.data);
  wide |= __builtin_mul_overflow(low, width, &low);
  wide |= __builtin_mul_overflow(high, width, &high);
  Span span;
  wide |= __builtin_add_overflow(base, low, &span.first);
  wide |= __builtin_add_overflow(base, high, &span.last);
  return wide ? everything : span;
}

static int64_t strideOf(const Tensor &tensor, int32_t dim) {
  if (tensor.strides)
    return tensor.strides[dim];
  int64_t stride = 1;
  for (int32_t inner = dim + 1; inner < tensor.rank; ++inner)
    stride *= tensor.extents[inner];
  return stride;
}

Alias classify(const Tensor &a, const Tensor &b) {
  Span x = byteSpan(a), y = byteSpan(b);
  if (x.first == x.last || y.first == y.last || x.last <= y.first || y.last <= x.first)
    return Alias::Disjoint;
  if (x.last == everything.last || y.last == everything.last || a.data != b.data || a.rank != b.rank ||
      byteWidth(a.dtype) != byteWidth(b.dtype))
    return Alias::Overlapping;
  for (int32_t dim = 0; dim < a.rank; ++dim)
    if (a.extents[dim] != b.extents[dim] || (a.extents[dim] > 1 && strideOf(a, dim) != strideOf(b, dim)))
      return Alias::Overlapping;
  return Alias::Identical;
}

namespace {
/// The largest cache that CPU 0 reaches, by the kernel's account; 0: it gives none.
size_t largestCacheOfCpu0() {
  size_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    size_t size = 0;
    char unit = 0;
    if (file >> size >> unit)
      largest = std::max(largest, size << (unit == 'M' ? 20 : unit == 'K' ? 10 : 0));
  }
  return largest;
}
} // namespace

size_t lastLevelCacheBytes() {
  static const size_t bytes = [] {
    if (size_t size = largestCacheOfCpu0())
      return size;
    // The C library may add up what the cores of a whole package do not share (256 MiB where a core reaches 32).
    for (int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
      if (long size = sysconf(level); size > 0)
        return size_t(size);
    return size_t(32) << 20;
  }();
  return bytes;
}

uint32_t launchFlags(const KernelInfo &info, std::span<const Span> spans) {
  uint32_t flags = TILERY_DISJOINT;
  size_t written = 0;
  for (size_t i = 0; i < info.args.size(); ++i) {
    if (!info.args[i].pointer || !info.args[i].written)
      continue;
    written += spans[i].last - spans[i].first;
    for (size_t j = 0; j < info.args.size(); ++j)
      if (j != i && info.args[j].pointer && spans[i].first < spans[j].last && spans[j].first < spans[i].last)
        flags &= ~TILERY_DISJOINT;
  }
  return written > lastLevelCacheBytes() ? flags | TILERY_STREAM : flags;
}
} // namespace tilery
