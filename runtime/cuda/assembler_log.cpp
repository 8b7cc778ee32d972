#include "runtime/cuda/assembler_log.h"
#include "tilery/diagnostic.h"
#include "tilery/environment.h"
#include <cctype>
#include <charconv>

namespace tilery::cuda {
namespace {

bool hasCode(std::string_view line) {
  auto digit = [&](size_t at) { return at < line.size() && std::isdigit(static_cast<unsigned char>(line[at])); };
  for (size_t at = line.find("(C75"); at != std::string_view::npos; at = line.find("(C75", at + 1))
    if (digit(at + 4) && digit(at + 5) && at + 6 < line.size() && line[at + 6] == ')')
      return true;
  return false;
}

/// Takes the first line off `log`.
std::string_view takeLine(std::string_view &log) {
  size_t end = log.find('\n');
  std::string_view line = log.substr(0, end);
  log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
  return line;
}

/// The number that stands before `text` ("28" of "28 bytes spill stores"), 0 if there is none.
uint32_t numberBefore(std::string_view line, std::string_view text) {
  size_t end = line.find(text), begin = end;
  if (end == std::string_view::npos)
    return 0;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])))
    --begin;
  uint32_t number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

} // namespace

std::string gaveUpOn(std::string_view log) {
  while (!log.empty())
    if (std::string_view line = takeLine(log); hasCode(line))
      return std::string(line);
  return "";
}

void checkGivenUp(const std::string &line) {
  if (!line.empty() && environmentSwitch("TILERY_VERIFY"))
    throw Error({Diagnostic::Kind::Runtime,
                 "the driver's assembler gave up on an instruction: " + line,
                 "this is a defect of Tilery's code generator",
                 {}});
}

std::vector<Spill> spillsOf(std::string_view log) {
  constexpr std::string_view title = "Function properties for ";
  std::vector<Spill> spills;
  std::string_view kernel;
  while (!log.empty()) {
    std::string_view line = takeLine(log);
    if (size_t at = line.find(title); at != std::string_view::npos) {
      kernel = line.substr(at + title.size());
      if (kernel.starts_with('\'')) // the driver quotes the name, ptxas does not
        kernel = kernel.substr(1, kernel.find('\'', 1) - 1);
    } else if (line.find("bytes stack frame") != std::string_view::npos) {
      Spill spill{std::string(kernel), numberBefore(line, " bytes spill stores"), numberBefore(line, " bytes spill loads")};
      if (spill.storeBytes || spill.loadBytes)
        spills.push_back(std::move(spill));
    }
  }
  return spills;
}

} // namespace tilery::cuda
