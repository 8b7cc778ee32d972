// RUN: tilery-opt --parallel-to-tiles --canonicalize --cse --split-input-file %s | FileCheck %s

// A ReLU over a whole buffer: no windows, no loops.
// CHECK-LABEL: tile.kernel @relu
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NOT:     tile.parallel
// CHECK:         %[[X:.*]] = tile.buffer_load %{{.*}} : <8x4xf32, fragment>
// CHECK:         %[[Z:.*]] = tile.splat %[[ZERO]]
// CHECK:         %[[Y:.*]] = arith.maximumf %[[X]], %[[Z]] : tensor<8x4xf32>
// CHECK:         tile.buffer_store %{{.*}}, %[[Y]]
tile.kernel @relu(%n: i32) {
  %c8 = arith.constant 8 : i32
  %c4 = arith.constant 4 : i32
  %b = tile.alloc : !tile.buffer<8x4xf32, fragment>
  tile.parallel(%c8, %c4) {
  ^bb0(%i: i32, %j: i32):
    %x = tile.element_load %b[%i, %j] : !tile.buffer<8x4xf32, fragment>, i32, i32 -> f32
    %zero = arith.constant 0.0 : f32
    %y = arith.maximumf %x, %zero : f32
    tile.element_store %b[%i, %j], %y : !tile.buffer<8x4xf32, fragment>, (i32, i32), f32
  } : i32, i32
  tile.return
}

// -----

// A row value is computed once a row; a transposed window is a subview and a permutation.
// CHECK-LABEL: tile.kernel @rows
// CHECK:         %[[S:.*]] = tile.buffer_load %{{.*}} : <8xf32, fragment> -> tensor<8xf32>
// CHECK:         %[[C:.*]] = tile.expand_dims %[[S]] axis 1 : tensor<8xf32> -> tensor<8x1xf32>
// CHECK:         %[[E:.*]] = math.exp %[[C]] : tensor<8x1xf32>
// CHECK:         %[[W:.*]] = tile.subview %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] dims [0, 2] : {{.*}} -> <4x8xf32, shared>
// CHECK:         %[[T:.*]] = tile.buffer_load %[[W]]
// CHECK:         %[[P:.*]] = tile.permute %[[T]] [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
// CHECK:         %[[B:.*]] = tile.broadcast %[[E]] : tensor<8x1xf32> -> tensor<8x4xf32>
// CHECK:         %[[M:.*]] = arith.mulf %[[P]], %[[B]] : tensor<8x4xf32>
// CHECK:         tile.buffer_store %{{.*}}, %[[M]]
tile.kernel @rows(%n: i32) {
  %c8 = arith.constant 8 : i32
  %c4 = arith.constant 4 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.alloc : !tile.buffer<8xf32, fragment>
  %t = tile.alloc : !tile.buffer<6x3x16xf32, shared>
  %o = tile.alloc : !tile.buffer<8x4xf32, shared>
  tile.parallel(%c8, %c4) {
  ^bb0(%i: i32, %j: i32):
    %x = tile.element_load %s[%i] : !tile.buffer<8xf32, fragment>, i32 -> f32
    %e = math.exp %x : f32
    %j1 = arith.addi %j, %c1 : i32
    %in = arith.addi %n, %i overflow<nsw> : i32
    %y = tile.element_load %t[%j1, %n, %in] : !tile.buffer<6x3x16xf32, shared>, i32, i32, i32 -> f32
    %m = arith.mulf %y, %e : f32
    tile.element_store %o[%i, %j], %m : !tile.buffer<8x4xf32, shared>, (i32, i32), f32
  } : i32, i32
  tile.return
}

// -----

