// RUN: tilery-opt %s > %t && tilery-opt %t | diff %t - && FileCheck %s < %t
// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(verify-layouts,check-barriers))' -o /dev/null
// What the passes leave of a product of 128x256x64 tiles, and what code is made from: programs dealt to blocks, two roles, layouts, waits
// and meetings in their places. Half of the result's columns of 128 bytes are written while the others are stored.

// CHECK-LABEL: tile.kernel @gemm
#acc = #block.layout<register: 2*(0,1) 2*(8,0) 32*(0,8); lane: 4*(0,2) 8*(1,0); warp: 8*(16,0) -> 128x256>
#sw = #block.layout<offset: 8*(0,1) 2*(0,0)^(0,8) 2*(0,0)^(0,16) 2*(0,0)^(0,32) 2*(1,0)^(0,8) 2*(2,0)^(0,16) 2*(4,0)^(0,32) 16*(8,0) -> 128x64>
#swn = #block.layout<offset: 8*(0,1) 2*(0,0)^(0,8) 2*(0,0)^(0,16) 2*(0,0)^(0,32) 2*(1,0)^(0,8) 2*(2,0)^(0,16) 2*(4,0)^(0,32) 8*(8,0) 4*(0,64) -> 64x256>
!a = !block.shared<128x64xbf16, #sw>
!b = !block.shared<64x256xbf16, #swn>
!out = !block.shared<128x64xbf16, #sw>
!slot = !block.slot<[128x64xbf16 #sw, 64x256xbf16 #swn]>
!ring = !block.ring<4, [128x64xbf16 #sw, 64x256xbf16 #swn]>
!sum = !block.pending<tensor<128x256xf32, #acc>>
!tile = tensor<128x256xbf16, #acc>
!mapc = !block.map<64x64xbf16, 128>

tile.kernel @gemm(%a: !tile.ptr<bf16, const> {tile.divisibility = 16 : i64}, %b: !tile.ptr<bf16, const> {tile.divisibility = 16 : i64}, %c: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
                  %m: i64, %n: i64, %k: i64, %am: i64 {tile.divisibility = 16 : i64}, %bk: i64, %cm: i64 {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c192 = arith.constant 192 : i32
  %c256 = arith.constant 256 : i32
  // A launch that breaks one of these runs the second image.
  block.require %bk divides_by 8
  %some = arith.subi %k, %am : i64
  block.require %some
  %ma = block.map %a, [%m, %k], [%am] : !tile.ptr<bf16, const> -> !block.map<128x64xbf16, 128>
  %mb = block.map %b, [%k, %n], [%bk] : !tile.ptr<bf16, const> -> !block.map<64x64xbf16, 128>
  %mc = block.map %c, [%m, %n], [%cm] : !tile.ptr<bf16> -> !mapc
  %ring = block.ring takers 2 : !ring
  %out0 = block.alloc : !out
  %out1 = block.alloc : !out
  // Scalars that no program changes stay in front of the roles.
  %c63 = arith.constant 63 : i64
  %wide = arith.constant 64 : i64
  %up = arith.addi %k, %c63 overflow<nsw> : i64
  %long = tile.div trunc %up, %wide : i64
  %steps = arith.trunci %long : i64 to i32
  %gx = tile.num_programs 0
  %gy = tile.num_programs 1
  %plane = arith.muli %gx, %gy : i32
  %no = arith.constant false
  block.roles {
    block.role @load warps 4 {
      %end = block.programs grouped by 8 order(%gx, %no, %plane) iter(%c0 : i32) {
      ^bb0(%x: i32, %y: i32, %z: i32, %p: i32):
        %row = arith.muli %y, %c128 : i32
        %col = arith.muli %x, %c256 : i32
        %q = scf.for %i = %c0 to %steps step %c1 iter_args(%at = %p) -> (i32) : i32 {
          %kk = arith.muli %i, %c64 : i32
          %s = block.acquire %ring[%at] : !ring
          %sa = block.part %s[0] : !slot
          block.copy %ma[%row, %kk] -> %sa : !block.map<128x64xbf16, 128>, !a
          %sb = block.part %s[1] : !slot
          block.copy %mb[%kk, %col] -> %sb : !block.map<64x64xbf16, 128>, !b
          block.publish %s : !slot
          %next = arith.addi %at, %c1 : i32
          scf.yield %next : i32
        }
        block.yield %q : i32
      }
    }
    block.role @math warps 8 {
      %end = block.programs grouped by 8 order(%gx, %no, %plane) iter(%c0 : i32) {
      ^bb0(%x: i32, %y: i32, %z: i32, %p: i32):
        %row = arith.muli %y, %c128 : i32
        %col = arith.muli %x, %c256 : i32
        %zero = block.none : !sum
        %free = block.none : !slot
        %last, %q, %t = scf.for %i = %c0 to %steps step %c1 iter_args(%sum = %zero, %at = %p, %before = %free) -> (!sum, i32, !slot) : i32 {
          %s = block.take %ring[%at] : !ring
          %sa = block.part %s[0] : !slot
          %sb = block.part %s[1] : !slot
          %first = arith.cmpi eq, %i, %c0 : i32
          %d = block.mma_start %sum, %sa, %sb clear %first : !sum, !a, !b -> !sum
          block.mma_settle %sum : !sum
          block.release %before : !slot
          %next = arith.addi %at, %c1 : i32
          scf.yield %d, %next, %s : !sum, i32, !slot
        }
        %r = block.mma_wait %last : !sum -> tensor<128x256xf32, #acc>
        block.release %t : !slot
        %h = arith.truncf %r : tensor<128x256xf32, #acc> to !tile
        // Each warpgroup writes its 64 rows and stores them: it meets by itself.
        block.store_wait read 1
        block.sync warps 4
        block.write %out0, %h at [0, 0] : !out, !tile
        block.fence
        block.sync warps 4
        block.store_box %out0 -> %mc[%row, %col] : !out, !mapc
        %col1 = arith.addi %col, %c64 : i32
        block.store_wait read 1
        block.sync warps 4
        block.write %out1, %h at [0, 64] : !out, !tile
        block.fence
        block.sync warps 4
        block.store_box %out1 -> %mc[%row, %col1] : !out, !mapc
        %col2 = arith.addi %col, %c128 : i32
        block.store_wait read 1
        block.sync warps 4
        block.write %out0, %h at [0, 128] : !out, !tile
        block.fence
        block.sync warps 4
        block.store_box %out0 -> %mc[%row, %col2] : !out, !mapc
        %col3 = arith.addi %col, %c192 : i32
        block.store_wait read 1
        block.sync warps 4
        block.write %out1, %h at [0, 192] : !out, !tile
        block.fence
        block.sync warps 4
        block.store_box %out1 -> %mc[%row, %col3] : !out, !mapc
        block.yield %q : i32
      }
      block.store_wait 0
    }
  }
  tile.return
}
