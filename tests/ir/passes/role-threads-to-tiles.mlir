// RUN: tilery-opt %s --role-threads-to-tiles --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// Code of single threads in a role is tile code of the role: each thread's arrivals are one, its waits the role's; other threads stay.
// CHECK-LABEL: tile.kernel @gather
// CHECK: tile.roles [64, 32]
// CHECK: scf.for
// CHECK:   tile.barrier_wait
// CHECK:   tile.buffer_store {{.*}} tensor<64xf32>
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
