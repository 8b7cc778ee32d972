// RUN: tilery-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(tile.kernel(verify-layouts))'
#acc = #block.layout<register: 2*(0,1) 2*(8,0) 2*(0,8); lane: 4*(0,2) 8*(1,0); warp: 4*(16,0) -> 64x16>
#rows = #block.layout<register: 2*(8); lane: 4*(0) 8*(1); warp: 4*(16) -> 64>
#column = #block.layout<register: 2*(8,0); lane: 4*(0,0) 8*(1,0); warp: 4*(16,0) -> 64x1>
#turned = #block.layout<register: 2*(1,0) 2*(0,8) 2*(8,0); lane: 4*(2,0) 8*(0,1); warp: 4*(0,16) -> 16x64>
// A softmax's row in the accumulator's layout; without layouts nothing is asked.
tile.kernel @rows(%x: tensor<64x16xf32, #acc>, %plain: tensor<4xf32>) {
  %m = tile.reduce %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tile.yield %c : f32
  } : tensor<64x16xf32, #acc> -> tensor<64xf32, #rows>
  %s = tile.expand_dims %m axis 1 : tensor<64xf32, #rows> -> tensor<64x1xf32, #column>
  %w = tile.broadcast %s : tensor<64x1xf32, #column> -> tensor<64x16xf32, #acc>
  %d = arith.subf %x, %w : tensor<64x16xf32, #acc>
  %e = math.exp2 %d : tensor<64x16xf32, #acc>
  %h = arith.truncf %e : tensor<64x16xf32, #acc> to tensor<64x16xbf16, #acc>
  %t = tile.permute %h [1, 0] : tensor<64x16xbf16, #acc> -> tensor<16x64xbf16, #turned>
  %one = arith.constant dense<1.0> : tensor<64x16xf32, #acc>
  %p = arith.cmpf olt, %x, %one : tensor<64x16xf32, #acc>
  %q = arith.select %p, %x, %one : tensor<64x16xi1, #acc>, tensor<64x16xf32, #acc>
  %z = arith.addf %plain, %plain : tensor<4xf32>
  tile.return
}
// -----
#a = #block.layout<register: 2*(1); lane: 8*(2) -> 16>
#b = #block.layout<lane: 16*(1) -> 16>
tile.kernel @k(%x: tensor<16xf32, #a>) {
  // expected-error @+1 {{has an operand in register: 2*(1); lane: 8*(2) -> 16 where lane: 16*(1) -> 16 is wanted: convert it}}
  %y = tile.fp_to_int %x : tensor<16xf32, #a> -> tensor<16xi32, #b>
  tile.return
}
// -----
#a = #block.layout<lane: 16*(1) -> 16>
tile.kernel @k(%x: tensor<16xf32>, %n: i64, %p: !tile.ptr<f32>) {
  // expected-error @+1 {{has an operand in no layout where lane: 16*(1) -> 16 is wanted}}
  %y = tile.fp_to_int %x : tensor<16xf32> -> tensor<16xi32, #a>
  tile.return
}
// -----
#acc = #block.layout<register: 2*(0,1) 2*(8,0) 2*(0,8); lane: 4*(0,2) 8*(1,0); warp: 4*(16,0) -> 64x16>
#few = #block.layout<register: 2*(8); lane: 8*(1); warp: 4*(16) -> 64>
tile.kernel @k(%x: tensor<64x16xf32, #acc>) {
  // expected-error @+1 {{has a result in register: 2*(8); lane: 8*(1); warp: 4*(16) -> 64 where register: 2*(8); lane: 4*(0) 8*(1); warp: 4*(16) -> 64 is wanted}}
  %m = tile.reduce %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tile.yield %c : f32
  } : tensor<64x16xf32, #acc> -> tensor<64xf32, #few>
  tile.return
}
// -----
#row = #block.layout<lane: 32*(1) -> 32>
#other = #block.layout<lane: 32*(1,0) -> 32x1>
#wrong = #block.layout<register: 32*(0,1) -> 1x32>
#both = #block.layout<register: 4*(0,1); lane: 32*(1,0) -> 32x4>
tile.kernel @k(%x: tensor<32xf32, #row>, %y: tensor<32x1xf32, #other>) {
  %e = tile.expand_dims %x axis 1 : tensor<32xf32, #row> -> tensor<32x1xf32, #other>
  %b = tile.broadcast %e : tensor<32x1xf32, #other> -> tensor<32x4xf32, #both>
  // expected-error @+1 {{has a result in register: 32*(0,1) -> 1x32 where lane: 32*(0,1) -> 1x32 is wanted}}
  %p = tile.permute %y [1, 0] : tensor<32x1xf32, #other> -> tensor<1x32xf32, #wrong>
  tile.return
}
// -----
#small = #block.layout<lane: 32*(0) -> 1>
#big = #block.layout<lane: 32*(1) -> 32>
#none = #block.layout< -> 1>
tile.kernel @k(%x: tensor<1xf32, #none>, %y: tensor<1xf32, #small>) {
  %a = tile.broadcast %y : tensor<1xf32, #small> -> tensor<32xf32, #big>
  // expected-error @+1 {{has an operand in  -> 1 where lane: 32*(0) -> 1 is wanted}}
  %b = tile.broadcast %x : tensor<1xf32, #none> -> tensor<32xf32, #big>
  tile.return
}
// -----
#a = #block.layout<lane: 16*(1) -> 16>
tile.kernel @k(%x: tensor<16xf32, #a>) {
  // expected-error @+1 {{has no rule for tiles with layouts}}
  %y = tile.sort %x axis 0 : tensor<16xf32, #a> -> tensor<16xf32, #a>
  tile.return
}
