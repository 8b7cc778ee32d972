#include "runtime/hash.h"
#include <gtest/gtest.h>

using namespace tilery;

// The values of the format's specification: entries on disk stay valid whoever computes them.
TEST(Hash, IsXxh3) {
  EXPECT_EQ(checksum(""), 0x2d06800538d394c2u);
  EXPECT_EQ(digest(""), "99aa06d3014798d86001c324468d497f");
}

TEST(Hash, EveryByteCounts) {
  std::string bytes(5000, 'a');
  uint64_t sum = checksum(bytes);
  std::string name = digest(bytes);
  EXPECT_EQ(name.size(), digestDigits);
  for (size_t at = 0; at < bytes.size(); at += 97) {
    bytes[at] ^= 1;
    EXPECT_NE(checksum(bytes), sum) << at;
    EXPECT_NE(digest(bytes), name) << at;
    bytes[at] ^= 1;
  }
  EXPECT_NE(digest(bytes.substr(1)), name);
}
