// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k(%n: i32) {
  // expected-error @+1 {{one argument of the type of each extent}}
  tile.parallel(%n) {
  ^bb0(%i: i64):
    tile.yield
  } : i32
  tile.return
}
// -----
tile.kernel @k(%n: i32) {
  // expected-error @+1 {{something in it makes a tile}}
  tile.parallel(%n) {
  ^bb0(%i: i32):
    %r = tile.range 0 to 4 : tensor<4xi32>
    tile.yield
  } : i32
  tile.return
}
// -----
tile.kernel @k() {
  // expected-error @+1 {{argument is the thread id, an i32}}
  tile.threads 32 {
    tile.yield
  }
  tile.return
}
// -----
tile.kernel @k(%n: i32) {
  // expected-error @+1 {{stands inside `threads`}}
  %0 = tile.shuffle up %n, %n : i32 -> i32
  tile.return
}
// -----
tile.kernel @k(%b: i1) {
  tile.threads 32 {
  ^bb0(%t: i32):
    // expected-error @+1 {{`ballot` gives i32}}
    %0 = tile.vote ballot %b -> i1
    tile.yield
  }
  tile.return
}
// -----
tile.kernel @k() {
  // expected-error @+1 {{one thread count a region}}
  tile.roles [32] {
    tile.sync
  }, {
    tile.sync
  }
  tile.return
}
// -----
tile.kernel @k() {
  tile.threads 32 {
  ^bb0(%t: i32):
    // expected-error @+1 {{has no groups of -1 threads}}
    tile.sync {width = -1 : i64}
  }
  tile.return
}
// -----
tile.kernel @k() {
  // expected-error @+1 {{one arrival count a barrier}}
  %ring = tile.barrier_alloc [1] : !tile.barrier<2>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %m: i64) {
  %buffer = tile.alloc : !tile.buffer<8xf32, shared>
  %ring = tile.barrier_alloc [1] : !tile.barrier<1>
  %root = tile.root %p[%m] strides [%m] : !tile.ptr<f32> -> !tile.root<1xf32>
  %view = tile.view %root[%m] dims [0] dilations [%m] limits [] : !tile.root<1xf32> -> !tile.view<16xf32>
  // expected-error @+1 {{copies 'tensor<16xf32>' to a buffer for 'tensor<8xf32>'}}
  tile.async_copy %view, %buffer, %ring[%m] : !tile.view<16xf32>, !tile.buffer<8xf32, shared>, !tile.barrier<1>, i64
  tile.return
}
// -----
tile.kernel @k() {
  // expected-error @+1 {{stands inside `threads`}}
  tile.together {
  }
  tile.return
}
// -----
tile.kernel @k() {
  tile.threads 32 {
  ^bb0(%t: i32):
    // expected-error @+1 {{nothing in it can wait for others}}
    tile.together {
      tile.sync
    }
    tile.yield
  }
  tile.return
}
// -----
tile.kernel @k(%x: f32) {
  tile.threads 32 {
  ^bb0(%t: i32):
    // expected-error @+1 {{of 'f32' takes 4 and 2 elements and 4 sums a thread}}
    %d:4 = tile.warp_dot [%x, %x], [%x], [%x, %x, %x, %x] : [f32, f32], [f32], [f32, f32, f32, f32] -> f32, f32, f32, f32
    tile.yield
  }
  tile.return
}
// -----
tile.kernel @k(%x: f64, %y: f32) {
  tile.threads 32 {
  ^bb0(%t: i32):
    // expected-error @+1 {{of 'f64' with sums of 'f32' is none of}}
    %d:4 = tile.warp_dot [%x, %x], [%x], [%y, %y, %y, %y] : [f64, f64], [f64], [f32, f32, f32, f32] -> f32, f32, f32, f32
    tile.yield
  }
  tile.return
}
// -----
tile.kernel @k(%x: f64) {
  tile.threads 48 {
  ^bb0(%t: i32):
    // expected-error @+1 {{needs a multiple of 32}}
    %d:4 = tile.warp_dot [%x, %x], [%x], [%x, %x, %x, %x] : [f64, f64], [f64], [f64, f64, f64, f64] -> f64, f64, f64, f64
    tile.yield
  }
  tile.return
}
