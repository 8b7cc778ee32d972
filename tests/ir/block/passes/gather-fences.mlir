// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(gather-fences,place-syncs))' | FileCheck %s

// What goes out, and a slot that threads have read, wait for the fence of the next factor: it serves for all, and the product runs meanwhile.
// CHECK-LABEL: tile.kernel @gathered
// CHECK: block.role @math
// CHECK: block.store_wait read 0
// CHECK: block.write %[[H:[a-z0-9_]+]],
// CHECK-NOT: block.fence
// CHECK: block.take
// CHECK: block.read
// CHECK-NOT: block.{{fence|sync|release}}
// CHECK: tile.load
// CHECK: block.write
// CHECK-NEXT: block.fence
// CHECK-NEXT: block.publish
// CHECK: block.mma_start
// CHECK-NEXT: block.sync
// CHECK-NEXT: block.store_box %[[H]]
// CHECK-NEXT: block.release
// CHECK-NEXT: block.mma_wait
tile.kernel @gathered(%v: !tile.ptr<bf16>, %h: !tile.ptr<bf16>, %g: !tile.ptr<f32>, %rows: i64, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %wide = arith.constant 64 : i64
  %from = block.map %v, [%rows, %wide], [%wide] : !tile.ptr<bf16> -> !block.map<64x64xbf16, 128>
  %to = block.map %h, [%rows, %wide], [%wide] : !tile.ptr<bf16> -> !block.map<64x64xbf16, 128>
  %ring = block.ring takers 4 : !block.ring<3, [64x64xbf16]>
  %own = block.ring takers 1 : !block.ring<2, [64x64xbf16]>
  %out = block.alloc : !block.shared<64x64xbf16>
  %sums = arith.constant dense<0.0> : tensor<64x64xf32>
  block.roles {
    block.role @load warps 4 {
      %last = scf.for %i = %c0 to %n step %c1 iter_args(%p = %c0) -> (i32) : i32 {
        %slot = block.acquire %ring[%p] : !block.ring<3, [64x64xbf16]>
        %part = block.part %slot[0] : !block.slot<[64x64xbf16]>
        block.copy %from[%i, %c0] -> %part : !block.map<64x64xbf16, 128>, !block.shared<64x64xbf16>
        block.publish %slot : !block.slot<[64x64xbf16]>
        %next = arith.addi %p, %c1 : i32
        scf.yield %next : i32
      }
    }
    block.role @math warps 4 {
      %last:2 = scf.for %i = %c0 to %n step %c1 iter_args(%state = %sums, %p = %c0) -> (tensor<64x64xf32>, i32) : i32 {
        %half = arith.truncf %state : tensor<64x64xf32> to tensor<64x64xbf16>
        block.write %out, %half : !block.shared<64x64xbf16>, tensor<64x64xbf16>
        block.store_box %out -> %to[%i, %c0] : !block.shared<64x64xbf16>, !block.map<64x64xbf16, 128>
        %slot = block.take %ring[%p] : !block.ring<3, [64x64xbf16]>
        %part = block.part %slot[0] : !block.slot<[64x64xbf16]>
        %x = block.read %part : !block.shared<64x64xbf16> -> tensor<64x64xbf16>
        block.release %slot : !block.slot<[64x64xbf16]>
        %at = arith.extsi %i : i32 to i64
        %place = tile.access %g, %at steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>
        %gate = tile.load %place : !tile.access<f32> -> f32
        %gates = tile.splat %gate : f32 -> tensor<64x64xf32>
        %f = arith.extf %x : tensor<64x64xbf16> to tensor<64x64xf32>
        %scaled = arith.mulf %f, %gates : tensor<64x64xf32>
        %factor = arith.truncf %scaled : tensor<64x64xf32> to tensor<64x64xbf16>
        %mine = block.acquire %own[%p] {block.consumer_filled} : !block.ring<2, [64x64xbf16]>
        %to_mine = block.part %mine[0] : !block.slot<[64x64xbf16]>
        block.write %to_mine, %factor : !block.shared<64x64xbf16>, tensor<64x64xbf16>
        block.publish %mine : !block.slot<[64x64xbf16]>
        %full = block.take %own[%p] : !block.ring<2, [64x64xbf16]>
        %b = block.part %full[0] : !block.slot<[64x64xbf16]>
        %started = block.mma_start %state, %half, %b : tensor<64x64xf32>, tensor<64x64xbf16>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32>>
        %sum = block.mma_wait %started : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
        block.release %full : !block.slot<[64x64xbf16]>
        %next = arith.addi %p, %c1 : i32
        scf.yield %sum, %next : tensor<64x64xf32>, i32
      }
    }
  }
  tile.return
}
