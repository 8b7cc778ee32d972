// The copy engine and shared memory, on both block machines.
#include "tests/unit/targets/cuda/hand_made.h"
#include "compiler/block/forms/memory.h"

using namespace tilery;
using namespace tilery::test;

namespace {
constexpr int64_t barrierAt = 60 << 10;

/// A dense tensor of f32 that starts at its argument's pointer.
TensorMapInfo mapOf(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<uint32_t> box, unsigned swizzle, unsigned argument = 0) {
  TensorMapInfo map;
  map.slot = argument;
  map.dtype = DType::F32;
  map.swizzle = swizzle;
  int64_t stride = 1;
  for (auto [extent, side] : llvm::zip(extents, box)) {
    map.dimensions.push_back({extent, stride, side});
    stride *= (extent + 3) / 4 * 4;
  }
  return map;
}

struct Arrays {
  alignas(128) float in[4096], out[4096];
  Arrays() {
    for (int i = 0; i < 4096; ++i)
      in[i] = float(i + 1), out[i] = -1;
  }
};

/// Copies one box to place 0 and shared memory from there on to the result.
HandMade readBox(TensorMapInfo map, std::vector<int> at, bool waits = true) {
  unsigned bytes = map.boxBytes();
  HandMade kernel{[=](Code &c) {
    c.makeBarrier(barrierAt, 1);
    c.fetch(barrierAt, bytes, [&] {
      c.m.prefetchMap(c.e, c.in.maps[0]);
      llvm::SmallVector<llvm::Value *> coordinates;
      for (int coordinate : at)
        coordinates.push_back(c.i32(coordinate));
      c.m.loadBox(c.e, c.shared(0), c.in.maps[0], coordinates, c.shared(barrierAt));
    });
    if (waits)
      c.m.waitBarrier(c.e, c.shared(barrierAt), c.i32(0));
    for (unsigned first = 0; first < bytes; first += 128 * 4) {
      llvm::Value *offset = c.b.CreateAdd(c.times(c.thread, 4), c.i32(first));
      c.when(c.b.CreateICmpULT(offset, c.i32(bytes)), [&] {
        llvm::Value *value = c.m.loadShared(c.e, c.b.getFloatTy(), c.sharedAt(offset), false);
        c.b.CreateAlignedStore(value, c.global(1, offset), llvm::Align(4));
      });
    }
  }};
  kernel.maps = {map};
  return kernel;
}

/// Threads write shared memory, one stores it as a box of 4 rows of 32.
HandMade writeBox(bool fences, bool waits, bool add, bool overwrites = false) {
  HandMade kernel{[=](Code &c) {
    c.m.storeShared(c.e, c.sharedAt(c.times(c.thread, 4)), c.b.CreateUIToFP(c.thread, c.b.getFloatTy()), false);
    if (fences)
      c.m.fenceProxy(c.e);
    c.m.barrier(c.e);
    c.when(c.is(0), [&] {
      c.m.role(c.e, "storer");
      c.m.storeBox(c.e, c.in.maps[0], {c.i32(16), c.i32(-1)}, c.shared(0), add);
      c.m.commitStores(c.e);
      if (overwrites)
        c.m.storeShared(c.e, c.shared(32), c.i32(0), false);
      if (waits)
        c.m.waitStores(c.e, true, 0);
    });
  }};
  kernel.maps = {mapOf({40, 3}, {32, 4}, 0, 1)};
  return kernel;
}
} // namespace

TEST(MachineCopies, BoxesOfEveryRankLandSwizzled) {
  struct Case {
    std::vector<int64_t> extents;
    std::vector<uint32_t> box;
    std::vector<int> at;
    unsigned swizzle;
    const char *instruction;
  };
  for (const Case &test : {Case{{100}, {64}, {60}, 0, "tensor.1d"}, Case{{40, 20}, {32, 16}, {8, -3}, 128, "tensor.2d"},
                           Case{{40, 9, 5}, {16, 4, 2}, {24, 7, 1}, 64, "tensor.3d"},
                           Case{{16, 3, 4, 5}, {8, 2, 4, 2}, {9, 1, 1, 4}, 32, "tensor.4d"},
                           Case{{8, 3, 3, 3, 3}, {8, 2, 2, 2, 2}, {0, 2, 1, 0, 2}, 0, "tensor.5d"}}) {
    Arrays arrays;
    TensorMapInfo map = mapOf(test.extents, test.box, test.swizzle);
    expectRight(
        readBox(map, test.at), {test.instruction, "prefetch.tensormap", "mbarrier.arrive.expect_tx"}, arrays.in, arrays.out, [&] {
          unsigned rank = test.box.size(), row = test.box[0], rows = map.boxBytes() / 4 / row;
          for (unsigned i = 0; i < rows * row; ++i) {
            unsigned rest = i;
            int64_t place = 0;
            bool inside = true;
            for (unsigned d = 0; d < rank; ++d) {
              int64_t at = test.at[d] + rest % test.box[d];
              rest /= test.box[d];
              inside &= at >= 0 && at < test.extents[d];
              place += at * map.dimensions[d].stride.terms[0].coefficient;
            }
            // bits 4.. of an offset in bytes are flipped by bits 7.., as many as the swizzle has pieces of 16 bytes
            unsigned offset = 4 * i, flips = test.swizzle ? (offset >> 7 & (test.swizzle / 16 - 1)) << 4 : 0;
            ASSERT_EQ(arrays.out[(offset ^ flips) / 4], inside ? arrays.in[place] : 0) << test.instruction << " element " << i;
          }
        });
  }
}

