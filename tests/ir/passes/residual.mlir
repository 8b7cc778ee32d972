// RUN: tilery-opt --tile-pipeline %s | FileCheck %s
// `if` around a store of scalar code: what it says of single dimensions becomes an interval, as a pointer program's mask does.
// CHECK-LABEL: tile.kernel @guarded
// CHECK-NOT:     residual
// CHECK:         tile.load
// CHECK:         %[[OUT:.*]] = tile.access %arg1{{.*}} bounds [1, 1]
// CHECK:         tile.store %[[OUT]]
tile.kernel @guarded(%in: !tile.ptr<f32, const>, %out: !tile.ptr<f32>, %m: i64, %n: i64) {
  %c8 = arith.constant 8 : i64
  %c4 = arith.constant 4 : i64
  %c1 = arith.constant 1 : i64
  %id = tile.program_id 0
  %id64 = arith.extsi %id : i32 to i64
  %first = arith.muli %id64, %c8 overflow<nsw> : i64
  %rin = tile.root %in[%m, %n] strides [%n, %c1] : !tile.ptr<f32, const> -> !tile.root<2xf32>
  %rout = tile.root %out[%m, %n] strides [%n, %c1] : !tile.ptr<f32> -> !tile.root<2xf32>
  tile.parallel(%c8, %c4) {
  ^bb0(%i: i64, %j: i64):
    %row = arith.addi %first, %i overflow<nsw> : i64
    %inside = arith.cmpi slt, %row, %m : i64
    scf.if %inside {
      %from = tile.view %rin[%row, %j] dims [] dilations [] limits [] : !tile.root<2xf32> -> <f32>
      %x = tile.load %from : !tile.view<f32> -> f32
      %to = tile.view %rout[%row, %j] dims [] dilations [] limits [] : !tile.root<2xf32> -> <f32>
      tile.store %to, %x : !tile.view<f32>, f32
    }
  } : i64, i64
  tile.return
}
