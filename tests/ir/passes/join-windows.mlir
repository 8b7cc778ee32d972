// RUN: tilery-opt %s --join-windows --canonicalize --cse --split-input-file | FileCheck %s

// Four copies of 64 columns are one of 256; so are the products of these windows, begun anew by the first.
// CHECK-LABEL: tile.kernel @copies_and_products
// CHECK-NOT:     scf.for
// CHECK:         %[[T:.*]] = tile.load %{{.*}} -> tensor<64x256xf16>
// CHECK:         tile.buffer_store %{{.*}}, %[[T]]
// CHECK:         %[[A:.*]] = tile.buffer_load %{{.*}} -> tensor<64x256xf16>
// CHECK:         %[[B:.*]] = tile.buffer_load %{{.*}} -> tensor<64x256xf16>
// CHECK:         %[[BT:.*]] = tile.permute %[[B]] [1, 0] : tensor<64x256xf16> -> tensor<256x64xf16>
// CHECK:         tile.dot %[[A]], %[[BT]], %{{.*}} clear %true
// CHECK-NOT:     scf.for
tile.kernel @copies_and_products(%in: !tile.ptr<f16>, %k: i64) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %c64 = arith.constant 64 : i32
  %n = arith.constant 1024 : i64
  %step = arith.constant 1 : i64
  %first = arith.constant 0 : i64
  %a = tile.alloc : !tile.buffer<64x256xf16, shared>
  %b = tile.alloc : !tile.buffer<64x256xf16, shared>
  %s = tile.alloc : !tile.buffer<64x64xf32, fragment>
  %from = tile.root %in[%n, %n] strides [%n, %step] : !tile.ptr<f16> -> !tile.root<2xf16>
  scf.for %j = %zero to %four step %one : i32 {
    %at = arith.muli %j, %c64 overflow<nsw> : i32
    %wide = arith.extsi %at : i32 to i64
    %v = tile.view %from[%k, %wide] dims [0, 1] dilations [%step, %step] limits [] : !tile.root<2xf16> -> !tile.view<64x64xf16>
    %t = tile.load %v : !tile.view<64x64xf16> -> tensor<64x64xf16>
    %w = tile.subview %b[%first, %wide] dims [0, 1] : !tile.buffer<64x256xf16, shared>, i64, i64 -> !tile.buffer<64x64xf16, shared>
    tile.buffer_store %w, %t : !tile.buffer<64x64xf16, shared>, tensor<64x64xf16>
  }
  scf.for %j = %zero to %four step %one : i32 {
    %at = arith.muli %j, %c64 overflow<nsw> : i32
    %wide = arith.extsi %at : i32 to i64
    %begins = arith.cmpi eq, %j, %zero : i32
    %x = tile.subview %a[%first, %wide] dims [0, 1] : !tile.buffer<64x256xf16, shared>, i64, i64 -> !tile.buffer<64x64xf16, shared>
    %y = tile.subview %b[%first, %wide] dims [0, 1] : !tile.buffer<64x256xf16, shared>, i64, i64 -> !tile.buffer<64x64xf16, shared>
    %tx = tile.buffer_load %x : !tile.buffer<64x64xf16, shared> -> tensor<64x64xf16>
    %ty = tile.buffer_load %y : !tile.buffer<64x64xf16, shared> -> tensor<64x64xf16>
    %acc = tile.buffer_load %s : !tile.buffer<64x64xf32, fragment> -> tensor<64x64xf32>
    %turned = tile.permute %ty [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %sum = tile.dot %tx, %turned, %acc clear %begins {precision = 1 : i32} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    tile.buffer_store %s, %sum : !tile.buffer<64x64xf32, fragment>, tensor<64x64xf32>
  }
  tile.return
}

// -----

// A turn reads what the one before has written; windows that overlap are not neighbours.
// CHECK-LABEL: tile.kernel @others
// CHECK-COUNT-2: scf.for
tile.kernel @others(%in: !tile.ptr<f16>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %n = arith.constant 1024 : i64
  %step = arith.constant 1 : i64
  %first = arith.constant 0 : i64
  %a = tile.alloc : !tile.buffer<64x256xf16, shared>
  %from = tile.root %in[%n, %n] strides [%n, %step] : !tile.ptr<f16> -> !tile.root<2xf16>
  scf.for %j = %zero to %four step %one : i32 {
    %at = arith.muli %j, %c32 overflow<nsw> : i32
    %wide = arith.extsi %at : i32 to i64
    %v = tile.view %from[%first, %wide] dims [0, 1] dilations [%step, %step] limits [] : !tile.root<2xf16> -> !tile.view<64x64xf16>
    %t = tile.load %v : !tile.view<64x64xf16> -> tensor<64x64xf16>
    %w = tile.subview %a[%first, %wide] dims [0, 1] : !tile.buffer<64x256xf16, shared>, i64, i64 -> !tile.buffer<64x64xf16, shared>
    tile.buffer_store %w, %t : !tile.buffer<64x64xf16, shared>, tensor<64x64xf16>
  }
  scf.for %j = %zero to %four step %one : i32 {
    %at = arith.muli %j, %c64 overflow<nsw> : i32
    %wide = arith.extsi %at : i32 to i64
    %w = tile.subview %a[%first, %wide] dims [0, 1] : !tile.buffer<64x256xf16, shared>, i64, i64 -> !tile.buffer<64x64xf16, shared>
    %t = tile.buffer_load %w : !tile.buffer<64x64xf16, shared> -> tensor<64x64xf16>
    %y = tile.subview %a[%first, %first] dims [0, 1] : !tile.buffer<64x256xf16, shared>, i64, i64 -> !tile.buffer<64x64xf16, shared>
    tile.buffer_store %y, %t : !tile.buffer<64x64xf16, shared>, tensor<64x64xf16>
  }
  tile.return
}
