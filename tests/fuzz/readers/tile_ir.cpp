// Tile IR as text: its parser and verifiers.
#include "tests/fuzz/readers/reader.h"
#include "tilery/module.h"
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace tilery;

/// The modules of tests/ir, valid ones and others: what each op looks like.
std::vector<std::string> readers::seeds() {
  std::vector<std::string> all;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(TESTS_IR)) {
    if (entry.path().extension() != ".mlir")
      continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}}, mark = "// -----";
    for (size_t at = 0, end; at != std::string::npos; at = end == std::string::npos ? end : end + mark.size()) {
      end = text.find(mark, at);
      all.push_back(text.substr(at, end == std::string::npos ? end : end - at));
    }
  }
  return all;
}

void readers::read(std::string_view bytes) {
  std::string text = Module::parse(std::string(bytes))->text();
  if (std::string again = Module::parse(text)->text(); again != text)
    defect("this module is printed as another one:\n" + text + "\n" + again);
}
