// Products that give f16 or bf16 give f32, which is rounded once; others are left.
// RUN: tilery-opt --split-input-file --pass-pipeline='builtin.module(tile.kernel(wide-sums))' %s | FileCheck %s

// CHECK-LABEL: tile.kernel @zero
tile.kernel @zero(%a: !tile.ptr<f16>) {
  %f = arith.constant dense<1.0> : tensor<64x32xf16>
  %g = arith.constant dense<1.0> : tensor<32x16xf16>
  %zero = arith.constant dense<0.0> : tensor<64x16xf16>
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x16xf32>
  // CHECK: %[[SUM:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[ZERO]] {{.*}}-> tensor<64x16xf32>
  // CHECK: %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : tensor<64x16xf32> to tensor<64x16xf16>
  // CHECK: arith.extf %[[ROUNDED]]
  %sum = tile.dot %f, %g, %zero : tensor<64x32xf16>, tensor<32x16xf16> -> tensor<64x16xf16>
  %wide = arith.extf %sum : tensor<64x16xf16> to tensor<64x16xf32>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @start
tile.kernel @start(%a: !tile.ptr<f16>) {
  %f = arith.constant dense<1.0> : tensor<64x32xbf16>
  %g = arith.constant dense<1.0> : tensor<32x16xbf16>
  %one = arith.constant dense<1.0> : tensor<64x16xbf16>
  // CHECK: %[[ONE:.*]] = arith.extf %{{.*}} : tensor<64x16xbf16> to tensor<64x16xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %[[ONE]] {{.*}}-> tensor<64x16xf32>
  // CHECK: arith.truncf %{{.*}} : tensor<64x16xf32> to tensor<64x16xbf16>
  %sum = tile.dot %f, %g, %one : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xbf16>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: arith.truncf
tile.kernel @others(%a: !tile.ptr<f16>) {
  %f = arith.constant dense<1> : tensor<64x32xi8>
  %g = arith.constant dense<1> : tensor<32x16xi8>
  %zero = arith.constant dense<0> : tensor<64x16xi32>
  // CHECK: tile.dot {{.*}}-> tensor<64x16xi32>
  %sum = tile.dot %f, %g, %zero : tensor<64x32xi8>, tensor<32x16xi8> -> tensor<64x16xi32>
  tile.return
}
