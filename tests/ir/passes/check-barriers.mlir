// RUN: tilery-opt %s --check-barriers -split-input-file -verify-diagnostics
// One role fills a buffer, the other reads it; right, and wrong in every way.
tile.kernel @right(%in: !tile.ptr<f32>, %k: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %n = arith.constant 16 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] {tile.name = "full"} : !tile.barrier<1>
  %empty = tile.barrier_alloc [1] {tile.name = "empty"} : !tile.barrier<1>
  %root = tile.root %in[%n] strides [%one] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.roles [1, 1] {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c1) -> (i32) : i64 {
      tile.barrier_wait %empty[%c0], %phase : !tile.barrier<1>, i32, i32
      %v = tile.view %root[%i] dims [0] dilations [%one] limits [] : !tile.root<1xf32> -> !tile.view<4xf32>
      tile.barrier_arrive %full[%c0] {bytes = 16} : !tile.barrier<1>, i32
      tile.async_copy %v, %buffer, %full[%c0] : !tile.view<4xf32>, !tile.buffer<4xf32, shared>, !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }, {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c0) -> (i32) : i64 {
      tile.barrier_wait %full[%c0], %phase : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.barrier_arrive %empty[%c0] : !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }
  tile.return
}

// -----

tile.kernel @unknown_steps_are_not_checked(%in: !tile.ptr<f32>, %k: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %n = arith.constant 16 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] {tile.name = "full"} : !tile.barrier<1>
  %empty = tile.barrier_alloc [1] {tile.name = "empty"} : !tile.barrier<1>
  %root = tile.root %in[%n] strides [%one] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.roles [1, 1] {
    %end = scf.for %i = %zero to %k step %four iter_args(%phase = %c0) -> (i32) : i64 {
      tile.barrier_wait %empty[%c0], %phase : !tile.barrier<1>, i32, i32
      %v = tile.view %root[%i] dims [0] dilations [%one] limits [] : !tile.root<1xf32> -> !tile.view<4xf32>
      tile.barrier_arrive %full[%c0] {bytes = 16} : !tile.barrier<1>, i32
      tile.async_copy %v, %buffer, %full[%c0] : !tile.view<4xf32>, !tile.buffer<4xf32, shared>, !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }, {
    %end = scf.for %i = %zero to %k step %four iter_args(%phase = %c0) -> (i32) : i64 {
      tile.barrier_wait %full[%c0], %phase : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.barrier_arrive %empty[%c0] : !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }
  tile.return
}

// -----

tile.kernel @wrong_phase(%in: !tile.ptr<f32>, %k: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %n = arith.constant 16 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] {tile.name = "full"} : !tile.barrier<1>
  %empty = tile.barrier_alloc [1] {tile.name = "empty"} : !tile.barrier<1>
  %root = tile.root %in[%n] strides [%one] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.roles [1, 1] {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c0) -> (i32) : i64 {
      // expected-error @+2 {{the barriers of these roles are wrong: role 0 waits for ever: `empty` has completed no phase, and nobody is left to arrive in phase 0, of parity 0}}
      // expected-note @+1 {{hint: a barrier ends phase 0, 1, 2, ...}}
      tile.barrier_wait %empty[%c0], %phase : !tile.barrier<1>, i32, i32
      %v = tile.view %root[%i] dims [0] dilations [%one] limits [] : !tile.root<1xf32> -> !tile.view<4xf32>
      tile.barrier_arrive %full[%c0] {bytes = 16} : !tile.barrier<1>, i32
      tile.async_copy %v, %buffer, %full[%c0] : !tile.view<4xf32>, !tile.buffer<4xf32, shared>, !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }, {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c0) -> (i32) : i64 {
      tile.barrier_wait %full[%c0], %phase : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.barrier_arrive %empty[%c0] : !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }
  tile.return
}

// -----

