// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// What a thread loads and stores one by one goes by vectors, where the launch keeps alignments: 8 neighbours of each thread.

// CHECK-LABEL: .entry copy
// CHECK-COUNT-2: ld.global.v4.b32
// CHECK-NOT: ld.global
// CHECK-COUNT-2: st.global.v4.b32
// CHECK-NOT: st.global
tile.kernel @copy(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64},
                  %stride: i64 {tile.divisibility = 16 : i64}, %n: i64) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %eight = arith.constant 8 : i64
  %count = arith.constant 8 : i32
  %id = tile.program_id 0
  %row = arith.extsi %id : i32 to i64
  %base = arith.muli %row, %stride overflow<nsw> : i64
  %there = arith.cmpi slt, %row, %n : i64
  tile.threads 64 {
  ^bb0(%thread: i32):
    %number = arith.extsi %thread : i32 to i64
    %first = arith.muli %number, %eight overflow<nsw> : i64
    %begin = arith.addi %base, %first overflow<nsw> : i64
    %own = tile.alloc : <8xf32, local>
    scf.for %i = %zero to %count step %one : i32 {
      %index = arith.extsi %i : i32 to i64
      %at = arith.addi %begin, %index overflow<nsw> : i64
      %from = tile.access %x, %at steps() bounds []() residual %there : i1 : <f32>, (), () -> <f32>
      %v = tile.load %from : !tile.access<f32> -> f32
      tile.element_store %own[%index], %v : <8xf32, local>, (i64), f32
    }
    scf.for %i = %zero to %count step %one : i32 {
      %index = arith.extsi %i : i32 to i64
      %at = arith.addi %begin, %index overflow<nsw> : i64
      %v = tile.element_load %own[%index] : <8xf32, local>, i64 -> f32
      %to = tile.access %o, %at steps() bounds []() residual %there : i1 : <f32>, (), () -> <f32>
      tile.store %to, %v : !tile.access<f32>, f32
    }
  }
  tile.return
}
