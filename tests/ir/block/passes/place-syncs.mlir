// RUN: tilery-opt %S/choose-schedule.mlir -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,stage-stores,order-programs,split-roles,canonicalize,cse,assign-layouts,place-syncs))' | FileCheck %s
// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(place-syncs))' | FileCheck %s --check-prefix=READ

// Each warpgroup stores what it wrote: it meets alone. The other half may still be read while one is written.
// CHECK-LABEL: tile.kernel @wide
// CHECK: block.role @load
// CHECK-NOT: block.sync
// CHECK: block.role @math
// CHECK-COUNT-4: block.store_wait read 1
// CHECK: block.sync warps 4
// CHECK: block.write
// CHECK-NEXT: block.fence
// CHECK-NEXT: block.sync warps 4
// CHECK-NEXT: block.store_box
// CHECK: block.yield
// CHECK-NEXT: }
// CHECK-NEXT: block.store_wait 0
// One warpgroup is the whole role; the program before has stored from here.
// CHECK-LABEL: tile.kernel @deep
// CHECK: block.store_wait read 0
// CHECK-NEXT: block.sync
// CHECK-NEXT: block.write
// CHECK-NEXT: block.fence
// CHECK-NEXT: block.sync
// CHECK-NEXT: block.store_box

// READ-LABEL: tile.kernel @exchange
// READ: scf.for
// READ-NEXT: block.sync
// READ-NEXT: block.write
// READ-NEXT: block.sync
// READ-NEXT: block.read
// READ-NEXT: scf.yield
// READ-NOT: block.store_wait
tile.kernel @exchange(%x: tensor<8x32xf32>, %n: i32) {
  %shared = block.alloc : !block.shared<8x32xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  block.roles {
    block.role @math warps 4 {
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<8x32xf32>) : i32 {
        block.write %shared, %v : !block.shared<8x32xf32>, tensor<8x32xf32>
        %w = block.read %shared : !block.shared<8x32xf32> -> tensor<8x32xf32>
        scf.yield %w : tensor<8x32xf32>
      }
    }
  }
  tile.return
}

// One thread gives the slot back: by then all have seen it full, also where a loop, whose products would show that, has no turns.
// READ-LABEL: tile.kernel @turns
// READ: block.take
// READ: scf.for
// READ: block.sync
// READ-NEXT: block.release
tile.kernel @turns(%q: !tile.ptr<bf16, const>, %rows: i64, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %wide = arith.constant 64 : i64
  %map = block.map %q, [%rows, %wide], [%wide] : !tile.ptr<bf16, const> -> !block.map<64x64xbf16, 128>
  %ring = block.ring takers 1 : !block.ring<1, [64x64xbf16]>
  block.roles {
    block.role @load warps 1 {
      %slot = block.acquire %ring[%c0] : !block.ring<1, [64x64xbf16]>
      %part = block.part %slot[0] : !block.slot<[64x64xbf16]>
      block.copy %map[%c0, %c0] -> %part : !block.map<64x64xbf16, 128>, !block.shared<64x64xbf16>
      block.publish %slot : !block.slot<[64x64xbf16]>
    }
    block.role @math warps 4 {
      %slot = block.take %ring[%c0] : !block.ring<1, [64x64xbf16]>
      %turns = scf.for %i = %c0 to %n step %c1 iter_args(%at = %c0) -> (i32) : i32 {
        %more = arith.addi %at, %c1 : i32
        scf.yield %more : i32
      }
      block.release %slot : !block.slot<[64x64xbf16]>
    }
  }
  tile.return
}