// Global elements become a view with the loop's dilations, a branch its residual mask; its loads need none.
// CHECK-LABEL: tile.kernel @global
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : i64
// CHECK:         %[[MASK:.*]] = arith.cmpi slt
// CHECK:         %[[IN:.*]] = tile.view %{{.*}}[%{{.*}}, %{{.*}}] dims [1, 0] dilations[%[[TWO]], %[[ONE]]] limits[] : {{.*}} -> <8x4xf32>
// CHECK:         %[[X:.*]] = tile.load %[[IN]] : !tile.view<8x4xf32> -> tensor<8x4xf32>
// CHECK:         %[[FULL:.*]] = tile.broadcast %[[MASK]] : tensor<8x1xi1> -> tensor<8x4xi1>
// CHECK:         %[[OUT:.*]] = tile.view %{{.*}} dims [0, 1] dilations[%[[ONE]], %[[ONE]]] limits[] residual %[[FULL]]
// CHECK:         tile.store %[[OUT]], %[[X]]
tile.kernel @global(%in: !tile.root<2xf32>, %out: !tile.root<2xf32>, %first: i64, %m: i64) {
  %c8 = arith.constant 8 : i64
  %c4 = arith.constant 4 : i64
  %c2 = arith.constant 2 : i64
  tile.parallel(%c8, %c4) {
  ^bb0(%i: i64, %j: i64):
    %row = arith.addi %first, %i overflow<nsw> : i64
    %inside = arith.cmpi slt, %row, %m : i64
    scf.if %inside {
      %i2 = arith.muli %i, %c2 overflow<nsw> : i64
      %from = tile.view %in[%j, %i2] dims [] dilations [] limits [] : !tile.root<2xf32> -> <f32>
      %x = tile.load %from : !tile.view<f32> -> f32
      %to = tile.view %out[%row, %j] dims [] dilations [] limits [] : !tile.root<2xf32> -> <f32>
      tile.store %to, %x : !tile.view<f32>, f32
    }
  } : i64, i64
  tile.return
}

// -----

// Branch values are selects; a serial loop inside is one outside with carried tiles; atomics may repeat addresses.
// CHECK-LABEL: tile.kernel @control
// CHECK:         %[[S:.*]] = arith.select %{{.*}} : tensor<8xi1>, tensor<8xi32>
// CHECK:         %[[R:.*]] = scf.for %{{.*}} iter_args(%{{.*}} = %[[S]]) -> (tensor<8xi32>)
// CHECK:         %[[V:.*]] = tile.view %{{.*}}[%{{.*}}] dims [-1]
// CHECK:         tile.atomic_rmw add %[[V]], %[[R]]
tile.kernel @control(%out: !tile.root<1xi32>, %n: i32, %at: i64) {
  %c8 = arith.constant 8 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tile.parallel(%c8) {
  ^bb0(%i: i32):
    %odd = arith.andi %i, %c1 : i32
    %is = arith.cmpi eq, %odd, %c1 : i32
    %v = scf.if %is -> i32 {
      scf.yield %i : i32
    } else {
      scf.yield %n : i32
    }
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%a = %v) -> (i32) : i32 {
      %next = arith.addi %a, %k : i32
      scf.yield %next : i32
    }
    %to = tile.view %out[%at] dims [] dilations [] limits [] : !tile.root<1xi32> -> <i32>
    %old = tile.atomic_rmw add %to, %sum : !tile.view<i32>, i32 -> i32
  } : i32
  tile.return
}

// -----

// Updates of what iterations share: their values are reduced first, those that a branch leaves out are neutral.
// CHECK-LABEL: tile.kernel @updates
// CHECK-DAG:     %[[NONE:.*]] = arith.constant -0.000000e+00 : f32
// CHECK-NOT:     tile.parallel
// CHECK:         %[[M:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x4xi1>, tensor<8x4xf32>
// CHECK:         %[[S:.*]] = tile.reduce %[[M]] axis 1
// CHECK:         %[[OLD:.*]] = tile.buffer_load %[[B:.*]] : <8xf32, fragment> -> tensor<8xf32>
// CHECK:         %[[NEW:.*]] = arith.addf %[[OLD]], %[[S]] : tensor<8xf32>
// CHECK:         tile.buffer_store %[[B]], %[[NEW]]
tile.kernel @updates(%n: i32) {
  %c8 = arith.constant 8 : i32
  %c4 = arith.constant 4 : i32
  %a = tile.alloc : !tile.buffer<8x4xf32, fragment>
  %b = tile.alloc : !tile.buffer<8xf32, fragment>
  tile.parallel(%c8, %c4) {
  ^bb0(%i: i32, %j: i32):
    %x = tile.element_load %a[%i, %j] : !tile.buffer<8x4xf32, fragment>, i32, i32 -> f32
    %in = arith.cmpi slt, %j, %n : i32
    scf.if %in {
      %old = tile.element_update fadd %b[%i], %x : !tile.buffer<8xf32, fragment>, (i32), f32
    }
  } : i32, i32
  tile.return
}

