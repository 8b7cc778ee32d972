// parallel-to-tiles and promote-buffers on random programs: the oracle must compute the same bits before and after.
#include "compiler/passes/passes.h"
#include "tests/unit/oracle/program.h"
#include <random>

using namespace mlir;
using namespace tilery;
using namespace tilery::oracle;

namespace {

/// Random race-free scalar code over buffers and global memory, in i32. Box and buffers are tiny, so that edges are common.
class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  std::string kernel() {
    text = "tile.kernel @k(%in: !tile.ptr<i32>, %out: !tile.ptr<i32>, %n: i32) {\n";
    for (int c = -2; c < 12; ++c)
      text += "  %c" + name(c) + " = arith.constant " + std::to_string(c) + " : i32\n";
    text += "  %one = arith.constant 1 : i64\n  %cols = arith.constant 16 : i64\n  %size = arith.constant 64 : i64\n"
            "  %rin = tile.root %in[%cols, %cols] strides [%cols, %one] : !tile.ptr<i32> -> !tile.root<2xi32>\n"
            "  %rout = tile.root %out[%cols, %cols] strides [%cols, %one] : !tile.ptr<i32> -> !tile.root<2xi32>\n"
            "  %n64 = arith.extsi %n : i32 to i64\n";
    for (int b = 0; b < 3; ++b) {
      shapes[b] = {pick(1, 6), pick(1, 6)};
      std::string type = tile(b), buffer = bufferType(b);
      line("%b" + std::to_string(b) + " = tile.alloc : " + buffer);
      std::string view = fresh(), value = fresh();
      line(view +
           " = tile.view %rin[%n64, %one] dims [0, 1] dilations [%one, %one] limits [] : !tile.root<2xi32> -> !tile.view<" +
           extents(b) + "xi32>");
      line(value + " = tile.load " + view + " : !tile.view<" + extents(b) + "xi32> -> " + type);
      line("tile.buffer_store %b" + std::to_string(b) + ", " + value + " : " + buffer + ", " + type);
    }
    for (int s = 0; s < 4; ++s)
      statement(2);
    for (int b = 0; b < 3; ++b) { // what is left in the buffers counts too
      std::string value = fresh(), view = fresh(), at = fresh();
      line(at + " = arith.constant " + std::to_string(5 * b) + " : i64");
      line(value + " = tile.buffer_load %b" + std::to_string(b) + " : " + bufferType(b) + " -> " + tile(b));
      line(view + " = tile.view %rout[" + at +
           ", %one] dims [1, 0] dilations [%one, %one] limits [] : !tile.root<2xi32> -> !tile.view<" + extents(b) + "xi32>");
      line("tile.store " + view + ", " + value + " : !tile.view<" + extents(b) + "xi32>, " + tile(b));
    }
    return text + "  tile.return\n}\n";
  }

private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  static std::string name(int c) { return c < 0 ? "m" + std::to_string(-c) : std::to_string(c); }
  std::string fresh() { return "%v" + std::to_string(count++); }
  void line(const std::string &s) { text += "  " + s + "\n"; }
  std::string op(const std::string &s) {
    std::string v = fresh();
    line(v + " = " + s);
    return v;
  }
  std::string extents(int b) { return std::to_string(shapes[b][0]) + "x" + std::to_string(shapes[b][1]); }
  std::string tile(int b) { return "tensor<" + extents(b) + "xi32>"; }
  std::string bufferType(int b) { return "!tile.buffer<" + extents(b) + "xi32, shared>"; }
  std::string constant(int low, int high) { return "%c" + name(pick(low, high)); }

  void statement(int depth) {
    int kind = depth ? pick(0, 9) : 9;
    if (kind == 0) {
      std::string condition = op("arith.cmpi slt, %n, " + constant(0, 3) + " : i32");
      line("scf.if " + condition + " {");
      statement(depth - 1);
      line("} else {");
      statement(depth - 1);
      line("}");
    } else if (kind == 1) {
      line("scf.for " + fresh() + " = %c0 to " + constant(0, 3) + " step %c1 : i32 {");
      statement(depth - 1);
      statement(depth - 1);
      line("}");
    } else {
      parallel();
    }
  }

  /// Reads any buffer at places near the loop variables, but the one it writes only where it writes.
  void parallel() {
    target = pick(0, 2);
    swapped = chance(30);
    int rows = shapes[target][swapped], columns = shapes[target][!swapped];
    i = fresh(), j = fresh();
    line("tile.parallel(%c" + std::to_string(rows) + ", %c" + std::to_string(columns) + ") {");
    line("^bb0(" + i + ": i32, " + j + ": i32):");
    values = {i, j, "%n", constant(-2, 11)};
    storeGlobal = chance(40);
    row = chance(50) ? "%c0" : "%n";
    for (int s = pick(1, 5); s > 0; --s)
      scalar(2);
    line("} : i32, i32");
  }

  std::string value() { return values[pick(std::max<int>(0, values.size() - 6), values.size() - 1)]; }
  std::string index() {
    std::string base = chance(40) ? i : chance(60) ? j : chance(50) ? "%n" : constant(-2, 5);
    return chance(60) ? base : op("arith.addi " + base + ", " + constant(-2, 3) + " overflow<nsw> : i32");
  }

