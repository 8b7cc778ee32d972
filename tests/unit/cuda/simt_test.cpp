// The GPU's general code, its threads as fibers.
#include "../cpu/run_kernel.h"
#include "tests/fuzz/block_emulator.h"
#include "tilery/diagnostic.h"

using namespace tilery;
using namespace tilery::test;

namespace {
void run(const std::string &text, std::array<uint32_t, 3> grid, std::vector<uint64_t> slots) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  ASSERT_TRUE(module);
  std::string unsupported;
  EXPECT_EQ(fuzz::runBlocks(*module, false, grid.data(), slots.data(), unsupported), "");
  EXPECT_EQ(unsupported, "");
}

std::string threads(const std::string &body) {
  return R"(
tile.kernel @k(%out: !tile.ptr<i32>) {
  %buffer = tile.alloc : !tile.buffer<64xi32, shared>
  tile.threads 64 {
  ^bb0(%t: i32):
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c10 = arith.constant 10 : i32
    %c63 = arith.constant 63 : i32
    tile.element_store %buffer[%t], %t : !tile.buffer<64xi32, shared>, (i32), i32
    tile.sync
    %mirror = arith.subi %c63, %t : i32
    %x = tile.element_load %buffer[%mirror] : !tile.buffer<64xi32, shared>, i32 -> i32
    %low = arith.cmpi slt, %t, %c10 : i32
)" + body +
         R"(
    %p = tile.add_ptr %out, %t : !tile.ptr<i32>, i32
    %a = tile.pointer_access %p : !tile.ptr<i32> -> !tile.access<i32>
    tile.store %a, %r : !tile.access<i32>, i32
    tile.yield
  }
  tile.return
})";
}

void expectOfThreads(const std::string &body, llvm::function_ref<int(int)> expected) {
  std::vector<int32_t> out(64, -7);
  run(threads(body), {1, 1, 1}, {slot(out.data())});
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], expected(t)) << body << " thread " << t;
}
} // namespace

TEST(Simt, ShufflesOfThreads) {
  expectOfThreads("%r = tile.shuffle down %x, %c1 : i32 -> i32", [](int t) { return t % 32 == 31 ? 63 - t : 62 - t; });
  expectOfThreads("%r = tile.shuffle up %x, %c3 {width = 8} : i32 -> i32", [](int t) { return t % 8 < 3 ? 63 - t : 66 - t; });
  expectOfThreads("%r = tile.shuffle xor %x, %c3 {width = 16} : i32 -> i32", [](int t) { return 63 - (t ^ 3); });
  expectOfThreads("%r = tile.shuffle idx %x, %c3 {width = 4} : i32 -> i32", [](int t) { return 63 - (t / 4 * 4 + 3); });
  expectOfThreads("%r = tile.shuffle idx %x, %c10 {width = 4} : i32 -> i32", [](int t) { return 63 - t; });
}

TEST(Simt, VotesOfThreads) {
  expectOfThreads("%r = tile.vote count %low {width = 0} -> i32", [](int) { return 10; });
  expectOfThreads("%r = tile.vote ballot %low {width = 0} -> i32", [](int) { return 1023; });
  expectOfThreads("%r = tile.vote count %low {width = 4} -> i32", [](int t) { return t < 8 ? 4 : t < 12 ? 2 : 0; });
  expectOfThreads("%r = tile.vote ballot %low {width = 8} -> i32", [](int t) { return t < 8 ? 255 : t < 16 ? 3 : 0; });
  expectOfThreads("%v = tile.vote any %low -> i1\n%r = arith.extui %v : i1 to i32", [](int t) { return t < 32; });
  expectOfThreads("%v = tile.vote all %low {width = 2} -> i1\n%r = arith.extui %v : i1 to i32", [](int t) { return t < 10; });
}

TEST(Simt, PrintsAndAssertions) {
  std::string text = R"(
tile.kernel @k(%out: !tile.ptr<i32>) {
  %p = tile.program_id 0
  %i = tile.range 0 to 3 : tensor<3xi32>
  %ps = tile.splat %p : i32 -> tensor<3xi32>
  %x = arith.addi %i, %ps : tensor<3xi32>
  tile.print "x: ", %x, %p : tensor<3xi32>, i32 {is_signed = array<i1: true, true>}
  %six = arith.constant dense<6> : tensor<3xi32>
  %fine = arith.cmpi slt, %x, %six : tensor<3xi32>
  tile.assert %fine, "too large" : tensor<3xi1>
  %a = tile.add_ptr %out, %p : !tile.ptr<i32>, i32
  %place = tile.pointer_access %a : !tile.ptr<i32> -> !tile.access<i32>
  tile.store %place, %p : !tile.access<i32>, i32
  tile.return
})";
  std::vector<int32_t> out(7, -7);
  testing::internal::CaptureStdout();
  std::string message;
  try {
    run(text, {7, 1, 1}, {slot(out.data())});
  } catch (const Error &error) {
    message = error.what();
  }
  std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_NE(message.find("too large (program (4, 0, 0) of k)"), std::string::npos)
      << message; // the first, though the last one ran first
  EXPECT_EQ(out, (std::vector<int32_t>{0, 1, 2, 3, -7, -7, -7}));
  EXPECT_EQ(printed.substr(0, printed.find("pid (1")), "pid (0, 0, 0) idx (0) x: (operand 0) 0\n"
                                                       "pid (0, 0, 0) idx (1) x: (operand 0) 1\n"
                                                       "pid (0, 0, 0) idx (2) x: (operand 0) 2\n"
                                                       "pid (0, 0, 0) idx () x: (operand 1) 0\n");
  EXPECT_EQ(llvm::count(printed, '\n'), 28);
}