// -----

// What stays: run-time extents, squares of loop variables, two iterations that write one element, updates that are asked for
// what was there.
// CHECK-LABEL: tile.kernel @stays
// CHECK-COUNT-4: tile.parallel
tile.kernel @stays(%b: !tile.buffer<8xf32, local>, %n: i32, %f: f32) {
  %c8 = arith.constant 8 : i32
  %c0 = arith.constant 0 : i32
  tile.parallel(%n) {
  ^bb0(%i: i32):
    tile.element_store %b[%i], %f : !tile.buffer<8xf32, local>, (i32), f32
  } : i32
  tile.parallel(%c8) {
  ^bb0(%i: i32):
    %i2 = arith.muli %i, %i : i32
    tile.element_store %b[%i2], %f : !tile.buffer<8xf32, local>, (i32), f32
  } : i32
  tile.parallel(%c8) {
  ^bb0(%i: i32):
    tile.element_store %b[%c0], %f : !tile.buffer<8xf32, local>, (i32), f32
  } : i32
  tile.parallel(%c8) {
  ^bb0(%i: i32):
    %old = tile.element_update fadd %b[%c0], %f : !tile.buffer<8xf32, local>, (i32), f32
    tile.element_store %b[%i], %old : !tile.buffer<8xf32, local>, (i32), f32
  } : i32
  tile.return
}

// -----

// One loop over a tile of two dimensions: quotients and rests are digits of its number.
// CHECK-LABEL: tile.kernel @flat
// CHECK-NOT: tile.parallel
// CHECK: %[[TILE:.*]] = tile.buffer_load %{{.*}} : <4x8xf32, shared>
// CHECK: %[[LINE:.*]] = tile.reinterpret %{{.*}} : <32xf32, local> -> <4x8xf32, local>
// CHECK: tile.buffer_store %[[LINE]], %[[TILE]]
tile.kernel @flat() {
  %a = tile.alloc : <4x8xf32, shared>
  %f = tile.alloc : <32xf32, local>
  %c32 = arith.constant 32 : i32
  %c8 = arith.constant 8 : i32
  %c7 = arith.constant 7 : i32
  tile.parallel(%c32) {
  ^bb0(%i: i32):
    %row = tile.div floor %i, %c8 : i32
    %column = arith.andi %i, %c7 : i32
    %x = tile.element_load %a[%row, %column] : <4x8xf32, shared>, i32, i32 -> f32
    tile.element_store %f[%i], %x : <32xf32, local>, (i32), f32
  } : i32
  tile.return
}

// -----

