// Which accesses of single threads become vectors.
#include "compiler/targets/cuda/ptx/join_accesses.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
/// A function of an aligned pointer, two conditions and four numbers.
std::string joined(const std::string &body, unsigned alignment = 16) {
  std::string text = "define void @f(ptr align " + std::to_string(alignment) +
                     " %p, i1 %c, i1 %d, i64 %n, i32 %x, i32 %y, i32 %z, i32 %w) {\n  %g = addrspacecast ptr %p to ptr "
                     "addrspace(1)\n  %row = mul i64 %n, 16\n  %q = getelementptr i8, ptr addrspace(1) %g, i64 %row\n" +
                     body + "  ret void\n}\ndeclare void @use(i32)\n";
  llvm::LLVMContext context;
  llvm::SMDiagnostic wrong;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, wrong, context);
  EXPECT_TRUE(module) << wrong.getMessage().str() << text;
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  cuda::JoinAccessesPass().run(*module->getFunction("f"), fam);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string result;
  llvm::raw_string_ostream(result) << *module->getFunction("f");
  return result;
}

std::string place(const std::string &name, int bytes) {
  return "  %" + name + " = getelementptr i8, ptr addrspace(1) %q, i64 " + std::to_string(bytes) + "\n";
}
std::string load(const std::string &name, int bytes, const std::string &condition = "c", bool pure = true) {
  std::string number = std::to_string(bytes);
  return place("at" + name, bytes) + "  %" + name + " = call i32 asm " + (pure ? "" : "sideeffect ") +
         "\"@$2 ld.global.b32 $0, [$1];\", \"=r,l,b,0" + (pure ? "" : ",~{memory}") + "\"(ptr addrspace(1) %at" + name +
         ", i1 %" + condition + ", i32 0)" + (pure ? " memory(none)" : "") + "\n";
}
std::string store(const std::string &value, int bytes, const std::string &condition = "c") {
  return place("to" + value, bytes) + "  call void asm sideeffect \"@$1 st.global.b32 [$0], $2;\", \"l,b,r,~{memory}\"(ptr " +
         "addrspace(1) %to" + value + ", i1 %" + condition + ", i32 %" + value + ")\n";
}
std::string use(const std::string &value) { return "  call void @use(i32 %" + value + ")\n"; }

size_t countOf(const std::string &text, const std::string &what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1))
    ++count;
  return count;
}
} // namespace

TEST(JoinAccesses, Loads) {
  std::string four = load("a", 0) + load("b", 4) + load("c4", 8) + load("e", 12);
  std::string uses = use("a") + use("b") + use("c4") + use("e"), text = joined(four + uses);
  EXPECT_EQ(countOf(text, "@$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];"), 1u) << text;
  EXPECT_EQ(countOf(text, "ld.global"), 1u) << text;
  for (const char *part : {"%2, 0", "%2, 1", "%2, 2", "%2, 3"})
    EXPECT_EQ(countOf(text, part), 1u) << part << text;
  EXPECT_EQ(countOf(joined(four + uses, 8), "ld.global.v2.b32"), 2u) << "as far as the pointer is aligned";
  EXPECT_EQ(countOf(joined(four + uses, 4), "ld.global.b32"), 4u);
}

TEST(JoinAccesses, LoadsInAnyOrder) {
  std::string text =
      joined(load("a", 12) + load("b", 0) + load("c4", 8) + load("e", 4) + use("a") + use("b") + use("c4") + use("e"));
  EXPECT_EQ(countOf(text, "ld.global.v4.b32"), 1u) << text;
  size_t first = text.find("call void @use(i32");
  std::string ofA = text.substr(first, text.find(')', first) - first); // the value at 12 is the last part
  std::string name = ofA.substr(ofA.find('%'));
  EXPECT_NE(text.find(name + " = extractvalue { i32, i32, i32, i32 } %2, 3"), text.npos) << text;
}

TEST(JoinAccesses, WhereVectorsMayBegin) {
  std::string all;
  for (int bytes = 4; bytes < 24; bytes += 4)
    all += load("v" + std::to_string(bytes), bytes);
  std::string text = joined(all);
  EXPECT_EQ(countOf(text, "ld.global.v2.b32"), 2u) << text;
  EXPECT_EQ(countOf(text, "ld.global.b32"), 1u) << text;
  EXPECT_EQ(countOf(joined(load("a", 0) + load("b", 8)), "ld.global.b32"), 2u) << "no neighbours";
  EXPECT_EQ(countOf(joined(load("a", 0) + load("b", 0) + load("c4", 4)), "ld.global.b32"), 3u) << "one place twice";
}

TEST(JoinAccesses, UnderOneCondition) {
  EXPECT_EQ(countOf(joined(load("a", 0) + load("b", 4, "d")), "ld.global.b32"), 2u);
  EXPECT_EQ(countOf(joined(store("x", 0) + store("y", 4, "d")), "st.global.b32"), 2u);
}

