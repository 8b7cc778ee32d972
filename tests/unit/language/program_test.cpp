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

TEST(Program, LaunchesInPlaceTakeCodeOfTheirOwn) {
  // Where x and y do not overlap, the second load may stand before the first store.
  const Program shift("shift", {in<float>("x"), out<float>("y")}, [](const std::vector<Tile> &k) {
    Tile offsets = arange(0, 64);
    store(k[1] + (offsets + 1), load(k[0] + offsets));
    store(k[1] + (offsets + 1), load(k[0] + offsets) + load(k[0] + (offsets + 1)));
  });
  std::vector<float> apart(65), x(65), expected(65);
  for (int i = 0; i < 65; ++i)
    x[i] = expected[i] = float(i * i % 17);
  std::vector<float> before = x;
  for (int i = 0; i < 64; ++i)
    expected[i + 1] = before[i];
  std::vector<float> first = expected;
  for (int i = 0; i < 64; ++i)
    expected[i + 1] = first[i] + first[i + 1];
  shift.launch(1, x.data(), apart.data());
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(apart[i + 1], before[i] + before[i + 1]);
  const Program copy = shift; // shares the code for launches in place
  copy.launch(1, x.data(), x.data());
  EXPECT_EQ(x, expected);
  // Whoever launches code for arguments that do not overlap is told.
  EXPECT_EQ(refusal([&] {
              launch(*load(shift.compiled().image).front(), {1, 1, 1}, {x.data(), x.data()}, {.flags = TILERY_DISJOINT});
            }),
            "arguments 'x' and 'y' of shift are one address, and the kernel writes there; its code is for arguments that do not "
            "overlap");
}

TEST(Program, WhatIsReadTwiceIsNoLaunchInPlace) {
  const Program add("add", {in<float>("x"), in<float>("y"), out<float>("z")}, [](const std::vector<Tile> &k) {
    Tile offsets = arange(0, 64);
    store(k[2] + offsets, load(k[0] + offsets) + load(k[1] + offsets));
  });
  const std::vector<float> x(64, 3.0f);
  std::vector<float> z(64);
  launch(*load(add.compiled().image).front(), {1, 1, 1}, {x.data(), x.data(), z.data()}, {.flags = TILERY_DISJOINT});
  EXPECT_EQ(z, std::vector<float>(64, 6.0f));
}

TEST(Program, HintsAreInTheWordsOfCpp) {
  using K = const std::vector<Tile> &;
  const std::vector<std::function<void(K)>> wrong{
      [](K k) { load(k[0], arange(0, 4) < 2); },
      [](K k) { load(k[2]); },
      [](K k) { arange(0, 4) + arange(0, 8); },
      [](K k) { zeros({4, 8}, DType::F32) + zeros({8, 4}, DType::F32); },
      [](K k) { dot(zeros({16, 16}, DType::F16), zeros({16, 16}, DType::F32), zeros({16, 16}, DType::F32)); },
      [](K k) { dot(zeros({16, 16}, DType::F32), zeros({8, 16}, DType::F32), zeros({16, 16}, DType::F32)); },
      [](K k) { dot(arange(0, 4), arange(0, 4), zeros({4, 4}, DType::F32)); },
      [](K k) { k[0] * 2; },
      [](K k) { sum(k[0], 0); },
      [](K k) { exp(k[0] + arange(0, 4)); },
      [](K k) { k[0] + 0.5f; },
      [](K k) { k[2].to(DType::U32) / k[2]; },
      [](K k) { k[2].to(DType::U32) % k[2]; },
      [](K k) { k[2].to(DType::U8) + -1; },
      [](K k) { k[2].to(DType::I8) + 1000; },
      [](K k) { k[2].to(DType::F32) & 1; },
      [](K k) { sum(arange(0, 4), 1); },
      [](K k) { arange(0, 4).expand(3); },
      [](K k) { arange(4, 4); },
      [](K k) { programId(3); },
      [](K k) { numPrograms(3); },
      [](K k) { store(k[1], arange(0, 4)); },
      [](K k) { store(k[1] + arange(0, 4), arange(0, 8)); },
      [](K k) { store(k[2], 1); },
      [](K k) { branch(arange(0, 4) < 2, {}, [] {}); },
      [](K k) { branch(k[0], {}, [] {}); },
      [](K k) { select(k[0], 1, 2); },
      [](K k) { select(arange(0, 4) < 2, k[0], 2); },
      [](K k) {
        Tile carried = k[2];
        forRange(0, 4, {carried}, [&](Tile) { carried = arange(0, 4); });
      },
      [](K k) {
        Tile left;
        forRange(0, 4, {}, [&](Tile i) { left = i + 1; });
        left + 1;
      },
      [](K k) { Tile() + 1; },
      [](K k) { full({4}, true, DType::U8) + -1; },
  };
  for (size_t i = 0; i < wrong.size(); ++i)
    try {
      const Program program("wrong", {in<float>("x"), out<float>("y"), scalar<int32_t>("n")}, wrong[i]);
      ADD_FAILURE() << i << " is no error";
    } catch (const Error &error) {
      const std::string text = error.diagnostic().message + "\n" + error.diagnostic().hint;
      for (const char *word :
           {".to(...)", "tl.", "T.", "None", "True", "False", "//", ".item", "debug=", "program_id", "constexpr"})
        EXPECT_EQ(text.find(word), std::string::npos) << i << ": " << text;
      EXPECT_FALSE(error.diagnostic().chain.empty()) << i << ": " << text;
    }
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
