// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// RUN: tilery-translate --disjoint --target=avx2 --print=llvm %s | FileCheck %s --check-prefix=CPU
// Functions that may be approximated are the hardware's own on a GPU, without what makes them exact; on a CPU they are the usual ones.

// CHECK: .entry functions
// CHECK-NOT: .sat
// CHECK-NOT: f64
// CHECK-DAG: ex2.approx.ftz.f32
// CHECK-DAG: lg2.approx.ftz.f32
// CHECK-DAG: sin.approx.ftz.f32
// CHECK-DAG: cos.approx.ftz.f32
// CHECK-DAG: rsqrt.approx.ftz.f32
// CHECK-DAG: div.full.f32
// CHECK: ret;

// 10^x takes no logarithm.
// CHECK: .entry ten
// CHECK-NOT: lg2
// CHECK: ex2.approx.ftz.f32
// CHECK-NOT: lg2
// CHECK: ret;

// A number by lanes is as near as lanes by lanes: each reciprocal that is correctly rounded would have a branch.
// CHECK: .entry sigmoid
// CHECK-NOT: {{rcp|div}}.rn
// CHECK: div.full.f32
// CHECK-NOT: {{rcp|div}}.rn
// CHECK: ret;

// Without `arcp` it rounds correctly.
// CHECK: .entry rounded
// CHECK-NOT: div.full
// CHECK: rcp.rn.f32
// CHECK-NOT: div.full
// CHECK: ret;

// CPU-NOT: nvvm
module {
  tile.kernel @functions(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %end = arith.constant 1024 : i64
    %from = tile.access %x, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %to = tile.access %y, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %values = tile.load %from : !tile.access<1024xf32> -> tensor<1024xf32>
    %a = math.exp %values fastmath<afn> : tensor<1024xf32>
    %b = math.log %values fastmath<afn> : tensor<1024xf32>
    %c = math.sin %values fastmath<afn> : tensor<1024xf32>
    %d = math.cos %values fastmath<afn> : tensor<1024xf32>
    %e = math.rsqrt %values fastmath<afn> : tensor<1024xf32>
    %f = math.powf %a, %b fastmath<afn> : tensor<1024xf32>
    %g = math.tan %f fastmath<afn> : tensor<1024xf32>
    %h = arith.addf %c, %d : tensor<1024xf32>
    %i = arith.addf %e, %g : tensor<1024xf32>
    %j = arith.divf %h, %i fastmath<arcp> : tensor<1024xf32>
    tile.store %to, %j : !tile.access<1024xf32>, tensor<1024xf32>
    tile.return
  }

  tile.kernel @ten(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %end = arith.constant 1024 : i64
    %ten = arith.constant dense<10.0> : tensor<1024xf32>
    %from = tile.access %x, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %to = tile.access %y, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %values = tile.load %from : !tile.access<1024xf32> -> tensor<1024xf32>
    %power = math.powf %ten, %values fastmath<afn> : tensor<1024xf32>
    tile.store %to, %power : !tile.access<1024xf32>, tensor<1024xf32>
    tile.return
  }

  tile.kernel @sigmoid(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
    %zero = arith.constant 0 : i64
    %step = arith.constant 1 : i64
    %end = arith.constant 1024 : i64
    %one = arith.constant dense<1.0> : tensor<1024xf32>
    %from = tile.access %x, %zero steps(%step) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %to = tile.access %y, %zero steps(%step) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %values = tile.load %from : !tile.access<1024xf32> -> tensor<1024xf32>
    %negative = arith.negf %values : tensor<1024xf32>
    %power = math.exp %negative : tensor<1024xf32>
    %sum = arith.addf %power, %one : tensor<1024xf32>
    %quotient = arith.divf %one, %sum fastmath<arcp> : tensor<1024xf32>
    tile.store %to, %quotient : !tile.access<1024xf32>, tensor<1024xf32>
    tile.return
  }

  tile.kernel @rounded(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
    %zero = arith.constant 0 : i64
    %step = arith.constant 1 : i64
    %end = arith.constant 1024 : i64
    %one = arith.constant dense<1.0> : tensor<1024xf32>
    %from = tile.access %x, %zero steps(%step) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %to = tile.access %y, %zero steps(%step) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %values = tile.load %from : !tile.access<1024xf32> -> tensor<1024xf32>
    %quotient = arith.divf %one, %values : tensor<1024xf32>
    tile.store %to, %quotient : !tile.access<1024xf32>, tensor<1024xf32>
    tile.return
  }
}
