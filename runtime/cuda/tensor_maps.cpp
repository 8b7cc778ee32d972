#include "runtime/cuda/tensor_maps.h"
#include <algorithm>
#include <iterator>

namespace tilery::cuda {
namespace {
int64_t evaluate(const LinearInfo &linear, const KernelInfo &info, const uint64_t *args) {
  int64_t sum = linear.constant;
  for (const LinearInfo::Term &term : linear.terms)
    sum += term.coefficient *
           (byteWidth(info.args[term.slot].dtype) == 4 ? int64_t(int32_t(args[term.slot])) : int64_t(args[term.slot]));
  return sum;
}

int mapType(DType dtype) { // CUtensorMapDataType
  switch (dtype) {
  case DType::I16:
  case DType::U16:
    return 1;
  case DType::I32:
  case DType::U32:
    return 3;
  case DType::F16:
    return 6;
  case DType::F32:
    return 7;
  case DType::BF16:
    return 9;
  default:
    return 0; // bytes
  }
}

/// All that a map is made from.
struct Key {
  uint64_t address = 0;
  uint64_t extents[2] = {0, 0};
  uint64_t stride = 0; ///< bytes
  uint32_t box[2] = {0, 0};
  DType dtype = DType::F16;
  bool operator==(const Key &) const = default;
};

/// The driver takes a good part of a launch's time to describe a tensor, and a program meets the same ones again and again.
struct Cache {
  struct Line {
    Key key; // none has stride 0
    TensorMap map;
  };
  struct Set {
    Line lines[8];
    unsigned oldest = 0;
  };
  Set sets[16];

  Set &set(const Key &key) {
    uint64_t hash = 0;
    for (uint64_t word : {key.address, key.extents[0], key.extents[1], key.stride, uint64_t(key.box[0]) << 32 | key.box[1]})
      hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    return sets[hash >> 60];
  }
};
thread_local Cache cache;

Key keyOf(const TensorMapInfo &map, const KernelInfo &info, const uint64_t *args) {
  constexpr int64_t most = int64_t(1) << 31;
  int64_t step = evaluate(map.stride, info, args);
  if (step <= 0)
    throw Error({Diagnostic::Kind::NotImplemented,
                 "argument '" + info.args[map.slot].name + "' of " + info.name + " has the stride " + std::to_string(step) +
                     "; the GPU's copy engine takes positive ones",
                 "pass it .contiguous()",
                 {}});
  Key key{args[map.slot], {}, uint64_t(step) * byteWidth(map.dtype), {map.box[0], map.box[1]}, map.dtype};
  for (int d = 0; d < 2; ++d) {
    int64_t extent = evaluate(map.extents[d], info, args);
    if (extent > most)
      throw Error(
          {Diagnostic::Kind::Value,
           "argument '" + info.args[map.slot].name + "' of " + info.name + " has more than 2147483648 elements along a dimension",
           "",
           {}});
    key.extents[d] = uint64_t(std::max<int64_t>(extent, 1));
  }
  return key;
}
} // namespace

TensorMap tensorMap(const TensorMapInfo &map, const KernelInfo &info, const uint64_t *args) {
  Key key = keyOf(map, info, args);
  Cache::Set &set = cache.set(key);
  for (const Cache::Line &line : set.lines)
    if (line.key == key)
      return line.map;
  const uint32_t ones[2] = {1, 1};
  unsigned rowBytes = key.box[0] * byteWidth(key.dtype);
  int swizzle = rowBytes == 128 ? 3 : rowBytes == 64 ? 2 : rowBytes == 32 ? 1 : 0;
  TensorMap made;
  check(Driver::get().cuTensorMapEncodeTiled(&made, mapType(key.dtype), 2, reinterpret_cast<void *>(key.address), key.extents,
                                             &key.stride, key.box, ones, 0, swizzle, /*promote to 128 bytes of L2=*/2, 0),
        "describing argument '" + info.args[map.slot].name + "' of " + info.name + " to the copy engine");
  set.lines[set.oldest++ % std::size(set.lines)] = {key, made};
  return made;
}

} // namespace tilery::cuda
