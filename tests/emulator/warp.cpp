#include "warp.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>

namespace tilery::emulator {
namespace {
using cuda::MmaForm;

float fromHalf(uint16_t bits, bool bf16) {
  llvm::APFloat value(bf16 ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
  bool lost;
  value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.convertToFloat();
}

/// Element `index` of a row's 32 bytes of k. The row's bytes 4 t to + 3 are in `low[t]`, those 16 further on in `high[t]`.
template <typename Word> double element(const MmaForm &form, bool isUnsigned, unsigned index, Word word) {
  unsigned size = form.elementBytes(), byte = index * size;
  uint32_t bits = word(byte % 16 / 4, byte / 16);
  switch (form.kind) {
  case MmaForm::F16:
  case MmaForm::BF16:
    return fromHalf(uint16_t(bits >> 8 * (byte % 4)), form.kind == MmaForm::BF16);
  case MmaForm::TF32:
    bits &= ~0x1fffu; // what the hardware reads
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  default:
    uint8_t part = uint8_t(bits >> 8 * (byte % 4));
    return isUnsigned ? part : int8_t(part);
  }
}

double wide(const uint32_t *words) {
  double value;
  std::memcpy(&value, words, 8);
  return value;
}

void multiply(const MmaForm &form, unsigned lane, WarpOperation *const all[32]) {
  WarpOperation &own = *all[lane];
  for (unsigned r = 0; r < 4; ++r) {
    unsigned row = lane / 4 + 8 * (r / 2), column = 2 * (lane % 4) + r % 2;
    if (form.kind == MmaForm::F64) {
      double sum = wide(own.sums + 2 * r);
      for (unsigned k = 0; k < 4; ++k)
        sum = std::fma(wide(all[row % 8 * 4 + k]->a + 2 * (row / 8)), wide(all[column * 4 + k]->b), sum);
      std::memcpy(own.sums + 2 * r, &sum, 8);
      continue;
    }
    auto a = [&](unsigned t, unsigned high) { return all[row % 8 * 4 + t]->a[2 * high + row / 8]; };
    auto b = [&](unsigned t, unsigned high) { return all[column * 4 + t]->b[high]; };
    bool isInteger = form.kind == MmaForm::I8;
    float sum;
    std::memcpy(&sum, own.sums + r, 4);
    int64_t count = int32_t(own.sums[r]);
    for (unsigned k = 0; k < form.depth(); ++k) {
      double x = element(form, form.unsignedA, k, a), y = element(form, form.unsignedB, k, b);
      if (isInteger)
        count += int64_t(x) * int64_t(y);
      else
        sum = std::fma(float(x), float(y), sum);
    }
    if (isInteger)
      own.sums[r] = uint32_t(count);
    else
      std::memcpy(own.sums + r, &sum, 4);
  }
}
} // namespace

void emulate(unsigned lane, WarpOperation *const all[32]) {
  WarpOperation &own = *all[lane];
  switch (own.kind) {
  case WarpOperation::LoadMatrices:
  case WarpOperation::LoadTransposed:
    for (unsigned i = 0; i < own.count; ++i) {
      auto row = [&](unsigned r) { return static_cast<const char *>(all[8 * i + r]->row); };
      if (own.kind == WarpOperation::LoadMatrices)
        std::memcpy(&own.results[i], row(lane / 4) + 4 * (lane % 4), 4);
      else
        for (unsigned h = 0; h < 2; ++h)
          std::memcpy(reinterpret_cast<char *>(&own.results[i]) + 2 * h, row(2 * (lane % 4) + h) + 2 * (lane / 4), 2);
    }
    return;
  case WarpOperation::StoreMatrices:
  case WarpOperation::StoreTransposed:
    for (unsigned i = 0; i < own.count; ++i) {
      auto row = [&](unsigned r) { return static_cast<char *>(all[8 * i + r]->row); };
      if (own.kind == WarpOperation::StoreMatrices)
        std::memcpy(row(lane / 4) + 4 * (lane % 4), &own.results[i], 4);
      else
        for (unsigned h = 0; h < 2; ++h)
          std::memcpy(row(2 * (lane % 4) + h) + 2 * (lane / 4), reinterpret_cast<char *>(&own.results[i]) + 2 * h, 2);
    }
    return;
  case WarpOperation::RoundTF32: {
    uint32_t bits = own.a[0]; // to nearest, ties away from zero
    bool finite = (bits & 0x7f800000) != 0x7f800000;
    own.results[0] = finite ? (bits + 0x1000) & ~0x1fffu : bits & 0x7fffff ? 0x7fffffff : bits;
    return;
  }
  default: {
    unsigned form = own.kind - WarpOperation::Multiply;
    multiply({MmaForm::Kind(form % 16), (form & 16) != 0, (form & 32) != 0}, lane, all);
  }
  }
}

} // namespace tilery::emulator
