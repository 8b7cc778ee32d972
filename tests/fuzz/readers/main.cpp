// What libFuzzer calls. Seeds are written into the first folder of the command line.
#include "tests/fuzz/readers/reader.h"
#include "tilery/diagnostic.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace tilery;

void readers::defect(const std::string &what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

extern "C" int LLVMFuzzerInitialize(int *count, char ***arguments) {
  for (int i = 1; i < *count; ++i)
    if (std::string folder = (*arguments)[i]; folder[0] != '-') {
      std::vector<std::string> all = readers::seeds();
      for (size_t number = 0; number < all.size(); ++number)
        std::ofstream(folder + "/seed-" + std::to_string(number), std::ios::binary) << all[number];
      break;
    }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  try {
    readers::read({reinterpret_cast<const char *>(data), size});
  } catch (const Error &) {
  }
  return 0;
}