tile.kernel @reads_too_early(%in: !tile.ptr<f32>, %k: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %n = arith.constant 16 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] {tile.name = "full"} : !tile.barrier<1>
  %empty = tile.barrier_alloc [1] {tile.name = "empty"} : !tile.barrier<1>
  %root = tile.root %in[%n] strides [%one] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.roles [1, 1] {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c1) -> (i32) : i64 {
      tile.barrier_wait %empty[%c0], %phase : !tile.barrier<1>, i32, i32
      %v = tile.view %root[%i] dims [0] dilations [%one] limits [] : !tile.root<1xf32> -> !tile.view<4xf32>
      tile.barrier_arrive %full[%c0] {bytes = 16} : !tile.barrier<1>, i32
      tile.async_copy %v, %buffer, %full[%c0] : !tile.view<4xf32>, !tile.buffer<4xf32, shared>, !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }, {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c1) -> (i32) : i64 {
      // expected-error @+2 {{the barriers of these roles are wrong: role 1 waits for ever: `full` has completed 1 phase, of which this role has waited for none: a wait with parity 1 passes over phase 0}}
      // expected-note @+1 {{hint: a barrier ends phase 0, 1, 2, ...}}
      tile.barrier_wait %full[%c0], %phase : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.barrier_arrive %empty[%c0] : !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }
  tile.return
}

// -----

tile.kernel @never_waits(%in: !tile.ptr<f32>, %k: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %n = arith.constant 16 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] {tile.name = "full"} : !tile.barrier<1>
  %empty = tile.barrier_alloc [1] {tile.name = "empty"} : !tile.barrier<1>
  %root = tile.root %in[%n] strides [%one] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.roles [1, 1] {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c1) -> (i32) : i64 {
      tile.barrier_wait %empty[%c0], %phase : !tile.barrier<1>, i32, i32
      %v = tile.view %root[%i] dims [0] dilations [%one] limits [] : !tile.root<1xf32> -> !tile.view<4xf32>
      tile.barrier_arrive %full[%c0] {bytes = 16} : !tile.barrier<1>, i32
      tile.async_copy %v, %buffer, %full[%c0] : !tile.view<4xf32>, !tile.buffer<4xf32, shared>, !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }, {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c0) -> (i32) : i64 {
      // expected-error @+2 {{the barriers of these roles are wrong: data of `full` is overwritten before role 1 has read it}}
      // expected-note @+1 {{hint: a barrier ends phase 0, 1, 2, ...}}
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.barrier_arrive %empty[%c0] : !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }
  tile.return
}

// -----

tile.kernel @wrong_count(%in: !tile.ptr<f32>, %k: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %n = arith.constant 16 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] {tile.name = "full"} : !tile.barrier<1>
  %empty = tile.barrier_alloc [2] : !tile.barrier<1>
  %root = tile.root %in[%n] strides [%one] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.roles [1, 1] {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c1) -> (i32) : i64 {
      // expected-error @+2 {{the barriers of these roles are wrong: role 0 waits for ever: the barrier of line 187 counts 2 arrivals a phase and gets 1; line 202 waits for `full` meanwhile}}
      // expected-note @+1 {{hint: a barrier ends phase 0, 1, 2, ...}}
      tile.barrier_wait %empty[%c0], %phase : !tile.barrier<1>, i32, i32
      %v = tile.view %root[%i] dims [0] dilations [%one] limits [] : !tile.root<1xf32> -> !tile.view<4xf32>
      tile.barrier_arrive %full[%c0] {bytes = 16} : !tile.barrier<1>, i32
      tile.async_copy %v, %buffer, %full[%c0] : !tile.view<4xf32>, !tile.buffer<4xf32, shared>, !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }, {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c0) -> (i32) : i64 {
      tile.barrier_wait %full[%c0], %phase : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.barrier_arrive %empty[%c0] : !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }
  tile.return
}

// -----

