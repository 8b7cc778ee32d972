// RUN: tilery-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(tile.kernel(check-barriers))'
!slot = !block.slot<[64x16xbf16, 16x16xbf16]>
!ring = !block.ring<3, [64x16xbf16, 16x16xbf16]>
!sum = !block.pending<tensor<64x16xf32>>
// Two roles and any number of steps, over three programs.
tile.kernel @right(%a: !tile.ptr<bf16>, %n: i64, %steps: i32) {
  %ma = block.map %a, [%n, %n], [%n] : !tile.ptr<bf16> -> !block.map<64x16xbf16, 32>
  %mb = block.map %a, [%n, %n], [%n] : !tile.ptr<bf16> -> !block.map<16x16xbf16, 32>
  %ring = block.ring takers 1 : !ring
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  block.roles {
    block.role @load warps 4 {
      %end = block.programs grid iter(%c0 : i32) {
      ^bb0(%x: i32, %y: i32, %z: i32, %p: i32):
        %q = scf.for %i = %c0 to %steps step %c1 iter_args(%at = %p) -> (i32) : i32 {
          %s = block.acquire %ring[%at] : !ring
          %sa = block.part %s[0] : !slot
          %sb = block.part %s[1] : !slot
          block.copy %ma[%x, %i] -> %sa : !block.map<64x16xbf16, 32>, !block.shared<64x16xbf16>
          block.copy %mb[%i, %y] -> %sb : !block.map<16x16xbf16, 32>, !block.shared<16x16xbf16>
          block.publish %s : !slot
          %next = arith.addi %at, %c1 : i32
          scf.yield %next : i32
        }
        block.yield %q : i32
      }
    }
    block.role @math warps 4 {
      %end = block.programs grid iter(%c0 : i32) {
      ^bb0(%x: i32, %y: i32, %z: i32, %p: i32):
        %zero = block.none : !sum
        %free = block.none : !slot
        %last, %q, %t = scf.for %i = %c0 to %steps step %c1 iter_args(%sum = %zero, %at = %p, %before = %free) -> (!sum, i32, !slot) : i32 {
          %s = block.take %ring[%at] : !ring
          %sa = block.part %s[0] : !slot
          %sb = block.part %s[1] : !slot
          %d = block.mma_start %sum, %sa, %sb : !sum, !block.shared<64x16xbf16>, !block.shared<16x16xbf16> -> !sum
          block.mma_settle %sum : !sum
          block.release %before : !slot
          %next = arith.addi %at, %c1 : i32
          scf.yield %d, %next, %s : !sum, i32, !slot
        }
        %r = block.mma_wait %last : !sum -> tensor<64x16xf32>
        block.release %t : !slot
        block.yield %q : i32
      }
    }
  }
  tile.return
}
// -----
!slot = !block.slot<[8x32xf32]>
!ring = !block.ring<2, [8x32xf32]>
// The last slot of a program is never released: with enough steps the producer waits for ever.
tile.kernel @kept(%a: !tile.ptr<f32>, %n: i64, %steps: i32) {
  %m = block.map %a, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %ring = block.ring takers 1 : !ring
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-error @+1 {{the barriers of these roles are wrong: role @load waits for ever: nobody arrives at empty barrier 0}}
  block.roles {
    block.role @load warps 1 {
      scf.for %i = %c0 to %steps step %c1 : i32 {
        %s = block.acquire %ring[%i] : !ring
        %t = block.part %s[0] : !slot
        block.copy %m[%i, %c0] -> %t : !block.map<8x32xf32, 128>, !block.shared<8x32xf32>
        block.publish %s : !slot
      }
    }
    block.role @rows warps 1 {
      scf.for %i = %c0 to %steps step %c1 : i32 {
        %s = block.take %ring[%i] : !ring
        %t = block.part %s[0] : !slot
        %v = block.read %t : !block.shared<8x32xf32> -> tensor<8x32xf32>
      }
    }
  }
  tile.return
}
// -----
!slot = !block.slot<[8x32xf32]>
!ring = !block.ring<2, [8x32xf32]>
// Released before it is read: with two slots the producer may overwrite what the reader has not seen.
tile.kernel @early(%a: !tile.ptr<f32>, %n: i64, %steps: i32) {
  %m = block.map %a, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %ring = block.ring takers 1 : !ring
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-error @+1 {{the barriers of these roles are wrong}}
  block.roles {
    block.role @load warps 1 {
      scf.for %i = %c0 to %steps step %c1 : i32 {
        %s = block.acquire %ring[%i] : !ring
        %t = block.part %s[0] : !slot
        block.copy %m[%i, %c0] -> %t : !block.map<8x32xf32, 128>, !block.shared<8x32xf32>
        block.publish %s : !slot
      }
    }
    block.role @rows warps 1 {
      scf.for %i = %c0 to %steps step %c1 : i32 {
        %s = block.take %ring[%i] : !ring
        block.release %s : !slot
        %t = block.part %s[0] : !slot
        %v = block.read %t : !block.shared<8x32xf32> -> tensor<8x32xf32>
      }
    }
  }
  tile.return
}
