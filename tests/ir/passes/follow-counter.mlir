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
