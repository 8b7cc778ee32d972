// What programs ask of the runtime: printing and assertions.
#include "runtime/callbacks.h"
#include "runtime/pool.h"
#include <cstdio>
#include <cstring>
#include <mutex>

using namespace tilery;

namespace {
std::string programName(const uint32_t grid[3], int64_t pid) {
  int64_t x = grid[0], y = grid[1];
  return "(" + std::to_string(pid % x) + ", " + std::to_string(pid / x % y) + ", " + std::to_string(pid / x / y) + ")";
}

template <typename T> T elementAt(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T), sizeof(T));
  return value;
}

/// A float of `exponentBits` and `mantissaBits` as double. e4m3fn has no infinities and one NaN pattern.
double smallFloat(uint32_t bits, int exponentBits, int mantissaBits, bool finiteOnly) {
  uint32_t mantissa = bits & ((1u << mantissaBits) - 1), exponent = bits >> mantissaBits & ((1u << exponentBits) - 1);
  double sign = bits >> (exponentBits + mantissaBits) & 1 ? -1.0 : 1.0;
  int bias = (1 << (exponentBits - 1)) - 1;
  uint32_t top = (1u << exponentBits) - 1;
  if (exponent == top && (!finiteOnly || mantissa == (1u << mantissaBits) - 1))
    return mantissa ? __builtin_nan("") : sign * __builtin_inf();
  double value = exponent ? __builtin_ldexp(double(mantissa | 1u << mantissaBits), int(exponent) - bias - mantissaBits)
                          : __builtin_ldexp(double(mantissa), 1 - bias - mantissaBits);
  return sign * value;
}

std::string hexText(const void *data, int64_t index, unsigned bytes) {
  std::string text = "0x";
  char digits[3];
  for (unsigned i = bytes; i-- > 0;) {
    std::snprintf(digits, sizeof digits, "%02x", elementAt<uint8_t>(data, index * bytes + i));
    text += digits;
  }
  return text;
}

std::string valueText(const TileryPrinted &printed, int64_t index, bool hex) {
  if (printed.dtype == TILERY_POINTER)
    return hexText(printed.data, index, 8);
  DType dtype = DType(printed.dtype);
  if (hex)
    return hexText(printed.data, index, byteWidth(dtype));
  switch (dtype) {
  case DType::Bool:
    return elementAt<uint8_t>(printed.data, index) ? "True" : "False";
  case DType::I8:
    return std::to_string(elementAt<int8_t>(printed.data, index));
  case DType::I16:
    return std::to_string(elementAt<int16_t>(printed.data, index));
  case DType::I32:
    return std::to_string(elementAt<int32_t>(printed.data, index));
  case DType::I64:
    return std::to_string(elementAt<int64_t>(printed.data, index));
  case DType::U8:
    return std::to_string(elementAt<uint8_t>(printed.data, index));
  case DType::U16:
    return std::to_string(elementAt<uint16_t>(printed.data, index));
  case DType::U32:
    return std::to_string(elementAt<uint32_t>(printed.data, index));
  case DType::U64:
    return std::to_string(elementAt<uint64_t>(printed.data, index));
  case DType::F8E4M3:
    return std::to_string(smallFloat(elementAt<uint8_t>(printed.data, index), 4, 3, true));
  case DType::F8E5M2:
    return std::to_string(smallFloat(elementAt<uint8_t>(printed.data, index), 5, 2, false));
  case DType::F16:
    return std::to_string(smallFloat(elementAt<uint16_t>(printed.data, index), 5, 10, false));
  case DType::BF16:
    return std::to_string(smallFloat(elementAt<uint16_t>(printed.data, index), 8, 7, false));
  case DType::F32:
    return std::to_string(elementAt<float>(printed.data, index));
  case DType::F64:
    return std::to_string(elementAt<double>(printed.data, index));
  }
  return "?";
}

/// "idx (1,  3) ": each index as wide as the largest of its dimension.
std::string indexText(const TileryPrinted &printed, int64_t index) {
  if (printed.rank == 0)
    return "idx () ";
  std::string text;
  for (uint32_t dim = printed.rank; dim-- > 0;) {
    std::string digits = std::to_string(index % printed.shape[dim]);
    size_t width = std::to_string(printed.shape[dim] - 1).size();
    text = std::string(width - std::min(width, digits.size()), ' ') + digits + (text.empty() ? "" : ", ") + text;
    index /= printed.shape[dim];
  }
  return "idx (" + text + ") ";
}
} // namespace

void tilery_rt_print(const TileryLaunch *launch, int64_t pid, const char *prefix, uint32_t hex, uint32_t count,
                     const TileryPrinted *values) {
  std::string program = "pid " + programName(launch->grid, pid) + " ", text;
  if (count == 0)
    text = program + prefix + "\n";
  for (uint32_t operand = 0; operand < count; ++operand) {
    const TileryPrinted &printed = values[operand];
    int64_t elements = 1;
    for (uint32_t dim = 0; dim < printed.rank; ++dim)
      elements *= printed.shape[dim];
    std::string label = count > 1 ? "(operand " + std::to_string(operand) + ") " : "";
    for (int64_t i = 0; i < elements; ++i)
      text += program + indexText(printed, i) + prefix + label + valueText(printed, i, hex) + "\n";
  }
  static std::mutex *mutex = new std::mutex;
  std::lock_guard lock(*mutex);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

Diagnostic tilery::assertionFailure(const uint32_t grid[3], int64_t pid, const std::string &message,
                                    const SourceLocation &place) {
  Diagnostic diagnostic{
      Diagnostic::Kind::Assertion, message + " (program " + programName(grid, pid) + " of " + place.function + ")", "", {}};
  if (!place.file.empty())
    diagnostic.chain.push_back(place);
  return diagnostic;
}

void tilery_rt_assert(const TileryLaunch *launch, int64_t pid, const char *message, const char *file, uint32_t line,
                      uint32_t column) {
  Job &job = *static_cast<Job *>(launch->job);
  job.fail(assertionFailure(launch->grid, pid, message, {file ? file : "", int(line), int(column), job.kernel.info().name}));
}
