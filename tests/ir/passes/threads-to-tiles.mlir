// RUN: tilery-opt %s --threads-to-tiles --canonicalize --cse | FileCheck %s
// Threads in lockstep: one lane a thread.

// A thread's own values are lanes, its own array a buffer of all threads'; waits are gone.
// CHECK-LABEL: tile.kernel @lanes
// CHECK-NOT: tile.threads
// CHECK: tile.load {{.*}} -> tensor<64xf32>
// CHECK-NOT: tile.sync
// CHECK: tile.buffer_store {{.*}}: <64xf32, shared>, tensor<64xf32>
// CHECK: tile.buffer_load {{.*}} -> tensor<64xf32>
// CHECK: tile.store {{.*}} tensor<64xf32>
tile.kernel @lanes(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i64) {
  %c1 = arith.constant 1 : i64
  %a = tile.root %p[%n] strides [%c1] : !tile.ptr<f32> -> !tile.root<1xf32>
  %b = tile.root %q[%n] strides [%c1] : !tile.ptr<f32> -> !tile.root<1xf32>
  %s = tile.alloc : !tile.buffer<64xf32, shared>
  tile.threads 64 {
  ^bb0(%t: i32):
    %w = arith.extsi %t : i32 to i64
    %from = tile.view %a[%w] dims [] dilations [] limits [] : !tile.root<1xf32> -> !tile.view<f32>
    %x = tile.load %from : !tile.view<f32> -> f32
    tile.element_store %s[%t], %x : !tile.buffer<64xf32, shared>, (i32), f32
    tile.sync
    %y = tile.element_load %s[%t] : !tile.buffer<64xf32, shared>, i32 -> f32
    %to = tile.view %b[%w] dims [] dilations [] limits [] : !tile.root<1xf32> -> !tile.view<f32>
    tile.store %to, %y : !tile.view<f32>, f32
    tile.yield
  }
  tile.return
}

// The number of a thread is taken apart as the code divides it, and a sum over a warp is one of neighbouring lanes.
// CHECK-LABEL: tile.kernel @warps
// CHECK: tile.take {{.*}} tensor<2x32xi32>
// CHECK: tile.reduce
// CHECK: tensor<2x32xi1> -> tensor<2xi1>
tile.kernel @warps(%q: !tile.ptr<i32>, %n: i64) {
  %c1 = arith.constant 1 : i64
  %b = tile.root %q[%n] strides [%c1] : !tile.ptr<i32> -> !tile.root<1xi32>
  tile.threads 64 {
  ^bb0(%t: i32):
    %c32 = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %lane = tile.rem floor %t, %c32 : i32
    %x = tile.shuffle xor %lane, %one : i32 -> i32
    %low = arith.cmpi slt, %x, %one : i32
    %any = tile.vote any %low -> i1
    %y = arith.extui %any : i1 to i32
    %w = arith.extsi %t : i32 to i64
    %to = tile.view %b[%w] dims [] dilations [] limits [] : !tile.root<1xi32> -> !tile.view<i32>
    tile.store %to, %y : !tile.view<i32>, i32
    tile.yield
  }
  tile.return
}

