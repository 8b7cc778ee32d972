#pragma once
// Launching a kernel from C++ with checked arguments: all that a program without the compiler needs.
//
//   std::vector<KernelPtr> kernels = load(deserialize(bytes));
//   launch(*kernels.front(), {cdiv(n, 1024), 1, 1}, {x.data(), y.data(), z.data(), n});
#include "tilery/runtime.h"
#include <array>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <variant>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

template <typename T> constexpr DType dtypeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::Bool;
  else if constexpr (std::is_same_v<T, float>)
    return DType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::F64;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1 ? DType::I8 : sizeof(T) == 2 ? DType::I16 : sizeof(T) == 4 ? DType::I32 : DType::I64;
  else
    return sizeof(T) == 1 ? DType::U8 : sizeof(T) == 2 ? DType::U16 : sizeof(T) == 4 ? DType::U32 : DType::U64;
}

/// A pointer to elements, or a number.
class LaunchArg {
public:
  template <typename T> LaunchArg(T *pointer) : value(static_cast<const void *>(pointer)), readOnly(std::is_const_v<T>) {
    if constexpr (std::is_arithmetic_v<std::remove_cv_t<T>>)
      type = dtypeOf<std::remove_cv_t<T>>();
  }
  template <typename T>
    requires std::is_arithmetic_v<T>
  LaunchArg(T number) : type(dtypeOf<T>()) {
    if constexpr (std::is_floating_point_v<T>)
      value = double(number);
    else if constexpr (std::is_unsigned_v<T>)
      value = uint64_t(number);
    else
      value = int64_t(number);
  }
  /// The slot of this argument (abi.h). Throws Error if it is not what the kernel expects there: a pointer to elements of another
  /// width, one to const elements where the kernel stores, a fraction for an integer, an integer that the parameter cannot hold or of
  /// 64 bits for one of fewer, ...
  uint64_t slot(const KernelInfo &kernel, const ArgInfo &expected) const;
  /// Of a pointer; null: a number.
  const void *address() const { return std::holds_alternative<const void *>(value) ? std::get<const void *>(value) : nullptr; }

private:
  std::variant<const void *, int64_t, uint64_t, double> value;
  std::optional<DType> type; ///< the number's; of a pointer what it points to, if known
  bool readOnly = false;     ///< a pointer to const
};

/// Two arguments that are one address, where the kernel may write to one of them. How far behind their addresses arguments go a launch does
/// not know: others may overlap, too.
struct SharedArguments {
  size_t first = 0, second = 0; ///< positions; equal: there are none
  explicit operator bool() const { return first != second; }
};
SharedArguments sharedArguments(const KernelInfo &kernel, std::span<const LaunchArg> args);

/// As launch of runtime.h, which see; throws Error, too, for a wrong number or type of arguments. What a kernel was compiled for is the
/// caller's to promise: options.flags has TILERY_DISJOINT if CompileOptions::disjoint was set. Arguments that are seen to break that promise
/// (sharedArguments) are refused.
LaunchResult launch(const Kernel &kernel, const std::array<int64_t, 3> &grid, std::initializer_list<LaunchArg> args,
                    const LaunchOptions &options = {});

} // namespace tilery
#pragma GCC visibility pop
