#include "tilery/arguments.h"
#include "tilery/diagnostic.h"
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

using namespace tilery;

namespace {
/// The only kernel of an image of save_images.cpp. It was compiled for launches whose results overlap nothing.
KernelPtr kernelOf(const std::string &name) {
  std::ifstream file(std::string(IMAGES) + "/" + name + ".image", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return load(deserialize(bytes)).at(0);
}
const LaunchOptions disjoint{.flags = TILERY_DISJOINT};
} // namespace

TEST(SavedImage, RunsOnTensors) {
  constexpr int64_t n = 1000;
  std::vector<float> x(n), y(n), out(n + 1, -1.0f);
  for (int64_t i = 0; i < n; ++i)
    x[i] = float(i), y[i] = float(3 * i);
  EXPECT_EQ(launch(*kernelOf("scaled_sum"), {4, 1, 1}, {2, x.data(), y.data(), out.data(), n}, disjoint), LaunchResult::Done);
  for (int64_t i = 0; i < n; ++i)
    ASSERT_EQ(out[i], float(5 * i)) << i; // small integers: exact
  EXPECT_EQ(out[n], -1.0f);
}

TEST(SavedImage, PacksAndSharesOperands) {
  constexpr int64_t m = 256, n = 320, depth = 192;
  std::vector<float> a(m * depth), b(depth * n), c(m * n, -1.0f);
  for (int64_t i = 0; i < m * depth; ++i)
    a[i] = float(i % 7 - 3);
  for (int64_t i = 0; i < depth * n; ++i)
    b[i] = float(i % 5 - 2);
  launch(*kernelOf("product"), {m / 64, n / 64, 1}, {a.data(), b.data(), c.data(), n, depth}, disjoint);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float expected = 0;
      for (int64_t k = 0; k < depth; ++k)
        expected += a[i * depth + k] * b[k * n + j]; // small integers: exact
      ASSERT_EQ(c[i * n + j], expected) << i << " " << j;
    }
}

TEST(SavedImage, RefusesWrongArguments) {
  KernelPtr kernel = kernelOf("scaled_sum");
  float x = 0;
  double wide = 0;
  auto message = [&](std::initializer_list<LaunchArg> args) -> std::string {
    try {
      launch(*kernel, {1, 1, 1}, args, disjoint);
    } catch (const Error &error) {
      return error.diagnostic().message;
    }
    return "";
  };
  EXPECT_EQ(message({1.0f, &x}), "scaled_sum takes 5 arguments, got 2");
  EXPECT_EQ(message({1.0f, &x, &wide, &x, 1}), "argument 'y' of scaled_sum must be pointer<float32>, got a pointer to float64");
  EXPECT_EQ(message({1.0f, &x, 2, &x, 1}), "argument 'y' of scaled_sum must be pointer<float32>, got a number");
  EXPECT_EQ(message({&x, &x, &x, &x, 1}), "argument 'a' of scaled_sum must be float32, got a pointer to float32");
  EXPECT_EQ(message({1.0f, &x, &x, &x, 1.5}), "argument 'n' of scaled_sum must be int64, got a floating-point number");
}

TEST(SavedImageDeathTest, ACrashNamesTheKernelAndNoLine) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // the launches above started threads
  EXPECT_EXIT(
      {
        auto *nowhere = reinterpret_cast<float *>(4096);
        launch(*kernelOf("scaled_sum"), {1, 1, 1}, {1.0f, nowhere, nowhere + 1024, nowhere + 2048, 256}, disjoint);
      },
      testing::KilledBySignal(SIGSEGV), "tilery: kernel scaled_sum touched memory that is not there.*\n  hint: ");
}
