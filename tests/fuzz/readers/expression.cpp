// Expressions of sizes, as NineToothed's programs write them in text.
#include "tests/fuzz/readers/reader.h"
#include "tilery/arrange.h"
#include <stdexcept>

using namespace tilery;
using arrange::Symbol;

std::vector<std::string> readers::seeds() {
  std::vector<std::string> all;
  Symbol n = Symbol::plain("n"), m = Symbol::plain("BLOCK_M");
  for (const Symbol &symbol :
       {ceilDiv(n, m) * 2 - 1, -floorMod(n + m * m, 128), Symbol::make(arrange::ExprKind::tuple, {n, m, 3}),
        Symbol::make(arrange::ExprKind::minimum, {n, m})})
    all.push_back(symbol.str());
  all.insert(all.end(),
             {"x.shape[0]", "s[slice(1, None, 2)]", "max(a, 2 ** b) // (c % 7) <= abs(-d) | e & f ^ 1", "(a,)[0] / 1"});
  return all;
}

void readers::read(std::string_view bytes) try {
  Symbol symbol = Symbol::parse(std::string(bytes));
  Symbol::Values values;
  for (const Symbol &name : symbol.names())
    values.emplace(name.str(), 3);
  symbol.substitute(values).str();
  simplify(symbol).str();
  Symbol again = Symbol::parse(symbol.str());
  if (!again.equals(symbol))
    defect("`" + symbol.str() + "` is read as `" + again.str() + "`");
} catch (const std::invalid_argument &) {
} catch (const std::out_of_range &) {
}
