// PTX as text: what is read, which operations it becomes, and what is said about the rest.
#include "tilery/inline_asm.h"
#include "tilery/module.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
using Words = std::vector<std::string>;

TEST(ReadPtx, PartsOfInstructions) {
  std::vector<PtxInstruction> read =
      readPtx("{ .reg .pred p; // of it\n setp.lt.s32 p|q , $1,\t$2; @!p mov.b32 {h, l}, [a] ; }\n;");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].text, "setp.lt.s32 p|q , $1, $2");
  EXPECT_FALSE(read[0].guarded);
  EXPECT_EQ(read[0].name, "setp");
  EXPECT_EQ(read[0].modifiers, (Words{"lt", "s32"}));
  EXPECT_EQ(read[0].operands, (Words{"p|q", "$1", "$2"}));
  EXPECT_TRUE(read[1].guarded);
  EXPECT_EQ(read[1].guard, "!p");
  EXPECT_EQ(read[1].text, "mov.b32 {h, l}, [a]");
  EXPECT_EQ(read[1].operands, (Words{"{h, l}", "[a]"}));
}

TEST(ReadPtx, CommentsAndWhatIsNotClosed) {
  EXPECT_EQ(readPtx("not.b32 /* ; */ a, b").front().text, "not.b32 a, b");
  EXPECT_EQ(readPtx("not.b32 /* ; a, b").size(), 2u);
  EXPECT_EQ(readPtx("mov.b32 {a, b").front().operands, (Words{"{a", "b"}));
  EXPECT_EQ(readPtx("@").front().guard, "");
  EXPECT_TRUE(readPtx("; {} ;\n").empty());
}

struct InlineAsmTest : testing::Test {
  Builder b{Policy::Triton};
  std::vector<Value> args = b.beginKernel("k", {{"p", Type{DType::I32, {}, true}}});
  std::vector<std::string> called;
  Value tile(DType dtype) { return b.full({8}, Literal(int64_t(3)), dtype); }
  std::vector<Value> run(const std::string &text, const std::vector<Value> &tiles, InlineAsm code = {}) {
    code.text = text;
    if (code.constraints.empty())
      code.constraints = "=r,r,r";
    if (code.results.empty())
      code.results = {{DType::I32, 32}};
    return inlineAsm(b, code, tiles, [&](const std::string &name) { called.push_back(name); });
  }
  std::string errorOf(const std::string &text, const InlineAsm &code = {}) {
    try {
      run(text, {tile(DType::I32), tile(DType::I32)}, code);
    } catch (const Error &error) {
      return error.diagnostic().message;
    }
    return "";
  }
};

TEST_F(InlineAsmTest, ResultsHaveTheTypesAndTheShapeThatAreAskedFor) {
  std::vector<Value> both = run("and.b32 $0, $2, 0x1F; mov.b32 $1, $3;",
                                {b.full({2, 4}, Literal(int64_t(3)), DType::I8), b.full({2, 4}, Literal(int64_t(4)), DType::I8)},
                                {"", "=r,=r,r,r", {{DType::I8, 8}, {DType::U8, 8}}, 4});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].type, (Type{DType::I8, {2, 4}}));
  EXPECT_EQ(both[1].type, (Type{DType::U8, {2, 4}}));
  EXPECT_EQ(run("mov.u32 $0, $1;", {args[0]}, {"", "=l,l"}).front().type, (Type{DType::I32, {}}));
}

TEST_F(InlineAsmTest, TheLanguageHearsOfAccesses) {
  run("popc.b32 $0, $1; prmt.b32 $0, $0, $2, 0x5410; ld.global.b32 $0, [$2];", {tile(DType::I32), tile(DType::I32)});
  EXPECT_EQ(called, (Words{"ld"}));
}

TEST_F(InlineAsmTest, WhatIsWrong) {
  auto unknown = [](const std::string &text) {
    return "the instruction `" + text + "` of inline_asm_elementwise is not understood";
  };
  for (const char *text : {"vote.sync.all.pred $0, $1",
                           "bfe.u32 $0, $1, 3, 4",
                           "add.u32 $0, $1",
                           "ex2.approx.f32 $0",
                           "add",
                           "mov.b32 $0",
                           "setp.like.s32 $0, $1, $2",
                           "lop3.b32 $0, $1, $2, $1, $2",
                           "ld.global.b32 $0, $1",
                           "mul.wide.f32 $0, $1, $2",
                           "add.sat.s32 $0, $1, $2",
                           "add.rz.f32 $0, $1, $2",
                           "cvt.sat.u8.s32 $0, $1",
                           "cvt.rna.tf32.f32 $0, $1",
                           "cvt.rn.satfinite.e2m1x2.f32 $0, $1, $2",
                           "cvt.pack.sat.u8.s32.b32 $0, $1, $2, 0",
                           "cvt.rn.f16 $0, $1",
                           "cvt.rn.relu.f16x2.f32 $0, $1, $2",
                           "prmt.b32.f4e $0, $1, $2, 3",
                           "ld.shared.b32 $0, [$1]",
                           "ld.global.v2.b32 {$0, t}, [$1]",
                           "fma.rn.relu.f16 $0, $1, $2, $1",
                           "mov.u32 $0, 1.5",
                           "mov.b64 t, 0f3F800000"})
    EXPECT_EQ(errorOf(std::string(text) + ";"), unknown(text));
  EXPECT_EQ(errorOf("mov.u32 $0, %clock;"), "`%clock` in the assembly is neither a register that has a value nor a number");
  EXPECT_EQ(errorOf("not.b32 t, $1;"), "`$0` in the assembly is neither a register that has a value nor a number");
  EXPECT_EQ(errorOf("not.b32 $0, $1;", {"", "=r,r,x"}), "constraint 2 of '=r,r,x' names no register");
  EXPECT_EQ(errorOf("not.b32 $0, $1;", {"", "=r,r"}), "constraint 2 of '=r,r' names no register");
  EXPECT_EQ(errorOf("not.b32 $0, $1;", {"", "", {}, 3}), "pack must be a power of two, got 3");
  EXPECT_EQ(errorOf("not.b32 $0, $1;", {"", "", {}, 16}), "a tile of 8 elements cannot be taken 16 at a time");
}

TEST_F(InlineAsmTest, NumbersOfAnySize) {
  EXPECT_EQ(errorOf("add.u32 $0, $1, 0xFFFFFFFF; add.u32 $0, $0, -1; and.b32 $0, $0, 7U; add.u32 $0, $0, 0b11;"), "");
  EXPECT_EQ(errorOf("mov.b64 t, 0xFFFFFFFFFFFFFFFF; mov.b64 {$0, u}, t; mov.f64 t, 0d3FF0000000000000;"), "");
  EXPECT_EQ(errorOf("mov.u32 $0, 0x10000000000000000;"),
            "`0x10000000000000000` in the assembly is neither a register that has a value nor a number");
}
} // namespace
