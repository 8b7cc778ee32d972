#include "tensor_map.h"
#include "compiler/block/forms/memory.h"
#include <algorithm>
#include <cstring>

namespace tilery::emulator {

TensorMap::TensorMap(const TensorMapInfo &info, const LaunchValues &launch)
    : rank(info.dimensions.size()), elementBytes(byteWidth(info.dtype)), swizzle(info.swizzle), dtype(info.dtype) {
  base = reinterpret_cast<char *>(launch.args[info.slot] + *evaluate(info.offset, launch) * elementBytes);
  for (unsigned d = 0; d < rank; ++d) {
    const TensorMapInfo::Dimension &dimension = info.dimensions[d];
    extent[d] = *evaluate(dimension.extent, launch);
    stride[d] = (d ? *evaluate(dimension.stride, launch) : 1) * elementBytes;
    box[d] = dimension.box;
  }
  placeBoxes();
}

TensorMap::TensorMap(char *base, DType dtype, unsigned swizzle, unsigned rank, const uint64_t *extents, const uint64_t *strides,
                     const uint32_t *boxes)
    : base(base), rank(rank), elementBytes(byteWidth(dtype)), swizzle(swizzle), dtype(dtype) {
  for (unsigned d = 0; d < rank; ++d) {
    extent[d] = int64_t(extents[d]);
    stride[d] = d ? int64_t(strides[d - 1]) : elementBytes;
    box[d] = boxes[d];
  }
  placeBoxes();
}

void TensorMap::placeBoxes() {
  uint32_t row = box[0] * elementBytes, bytes = boxBytes();
  places.resize(bytes / 16);
  if (swizzle == 0) {
    for (uint32_t i = 0; i < places.size(); ++i)
      places[i] = 16 * i;
    return;
  }
  // Offset -> (row of the box, element of the row), at the first element of each 16 bytes.
  layout::Layout memory = layout::copyBox(bytes / row, box[0], elementBytes, layout::Swizzle(swizzle));
  for (uint32_t offset = 0; offset < bytes; offset += 16) {
    layout::Layout::Vector at = memory.at({{layout::Offset, offset / elementBytes}});
    places[(at[0] * row + at[1] * elementBytes) / 16] = offset;
  }
}

uint32_t TensorMap::boxBytes() const { return elementBytes * box[0] * box[1] * box[2] * box[3] * box[4]; }

template <typename F> void TensorMap::each(const int32_t *coordinates, int64_t whole, F element) const {
  uint32_t index[5] = {}, elements = boxBytes() / elementBytes;
  for (uint32_t i = 0; i < elements; ++i) {
    bool inside = true;
    char *memory = base;
    for (unsigned d = 0; d < rank; ++d) {
      int64_t at = int64_t(coordinates[d]) + index[d];
      inside &= at >= 0 && at < (d ? extent[d] : (extent[d] + whole - 1) / whole * whole);
      memory += at * stride[d];
    }
    uint32_t offset = i * elementBytes;
    element(inside ? memory : nullptr, places[offset / 16] + offset % 16);
    for (unsigned d = 0; d < rank && ++index[d] == box[d]; ++d)
      index[d] = 0;
  }
}

void TensorMap::load(const int32_t *coordinates, char *shared) const {
  each(coordinates, 1, [&](const char *memory, uint32_t offset) {
    if (memory)
      std::memcpy(shared + offset, memory, elementBytes);
    else
      std::memset(shared + offset, 0, elementBytes);
  });
}

void TensorMap::store(const int32_t *coordinates, const char *shared, bool add) const {
  // 16 bytes are written or none, where the tensor's rows end between (measured on an H200).
  each(coordinates, 16 / elementBytes, [&](char *memory, uint32_t offset) {
    if (memory && add) {
      float sum, more;
      std::memcpy(&sum, memory, 4);
      std::memcpy(&more, shared + offset, 4);
      sum += more;
      std::memcpy(memory, &sum, 4);
    } else if (memory) {
      std::memcpy(memory, shared + offset, elementBytes);
    }
  });
}

} // namespace tilery::emulator
