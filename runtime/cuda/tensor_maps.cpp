#include "runtime/cuda/tensor_maps.h"
#include <algorithm>
#include <iterator>

namespace tilery::cuda {
namespace {
constexpr unsigned maxRank = 5;
constexpr int64_t maxExtent = int64_t(1) << 31;      // coordinates have 32 bits and a sign
constexpr int64_t maxStrideBytes = int64_t(1) << 40; // exclusive
constexpr uint32_t maxBox = 256;
constexpr int64_t alignment = 16; // bytes, of addresses, strides and rows of boxes

int mapType(DType dtype) { // CUtensorMapDataType: what sums of the copy engine add as
  switch (dtype) {
  case DType::I16:
  case DType::U16:
    return 1;
  case DType::U32:
    return 2;
  case DType::I32:
    return 3;
  case DType::U64:
    return 4;
  case DType::I64:
    return 5;
  case DType::F16:
    return 6;
  case DType::F32:
    return 7;
  case DType::F64:
    return 8;
  case DType::BF16:
    return 9;
  default:
    return 0; // bytes
  }
}

/// All that a map is made from.
struct Key {
  uint64_t address = 0;
  int64_t extents[maxRank] = {};
  int64_t strides[maxRank - 1] = {}; ///< bytes, of all dimensions but the innermost
  uint32_t box[maxRank] = {};
  uint8_t rank = 0; ///< 0: of no map
  DType dtype = DType::F16;
  uint16_t swizzle = 0;
  bool operator==(const Key &) const = default;
};

/// The driver takes a good part of a launch's time to describe a tensor, and a program meets the same ones again and again.
struct Cache {
  struct Line {
    Key key;
    TensorMap map;
  };
  struct Set {
    Line lines[8];
    unsigned oldest = 0;
  };
  Set sets[16];

