#pragma once
// A kernel with loads of every kind, and what is computed of them.
#include "tests/unit/targets/cpu/run_kernel.h"

namespace tilery::test {

constexpr const char *loadsKernel = R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64, %pp: !tile.ptr<i64>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %ax = tile.access %x, %zero steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %same = tile.access %x, %zero steps(%one) bounds [1] (%zero, %c64) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %next = tile.access %x, %one steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %overlapping = tile.access %x, %zero steps(%one, %one) bounds [0, 1] (%zero, %n) : !tile.ptr<f32>, (i64, i64), (i64, i64) -> !tile.access<4x64xf32>
  %rows = tile.access %x, %zero steps(%c64, %one) bounds [0, 1] (%zero, %n) : !tile.ptr<f32>, (i64, i64), (i64, i64) -> !tile.access<4x64xf32>
  %moved = tile.add_ptr %x, %n : !tile.ptr<f32>, i64
  %am = tile.access %moved, %zero steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %ay = tile.access %y, %zero steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %a = tile.load %ax : !tile.access<64xf32> -> tensor<64xf32>
  %b = tile.load %ay : !tile.access<64xf32> -> tensor<64xf32>
  %sum = arith.addf %a, %b : tensor<64xf32>
  %exp = math.exp %sum : tensor<64xf32>
  %row = tile.expand_dims %exp axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %wide = tile.broadcast %row : tensor<1x64xf32> -> tensor<4x64xf32>
  %turned = tile.permute %wide [1, 0] : tensor<4x64xf32> -> tensor<64x4xf32>
  %apart = tile.access %x, %zero steps(%c64) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %columns = tile.access %x, %zero steps(%one, %c64) bounds [0, 1] (%zero, %n) : !tile.ptr<f32>, (i64, i64), (i64, i64) -> !tile.access<4x64xf32>
  %one_for_all = tile.access %x, %zero steps(%zero) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %i = tile.range 0 to 64 : tensor<64xi32>
  %pointers = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %chosen = tile.add_ptr %pointers, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %ap = tile.pointer_access %chosen : tensor<64x!tile.ptr<f32>> -> <64xf32>
  %ra = tile.load %rows : !tile.access<4x64xf32> -> tensor<4x64xf32>
  %ca = tile.load %columns : !tile.access<4x64xf32> -> tensor<4x64xf32>
  %oa = tile.load %one_for_all : !tile.access<64xf32> -> tensor<64xf32>
  %sa = tile.load %apart : !tile.access<64xf32> -> tensor<64xf32>
  %pa = tile.load %ap : !tile.access<64xf32> -> tensor<64xf32>
  tile.return
})";

struct KernelOfLoads : testing::Test {
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(loadsKernel, &context());
  tile::KernelOp kernel;
  void SetUp() override {
    ASSERT_TRUE(module);
    kernel = *module->getOps<tile::KernelOp>().begin();
  }
  /// The result of the op number `index` of this name.
  mlir::Value result(llvm::StringRef name, unsigned index = 0) {
    for (mlir::Operation &op : kernel.getBody().front())
      if (op.getName().getStringRef() == name && index-- == 0)
        return op.getResult(0);
    ADD_FAILURE() << "no " << name.str();
    return {};
  }
  mlir::Value place(unsigned index) { return result("tile.access", index); }
};

} // namespace tilery::test
