#include "program.h"
#include <chrono>
#include <cmath>

using namespace tilery;
using namespace tilery::oracle;

namespace {

TEST(Oracle, MaskedVectorAddLeavesTheRestAlone) {
  Program program(R"(
tile.kernel @add(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %out: !tile.ptr<f32>, %n: i32) {
  %pid = tile.program_id 0
  %c8 = arith.constant 8 : i32
  %first = arith.muli %pid, %c8 overflow<nsw> : i32
  %lanes = tile.range 0 to 8 : tensor<8xi32>
  %firsts = tile.splat %first : i32 -> tensor<8xi32>
  %at = arith.addi %firsts, %lanes overflow<nsw> : tensor<8xi32>
  %ns = tile.splat %n : i32 -> tensor<8xi32>
  %mask = arith.cmpi slt, %at, %ns : tensor<8xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %xp = tile.add_ptr %xs, %at : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %yp = tile.add_ptr %ys, %at : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %op = tile.add_ptr %os, %at : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %xa = tile.pointer_access %xp mask %mask : tensor<8xi1> : tensor<8x!tile.ptr<f32>> -> !tile.access<8xf32>
  %ya = tile.pointer_access %yp mask %mask : tensor<8xi1> : tensor<8x!tile.ptr<f32>> -> !tile.access<8xf32>
  %oa = tile.pointer_access %op mask %mask : tensor<8xi1> : tensor<8x!tile.ptr<f32>> -> !tile.access<8xf32>
  %xv = tile.load %xa : !tile.access<8xf32> -> tensor<8xf32>
  %yv = tile.load %ya : !tile.access<8xf32> -> tensor<8xf32>
  %sum = arith.addf %xv, %yv : tensor<8xf32>
  tile.store %oa, %sum : !tile.access<8xf32>, tensor<8xf32>
  tile.return
})");
  std::vector<float> x(13), y(13), out(16, -1);
  for (int i = 0; i < 13; ++i) {
    x[i] = 0.1f * i;
    y[i] = 1.0f / (i + 1);
  }
  program.run({2, 1, 1}, {slot(x), slot(y), slot(out), 13});
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(out[i], i < 13 ? x[i] + y[i] : -1) << i;
}

TEST(Oracle, MatmulByViewsIsRightAndQuick) {
  const int n = 512;
  Program program(R"(
tile.kernel @mm(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %c: !tile.ptr<f32>, %n: i64) {
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  %k = arith.constant 128 : i64
  %pi = tile.program_id 0
  %pj = tile.program_id 1
  %i = arith.extsi %pi : i32 to i64
  %j = arith.extsi %pj : i32 to i64
  %row = arith.muli %i, %k : i64
  %col = arith.muli %j, %k : i64
  %ra = tile.root %a[%n, %n] strides [%n, %one] : !tile.ptr<f32> -> !tile.root<2xf32>
  %rb = tile.root %b[%n, %n] strides [%n, %one] : !tile.ptr<f32> -> !tile.root<2xf32>
  %rc = tile.root %c[%n, %n] strides [%n, %one] : !tile.ptr<f32> -> !tile.root<2xf32>
  %init = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %s = %zero to %n step %k iter_args(%acc = %init) -> (tensor<128x128xf32>) : i64 {
    %va = tile.view %ra[%row, %s] dims [0, 1] dilations [%one, %one] limits [] : !tile.root<2xf32> -> !tile.view<128x128xf32>
    %vb = tile.view %rb[%s, %col] dims [0, 1] dilations [%one, %one] limits [] : !tile.root<2xf32> -> !tile.view<128x128xf32>
    %ta = tile.load %va : !tile.view<128x128xf32> -> tensor<128x128xf32>
    %tb = tile.load %vb : !tile.view<128x128xf32> -> tensor<128x128xf32>
    %next = tile.dot %ta, %tb, %acc : tensor<128x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  %vc = tile.view %rc[%row, %col] dims [0, 1] dilations [%one, %one] limits [] : !tile.root<2xf32> -> !tile.view<128x128xf32>
  tile.store %vc, %sum : !tile.view<128x128xf32>, tensor<128x128xf32>
  tile.return
})");
  std::vector<float> a(n * n), b(n * n), c(n * n, NAN);
  for (int i = 0; i < n * n; ++i) {
    a[i] = float((int64_t(i) * 7919) % 1000) / 1000 - 0.5f;
    b[i] = float((int64_t(i) * 104729) % 1000) / 1000 - 0.5f;
  }
  auto start = std::chrono::steady_clock::now();
  program.run({n / 128, n / 128, 1}, {slot(a), slot(b), slot(c), n});
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (int i = 0; i < n; i += 37)
    for (int j = 0; j < n; j += 41) {
      double want = 0, size = 0;
      for (int k = 0; k < n; ++k) {
        double term = double(a[i * n + k]) * b[k * n + j];
        want += term;
        size += std::abs(term);
      }
      // Each of n products and n sums in f32 is off by 2^-24 of its result: n + 1 times the sizes of the terms in all, to first order.
      EXPECT_NEAR(c[i * n + j], want, 1.01 * (n + 1) * 0x1p-24 * size);
    }
  std::cout << "512x512x512 in " << seconds << " s\n";
}

TEST(Oracle, ThreadsShuffleVoteAndSync) {
  Program program(R"(
tile.kernel @t(%out: !tile.ptr<i32>) {
  %buffer = tile.alloc : !tile.buffer<64xi32, shared>
  tile.threads 64 {
  ^bb0(%t: i32):
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c63 = arith.constant 63 : i32
    tile.element_store %buffer[%t], %t : !tile.buffer<64xi32, shared>, (i32), i32
    tile.sync
    %mirror = arith.subi %c63, %t : i32
    %other = tile.element_load %buffer[%mirror] : !tile.buffer<64xi32, shared>, i32 -> i32
    %next = tile.shuffle down %other, %c1 : i32 -> i32
    %low = arith.cmpi slt, %t, %c32 : i32
    %votes = tile.vote count %low {width = 0} -> i32
    %sum = arith.addi %next, %votes : i32
    %p = tile.add_ptr %out, %t : !tile.ptr<i32>, i32
    %pa = tile.pointer_access %p : !tile.ptr<i32> -> !tile.access<i32>
    tile.store %pa, %sum : !tile.access<i32>, i32
    tile.yield
  }
  tile.return
})");
  std::vector<int32_t> out(64, -1);
  program.run({1, 1, 1}, {slot(out)});
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], (t % 32 == 31 ? 63 - t : 62 - t) + 32) << t;
}

