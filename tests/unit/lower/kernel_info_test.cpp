// What a launch is told of a kernel: its slots, and which arguments are written.
#include "compiler/lower/kernel_info.h"
#include "tests/unit/targets/cpu/run_kernel.h"

using namespace tilery;
using namespace tilery::test;

namespace {
KernelInfo describe(const std::string &arguments, const std::string &body) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "tile.kernel @k(" + arguments + ") {\n  %one = arith.constant 1.0 : f32\n" + body + "  tile.return\n}\n", &context());
  EXPECT_TRUE(module);
  auto info = lower::describe(*module->getOps<tile::KernelOp>().begin());
  return mlir::succeeded(info) ? *info : KernelInfo{};
}
const char *storeAtP =
    "  %a = tile.pointer_access %p : !tile.ptr<f32> -> <f32>\n  tile.store %a, %one : !tile.access<f32>, f32\n";
} // namespace

TEST(KernelInfo, NamesTypesAndPointers) {
  KernelInfo info = describe("%x: !tile.ptr<f16> {tile.name = \"input\"}, %n: i32 {tile.name = \"n\"}, %s: f32", "");
  EXPECT_EQ(info.name, "k");
  ASSERT_EQ(info.args.size(), 3u);
  EXPECT_EQ(info.args[0].name, "input");
  EXPECT_EQ(info.args[0].dtype, DType::F16);
  EXPECT_TRUE(info.args[0].pointer);
  EXPECT_EQ(info.args[1].dtype, DType::I32);
  EXPECT_FALSE(info.args[1].pointer);
  EXPECT_EQ(info.args[2].dtype, DType::F32);
}

TEST(KernelInfo, WhatIsStoredThroughIsWritten) {
  const char *two = "%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64";
  KernelInfo info = describe(two, std::string("  %p = tile.add_ptr %y, %n : !tile.ptr<f32>, i64\n") + storeAtP);
  EXPECT_FALSE(info.args[0].written);
  EXPECT_TRUE(info.args[1].written);
  EXPECT_FALSE(describe(two, "").args[1].written);
}

TEST(KernelInfo, AStoreToAnyPlaceMayWriteEveryPointerThatIsNotConst) {
  // The pointer itself comes from memory.
  KernelInfo info = describe("%x: !tile.ptr<f32>, %pp: !tile.ptr<!tile.ptr<f32>>, %n: i64",
                             std::string("  %from = tile.pointer_access %pp : !tile.ptr<!tile.ptr<f32>> -> <!tile.ptr<f32>>\n"
                                         "  %p = tile.load %from : !tile.access<!tile.ptr<f32>> -> !tile.ptr<f32>\n") +
                                 storeAtP);
  EXPECT_TRUE(info.args[0].written && info.args[1].written);
  EXPECT_FALSE(info.args[2].written);
}

TEST(KernelInfo, ProgramsThatNobodyWaitsForMayUpdateAlone) {
  auto updates = [](const std::string &scope, const std::string &more = "") {
    return describe("%p: !tile.ptr<f32>, %go: i1",
                    "  %a = tile.pointer_access %p : !tile.ptr<f32> -> <f32>\n  %r = tile.atomic_rmw fadd %a, %one" + scope +
                        " : !tile.access<f32>, f32 -> f32\n" + more)
        .updates;
  };
  EXPECT_EQ(describe("%p: !tile.ptr<f32>", storeAtP).updates, Updates::None);
  EXPECT_EQ(updates(""), Updates::Alone);
  EXPECT_EQ(updates(" {scope = 2 : i32}"), Updates::Shared) << "others of the system";
  EXPECT_EQ(updates("", "  scf.while : () -> () {\n    scf.condition(%go)\n  } do {\n    scf.yield\n  }\n"), Updates::Shared)
      << "a loop may wait for another program";
}
