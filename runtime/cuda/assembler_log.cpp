#include "runtime/cuda/assembler_log.h"
#include "tilery/diagnostic.h"
#include <cctype>
#include <string>

namespace tilery::cuda {

static bool hasCode(std::string_view line) {
  auto digit = [&](size_t at) { return at < line.size() && std::isdigit(static_cast<unsigned char>(line[at])); };
  for (size_t at = line.find("(C75"); at != std::string_view::npos; at = line.find("(C75", at + 1))
    if (digit(at + 4) && digit(at + 5) && at + 6 < line.size() && line[at + 6] == ')')
      return true;
  return false;
}

void checkAssemblerLog(std::string_view log) {
  while (!log.empty()) {
    size_t end = log.find('\n');
    std::string_view line = log.substr(0, end);
    log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
    if (hasCode(line))
      throw Error({Diagnostic::Kind::Runtime,
                   "the driver's assembler gave up on an instruction: " + std::string(line),
                   "this is a defect of Tilery's code generator",
                   {}});
  }
}

} // namespace tilery::cuda