TEST(MachineCopies, ReadingBeforeTheBytesLandIsFound) {
  Arrays arrays;
  TensorMapInfo map = mapOf({40, 20}, {32, 16}, 128);
  expectFault(readBox(map, {0, 0}, false), arrays.in, arrays.out, "and nothing orders the two");
  HandMade moved = readBox(map, {0, 0});
  moved.maps[0].swizzle = 0;
  moved.maps.push_back(map);
  EXPECT_EQ(moved.run(arrays.in, arrays.out, Timing::CopiesLate), "");
  HandMade unaligned{[](Code &c) {
    c.makeBarrier(barrierAt, 1);
    c.fetch(barrierAt, 2048, [&] { c.m.loadBox(c.e, c.shared(512), c.in.maps[0], {c.i32(0), c.i32(0)}, c.shared(barrierAt)); });
  }};
  unaligned.maps = {map};
  expectFault(unaligned, arrays.in, arrays.out, "copies a box at 512 of shared memory, which is no multiple of 1024");
  HandMade unfenced{[](Code &c) {
    c.when(c.is(0), [&] {
      c.m.initBarrier(c.e, c.shared(barrierAt), 1);
      c.m.loadBox(c.e, c.shared(0), c.in.maps[0], {c.i32(0), c.i32(0)}, c.shared(barrierAt));
    });
  }};
  unfenced.maps = {map};
  expectFault(unfenced, arrays.in, arrays.out, "was not fenced after it was made");
  HandMade unasked{[](Code &c) { // bytes that nobody expects: the phase is over before they come
    c.makeBarrier(barrierAt, 1);
    c.when(c.is(0), [&] {
      c.m.arrive(c.e, c.shared(barrierAt));
      c.m.loadBox(c.e, c.shared(0), c.in.maps[0], {c.i32(0), c.i32(0)}, c.shared(barrierAt));
    });
    c.m.waitBarrier(c.e, c.shared(barrierAt), c.i32(0));
    c.m.loadShared(c.e, c.b.getInt32Ty(), c.shared(0), false);
  }};
  unasked.maps = {map};
  expectFault(unasked, arrays.in, arrays.out, "and nothing orders the two");
}

TEST(MachineCopies, StoresNeedAFenceAndAWait) {
  Arrays arrays;
  std::fill(arrays.out, arrays.out + 120, -1.0f);
  expectRight(writeBox(true, true, false),
              {"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group", "fence.proxy.async", "wait_group.read 0"}, arrays.in,
              arrays.out, [&] {
                for (int row = 0; row < 3; ++row)
                  for (int column = 16; column < 40; ++column)
                    ASSERT_EQ(arrays.out[row * 40 + column], float((row + 1) * 32 + column - 16));
                EXPECT_EQ(arrays.out[15], -1);
                EXPECT_EQ(arrays.out[120], -1);
              });
  std::fill(arrays.out, arrays.out + 120, 0.0f);
  float sum = 0;
  expectRight(writeBox(true, true, true), {"cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group"}, arrays.in,
              arrays.out, [&] { EXPECT_EQ(arrays.out[16], sum += 32); });
  expectFault(
      writeBox(false, true, false), arrays.in, arrays.out,
      "storer, thread 0 stores a box from 512 bytes at 0 of shared memory, which storer, thread 0 writes without a proxy fence");
  expectFault(writeBox(true, false, false), arrays.in, arrays.out,
              "storer, thread 0 ends while its stores still read shared memory");
  expectFault(writeBox(true, true, false, true), arrays.in, arrays.out,
              "storer, thread 0 writes 4 bytes at 32 of shared memory, which a store of storer, thread 0 stores a box from");
}

