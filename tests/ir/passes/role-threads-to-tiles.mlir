// RUN: tilery-opt %s --role-threads-to-tiles --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// Code of single threads in a role is tile code of the role: each thread's arrivals are one, its waits the role's; other threads stay.
// CHECK-LABEL: tile.kernel @gather
// CHECK: tile.roles [64, 32]
// CHECK: scf.for
// CHECK:   tile.barrier_wait
// CHECK:   tile.parallel
// CHECK:     tile.element_store
// CHECK:   tile.barrier_arrive {{.*}} {count = 64
// CHECK: tile.threads 96
// CHECK:   tile.barrier_arrive {{.*}} : <1>, i32
tile.kernel @gather(%p: !tile.ptr<f32>, %n: i64) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %step = arith.constant 1 : i64
  %in = tile.root %p[%n] strides [%step] : !tile.ptr<f32> -> !tile.root<1xf32>
  %s = tile.alloc : !tile.buffer<64xf32, shared>
  %full = tile.barrier_alloc [64] : !tile.barrier<1>
  %empty = tile.barrier_alloc [32] : !tile.barrier<1>
  %all = tile.barrier_alloc [96] : !tile.barrier<1>
  tile.roles [64, 32] {
    tile.threads 64 {
    ^bb0(%t: i32):
      scf.for %k = %zero to %four step %one : i32 {
        %parity = arith.andi %k, %one : i32
        tile.barrier_wait %empty[%zero], %parity : !tile.barrier<1>, i32, i32
        %w = arith.extsi %t : i32 to i64
        %from = tile.view %in[%w] dims [] dilations [] limits [] : !tile.root<1xf32> -> !tile.view<f32>
        %x = tile.load %from : !tile.view<f32> -> f32
        tile.element_store %s[%t], %x : !tile.buffer<64xf32, shared>, (i32), f32
        tile.barrier_arrive %full[%zero] : !tile.barrier<1>, i32
      }
      tile.yield
    }
  }, {
    scf.for %k = %zero to %four step %one : i32 {
      %parity = arith.andi %k, %one : i32
      tile.barrier_wait %full[%zero], %parity : !tile.barrier<1>, i32, i32
      tile.barrier_arrive %empty[%zero] {count = 32} : !tile.barrier<1>, i32
    }
  }
  tile.threads 96 {
  ^bb0(%t: i32):
    tile.barrier_arrive %all[%zero] : !tile.barrier<1>, i32
    tile.yield
  }
  tile.return
}

// -----

// One thread of each warp arrives, and one begins a tile operation; as many arrive as data say.
// CHECK-LABEL: tile.kernel @some
// CHECK: tile.barrier_arrive {{.*}} {count = 2
// CHECK: tile.buffer_store %{{.*}}, %{{.*}} : <4xf32, shared>
// CHECK: %[[WARPS:.*]] = tile.reduce
// CHECK: %[[COME:.*]] = tile.reduce %[[WARPS]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COME]]
// CHECK:   tile.barrier_arrive {{.*}} : <1>, i32
tile.kernel @some(%s: i32) {
  %zero = arith.constant 0 : i32
  %warp = arith.constant 32 : i32
  %tile = arith.constant dense<1.0> : tensor<4xf32>
  %b = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [2] : !tile.barrier<1>
  tile.roles [64] {
    tile.threads 64 {
    ^bb0(%t: i32):
      %lane = tile.rem floor %t, %warp : i32
      %first = arith.cmpi eq, %lane, %zero : i32
      scf.if %first {
        tile.barrier_arrive %full[%zero] : !tile.barrier<1>, i32
      }
      %one = arith.cmpi eq, %t, %zero : i32
      scf.if %one {
        tile.together {
          tile.buffer_store %b, %tile : !tile.buffer<4xf32, shared>, tensor<4xf32>
          tile.yield
        }
      }
      %chosen = arith.cmpi slt, %t, %s : i32
      scf.if %chosen {
        tile.barrier_arrive %full[%zero] : !tile.barrier<1>, i32
      }
      tile.yield
    }
  }
  tile.return
}

// -----

// Where some threads wait, all of the role do: none is ahead of them.
// CHECK-LABEL: tile.kernel @wait
// CHECK: %[[SOME:.*]] = tile.reduce %{{.*}}
// CHECK: scf.if %[[SOME]] {
// CHECK-NEXT: tile.barrier_wait
tile.kernel @wait(%s: i32) {
  %zero = arith.constant 0 : i32
  %full = tile.barrier_alloc [2] : !tile.barrier<1>
  tile.roles [64] {
    tile.threads 64 {
    ^bb0(%t: i32):
      %chosen = arith.cmpi slt, %t, %s : i32
      scf.if %chosen {
        tile.barrier_wait %full[%zero], %zero : !tile.barrier<1>, i32, i32
      }
      tile.yield
    }
  }
  tile.return
}

// -----

// Barriers of each thread's own are arrived at thread after thread.
// CHECK-LABEL: tile.kernel @which
// CHECK: scf.for %[[LANE:.*]] =
// CHECK: %[[AT:.*]] = tile.extract %{{.*}}[%[[LANE]]]
// CHECK: tile.barrier_arrive %{{.*}}[%[[AT]]]
tile.kernel @which(%s: i32) {
  %full = tile.barrier_alloc [2, 2] : !tile.barrier<2>
  %one = arith.constant 1 : i32
  tile.roles [64] {
    tile.threads 64 {
    ^bb0(%t: i32):
      %at = arith.andi %t, %one : i32
      tile.barrier_arrive %full[%at] : !tile.barrier<2>, i32
      tile.yield
    }
  }
  tile.return
}

