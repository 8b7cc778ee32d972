// The objects of tests/unit/runtime/kernels.h, made by the clang that compiles these tests: here is no compiler to call.
#include "tests/unit/runtime/kernels.h"
#include <fstream>
#include <iterator>
#include <map>

std::string tilery::test::objectOf(const std::string &text) {
  static std::map<std::string, std::string> known;
  auto [at, isNew] = known.try_emplace(text);
  if (isNew) {
    std::string folder = "/tmp/tilery-kernel-XXXXXX";
    if (!mkdtemp(folder.data()))
      throw std::runtime_error("no folder for the object");
    const std::string source = folder + "/k.ll", object = folder + "/k.o";
    std::ofstream(source) << text;
    int status = std::system((CLANG " -O1 -march=native -fPIC -w -c " + source + " -o " + object).c_str());
    std::ifstream file(object, std::ios::binary);
    at->second.assign(std::istreambuf_iterator<char>(file), {});
    std::system(("rm -r " + folder).c_str());
    if (status != 0)
      throw std::runtime_error("clang does not compile this:\n" + text);
  }
  return at->second;
}
