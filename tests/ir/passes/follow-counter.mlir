// RUN: tilery-opt --follow-counter --canonicalize --split-input-file %s | FileCheck %s

// The number that is carried is the loop's, a step behind; the next one is the loop's own.
// CHECK-LABEL: tile.kernel @behind
// CHECK-NOT:     iter_args
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to
// CHECK-DAG:       arith.extsi %[[I]] : i32 to i64
// CHECK-DAG:       arith.addi %[[I]], %c-132_i32
tile.kernel @behind(%out: !tile.ptr<i32>, %tiles: i32) {
  %c132 = arith.constant 132 : i32
  %first = tile.program_id 0
  %before = arith.subi %first, %c132 overflow<nsw> : i32
  %last = scf.for %i = %first to %tiles step %c132 iter_args(%c = %before) -> (i32) : i32 {
    %next = arith.addi %c, %c132 overflow<nsw> : i32
    %at = arith.extsi %next : i32 to i64
    %place = tile.access %out, %at steps() bounds []() : <i32>, (), () -> <i32>
    tile.store %place, %c : !tile.access<i32>, i32
    scf.yield %next : i32
  }
  tile.return
}

// -----

// Another step, a start that is not a constant away, and what counts only at times stay as they are.
// CHECK-LABEL: tile.kernel @others
// CHECK:         scf.for %{{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}})
// CHECK:           arith.addi %[[A]], %c2_i32
// CHECK:           arith.addi %[[B]], %c1_i32
// CHECK:           arith.select %{{.*}}, %{{.*}}, %[[C]]
tile.kernel @others(%out: !tile.ptr<i32>, %tiles: i32, %start: i32, %whether: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %zero = arith.constant 0 : i64
  %r:3 = scf.for %i = %c0 to %tiles step %c1 iter_args(%a = %c0, %b = %start, %c = %c0) -> (i32, i32, i32) : i32 {
    %x = arith.addi %a, %c2 : i32
    %y = arith.addi %b, %c1 : i32
    %more = arith.addi %c, %c1 : i32
    %z = arith.select %whether, %more, %c : i32
    scf.yield %x, %y, %z : i32, i32, i32
  }
  %s = arith.addi %r#0, %r#1 : i32
  %t = arith.addi %s, %r#2 : i32
  %place = tile.access %out, %zero steps() bounds []() : <i32>, (), () -> <i32>
  tile.store %place, %t : !tile.access<i32>, i32
  tile.return
}

// -----

// A tile that counts on by a constant is its first value and a multiple of the loop's number, behind the loop, too.
// CHECK-LABEL: tile.kernel @tiles
// CHECK:         %[[FIRST:.*]] = tile.range 0 to 64
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[N:.*]] step
// CHECK-NEXT:      %[[BY:.*]] = arith.muli %[[I]], %c64_i32 overflow<nsw>
// CHECK-NEXT:      %[[ALL:.*]] = tile.splat %[[BY]]
// CHECK-NEXT:      %[[AT:.*]] = arith.addi %[[ALL]], %[[FIRST]] overflow<nsw>
// CHECK:           tile.div trunc %[[AT]]
// CHECK:         %[[END:.*]] = arith.maxsi %[[N]], %c0_i32
// CHECK:         arith.muli %[[END]], %c64_i32 overflow<nsw>
tile.kernel @tiles(%x: !tile.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %more = arith.constant dense<64> : tensor<64xi32>
  %page = arith.constant dense<16> : tensor<64xi32>
  %first = tile.range 0 to 64 : tensor<64xi32>
  %place = tile.access %x, %zero steps(%one) bounds [0]() : <i32>, (i64), () -> <64xi32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%at = %first) -> (tensor<64xi32>) : i32 {
    %of = tile.div trunc %at, %page : tensor<64xi32>
    tile.store %place, %of : !tile.access<64xi32>, tensor<64xi32>
    %next = arith.addi %at, %more overflow<nsw> : tensor<64xi32>
    scf.yield %next : tensor<64xi32>
  }
  tile.store %place, %last : !tile.access<64xi32>, tensor<64xi32>
  tile.return
}

// -----

// Tiles that may wrap, or begin below 0, or count by less than the loop's step, or are used behind a loop of other steps.
// CHECK-LABEL: tile.kernel @other_tiles
// CHECK:         scf.for %{{.*}} iter_args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NOT:       arith.muli
tile.kernel @other_tiles(%x: !tile.ptr<i32>, %n: i32, %start: i32) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant dense<2> : tensor<64xi32>
  %three = arith.constant dense<3> : tensor<64xi32>
  %r = tile.range 0 to 64 : tensor<64xi32>
  %s = tile.splat %start : i32 -> tensor<64xi32>
  %place = tile.access %x, %zero steps(%one) bounds [0]() : <i32>, (i64), () -> <64xi32>
  %l:4 = scf.for %i = %c0 to %n step %c2 iter_args(%a = %r, %b = %s, %c = %r, %d = %r) -> (tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>) : i32 {
    %ab = arith.addi %a, %b : tensor<64xi32>
    %abc = arith.addi %ab, %c : tensor<64xi32>
    %abcd = arith.addi %abc, %d : tensor<64xi32>
    tile.store %place, %abcd : !tile.access<64xi32>, tensor<64xi32>
    %w = arith.addi %a, %two : tensor<64xi32>
    %y = arith.addi %b, %two overflow<nsw> : tensor<64xi32>
    %z = arith.addi %c, %three overflow<nsw> : tensor<64xi32>
    %v = arith.addi %d, %two overflow<nsw> : tensor<64xi32>
    scf.yield %w, %y, %z, %v : tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>
  }
  tile.store %place, %l#3 : !tile.access<64xi32>, tensor<64xi32>
  tile.return
}