// -----

// 32 threads copy 8 rows, four a row, in two rounds, two neighbours each: the window is a loop over its rows and columns. What says which
// rows there are is stored first, by four threads alike.
// CHECK-LABEL: tile.kernel @rows
// CHECK:       tile.roles [32]
// CHECK-NOT:   tile.sync
// CHECK:       tile.parallel(%{{.*}}) {
// CHECK:         %[[INDEX:.*]] = tile.load {{.*}} -> i32
// CHECK:         tile.element_store %{{.*}}[%{{.*}}], %{{.*}} : <16xi8, shared>
// CHECK:       tile.parallel(%{{.*}}, %{{.*}}) {
// CHECK-NEXT:  ^bb0(%[[ROW:.*]]: i32, %[[COLUMN:.*]]: i32):
// CHECK:         scf.if
// CHECK:           %[[X:.*]] = tile.load {{.*}} -> f32
// CHECK:           tile.element_store %{{.*}}[%{{.*}}, %{{.*}}], %[[X]] : <16x8xf32, shared>
// CHECK-NOT:   tile.element_store
tile.kernel @rows(%p: !tile.ptr<f32>, %q: !tile.ptr<i32>, %n: i64) {
  %zero = arith.constant 0 : i32
  %none = arith.constant 0 : i8
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i32
  %eight = arith.constant 8 : i32
  %first = arith.constant 0 : i64
  %step = arith.constant 1 : i64
  %width = arith.constant 8 : i64
  %in = tile.root %p[%n, %width] strides [%width, %step] : !tile.ptr<f32> -> !tile.root<2xf32>
  %table = tile.root %q[%n] strides [%step] : !tile.ptr<i32> -> !tile.root<1xi32>
  %s = tile.alloc : !tile.buffer<16x8xf32, shared>
  %valid = tile.alloc : !tile.buffer<16xi8, shared>
  %own = tile.alloc : !tile.buffer<64x1xi32, shared>
  tile.roles [32] {
    tile.threads 32 {
    ^bb0(%t: i32):
      scf.for %r = %zero to %two step %one : i32 {
        %down = tile.div floor %t, %four : i32
        %round = arith.muli %r, %eight overflow<nsw> : i32
        %row = arith.addi %round, %down overflow<nsw> : i32
        %at = arith.extsi %row : i32 to i64
        %from = tile.view %table[%at] dims [] dilations [] limits [] : !tile.root<1xi32> -> !tile.view<i32>
        %i = tile.load %from : !tile.view<i32> -> i32
        %me = arith.extsi %t : i32 to i64
        tile.element_store %own[%me, %first], %i : !tile.buffer<64x1xi32, shared>, (i64, i64), i32
        tile.sync
        %mine = tile.element_load %own[%me, %first] : !tile.buffer<64x1xi32, shared>, i64, i64 -> i32
        %is = arith.cmpi sge, %mine, %zero : i32
        %flag = arith.extui %is : i1 to i8
        tile.element_store %valid[%at], %flag : !tile.buffer<16xi8, shared>, (i64), i8
        tile.sync
        %seen = tile.element_load %valid[%at] : !tile.buffer<16xi8, shared>, i64 -> i8
        %asked = arith.cmpi ne, %seen, %none : i8
        scf.if %asked {
          %across = tile.rem floor %t, %four : i32
          %begin = arith.muli %across, %two overflow<nsw> : i32
          %next = arith.addi %begin, %one overflow<nsw> : i32
          %c0 = arith.extsi %begin : i32 to i64
          %c1 = arith.extsi %next : i32 to i64
          %source = arith.extsi %mine : i32 to i64
          %v0 = tile.view %in[%source, %c0] dims [] dilations [] limits [] : !tile.root<2xf32> -> !tile.view<f32>
          %x0 = tile.load %v0 : !tile.view<f32> -> f32
          %v1 = tile.view %in[%source, %c1] dims [] dilations [] limits [] : !tile.root<2xf32> -> !tile.view<f32>
          %x1 = tile.load %v1 : !tile.view<f32> -> f32
          tile.element_store %s[%at, %c0], %x0 : !tile.buffer<16x8xf32, shared>, (i64, i64), f32
          tile.element_store %s[%at, %c1], %x1 : !tile.buffer<16x8xf32, shared>, (i64, i64), f32
        }
      }
      tile.yield
    }
  }
  tile.return
}

// -----

// Four threads store what is not the same in them, and elements that leave gaps: as lanes.
// CHECK-LABEL: tile.kernel @lanes
// CHECK:       tile.roles [32]
// CHECK:         tile.range 0 to
// CHECK:         tile.element_store
tile.kernel @lanes() {
  %three = arith.constant 3 : i32
  %four = arith.constant 4 : i32
  %s = tile.alloc : !tile.buffer<128xi32, shared>
  %w = tile.alloc : !tile.buffer<8xi32, shared>
  tile.roles [32] {
    tile.threads 32 {
    ^bb0(%t: i32):
      %apart = arith.muli %t, %three overflow<nsw> : i32
      tile.element_store %s[%apart], %t : !tile.buffer<128xi32, shared>, (i32), i32
      tile.sync
      %down = tile.div floor %t, %four : i32
      tile.element_store %w[%down], %t : !tile.buffer<8xi32, shared>, (i32), i32
      tile.yield
    }
  }
  tile.return
}
