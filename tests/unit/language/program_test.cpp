// What launches of the C++ language refuse.
#include "tilery/language.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
std::string refusal(const std::function<void()> &launch) {
  try {
    launch();
  } catch (const Error &error) {
    return error.diagnostic().message;
  }
  return "";
}
} // namespace

TEST(Program, LaunchesThatCannotBeMeantAreRefused) {
  const Program copy("copy", {in<float>("x"), out<float>("y"), scalar<int32_t>("n")}, [](const std::vector<Tile> &k) {
    Tile offsets = programId(0) * 64 + arange(0, 64), mask = offsets < k[2];
    store(k[1] + offsets, load(k[0] + offsets, mask, 0.0f), mask);
  });
  const std::vector<float> x(64, 1.0f);
  const float *constant = x.data();
  std::vector<float> y(64);
  EXPECT_EQ(refusal([&] { copy.launch(-1, x.data(), y.data(), 64); }),
            "the grid of copy has -1 programs along an axis; 0 or more are expected");
  EXPECT_EQ(refusal([&] { copy.launch(1, x.data(), constant, 64); }),
            "argument 'y' of copy must be pointer<float32>, got a pointer to const float32");
  EXPECT_EQ(refusal([&] { copy.launch(1, x.data(), y.data(), int64_t(64)); }),
            "argument 'n' of copy must be int32, got an int64");
  EXPECT_EQ(refusal([&] { copy.launch(1, (const float *)nullptr, y.data(), 64); }), "argument 'x' of copy is null");
  copy.launch(0, (const float *)nullptr, (float *)nullptr, 0);
  EXPECT_EQ(y, std::vector<float>(64));
  copy.launch(1, x.data(), y.data(), 64);
  EXPECT_EQ(y, x);
}

TEST(Program, ErrorsHaveTheLineOfTheProgram) {
  int line = 0;
  const auto body = [&line](const std::vector<Tile> &k) {
    Tile sum = zeros({64}, DType::F32);
    const Tile more = zeros({32}, DType::F32);
    line = __LINE__ + 1;
    sum += more;
    store(k[0] + arange(0, 64), sum);
  };
  try {
    const Program wrong("wrong", {out<float>("y")}, body);
    FAIL() << "shapes that do not go together";
  } catch (const Error &error) {
    ASSERT_FALSE(error.diagnostic().chain.empty());
    EXPECT_EQ(error.diagnostic().chain.front().file, __FILE__);
    EXPECT_EQ(error.diagnostic().chain.front().line, line);
  }
}
