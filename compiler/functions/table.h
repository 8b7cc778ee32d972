#pragma once
// The functions by name; each file has a list of its own.
#include "compiler/functions/number.h"
#include <functional>
#include <string>

namespace tilery::functions {

using Numbers = std::vector<Number>;
struct Function {
  std::string name;
  size_t least, most; ///< operands
  std::function<Number(const Numbers &)> compute;
};
using List = std::vector<Function>;

List functionsOfBits();
List functionsOfFloats();
List specialFunctions();
List besselFunctions();
List roundings();
List codes();

} // namespace tilery::functions
