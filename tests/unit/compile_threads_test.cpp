// Compilations on several threads at once, beside launches. A thread sanitizer sees more here than the expectations say
// (./run test sanitize full).
#include "tilery/language.h"
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace tilery;

namespace {
/// out = x * factor + 1 over tiles of 64.
Program scaled(int factor) {
  return Program("scaled_" + std::to_string(factor), {in<float>("x"), out<float>("out"), scalar<int64_t>("n")},
                 [&](const std::vector<Tile> &k) {
                   Tile offsets = programId(0) * 64 + arange(0, 64), mask = offsets < k[2];
                   store(k[1] + offsets, load(k[0] + offsets, mask, 0.0f) * float(factor) + 1.0f, mask);
                 });
}

int wrongElements(const Program &program, int factor) {
  constexpr int64_t n = 1000;
  std::vector<float> x(n), out(n);
  for (int64_t i = 0; i < n; ++i)
    x[i] = float(i);
  program.launch((n + 63) / 64, x.data(), out.data(), n);
  int wrong = 0;
  for (int64_t i = 0; i < n; ++i)
    wrong += out[i] != float(i * factor + 1); // small integers: exact
  return wrong;
}
} // namespace

TEST(EightThreads, CompileWhileOthersLaunch) {
  const Program known = scaled(7);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number)
    threads.emplace_back([&, number] {
      for (int round = 0; round < 4; ++round)
        if (number % 2)
          wrong += wrongElements(scaled(8 * round + number), 8 * round + number);
        else
          for (int launch = 0; launch < 50; ++launch)
            wrong += wrongElements(known, 7);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}
