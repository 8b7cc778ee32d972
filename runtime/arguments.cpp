// Arguments of launches from C++.
#include "runtime/article.h"
#include "tilery/diagnostic.h"
#include "tilery/arguments.h"
#include "tilery/counted.h"
#include <algorithm>
#include <cstring>

namespace tilery {

/// Whether an integer type has a number; `bits`: as it stands in 64 of them.
static bool holds(DType type, bool negative, uint64_t bits) {
  const unsigned width = type == DType::Bool ? 1 : bitWidth(type);
  const bool isSigned = type == DType::I8 || type == DType::I16 || type == DType::I32 || type == DType::I64;
  if (negative)
    return isSigned && (width == 64 || int64_t(bits) >= -(int64_t(1) << (width - 1)));
  return width - isSigned == 64 || bits >> (width - isSigned) == 0;
}

uint64_t LaunchArg::slot(const KernelInfo &kernel, const ArgInfo &expected) const {
  auto refuse = [&](const std::string &got) {
    std::string type = dtypeName(expected.dtype);
    throw Error({Diagnostic::Kind::Type,
                 "argument '" + expected.name + "' of " + kernel.name + " must be " +
                     (expected.pointer ? "pointer<" + type + ">" : type) + ", got " + got,
                 "",
                 {}});
  };
  if (auto *pointer = std::get_if<const void *>(&value)) {
    bool sameWidth = !type || bitWidth(*type) == bitWidth(expected.dtype);
    if (!expected.pointer || !sameWidth || (expected.written && readOnly))
      refuse(std::string("a pointer to ") + (readOnly && expected.written ? "const " : "") + (type ? dtypeName(*type) : "void"));
    return reinterpret_cast<uintptr_t>(*pointer);
  }
  if (expected.pointer)
    refuse("a number");
  uint64_t bits = 0;
  if (isFloat(expected.dtype)) {
    double number = 0;
    if (auto *integer = std::get_if<int64_t>(&value))
      number = double(*integer);
    else if (auto *natural = std::get_if<uint64_t>(&value))
      number = double(*natural);
    else
      number = std::get<double>(value);
    float narrow = float(number);
    if (expected.dtype == DType::F64)
      std::memcpy(&bits, &number, sizeof number);
    else
      std::memcpy(&bits, &narrow, sizeof narrow);
    return bits;
  }
  if (std::holds_alternative<double>(value))
    refuse("a floating-point number");
  if (bitWidth(*type) == 64 && bitWidth(expected.dtype) < 64)
    refuse(withArticle(dtypeName(*type)));
  auto *number = std::get_if<int64_t>(&value);
  if (!holds(expected.dtype, number && *number < 0, number ? uint64_t(*number) : std::get<uint64_t>(value)))
    refuse(number ? std::to_string(*number) : std::to_string(std::get<uint64_t>(value)));
  return number ? uint64_t(*number) : std::get<uint64_t>(value);
}

SharedArguments sharedArguments(const KernelInfo &kernel, std::span<const LaunchArg> args) {
  const size_t count = std::min(args.size(), kernel.args.size());
  for (size_t second = 1; second < count; ++second)
    for (size_t first = 0; first < second; ++first)
      if (args[first].address() && args[first].address() == args[second].address() &&
          (kernel.args[first].written || kernel.args[second].written))
        return {first, second};
  return {};
}

void refuseReadOnly(const std::string &argument, const std::string &kernel) {
  throw Error({Diagnostic::Kind::Value,
               "argument '" + argument + "' is a read-only array, and " + kernel + " writes to it",
               "pass a copy of it",
               {}});
}

LaunchResult launch(const Kernel &kernel, const std::array<int64_t, 3> &grid, std::initializer_list<LaunchArg> args,
                    const LaunchOptions &options) {
  const KernelInfo &info = kernel.info();
  for (int64_t extent : grid)
    if (extent < 0)
      throw Error(
          {Diagnostic::Kind::Value,
           "the grid of " + info.name + " has " + std::to_string(extent) + " programs along an axis; 0 or more are expected",
           "",
           {}});
  if (args.size() != info.args.size())
    throw Error({Diagnostic::Kind::Type,
                 info.name + " takes " + counted(info.args.size(), "argument") + ", got " + std::to_string(args.size()),
                 "",
                 {}});
  const bool runs = std::min({grid[0], grid[1], grid[2]}) > 0;
  std::vector<uint64_t> slots;
  for (const LaunchArg &arg : args) {
    const ArgInfo &expected = info.args[slots.size()];
    slots.push_back(arg.slot(info, expected));
    if (runs && expected.pointer && !slots.back())
      throw Error({Diagnostic::Kind::Value,
                   "argument '" + expected.name + "' of " + info.name + " is null",
                   "where the kernel does not touch it, any other address does",
                   {}});
  }
  if (SharedArguments shared = sharedArguments(info, args); runs && shared && options.flags & TILERY_DISJOINT)
    throw Error({Diagnostic::Kind::Value,
                 "arguments '" + info.args[shared.first].name + "' and '" + info.args[shared.second].name + "' of " + info.name +
                     " are one address, and the kernel writes there; its code is for arguments that do not overlap",
                 "compile it without CompileOptions::disjoint, and launch it without TILERY_DISJOINT",
                 {}});
  return launch(kernel, grid.data(), slots.data(), options);
}

} // namespace tilery
