// RUN: tilery-opt --join-loads %s | FileCheck %s

module {
  // Places that are computed alike are chosen where they differ.
  // CHECK-LABEL: tile.kernel @alike
  // CHECK: %[[AT:.*]] = arith.select %{{.*}}, %arg1, %arg2 : i64
  // CHECK: %[[OFFSET:.*]] = arith.muli %[[AT]], %arg3 : i64
  // CHECK: tile.access %arg0, %[[OFFSET]] steps(%arg3, %{{.*}}) bounds [0, 0]()
  // CHECK: tile.load
  // CHECK-NOT: scf.if
  tile.kernel @alike(%arg0: !tile.ptr<f16>, %arg1: i64, %arg2: i64, %arg3: i64, %arg4: !tile.ptr<f16>) {
    %c1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i64
    %first = arith.cmpi slt, %arg1, %arg2 : i64
    %tile = scf.if %first -> (tensor<16x16xf16>) {
      %a = arith.muli %arg1, %arg3 : i64
      %p = tile.access %arg0, %a steps(%arg3, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <16x16xf16>
      %x = tile.load %p : !tile.access<16x16xf16> -> tensor<16x16xf16>
      scf.yield %x : tensor<16x16xf16>
    } else {
      %b = arith.muli %arg2, %arg3 : i64
      %q = tile.access %arg0, %b steps(%arg3, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <16x16xf16>
      %y = tile.load %q : !tile.access<16x16xf16> -> tensor<16x16xf16>
      scf.yield %y : tensor<16x16xf16>
    }
    %to = tile.access %arg4, %c0 steps(%c1, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <16x16xf16>
    tile.store %to, %tile : !tile.access<16x16xf16>, tensor<16x16xf16>
    tile.return
  }

  // Of two tensors it stays.
  // CHECK-LABEL: tile.kernel @two_tensors
  // CHECK: scf.if
  tile.kernel @two_tensors(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: i64, %arg3: !tile.ptr<f16>) {
    %c1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i64
    %first = arith.cmpi slt, %arg2, %c1 : i64
    %tile = scf.if %first -> (tensor<16x16xf16>) {
      %p = tile.access %arg0, %c0 steps(%c1, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <16x16xf16>
      %x = tile.load %p : !tile.access<16x16xf16> -> tensor<16x16xf16>
      scf.yield %x : tensor<16x16xf16>
    } else {
      %q = tile.access %arg1, %c0 steps(%c1, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <16x16xf16>
      %y = tile.load %q : !tile.access<16x16xf16> -> tensor<16x16xf16>
      scf.yield %y : tensor<16x16xf16>
    }
    %to = tile.access %arg3, %c0 steps(%c1, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <16x16xf16>
    tile.store %to, %tile : !tile.access<16x16xf16>, tensor<16x16xf16>
    tile.return
  }
}
