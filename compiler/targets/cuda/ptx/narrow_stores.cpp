#include "compiler/targets/cuda/ptx/narrow_stores.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace tilery::cuda {
namespace {
/// The bits of a register by its name; 0: it is none of integers.
unsigned bitsOf(llvm::StringRef name) {
  unsigned number = 0;
  for (auto [prefix, bits] : {std::pair("%rs", 16), {"%rd", 64}, {"%r", 32}})
    if (llvm::StringRef rest = name; rest.consume_front(prefix) && !rest.getAsInteger(10, number))
      return bits;
  return 0;
}

/// The bits of each element that a store's operation, `st.global.v2.b16`, writes; 0: it is none.
unsigned storedBits(llvm::StringRef operation) {
  unsigned bits = 0;
  llvm::StringRef type = operation.rsplit('.').second;
  bool stores = operation.starts_with("st.") && !type.empty() && llvm::StringRef("bus").contains(type[0]);
  return stores && !type.drop_front().getAsInteger(10, bits) ? bits : 0;
}

/// A line's store with its wider registers brought to the size it stores; empty: it needs none of that.
std::string narrowed(llvm::StringRef line) {
  size_t begin = line.find("st.");
  if (begin == llvm::StringRef::npos || line.starts_with("//") || (begin && !llvm::isSpace(line[begin - 1])))
    return {};
  llvm::StringRef store = line.substr(begin);
  unsigned bits = storedBits(store.take_until([](char c) { return llvm::isSpace(c) || c == '['; }));
  size_t comma = store.find("],"), end = store.find(';');
  if (!bits || comma == llvm::StringRef::npos || end == llvm::StringRef::npos || end < comma)
    return {};
  // Of 8 bits there are no registers: those of 16 are stored in part, and hold no number that was computed in floats of 32.
  unsigned kept = std::max(bits, 16u);
  llvm::StringRef stored = store.slice(comma + 2, end).trim();
  bool vector = stored.consume_front("{");
  stored.consume_back("}");
  llvm::SmallVector<llvm::StringRef, 8> registers;
  stored.split(registers, ',');
  std::string names, before;
  bool wide = false;
  for (auto [i, operand] : llvm::enumerate(registers)) {
    llvm::StringRef name = operand.trim();
    names += i ? ", " : "";
    if (bitsOf(name) <= kept) {
      names += name;
      continue;
    }
    wide = true;
    std::string narrow = "%narrow" + std::to_string(i), width = std::to_string(kept);
    before += ".reg .b" + width + " " + narrow + "; cvt.u" + width + ".u" + std::to_string(bitsOf(name)) + " " + narrow + ", " +
              name.str() + "; ";
    names += narrow;
  }
  if (!wide)
    return {};
  return "\t{ " + before + line.take_front(begin + comma + 2).trim().str() + " " + (vector ? "{" + names + "}" : names) +
         line.substr(begin + end).str() + " }";
}
} // namespace

std::string narrowStores(std::string_view ptx) {
  std::string result;
  result.reserve(ptx.size());
  for (llvm::StringRef rest(ptx); !rest.empty();) {
    size_t end = rest.find('\n');
    llvm::StringRef line = rest.take_front(end);
    std::string changed = narrowed(line);
    result += changed.empty() ? line.str() : changed;
    if (end == llvm::StringRef::npos)
      break;
    result += '\n';
    rest = rest.drop_front(end + 1);
  }
  return result;
}

} // namespace tilery::cuda
