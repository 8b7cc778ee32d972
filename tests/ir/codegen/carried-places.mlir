// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// What a loop carries and then loads by lies in registers, though its tile has an extent of 1 more; places along one of two dimensions,
// which other threads read, too, do not.

// CHECK-LABEL: .entry halves
// CHECK-NOT: {{ld|st}}.shared
// CHECK-LABEL: .entry rows
// CHECK: st.shared
tile.kernel @halves(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %code: !tile.ptr<f32>, %o: !tile.ptr<i32> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %begin = arith.constant 0 : i32
  %end = arith.constant 8 : i32
  %turn = arith.constant 1 : i32
  %least = arith.constant dense<0> : tensor<1x512xi32>
  %most = arith.constant dense<255> : tensor<1x512xi32>
  %two = arith.constant dense<2> : tensor<1x512xi32>
  %a = tile.access %x, %zero steps(%zero, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<1x512xf32>
  %v = tile.load %a : !tile.access<1x512xf32> -> tensor<1x512xf32>
  %r:2 = scf.for %i = %begin to %end step %turn iter_args(%low = %least, %high = %most) -> (tensor<1x512xi32>, tensor<1x512xi32>) : i32 {
    %sum = arith.addi %low, %high : tensor<1x512xi32>
    %middle = tile.div trunc %sum, %two : tensor<1x512xi32>
    %flat = tile.reshape %middle : tensor<1x512xi32> -> tensor<512xi32>
    %at = arith.extsi %flat : tensor<512xi32> to tensor<512xi64>
    %c = tile.access %code, %zero steps(%zero, %at) bounds [0, 0] () : !tile.ptr<f32>, (i64, tensor<512xi64>), () -> !tile.access<1x512xf32>
    %level = tile.load %c : !tile.access<1x512xf32> -> tensor<1x512xf32>
    %above = arith.cmpf ogt, %v, %level : tensor<1x512xf32>
    %newlow = arith.select %above, %middle, %low : tensor<1x512xi1>, tensor<1x512xi32>
    %newhigh = arith.select %above, %high, %middle : tensor<1x512xi1>, tensor<1x512xi32>
    scf.yield %newlow, %newhigh : tensor<1x512xi32>, tensor<1x512xi32>
  }
  %b = tile.access %o, %zero steps(%zero, %one) bounds [0, 0] () : !tile.ptr<i32>, (i64, i64), () -> !tile.access<1x512xi32>
  tile.store %b, %r#0 : !tile.access<1x512xi32>, tensor<1x512xi32>
  tile.return
}

tile.kernel @rows(%x: !tile.ptr<i32> {tile.divisibility = 16 : i64}, %o: !tile.ptr<i32> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %begin = arith.constant 0 : i32
  %end = arith.constant 8 : i32
  %turn = arith.constant 1 : i32
  %width = arith.constant 64 : i64
  %first = arith.constant dense<0> : tensor<64xi64>
  %none = arith.constant dense<0> : tensor<64x64xi32>
  %r:2 = scf.for %i = %begin to %end step %turn iter_args(%row = %first, %total = %none) -> (tensor<64xi64>, tensor<64x64xi32>) : i32 {
    %c = tile.access %x, %zero steps(%row, %one) bounds [0, 0] () : !tile.ptr<i32>, (tensor<64xi64>, i64), () -> !tile.access<64x64xi32>
    %level = tile.load %c : !tile.access<64x64xi32> -> tensor<64x64xi32>
    %sum = arith.addi %total, %level : tensor<64x64xi32>
    %d = tile.access %o, %zero steps(%row) bounds [0] () : !tile.ptr<i32>, (tensor<64xi64>), () -> !tile.access<64xi32>
    %next = tile.load %d : !tile.access<64xi32> -> tensor<64xi32>
    %at = arith.extsi %next : tensor<64xi32> to tensor<64xi64>
    scf.yield %at, %sum : tensor<64xi64>, tensor<64x64xi32>
  }
  %b = tile.access %o, %zero steps(%width, %one) bounds [0, 0] () : !tile.ptr<i32>, (i64, i64), () -> !tile.access<64x64xi32>
  tile.store %b, %r#1 : !tile.access<64x64xi32>, tensor<64x64xi32>
  tile.return
}

// What masks are made of is loaded for all of a thread's elements before the first is stored.
// CHECK-LABEL: .entry masks
// CHECK-COUNT-4: ld.global
// CHECK-NOT: ld.global
// CHECK-COUNT-4: st.global
tile.kernel @masks(%x: !tile.ptr<i8>, %o: !tile.ptr<i8>, %n: i64) attributes {tile.num_warps = 4 : i64} {
  %one = arith.constant 1 : i64
  %none = arith.constant dense<0> : tensor<512xi8>
  %a = tile.access %x, %n steps(%one) bounds [0] () : !tile.ptr<i8>, (i64), () -> !tile.access<512xi8>
  %v = tile.load %a : !tile.access<512xi8> -> tensor<512xi8>
  %m = arith.cmpi ne, %v, %none : tensor<512xi8>
  %b = tile.access %o, %n steps(%one) bounds [2] (%m) : !tile.ptr<i8>, (i64), (tensor<512xi1>) -> !tile.access<512xi8>
  tile.store %b, %none : !tile.access<512xi8>, tensor<512xi8>
  tile.return
}
