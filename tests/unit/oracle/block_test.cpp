// Ops of block IR that a plain product does not use.
#include "block_program.h"
#include <numeric>

using namespace tilery;
using namespace tilery::oracle;

namespace {

std::vector<float> counting(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}
/// Right in both modes: `check` is called after each.
template <typename F>
void expectRight(const std::string &text, std::array<uint32_t, 3> grid, std::vector<uint64_t> args, F check) {
  for (bool late : {false, true}) {
    EXPECT_EQ(runBlockProgram(text, grid, args, late).message, "") << "late: " << late;
    check();
  }
}

// Rows through a ring: bulk copies, lanes that threads fetch, a box of a map made on the device.
TEST(OracleBlock, EveryWayToFillASlot) {
  const char *text = R"(
!slot = !block.slot<[16xf32, 4x8xf32, 4x8xf32]>
!ring = !block.ring<2, [16xf32, 4x8xf32, 4x8xf32]>
tile.kernel @fill(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64) {
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %eight = arith.constant 8 : i64
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %bytes = arith.constant 64 : i32
  %m = block.map %x, [%n, %eight], [%eight] : !tile.ptr<f32> -> !block.map<4x8xf32, 16>
  %my = block.map %y, [%n, %eight], [%eight] : !tile.ptr<f32> -> !block.map<4x8xf32, 16>
  %ring = block.ring takers 1 : !ring
  %out = block.alloc : !block.shared<4x8xf32>
  block.roles {
    block.role @load warps 4 {
      %s = block.acquire %ring[%c0] : !ring
      %flat = block.part %s[0] : !slot
      %lanes = block.part %s[1] : !slot
      %box = block.part %s[2] : !slot
      block.copy_flat %x, %bytes -> %flat : !tile.ptr<f32>, !block.shared<16xf32>
      %root = tile.root %x[%two, %eight] strides [%eight, %one] : !tile.ptr<f32> -> !tile.root<2xf32>
      %zero = arith.constant 0 : i64
      %view = tile.view %root[%zero, %zero] dims [0, 1] dilations [%one, %one] limits [] : !tile.root<2xf32> -> !tile.view<4x8xf32>
      block.fetch %view -> %lanes : !tile.view<4x8xf32>, !block.shared<4x8xf32>
      %half = tile.add_ptr %x, %eight : !tile.ptr<f32>, i64
      %other = block.remap %m, %half, [%two, %eight], [%eight] : !block.map<4x8xf32, 16>, !tile.ptr<f32>
      block.copy %other[%c0, %c2] -> %box : !block.map<4x8xf32, 16>, !block.shared<4x8xf32>
      block.publish %s : !slot
    }
    block.role @rows warps 1 {
      %s = block.take %ring[%c0] : !ring
      %flat = block.part %s[0] : !slot
      %lanes = block.part %s[1] : !slot
      %box = block.part %s[2] : !slot
      %f = block.read %flat : !block.shared<16xf32> -> tensor<16xf32>
      %l = block.read %lanes : !block.shared<4x8xf32> -> tensor<4x8xf32>
      %b = block.read %box : !block.shared<4x8xf32> -> tensor<4x8xf32>
      block.release %s : !slot
      %sum = tile.reduce %f axis 0 {
      ^bb0(%u: f32, %v: f32):
        %w = arith.addf %u, %v : f32
        tile.yield %w : f32
      } : tensor<16xf32> -> f32
      %all = tile.splat %sum : f32 -> tensor<4x8xf32>
      %lb = arith.addf %l, %b : tensor<4x8xf32>
      %r = arith.addf %lb, %all : tensor<4x8xf32>
      block.write %out, %r : !block.shared<4x8xf32>, tensor<4x8xf32>
      block.store_box %out -> %my[%c0, %c0] : !block.shared<4x8xf32>, !block.map<4x8xf32, 16>
    }
  }
  tile.return
})";
  std::vector<float> x = counting(24), y(24, -1);
  expectRight(text, {1, 1, 1}, {slot(x), slot(y), 3}, [&] {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 8; ++j) {
        float lane = i < 2 ? x[8 * i + j] : 0, box = i < 2 && j < 6 ? x[8 + 8 * i + j + 2] : 0;
        EXPECT_EQ(y[8 * i + j], 136 + lane + box) << i << " " << j;
      }
  });
  std::string odd = edited(text, {{"%bytes = arith.constant 64", "%bytes = arith.constant 40"}});
  EXPECT_NE(runBlockProgram(odd, {1, 1, 1}, {slot(x), slot(y), 3}, false, false).message.find("multiples of 16"),
            std::string::npos);
  // Bytes that nobody copied are undefined where they are stored.
  std::string part = edited(text, {{"%bytes = arith.constant 64", "%bytes = arith.constant 48"}});
  Report report = runBlockProgram(part, {1, 1, 1}, {slot(x), slot(y), 3}, true);
  EXPECT_NE(report.message.find("uses a value that nothing has written"), std::string::npos) << report.message;
  EXPECT_NE(report.line.find("block.copy_flat"), std::string::npos);
}

