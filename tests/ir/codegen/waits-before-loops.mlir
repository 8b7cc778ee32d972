// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// Turns of a loop that only reads what was stored before it do not wait: threads meet once, in front of the loop.

// CHECK-LABEL: .entry windows
// CHECK: st.shared
// CHECK: bar.sync
// CHECK: $L__BB
// CHECK-NOT: bar.sync
// CHECK: fma.rn.f32
// CHECK-NOT: bar.sync
// CHECK: bra $L__BB
// CHECK: ret;
tile.kernel @windows(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %width = arith.constant 256 : i64
  %four = arith.constant 4 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c64 = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<32x4xf32>
  %buffer = tile.alloc : <32x256xf32, fragment>
  %a = tile.access %x, %zero steps(%width, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <32x256xf32>
  %all = tile.load %a : !tile.access<32x256xf32> -> tensor<32x256xf32>
  tile.buffer_store %buffer, %all : <32x256xf32, fragment>, tensor<32x256xf32>
  %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%before = %none) -> (tensor<32x4xf32>) : i32 {
    %column = arith.muli %i, %c4 overflow<nsw> : i32
    %at = arith.extsi %column : i32 to i64
    %window = tile.subview %buffer[%zero, %at] dims [0, 1] : <32x256xf32, fragment>, i64, i64 -> <32x4xf32, fragment>
    %part = tile.buffer_load %window : <32x4xf32, fragment> -> tensor<32x4xf32>
    %square = arith.mulf %part, %part : tensor<32x4xf32>
    %next = arith.addf %before, %square : tensor<32x4xf32>
    scf.yield %next : tensor<32x4xf32>
  }
  %c = tile.access %y, %zero steps(%four, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <32x4xf32>
  tile.store %c, %sum : !tile.access<32x4xf32>, tensor<32x4xf32>
  tile.return
}

// What a turn stores the next one reads: they wait.
// CHECK-LABEL: .entry handed
// CHECK: bar.sync
// CHECK: $L__BB
// CHECK: bar.sync
// CHECK: bra $L__BB
// CHECK: ret;
tile.kernel @handed(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %width = arith.constant 256 : i64
  %four = arith.constant 4 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c63 = arith.constant 63 : i32
  %buffer = tile.alloc : <32x256xf32, fragment>
  %a = tile.access %x, %zero steps(%width, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <32x256xf32>
  %all = tile.load %a : !tile.access<32x256xf32> -> tensor<32x256xf32>
  tile.buffer_store %buffer, %all : <32x256xf32, fragment>, tensor<32x256xf32>
  scf.for %i = %c0 to %c63 step %c1 : i32 {
    %column = arith.muli %i, %c4 overflow<nsw> : i32
    %at = arith.extsi %column : i32 to i64
    %after = arith.addi %at, %four overflow<nsw> : i64
    %window = tile.subview %buffer[%zero, %at] dims [0, 1] : <32x256xf32, fragment>, i64, i64 -> <32x4xf32, fragment>
    %part = tile.buffer_load %window : <32x4xf32, fragment> -> tensor<32x4xf32>
    %square = arith.mulf %part, %part : tensor<32x4xf32>
    %to = tile.subview %buffer[%zero, %after] dims [0, 1] : <32x256xf32, fragment>, i64, i64 -> <32x4xf32, fragment>
    tile.buffer_store %to, %square : <32x4xf32, fragment>, tensor<32x4xf32>
  }
  %last = tile.buffer_load %buffer : <32x256xf32, fragment> -> tensor<32x256xf32>
  %c = tile.access %y, %zero steps(%width, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <32x256xf32>
  tile.store %c, %last : !tile.access<32x256xf32>, tensor<32x256xf32>
  tile.return
}

// Numbers that all threads read of shared memory are such reads.
// CHECK-LABEL: .entry numbers
// CHECK: st.shared
// CHECK: bar.sync
// CHECK: st.shared
// CHECK: bar.sync
// CHECK-NOT: bar.sync
// CHECK: fma.rn.f32
// CHECK-NOT: bar.sync
// CHECK: ret;
tile.kernel @numbers(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %width = arith.constant 64 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<512xf32>
  %buffer = tile.alloc : <256xf32, shared>
  %a = tile.access %x, %zero steps(%width, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  %all = tile.load %a : !tile.access<64x64xf32> -> tensor<64x64xf32>
  %sums = tile.reduce %all axis 1 {
  ^bb0(%p: f32, %q: f32):
    %both = arith.addf %p, %q : f32
    tile.yield %both : f32
  } : tensor<64x64xf32> -> tensor<64xf32>
  %at = arith.extsi %n : i32 to i64
  %window = tile.subview %buffer[%at] dims [0] : <256xf32, shared>, i64 -> <64xf32, shared>
  tile.buffer_store %window, %sums : <64xf32, shared>, tensor<64xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%before = %none) -> (tensor<512xf32>) : i32 {
    %v = tile.extract %sums[%i] : tensor<64xf32>, i32 -> f32
    %w = tile.element_load %buffer[%i] : <256xf32, shared>, i32 -> f32
    %vs = tile.splat %v : f32 -> tensor<512xf32>
    %ws = tile.splat %w : f32 -> tensor<512xf32>
    %scaled = arith.mulf %before, %vs : tensor<512xf32>
    %moved = arith.addf %scaled, %ws : tensor<512xf32>
    scf.yield %moved : tensor<512xf32>
  }
  %c = tile.access %y, %zero steps(%one) bounds [0]() : <f32>, (i64), () -> <512xf32>
  tile.store %c, %sum : !tile.access<512xf32>, tensor<512xf32>
  tile.return
}
