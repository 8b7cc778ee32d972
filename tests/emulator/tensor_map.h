#pragma once
// What a launch tells the copy engine of a tensor, and the way of a box between it and shared memory.
#include "runtime/polynomial.h"
#include <cstdint>
#include <vector>

namespace tilery::emulator {

struct TensorMap {
  char *base = nullptr;
  unsigned rank = 0, elementBytes = 0, swizzle = 0;
  DType dtype = DType::F16;
  int64_t extent[5] = {1, 1, 1, 1, 1}; // innermost first
  int64_t stride[5] = {};              // bytes
  uint32_t box[5] = {1, 1, 1, 1, 1};
  std::vector<uint32_t> places; // in shared memory, of each 16 bytes of a box in their order

  /// Of this launch. Nothing may be wrong with it: the launch has checked that.
  TensorMap(const TensorMapInfo &info, const LaunchValues &launch);
  /// Of what the driver was told; strides are in bytes, that of the innermost dimension is an element's.
  TensorMap(char *base, DType dtype, unsigned swizzle, unsigned rank, const uint64_t *extents, const uint64_t *strides,
            const uint32_t *box);

  uint32_t boxBytes() const;
  /// The box at these coordinates; what lies outside the tensor is 0.
  void load(const int32_t *coordinates, char *shared) const;
  /// Where it lies inside the tensor: stored, or (f32) added.
  void store(const int32_t *coordinates, const char *shared, bool add) const;

private:
  void placeBoxes();
  /// For each element of a box: where it is in memory, null outside, and its offset in shared memory. Rows count up to the next multiple
  /// of `whole` elements.
  template <typename F> void each(const int32_t *coordinates, int64_t whole, F element) const;
};

} // namespace tilery::emulator
