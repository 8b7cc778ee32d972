#include "compiler/oracle/element.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;

namespace tilery::oracle {

Element elementOf(Type type) {
  type = llvm::TypeSwitch<Type, Type>(type)
             .Case<tile::AccessType, tile::ViewType, tile::BufferType, tile::RootType, tile::TensorArgType>(
                 [](auto shaped) { return shaped.getElementType(); })
             .Default([](Type other) { return getElementTypeOrSelf(other); });
  if (isa<tile::PtrType>(type))
    return {Format::Pointer, 64};
  if (isa<IndexType>(type))
    return {Format::Int, 64};
  if (auto integer = dyn_cast<IntegerType>(type))
    return {Format::Int, integer.getWidth()};
  auto real = cast<FloatType>(type);
  Format format = real.isF16()    ? Format::F16
                  : real.isBF16() ? Format::BF16
                  : real.isF32()  ? Format::F32
                  : real.isF64()  ? Format::F64
                                  : Format::OtherFloat;
  return {format, real.getWidth(), &real.getFloatSemantics()};
}

// Mantissa bits (without the hidden one) and least exponent of a normal number.
static std::pair<int, int> precisionOf(Element element) {
  switch (element.format) {
  case Format::F16:
    return {10, -14};
  case Format::BF16:
    return {7, -126};
  case Format::F32:
    return {23, -126};
  case Format::F64:
    return {52, -1022};
  default:
    return {int(llvm::APFloat::semanticsPrecision(*element.semantics)) - 1,
            llvm::APFloat::semanticsMinExponent(*element.semantics)};
  }
}

double ulpAt(Element element, double value) {
  auto [mantissa, least] = precisionOf(element);
  int exponent = value == 0 || !std::isfinite(value) ? least : std::max(least, std::ilogb(value));
  return std::ldexp(1.0, exponent - mantissa);
}

double largest(Element element) {
  switch (element.format) {
  case Format::F32:
    return std::numeric_limits<float>::max();
  case Format::F64:
    return std::numeric_limits<double>::max();
  default: {
    llvm::APFloat value = llvm::APFloat::getLargest(*element.semantics);
    return decode(element, value.bitcastToAPInt().getZExtValue());
  }
  }
}

static uint64_t encodeHalf(double value) {
  uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7E00;
  if (magnitude >= 65520) // half-way to 2^16 rounds to infinity
    return sign | 0x7C00;
  if (magnitude < 0x1p-14) // subnormal: a multiple of 2^-24
    return sign | uint64_t(std::nearbyint(magnitude * 0x1p24));
  int exponent = std::ilogb(magnitude);
  uint64_t mantissa =
      uint64_t(std::nearbyint(std::ldexp(magnitude, 10 - exponent))); // 1024..2048; 2048 carries into the exponent
  return sign | ((uint64_t(exponent + 15) << 10) + (mantissa - 1024));
}

static uint64_t encodeBrain(double value) {
  if (std::isnan(value))
    return (std::signbit(value) ? 0x8000 : 0) | 0x7FC0;
  // Rounding to odd on the way through f32 keeps the second rounding exact.
  float near = float(value);
  uint32_t bits = std::bit_cast<uint32_t>(near);
  if (std::isfinite(near) && double(near) != value) {
    if (std::fabs(double(near)) > std::fabs(value))
      --bits; // towards zero
    bits |= 1;
  } else if (std::isinf(near) && !std::isinf(value))
    bits = (bits & 0x80000000u) | 0x7F7FFFFFu;
  return (uint64_t(bits) + 0x7FFF + ((bits >> 16) & 1)) >> 16;
}

double decode(Element element, uint64_t lane) {
  switch (element.format) {
  case Format::F32:
    return std::bit_cast<float>(uint32_t(lane));
  case Format::F64:
    return std::bit_cast<double>(lane);
  case Format::BF16:
    return std::bit_cast<float>(uint32_t(lane << 16));
  case Format::F16: {
    int exponent = int(lane >> 10) & 31;
    double mantissa = double(lane & 1023);
    double magnitude = exponent == 31
                           ? (mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity())
                       : exponent == 0 ? std::ldexp(mantissa, -24)
                                       : std::ldexp(mantissa + 1024, exponent - 25);
    return lane & 0x8000 ? -magnitude : magnitude;
  }
  default: {
    llvm::APFloat value(*element.semantics, llvm::APInt(element.width, lane));
    bool inexact;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    return value.convertToDouble();
  }
  }
}

uint64_t encode(Element element, double value) {
  switch (element.format) {
  case Format::F32:
    return std::bit_cast<uint32_t>(float(value));
  case Format::F64:
    return std::bit_cast<uint64_t>(value);
  case Format::BF16:
    return encodeBrain(value);
  case Format::F16:
    return encodeHalf(value);
  default: {
    llvm::APFloat number(value);
    bool inexact;
    number.convert(*element.semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
    return number.bitcastToAPInt().getZExtValue();
  }
  }
}

uint64_t encodeTowardZero(Element element, double value) {
  uint64_t nearest = encode(element, value);
  return nearest - (std::fabs(decode(element, nearest)) > std::fabs(value)); // codes of one sign grow with the magnitude
}

uint64_t readElement(Element element, const void *address) {
  uint64_t lane = 0;
  std::memcpy(&lane, address, element.bytes());
  if (element.format != Format::Int)
    return lane;
  return element.width == 1 ? lane != 0 : wrap(element, lane);
}

void writeElement(Element element, void *address, uint64_t lane) {
  if (element.format == Format::Int && element.width == 1)
    lane &= 1;
  std::memcpy(address, &lane, element.bytes());
}

} // namespace tilery::oracle
