#include "tilery/dtype.h"
#include <gtest/gtest.h>
#include <string>

using namespace tilery;

TEST(DType, NamesAreReadBack) {
  for (int code = 0; code <= int(DType::F64); ++code)
    EXPECT_EQ(parseDType(dtypeName(DType(code))), DType(code)) << code;
  for (const char *wrong : {"", "float128", "Float32", "int32 "})
    EXPECT_FALSE(parseDType(wrong)) << wrong;
}

TEST(DType, WidthsAreThoseOfTheNames) {
  for (int code = int(DType::I8); code <= int(DType::F64); ++code) {
    std::string name = dtypeName(DType(code));
    unsigned bits = unsigned(std::stoi(name.substr(name.find_first_of("0123456789"))));
    EXPECT_EQ(bitWidth(DType(code)), bits) << name;
    EXPECT_EQ(byteWidth(DType(code)), bits / 8) << name;
  }
  EXPECT_EQ(bitWidth(DType::Bool), 1u);
  EXPECT_EQ(byteWidth(DType::Bool), 1u);
}

TEST(DType, EveryTypeIsOfOneKind) {
  for (int code = 0; code <= int(DType::F64); ++code) {
    DType type = DType(code);
    EXPECT_EQ(isBool(type) + isSigned(type) + isUnsigned(type) + isFloat(type), 1) << dtypeName(type);
    EXPECT_EQ(isInteger(type), isSigned(type) || isUnsigned(type)) << dtypeName(type);
  }
}
