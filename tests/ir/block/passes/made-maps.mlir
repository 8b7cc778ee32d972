// RUN: tilery-opt --choose-schedule --pipeline --stage-stores --split-input-file %s | FileCheck %s
// Problems of a table: pointers, sizes and strides are loaded, so that the device makes the maps. What is stored is asked on the device
// whether it is boxes; what is loaded is promised to be.

// CHECK-LABEL: tile.kernel @problems
// CHECK-DAG: %[[stem:.*]] = tile.ptr_cast %arg0
// CHECK-DAG: %[[host:.*]] = block.map %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}] : <f16> -> <128x64xf16, 128>
// CHECK: scf.while
// CHECK: %[[a:.*]] = tile.int_to_ptr
// CHECK: block.remap %[[host]], %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}] : <128x64xf16, 128>, <f16>
// CHECK: block.remap %{{.*}}, %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}] : <64x64xf16, 128>, <f16>
// CHECK: block.mma_wait
// CHECK: tile.ptr_to_int
// CHECK: scf.if
// CHECK: %[[c:.*]] = block.remap
// CHECK: block.store_box %{{.*}} -> %[[c]]
// CHECK: } else {
// CHECK-NEXT: tile.store
tile.kernel @problems(%tables: !tile.ptr<i64> {tile.divisibility = 16 : i64}, %sizes: !tile.ptr<i32> {tile.divisibility = 16 : i64},
                      %groups: i32) {
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %c4 = arith.constant 4 : i64
  %c5 = arith.constant 5 : i64
  %c6 = arith.constant 6 : i64
  %zeros = arith.constant dense<0.0> : tensor<128x64xf32>
  %zerosA = arith.constant dense<0.0> : tensor<128x64xf16>
  %zerosB = arith.constant dense<0.0> : tensor<64x64xf16>
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i63 = arith.constant 63 : i32
  %i64 = arith.constant 64 : i32
  %i127 = arith.constant 127 : i32
  %i128 = arith.constant 128 : i32
  %first = tile.program_id 0
  %programs = tile.num_programs 0
  %r:2 = scf.for %g = %i0 to %groups step %i1 iter_args(%next = %first, %before = %i0) -> (i32, i32) : i32 {
    %wide = arith.extsi %g : i32 to i64
    %at = arith.muli %wide, %c6 overflow<nsw> : i64
    %atN = arith.addi %at, %c1 overflow<nsw> : i64
    %atK = arith.addi %at, %c2 overflow<nsw> : i64
    %atA = arith.addi %at, %c3 overflow<nsw> : i64
    %atB = arith.addi %at, %c4 overflow<nsw> : i64
    %atC = arith.addi %at, %c5 overflow<nsw> : i64
    %pm = tile.access %sizes, %at steps() bounds []() : <i32>, (), () -> <i32>
    %m = tile.load %pm : !tile.access<i32> -> i32
    %pn = tile.access %sizes, %atN steps() bounds []() : <i32>, (), () -> <i32>
    %n = tile.load %pn : !tile.access<i32> -> i32
    %pk = tile.access %sizes, %atK steps() bounds []() : <i32>, (), () -> <i32>
    %k = tile.load %pk : !tile.access<i32> -> i32
    %pla = tile.access %sizes, %atA steps() bounds []() : <i32>, (), () -> <i32>
    %la = tile.load %pla : !tile.access<i32> -> i32
    %plb = tile.access %sizes, %atB steps() bounds []() : <i32>, (), () -> <i32>
    %lb = tile.load %plb : !tile.access<i32> -> i32
    %plc = tile.access %sizes, %atC steps() bounds []() : <i32>, (), () -> <i32>
    %lc = tile.load %plc : !tile.access<i32> -> i32
    %m127 = arith.addi %m, %i127 overflow<nsw> : i32
    %down = tile.div trunc %m127, %i128 : i32
    %n63 = arith.addi %n, %i63 overflow<nsw> : i32
    %across = tile.div trunc %n63, %i64 : i32
    %tiles = arith.muli %down, %across overflow<nsw> : i32
    %end = arith.addi %before, %tiles overflow<nsw> : i32
    %k63 = arith.addi %k, %i63 overflow<nsw> : i32
    %kTiles = tile.div trunc %k63, %i64 : i32
    %kWide = arith.extsi %kTiles : i32 to i64
    %steps = arith.maxsi %kWide, %c0 : i64
    %wm = arith.extsi %m : i32 to i64
    %wn = arith.extsi %n : i32 to i64
    %wk = arith.extsi %k : i32 to i64
    %wla = arith.extsi %la : i32 to i64
    %wlb = arith.extsi %lb : i32 to i64
    %wlc = arith.extsi %lc : i32 to i64
    %last = scf.while (%t = %next) : (i32) -> i32 {
      %from = arith.cmpi sge, %t, %before : i32
      %to = arith.cmpi slt, %t, %end : i32
      %in = arith.andi %from, %to : i1
      scf.condition(%in) %t : i32
    } do {
    ^bb0(%t: i32):
      %ta = arith.muli %wide, %c3 overflow<nsw> : i64
      %tb = arith.addi %ta, %c1 overflow<nsw> : i64
      %tc = arith.addi %ta, %c2 overflow<nsw> : i64
      %qa = tile.access %tables, %ta steps() bounds []() : <i64>, (), () -> <i64>
      %va = tile.load %qa : !tile.access<i64> -> i64
      %a = tile.int_to_ptr %va : i64 -> !tile.ptr<f16>
      %qb = tile.access %tables, %tb steps() bounds []() : <i64>, (), () -> <i64>
      %vb = tile.load %qb : !tile.access<i64> -> i64
      %b = tile.int_to_ptr %vb : i64 -> !tile.ptr<f16>
      %qc = tile.access %tables, %tc steps() bounds []() : <i64>, (), () -> <i64>
      %vc = tile.load %qc : !tile.access<i64> -> i64
      %c = tile.int_to_ptr %vc : i64 -> !tile.ptr<f16>
      %own = arith.subi %t, %before overflow<nsw> : i32
      %row = tile.div trunc %own, %across : i32
      %column = tile.rem trunc %own, %across : i32
      %wRow = arith.extsi %row : i32 to i64
      %top = arith.muli %wRow, %c128 overflow<nsw> : i64
      %rowsLeft = arith.subi %wm, %top overflow<nsw> : i64
      %wColumn = arith.extsi %column : i32 to i64
      %left = arith.muli %wColumn, %c64 overflow<nsw> : i64
      %columnsLeft = arith.subi %wn, %left overflow<nsw> : i64
      %sum = tile.contract %steps, %zeros live[%rowsLeft, %columnsLeft] {
      ^bb0(%step: i64):
        %deep = arith.muli %step, %c64 overflow<nsw> : i64
        %kLeft = arith.subi %wk, %deep overflow<nsw> : i64
        %topA = arith.muli %top, %wla overflow<nsw> : i64
        %oa = arith.addi %topA, %deep overflow<nsw> : i64
        %xa = tile.access %a, %oa steps(%wla, %c1) bounds [1, 1](%c0, %rowsLeft, %c0, %kLeft) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <128x64xf16>
        %fa = tile.load %xa other %zerosA : tensor<128x64xf16> {tile.aligned = 16 : i64} : !tile.access<128x64xf16> -> tensor<128x64xf16>
        %deepB = arith.muli %deep, %wlb overflow<nsw> : i64
        %ob = arith.addi %deepB, %left overflow<nsw> : i64
        %xb = tile.access %b, %ob steps(%wlb, %c1) bounds [1, 1](%c0, %kLeft, %c0, %columnsLeft) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <64x64xf16>
        %fb = tile.load %xb other %zerosB : tensor<64x64xf16> {tile.aligned = 16 : i64} : !tile.access<64x64xf16> -> tensor<64x64xf16>
        tile.yield %fa, %fb : tensor<128x64xf16>, tensor<64x64xf16>
      } : tensor<128x64xf32>
      %rounded = arith.truncf %sum : tensor<128x64xf32> to tensor<128x64xf16>
      %topC = arith.muli %top, %wlc overflow<nsw> : i64
      %oc = arith.addi %topC, %left overflow<nsw> : i64
      %xc = tile.access %c, %oc steps(%wlc, %c1) bounds [1, 1](%c0, %rowsLeft, %c0, %columnsLeft) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <128x64xf16>
      tile.store %xc, %rounded : !tile.access<128x64xf16>, tensor<128x64xf16>
      %following = arith.addi %t, %programs : i32
      scf.yield %following : i32
    }
    scf.yield %last, %end : i32, i32
  }
  tile.return
}

