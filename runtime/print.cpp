// The texts of what programs print.
#include "runtime/print.h"
#include "tilery/dtype.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <pthread.h>
#include <vector>

using namespace tilery;

namespace {
constexpr int64_t ELEMENTS_A_LINE = 8;

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

/// An element of floats; nothing of other types.
std::optional<double> floatAt(const TileryPrinted &printed, int64_t index) {
  if (printed.dtype == TILERY_POINTER)
    return std::nullopt;
  switch (DType(printed.dtype)) {
  case DType::F8E4M3:
    return smallFloat(elementAt<uint8_t>(printed.data, index), 4, 3, true);
  case DType::F8E5M2:
    return smallFloat(elementAt<uint8_t>(printed.data, index), 5, 2, false);
  case DType::F16:
    return smallFloat(elementAt<uint16_t>(printed.data, index), 5, 10, false);
  case DType::BF16:
    return smallFloat(elementAt<uint16_t>(printed.data, index), 8, 7, false);
  case DType::F32:
    return elementAt<float>(printed.data, index);
  case DType::F64:
    return elementAt<double>(printed.data, index);
  default:
    return std::nullopt;
  }
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

/// `format` is of floats.
std::string valueText(const TileryPrinted &printed, int64_t index, bool hex, const char *format = "%f") {
  if (printed.dtype == TILERY_POINTER)
    return hexText(printed.data, index, 8);
  DType dtype = DType(printed.dtype);
  if (hex)
    return hexText(printed.data, index, byteWidth(dtype));
  if (std::optional<double> number = floatAt(printed, index)) {
    char text[400];
    std::snprintf(text, sizeof text, format, *number);
    return text;
  }
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
  default:
    return "?";
  }
}

/// " idx (1,  3)": each index as wide as the largest of its dimension.
std::string indexText(const TileryPrinted &printed, int64_t index) {
  std::string text;
  for (uint32_t dim = printed.rank; dim-- > 0;) {
    std::string digits = std::to_string(index % printed.shape[dim]);
    size_t width = std::to_string(printed.shape[dim] - 1).size();
    text = std::string(width - std::min(width, digits.size()), ' ') + digits + (text.empty() ? "" : ", ") + text;
    index /= printed.shape[dim];
  }
  return " idx (" + text + ")";
}

int64_t sizeOf(const TileryPrinted &printed) {
  int64_t elements = 1;
  for (uint32_t dim = 0; dim < printed.rank; ++dim)
    elements *= printed.shape[dim];
  return elements;
}

/// A prefix of nothing but a colon stands right behind what is in front of it.
std::string behind(const std::string &head, const std::string &prefix) {
  return head + (prefix.empty() || prefix[0] == ':' ? "" : " ") + prefix;
}

/// The elements of a tile, all of one width.
std::vector<std::string> elementTexts(const TileryPrinted &printed, bool hex) {
  int64_t elements = sizeOf(printed);
  bool scientific = false; // are four places behind the point too few, or six in front?
  for (int64_t i = 0; i < elements; ++i)
    if (double size = std::fabs(floatAt(printed, i).value_or(0)); std::isfinite(size) && size != 0)
      scientific |= size < 1e-3 || size >= 1e6;
  std::vector<std::string> texts;
  size_t width = 0;
  for (int64_t i = 0; i < elements; ++i) {
    texts.push_back(valueText(printed, i, hex, scientific ? "%.4e" : "%.4f"));
    width = std::max(width, texts.back().size());
  }
  for (std::string &text : texts)
    text.insert(0, width - text.size(), ' ');
  return texts;
}

/// "[[1, 2], [3, 4]]" of dimensions from `dim` on, lines after the first behind `indent` blanks.
std::string tileText(const TileryPrinted &printed, const std::vector<std::string> &texts, uint32_t dim, int64_t &next,
                     size_t indent) {
  if (dim == printed.rank)
    return texts[size_t(next++)];
  std::string text = "[", newLine = ",\n" + std::string(indent + 1, ' ');
  bool innermost = dim + 1 == printed.rank;
  for (int64_t i = 0; i < printed.shape[dim]; ++i) {
    if (i > 0)
      text += innermost && i % ELEMENTS_A_LINE != 0 ? ", " : newLine;
    text += tileText(printed, texts, dim + 1, next, indent + 1);
  }
  return text + "]";
}
} // namespace

std::string tilery::programName(const uint32_t grid[3], int64_t pid) {
  int64_t x = grid[0], y = grid[1];
  return "(" + std::to_string(pid % x) + ", " + std::to_string(pid / x % y) + ", " + std::to_string(pid / x / y) + ")";
}

std::string tilery::printedLines(const TileryLaunch &launch, int64_t pid, const std::string &prefix, bool hex,
                                 std::span<const TileryPrinted> values) {
  std::string program = "pid " + programName(launch.grid, pid), text;
  if (values.empty())
    text = behind(program, prefix) + "\n";
  for (size_t operand = 0; operand < values.size(); ++operand) {
    const TileryPrinted &printed = values[operand];
    std::string label = values.size() > 1 ? "(operand " + std::to_string(operand) + ") " : "";
    for (int64_t i = 0, elements = sizeOf(printed); i < elements; ++i)
      text += behind(program + indexText(printed, i), prefix) + label + valueText(printed, i, hex) + "\n";
  }
  return text;
}

std::string tilery::printedTiles(const TileryLaunch &launch, int64_t pid, const std::string &prefix, bool hex,
                                 std::span<const TileryPrinted> values) {
  std::string head = behind(programName(launch.grid, pid), prefix);
  if (values.empty())
    return head + "\n";
  std::string text;
  for (const TileryPrinted &printed : values) {
    int64_t next = 0;
    text += head;
    text += printed.rank ? tileText(printed, elementTexts(printed, hex), 0, next, head.size()) : valueText(printed, 0, hex);
    text += "\n";
  }
  return text;
}

static std::mutex printing;
/// Who held it is not in the child, and C cleans its stream itself. Not freeAcrossFork: who prints may wait for the thread that forks to read.
[[maybe_unused]] static const int forkable = pthread_atfork(nullptr, nullptr, [] { new (&printing) std::mutex; });

void tilery::writePrinted(const std::string &text) {
  std::lock_guard lock(printing);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}