TEST(Oracle, RolesHandOverThroughBarriers) {
  Program program(R"(
tile.kernel @r(%in: !tile.ptr<f32>, %out: !tile.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %n = arith.constant 16 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] : !tile.barrier<1>
  %empty = tile.barrier_alloc [1] : !tile.barrier<1>
  %root = tile.root %in[%n] strides [%one] : !tile.ptr<f32> -> !tile.root<1xf32>
  %oroot = tile.root %out[%n] strides [%one] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.roles [1, 1] {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c1) -> (i32) : i64 {
      tile.barrier_wait %empty[%c0], %phase : !tile.barrier<1>, i32, i32
      %v = tile.view %root[%i] dims [0] dilations [%one] limits [] : !tile.root<1xf32> -> !tile.view<4xf32>
      tile.barrier_arrive %full[%c0] {bytes = 16} : !tile.barrier<1>, i32
      tile.async_copy %v, %buffer, %full[%c0] : !tile.view<4xf32>, !tile.buffer<4xf32, shared>, !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }, {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c0) -> (i32) : i64 {
      tile.barrier_wait %full[%c0], %phase : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      %u = arith.addf %t, %t : tensor<4xf32>
      %v = tile.view %oroot[%i] dims [0] dilations [%one] limits [] : !tile.root<1xf32> -> !tile.view<4xf32>
      tile.store %v, %u : !tile.view<4xf32>, tensor<4xf32>
      tile.barrier_arrive %empty[%c0] : !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }
  tile.return
})");
  std::vector<float> in(16), out(16, -1);
  for (int i = 0; i < 16; ++i)
    in[i] = float(i);
  program.run({1, 1, 1}, {slot(in), slot(out)});
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(out[i], 2 * i);
}

} // namespace