TEST(JoinAccesses, OverNothingThatTouchesMemory) {
  std::string barrier = "  call void asm sideeffect \"bar.sync 0;\", \"~{memory}\"()\n";
  std::string other = "  %r = load i32, ptr addrspace(1) %g, align 4\n",
              shared = "  %s = load i32, ptr addrspace(3) null, align 4\n";
  EXPECT_EQ(countOf(joined(load("a", 0, "c", false) + barrier + load("b", 4, "c", false)), "ld.global.b32"), 2u);
  EXPECT_EQ(countOf(joined(load("a", 0, "c", false) + load("b", 4, "c", false)), "sideeffect \"@$3 ld.global.v2.b32"), 1u);
  EXPECT_EQ(countOf(joined(store("x", 0) + other + store("y", 4)), "st.global.b32"), 2u) << "may read what is stored";
  EXPECT_EQ(countOf(joined(store("x", 0) + load("a", 64) + store("y", 4)), "st.global.b32"), 2u);
  EXPECT_EQ(countOf(joined(store("x", 0) + shared + store("y", 4)), "st.global.v2.b32 [$0], {$2, $3}"), 1u);
}

TEST(JoinAccesses, Stores) {
  std::string text = joined(store("x", 16) + store("y", 20) + store("w", 28) + store("z", 24));
  EXPECT_EQ(countOf(text, "@$1 st.global.v4.b32 [$0], {$2, $3, $4, $5};"), 1u) << text;
  EXPECT_EQ(countOf(text, "i1 %c, i32 %x, i32 %y, i32 %z, i32 %w)"), 1u) << text;
  EXPECT_EQ(countOf(text, "st.global"), 1u) << text;
}

TEST(JoinAccesses, AlignPlainOnes) {
  std::string text = joined(place("r", 32) + "  store i32 %x, ptr addrspace(1) %r, align 4\n");
  EXPECT_EQ(countOf(text, "align 16\n"), 1u) << text;
  text = joined(place("r", 8) + "  store i32 %x, ptr addrspace(1) %r, align 4\n");
  EXPECT_EQ(countOf(text, "align 8\n"), 1u) << text;
}

namespace {
/// An access of a small element: kind "b16" or "b8".
std::string small(const std::string &name, int bytes, const std::string &kind, const std::string &from = "q") {
  return "  %at" + name + " = getelementptr i8, ptr addrspace(1) %" + from + ", i64 " + std::to_string(bytes) + "\n  %" + name +
         " = call i16 asm \"@$2 ld.global." + kind + " $0, [$1];\", \"=h,l,b,0\"(ptr addrspace(1) %at" + name +
         ", i1 %c, i16 0) memory(none)\n  %wide" + name + " = zext i16 %" + name + " to i32\n";
}
std::string smalls(unsigned count, unsigned bytes) {
  std::string loads, uses;
  for (unsigned i = 0; i < count; ++i) {
    loads += small("v" + std::to_string(i), i * bytes, bytes == 2 ? "b16" : "b8");
    uses += use("widev" + std::to_string(i));
  }
  return loads + uses;
}
} // namespace

TEST(JoinAccesses, SmallElementsShareRegisters) {
  EXPECT_EQ(countOf(joined(smalls(8, 2)), "ld.global.v4.b32"), 1u) << joined(smalls(8, 2));
  EXPECT_EQ(countOf(joined(smalls(4, 2)), "ld.global.v2.b32"), 1u);
  EXPECT_EQ(countOf(joined(smalls(2, 2)), "@$2 ld.global.b32 $0, [$1];"), 1u);
  EXPECT_EQ(countOf(joined(smalls(16, 1)), "ld.global.v4.b32"), 1u);
  EXPECT_EQ(countOf(joined(smalls(2, 1)), "@$2 ld.global.b16 $0, [$1];"), 1u);
  std::string odd = joined(smalls(7, 1));
  EXPECT_EQ(countOf(odd, "ld.global.b32"), 1u) << odd;
  EXPECT_EQ(countOf(odd, "ld.global.b16"), 1u) << odd;
  EXPECT_EQ(countOf(odd, "ld.global.b8"), 1u) << odd;
}

TEST(JoinAccesses, LoadsOfTwoTensorsByTurns) {
  std::string turns;
  for (int i = 0; i < 2; ++i)
    turns += small("a" + std::to_string(i), 2 * i, "b16") + small("b" + std::to_string(i), 2 * i, "b16", "q2");
  std::string second = "  %far = mul i64 %n, 4096\n  %q2 = getelementptr i8, ptr addrspace(1) %g, i64 %far\n";
  std::string text = joined(second + turns + use("widea0") + use("widea1") + use("wideb0") + use("wideb1"));
  EXPECT_EQ(countOf(text, "ld.global.b32"), 2u) << text;
  EXPECT_EQ(countOf(text, "ld.global.b16"), 0u) << text;
}

TEST(JoinAccesses, StoresOfTwoTensorsByTurnsMayMeet) {
  std::string other =
      "  %toz = getelementptr i8, ptr addrspace(1) %g, i64 %n\n  call void asm sideeffect \"@$1 st.global.b32 [$0], "
      "$2;\", \"l,b,r,~{memory}\"(ptr addrspace(1) %toz, i1 %c, i32 %z)\n";
  EXPECT_EQ(countOf(joined(store("x", 0) + other + store("y", 4)), "st.global.b32"), 3u);
  EXPECT_EQ(countOf(joined(load("a", 0) + store("x", 64) + load("b", 4) + use("a") + use("b")), "ld.global.b32"), 2u);
}
