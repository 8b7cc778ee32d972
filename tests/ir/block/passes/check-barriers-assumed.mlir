// RUN: tilery-opt %s -split-input-file -pass-pipeline='builtin.module(tile.kernel(check-barriers))' | FileCheck %s
// Roles whose control flow hangs on data: they are run with numbers assumed for these.
!slot = !block.slot<[8x32xf32]>
!ring = !block.ring<2, [8x32xf32]>
// Each program has as many steps as a table says.
// CHECK-LABEL: tile.kernel @right(
// CHECK-NOT: block.unchecked
tile.kernel @right(%a: !tile.ptr<f32>, %table: !tile.ptr<i32>, %n: i64) {
  %m = block.map %a, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %ring = block.ring takers 1 : !ring
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %at0 = arith.constant 0 : i64
  %place = tile.access %table, %at0 steps() bounds []() : <i32>, (), () -> <i32>
  block.roles {
    block.role @load warps 1 {
      %end = block.programs grid iter(%c0 : i32) {
      ^bb0(%x: i32, %y: i32, %z: i32, %p: i32):
        %steps = tile.load %place : !tile.access<i32> -> i32
        %q = scf.for %i = %c0 to %steps step %c1 iter_args(%at = %p) -> (i32) : i32 {
          %s = block.acquire %ring[%at] : !ring
          %t = block.part %s[0] : !slot
          block.copy %m[%i, %c0] -> %t : !block.map<8x32xf32, 128>, !block.shared<8x32xf32>
          block.publish %s : !slot
          %next = arith.addi %at, %c1 : i32
          scf.yield %next : i32
        }
        block.yield %q : i32
      }
    }
    block.role @rows warps 1 {
      %end = block.programs grid iter(%c0 : i32) {
      ^bb0(%x: i32, %y: i32, %z: i32, %p: i32):
        %steps = tile.load %place : !tile.access<i32> -> i32
        %q = scf.for %i = %c0 to %steps step %c1 iter_args(%at = %p) -> (i32) : i32 {
          %s = block.take %ring[%at] : !ring
          %t = block.part %s[0] : !slot
          %v = block.read %t : !block.shared<8x32xf32> -> tensor<8x32xf32>
          block.release %s : !slot
          %next = arith.addi %at, %c1 : i32
          scf.yield %next : i32
        }
        block.yield %q : i32
      }
    }
  }
  tile.return
}
// -----
!slot = !block.slot<[8x32xf32]>
!ring = !block.ring<2, [8x32xf32]>
// A step more is taken than filled.
// CHECK-LABEL: tile.kernel @one_too_many(
// CHECK: block.unchecked = "role @rows waits for ever
tile.kernel @one_too_many(%a: !tile.ptr<f32>, %table: !tile.ptr<i32>, %n: i64) {
  %m = block.map %a, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %ring = block.ring takers 1 : !ring
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %at0 = arith.constant 0 : i64
  %place = tile.access %table, %at0 steps() bounds []() : <i32>, (), () -> <i32>
  block.roles {
    block.role @load warps 1 {
      %steps = tile.load %place : !tile.access<i32> -> i32
      scf.for %i = %c0 to %steps step %c1 : i32 {
        %s = block.acquire %ring[%i] : !ring
        %t = block.part %s[0] : !slot
        block.copy %m[%i, %c0] -> %t : !block.map<8x32xf32, 128>, !block.shared<8x32xf32>
        block.publish %s : !slot
      }
    }
    block.role @rows warps 1 {
      %steps = tile.load %place : !tile.access<i32> -> i32
      %more = arith.addi %steps, %c1 : i32
      scf.for %i = %c0 to %more step %c1 : i32 {
        %s = block.take %ring[%i] : !ring
        %t = block.part %s[0] : !slot
        %v = block.read %t : !block.shared<8x32xf32> -> tensor<8x32xf32>
        block.release %s : !slot
      }
    }
  }
  tile.return
}
// -----
!slot = !block.slot<[8x32xf32]>
!ring = !block.ring<2, [8x32xf32]>
// Nobody can tell when this ends, but its beginning is wrong: slots are released before they are read.
// CHECK-LABEL: tile.kernel @endless(
// CHECK: block.unchecked = "data of full barrier 0 is overwritten before role @rows has read it
tile.kernel @endless(%a: !tile.ptr<f32>, %table: !tile.ptr<i32>, %n: i64) {
  %m = block.map %a, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %ring = block.ring takers 1 : !ring
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %at0 = arith.constant 0 : i64
  %place = tile.access %table, %at0 steps() bounds []() : <i32>, (), () -> <i32>
  block.roles {
    block.role @load warps 1 {
      %end = scf.while (%i = %c0) : (i32) -> i32 {
        %flag = tile.load %place : !tile.access<i32> -> i32
        %again = arith.cmpi ne, %flag, %c0 : i32
        scf.condition(%again) %i : i32
      } do {
      ^bb0(%i: i32):
        %s = block.acquire %ring[%i] : !ring
        %t = block.part %s[0] : !slot
        block.copy %m[%i, %c0] -> %t : !block.map<8x32xf32, 128>, !block.shared<8x32xf32>
        block.publish %s : !slot
        %next = arith.addi %i, %c1 : i32
        scf.yield %next : i32
      }
    }
    block.role @rows warps 1 {
      %end = scf.while (%i = %c0) : (i32) -> i32 {
        %flag = tile.load %place : !tile.access<i32> -> i32
        %again = arith.cmpi ne, %flag, %c0 : i32
        scf.condition(%again) %i : i32
      } do {
      ^bb0(%i: i32):
        %s = block.take %ring[%i] : !ring
        block.release %s : !slot
        %t = block.part %s[0] : !slot
        %v = block.read %t : !block.shared<8x32xf32> -> tensor<8x32xf32>
        %next = arith.addi %i, %c1 : i32
        scf.yield %next : i32
      }
    }
  }
  tile.return
}