  Set &set(const Key &key) {
    uint64_t hash = key.address;
    auto mix = [&](uint64_t word) { hash = (hash ^ word) * 0x9e3779b97f4a7c15; };
    for (unsigned d = 0; d < key.rank; ++d)
      mix(uint64_t(key.extents[d]) << 32 | key.box[d]);
    for (unsigned d = 0; d + 1 < key.rank; ++d)
      mix(uint64_t(key.strides[d]));
    return sets[hash >> 60];
  }
};
thread_local Cache cache;

/// "argument 'a' of matmul_kernel"
std::string nameOf(const TensorMapInfo &map, const KernelInfo &info) {
  return "argument '" + info.args[map.slot].name + "' of " + info.name;
}

[[noreturn]] void refuse(const TensorMapInfo &map, const KernelInfo &info, const std::string &rest, std::string hint = "") {
  throw Error({Diagnostic::Kind::Value, nameOf(map, info) + " " + rest, std::move(hint), {}});
}

int64_t known(const PolynomialInfo &polynomial, const char *what, const TensorMapInfo &map, const LaunchValues &launch) {
  if (std::optional<int64_t> value = evaluate(polynomial, launch))
    return *value;
  refuse(map, launch.info, std::string("has ") + what + " of more than 64 bits");
}

Key keyOf(const TensorMapInfo &map, const LaunchValues &launch) {
  int64_t width = byteWidth(map.dtype);
  Key key;
  key.rank = uint8_t(std::min(map.dimensions.size(), size_t(maxRank)));
  key.dtype = map.dtype;
  key.swizzle = uint16_t(map.swizzle);
  key.address = launch.args[map.slot] + uint64_t(known(map.offset, "an offset", map, launch) * width);
  for (unsigned d = 0; d < key.rank; ++d) {
    const TensorMapInfo::Dimension &dimension = map.dimensions[d];
    key.extents[d] = std::max<int64_t>(known(dimension.extent, "an extent", map, launch), 1);
    key.box[d] = dimension.box;
    if (d > 0 && __builtin_mul_overflow(known(dimension.stride, "a stride", map, launch), width, &key.strides[d - 1]))
      refuse(map, launch.info, "has a stride of more than 64 bits");
    if (d > 0 && dimension.box == 1 && key.strides[d - 1] == 0) // the kernel stays at coordinate 0 there
      key.strides[d - 1] = alignment;
  }
  return key;
}

/// What the copy engine takes. What depends on the kernel only is a defect of the code generator.
void check(const Key &key, const TensorMapInfo &map, const KernelInfo &info) {
  const std::string contiguous = "pass a copy without gaps (.contiguous() in Python)";
  for (unsigned d = 0; d < key.rank; ++d) {
    if (key.extents[d] > maxExtent)
      refuse(map, info, "has more than 2147483648 elements along a dimension");
    if (key.box[d] == 0 || key.box[d] > maxBox)
      refuse(map, info,
             "is copied in boxes of " + std::to_string(key.box[d]) + " elements along a dimension; the copy engine takes 256",
             "this is a defect of Tilery's code generator");
  }
  for (unsigned d = 0; d + 1 < key.rank; ++d) {
    if (key.strides[d] <= 0)
      throw Error({Diagnostic::Kind::NotImplemented,
                   nameOf(map, info) + " has the stride " + std::to_string(key.strides[d] / int64_t(byteWidth(key.dtype))) +
                       "; the GPU's copy engine takes positive ones",
                   contiguous,
                   {}});
    if (key.strides[d] % alignment)
      refuse(map, info,
             "has a stride of " + std::to_string(key.strides[d]) + " bytes; the GPU's copy engine takes multiples of 16",
             contiguous);
    if (key.strides[d] >= maxStrideBytes)
      refuse(map, info,
             "has a stride of " + std::to_string(key.strides[d]) + " bytes; the GPU's copy engine takes less than 2^40",
             contiguous);
  }
  if (key.address % alignment)
    refuse(map, info, "is read from an address that is no multiple of 16 bytes, as the GPU's copy engine needs it",
           "pass a copy of it");
  uint64_t rowBytes = uint64_t(key.box[0]) * byteWidth(key.dtype);
  bool swizzles = key.swizzle == 32 || key.swizzle == 64 || key.swizzle == 128;
  if (rowBytes % alignment || (swizzles ? rowBytes > key.swizzle : key.swizzle != 0))
    refuse(map, info,
           "is copied in rows of " + std::to_string(rowBytes) + " bytes with a swizzle of " + std::to_string(key.swizzle) +
               ", which the copy engine does not take",
           "this is a defect of Tilery's code generator");
}

int swizzleOf(const Key &key) { // CUtensorMapSwizzle
  return key.swizzle == 128 ? 3 : key.swizzle == 64 ? 2 : key.swizzle == 32 ? 1 : 0;
}
} // namespace

TensorMap tensorMap(const TensorMapInfo &map, const LaunchValues &launch) {
  Key key = keyOf(map, launch);
  Cache::Set &set = cache.set(key);
  for (const Cache::Line &line : set.lines)
    if (line.key == key)
      return line.map;
  check(key, map, launch.info);
  uint64_t extents[maxRank], strides[maxRank - 1];
  std::copy(key.extents, key.extents + maxRank, extents);
  std::copy(key.strides, key.strides + maxRank - 1, strides);
  const uint32_t ones[maxRank] = {1, 1, 1, 1, 1};
  TensorMap made;
  int result = Driver::get().cuTensorMapEncodeTiled(&made, mapType(key.dtype), key.rank, reinterpret_cast<void *>(key.address),
                                                    extents, strides, key.box, ones, 0, swizzleOf(key),
                                                    /*promote to 128 bytes of L2=*/2, 0);
  cuda::check(result, "describing " + nameOf(map, launch.info) + " to the copy engine");
  set.lines[set.oldest++ % std::size(set.lines)] = {key, made};
  return made;
}

} // namespace tilery::cuda
