#include "compiler/targets/cuda/ptx/emit_layout.h"
#include "compiler/block/forms/memory.h"
#include "tests/unit/layout/random_layout.h"
#include <gtest/gtest.h>

using namespace tilery;
using namespace tilery::layout;

namespace {
// On constants the builder computes what it emits.
void expectCode(const Layout &layout) {
  llvm::LLVMContext context;
  llvm::IRBuilder<> b(context);
  forEachPlace(layout, [&](llvm::ArrayRef<Layout::Place> place) {
    llvm::SmallVector<std::pair<Axis, llvm::Value *>, 4> numbers;
    for (auto [axis, number] : place)
      numbers.push_back({axis, b.getInt32(number)});
    Layout::Vector expected = layout.at(place);
    auto emitted = cuda::emitLayout(b, layout, numbers);
    for (unsigned d = 0; d < expected.size(); ++d) {
      ASSERT_EQ(emitted[d], cuda::emitCoordinate(b, layout, d, numbers));
      ASSERT_EQ(int64_t(llvm::cast<llvm::ConstantInt>(emitted[d])->getZExtValue()), expected[d]) << layout.print();
    }
  });
}
} // namespace

TEST(EmitLayout, ComputesTheLayout) {
  RandomLayouts random(21);
  const Axis hardware[] = {Register, Lane, Warp};
  for (int i = 0; i < 200; ++i) {
    auto tile = random.tile();
    if (tile[0].extent * (tile.size() > 1 ? tile[1].extent : 1) > 1)
      expectCode(random.bijection(tile, hardware, random.upTo(1)));
  }
  for (int i = 0; i < 300; ++i) {
    Layout layout = random.any({{dim(0), 64}, {dim(1), 20}}, hardware);
    if (!layout.inputs().empty())
      expectCode(layout);
  }
  expectCode(copyBoxes(64, 320, 2, Swizzle::B128));
  expectCode(*invert(copyBoxes(64, 320, 2, Swizzle::B128)));
}