// One of each two elements, for four points: halves of the whole tile. Of groups of three, or from another begin, it stays.
// CHECK-LABEL: tile.kernel @picked
// CHECK: %[[ALL:.*]] = tile.buffer_load %{{.*}} : <4x8xf32, shared>
// CHECK: %[[PAIRS:.*]] = tile.reshape %[[ALL]] : tensor<4x8xf32> -> tensor<4x4x2xf32>
// CHECK: %[[EVEN:.*]], %[[ODD:.*]] = tile.split %[[PAIRS]]
// CHECK: %[[ONE:.*]] = tile.expand_dims %[[ODD]] axis 2
// CHECK: tile.reinterpret %{{.*}} : <4x16xf32, local> -> <4x4x4xf32, local>
// CHECK: tile.broadcast %[[ONE]] : tensor<4x4x1xf32> -> tensor<4x4x4xf32>
// CHECK-COUNT-2: tile.parallel
tile.kernel @picked() {
  %a = tile.alloc : <4x8xf32, shared>
  %c = tile.alloc : <4x12xf32, shared>
  %f = tile.alloc : <4x16xf32, local>
  %c16 = arith.constant 16 : i32
  %c4 = arith.constant 4 : i32
  %c3 = arith.constant 3 : i32
  %c2 = arith.constant 2 : i32
  %c1 = arith.constant 1 : i32
  tile.parallel(%c4, %c16) {
  ^bb0(%i: i32, %j: i32):
    %group = tile.div floor %j, %c4 : i32
    %pair = arith.muli %group, %c2 overflow<nsw> : i32
    %odd = arith.addi %pair, %c1 overflow<nsw> : i32
    %x = tile.element_load %a[%i, %odd] : <4x8xf32, shared>, i32, i32 -> f32
    tile.element_store %f[%i, %j], %x : <4x16xf32, local>, (i32, i32), f32
  } : i32, i32
  tile.parallel(%c4, %c16) {
  ^bb0(%i: i32, %j: i32):
    %group = tile.div floor %j, %c4 : i32
    %third = arith.muli %group, %c3 overflow<nsw> : i32
    %x = tile.element_load %c[%i, %third] : <4x12xf32, shared>, i32, i32 -> f32
    tile.element_store %f[%i, %j], %x : <4x16xf32, local>, (i32, i32), f32
  } : i32, i32
  tile.parallel(%c4, %c16) {
  ^bb0(%i: i32, %j: i32):
    %group = tile.div floor %j, %c4 : i32
    %pair = arith.muli %group, %c2 overflow<nsw> : i32
    %next = arith.addi %pair, %c2 overflow<nsw> : i32
    %x = tile.element_load %a[%i, %next] : <4x8xf32, shared>, i32, i32 -> f32
    tile.element_store %f[%i, %j], %x : <4x16xf32, local>, (i32, i32), f32
  } : i32, i32
  tile.return
}

// -----

// What stands under `if i < 16` runs over so many points: a part of a fragment is copied as a whole.
// CHECK-LABEL: tile.kernel @guarded
// CHECK-NOT:     tile.parallel
// CHECK:         %[[W:.*]] = tile.subview %{{.*}} dims [0, 1] : {{.*}} -> <16x64xf32, fragment>
// CHECK:         %[[X:.*]] = tile.buffer_load %[[W]]
// CHECK:         tile.buffer_store %{{.*}}, %[[X]] : <16x64xf32, shared>, tensor<16x64xf32>
tile.kernel @guarded(%p: !tile.ptr<f32>) {
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %c16 = arith.constant 16 : i32
  %a = tile.alloc : !tile.buffer<32x64xf32, fragment>
  %b = tile.alloc : !tile.buffer<16x64xf32, shared>
  tile.parallel(%c32, %c64) {
  ^bb0(%i: i32, %j: i32):
    %in = arith.cmpi slt, %i, %c16 : i32
    scf.if %in {
      %x = tile.element_load %a[%i, %j] : !tile.buffer<32x64xf32, fragment>, i32, i32 -> f32
      tile.element_store %b[%i, %j], %x : !tile.buffer<16x64xf32, shared>, (i32, i32), f32
    }
  } : i32, i32
  tile.return
}

// -----

// A store beside the branch is one of all points.
// CHECK-LABEL: tile.kernel @beside_guard
// CHECK:         tile.buffer_store %{{.*}}, %{{.*}} : <32xf32, shared>, tensor<32xf32>
tile.kernel @beside_guard(%p: !tile.ptr<f32>) {
  %c32 = arith.constant 32 : i32
  %c16 = arith.constant 16 : i32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %a = tile.alloc : !tile.buffer<32xf32, shared>
  %b = tile.alloc : !tile.buffer<32xf32, shared>
  tile.parallel(%c32) {
  ^bb0(%i: i32):
    tile.element_store %b[%i], %two : !tile.buffer<32xf32, shared>, (i32), f32
    %in = arith.cmpi slt, %i, %c16 : i32
    scf.if %in {
      tile.element_store %a[%i], %one : !tile.buffer<32xf32, shared>, (i32), f32
    }
  } : i32
  tile.return
}

