#include "settings.h"
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace tilery::emulator {
namespace {
[[noreturn]] void refuse(const std::string &text) {
  std::fprintf(stderr, "TILERY_EMULATE=%s: expected a GPU, then what is wanted of late, processors=N: sm_90a,late\n",
               text.c_str());
  std::exit(2);
}

Settings read() {
  Settings settings;
  const char *text = std::getenv("TILERY_EMULATE");
  std::istringstream words(text ? text : "sm_90a");
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
    else if (int count = 0; std::sscanf(word.c_str(), "processors=%d", &count) == 1 && count > 0)
      settings.processors = unsigned(count);
    else
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
