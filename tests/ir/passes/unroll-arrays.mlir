// RUN: tilery-opt --pass-pipeline='builtin.module(tile.kernel(unroll-arrays,canonicalize,cse))' %s | FileCheck %s

// The inner loop's range is made of the outer loop's number: 4 and 2 pairs, whose places are constants.
// CHECK-LABEL: tile.kernel @pairs
// CHECK-NOT: scf.for
// CHECK: tile.element_store
// CHECK-NOT: scf.for
tile.kernel @pairs(%p: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %x = arith.constant 1.0 : f32
  tile.threads 32 {
  ^bb0(%t: i32):
    %a = tile.alloc : <8xf32, local>
    scf.for %i = %c0 to %c2 step %c1 : i32 {
      %wide = arith.addi %i, %c1 : i32
      %half = tile.shift left %c1, %wide : i32
      %count = tile.div floor %c8, %half : i32
      scf.for %j = %c0 to %count step %c1 : i32 {
        %k = arith.muli %j, %half : i32
        %v = tile.element_load %a[%k] : <8xf32, local>, i32 -> f32
        %s = arith.addf %v, %x : f32
        tile.element_store %a[%k], %s : <8xf32, local>, (i32), f32
      }
    }
  }
  tile.return
}

// A number that is loaded, or a thread's own, picks the element: nothing is gained.
// CHECK-LABEL: tile.kernel @dynamic
// CHECK: scf.for
tile.kernel @dynamic(%p: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %x = arith.constant 1.0 : f32
  tile.threads 32 {
  ^bb0(%t: i32):
    %a = tile.alloc : <40xf32, local>
    scf.for %i = %c0 to %c8 step %c1 : i32 {
      %k = arith.addi %i, %t : i32
      tile.element_store %a[%k], %x : <40xf32, local>, (i32), f32
    }
  }
  tile.return
}

// Code that would be too long stays as it is.
// CHECK-LABEL: tile.kernel @long
// CHECK: scf.for
// CHECK: tile.element_store
tile.kernel @long(%p: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %many = arith.constant 20000 : i32
  %x = arith.constant 1.0 : f32
  tile.threads 32 {
  ^bb0(%t: i32):
    %a = tile.alloc : <20000xf32, local>
    scf.for %i = %c0 to %many step %c1 : i32 {
      tile.element_store %a[%i], %x : <20000xf32, local>, (i32), f32
    }
  }
  tile.return
}
