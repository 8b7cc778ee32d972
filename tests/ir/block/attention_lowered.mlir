// RUN: tilery-opt %s > %t && tilery-opt %t | diff %t - && FileCheck %s < %t
// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(verify-layouts,check-barriers))' -o /dev/null
// RUN: tilery-translate --target=sm_90a --print=asm %s | FileCheck %s --check-prefix=PTX
// Attention by hand: sums of the first product, their rows' maxima and sums, and probabilities stay in registers, where the second product
// takes them from.

// CHECK-LABEL: tile.kernel @attention
// PTX: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, 0, 1, 1, 0, 0;
// PTX: wgmma.wait_group.sync.aligned 0;
// PTX: shfl.sync.idx
// PTX: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
#acc = #block.layout<register: 2*(0,1) 2*(8,0) 8*(0,8); lane: 4*(0,2) 8*(1,0); warp: 4*(16,0) -> 64x64>
#rows = #block.layout<register: 2*(8); lane: 4*(0) 8*(1); warp: 4*(16) -> 64>
#column = #block.layout<register: 2*(8,0); lane: 4*(0,0) 8*(1,0); warp: 4*(16,0) -> 64x1>
#sw = #block.layout<offset: 8*(0,1) 2*(0,0)^(0,8) 2*(0,0)^(0,16) 2*(0,0)^(0,32) 2*(1,0)^(0,8) 2*(2,0)^(0,16) 2*(4,0)^(0,32) 8*(8,0) -> 64x64>
!part = !block.shared<64x64xbf16, #sw>
!one = !block.slot<[64x64xbf16 #sw]>
!two = !block.slot<[64x64xbf16 #sw, 64x64xbf16 #sw]>
!queries = !block.ring<2, [64x64xbf16 #sw]>
!keys = !block.ring<3, [64x64xbf16 #sw, 64x64xbf16 #sw]>
!map = !block.map<64x64xbf16, 128>
!sum = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #rows>
!pending = !block.pending<tensor<64x64xf32, #acc>>

tile.kernel @attention(%q: !tile.ptr<bf16, const>, %k: !tile.ptr<bf16, const>, %v: !tile.ptr<bf16, const>, %o: !tile.ptr<bf16>,
                       %rows: i64, %n: i64, %c: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %wide = arith.constant 64 : i64
  %mq = block.map %q, [%rows, %wide], [%wide] : !tile.ptr<bf16, const> -> !map
  %mk = block.map %k, [%n, %wide], [%wide] : !tile.ptr<bf16, const> -> !map
  %mv = block.map %v, [%n, %wide], [%wide] : !tile.ptr<bf16, const> -> !map
  %mo = block.map %o, [%rows, %wide], [%wide] : !tile.ptr<bf16> -> !map
  %Q = block.ring takers 1 : !queries
  %KV = block.ring takers 1 : !keys
  %out = block.alloc : !part
  %long = tile.div trunc %n, %wide : i64
  %steps = arith.trunci %long : i64 to i32
  block.roles {
    block.role @load warps 4 {
      %end:2 = block.programs grid iter(%c0, %c0 : i32, i32) {
      ^bb0(%x: i32, %y: i32, %z: i32, %pq: i32, %pk: i32):
        %row = arith.muli %x, %c64 : i32
        %s = block.acquire %Q[%pq] : !queries
        %sq = block.part %s[0] : !one
        block.copy %mq[%row, %c0] -> %sq : !map, !part
        block.publish %s : !one
        %next = arith.addi %pq, %c1 : i32
        %last = scf.for %j = %c0 to %steps step %c1 iter_args(%at = %pk) -> (i32) : i32 {
          %key = arith.muli %j, %c64 : i32
          %kv = block.acquire %KV[%at] : !keys
          %sk = block.part %kv[0] : !two
          block.copy %mk[%key, %c0] -> %sk : !map, !part
          %sv = block.part %kv[1] : !two
          block.copy %mv[%key, %c0] -> %sv : !map, !part
          block.publish %kv : !two
          %more = arith.addi %at, %c1 : i32
          scf.yield %more : i32
        }
        block.yield %next, %last : i32, i32
      }
    }
    block.role @math warps 4 {
      %end:2 = block.programs grid iter(%c0, %c0 : i32, i32) {
      ^bb0(%x: i32, %y: i32, %z: i32, %pq: i32, %pk: i32):
        %row = arith.muli %x, %c64 : i32
        %true = arith.constant true
        %none = arith.constant dense<0.0> : !sum
        %low = arith.constant dense<0xFF800000> : !row
        %nothing = arith.constant dense<0.0> : !row
        %cs = tile.splat %c : f32 -> !sum
        %cr = tile.splat %c : f32 -> !row
        %s = block.take %Q[%pq] : !queries
        %sq = block.part %s[0] : !one
        %o0, %m0, %l0, %last = scf.for %j = %c0 to %steps step %c1 iter_args(%ov = %none, %m = %low, %l = %nothing, %at = %pk) -> (!sum, !row, !row, i32) : i32 {
          %kv = block.take %KV[%at] : !keys
          %sk = block.part %kv[0] : !two
          %sv = block.part %kv[1] : !two
          %kt = block.transpose %sk : !part
          %fresh = block.none : !pending
          %sp = block.mma_start %fresh, %sq, %kt clear %true : !pending, !part, !block.shared<64x64xbf16, #block.layout<offset: 8*(1,0) 2*(0,0)^(8,0) 2*(0,0)^(16,0) 2*(0,0)^(32,0) 2*(0,1)^(8,0) 2*(0,2)^(16,0) 2*(0,4)^(32,0) 8*(0,8) -> 64x64>> -> !pending
          %sums = block.mma_wait %sp : !pending -> !sum
          %mx = tile.reduce %sums axis 1 {
          ^bb0(%a: f32, %b: f32):
            %both = arith.maxnumf %a, %b : f32
            tile.yield %both : f32
          } : !sum -> !row
          %scaled = arith.mulf %mx, %cr : !row
          %m2 = arith.maxnumf %m, %scaled : !row
          %less = arith.subf %m, %m2 : !row
          %al = math.exp2 %less : !row
          %mc = tile.expand_dims %m2 axis 1 : !row -> tensor<64x1xf32, #column>
          %mb = tile.broadcast %mc : tensor<64x1xf32, #column> -> !sum
          %sc = arith.mulf %sums, %cs : !sum
          %e0 = arith.subf %sc, %mb : !sum
          %e = math.exp2 %e0 : !sum
          %le = tile.reduce %e axis 1 {
          ^bb0(%a: f32, %b: f32):
            %both = arith.addf %a, %b : f32
            tile.yield %both : f32
          } : !sum -> !row
          %la = arith.mulf %l, %al : !row
          %l2 = arith.addf %la, %le : !row
          %ac = tile.expand_dims %al axis 1 : !row -> tensor<64x1xf32, #column>
          %ab = tile.broadcast %ac : tensor<64x1xf32, #column> -> !sum
          %o1 = arith.mulf %ov, %ab : !sum
          %p = arith.truncf %e : !sum to tensor<64x64xbf16, #acc>
          %op = block.mma_start %o1, %p, %sv : !sum, tensor<64x64xbf16, #acc>, !part -> !pending
          %o2 = block.mma_wait %op : !pending -> !sum
          block.release %kv : !two
          %more = arith.addi %at, %c1 : i32
          scf.yield %o2, %m2, %l2, %more : !sum, !row, !row, i32
        }
        block.release %s : !one
        %lc = tile.expand_dims %l0 axis 1 : !row -> tensor<64x1xf32, #column>
        %lb = tile.broadcast %lc : tensor<64x1xf32, #column> -> !sum
        %r = arith.divf %o0, %lb : !sum
        %h = arith.truncf %r : !sum to tensor<64x64xbf16, #acc>
        block.store_wait read 0
        block.sync
        block.write %out, %h : !part, tensor<64x64xbf16, #acc>
        block.fence
        block.sync
        block.store_box %out -> %mo[%row, %c0] : !part, !map
        %next = arith.addi %pq, %c1 : i32
        block.yield %next, %last : i32, i32
      }
      block.store_wait 0
    }
  }
  tile.return
}