  void scalar(int depth) {
    size_t scope = values.size();
    switch (pick(0, depth ? 8 : 6)) {
    case 0: {
      int b = pick(0, 2);
      bool own = b == target;
      std::string first = own ? (swapped ? j : i) : index(), second = own ? (swapped ? i : j) : index();
      values.push_back(op("tile.element_load %b" + std::to_string(b) + "[" + first + ", " + second + "] : " + bufferType(b) +
                          ", i32, i32 -> i32"));
      break;
    }
    case 1: {
      std::string a = op("arith.extsi " + index() + " : i32 to i64"), b = op("arith.extsi " + index() + " : i32 to i64");
      std::string view =
          op("tile.view %rin[" + a + ", " + b + "] dims [] dilations [] limits [] : !tile.root<2xi32> -> !tile.view<i32>");
      values.push_back(op("tile.load " + view + " : !tile.view<i32> -> i32"));
      break;
    }
    case 2:
    case 3: {
      static const char *const ops[] = {"arith.addi",  "arith.muli",     "arith.subi",    "arith.xori",
                                        "arith.maxsi", "tile.div floor", "tile.rem floor"};
      std::string x = value(), y = value();
      values.push_back(op(std::string(ops[pick(0, 6)]) + " " + x + ", " + y + " : i32"));
      break;
    }
    case 4:
    case 5: {
      std::string first = swapped ? j : i, second = swapped ? i : j;
      line("tile.element_store %b" + std::to_string(target) + "[" + first + ", " + second + "], " + value() + " : " +
           bufferType(target) + ", (i32, i32), i32");
      break;
    }
    case 6: {
      if (!storeGlobal)
        break;
      std::string r = op("arith.muli " + i + ", %c2 overflow<nsw> : i32"),
                  s = op("arith.addi " + r + ", " + row + " overflow<nsw> : i32");
      std::string a = op("arith.extsi " + s + " : i32 to i64"), b = op("arith.extsi " + j + " : i32 to i64");
      std::string view =
          op("tile.view %rout[" + a + ", " + b + "] dims [] dilations [] limits [] : !tile.root<2xi32> -> !tile.view<i32>");
      line("tile.store " + view + ", " + value() + " : !tile.view<i32>, i32");
      break;
    }
    case 7: {
      std::string condition = op("arith.cmpi sle, " + value() + ", " + value() + " : i32"), result = fresh();
      line(result + " = scf.if " + condition + " -> i32 {");
      scalar(depth - 1);
      line("scf.yield " + value() + " : i32");
      values.resize(scope);
      line("} else {");
      scalar(depth - 1);
      line("scf.yield " + value() + " : i32");
      values.resize(scope);
      line("}");
      values.push_back(result);
      break;
    }
    case 8: {
      std::string result = fresh(), k = fresh(), sum = fresh(), init = value();
      line(result + " = scf.for " + k + " = %c0 to " + constant(0, 3) + " step %c1 iter_args(" + sum + " = " + init +
           ") -> (i32) : i32 {");
      values.push_back(k);
      values.push_back(sum);
      scalar(depth - 1);
      line("scf.yield " + value() + " : i32");
      line("}");
      values.resize(scope);
      values.push_back(result);
      break;
    }
    }
  }

  std::mt19937 random;
  std::string text, i, j, row;
  std::vector<std::string> values;
  std::array<std::array<int, 2>, 3> shapes;
  int count = 0, target = 0;
  bool swapped = false, storeGlobal = false;
};

std::vector<int> runOracle(tile::KernelOp kernel, std::vector<int> &in, int n) {
  std::vector<int> out(16 * 16, -7);
  runKernel(kernel, {1, 1, 1}, {slot(in), slot(out), uint64_t(n)});
  return out;
}

TEST(ScalarCode, TilesComputeTheSameBits) {
  std::mt19937 random(1);
  std::vector<int> in(16 * 16);
  int before = 0, after = 0, buffers = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    for (int &x : in)
      x = int(random() % 17) - 8;
    std::string text = Generator(seed).kernel();
    Program program(text);
    tile::KernelOp kernel = program.kernel();
    kernel.walk([&](tile::ParallelOp) { ++before; });
    std::vector<int> expected[] = {runOracle(kernel, in, 0), runOracle(kernel, in, 2)};
    PassManager pm(kernel->getContext(), tile::KernelOp::getOperationName());
    pm.addPass(createParallelToTiles());
    ASSERT_TRUE(succeeded(pm.run(kernel))) << text;
    EXPECT_EQ(runOracle(kernel, in, 0), expected[0]) << text;
    EXPECT_EQ(runOracle(kernel, in, 2), expected[1]) << text;
    pm.addPass(createPromoteBuffers());
    ASSERT_TRUE(succeeded(pm.run(kernel))) << text;
    EXPECT_EQ(runOracle(kernel, in, 0), expected[0]) << text;
    EXPECT_EQ(runOracle(kernel, in, 2), expected[1]) << text;
    if (HasFailure())
      return;
    kernel.walk([&](tile::ParallelOp) { ++after; });
    kernel.walk([&](tile::AllocOp) { ++buffers; });
  }
  EXPECT_LT(after, before / 3) << "of "
                               << before; // the passes must have had something to do; boxes larger than a buffer they read stay
  EXPECT_LT(buffers, 400 * 2);
  EXPECT_GT(buffers, 0);
}

} // namespace