TEST(MachineCopies, BytesGoBothWays) {
  auto kernel = [](unsigned bytes) {
    return HandMade{[bytes](Code &c) {
      c.makeBarrier(barrierAt, 1);
      llvm::Value *count = c.b.CreateTrunc(c.in.arguments[2], c.b.getInt32Ty()); // not known here
      c.when(c.is(0), [&] {
        c.m.expectBytes(c.e, c.shared(barrierAt), count);
        c.m.arrive(c.e, c.shared(barrierAt));
        c.m.loadBytes(c.e, c.shared(256), c.global(0, c.i32(0)), c.i32(bytes), c.shared(barrierAt));
      });
      c.m.waitBarrier(c.e, c.shared(barrierAt), c.i32(0));
      c.when(c.is(0), [&] {
        c.m.storeBytes(c.e, c.global(1, c.i32(64)), c.shared(256), c.i32(bytes));
        c.m.commitStores(c.e);
        c.m.waitStores(c.e, false, 0);
      });
    }};
  };
  Arrays arrays;
  for (Timing timing : {Timing::CopiesAtOnce, Timing::CopiesLate}) {
    ASSERT_EQ(kernel(1024).run(arrays.in, arrays.out, timing, 1024), "");
    EXPECT_EQ(arrays.out[15], -1);
    EXPECT_TRUE(std::equal(arrays.in, arrays.in + 256, arrays.out + 16));
    EXPECT_EQ(arrays.out[272], -1);
  }
  std::string ptx = kernel(1024).ptx();
  EXPECT_EQ(refusalOf(ptx), "");
  for (const char *instruction :
       {"cp.async.bulk.shared::cluster.global.mbarrier", "mbarrier.expect_tx", "cp.async.bulk.global.shared::cta.bulk_group"})
    EXPECT_NE(ptx.find(instruction), std::string::npos) << instruction;
  EXPECT_NE(kernel(24).run(arrays.in, arrays.out, Timing::CopiesLate, 24).find("copies 24 bytes between"), std::string::npos);
  std::string late = kernel(1024).run(arrays.in, arrays.out, Timing::CopiesLate, 2048);
  EXPECT_NE(late.find("(0 arrivals and 1024 bytes are to come)"), std::string::npos) << late;
}

TEST(MachineCopies, MatricesGoThroughSharedMemory) {
  for (bool transposed : {false, true})
    for (unsigned count : {1, 2, 4}) {
      HandMade kernel{[=](Code &c) { // a store and, after a meeting, a load that must undo it: transposed twice, or not at all
                        llvm::SmallVector<llvm::Value *> matrices;
                        for (unsigned i = 0; i < count; ++i)
                          matrices.push_back(c.b.CreateAdd(c.times(c.thread, 65537), c.i32(i << 8)));
                        llvm::Value *row = c.sharedAt(c.times(c.thread, 16));
                        c.m.storeMatrices(c.e, row, matrices, transposed);
                        c.m.barrier(c.e);
                        llvm::SmallVector<llvm::Value *, 4> back = c.m.loadMatrices(c.e, row, count, transposed);
                        for (unsigned i = 0; i < count; ++i)
                          c.put(c.b.CreateAdd(c.thread, c.i32(32 * i)), back[i]);
                        c.put(c.b.CreateAdd(c.thread, c.i32(128)),
                              c.m.loadShared(c.e, c.b.getInt32Ty(), c.sharedAt(c.times(c.thread, 4)), false));
                      },
                      32};
      alignas(16) int32_t out[160];
      std::string x = std::string("x") + char('0' + count) + (transposed ? ".trans" : "");
      std::string store = "stmatrix.sync.aligned.m8n8." + x + ".shared.b16", load = "ldmatrix.sync.aligned.m8n8." + x;
      expectRight(kernel, {store.c_str(), load.c_str()}, nullptr, out, [&] {
        for (unsigned i = 0; i < count; ++i)
          for (unsigned lane = 0; lane < 32; ++lane)
            ASSERT_EQ(out[32 * i + lane], int32_t(lane * 65537 + (i << 8)));
        // Row 1, columns 0 and 1: of lane 4; transposed, the upper half of what lanes 0 and 4 have of their columns.
        EXPECT_EQ(out[128 + 4], transposed ? 0 | 4 << 16 : 4 * 65537);
      });
    }
}

TEST(MachineCopies, BytesOfTwoWordsArePermuted) {
  HandMade kernel{[](Code &c) {
                    llvm::Value *which = c.b.CreateSelect(c.b.CreateICmpULT(c.thread, c.i32(16)), c.i32(0x6420), c.i32(0x3175));
                    c.put(c.thread, c.m.permuteBytes(c.e, c.i32(0x33221100), c.i32(0x77665544), which));
                  },
                  32};
  alignas(16) int32_t out[32];
  expectRight(kernel, {"prmt.b32"}, nullptr, out, [&] {
    for (unsigned thread = 0; thread < 32; ++thread)
      EXPECT_EQ(out[thread], thread < 16 ? 0x66442200 : 0x33117755);
  });
}
