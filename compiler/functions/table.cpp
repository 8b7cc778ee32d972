#include "compiler/functions/table.h"
#include "tilery/functions.h"
#include <algorithm>

namespace tilery {
using namespace functions;

static const List &table() {
  static const List all = [] {
    List list;
    for (const List &part : {functionsOfBits(), functionsOfFloats(), specialFunctions(), besselFunctions(), roundings(), codes()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

bool isFunction(const std::string &name) {
  return std::ranges::any_of(table(), [&](const Function &function) { return function.name == name; });
}

Value composed(Builder &builder, const std::string &name, const std::vector<Value> &operands) {
  for (const Function &function : table())
    if (name == function.name && operands.size() >= function.least && operands.size() <= function.most) {
      Wrapping wrapping(builder);
      Numbers numbers;
      for (const Value &operand : operands)
        numbers.push_back({&builder, operand});
      return function.compute(numbers).value;
    }
  builder.fail(Diagnostic::Kind::Value,
               "there is no function `" + name + "` of " + std::to_string(operands.size()) + " operands");
}

} // namespace tilery
