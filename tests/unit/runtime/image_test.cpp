#include "tilery/diagnostic.h"
#include "tilery/runtime.h"
#include <gtest/gtest.h>

using namespace tilery;

TEST(Image, SurvivesSerialisation) {
  CodeImage image{
      std::string("\x7f"
                  "ELF\0\0x",
                  7),
      {{"matmul", 4096, {{"a", DType::BF16, true, false}, {"c", DType::F32, true, true}, {"n", DType::U64, false, false}}},
       {"empty", 0, {}}},
      std::string("host\0program", 12)};
  EXPECT_EQ(deserialize(serialize(image)), image);
}

TEST(Image, RefusesDamage) {
  std::string bytes = serialize({"object", {{"k", 1, {{"a", DType::F32, true, true}}}}, "host"});
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(deserialize(bytes.substr(0, size)), Error) << size;
  EXPECT_THROW(deserialize(bytes + "x"), Error);
  bytes[0] ^= 1;
  EXPECT_THROW(deserialize(bytes), Error);
}
