// RUN: tilery-opt %s --collect-threads --canonicalize --cse --split-input-file | FileCheck %s

// Two numbers a byte: each thread unpacks two bytes, its own array holds what it stores. The block has no threads of its own then.
// CHECK-LABEL: tile.kernel @unpacked
// CHECK-NOT: tile.threads
// CHECK: tile.parallel
// CHECK: ^bb0(%[[ROW:.*]]: i32, %[[COLUMN:.*]]: i32):
// CHECK: %[[BYTE:.*]] = tile.div floor %[[COLUMN]], %c2_i32
// CHECK: %[[BOTH:.*]] = tile.element_load %{{.*}}[%{{.*}}, %[[BYTE]]]
// CHECK: %[[NIBBLE:.*]] = tile.rem floor %[[COLUMN]], %c2_i32
// CHECK: tile.element_store
// CHECK: tile.dot
tile.kernel @unpacked(%p: !tile.ptr<f16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %fifteen = arith.constant 15 : i8
  %packed = tile.alloc : !tile.buffer<16x8xi8, shared>
  %whole = tile.alloc : !tile.buffer<16x16xf16, shared>
  tile.threads 64 {
  ^bb0(%t: i32):
    %bytes = tile.alloc : !tile.buffer<2xi8, local>
    %numbers = tile.alloc : !tile.buffer<4xf16, local>
    scf.for %v = %c0 to %c2 step %c1 : i32 {
      %two = arith.muli %t, %c2 overflow<nsw> : i32
      %at = arith.addi %two, %v overflow<nsw> : i32
      %row = tile.div floor %at, %c8 : i32
      %column = tile.rem floor %at, %c8 : i32
      %byte = tile.element_load %packed[%row, %column] : !tile.buffer<16x8xi8, shared>, i32, i32 -> i8
      tile.element_store %bytes[%v], %byte : !tile.buffer<2xi8, local>, (i32), i8
    }
    scf.for %v = %c0 to %c4 step %c1 : i32 {
      %which = tile.div floor %v, %c2 : i32
      %half = tile.rem floor %v, %c2 : i32
      %bits = arith.muli %half, %c4 : i32
      %shift = arith.trunci %bits : i32 to i8
      %byte = tile.element_load %bytes[%which] : !tile.buffer<2xi8, local>, i32 -> i8
      %low = tile.shift right_signed %byte, %shift : i8
      %number = arith.andi %low, %fifteen : i8
      %float = arith.sitofp %number : i8 to f16
      tile.element_store %numbers[%v], %float : !tile.buffer<4xf16, local>, (i32), f16
    }
    scf.for %v = %c0 to %c4 step %c1 : i32 {
      %four = arith.muli %t, %c4 overflow<nsw> : i32
      %at = arith.addi %four, %v overflow<nsw> : i32
      %row = tile.div floor %at, %c16 : i32
      %column = tile.rem floor %at, %c16 : i32
      %float = tile.element_load %numbers[%v] : !tile.buffer<4xf16, local>, i32 -> f16
      tile.sync
      tile.element_store %whole[%row, %column], %float : !tile.buffer<16x16xf16, shared>, (i32, i32), f16
    }
    tile.together {
      %zero = arith.constant dense<0.0> : tensor<16x16xf32>
      %tile = tile.buffer_load %whole : !tile.buffer<16x16xf16, shared> -> tensor<16x16xf16>
      %sum = tile.dot %tile, %tile, %zero : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
      %result = arith.truncf %sum : tensor<16x16xf32> to tensor<16x16xf16>
      tile.buffer_store %whole, %result : !tile.buffer<16x16xf16, shared>, tensor<16x16xf16>
      tile.yield
    }
    tile.yield
  }
  tile.return
}

// -----

