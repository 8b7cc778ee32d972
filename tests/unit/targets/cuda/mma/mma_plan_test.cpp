#include "compiler/targets/cuda/mma/mma_plan.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace tilery;
using namespace tilery::cuda;

namespace {
/// The plan of one dot (m x k) * (k x n) of the types.
class Product {
public:
  Product(int64_t m, int64_t n, int64_t k, const char *operand, const char *sum, const char *attributes = "",
          unsigned stages = 8) {
    context.loadDialect<tile::TileDialect, arith::ArithDialect>();
    auto type = [](int64_t x, int64_t y, const char *element) {
      return "tensor<" + std::to_string(x) + "x" + std::to_string(y) + "x" + element + ">";
    };
    std::string a = type(m, k, operand), b = type(k, n, operand), c = type(m, n, sum);
    std::string text = "module { tile.kernel @f() { %a = ub.poison : " + a + "\n %b = ub.poison : " + b +
                       "\n %c = ub.poison : " + c + "\n %d = tile.dot %a, %b, %c " + attributes + " : " + a + ", " + b + " -> " +
                       c + "\n tile.return } }";
    context.loadDialect<ub::UBDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    module->walk(
        [&](tile::DotOp dot) { plan = planMma(dot, threads = mmaThreads(*module->getOps<tile::KernelOp>().begin()), stages); });
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  unsigned threads = 0;
  MmaPlan plan;
};
} // namespace

TEST(MmaPlan, ChoosesTheInstructionOfTheTypes) {
  EXPECT_EQ(Product(64, 64, 64, "f16", "f32").plan.form.kind, MmaForm::F16);
  EXPECT_EQ(Product(64, 64, 64, "bf16", "f32").plan.form.kind, MmaForm::BF16);
  EXPECT_EQ(Product(64, 64, 64, "f8E5M2", "f32").plan.form.kind, MmaForm::F16);
  EXPECT_EQ(Product(64, 64, 64, "f32", "f32").plan.form.kind, MmaForm::FusedF32);
  EXPECT_EQ(Product(64, 64, 64, "f32", "f32", "{precision = 1 : i32}").plan.form.kind, MmaForm::TF32);
  EXPECT_EQ(Product(64, 64, 64, "f64", "f64").plan.form.kind, MmaForm::F64);
  EXPECT_EQ(Product(64, 64, 64, "i8", "i32").plan.form.kind, MmaForm::I8);
  EXPECT_EQ(Product(64, 64, 64, "i8", "i64").plan.form.kind, MmaForm::FusedI64);
}

TEST(MmaPlan, CoversTheResultWithinTheRegisters) {
  for (int64_t m : {1, 17, 64, 128, 512})
    for (int64_t n : {1, 24, 160, 256, 1024})
      for (const char *type : {"f16", "f64"}) {
        Product product(m, n, 48, type, type[1] == '6' ? "f64" : "f32");
        const MmaPlan &plan = product.plan;
        EXPECT_GE(plan.passesM() * plan.passRows, m);
        EXPECT_GE(plan.passesN() * plan.passColumns, n);
        EXPECT_LE(plan.passRows, plan.a.paddedRows);
        EXPECT_LE(plan.passColumns, plan.b.paddedRows);
        EXPECT_LE(plan.warpRows * plan.warpColumns * 32, product.threads);
        EXPECT_LE(4 * plan.tilesM * plan.tilesN * plan.form.elementBytes(), type[1] == '6' ? 512u : 256u); // 128 registers
        EXPECT_LE(plan.stageBytes(), 64 * 1024);
      }
}

TEST(MmaPlan, StagesCoverTheDepth) {
  for (int64_t k : {1, 16, 40, 64, 200, 4096}) {
    Product product(64, 64, k, "f16", "f32");
    EXPECT_GE(product.plan.chunks * product.plan.a.k, k);
    EXPECT_LT(product.plan.chunks * product.plan.a.k - k, 16);
    EXPECT_LE(product.plan.stages, product.plan.chunks);
  }
  EXPECT_EQ(Product(64, 64, 4096, "f16", "f32", "", 2).plan.stages, 2u);
}

TEST(MmaPlan, LanesLoadFromDifferentBanks) {
  for (int64_t size : {16, 32, 40, 64, 128, 160}) {
    MmaOperand rows; // ldmatrix: eight rows of 16 bytes
    rows.k = size, rows.paddedRows = 64, rows.elementBytes = 2;
    std::set<int64_t> banks;
    for (int64_t row = 0; row < 8; ++row)
      banks.insert(row * rows.stride() / 16 % 8);
    EXPECT_EQ(banks.size(), 8u) << size;
    MmaOperand single; // eight elements of four rows of k
    single.kMajor = single.lanesAlongK = false;
    single.k = 16, single.paddedRows = size, single.elementBytes = 4;
    banks.clear();
    for (int64_t lane = 0; lane < 32; ++lane)
      banks.insert((lane % 4 * single.stride() / 4 + lane / 4) % 32);
    EXPECT_EQ(banks.size(), 32u) << size;
  }
}
