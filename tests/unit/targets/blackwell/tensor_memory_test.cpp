// A dry run for sm_100: its form of product and its instructions, as PTX that is looked at and, where ptxas is, assembled. Nothing runs.
#include "tensor_memory_form.h"
#include "compiler/targets/cuda/ptx/emit_layout.h"
#include "tests/unit/block/forms/covers.h"
#include "tests/unit/targets/cuda/hand_made.h"
#include <gtest/gtest.h>

using namespace tilery;
using namespace tilery::layout;
using blackwell::tensorMemoryForm;

namespace {
constexpr unsigned n = 64, k = 64, bytesOfA = 128 * k * 2, barrierAt = 40960, addressAt = 40976;

/// out = a b^T of 128 x 64 in f16, which lie in shared memory as the copy engine leaves them.
void multiply(test::Code &c) {
  auto &m = static_cast<blackwell::TensorMemoryMachine &>(c.m);
  auto &b = c.b;
  auto factor = [&](int64_t rows, int64_t at) {
    uint64_t bits = blackwell::descriptor(*matrixDescriptor(copyBoxes(rows, k, 2, Swizzle::B128), 2));
    llvm::Value *place = b.CreateAnd(b.CreateLShr(c.shared(at), 4), 0x3FFF);
    return b.CreateOr(b.CreateZExt(place, b.getInt64Ty()), b.getInt64(bits));
  };
  c.when(c.below(32), [&] { m.allocate(c.e, c.shared(addressAt), n); });
  m.fence(c.e, true);
  c.makeBarrier(barrierAt, 1);
  m.fence(c.e, false);
  llvm::Value *sums = m.loadShared(c.e, b.getInt32Ty(), c.shared(addressAt), false);
  c.when(c.is(0), [&] {
    for (unsigned step = 0; step < k / 16; ++step) { // 32 bytes of k each
      llvm::Value *further = b.getInt64(step * 32 / 16);
      m.multiply(c.e, sums, b.CreateAdd(factor(128, 0), further), b.CreateAdd(factor(n, bytesOfA), further),
                 blackwell::instructionDescriptor(n), b.getInt1(step));
    }
    m.commit(c.e, c.shared(barrierAt));
  });
  m.waitBarrier(c.e, c.shared(barrierAt), c.i32(0));
  m.fence(c.e, false);
  llvm::Value *warp = b.CreateLShr(c.thread, 5), *lane = b.CreateAnd(c.thread, 31);
  llvm::SmallVector<llvm::Value *> mine = m.take(c.e, b.CreateAdd(sums, b.CreateShl(warp, 16 + 5)), n);
  Layout lies = tensorMemoryForm().sums(n, Rows::InOrder);
  for (unsigned r = 0; r < n; ++r) {
    auto place = cuda::emitLayout(b, lies, {{Register, c.i32(r)}, {Lane, lane}, {Warp, warp}});
    c.put(b.CreateAdd(c.times(place[0], n), place[1]), mine[r]);
  }
  m.barrier(c.e);
  c.when(c.below(32), [&] { m.free(c.e, sums, n); });
}
} // namespace

TEST(TensorMemory, ItsFormDealsEachElementOnce) {
  for (unsigned columns : {16, 48, 256})
    test::expectCovers(tensorMemoryForm().sums(columns, Rows::InOrder), 1);
  for (unsigned bits : {8, 16, 32})
    test::expectCovers(tensorMemoryForm().factor(bits, Rows::InOrder), 1);
}

TEST(TensorMemory, ItsSumsAreNotThoseOfAWarpgroup) { // passes that know only these would convert them
  EXPECT_FALSE(warpgroupForm().orderOfSums(tensorMemoryForm().sums(64, Rows::InOrder)));
  EXPECT_FALSE(tensorMemoryForm().orderOfSums(warpgroupForm().sums(64, Rows::InOrder)));
}

TEST(TensorMemory, ItsCodeIsAssembled) {
  cuda::CudaTarget target;
  target.sm = 100, target.ptx = 86;
  blackwell::TensorMemoryMachine machine(target);
  std::string ptx = test::HandMade{multiply}.ptx(machine, target);
  for (const char *instruction : {"tcgen05.alloc", "tcgen05.mma.cta_group::1.kind::f16", "tcgen05.commit",
                                  "tcgen05.ld.sync.aligned.32x32b.x64", "tcgen05.dealloc"})
    EXPECT_NE(ptx.find(instruction), std::string::npos) << instruction << " in\n" << ptx;
  EXPECT_EQ(test::refusalOf(ptx, target.arch()), "") << ptx;
}