tile.kernel @never_released(%in: !tile.ptr<f32>, %k: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %n = arith.constant 16 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] {tile.name = "full"} : !tile.barrier<1>
  %empty = tile.barrier_alloc [1] {tile.name = "empty"} : !tile.barrier<1>
  %root = tile.root %in[%n] strides [%one] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.roles [1, 1] {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c1) -> (i32) : i64 {
      // expected-error @+2 {{the barriers of these roles are wrong: role 0 waits for ever: nobody arrives at `empty`}}
      // expected-note @+1 {{hint: a barrier ends phase 0, 1, 2, ...}}
      tile.barrier_wait %empty[%c0], %phase : !tile.barrier<1>, i32, i32
      %v = tile.view %root[%i] dims [0] dilations [%one] limits [] : !tile.root<1xf32> -> !tile.view<4xf32>
      tile.barrier_arrive %full[%c0] {bytes = 16} : !tile.barrier<1>, i32
      tile.async_copy %v, %buffer, %full[%c0] : !tile.view<4xf32>, !tile.buffer<4xf32, shared>, !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }, {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c0) -> (i32) : i64 {
      tile.barrier_wait %full[%c0], %phase : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }
  tile.return
}

// -----

tile.kernel @too_many_bytes_expected(%in: !tile.ptr<f32>, %k: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %n = arith.constant 16 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] {tile.name = "full"} : !tile.barrier<1>
  %empty = tile.barrier_alloc [1] {tile.name = "empty"} : !tile.barrier<1>
  %root = tile.root %in[%n] strides [%one] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.roles [1, 1] {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c1) -> (i32) : i64 {
      tile.barrier_wait %empty[%c0], %phase : !tile.barrier<1>, i32, i32
      %v = tile.view %root[%i] dims [0] dilations [%one] limits [] : !tile.root<1xf32> -> !tile.view<4xf32>
      tile.barrier_arrive %full[%c0] {bytes = 32} : !tile.barrier<1>, i32
      tile.async_copy %v, %buffer, %full[%c0] : !tile.view<4xf32>, !tile.buffer<4xf32, shared>, !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }, {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c0) -> (i32) : i64 {
      // expected-error @+2 {{the barriers of these roles are wrong: role 1 waits for ever: `full` expects 16 bytes that never come}}
      // expected-note @+1 {{hint: a barrier ends phase 0, 1, 2, ...}}
      tile.barrier_wait %full[%c0], %phase : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.barrier_arrive %empty[%c0] : !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }
  tile.return
}

// -----

tile.kernel @too_few_bytes_expected(%in: !tile.ptr<f32>, %k: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %n = arith.constant 16 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] {tile.name = "full"} : !tile.barrier<1>
  %empty = tile.barrier_alloc [1] {tile.name = "empty"} : !tile.barrier<1>
  %root = tile.root %in[%n] strides [%one] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.roles [1, 1] {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c1) -> (i32) : i64 {
      tile.barrier_wait %empty[%c0], %phase : !tile.barrier<1>, i32, i32
      %v = tile.view %root[%i] dims [0] dilations [%one] limits [] : !tile.root<1xf32> -> !tile.view<4xf32>
      tile.barrier_arrive %full[%c0] {bytes = 8} : !tile.barrier<1>, i32
      tile.async_copy %v, %buffer, %full[%c0] : !tile.view<4xf32>, !tile.buffer<4xf32, shared>, !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }, {
    %end = scf.for %i = %zero to %n step %four iter_args(%phase = %c0) -> (i32) : i64 {
      // expected-error @+2 {{the barriers of these roles are wrong: role 1 waits for ever: `full` gets 8 bytes more than it expects}}
      // expected-note @+1 {{hint: a barrier ends phase 0, 1, 2, ...}}
      tile.barrier_wait %full[%c0], %phase : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.barrier_arrive %empty[%c0] : !tile.barrier<1>, i32
      %flip = arith.xori %phase, %c1 : i32
      scf.yield %flip : i32
    }
  }
  tile.return
}
