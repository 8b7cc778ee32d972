// y = x + 1, and an error, which crosses from the library to the program as an exception.
#include <cstdint>
#include <cstdio>
#include <tilery/language.h>
#include <vector>

using namespace tilery;

static Program makeNext(int64_t block) {
  std::vector<Param> params{in<float>("x"), out<float>("y"), scalar<int32_t>("n")};
  return Program("next", params, [=](const std::vector<Tile> &k) {
    Tile offsets = programId(0) * block + arange(0, block), mask = offsets < k[2];
    store(k[1] + offsets, load(k[0] + offsets, mask) + 1.0f, mask);
  });
}

int main() {
  constexpr int n = 1000, block = 256;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i)
    x[i] = float(i);
  Program next = makeNext(block);
  next.launch((n + block - 1) / block, x.data(), y.data(), int32_t(n));
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += y[i] != float(i + 1);
  std::printf("%d wrong\n", wrong);
  try {
    Program("wrong", {}, [](const std::vector<Tile> &) { arange(0, 4) + arange(0, 8); });
  } catch (const Error &) {
    std::puts("refused");
  }
  return wrong != 0;
}
