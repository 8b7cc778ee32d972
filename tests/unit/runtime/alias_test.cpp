#include "tilery/runtime.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
float memory[1000];
struct Shaped {
  std::vector<int64_t> extents, strides;
  Tensor tensor;
  Shaped(int64_t offset, std::vector<int64_t> e, std::vector<int64_t> s, DType dtype = DType::F32) : extents(e), strides(s) {
    tensor = {memory + offset, dtype, int32_t(extents.size()), extents.data(), strides.empty() ? nullptr : strides.data(), {}};
  }
};
} // namespace

TEST(Alias, SpansFollowTheStrides) {
  auto bytes = [](const Shaped &s) {
    Span span = byteSpan(s.tensor);
    return std::pair<int64_t, int64_t>(int64_t(span.first) - int64_t(uintptr_t(memory)),
                                       int64_t(span.last) - int64_t(uintptr_t(memory)));
  };
  EXPECT_EQ(bytes({0, {3, 4}, {4, 1}}), std::pair(0L, 48L));
  EXPECT_EQ(bytes({0, {3, 4}, {}}), std::pair(0L, 48L));
  EXPECT_EQ(bytes({0, {3, 4}, {1, 100}}), std::pair(0L, (2 + 300 + 1) * 4L));
  EXPECT_EQ(bytes({10, {5}, {-2}}), std::pair((10 - 8) * 4L, 11 * 4L));
  EXPECT_EQ(bytes({0, {7}, {0}}), std::pair(0L, 4L));
  EXPECT_EQ(bytes({5, {}, {}}), std::pair(20L, 24L));
  EXPECT_EQ(byteSpan(Shaped(0, {3, 0}, {}).tensor).first, byteSpan(Shaped(0, {3, 0}, {}).tensor).last);
}

TEST(Alias, WhatNoAddressSpaceHoldsOverlapsEverything) {
  const int64_t large = int64_t(1) << 40;
  Shaped one(500, {1}, {1});
  for (const Shaped &wide :
       {Shaped(0, {large, large}, {}), Shaped(0, {large}, {large}), Shaped(0, {large, 2}, {-large, 1}),
        Shaped(0, {INT64_MAX}, {1}), Shaped(0, {2}, {INT64_MIN}), Shaped(0, {2, 2, 2}, {INT64_MAX, INT64_MAX, 1})}) {
    EXPECT_EQ(classify(wide.tensor, one.tensor), Alias::Overlapping);
    EXPECT_EQ(classify(wide.tensor, wide.tensor), Alias::Overlapping);
  }
  EXPECT_EQ(classify(Shaped(0, {large, large, 0}, {}).tensor, one.tensor), Alias::Disjoint); // no element
  EXPECT_EQ(classify(Shaped(0, {large, 2}, {0, 1}).tensor, one.tensor), Alias::Disjoint);    // two elements
}

TEST(Alias, Classes) {
  auto of = [](const Shaped &a, const Shaped &b) {
    EXPECT_EQ(classify(a.tensor, b.tensor), classify(b.tensor, a.tensor));
    return classify(a.tensor, b.tensor);
  };
  EXPECT_EQ(of({0, {10}, {1}}, {10, {10}, {1}}), Alias::Disjoint);
  EXPECT_EQ(of({0, {10}, {1}}, {9, {10}, {1}}), Alias::Overlapping);
  EXPECT_EQ(of({0, {10}, {1}}, {0, {10}, {1}}), Alias::Identical);
  EXPECT_EQ(of({0, {10}, {1}}, {0, {9}, {1}}), Alias::Overlapping);
  EXPECT_EQ(of({0, {4, 4}, {4, 1}}, {0, {4, 4}, {1, 4}}), Alias::Overlapping); // the transpose of itself
  EXPECT_EQ(of({0, {1, 4}, {4, 1}}, {0, {1, 4}, {9, 1}}), Alias::Identical);   // the stride of one element says nothing
  EXPECT_EQ(of({0, {4, 4}, {4, 1}}, {0, {4, 4}, {}}), Alias::Identical);
  EXPECT_EQ(of({0, {10}, {1}}, {0, {10}, {1}, DType::I32}), Alias::Identical);
  EXPECT_EQ(of({0, {10}, {1}}, {0, {10}, {1}, DType::F16}), Alias::Overlapping);
  EXPECT_EQ(of({0, {0}, {1}}, {0, {10}, {1}}), Alias::Disjoint);
}

TEST(Alias, Flags) {
  KernelInfo info{"k",
                  0,
                  {{"x", DType::F32, true, false},
                   {"n", DType::I32, false, false},
                   {"y", DType::F32, true, true},
                   {"z", DType::F32, true, false}}};
  auto flags = [&](Span x, Span y, Span z) { return launchFlags(info, std::array<Span, 4>{x, Span{}, y, z}); };
  EXPECT_EQ(flags({100, 200}, {200, 300}, {150, 180}), TILERY_DISJOINT); // what is only read may overlap
  EXPECT_EQ(flags({100, 200}, {199, 300}, {400, 500}), 0u);
  EXPECT_EQ(flags({100, 200}, {300, 400}, {399, 500}), 0u);
  size_t large = lastLevelCacheBytes();
  EXPECT_EQ(flags({0, 1}, {1000, 1000 + large}, {1, 2}), TILERY_DISJOINT);
  EXPECT_EQ(flags({0, 1}, {1000, 1001 + large}, {1, 2}), TILERY_DISJOINT | TILERY_STREAM);
}
