// RUN: tilery-opt %s --spread-rows --split-input-file | FileCheck %s

// Eight rows of 64 bytes, four words of each: eight lanes a bank without a pad.
// CHECK-LABEL: tile.kernel @factor
// CHECK:         %[[WIDE:.*]] = tile.alloc : <8x40xf16, shared>
// CHECK:         %[[ROWS:.*]] = tile.subview %[[WIDE]]{{.*}} dims [0, 1] : {{.*}} -> <8x32xf16, shared>
// CHECK:         tile.buffer_store %[[ROWS]]
// CHECK:         tile.element_load %[[ROWS]]
tile.kernel @factor(%x: tensor<8x32xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c16 = arith.constant 16 : i32
  %rows = tile.alloc : !tile.buffer<8x32xf16, shared>
  %own = tile.alloc : !tile.buffer<32xf16, shared>
  tile.threads 32 {
  ^bb0(%t: i32):
    tile.together {
      tile.buffer_store %rows, %x : !tile.buffer<8x32xf16, shared>, tensor<8x32xf16>
    }
    scf.for %k = %c0 to %c2 step %c1 : i32 {
      %row = tile.div floor %t, %c4 : i32
      %part = tile.rem floor %t, %c4 : i32
      %two = arith.muli %part, %c2 overflow<nsw> : i32
      %step = arith.muli %k, %c16 overflow<nsw> : i32
      %column = arith.addi %step, %two overflow<nsw> : i32
      %value = tile.element_load %rows[%row, %column] : !tile.buffer<8x32xf16, shared>, i32, i32 -> f16
      tile.element_store %own[%t], %value : !tile.buffer<32xf16, shared>, (i32), f16
    }
  }
  tile.return
}

// -----

// Lanes side by side in a row meet nowhere, and where rows lie that data chooses is not known.
// CHECK-LABEL: tile.kernel @beside
// CHECK-NOT:     tile.subview
tile.kernel @beside(%x: tensor<8x32xf32>, %named: i32) {
  %rows = tile.alloc : !tile.buffer<8x32xf32, shared>
  %others = tile.alloc : !tile.buffer<8x32xf32, shared>
  %zero = arith.constant 0 : i32
  tile.threads 32 {
  ^bb0(%t: i32):
    tile.together {
      tile.buffer_store %rows, %x : !tile.buffer<8x32xf32, shared>, tensor<8x32xf32>
    }
    %value = tile.element_load %rows[%zero, %t] : !tile.buffer<8x32xf32, shared>, i32, i32 -> f32
    %bits = arith.fptosi %value : f32 to i32
    tile.element_store %others[%bits, %zero], %value : !tile.buffer<8x32xf32, shared>, (i32, i32), f32
  }
  tile.return
}