// -----

// Nobody promises where rows begin: threads fetch them.
// CHECK-LABEL: tile.kernel @unknown
// CHECK-NOT: block.remap
tile.kernel @unknown(%tables: !tile.ptr<i64> {tile.divisibility = 16 : i64}, %c: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %steps: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %zeros = arith.constant dense<0.0> : tensor<128x64xf32>
  %p = tile.access %tables, %c0 steps() bounds []() : <i64>, (), () -> <i64>
  %v = tile.load %p : !tile.access<i64> -> i64
  %a = tile.int_to_ptr %v : i64 -> !tile.ptr<f16>
  %sum = tile.contract %steps, %zeros {
  ^bb0(%step: i64):
    %deep = arith.muli %step, %c64 overflow<nsw> : i64
    %xa = tile.access %a, %deep steps(%c128, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x64xf16>
    %fa = tile.load %xa : !tile.access<128x64xf16> -> tensor<128x64xf16>
    %deepB = arith.muli %deep, %c64 overflow<nsw> : i64
    %xb = tile.access %b, %deepB steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %fb = tile.load %xb : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %fa, %fb : tensor<128x64xf16>, tensor<64x64xf16>
  } : tensor<128x64xf32>
  %xc = tile.access %c, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <128x64xf32>
  tile.store %xc, %sum : !tile.access<128x64xf32>, tensor<128x64xf32>
  tile.return
}