// What all do together stands as it is; of a loop whose length differs the longest decides.
// CHECK-LABEL: tile.kernel @flow
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (tensor<16xi32>)
// CHECK: arith.select
// CHECK: tile.parallel
tile.kernel @flow(%q: !tile.ptr<i32>, %n: i32) {
  %s = tile.alloc : !tile.buffer<16xi32, shared>
  tile.threads 16 {
  ^bb0(%t: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %sum = scf.for %i = %zero to %t step %one iter_args(%acc = %zero) -> (i32) : i32 {
      %next = arith.addi %acc, %i : i32
      scf.yield %next : i32
    }
    tile.element_store %s[%t], %sum : !tile.buffer<16xi32, shared>, (i32), i32
    tile.together {
      tile.parallel(%n) {
      ^bb0(%i: i32):
        %v = tile.element_load %s[%i] : !tile.buffer<16xi32, shared>, i32 -> i32
        tile.element_store %s[%i], %v : !tile.buffer<16xi32, shared>, (i32), i32
      } : i32
    }
    tile.yield
  }
  tile.return
}

// A short loop over an array of a thread's own is one chain; neighbours are fetched as rows.
// CHECK-LABEL: tile.kernel @own_elements
// CHECK: %[[A:.*]] = tile.alloc : <32x4xf32, local>
// CHECK: tile.buffer_store %[[A]], %{{.*}} : <32x4xf32, local>, tensor<32x4xf32>
// CHECK-NOT: scf.for
// CHECK-COUNT-4: arith.addf {{.*}} : tensor<32xf32>
// CHECK: tile.store
tile.kernel @own_elements(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i64) {
  %c1 = arith.constant 1 : i64
  %a = tile.root %p[%n] strides [%c1] : !tile.ptr<f32> -> !tile.root<1xf32>
  %b = tile.root %q[%n] strides [%c1] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.threads 32 {
  ^bb0(%t: i32):
    %own = tile.alloc : <4xf32, local>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %four = arith.constant 4 : i32
    %none = arith.constant 0.0 : f32
    scf.for %i = %zero to %four step %one : i32 {
      %row = arith.muli %t, %four overflow<nsw> : i32
      %at = arith.addi %row, %i overflow<nsw> : i32
      %w = arith.extsi %at : i32 to i64
      %from = tile.view %a[%w] dims [] dilations [] limits [] : !tile.root<1xf32> -> !tile.view<f32>
      %x = tile.load %from : !tile.view<f32> -> f32
      tile.element_store %own[%i], %x : <4xf32, local>, (i32), f32
    } {tile.vectorize = true}
    %sum = scf.for %i = %zero to %four step %one iter_args(%s = %none) -> (f32) : i32 {
      %x = tile.element_load %own[%i] : <4xf32, local>, i32 -> f32
      %y = arith.addf %s, %x : f32
      scf.yield %y : f32
    }
    %w = arith.extsi %t : i32 to i64
    %to = tile.view %b[%w] dims [] dilations [] limits [] : !tile.root<1xf32> -> !tile.view<f32>
    tile.store %to, %sum : !tile.view<f32>, f32
    tile.yield
  }
  tile.return
}

// Products of such elements are computed as they lie, in front of their chain.
// CHECK-LABEL: tile.kernel @own_products
// CHECK: arith.mulf {{.*}} : tensor<32x4xf32>
// CHECK: tile.buffer_store %[[P:.*]], %{{.*}} : <32x4xf32, local>, tensor<32x4xf32>
// CHECK-NOT: arith.mulf
// CHECK-COUNT-4: arith.addf {{.*}} : tensor<32xf32>
// CHECK-NOT: arith.mulf
// CHECK: tile.store
tile.kernel @own_products(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i64) {
  %c1 = arith.constant 1 : i64
  %a = tile.root %p[%n] strides [%c1] : !tile.ptr<f32> -> !tile.root<1xf32>
  %b = tile.root %q[%n] strides [%c1] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.threads 32 {
  ^bb0(%t: i32):
    %own = tile.alloc : <4xf32, local>
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %four = arith.constant 4 : i32
    %none = arith.constant 0.0 : f32
    scf.for %i = %zero to %four step %one : i32 {
      %row = arith.muli %t, %four overflow<nsw> : i32
      %at = arith.addi %row, %i overflow<nsw> : i32
      %w = arith.extsi %at : i32 to i64
      %from = tile.view %a[%w] dims [] dilations [] limits [] : !tile.root<1xf32> -> !tile.view<f32>
      %x = tile.load %from : !tile.view<f32> -> f32
      tile.element_store %own[%i], %x : <4xf32, local>, (i32), f32
    } {tile.vectorize = true}
    %sum = scf.for %i = %zero to %four step %one iter_args(%s = %none) -> (f32) : i32 {
      %x = tile.element_load %own[%i] : <4xf32, local>, i32 -> f32
      %square = arith.mulf %x, %x : f32
      %y = arith.addf %s, %square : f32
      scf.yield %y : f32
    }
    %w = arith.extsi %t : i32 to i64
    %to = tile.view %b[%w] dims [] dilations [] limits [] : !tile.root<1xf32> -> !tile.view<f32>
    tile.store %to, %sum : !tile.view<f32>, f32
    tile.yield
  }
  tile.return
}

// So are products of what threads read from a line of shared memory and straight from a tensor.
// CHECK-LABEL: tile.kernel @shared_products
// CHECK: %[[ROWS:.*]] = tile.reinterpret %{{.*}} : <128xf32, shared> -> <32x4xf32, shared>
// CHECK-NOT: scf.for
// CHECK: %[[X:.*]] = tile.buffer_load %[[ROWS]] : <32x4xf32, shared> -> tensor<32x4xf32>
// CHECK: tile.load {{.*}} -> tensor<128xf32>
// CHECK: arith.mulf {{.*}} : tensor<32x4xf32>
// CHECK-COUNT-4: arith.addf {{.*}} : tensor<32xf32>
tile.kernel @shared_products(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i64) {
  %c1 = arith.constant 1 : i64
  %a = tile.root %p[%n] strides [%c1] : !tile.ptr<f32> -> !tile.root<1xf32>
  %b = tile.root %q[%n] strides [%c1] : !tile.ptr<f32> -> !tile.root<1xf32>
  %line = tile.alloc : <128xf32, shared>
  tile.threads 32 {
  ^bb0(%t: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %four = arith.constant 4 : i32
    %none = arith.constant 0.0 : f32
    %sum = scf.for %i = %zero to %four step %one iter_args(%s = %none) -> (f32) : i32 {
      %row = arith.muli %t, %four overflow<nsw> : i32
      %at = arith.addi %row, %i overflow<nsw> : i32
      %w = arith.extsi %at : i32 to i64
      %x = tile.element_load %line[%at] : <128xf32, shared>, i32 -> f32
      %from = tile.view %a[%w] dims [] dilations [] limits [] : !tile.root<1xf32> -> !tile.view<f32>
      %z = tile.load %from : !tile.view<f32> -> f32
      %product = arith.mulf %x, %z : f32
      %y = arith.addf %s, %product : f32
      scf.yield %y : f32
    }
    %w = arith.extsi %t : i32 to i64
    %to = tile.view %b[%w] dims [] dilations [] limits [] : !tile.root<1xf32> -> !tile.view<f32>
    tile.store %to, %sum : !tile.view<f32>, f32
    tile.yield
  }
  tile.return
}

// Places that are asked for again and again stay what they are: 8 threads do not count to 5.
// CHECK-LABEL: tile.kernel @rests
// CHECK: tile.rem floor {{.*}} : tensor<8xi32>
// CHECK: tile.store
tile.kernel @rests(%q: !tile.ptr<i32>, %n: i64) {
  %c1 = arith.constant 1 : i64
  %b = tile.root %q[%n] strides [%c1] : !tile.ptr<i32> -> !tile.root<1xi32>
  tile.threads 8 {
  ^bb0(%t: i32):
    %c5 = arith.constant 5 : i32
    %c8 = arith.constant 8 : i32
    %c9 = arith.constant 9 : i32
    %c10 = arith.constant 10 : i32
    %x = tile.rem floor %t, %c8 : i32
    %y = tile.rem floor %t, %c9 : i32
    %z = tile.rem floor %t, %c10 : i32
    %u = tile.rem floor %t, %c5 : i32
    %v = arith.muli %x, %y : i32
    %w = arith.muli %z, %v : i32
    %r = arith.muli %u, %w : i32
    %at = arith.extsi %t : i32 to i64
    %to = tile.view %b[%at] dims [] dilations [] limits [] : !tile.root<1xi32> -> !tile.view<i32>
    tile.store %to, %r : !tile.view<i32>, i32
    tile.yield
  }
  tile.return
}

// A product of a warp is one of the tiles that its threads' parts make: 16 x 4 and 4 x 8 elements of each of two warps.
// CHECK-LABEL: tile.kernel @products
// CHECK: tile.dot {{.*}} : tensor<2x16x4xf64>, tensor<2x4x8xf64> -> tensor<2x16x8xf64>
// CHECK-NOT: tile.warp_dot
tile.kernel @products(%q: !tile.ptr<f64>, %n: i64, %x: f64) {
  %c1 = arith.constant 1 : i64
  %b = tile.root %q[%n] strides [%c1] : !tile.ptr<f64> -> !tile.root<1xf64>
  tile.threads 64 {
  ^bb0(%t: i32):
    %w = arith.extsi %t : i32 to i64
    %y = arith.sitofp %t : i32 to f64
    %d:4 = tile.warp_dot [%y, %x], [%y], [%x, %x, %x, %x] : [f64, f64], [f64], [f64, f64, f64, f64] -> f64, f64, f64, f64
    %to = tile.view %b[%w] dims [] dilations [] limits [] : !tile.root<1xf64> -> !tile.view<f64>
    tile.store %to, %d#1 : !tile.view<f64>, f64
    tile.yield
  }
  tile.return
}

// Bits of data do not say how threads lie: one row of 64, not 32 pairs.
// CHECK-LABEL: tile.kernel @bits_of_data
// CHECK-NOT: 32x2x
// CHECK: tile.store {{.*}} tensor<64xi32>
tile.kernel @bits_of_data(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %n: i64) {
  %c1 = arith.constant 1 : i64
  %a = tile.root %p[%n] strides [%c1] : !tile.ptr<i32> -> !tile.root<1xi32>
  %b = tile.root %q[%n] strides [%c1] : !tile.ptr<i32> -> !tile.root<1xi32>
  tile.threads 64 {
  ^bb0(%t: i32):
    %one = arith.constant 1 : i32
    %w = arith.extsi %t : i32 to i64
    %from = tile.view %a[%w] dims [] dilations [] limits [] : !tile.root<1xi32> -> !tile.view<i32>
    %x = tile.load %from : !tile.view<i32> -> i32
    %bit = arith.andi %x, %one : i32
    %to = tile.view %b[%w] dims [] dilations [] limits [] : !tile.root<1xi32> -> !tile.view<i32>
    tile.store %to, %bit : !tile.view<i32>, i32
    tile.yield
  }
  tile.return
}

// A shuffle by a number that all share reads neighbours; who has none keeps his own. What the first warp does alone is done for 32 lanes.
// CHECK-LABEL: tile.kernel @first_warp
// CHECK: %[[TAKEN:.*]] = tile.take %{{.*}}, %[[PLACE:.*]] axis 1 : tensor<4x32xi32>, tensor<4x32xi32>
// CHECK: arith.select %{{.*}}, %[[TAKEN]], %{{.*}} : tensor<4x32xi1>, tensor<4x32xi32>
// CHECK: tile.take {{.*}} tensor<1x32xi32>, tensor<1x32xi32>
// CHECK-NOT: tensor<4x32xf32>
tile.kernel @first_warp(%q: !tile.ptr<f32>, %n: i64, %by: i32) {
  %c1 = arith.constant 1 : i64
  %b = tile.root %q[%n] strides [%c1] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.threads 128 {
  ^bb0(%t: i32):
    %c32 = arith.constant 32 : i32
    %x = tile.shuffle up %t, %by : i32 -> i32
    %first = arith.cmpi slt, %t, %c32 : i32
    scf.if %first {
      %y = tile.shuffle up %x, %by : i32 -> i32
      %z = arith.sitofp %y : i32 to f32
      %w = arith.extsi %t : i32 to i64
      %to = tile.view %b[%w] dims [] dilations [] limits [] : !tile.root<1xf32> -> !tile.view<f32>
      tile.store %to, %z : !tile.view<f32>, f32
    }
    tile.yield
  }
  tile.return
}

// The clock and the processor's number are one answer for all threads, also where they wait for it.
// CHECK-LABEL: tile.kernel @waits
// CHECK: scf.while {{.*}} : (i64) -> i64
// CHECK: %[[NOW:.*]] = tile.clock
// CHECK: scf.yield %[[NOW]] : i64
// CHECK: tile.processor
// CHECK: arith.sitofp %{{.*}} : tensor<64xi64> to tensor<64xf32>
tile.kernel @waits(%q: !tile.ptr<f32>, %n: i64) {
  %c1 = arith.constant 1 : i64
  %b = tile.root %q[%n] strides [%c1] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.threads 64 {
  ^bb0(%t: i32):
    %zero = arith.constant 0 : i64
    %end = arith.constant 1000 : i64
    %last = scf.while (%now = %zero) : (i64) -> i64 {
      %goes = arith.cmpi slt, %now, %end : i64
      scf.condition(%goes) %now : i64
    } do {
    ^bb0(%now: i64):
      %next = tile.clock
      scf.yield %next : i64
    }
    %w = arith.extsi %t : i32 to i64
    %where = tile.processor
    %wide = arith.extsi %where : i32 to i64
    %more = arith.addi %last, %wide : i64
    %sum = arith.addi %more, %w : i64
    %z = arith.sitofp %sum : i64 to f32
    %to = tile.view %b[%w] dims [] dilations [] limits [] : !tile.root<1xf32> -> !tile.view<f32>
    tile.store %to, %z : !tile.view<f32>, f32
    tile.yield
  }
  tile.return
}
