// RUN: tilery-translate --target=avx2 --print=llvm %s | FileCheck %s
// RUN: tilery-translate --target=sm_80 --print=llvm %s | FileCheck %s
// A loop that a program asks to unroll: so many iterations a turn, and what is left one by one. Unasked, a CPU's loops stay as they are.
// What an iteration hands on as a product meets the next one's addition as it is: one rounding each.

// CHECK-LABEL: @asked(
// CHECK-COUNT-3: fmul contract float {{.*}}, 3.000000e+00
// CHECK: br i1 {{.*}}, !llvm.loop ![[DONE:[0-9]+]]
// CHECK: fmul contract float {{.*}}, 3.000000e+00
// CHECK-NOT: fmul
// CHECK: ![[DONE]] = distinct !{![[DONE]], ![[OFF:[0-9]+]]}
// CHECK: ![[OFF]] = !{!"llvm.loop.unroll.disable"}
tile.kernel @asked(%p: !tile.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %start = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %place = tile.pointer_access %p : !tile.ptr<f32> -> !tile.access<f32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%x = %start) -> (f32) : i32 {
    %k = arith.sitofp %i : i32 to f32
    %y = arith.addf %x, %k : f32
    %z = arith.mulf %y, %three : f32
    scf.yield %z : f32
  } {tile.unroll = 3 : i64}
  tile.store %place, %sum : !tile.access<f32>, f32
  tile.return
}