// Three instances add to one tensor, in turns; each takes its own positions.
const char *turnsText = R"(
!slot = !block.slot<[8xf32]>
!ring = !block.ring<2, [8xf32]>
tile.kernel @turns(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c8 = arith.constant 8 : i32
  %c9 = arith.constant 9 : i32
  %m = block.map %x, [%n], [] : !tile.ptr<f32> -> !block.map<8xf32, 16>
  %my = block.map %y, [%n], [] : !tile.ptr<f32> -> !block.map<8xf32, 16>
  %ring = block.ring takers 1 : !ring
  %out = block.alloc : !block.shared<8xf32>
  %baton = block.baton
  block.roles {
    block.role @load warps 4 {
      scf.for %i = %c0 to %c9 step %c1 : i32 {
        %at = arith.muli %i, %c8 : i32
        %s = block.acquire %ring[%i] : !ring
        %t = block.part %s[0] : !slot
        block.copy %m[%at] -> %t : !block.map<8xf32, 16>, !block.shared<8xf32>
        block.publish %s : !slot
      }
    }
    block.role @add warps 1 instances 3 {
    ^bb0(%who: i32):
      scf.for %i = %who to %c9 step %c3 : i32 {
        block.turn %baton {
          %s = block.take %ring[%i] : !ring
          %t = block.part %s[0] : !slot
          %v = block.read %t : !block.shared<8xf32> -> tensor<8xf32>
          block.release %s : !slot
          block.write %out, %v : !block.shared<8xf32>, tensor<8xf32>
          block.store_box %out -> %my[%c0] add : !block.shared<8xf32>, !block.map<8xf32, 16>
        }
        block.store_wait 0
      }
    }
  }
  tile.return
})";

TEST(OracleBlock, InstancesTakeTurns) {
  std::vector<float> x = counting(72), y(8);
  std::string text = turnsText;
  EXPECT_EQ(runBlockProgram(text, {1, 1, 1}, {slot(x), slot(y), 72}, false).message, "");
  for (int j = 0; j < 8; ++j)
    EXPECT_EQ(y[j], 9 * (j + 1) + 8 * 36);
  // An instance that ends early never hands the baton on.
  text = edited(text, {{"scf.for %i = %who to %c9", "scf.for %i = %who to %c8"}});
  Report report = runBlockProgram(text, {1, 1, 1}, {slot(x), slot(y), 72}, false);
  EXPECT_EQ(report.message, "position 8 of this ring is published, but nobody takes it");
  text = edited(text, {{"%i = %who to %c8 step %c3", "%i = %who to %c8 step %c8"}});
  report = runBlockProgram(text, {1, 1, 1}, {slot(x), slot(y), 72}, false);
  EXPECT_NE(report.message.find("role @load of program (0, 0, 0) waits to acquire position 5"), std::string::npos)
      << report.message;
}

