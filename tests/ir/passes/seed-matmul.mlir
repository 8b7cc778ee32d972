// RUN: tilery-opt --pass-pipeline='builtin.module(tile-pipeline)' %s | FileCheck %s
// The pointer-style matmul of the Tileon seed, without the line that advances offs_k, becomes one contraction.
// CHECK-LABEL: tile.kernel @matmul
// CHECK-NOT: scf.for
// CHECK-NOT: pointer_access
// CHECK: %[[ACC:.*]] = tile.contract %{{.*}}, %{{.*}} {
// CHECK: ^bb0(%[[S:.*]]: i64):
// CHECK: %[[DONE:.*]] = arith.muli %[[S]], %{{.*}} overflow<nsw> : i64
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[DONE]] overflow<nsw> : i64
// CHECK: tile.access %{{.*}}, %[[DONE]] steps(%{{.*}}, %{{.*}}) bounds [0, 1](%{{.*}}, %[[LEFT]]) : <f32, const>, (tensor<64xi64>, i64), (i64, i64) -> <64x32xf32>
// CHECK: tile.access %{{.*}}, %{{.*}} steps(%{{.*}}, %{{.*}}) bounds [1, 0](%{{.*}}, %[[LEFT]]) : <f32, const>, (i64, tensor<64xi64>), (i64, i64) -> <32x64xf32>
// CHECK: tile.access %{{.*}} bounds [1, 1]
// CHECK: tile.store %{{.*}}, %[[ACC]]
module {
  tile.kernel @matmul(%a: !tile.ptr<f32, const>, %b: !tile.ptr<f32, const>, %c: !tile.ptr<f32>, %M: i32, %N: i32, %K: i32,
                      %sam: i32, %sbk: i32, %scm: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c31 = arith.constant 31 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant 0.0 : f32
    %pm = tile.program_id 0
    %pn = tile.program_id 1
    %rm = tile.range 0 to 64 : tensor<64xi32>
    %rk = tile.range 0 to 32 : tensor<32xi32>
    %m0 = arith.muli %pm, %c64 overflow<nsw> : i32
    %m0s = tile.splat %m0 : i32 -> tensor<64xi32>
    %om = arith.addi %m0s, %rm overflow<nsw> : tensor<64xi32>
    %Ms = tile.splat %M : i32 -> tensor<64xi32>
    %am = tile.rem trunc %om, %Ms : tensor<64xi32>
    %n0 = arith.muli %pn, %c64 overflow<nsw> : i32
    %n0s = tile.splat %n0 : i32 -> tensor<64xi32>
    %on = arith.addi %n0s, %rm overflow<nsw> : tensor<64xi32>
    %Ns = tile.splat %N : i32 -> tensor<64xi32>
    %bn = tile.rem trunc %on, %Ns : tensor<64xi32>
    %am2 = tile.expand_dims %am axis 1 : tensor<64xi32> -> tensor<64x1xi32>
    %sams = tile.splat %sam : i32 -> tensor<64x1xi32>
    %arow = arith.muli %am2, %sams overflow<nsw> : tensor<64x1xi32>
    %rk2 = tile.expand_dims %rk axis 0 : tensor<32xi32> -> tensor<1x32xi32>
    %arowb = tile.broadcast %arow : tensor<64x1xi32> -> tensor<64x32xi32>
    %rkb = tile.broadcast %rk2 : tensor<1x32xi32> -> tensor<64x32xi32>
    %aoff = arith.addi %arowb, %rkb overflow<nsw> : tensor<64x32xi32>
    %as = tile.splat %a : !tile.ptr<f32, const> -> tensor<64x32x!tile.ptr<f32, const>>
    %ap = tile.add_ptr %as, %aoff : tensor<64x32x!tile.ptr<f32, const>>, tensor<64x32xi32>
    %rk3 = tile.expand_dims %rk axis 1 : tensor<32xi32> -> tensor<32x1xi32>
    %sbks = tile.splat %sbk : i32 -> tensor<32x1xi32>
    %brow = arith.muli %rk3, %sbks overflow<nsw> : tensor<32x1xi32>
    %bn2 = tile.expand_dims %bn axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %browb = tile.broadcast %brow : tensor<32x1xi32> -> tensor<32x64xi32>
    %bnb = tile.broadcast %bn2 : tensor<1x64xi32> -> tensor<32x64xi32>
    %boff = arith.addi %browb, %bnb overflow<nsw> : tensor<32x64xi32>
    %bs = tile.splat %b : !tile.ptr<f32, const> -> tensor<32x64x!tile.ptr<f32, const>>
    %bp = tile.add_ptr %bs, %boff : tensor<32x64x!tile.ptr<f32, const>>, tensor<32x64xi32>
    %acc0 = tile.splat %zero : f32 -> tensor<64x64xf32>
    %kup = arith.addi %K, %c31 overflow<nsw> : i32
    %trips = tile.div floor %kup, %c32 : i32
    %r:3 = scf.for %k = %c0 to %trips step %c1 iter_args(%acc = %acc0, %pa = %ap, %pb = %bp)
        -> (tensor<64x64xf32>, tensor<64x32x!tile.ptr<f32, const>>, tensor<32x64x!tile.ptr<f32, const>>) : i32 {
      %done = arith.muli %k, %c32 overflow<nsw> : i32
      %left = arith.subi %K, %done overflow<nsw> : i32
      %lefta = tile.splat %left : i32 -> tensor<1x32xi32>
      %ma = arith.cmpi slt, %rk2, %lefta : tensor<1x32xi32>
      %mab = tile.broadcast %ma : tensor<1x32xi1> -> tensor<64x32xi1>
      %pla = tile.pointer_access %pa mask %mab : tensor<64x32xi1> : tensor<64x32x!tile.ptr<f32, const>> -> !tile.access<64x32xf32>
      %va = tile.load %pla : !tile.access<64x32xf32> -> tensor<64x32xf32>
      %leftb = tile.splat %left : i32 -> tensor<32x1xi32>
      %mb = arith.cmpi slt, %rk3, %leftb : tensor<32x1xi32>
      %mbb = tile.broadcast %mb : tensor<32x1xi1> -> tensor<32x64xi1>
      %plb = tile.pointer_access %pb mask %mbb : tensor<32x64xi1> : tensor<32x64x!tile.ptr<f32, const>> -> !tile.access<32x64xf32>
      %vb = tile.load %plb : !tile.access<32x64xf32> -> tensor<32x64xf32>
      %d = tile.dot %va, %vb, %acc0 : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
      %sum = arith.addf %acc, %d : tensor<64x64xf32>
      %sa = tile.splat %c32 : i32 -> tensor<64x32xi32>
      %pa2 = tile.add_ptr %pa, %sa : tensor<64x32x!tile.ptr<f32, const>>, tensor<64x32xi32>
      %kstep = arith.muli %c32, %sbk overflow<nsw> : i32
      %sb = tile.splat %kstep : i32 -> tensor<32x64xi32>
      %pb2 = tile.add_ptr %pb, %sb : tensor<32x64x!tile.ptr<f32, const>>, tensor<32x64xi32>
      scf.yield %sum, %pa2, %pb2 : tensor<64x64xf32>, tensor<64x32x!tile.ptr<f32, const>>, tensor<32x64x!tile.ptr<f32, const>>
    }
    %om2 = tile.expand_dims %om axis 1 : tensor<64xi32> -> tensor<64x1xi32>
    %scms = tile.splat %scm : i32 -> tensor<64x1xi32>
    %crow = arith.muli %scms, %om2 overflow<nsw> : tensor<64x1xi32>
    %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x1x!tile.ptr<f32>>
    %crp = tile.add_ptr %cs, %crow : tensor<64x1x!tile.ptr<f32>>, tensor<64x1xi32>
    %crpb = tile.broadcast %crp : tensor<64x1x!tile.ptr<f32>> -> tensor<64x64x!tile.ptr<f32>>
    %on2 = tile.expand_dims %on axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %onb = tile.broadcast %on2 : tensor<1x64xi32> -> tensor<64x64xi32>
    %cp = tile.add_ptr %crpb, %onb : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
    %Ms2 = tile.splat %M : i32 -> tensor<64x1xi32>
    %mm = arith.cmpi slt, %om2, %Ms2 : tensor<64x1xi32>
    %mmb = tile.broadcast %mm : tensor<64x1xi1> -> tensor<64x64xi1>
    %Ns2 = tile.splat %N : i32 -> tensor<1x64xi32>
    %mn = arith.cmpi slt, %on2, %Ns2 : tensor<1x64xi32>
    %mnb = tile.broadcast %mn : tensor<1x64xi1> -> tensor<64x64xi1>
    %mask = arith.andi %mmb, %mnb : tensor<64x64xi1>
    %plc = tile.pointer_access %cp mask %mask : tensor<64x64xi1> : tensor<64x64x!tile.ptr<f32>> -> !tile.access<64x64xf32>
    tile.store %plc, %r#0 : !tile.access<64x64xf32>, tensor<64x64xf32>
    tile.return
  }
}
