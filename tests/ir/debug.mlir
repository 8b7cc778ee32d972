// RUN: tilery-opt %s | tilery-opt | FileCheck %s
// CHECK-LABEL: tile.kernel @debug
tile.kernel @debug(%i: i32, %b: i1) {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  %m = arith.constant dense<true> : tensor<4xi1>
  // CHECK: tile.print "x =", %{{.*}}, %{{.*}} : tensor<4xf32>, i32 {hex, is_signed = array<i1: true, false>}
  tile.print "x =", %x, %i : tensor<4xf32>, i32 {hex, is_signed = array<i1: true, false>}
  // CHECK: tile.print "here" {is_signed = array<i1>}
  tile.print "here" {is_signed = array<i1>}
  // CHECK: tile.assert %{{.*}}, "scalar" : i1
  tile.assert %b, "scalar" : i1
  // CHECK: tile.assert %{{.*}} mask %{{.*}} : tensor<4xi1>, "all" : tensor<4xi1>
  tile.assert %m mask %m : tensor<4xi1>, "all" : tensor<4xi1>
  tile.return
}
