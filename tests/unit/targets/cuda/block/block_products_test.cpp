// Matrix products from tile IR through block IR to code, on the CPU: roles are fibers, boxes come early or late.
#include "tests/unit/targets/cpu/run_kernel.h"
#include "compiler/block/forms/memory.h"
#include "tests/unit/targets/cuda/numbers.h"
#include "llvm/ADT/StringExtras.h"
#include "tests/emulator/emulator.h"
#include <random>

using namespace tilery;
using namespace tilery::test;
using emulator::Timing;

namespace {
struct Product {
  const char *type, *output;             // as the IR has them
  int m, n, k;                           // of a program's tile
  int rows, columns, depth;              // of the whole
  bool acrossA = false, acrossB = false; // m (n) is contiguous rather than k
  const char *schedule = "";
  bool ragged = true; // bounds are given
  std::string fetched =
      ""; // of "a" and "b" nobody knows how they are aligned; "!": there are no boxes at all; "w": nor products of warpgroups
  int partialSums = 0; // of k, added by threads

  bool isFetched(char which) const { return fetched.find(which) != std::string::npos; }
  int bytes(const char *of) const {
    return std::string(of).find("32") != std::string::npos ? 4 : std::string(of).find("16") != std::string::npos ? 2 : 1;
  }
  bool integer() const { return std::string(type) == "i8"; }
  std::string sums() const { return integer() ? "i32" : "f32"; }
};
std::ostream &operator<<(std::ostream &out, const Product &p) {
  return out << p.type << " to " << p.output << ", " << p.m << "x" << p.n << "x" << p.k << " of " << p.rows << "x" << p.columns
             << "x" << p.depth << (p.acrossA ? ", a across" : "") << (p.acrossB ? ", b across " : " ") << p.schedule
             << (p.fetched.empty() ? "" : ", fetched: " + p.fetched) << ", partial sums of " << p.partialSums;
}

/// A row of the array, in elements: as long as the copy engine wants it.
int64_t pitch(int across, int bytes) { return (across * bytes + 15) / 16 * 16 / bytes; }

std::string program(const Product &p) {
  std::string bounds = p.ragged ? "[1, 1](%c0, %left0, %c0, %left1)" : "[0, 0]()";
  std::string boundTypes = p.ragged ? "(i64, i64, i64, i64)" : "()";
  auto access = [&](const char *name, const char *base, const char *type, int d0, int d1, const char *at0, const char *at1,
                    const char *limit0, const char *limit1, const char *stride, bool across) {
    std::string n = name, tile = std::to_string(d0) + "x" + std::to_string(d1) + "x" + type, text;
    std::string slow = across ? at1 : at0, fast = across ? at0 : at1;
    text += "  %" + n + "0 = arith.muli " + slow + ", " + stride + " overflow<nsw> : i64\n";
    text += "  %" + n + "1 = arith.addi %" + n + "0, " + fast + " overflow<nsw> : i64\n";
    std::string own = bounds;
    if (p.ragged) {
      text += "  %" + n + "l0 = arith.subi " + limit0 + ", " + at0 + " overflow<nsw> : i64\n";
      text += "  %" + n + "l1 = arith.subi " + limit1 + ", " + at1 + " overflow<nsw> : i64\n";
      own = "[1, 1](%c0, %" + n + "l0, %c0, %" + n + "l1)";
    }
    text += "  %" + n + "p = tile.access " + base + ", %" + n + "1 steps(" +
            (across ? std::string("%c1, ") + stride : std::string(stride) + ", %c1") + ") bounds " + own + " : <" + type +
            ">, (i64, i64), " + boundTypes + " -> <" + tile + ">\n";
    return text;
  };
  auto tile = [](int d0, int d1, std::string type) { return std::to_string(d0) + "x" + std::to_string(d1) + "x" + type; };
  std::string a = tile(p.m, p.k, p.type), b = tile(p.k, p.n, p.type), sum = tile(p.m, p.n, p.sums()),
              out = tile(p.m, p.n, p.output);
  std::string aligned = " {tile.divisibility = 16 : i64}", alignedA = p.isFetched('a') ? "" : aligned,
              alignedB = p.isFetched('b') ? "" : aligned;
  std::string text = "tile.kernel @k(%a: !tile.ptr<" + std::string(p.type) + ">" + alignedA + ", %b: !tile.ptr<" + p.type + ">" +
                     alignedB + ", %c: !tile.ptr<" + p.output + ">" + aligned + ", %m: i64, %n: i64, %k: i64, %sa: i64" +
                     alignedA + ", %sb: i64" + alignedB + ", %sc: i64" + aligned + ", %steps: i64) " +
                     (p.isFetched('!') ? "attributes {block.no_boxes} " : "") +
                     "{\n  %c0 = arith.constant 0 : i64\n  %c1 = arith.constant 1 : i64\n";
  text += "  %bm = arith.constant " + std::to_string(p.m) + " : i64\n  %bn = arith.constant " + std::to_string(p.n) +
          " : i64\n  %bk = arith.constant " + std::to_string(p.k) + " : i64\n  %zero = arith.constant dense<" +
          (p.integer() ? "0" : "0.0") + "> : tensor<" + sum + ">\n";
  text += "  %x = tile.program_id 0\n  %y = tile.program_id 1\n  %xw = arith.extsi %x : i32 to i64\n  %yw = arith.extsi %y : i32 "
          "to i64\n";
  text += "  %row = arith.muli %yw, %bm overflow<nsw> : i64\n  %column = arith.muli %xw, %bn overflow<nsw> : i64\n";
  text += "  %sum = tile.contract %steps, %zero {\n  ^bb0(%i: i64):\n  %at = arith.muli %i, %bk overflow<nsw> : i64\n";
  text += access("ax", "%a", p.type, p.m, p.k, "%row", "%at", "%m", "%k", "%sa", p.acrossA);
  text += access("bx", "%b", p.type, p.k, p.n, "%at", "%column", "%k", "%n", "%sb", !p.acrossB);
  // memory of B: k contiguous unless `acrossB`
  text += "  %ta = tile.load %axp : !tile.access<" + a + "> -> tensor<" + a + ">\n  %tb = tile.load %bxp : !tile.access<" + b +
          "> -> tensor<" + b + ">\n";
  text += "  tile.yield %ta, %tb : tensor<" + a + ">, tensor<" + b + ">\n  } : tensor<" + sum + ">\n";
  std::string result = "%sum";
  if (p.sums() != p.output)
    text += "  %narrow = arith.truncf %sum : tensor<" + sum + "> to tensor<" + out + ">\n", result = "%narrow";
  text += access("cx", "%c", p.output, p.m, p.n, "%row", "%column", "%m", "%n", "%sc", false);
  text += "  tile.store %cxp, " + result + " : !tile.access<" + out + ">, tensor<" + out + ">\n  tile.return\n}\n";
  if (std::string(p.type) == "f32") // tf32
    text.replace(text.find("  } : tensor<" + sum), 3, "  } {precision = 1 : i32}");
  if (p.partialSums)
    text.replace(text.find("  } : tensor<" + sum), 3, "  } {tile.partial_sums = " + std::to_string(p.partialSums) + " : i64}");
  return text;
}

/// -2 to 2 in each type.
uint32_t bitsOf(const std::string &type, int value) {
  auto pick = [&](uint32_t one, uint32_t two, uint32_t sign) {
    uint32_t bits = std::abs(value) == 2 ? two : value ? one : 0;
    return value < 0 ? bits | sign : bits;
  };
  if (type == "f16")
    return pick(0x3c00, 0x4000, 0x8000);
  if (type == "bf16")
    return pick(0x3f80, 0x4000, 0x8000);
  if (type == "f32")
    return pick(0x3f800000, 0x40000000, 0x80000000);
  if (type == "f8E4M3FN")
    return pick(0x38, 0x40, 0x80);
  if (type == "f8E5M2")
    return pick(0x3c, 0x40, 0x80);
  return uint8_t(value);
}

double numberOf(const std::string &type, const char *bytes) {
  uint32_t bits = 0;
  if (type == "i32") {
    std::memcpy(&bits, bytes, 4);
    return int32_t(bits);
  }
  if (type == "f16") {
    std::memcpy(&bits, bytes, 2);
    return valueOfHalf(uint16_t(bits));
  }
  std::memcpy(type == "f32" ? reinterpret_cast<char *>(&bits) : reinterpret_cast<char *>(&bits) + 2, bytes,
              type == "f32" ? 4 : 2);
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// An aligned array of `slow` rows of `fast` elements.
struct Array {
  int64_t stride;
  int bytes;
  std::vector<char> memory;
  Array(int slow, int fast, int bytes, bool isLoose = false)
      : stride(isLoose ? fast : pitch(fast, bytes)), bytes(bytes), memory(slow * stride * bytes + 256, char(0x55)) {}
  char *start() { return reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(memory.data()) + 127) / 128 * 128); }
  char *at(int64_t slow, int64_t fast) { return start() + (slow * stride + fast) * bytes; }
};

