#include "compiler/targets/cuda/block/box_maps.h"
#include "compiler/block/recognise/map_boxes.h"
#include "tests/unit/block/access_kernel.h"
#include <gtest/gtest.h>

using namespace tilery;
using namespace tilery::cuda;

TEST(BoxMaps, TellTheHostOfATensorAndItsConditions) {
  AccessKernel kernel(R"(
    %count = tile.num_programs 2
    %counts = arith.extsi %count : i32 to i64
    %area = arith.muli %counts, %s overflow<nsw> : i64
    %b = arith.muli %z, %area overflow<nsw> : i64
    %there = arith.addi %at, %b overflow<nsw> : i64
    %offset = arith.addi %there, %c64 overflow<nsw> : i64
    %a = tile.access %p, %offset steps(%s, %c1) bounds [1, 0](%c0, %rows) : <bf16>, (i64, i64), (i64, i64) -> <128x64xbf16>)");
  ASSERT_TRUE(kernel.module);
  std::string why;
  std::optional<block::MappedTile> tile = block::mapTile(kernel.access(), why);
  ASSERT_TRUE(tile) << why;
  kernel.module->getContext()->loadDialect<block::BlockDialect>();
  GpuInfo info;
  mlir::OpBuilder builder(kernel.access());
  auto same = [](mlir::Value atom) { return atom; };
  for (int64_t rows : {128, 64}) {
    tile->extents[1] = rows;
    block::placeConditions(builder, builder.getUnknownLoc(), tile->box);
    placeMap(builder, builder.getUnknownLoc(), *tile, same);
  }
  for (mlir::Operation &op : *builder.getBlock())
    if (auto map = llvm::dyn_cast<block::MapOp>(op))
      describeMap(map, info);
    else if (auto require = llvm::dyn_cast<block::RequireOp>(op))
      describeCondition(require, info);
  ASSERT_EQ(info.maps.size(), 2u);
  const TensorMapInfo &map = info.maps[0];
  EXPECT_EQ(map.slot, 0u);
  EXPECT_EQ(map.offset, PolynomialInfo(64));
  EXPECT_EQ(map.swizzle, 128u);
  ASSERT_EQ(map.dimensions.size(), 3u);
  auto term = [](std::vector<uint32_t> factors) {
    PolynomialInfo result;
    result.terms.push_back({1, std::move(factors)});
    return result;
  };
  EXPECT_EQ(map.dimensions[0], (TensorMapInfo::Dimension{int64_t(1) << 31, 1, 64}));
  EXPECT_EQ(map.dimensions[1], (TensorMapInfo::Dimension{term({2}), term({4}), 128}));
  EXPECT_EQ(map.dimensions[2], (TensorMapInfo::Dimension{int64_t(1) << 31, term({4, PolynomialInfo::gridExtent + 2}), 1}));
  EXPECT_EQ(map.boxBytes(), 64u * 128 * 2);
  EXPECT_EQ(info.maps[1].dimensions[1].box, 64u);
  EXPECT_EQ(info.conditions.size(), 3u); // rows, their stride, the batches' stride: once for both maps
}
