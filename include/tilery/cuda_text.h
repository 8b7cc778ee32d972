#pragma once
// Device functions in CUDA C++ that programs bring as text, read into trees. What is outside of the few forms that are known is a node
// `unknown` with its text, so that a function of which a kernel needs another part can be used; and trees carried out on the values of a
// kernel.
#include "tilery/builder.h"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

/// A statement or an expression. What `words`, `number` and `parts` hold, by the kind:
///
/// | kind | words | number | parts |
/// |---|---|---|---|
/// | unknown | | | |
/// | name | the name | | |
/// | part (`v.x`) | the name | 0 to 3 | |
/// | integer | its type where it is not int | the value | |
/// | float | its type | the value | |
/// | static_cast, reinterpret_cast | the type | | what is cast |
/// | load (`*reinterpret_cast<T *>(p)`) | T | | the pointer |
/// | address (`&v`, of memcpy) | the name | | |
/// | call | the function | | operands |
/// | binary | the operator | | both operands |
/// | declare | type, name | | the value, if there is one |
/// | assign | name | | the value |
/// | copy (memcpy) | | bytes | destination, source |
/// | store (`*reinterpret_cast<T *>(p) = x`) | | | pointer, value |
/// | return | | | the value, if there is one |
/// | choose (`if constexpr (sizeof(T) == 4)`) | T, the comparison | the bytes | two blocks |
/// | block | | | statements |
/// | asm | the instructions, the constraints | how many operands are results | operands |
struct CudaNode {
  std::string kind, text;
  std::vector<std::string> words{};
  std::variant<int64_t, uint64_t, double> number{};
  std::vector<CudaNode> parts{};
};

struct CudaFunction {
  struct Parameter {
    std::string type, name;
    std::optional<CudaNode> value{}; ///< where a call leaves it out
  };
  std::string name; ///< with its namespaces
  std::string type;
  std::vector<Parameter> parameters;
  std::vector<std::string> types; ///< parameters of its template
  std::string
      notUnderstood; ///< what in it decides its meaning and is not understood: a directive (`#if`), a brace that nothing closes; empty: nothing
  bool several = false; ///< one before it has its name
  CudaNode body;
};

/// The device functions of a text.
std::vector<CudaFunction> readCuda(std::string_view text);

/// An address that the program passes: the caller knows it by its number.
struct CudaAddress {
  size_t number = 0;
  DType element = DType::F32;
};
using CudaArgument = std::variant<Value, Literal, CudaAddress>;
/// What a function needs of the kernel that calls it.
class CudaCaller {
public:
  virtual ~CudaCaller() = default;
  /// The elements from an address on.
  virtual std::vector<Value> load(const CudaAddress &address, size_t count) = 0;
  virtual void store(const CudaAddress &address, const std::vector<Value> &elements) = 0;
  /// A function of CUDA's own of scalars; null: none that is known has the name.
  virtual Value call(const std::string &name, const std::vector<Value> &operands) = 0;
};
/// What the function returns: bits that it loaded as `dtype` if there is one; null: nothing. Throws Error for what is not understood.
Value callCuda(Builder &builder, const CudaFunction &function, const std::vector<CudaArgument> &arguments,
               std::optional<DType> dtype, CudaCaller &caller);

} // namespace tilery
#pragma GCC visibility pop
