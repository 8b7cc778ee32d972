// Device functions of CUDA C++: which there are, and what their statements are read as.
#include "tilery/cuda_text.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
using Words = std::vector<std::string>;

/// A node in brackets: its kind, words and number, and those of its parts.
std::string shown(const CudaNode &node) {
  std::string text = "(" + node.kind;
  if (node.kind == "unknown")
    return text + " `" + node.text + "`)";
  for (const std::string &word : node.words)
    text += " " + (word.empty() ? "''" : word);
  if (node.kind == "integer" || node.kind == "part" || node.kind == "copy" || node.kind == "choose")
    text += " " + std::to_string(std::get<int64_t>(node.number));
  if (node.kind == "float")
    text += " " + std::to_string(std::get<double>(node.number));
  for (const CudaNode &part : node.parts)
    text += " " + shown(part);
  return text + ")";
}
std::string body(const std::string &text) { return shown(readCuda("__device__ void f(int x) {" + text + "}").at(0).body); }
std::string expression(const std::string &text) {
  std::string whole = body("return " + text + ";"), frame = "(block (return ";
  return whole.substr(frame.size(), whole.size() - frame.size() - 2);
}

TEST(ReadCuda, FunctionsAndTheirHeads) {
  std::vector<CudaFunction> found = readCuda(R"(
    #include <cstdint>
    // __device__ int no(int x) { return x; }
    namespace a { namespace b::c {
    template <typename T, int N> __host__ __device__ __forceinline__ T load(const T *__restrict__ p, std::uint32_t n = 4, int) { return *p; }
    } static __device__ unsigned int plain(void) { "}"; } }
    struct S { int x; };
    __device__ float declared(float x);
    __global__ void kernel(int *p) {}
    extern "C" { __device__ long long plain() { return 1; } }
    __device__ int table[4];)");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].name, "a::b::c::load");
  EXPECT_EQ(found[0].type, "T");
  EXPECT_EQ(found[0].types, (Words{"T"}));
  ASSERT_EQ(found[0].parameters.size(), 3u);
  EXPECT_EQ(found[0].parameters[0].type + "|" + found[0].parameters[0].name, "T*|p");
  EXPECT_EQ(found[0].parameters[1].type, "uint32_t");
  EXPECT_EQ(shown(*found[0].parameters[1].value), "(integer '' 4)");
  EXPECT_FALSE(found[0].parameters[0].value);
  EXPECT_EQ(found[1].name + " " + found[1].type, "a::plain unsigned int");
  EXPECT_TRUE(found[1].parameters.empty() && found[1].types.empty());
  EXPECT_EQ(found[2].name, "plain");
  EXPECT_FALSE(found[2].several);
}

TEST(ReadCuda, SeveralOfANameAndDirectives) {
  std::vector<CudaFunction> found =
      readCuda("__device__ int f(int x) { return x; } __device__ int f(float x) {\n #if A\n#define B {\\\n {\n}");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_FALSE(found[0].several);
  EXPECT_TRUE(found[1].several);
  EXPECT_EQ(found[0].notUnderstood, "");
  EXPECT_EQ(found[1].notUnderstood, "#if");
}

TEST(ReadCuda, Statements) {
  EXPECT_EQ(body("float r; const int y = 3; y = x; ; static_assert(sizeof(int) == 4, \"a;b\"); return;"),
            "(block (declare float r) (declare int y (integer '' 3)) (assign y (name x)) (return))");
  EXPECT_EQ(body("__builtin_memcpy(&v, p, 16); memcpy(p, &v, 4);"),
            "(block (copy 16 (address v) (name p)) (copy 4 (name p) (address v)))");
  EXPECT_EQ(body("*reinterpret_cast<uint4 *>(p) = v;"), "(block (store (name p) (name v)))");
  EXPECT_EQ(body("asm volatile(\"a %0;\\n\" \"b;\" : \"=r\"(v.x), \"=f\"(y) : \"l\"(g(x)) : \"memory\", \"cc\");"),
            "(block (asm a %0;\nb; =r =f l (part v 0) (name y) (call g (name x))))");
  EXPECT_EQ(body("asm(\"a;\" ::\"r\"(x));"), "(block (asm a; r (name x)))");
  EXPECT_EQ(body("if constexpr (sizeof(T) == 4) { y = 1; } else if constexpr (sizeof(T) < 2) { return; } y = 2;"),
            "(block (choose T == 4 (block (assign y (integer '' 1))) (block (choose T < 2 (block (return)) (block)))) "
            "(assign y (integer '' 2)))");
}

