#pragma once
// The functions by name; each file has a list of its own.
#include "compiler/functions/number.h"
#include <string>

namespace tilery::functions {

using Numbers = std::vector<Number>;
struct Function {
  const char *name;
  size_t least, most; ///< operands
  Number (*compute)(const Numbers &);
};
using List = std::vector<Function>;

List functionsOfBits();
List functionsOfFloats();
List specialFunctions();

} // namespace tilery::functions