class BlockProduct : public testing::TestWithParam<Product> {};

TEST_P(BlockProduct, IsExactOnIntegers) {
  Product p = GetParam();
  setenv("TILERY_SCHEDULE", p.schedule, 1);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(program(p), &context());
  ASSERT_TRUE(module) << program(p);
  auto kernel = emulator::Kernel::translate(*module, p.isFetched('w') ? emulator::Path::Warps : emulator::Path::Block, true, 0);
  unsetenv("TILERY_SCHEDULE");
  ASSERT_TRUE(kernel);
  std::mt19937 random(7);
  std::vector<int> a(p.rows * p.depth), b(p.depth * p.columns);
  Array inA(p.acrossA ? p.depth : p.rows, p.acrossA ? p.rows : p.depth, p.bytes(p.type), p.isFetched('a'));
  Array inB(p.acrossB ? p.depth : p.columns, p.acrossB ? p.columns : p.depth, p.bytes(p.type), p.isFetched('b'));
  auto fill = [&](Array &to, bool swapped, int slow, int fast, int value) {
    uint32_t bits = bitsOf(p.type, value);
    if (value && std::string(p.type) == "f32" && (p.isFetched(&to == &inA ? 'a' : 'b') || p.isFetched('w')))
      --bits; // what threads write is rounded to tf32, not cut
    std::memcpy(swapped ? to.at(fast, slow) : to.at(slow, fast), &bits, to.bytes);
    return value;
  };
  for (int i = 0; i < p.rows; ++i)
    for (int k = 0; k < p.depth; ++k)
      a[i * p.depth + k] = fill(inA, p.acrossA, i, k, int(random() % 5) - 2);
  for (int k = 0; k < p.depth; ++k)
    for (int j = 0; j < p.columns; ++j)
      b[k * p.columns + j] = fill(inB, !p.acrossB, k, j, int(random() % 5) - 2);
  uint32_t grid[] = {uint32_t((p.columns + p.n - 1) / p.n), uint32_t((p.rows + p.m - 1) / p.m), 1};
  for (Timing timing : {Timing::CopiesAtOnce, Timing::CopiesLate}) {
    Array out(p.rows, p.columns, p.bytes(p.output));
    std::vector<uint64_t> slots = {
        slot(inA.start()), slot(inB.start()), slot(out.start()), slot(p.rows),     slot(p.columns),
        slot(p.depth),     slot(inA.stride),  slot(inB.stride),  slot(out.stride), slot((p.depth + p.k - 1) / p.k)};
    ASSERT_EQ(kernel->run(grid, slots.data(), timing), "");
    int wrong = 0;
    for (int i = 0; i < p.rows && wrong < 5; ++i)
      for (int j = 0; j < p.columns && wrong < 5; ++j) {
        int expected = 0;
        for (int k = 0; k < p.depth; ++k)
          expected += a[i * p.depth + k] * b[k * p.columns + j];
        double got = numberOf(p.output, out.at(i, j));
        if (got != expected) {
          ADD_FAILURE() << "(" << i << ", " << j << "): " << got << " instead of " << expected;
          ++wrong;
        }
      }
    for (int64_t j = p.columns; j < out.stride; ++j) // what is not the tensor's is left alone
      EXPECT_EQ(*out.at(0, j), 0x55);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, BlockProduct,
    testing::Values(Product{"f16", "f16", 128, 128, 64, 250, 200, 300}, Product{"bf16", "f32", 64, 64, 32, 64, 64, 32},
                    Product{"bf16", "bf16", 128, 64, 64, 128, 64, 640, true, false},
                    Product{"f16", "f32", 64, 128, 64, 100, 132, 96, false, true},
                    Product{"f16", "f16", 256, 64, 16, 256, 72, 50, true, true},
                    Product{"f8E4M3FN", "f16", 128, 64, 128, 128, 64, 256}, Product{"f8E5M2", "f32", 64, 40, 32, 64, 40, 96},
                    Product{"i8", "i32", 64, 64, 64, 70, 64, 160}, Product{"f32", "f32", 64, 32, 32, 64, 32, 64},
                    Product{"f16", "f16", 64, 48, 16, 64, 48, 80, true}, Product{"f16", "f16", 64, 24, 64, 64, 24, 128},
                    Product{"f16", "f16", 128, 256, 64, 128, 256, 128, false, true, "stages=2"},
                    Product{"f16", "f16", 64, 64, 64, 320, 320, 64, false, false, "group=2 stages=2"},
                    Product{"f16", "f32", 64, 64, 64, 64, 64, 512, false, true, "stage_output=0 stages=3"},
                    Product{"f16", "f16", 64, 64, 64, 128, 128, 64, false, true, "", false},
                    Product{"bf16", "bf16", 16, 128, 64, 13, 200, 200, false, true}, // multiplied the other way round
                    Product{"f16", "f32", 96, 64, 32, 100, 130, 70}, Product{"i8", "i32", 32, 64, 64, 30, 64, 192},
                    Product{"f16", "f32", 64, 64, 64, 64, 64, 320, false, true, "cluster=2"}, // steps shared by blocks
                    Product{"bf16", "bf16", 128, 128, 64, 140, 130, 500, false, true, "cluster=4"},
                    Product{"f16", "f16", 16, 64, 64, 9, 64, 1000, false, true, "cluster=8"},
                    Product{"i8", "i32", 64, 32, 64, 70, 40, 64, false, false, "cluster=4"})); // most have no step

// Sums of a part of k that threads add to the others.
INSTANTIATE_TEST_SUITE_P(
    PartialSums, BlockProduct,
    testing::Values(Product{"f8E4M3FN", "f32", 128, 128, 128, 130, 128, 400, false, false, "", true, "", 128},
                    Product{"f8E4M3FN", "f32", 128, 256, 128, 128, 256, 256, false, false, "", true, "", 64},
                    Product{"f8E5M2", "f16", 64, 64, 64, 100, 72, 200, false, false, "", true, "", 32},
                    Product{"f8E5M2", "f32", 64, 40, 32, 64, 40, 96, false, false, "", true, "", 1},
                    Product{"f8E4M3FN", "f32", 64, 136, 64, 64, 136, 128, false, false, "", true, "", 64},
                    Product{"f8E4M3FN", "f32", 64, 64, 128, 64, 128, 256, false, true, "", false, "", 128}, // threads turn B
                    Product{"f8E4M3FN", "f32", 128, 256, 64, 130, 264, 130, false, true, "", true, "", 64}, // too few registers
                    Product{"f8E4M3FN", "f32", 64, 64, 128, 64, 64, 1000, false, false, "cluster=2", true, "", 128},
                    Product{"f8E4M3FN", "f32", 16, 128, 128, 13, 200, 256, false, false, "", true, "", 64}));

// Tiles of 512 rows, or columns, which are multiplied the other way round.
INSTANTIATE_TEST_SUITE_P(Tall, BlockProduct,
                         testing::Values(Product{"f16", "f16", 512, 64, 32, 600, 72, 64, false, true},
                                         Product{"f16", "f16", 64, 512, 32, 70, 600, 64, false, true},
                                         Product{"bf16", "f32", 384, 64, 64, 390, 64, 130, true, false}));

// Factors that are no boxes: threads write them into the slots.
INSTANTIATE_TEST_SUITE_P(Fetched, BlockProduct,
                         testing::Values(Product{"f16", "f16", 128, 128, 64, 250, 200, 301, false, false, "", true, "a"},
                                         Product{"bf16", "f32", 64, 128, 64, 101, 132, 75, true, true, "", true, "ab"},
                                         Product{"f16", "f16", 128, 64, 64, 131, 72, 200, false, true, "", true, "b"},
                                         Product{"i8", "i32", 64, 64, 64, 70, 64, 161, false, false, "", true, "a"},
                                         Product{"f8E4M3FN", "f16", 64, 64, 128, 64, 72, 130, false, false, "", true, "ab"},
                                         Product{"f8E4M3FN", "f16", 64, 128, 128, 64, 200, 260, false, true}, // threads turn B
                                         Product{"f8E5M2", "f32", 128, 64, 64, 130, 64, 192, true, true, "stages=2"},
                                         Product{"f8E4M3FN", "f32", 64, 64, 128, 64, 128, 256, false, true, "", false},
                                         Product{"f32", "f32", 64, 64, 32, 64, 72, 100, false, true},
                                         Product{"f32", "f32", 64, 32, 32, 64, 32, 67, false, false, "", true, "a"},
                                         Product{"bf16", "bf16", 16, 128, 64, 13, 200, 201, false, true, "", true, "b"},
                                         Product{"f16", "f32", 32, 64, 64, 31, 64, 65, true, false, "", true, "ab"},
                                         Product{"f16", "f16", 64, 64, 128, 64, 64, 300, false, true, "stages=2", true, "ab"},
                                         Product{"f16", "f16", 64, 64, 16, 64, 64, 48, true, false, "", false, "ab"},
                                         Product{"f16", "f16", 64, 64, 64, 1, 8, 1, false, false, "", true, "ab"},
                                         Product{"f16", "f16", 128, 128, 64, 250, 200, 300, false, false, "", true,
                                                 "!"}, // copied 16 bytes at a time
                                         Product{"bf16", "f32", 64, 64, 64, 100, 72, 90, true, true, "", true, "!"},
                                         Product{"i8", "i32", 64, 64, 64, 70, 64, 161, false, false, "stages=2", true, "!"},
                                         Product{"f16", "f16", 128, 64, 128, 131, 70, 600, false, true, "", true, "!a"},
                                         Product{"bf16", "bf16", 16, 128, 64, 13, 200, 200, false, true, "", true, "!"},
                                         Product{"f16", "f16", 64, 64, 64, 128, 128, 64, false, true, "", false, "!"}));

// The second factor lies along columns that are no multiple of 64, in narrower boxes; then threads copy it, and it is no tensor's box.
INSTANTIATE_TEST_SUITE_P(Narrow, BlockProduct,
                         testing::Values(Product{"f16", "f16", 128, 80, 64, 250, 168, 300, false, true},
                                         Product{"bf16", "f32", 64, 96, 32, 64, 200, 96, true, true},
                                         Product{"bf16", "bf16", 128, 32, 64, 130, 72, 200, false, true},
                                         Product{"f16", "f32", 64, 144, 64, 100, 152, 64, false, true},
                                         Product{"f16", "f16", 64, 16, 16, 64, 24, 48, true, true},
                                         Product{"f16", "f32", 48, 64, 64, 50, 72, 130, true, false}, // the other way round
                                         Product{"f16", "f16", 128, 80, 64, 130, 82, 300, false, true, "", true, "b"},
                                         Product{"bf16", "f32", 64, 32, 64, 70, 40, 201, true, true, "stages=2", true, "ab"},
                                         Product{"f16", "f32", 128, 96, 32, 130, 200, 96, false, true, "", true, "!"}));
INSTANTIATE_TEST_SUITE_P(NarrowByWarps, BlockProduct,
                         testing::Values(Product{"f16", "f16", 128, 80, 64, 250, 168, 300, false, true, "", true, "w"},
                                         Product{"bf16", "f32", 64, 96, 32, 64, 200, 96, true, true, "", true, "w"},
                                         Product{"bf16", "bf16", 128, 32, 64, 130, 72, 200, false, true, "", true, "w"},
                                         Product{"f16", "f32", 64, 144, 64, 100, 152, 64, false, true, "", true, "wb"},
                                         Product{"f16", "f16", 64, 16, 16, 64, 24, 48, true, true, "", true, "w"}));

// Two instances of the role that multiplies, which take programs by turns.
INSTANTIATE_TEST_SUITE_P(
    Instances, BlockProduct,
    testing::Values(Product{"f16", "f16", 128, 128, 64, 250, 504, 300},
                    Product{"bf16", "f32", 64, 64, 32, 300, 132, 32, false, false, "instances=2"},
                    Product{"bf16", "f32", 128, 128, 64, 384, 256, 1000, false, true, "instances=2 stages=2"},
                    Product{"i8", "i32", 64, 64, 64, 320, 64, 160, false, false, "instances=2"},
                    Product{"f32", "f32", 64, 32, 32, 64, 200, 64, false, false, "instances=2 stage_output=0"},
                    Product{"f16", "f16", 64, 128, 64, 200, 384, 0, false, true, "instances=2"},
                    Product{"bf16", "bf16", 16, 128, 64, 13, 800, 200, false, true, "instances=2"},
                    Product{"f8E4M3FN", "f16", 128, 64, 128, 128, 256, 256, false, false, "instances=2"},
                    Product{"f16", "f16", 64, 64, 64, 320, 320, 64, false, false, "instances=2 group=2 stages=3"},
                    Product{"f16", "f16", 128, 128, 64, 256, 512, 320, true, false, "instances=2", false}));

// Of GPUs before Hopper: warps multiply what they have copied some steps before, or what a role of its own computes.
INSTANTIATE_TEST_SUITE_P(
    Warps, BlockProduct,
    testing::Values(Product{"f16", "f16", 128, 128, 64, 250, 200, 300, false, false, "", true, "w"},
                    Product{"bf16", "f32", 64, 64, 32, 64, 64, 32, false, false, "", true, "w"},
                    Product{"bf16", "bf16", 128, 64, 64, 128, 64, 640, true, false, "", true, "w"},
                    Product{"f16", "f32", 64, 128, 64, 100, 136, 96, false, true, "", true, "w"},
                    Product{"f16", "f16", 256, 64, 16, 256, 72, 48, true, true, "", true, "w"},
                    Product{"i8", "i32", 64, 64, 64, 70, 64, 160, false, false, "", true, "w"},
                    Product{"f32", "f32", 64, 32, 32, 64, 32, 64, false, false, "", true, "w"},
                    Product{"f32", "f32", 64, 32, 32, 64, 32, 64, true, true, "", true, "w"},
                    Product{"f32", "f32", 128, 64, 32, 130, 72, 100, false, true, "", true, "w"},
                    Product{"f32", "f32", 64, 64, 32, 70, 68, 75, true, true, "", true, "wab"},
                    Product{"f16", "f16", 64, 24, 64, 64, 24, 128, false, false, "", true, "w"},
                    Product{"f16", "f16", 64, 64, 64, 128, 128, 0, false, true, "", true, "w"},
                    Product{"bf16", "bf16", 128, 256, 32, 128, 256, 128, false, true, "consumers=2", true, "w"},
                    Product{"bf16", "bf16", 16, 128, 64, 13, 200, 200, false, true, "", true, "w"},
                    Product{"f16", "f16", 128, 128, 64, 250, 200, 301, false, false, "", true, "wa"},
                    Product{"bf16", "f32", 64, 128, 64, 101, 132, 75, true, true, "", true, "wab"},
                    Product{"f16", "f16", 128, 128, 32, 128, 128, 256, false, true, "consumers=4", true, "w"},
                    Product{"f16", "f16", 64, 64, 64, 64, 64, 512, false, true, "stages=2 resident=2", true, "w"},
                    Product{"bf16", "bf16", 128, 192, 64, 130, 200, 144, false, true, "", true, "w"},
                    Product{"f16", "f32", 192, 64, 32, 200, 72, 64, true, false, "", true, "w"},
                    Product{"f16", "f16", 64, 96, 64, 64, 96, 64, false, true, "", true, "w"},
                    Product{"f16", "f16", 64, 64, 64, 128, 128, 64, false, true, "", false, "w"}));
} // namespace
