// Which memory accesses may touch, and which of them meet.
#include "compiler/lower/aliasing.h"
#include "tests/unit/lower/loads_kernel.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::test;
using lower::MemoryClass;

namespace {
struct AliasingTest : KernelOfLoads {};
enum Place { AX, Same, Next, Overlapping, Rows, AM, AY };
} // namespace

TEST_F(AliasingTest, ClassesOfMemory) {
  MemoryClass x = lower::classOfPlace(place(AX)), y = lower::classOfPlace(place(AY));
  EXPECT_EQ(x.kind, MemoryClass::Argument);
  EXPECT_NE(x.which, y.which);
  EXPECT_EQ(lower::classOfPlace(place(AM)).which, x.which) << "a pointer that was moved stays in its argument";
  MemoryClass unknown{MemoryClass::Unknown}, buffer{MemoryClass::Buffer, &x}, other{MemoryClass::Buffer, &y},
      some{MemoryClass::Buffer, nullptr};
  for (bool disjoint : {false, true}) {
    EXPECT_TRUE(lower::mayAlias(x, x, disjoint));
    EXPECT_EQ(lower::mayAlias(x, y, disjoint), !disjoint);
    EXPECT_TRUE(lower::mayAlias(unknown, x, disjoint) && lower::mayAlias(x, unknown, disjoint));
    EXPECT_FALSE(lower::mayAlias(buffer, x, disjoint) || lower::mayAlias(unknown, buffer, disjoint));
    EXPECT_FALSE(lower::mayAlias(buffer, other, disjoint));
    EXPECT_TRUE(lower::mayAlias(buffer, buffer, disjoint) && lower::mayAlias(buffer, some, disjoint));
  }
}

TEST_F(AliasingTest, SamePatterns) {
  EXPECT_TRUE(lower::samePattern(place(AX), place(AX)));
  EXPECT_TRUE(lower::samePattern(place(AX), place(Same))); // bounds only leave elements out
  EXPECT_FALSE(lower::samePattern(place(AX), place(Next)));
  EXPECT_FALSE(lower::samePattern(place(AX), place(AY)));
  EXPECT_FALSE(lower::samePattern(place(Overlapping), place(Overlapping))) << "rows that lie over each other share addresses";
  EXPECT_TRUE(lower::samePattern(place(Rows), place(Rows)));
}

TEST(Aliasing, OfLoadsAndWrites) {
  auto module = parseSourceString<ModuleOp>(R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %buffer = tile.alloc : !tile.buffer<64xf32, shared>
  %ax = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %next = tile.access %x, %one steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %a = tile.load %ax : !tile.access<64xf32> -> tensor<64xf32>
  tile.buffer_store %buffer, %a : !tile.buffer<64xf32, shared>, tensor<64xf32>
  %b = tile.buffer_load %buffer : !tile.buffer<64xf32, shared> -> tensor<64xf32>
  tile.store %ax, %b : !tile.access<64xf32>, tensor<64xf32>
  tile.store %next, %b : !tile.access<64xf32>, tensor<64xf32>
  tile.return
})",
                                            &context());
  ASSERT_TRUE(module);
  SmallVector<Operation *> loads, writes;
  module->walk([&](Operation *op) {
    MemoryClass written;
    if (lower::isLoad(op))
      loads.push_back(op);
    else if (lower::classOfWrite(op, written))
      writes.push_back(op);
  });
  ASSERT_EQ(loads.size(), 2u);  // of the argument, of the buffer
  ASSERT_EQ(writes.size(), 3u); // the buffer, the same elements of the argument, others
  for (auto [i, load] : llvm::enumerate(loads))
    for (auto [j, write] : llvm::enumerate(writes)) {
      MemoryClass written;
      ASSERT_TRUE(lower::classOfWrite(write, written));
      bool sameMemory = (i == 0) == (j > 0);
      EXPECT_EQ(lower::mayAlias(lower::classOfLoad(load), written, true), sameMemory) << i << " " << j;
      EXPECT_EQ(lower::sameElements(load, write), sameMemory && j < 2) << i << " " << j;
    }
  EXPECT_FALSE(lower::isLoad(nullptr));
}
