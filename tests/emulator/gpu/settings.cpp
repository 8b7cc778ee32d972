#include "settings.h"
#include "tilery/environment.h"
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace tilery::emulator {
namespace {
constexpr std::string_view processors = "processors=";

bool isNumber(const std::string &text, unsigned &number) {
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size() && number > 0;
}

[[noreturn]] void refuse(const std::string &text) {
  std::fprintf(stderr, "TILERY_EMULATE=%s: expected a GPU, then what is wanted of late, races, processors=N: sm_90a,late\n",
               text.c_str());
  std::exit(2);
}

Settings read() {
  Settings settings;
  std::istringstream words(environmentText("TILERY_EMULATE").value_or("sm_90a"));
  std::string word;
  std::getline(words, word, ',');
  std::optional<cuda::CudaTarget> target = cuda::targetNamed(word);
  if (!target)
    refuse(words.str());
  settings.target = *target;
  settings.processors = target->multiprocessors;
  while (std::getline(words, word, ',')) {
    if (word == "late")
      settings.timing = Timing::CopiesLate;
    else if (word == "races")
      settings.watches = true;
    else if (!word.starts_with(processors) || !isNumber(word.substr(processors.size()), settings.processors))
      refuse(words.str());
  }
  return settings;
}
} // namespace

const Settings &settings() {
  static const Settings known = read();
  return known;
}

} // namespace tilery::emulator