// -----

// Two neighbours a point, by a statement each, are one update of twice as many elements.
// CHECK-LABEL: tile.kernel @neighbours
// CHECK-NOT:     tile.parallel
// CHECK:         %[[X:.*]] = tile.buffer_load %{{.*}} : <8xf32, shared> -> tensor<8xf32>
// CHECK:         %[[V:.*]] = tile.view %{{.*}} : <1xf32> -> <8xf32>
// CHECK:         tile.atomic_rmw fadd %[[V]], %[[X]]
// CHECK-NOT:     tile.atomic_rmw
// Where the first of them does more than name its place, they stay two.
// CHECK-LABEL: tile.kernel @no_neighbours
// CHECK:         tile.atomic_rmw fadd
// CHECK:         tile.atomic_rmw fadd
tile.kernel @neighbours(%p: !tile.ptr<f32>, %n: i64) {
  %c4 = arith.constant 4 : i32
  %c2 = arith.constant 2 : i32
  %c1 = arith.constant 1 : i32
  %s1 = arith.constant 1 : i64
  %root = tile.root %p[%n] strides [%s1] : !tile.ptr<f32> -> !tile.root<1xf32>
  %b = tile.alloc : !tile.buffer<8xf32, shared>
  tile.parallel(%c4) {
  ^bb0(%j: i32):
    %at = arith.muli %j, %c2 overflow<nsw> : i32
    %next = arith.addi %at, %c1 overflow<nsw> : i32
    %x = tile.element_load %b[%at] : !tile.buffer<8xf32, shared>, i32 -> f32
    %y = tile.element_load %b[%next] : !tile.buffer<8xf32, shared>, i32 -> f32
    %k = arith.extsi %at : i32 to i64
    %l = arith.extsi %next : i32 to i64
    %v = tile.view %root[%k] dims [] dilations[] limits[] : !tile.root<1xf32> -> !tile.view<f32>
    %o = tile.atomic_rmw fadd %v, %x {order = 0 : i32} : !tile.view<f32>, f32 -> f32
    %w = tile.view %root[%l] dims [] dilations[] limits[] : !tile.root<1xf32> -> !tile.view<f32>
    %q = tile.atomic_rmw fadd %w, %y {order = 0 : i32} : !tile.view<f32>, f32 -> f32
  } : i32
  tile.return
}
tile.kernel @no_neighbours(%p: !tile.ptr<f32>, %n: i64) {
  %c4 = arith.constant 4 : i32
  %c2 = arith.constant 2 : i32
  %c1 = arith.constant 1 : i32
  %s1 = arith.constant 1 : i64
  %root = tile.root %p[%n] strides [%s1] : !tile.ptr<f32> -> !tile.root<1xf32>
  %b = tile.alloc : !tile.buffer<8xf32, shared>
  tile.parallel(%c4) {
  ^bb0(%j: i32):
    %at = arith.muli %j, %c2 overflow<nsw> : i32
    %next = arith.addi %at, %c2 overflow<nsw> : i32
    %x = tile.element_load %b[%at] : !tile.buffer<8xf32, shared>, i32 -> f32
    %after = arith.addi %at, %c1 overflow<nsw> : i32
    %y = tile.element_load %b[%after] : !tile.buffer<8xf32, shared>, i32 -> f32
    %k = arith.extsi %at : i32 to i64
    %l = arith.extsi %next : i32 to i64
    %v = tile.view %root[%k] dims [] dilations[] limits[] : !tile.root<1xf32> -> !tile.view<f32>
    %o = tile.atomic_rmw fadd %v, %x {order = 0 : i32} : !tile.view<f32>, f32 -> f32
    %w = tile.view %root[%l] dims [] dilations[] limits[] : !tile.root<1xf32> -> !tile.view<f32>
    %q = tile.atomic_rmw fadd %w, %y {order = 0 : i32} : !tile.view<f32>, f32 -> f32
  } : i32
  tile.return
}
