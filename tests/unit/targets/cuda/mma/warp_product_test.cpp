// Products of warps, on both block machines: every form, factors in either major, loads of two tiles and of one.
#include "compiler/targets/cuda/mma/warp_product.h"
#include "compiler/block/forms/fragments.h"
#include "compiler/targets/cuda/mma/mma_plan.h"
#include "tests/unit/targets/cuda/hand_made.h"
#include <bit>
#include <random>

using namespace tilery;
using namespace tilery::test;
using cuda::MmaForm;
using cuda::MmaOperand;

namespace {
constexpr unsigned placeA = 0, placeB = 24 << 10, barrierAt = 60 << 10;

/// The bits of -2 to 2.
uint64_t bitsOf(MmaForm::Kind kind, int value) {
  uint32_t single = std::bit_cast<uint32_t>(float(value));
  switch (kind) {
  case MmaForm::F16:
    return (std::abs(value) == 2 ? 0x4000 : value ? 0x3c00 : 0) | (value < 0 ? 0x8000 : 0);
  case MmaForm::BF16:
    return single >> 16;
  case MmaForm::F64:
    return std::bit_cast<uint64_t>(double(value));
  case MmaForm::TF32:
  case MmaForm::FusedF32:
    return single;
  default:
    return uint64_t(value);
  }
}

/// 32 rows by columns that two warps share: two rows of tiles of each, and `columns` of them side by side.
struct Product {
  MmaForm form;
  bool acrossA, acrossB; // rows of memory are k
  unsigned columns;

  int64_t m() const { return 32; }
  int64_t n() const { return 16 * columns; }
  int64_t k() const { return 2 * form.depth(); }
  MmaOperand factor(bool isA) const {
    MmaOperand result;
    result.kMajor = !(isA ? acrossA : acrossB);
    result.paddedRows = isA ? m() : n(), result.k = k(), result.elementBytes = form.elementBytes();
    return result;
  }
  layout::Layout tiles() const {
    layout::Layout result({{layout::dim(0), 2}, {layout::dim(1), 2 * columns}});
    result.add(layout::Register, columns, {0, 1}).add(layout::Register, 2, {1, 0});
    return result.add(layout::Warp, 2, {0, columns});
  }
  HandMade kernel() const {
    Product p = *this;
    return {[p](Code &c) {
              c.makeBarrier(barrierAt, 1);
              unsigned bytesA = p.factor(true).bytes(), bytesB = p.factor(false).bytes();
              c.fetch(barrierAt, bytesA + bytesB, [&] {
                c.m.loadBytes(c.e, c.shared(placeA), c.global(0, c.i32(0)), c.i32(bytesA), c.shared(barrierAt));
                c.m.loadBytes(c.e, c.shared(placeB), c.global(0, c.i32(placeB)), c.i32(bytesB), c.shared(barrierAt));
              });
              c.m.waitBarrier(c.e, c.shared(barrierAt), c.i32(0));
              layout::Layout tiles = p.tiles();
              cuda::WarpProduct product(c.e, c.m, p.form, tiles, c.b.CreateAnd(c.thread, 31), c.b.CreateLShr(c.thread, 5));
              ASSERT_TRUE(product.read(true, p.factor(true).layout(), c.shared(placeA)));
              ASSERT_TRUE(product.read(false, p.factor(false).layout(), c.shared(placeB)));
              bool wide = p.form.elementBytes() == 8, integer = p.isInteger();
              llvm::Type *type = integer ? c.b.getIntNTy(wide ? 64 : 32) : wide ? c.b.getDoubleTy() : c.b.getFloatTy();
              llvm::SmallVector<llvm::Value *> sums(8 * p.columns, llvm::Constant::getNullValue(type));
              ASSERT_TRUE(product.emit(2, sums));
              for (auto [i, sum] : llvm::enumerate(sums))
                c.put(c.b.CreateAdd(c.times(c.thread, sums.size()), c.i32(i)),
                      integer ? c.b.CreateTrunc(sum, c.b.getInt32Ty())
                              : c.b.CreateFPToSI(c.b.CreateFPTrunc(sum, c.b.getFloatTy()), c.b.getInt32Ty()));
            },
            64};
  }
  bool isInteger() const { return llvm::is_contained({MmaForm::I8, MmaForm::FusedI32, MmaForm::FusedI64}, form.kind); }

  void check() const {
    std::mt19937 random(7);
    std::vector<int> a(m() * k()), b(n() * k());
    alignas(16) static char memory[48 << 10];
    std::memset(memory, 0x77, sizeof memory); // what lies between rows is no number that a sum hides
    auto fill = [&](std::vector<int> &values, bool isA) {
      layout::Layout places = factor(isA).layout();
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = int(random() % 5) - 2;
        uint64_t bits = bitsOf(form.kind, values[i]);
        int64_t at = places.at({{layout::dim(0), int64_t(i) / k()}, {layout::dim(1), int64_t(i) % k()}})[0];
        std::memcpy(memory + (isA ? placeA : placeB) + at * form.elementBytes(), &bits, form.elementBytes());
      }
    };
    fill(a, true), fill(b, false);
    alignas(16) int32_t out[64 * 32];
    layout::Layout sums = layout::product(layout::mmaAccumulator(), tiles());
    llvm::SmallVector<const char *> instructions;
    if (!form.fused())
      instructions.push_back("mma.sync");
    expectRight(kernel(), instructions, memory, out, [&] {
      for (int64_t thread = 0; thread < 64; ++thread)
        for (int64_t r = 0; r < 8 * columns; ++r) {
          auto at = sums.at({{layout::Register, r}, {layout::Lane, thread % 32}, {layout::Warp, thread / 32}});
          int want = 0;
          for (int64_t i = 0; i < k(); ++i)
            want += a[at[0] * k() + i] * b[at[1] * k() + i];
          ASSERT_EQ(out[thread * 8 * columns + r], want) << at[0] << ", " << at[1];
        }
    });
  }
};
} // namespace

TEST(WarpProduct, EveryFormReadsFactorsInEitherMajor) {
  for (int kind = MmaForm::F16; kind <= MmaForm::FusedI64; ++kind)
    for (bool acrossA : {false, true})
      for (bool acrossB : {false, true}) {
        SCOPED_TRACE(MmaForm{MmaForm::Kind(kind)}.name() + std::string(acrossA ? " a across" : "") +
                     (acrossB ? " b across" : ""));
        if (MmaForm::Kind(kind) == MmaForm::I8 && (acrossA || acrossB))
          continue;
        Product{{MmaForm::Kind(kind)}, acrossA, acrossB, acrossA ? 3u : 2u}.check();
      }
}

TEST(WarpProduct, NoLoadTurnsBytes) {
  Product bytes{{MmaForm::I8}, true, true, 2};
  HandMade kernel{[&](Code &c) {
                    layout::Layout tiles = bytes.tiles();
                    cuda::WarpProduct product(c.e, c.m, bytes.form, tiles, c.thread, c.thread);
                    EXPECT_FALSE(product.read(true, bytes.factor(true).layout(), c.shared(placeA)));
                    EXPECT_FALSE(product.read(false, bytes.factor(false).layout(), c.shared(placeB)));
                  },
                  32};
  EXPECT_EQ(kernel.run(nullptr, nullptr, Timing::CopiesLate), "");
}
