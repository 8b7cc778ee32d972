// Objects of generated code, as the loader places them in memory.
#include "runtime/elf_code.h"
#include "tests/fuzz/readers/reader.h"
#include <fstream>
#include <iterator>

using namespace tilery;

std::vector<std::string> readers::seeds() {
  std::ifstream file(OBJECT, std::ios::binary);
  return {{std::istreambuf_iterator<char>(file), {}}};
}

void readers::read(std::string_view bytes) {
  ElfCode code(bytes);
  code.find("k");
  for (const CodeSymbol &function : code.functions())
    code.holds(function.address);
}