// Two elements of a thread hang on the same place in different ways: x[v] + x[0].
// CHECK-LABEL: tile.kernel @two_ways
// CHECK-NOT: tile.threads
// CHECK: tile.parallel
// CHECK-COUNT-2: tile.element_load
// CHECK-NOT: tile.element_load
// CHECK: tile.element_store
tile.kernel @two_ways() {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %from = tile.alloc : !tile.buffer<64x4xf16, shared>
  %to = tile.alloc : !tile.buffer<64x4xf16, shared>
  tile.threads 64 {
  ^bb0(%t: i32):
    %own = tile.alloc : !tile.buffer<4xf16, local>
    scf.for %v = %c0 to %c4 step %c1 : i32 {
      %x = tile.element_load %from[%t, %v] : !tile.buffer<64x4xf16, shared>, i32, i32 -> f16
      tile.element_store %own[%v], %x : !tile.buffer<4xf16, local>, (i32), f16
    }
    scf.for %v = %c0 to %c4 step %c1 : i32 {
      %x = tile.element_load %own[%v] : !tile.buffer<4xf16, local>, i32 -> f16
      %y = tile.element_load %own[%c0] : !tile.buffer<4xf16, local>, i32 -> f16
      %sum = arith.addf %x, %y : f16
      tile.element_store %to[%t, %v], %sum : !tile.buffer<64x4xf16, shared>, (i32, i32), f16
    }
    tile.together {
      %zero = arith.constant dense<0.0> : tensor<64x64xf32>
      %tile = tile.buffer_load %to : !tile.buffer<64x4xf16, shared> -> tensor<64x4xf16>
      %turned = tile.permute %tile [1, 0] : tensor<64x4xf16> -> tensor<4x64xf16>
      %sum = tile.dot %tile, %turned, %zero : tensor<64x4xf16>, tensor<4x64xf16> -> tensor<64x64xf32>
      tile.yield
    }
    tile.yield
  }
  tile.return
}

// -----

// What a thread has summed up over a loop is its own: the threads stay as they were.
// CHECK-LABEL: tile.kernel @own_sums
// CHECK: tile.threads 64
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tile.element_store
tile.kernel @own_sums() {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %from = tile.alloc : !tile.buffer<64x4xf16, shared>
  %to = tile.alloc : !tile.buffer<64x4xf16, shared>
  %zero = arith.constant 0.0 : f16
  tile.threads 64 {
  ^bb0(%t: i32):
    %sum = scf.for %v = %c0 to %c4 step %c1 iter_args(%s = %zero) -> f16 : i32 {
      %x = tile.element_load %from[%t, %v] : !tile.buffer<64x4xf16, shared>, i32, i32 -> f16
      %next = arith.addf %s, %x : f16
      scf.yield %next : f16
    }
    scf.for %v = %c0 to %c4 step %c1 : i32 {
      tile.element_store %to[%t, %v], %sum : !tile.buffer<64x4xf16, shared>, (i32, i32), f16
    }
    tile.together {
      %none = arith.constant dense<0.0> : tensor<64x64xf32>
      %tile = tile.buffer_load %to : !tile.buffer<64x4xf16, shared> -> tensor<64x4xf16>
      %turned = tile.permute %tile [1, 0] : tensor<64x4xf16> -> tensor<4x64xf16>
      %dot = tile.dot %tile, %turned, %none : tensor<64x4xf16>, tensor<4x64xf16> -> tensor<64x64xf32>
      tile.yield
    }
    tile.yield
  }
  tile.return
}

// -----

// What all threads do together in two statements they meet for once; a wait of their own between such statements is left.
// CHECK-LABEL: tile.kernel @meetings
// CHECK: tile.together
// CHECK-NOT: tile.together
// CHECK: tile.buffer_store
// CHECK: tile.buffer_store
// CHECK: tile.element_load
// CHECK: tile.together
// CHECK: tile.return
tile.kernel @meetings(%x: tensor<32xf32>) {
  %a = tile.alloc : !tile.buffer<32xf32, shared>
  %b = tile.alloc : !tile.buffer<32xf32, shared>
  %c = tile.alloc : !tile.buffer<32xf32, shared>
  tile.threads 32 {
  ^bb0(%t: i32):
    tile.together {
      tile.buffer_store %a, %x : !tile.buffer<32xf32, shared>, tensor<32xf32>
    }
    %two = arith.addi %t, %t : i32
    tile.together {
      tile.buffer_store %b, %x : !tile.buffer<32xf32, shared>, tensor<32xf32>
    }
    %value = tile.element_load %a[%two] : !tile.buffer<32xf32, shared>, i32 -> f32
    tile.element_store %c[%t], %value : !tile.buffer<32xf32, shared>, (i32), f32
    tile.together {
      tile.buffer_store %a, %x : !tile.buffer<32xf32, shared>, tensor<32xf32>
    }
  }
  tile.return
}
