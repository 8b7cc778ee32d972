// RUN: tilery-opt %s | tilery-opt | FileCheck %s
// A product with a batch offset: two roles, a ring of four slots. Layouts print as aliases.

// CHECK-DAG: #acc = #block.layout<register: 2*(0,1) 2*(8,0) 32*(0,8); lane: 4*(0,2) 8*(1,0); warp: 8*(16,0) -> 128x256>
// CHECK-DAG: #sw = #block.layout<offset: 8*(0,1) 2*(0,0)^(0,8) 2*(0,0)^(0,16) 2*(0,0)^(0,32) 2*(1,0)^(0,8) 2*(2,0)^(0,16) 2*(4,0)^(0,32) {{[0-9]+}}*(8,0)
#acc = #block.layout<register: 2*(0,1) 2*(8,0) 32*(0,8); lane: 4*(0,2) 8*(1,0); warp: 8*(16,0) -> 128x256>
#sw = #block.layout<offset: 8*(0,1) 2*(0,0)^(0,8) 2*(0,0)^(0,16) 2*(0,0)^(0,32) 2*(1,0)^(0,8) 2*(2,0)^(0,16) 2*(4,0)^(0,32) 16*(8,0) -> 128x64>
#swn = #block.layout<offset: 8*(0,1) 2*(0,0)^(0,8) 2*(0,0)^(0,16) 2*(0,0)^(0,32) 2*(1,0)^(0,8) 2*(2,0)^(0,16) 2*(4,0)^(0,32) 8*(8,0) 4*(0,64) -> 64x256>
#swo = #block.layout<offset: 8*(0,1) 2*(0,0)^(0,8) 2*(0,0)^(0,16) 2*(0,0)^(0,32) 2*(1,0)^(0,8) 2*(2,0)^(0,16) 2*(4,0)^(0,32) 16*(8,0) 4*(0,64) -> 128x256>
!a = !block.shared<128x64xbf16, #sw>
!b = !block.shared<64x256xbf16, #swn>
!out = !block.shared<128x256xbf16, #swo>
!slot = !block.slot<[128x64xbf16 #sw, 64x256xbf16 #swn]>
!ring = !block.ring<2, [128x64xbf16 #sw, 64x256xbf16 #swn]>
!sum = !block.pending<tensor<128x256xf32, #acc>>

// CHECK-LABEL: tile.kernel @gemm
tile.kernel @gemm(%a: !tile.ptr<bf16, const>, %b: !tile.ptr<bf16, const>, %c: !tile.ptr<bf16>, %m: i64, %n: i64, %k: i64) {
  %all = arith.constant 2147483648 : i64
  %am = arith.muli %m, %k overflow<nsw> : i64
  %bm = arith.muli %k, %n overflow<nsw> : i64
  %cm = arith.muli %m, %n overflow<nsw> : i64
  // CHECK: block.map %{{.*}}, [%{{.*}}, %{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] : <bf16, const> -> <1x128x64xbf16, 128>
  %ma = block.map %a, [%all, %m, %k], [%am, %k] : !tile.ptr<bf16, const> -> !block.map<1x128x64xbf16, 128>
  %mb = block.map %b, [%all, %k, %n], [%bm, %n] : !tile.ptr<bf16, const> -> !block.map<1x64x64xbf16, 128>
  %mc = block.map %c, [%all, %m, %n], [%cm, %n] : !tile.ptr<bf16> -> !block.map<1x128x64xbf16, 128>
  // CHECK: %[[ring:.*]] = block.ring takers 2 : <2, [128x64xbf16 #sw{{[0-9]*}}, 64x256xbf16 #sw{{[0-9]*}}]>
  %ring = block.ring takers 2 : !ring
  // CHECK: %[[out:.*]] = block.alloc : <128x256xbf16, #sw{{[0-9]*}}>
  %out = block.alloc : !out
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %steps = arith.trunci %k : i64 to i32
  // CHECK: block.roles {
  block.roles {
    // CHECK: block.role @load warps 4 registers 40 {
    block.role @load warps 4 registers 40 {
      // CHECK: block.programs grouped by 8 iter(%{{.*}} : i32) {
      %end = block.programs grouped by 8 iter(%c0 : i32) {
      ^bb0(%x: i32, %y: i32, %z: i32, %p: i32):
        %q = scf.for %i = %c0 to %steps step %c1 iter_args(%at = %p) -> (i32) : i32 {
          %kk = arith.muli %i, %c64 : i32
          // CHECK: %[[s:.*]] = block.acquire %[[ring]][%{{.*}}] : <2, [
          %s = block.acquire %ring[%at] : !ring
          // CHECK: block.part %[[s]][0] : <[
          %sa = block.part %s[0] : !slot
          %sb = block.part %s[1] : !slot
          // CHECK: block.copy %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] -> %{{.*}} : <1x128x64xbf16, 128>, <128x64xbf16, #sw{{[0-9]*}}>
          block.copy %ma[%z, %x, %kk] -> %sa : !block.map<1x128x64xbf16, 128>, !a
          block.copy %mb[%z, %kk, %y] -> %sb : !block.map<1x64x64xbf16, 128>, !b
          // CHECK: block.publish %[[s]] : <[
          block.publish %s : !slot
          %next = arith.addi %at, %c1 : i32
          scf.yield %next : i32
        }
        block.yield %q : i32
      }
    }
    // CHECK: block.role @math warps 8 registers 232 {
    block.role @math warps 8 registers 232 {
      %end = block.programs grouped by 8 iter(%c0 : i32) {
      ^bb0(%x: i32, %y: i32, %z: i32, %p: i32):
        // CHECK: block.none : !block.pending<tensor<128x256xf32, #acc>>
        %zero = block.none : !sum
        %free = block.none : !slot
        %last, %q, %t = scf.for %i = %c0 to %steps step %c1 iter_args(%sum = %zero, %at = %p, %before = %free) -> (!sum, i32, !slot) : i32 {
          // CHECK: block.take %[[ring]][%{{.*}}] : <2, [
          %s = block.take %ring[%at] : !ring
          %sa = block.part %s[0] : !slot
          %sb = block.part %s[1] : !slot
          %first = arith.cmpi eq, %i, %c0 : i32
          // CHECK: block.mma_start %{{.*}}, %{{.*}}, %{{.*}} clear %{{.*}} : !block.pending<tensor<128x256xf32, #acc>>, !block.shared<128x64xbf16, #sw{{[0-9]*}}>, <64x256xbf16, #sw{{[0-9]*}}> -> <tensor<128x256xf32, #acc>>
          %d = block.mma_start %sum, %sa, %sb clear %first : !sum, !a, !b -> !sum
          // CHECK: block.mma_settle %{{.*}} : <tensor<128x256xf32, #acc>>
          block.mma_settle %sum : !sum
          // CHECK: block.release %{{.*}} : <[
          block.release %before : !slot
          %next = arith.addi %at, %c1 : i32
          scf.yield %d, %next, %s : !sum, i32, !slot
        }
        // CHECK: %[[r:.*]] = block.mma_wait %{{.*}} : <tensor<128x256xf32, #acc>> -> tensor<128x256xf32, #acc>
        %r = block.mma_wait %last : !sum -> tensor<128x256xf32, #acc>
        block.release %t : !slot
        // CHECK: arith.truncf %[[r]] : tensor<128x256xf32, #acc> to tensor<128x256xbf16, #acc>
        %h = arith.truncf %r : tensor<128x256xf32, #acc> to tensor<128x256xbf16, #acc>
        // CHECK: block.store_wait read 0
        block.store_wait read 0
        // CHECK: block.write %[[out]], %{{.*}} : <128x256xbf16, #sw{{[0-9]*}}>, tensor<128x256xbf16, #acc>
        block.write %out, %h : !out, tensor<128x256xbf16, #acc>
        // CHECK: block.fence
        block.fence
        // CHECK: block.sync
        block.sync
        // CHECK: block.store_box %[[out]] -> %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : <128x256xbf16, #sw{{[0-9]*}}>, <1x128x64xbf16, 128>
        block.store_box %out -> %mc[%z, %x, %y] : !out, !block.map<1x128x64xbf16, 128>
        block.yield %q : i32
      }
    }
  }
  tile.return
}
