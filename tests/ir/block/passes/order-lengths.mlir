// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,order-programs,canonicalize,cse))' | FileCheck %s

// The number of steps up to a program's rows, as a quotient, grows with the program's first coordinate: those with most steps come first.
// CHECK-LABEL: tile.kernel @quotient
// CHECK: block.programs longest order(
// CHECK-LABEL: tile.kernel @falling
// CHECK: block.programs grid
tile.kernel @quotient(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                      %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i64 = arith.constant 64 : i32
  %i127 = arith.constant 127 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %id = tile.program_id 0
  %row = arith.muli %id, %i64 : i32
  %last = arith.addi %row, %i127 : i32
  %steps = tile.div floor %last, %i64 : i32
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %sums = scf.for %i = %i0 to %steps step %i1 iter_args(%acc = %none) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %i, %i64 overflow<nsw> : i32
    %wide = arith.extsi %at : i32 to i64
    %start = arith.muli %wide, %c64 overflow<nsw> : i64
    %ak = tile.access %k, %start steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tq, %tk, %none : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %h = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %av = tile.access %v, %start steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %h, %tv, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %rowWide = arith.extsi %row : i32 to i64
  %out = arith.muli %rowWide, %c64 overflow<nsw> : i64
  %ao = tile.access %o, %out steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %sums : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// A constant over the program's number falls.
tile.kernel @falling(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                     %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i64 = arith.constant 64 : i32
  %i4096 = arith.constant 4096 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %id = tile.program_id 0
  %row = arith.muli %id, %i64 : i32
  %last = arith.addi %row, %i64 : i32
  %steps = tile.div floor %i4096, %last : i32
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %sums = scf.for %i = %i0 to %steps step %i1 iter_args(%acc = %none) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %i, %i64 overflow<nsw> : i32
    %wide = arith.extsi %at : i32 to i64
    %start = arith.muli %wide, %c64 overflow<nsw> : i64
    %ak = tile.access %k, %start steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tq, %tk, %none : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %h = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %av = tile.access %v, %start steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %h, %tv, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %rowWide = arith.extsi %row : i32 to i64
  %out = arith.muli %rowWide, %c64 overflow<nsw> : i64
  %ao = tile.access %o, %out steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %sums : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
