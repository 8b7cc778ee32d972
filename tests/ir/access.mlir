// RUN: tilery-opt %s | tilery-opt | FileCheck %s
// CHECK-LABEL: tile.kernel @accesses
tile.kernel @accesses(%p: !tile.ptr<f32>, %c: !tile.ptr<f32, const>, %n: i64, %bit: i1) {
  %lanes = tile.range 0 to 4 : tensor<4xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  // CHECK: tile.add_ptr %{{.*}}, %{{.*}} : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %q = tile.add_ptr %ps, %lanes : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  // CHECK: tile.ptr_cast %{{.*}} : !tile.ptr<f32> -> !tile.ptr<i8>
  %cast = tile.ptr_cast %p : !tile.ptr<f32> -> !tile.ptr<i8>
  // CHECK: tile.ptr_to_int
  %int = tile.ptr_to_int %p : !tile.ptr<f32> -> i64
  // CHECK: tile.int_to_ptr
  %ptr = tile.int_to_ptr %int : i64 -> !tile.ptr<f32>
  %mask = arith.constant dense<true> : tensor<4xi1>
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  // CHECK: tile.pointer_access %{{.*}} mask %{{.*}} : tensor<4xi1> : tensor<4x!tile.ptr<f32>> -> <4xf32>
  %pa = tile.pointer_access %q mask %mask : tensor<4xi1> : tensor<4x!tile.ptr<f32>> -> !tile.access<4xf32>
  // CHECK: tile.load %{{.*}} other %{{.*}} : tensor<4xf32> {cache = ".cg"} : !tile.access<4xf32> -> tensor<4xf32>
  %v = tile.load %pa other %zeros : tensor<4xf32> {cache = ".cg"} : !tile.access<4xf32> -> tensor<4xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}} {is_volatile}
  tile.store %pa, %v {is_volatile} : !tile.access<4xf32>, tensor<4xf32>
  %steps = arith.constant dense<[0, 2, 1, 7]> : tensor<4xi64>
  // CHECK: tile.access %{{.*}}, %{{.*}} steps(%{{.*}}, %{{.*}}) bounds [1, 2](%{{.*}}, %{{.*}}, %{{.*}}) residual %{{.*}} : i1
  %a = tile.access %c, %n steps(%n, %steps) bounds [1, 2](%n, %n, %mask) residual %bit : i1 : !tile.ptr<f32, const>, (i64, tensor<4xi64>), (i64, i64, tensor<4xi1>) -> !tile.access<3x4xf32>
  %w = tile.load %a : !tile.access<3x4xf32> -> tensor<3x4xf32>
  // CHECK: tile.access %{{.*}}, %{{.*}} steps() bounds []() : <f32>, (), () -> <f32>
  %scalar = tile.access %p, %n steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>
  // CHECK: tile.root %{{.*}}[%{{.*}}, %{{.*}}] strides[%{{.*}}, %{{.*}}] : <f32> -> <2xf32>
  %root = tile.root %p[%n, %n] strides [%n, %n] : !tile.ptr<f32> -> !tile.root<2xf32>
  // CHECK: tile.view %{{.*}}[%{{.*}}, %{{.*}}] dims [1, -1] dilations[%{{.*}}, %{{.*}}] limits[] : <2xf32> -> <8x2xf32>
  %view = tile.view %root[%n, %n] dims [1, -1] dilations [%n, %n] limits [] : !tile.root<2xf32> -> !tile.view<8x2xf32>
  %x = tile.load %view : !tile.view<8x2xf32> -> tensor<8x2xf32>
  tile.return
}
