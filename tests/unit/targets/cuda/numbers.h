#pragma once
// What kernels on the emulator are given, and how far what they give is off.
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace tilery::test {

/// Elements at a multiple of 128 bytes, as the copy engine wants them.
template <typename T> struct Aligned {
  std::vector<T> memory;
  T *data;
  explicit Aligned(size_t count, T value = {}) : memory(count + 128 / sizeof(T), value) {
    data = reinterpret_cast<T *>((reinterpret_cast<uintptr_t>(memory.data()) + 127) / 128 * 128);
  }
  Aligned(const Aligned &) = delete;
};

/// Random integers from -2 to 2, or (`halves`) multiples of 1/2, as f16 and as what they are: f32 adds their products up exactly.
struct Numbers : Aligned<uint16_t> {
  std::vector<float> values;
  Numbers(size_t count, unsigned seed, bool halves = false) : Aligned(count), values(count) {
    static constexpr uint16_t bits[] = {0xc000, 0xbe00, 0xbc00, 0xb800, 0x0000, 0x3800, 0x3c00, 0x3e00, 0x4000};
    std::mt19937 random(seed);
    for (size_t i = 0; i < count; ++i) {
      unsigned which = halves ? random() % 9 : 2 * (random() % 5);
      data[i] = bits[which];
      values[i] = (float(which) - 4) / 2;
    }
  }
};

constexpr uint16_t nanOfHalf = 0x7e00;

inline float valueOfHalf(uint16_t bits) {
  llvm::APFloat value(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
  bool lost;
  value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.convertToFloat();
}

/// Infinite where a result is no number: std::max would pass over a NaN.
inline double distance(double result, double exact) {
  double apart = std::abs(result - exact);
  return std::isnan(apart) ? INFINITY : apart;
}

} // namespace tilery::test