TEST(ReadCuda, Expressions) {
  EXPECT_EQ(expression("a - b * c + -2"), "(binary + (binary - (name a) (binary * (name b) (name c))) (integer '' -2))");
  EXPECT_EQ(expression("(a + 1.5f) * .5"), "(binary * (binary + (name a) (float float32 1.500000)) (float float64 0.500000))");
  EXPECT_EQ(expression("*reinterpret_cast<const float *>(p)"), "(load float (name p))");
  EXPECT_EQ(expression("static_cast<unsigned int>(std::f(x, v.w))"),
            "(static_cast unsigned int (call std::f (name x) (part v 3)))");
  EXPECT_EQ(expression("0x1F + 5u + 7LL + 3000000000 + 0xFFFFFFFFu"),
            "(binary + (binary + (binary + (binary + (integer '' 31) (integer uint32 5)) (integer int64 7)) (integer int64 "
            "3000000000)) "
            "(integer uint32 4294967295))");
}

TEST(ReadCuda, TheRestIsUnknownAndSaysWhatItIs) {
  for (const char *text : {"x >> 1", "x < 3 ? x + 1 : x", "x & 7 + 1", "010", "(int)x", "-x", "x--", "f<int>(x)", "0x80000000",
                           "-3u", "1e5", "18446744073709551615", "v.xy", "*p", "\"text\"", "a +"})
    EXPECT_EQ(expression(text), "(unknown `" + std::string(text) + "`)");
  for (const char *text :
       {"x += 2", "x++", "static int n = 0", "*p = 3", "v.x = 3", "const float *p = q", "for (int i = 0; i < 3; i++) x = 1",
        "if (x > 0) return 1", "memcpy(&v, p, sizeof(v))", "asm(\"a;\" : [name] \"=r\"(x))"})
    EXPECT_EQ(body(std::string(text) + "; y = 1;"), "(block (unknown `" + std::string(text) + "`) (assign y (integer '' 1)))");
  EXPECT_EQ(body("{ int x = 3; } return;"), "(block (unknown `{ int x = 3; }`) (return))");
  EXPECT_EQ(body("if constexpr (N == 4) { return; }"), "(block (unknown `if constexpr (N == 4)`))");
  EXPECT_EQ(body("int y = 1, z = 2;"), "(block (declare int y (unknown `1, z = 2`)))");
  EXPECT_EQ(expression("f(x, y[0], 2)"), "(call f (name x) (unknown `y[0]`) (integer '' 2))");
  EXPECT_EQ(expression("x /* not */ >>\n 1"), "(unknown `x >> 1`)");
}

TEST(ReadCuda, DepthHasAnEnd) {
  std::string deep(100000, '(');
  EXPECT_EQ(expression(deep + "x").substr(0, 10), "(unknown `");
  std::string calls;
  for (int k = 0; k < 5000; ++k)
    calls += "f(";
  EXPECT_EQ(expression(calls + "x" + std::string(5000, ')')).substr(0, 8), "(call f ");
  std::string ifs;
  for (int k = 0; k < 2000; ++k)
    ifs += "if constexpr (sizeof(T) == 4) { ";
  EXPECT_FALSE(body(ifs).empty());
  EXPECT_FALSE(readCuda("__device__ void f() {" + ifs).empty());
}
} // namespace