// A cluster of four adds up its parts of a row in the order of the ranks.
TEST(OracleBlock, BlocksOfAClusterReadEachOther) {
  std::string text = R"(
tile.kernel @split(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64) attributes {block.cluster = 4 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c32 = arith.constant 32 : i32
  %m = block.map %x, [%n], [] : !tile.ptr<f32> -> !block.map<8xf32, 16>
  %my = block.map %y, [%n], [] : !tile.ptr<f32> -> !block.map<8xf32, 16>
  %ring = block.ring takers 1 : !block.ring<1, [8xf32]>
  %part = block.alloc : !block.shared<8xf32>
  %out = block.alloc : !block.shared<8xf32>
  %pid = tile.program_id 0
  %rank = block.cluster_rank
  %row = arith.muli %pid, %c32 : i32
  %in = arith.muli %rank, %c8 : i32
  %at = arith.addi %row, %in : i32
  %s = block.acquire %ring[%c0] : !block.ring<1, [8xf32]>
  %t = block.part %s[0] : !block.slot<[8xf32]>
  block.copy %m[%at] -> %t : !block.map<8xf32, 16>, !block.shared<8xf32>
  block.publish %s : !block.slot<[8xf32]>
  %s2 = block.take %ring[%c0] : !block.ring<1, [8xf32]>
  %t2 = block.part %s2[0] : !block.slot<[8xf32]>
  %v = block.read %t2 : !block.shared<8xf32> -> tensor<8xf32>
  block.release %s2 : !block.slot<[8xf32]>
  block.write %part, %v : !block.shared<8xf32>, tensor<8xf32>
  block.cluster_sync
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %sum = scf.for %r = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<8xf32>) : i32 {
    %peer = block.peer %part[%r] : !block.shared<8xf32>
    %p = block.read %peer : !block.shared<8xf32> -> tensor<8xf32>
    %next = arith.addf %acc, %p : tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  %mine = arith.cmpi eq, %rank, %c0 : i32
  scf.if %mine {
    block.write %out, %sum : !block.shared<8xf32>, tensor<8xf32>
    %to = arith.muli %pid, %c8 : i32
    block.store_box %out -> %my[%to] : !block.shared<8xf32>, !block.map<8xf32, 16>
  }
  tile.return
})";
  std::vector<float> x = counting(64), y(16);
  expectRight(text, {2, 1, 1}, {slot(x), slot(y), 64}, [&] {
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(y[i], 4 * (i % 8 + 1) + 48 + i / 8 * 128) << i;
  });
  Report report = runBlockProgram(edited(text, {{"block.cluster_sync", ""}}), {2, 1, 1}, {slot(x), slot(y), 64}, false);
  EXPECT_EQ(report.message, "program (0, 0, 0) asks for shared memory that block 1 of its cluster has not made");
}

// A product at once, from registers and transposed shared memory, and one in registers that goes on from a tile.
TEST(OracleBlock, ProductsFromRegistersAndTransposed) {
  std::string text = R"(
tile.kernel @products(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i32
  %m = block.map %x, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<64x8xf32, 32>
  %my = block.map %y, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<64x64xf32, 16>
  %ring = block.ring takers 1 : !block.ring<1, [64x8xf32]>
  %out = block.alloc : !block.shared<64x64xf32>
  %s = block.acquire %ring[%c0] : !block.ring<1, [64x8xf32]>
  %t = block.part %s[0] : !block.slot<[64x8xf32]>
  block.copy %m[%c0, %c0] -> %t : !block.map<64x8xf32, 32>, !block.shared<64x8xf32>
  block.publish %s : !block.slot<[64x8xf32]>
  %s2 = block.take %ring[%c0] : !block.ring<1, [64x8xf32]>
  %a = block.part %s2[0] : !block.slot<[64x8xf32]>
  %b = block.transpose %a : !block.shared<64x8xf32>
  %v = block.read %a : !block.shared<64x8xf32> -> tensor<64x8xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %p = block.mma %zero, %v, %b : tensor<64x64xf32>, tensor<64x8xf32>, !block.shared<8x64xf32>
  %d = block.mma_start %p, %v, %b {precision = 1 : i32} : tensor<64x64xf32>, tensor<64x8xf32>, !block.shared<8x64xf32> -> !block.pending<tensor<64x64xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  block.release %s2 : !block.slot<[64x8xf32]>
  block.write %out, %r : !block.shared<64x64xf32>, tensor<64x64xf32>
  block.store_box %out -> %my[%c0, %c0] : !block.shared<64x64xf32>, !block.map<64x64xf32, 16>
  tile.return
})";
  std::vector<float> x(64 * 64), y(64 * 64);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(int(i * 37 % 11) - 5);
  expectRight(text, {1, 1, 1}, {slot(x), slot(y), 64}, [&] {
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < 64; ++j) {
        float sum = 0;
        for (int k = 0; k < 8; ++k)
          sum += x[i * 64 + k] * x[j * 64 + k];
        ASSERT_EQ(y[i * 64 + j], 2 * sum) << i << " " << j;
      }
  });
  std::string none =
      edited(text, {{"%s2 = block.take %ring[%c0] : !block.ring<1, [64x8xf32]>", "%s2 = block.none : !block.slot<[64x8xf32]>"}});
  EXPECT_NE(runBlockProgram(none, {1, 1, 1}, {slot(x), slot(y), 64}, false).message.find("asks for a part of no slot"),
            std::string::npos);
}

} // namespace
