#pragma once
// Elements of tiles as 64-bit lanes: integers sign-extended (i1: 0 or 1), floats and pointers as their bits in the low bytes.
#include "compiler/ir/Tile.h"
#include <bit>

namespace tilery::oracle {

enum class Format : uint8_t { Int, Pointer, F16, BF16, F32, F64, OtherFloat };

struct Element {
  Format format = Format::Int;
  unsigned width = 64; ///< bits of a value
  const llvm::fltSemantics *semantics = nullptr;

  bool isFloat() const { return format >= Format::F16; }
  unsigned bytes() const { return width <= 8 ? 1 : width / 8; } ///< in memory; a boolean takes one
};
/// Of a scalar, tile, access, view or buffer type.
Element elementOf(mlir::Type type);

/// The value of a float lane; every format fits a double exactly.
double decode(Element element, uint64_t lane);
/// Rounds to the nearest value of the format, ties to even.
uint64_t encode(Element element, double value);
/// Rounds to the next value of the format on the side of zero; infinities and NaN stay what they are.
uint64_t encodeTowardZero(Element element, double value);

/// An integer lane of the element's width, of the low bits of `value`.
inline uint64_t wrap(Element element, uint64_t value) {
  if (element.width == 1)
    return value & 1;
  unsigned shift = 64 - element.width;
  return uint64_t(int64_t(value << shift) >> shift);
}
inline int64_t asSigned(Element element, uint64_t lane) { return element.width == 1 ? -int64_t(lane & 1) : int64_t(lane); }
inline uint64_t asUnsigned(Element element, uint64_t lane) { return lane & (~0ull >> (64 - element.width)); }

/// The lane of an element in memory, and back. A boolean is true if its byte is not 0.
uint64_t readElement(Element element, const void *address);
void writeElement(Element element, void *address, uint64_t lane);

/// Distance between neighbouring values of the format at `value`.
double ulpAt(Element element, double value);
/// The largest finite value.
double largest(Element element);

} // namespace tilery::oracle
