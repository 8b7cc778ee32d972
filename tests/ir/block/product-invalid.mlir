// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k(%a: !block.shared<64x64xbf16>, %b: !block.shared<32x64xbf16>) {
  %c = block.none : !block.pending<tensor<64x64xf32>>
  // expected-error @+1 {{shapes do not match: 64x64 times 32x64 into 64x64}}
  %d = block.mma_start %c, %a, %b  : !block.pending<tensor<64x64xf32>>, !block.shared<64x64xbf16>, !block.shared<32x64xbf16> -> !block.pending<tensor<64x64xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<64x64xbf16>, %b: !block.shared<64x64xi8>) {
  %c = block.none : !block.pending<tensor<64x64xf32>>
  // expected-error @+1 {{mixes floats and integers}}
  %d = block.mma_start %c, %a, %b  : !block.pending<tensor<64x64xf32>>, !block.shared<64x64xbf16>, !block.shared<64x64xi8> -> !block.pending<tensor<64x64xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<1x64x64xbf16>, %b: !block.shared<64x64xbf16>) {
  %c = block.none : !block.pending<tensor<64x64xf32>>
  // expected-error @+1 {{multiplies tiles of rank 2}}
  %d = block.mma_start %c, %a, %b  : !block.pending<tensor<64x64xf32>>, !block.shared<1x64x64xbf16>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<64x64xf32>, %b: !block.shared<64x64xf32>) {
  %c = block.none : !block.pending<tensor<64x64xf32>>
  // expected-error @+1 {{f32 needs precision tf32}}
  %d = block.mma_start %c, %a, %b  : !block.pending<tensor<64x64xf32>>, !block.shared<64x64xf32>, !block.shared<64x64xf32> -> !block.pending<tensor<64x64xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<64x64xf64>, %b: !block.shared<64x64xf64>) {
  %c = block.none : !block.pending<tensor<64x64xf64>>
  // expected-error @+1 {{has no form for 'f64' times 'f64' into 'f64'}}
  %d = block.mma_start %c, %a, %b  : !block.pending<tensor<64x64xf64>>, !block.shared<64x64xf64>, !block.shared<64x64xf64> -> !block.pending<tensor<64x64xf64>>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf64>> -> tensor<64x64xf64>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<32x64xbf16>, %b: !block.shared<64x64xbf16>) {
  %c = block.none : !block.pending<tensor<32x64xf32>>
  // expected-error @+1 {{has no form for 32x64x64: m is a multiple of 64, n of 8, k of 32 bytes}}
  %d = block.mma_start %c, %a, %b  : !block.pending<tensor<32x64xf32>>, !block.shared<32x64xbf16>, !block.shared<64x64xbf16> -> !block.pending<tensor<32x64xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<32x64xf32>> -> tensor<32x64xf32>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<64x64xbf16>, %b: !block.shared<64x12xbf16>) {
  %c = block.none : !block.pending<tensor<64x12xf32>>
  // expected-error @+1 {{has no form for 64x12x64: m is a multiple of 64}}
  %d = block.mma_start %c, %a, %b  : !block.pending<tensor<64x12xf32>>, !block.shared<64x64xbf16>, !block.shared<64x12xbf16> -> !block.pending<tensor<64x12xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<64x12xf32>> -> tensor<64x12xf32>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<64x8xbf16>, %b: !block.shared<8x64xbf16>) {
  %c = block.none : !block.pending<tensor<64x64xf32>>
  // expected-error @+1 {{has no form for 64x64x8: m is a multiple of 64}}
  %d = block.mma_start %c, %a, %b  : !block.pending<tensor<64x64xf32>>, !block.shared<64x8xbf16>, !block.shared<8x64xbf16> -> !block.pending<tensor<64x64xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  tile.return
}
// -----
#plain = #block.layout<offset: 64*(0,1) 64*(1,0) -> 64x64>
tile.kernel @k(%a: !block.shared<64x64xbf16>, %b: !block.shared<64x64xbf16, #plain>) {
  %c = block.none : !block.pending<tensor<64x64xf32>>
  // expected-error @+1 {{cannot read b (k x n) as it lies in shared memory}}
  %d = block.mma_start %c, %a, %b  : !block.pending<tensor<64x64xf32>>, !block.shared<64x64xbf16>, !block.shared<64x64xbf16, #plain> -> !block.pending<tensor<64x64xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  tile.return
}
// -----
#plain = #block.layout<offset: 64*(0,1) 64*(1,0) -> 64x64>
tile.kernel @k(%a: !block.shared<64x64xbf16, #plain>, %b: !block.shared<64x64xbf16>) {
  %c = block.none : !block.pending<tensor<64x64xf32>>
  // expected-error @+1 {{cannot read a (m x k) as it lies in shared memory}}
  %d = block.mma_start %c, %a, %b  : !block.pending<tensor<64x64xf32>>, !block.shared<64x64xbf16, #plain>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  tile.return
}
// -----
#sw = #block.layout<offset: 16*(0,1) 2*(0,0)^(0,16) 2*(0,0)^(0,32) 2*(0,0)^(0,64) 2*(1,0)^(0,16) 2*(2,0)^(0,32) 2*(4,0)^(0,64) 8*(8,0) -> 64x128>
tile.kernel @k(%a: !block.shared<64x64xf8E4M3FN>, %b: !block.shared<64x128xf8E4M3FN, #sw>) {
  %c = block.none : !block.pending<tensor<64x128xf32>>
  // expected-error @+1 {{cannot read b (k x n) as it lies in shared memory}}
  %d = block.mma_start %c, %a, %b  : !block.pending<tensor<64x128xf32>>, !block.shared<64x64xf8E4M3FN>, !block.shared<64x128xf8E4M3FN, #sw> -> !block.pending<tensor<64x128xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<64x128xf32>> -> tensor<64x128xf32>
  tile.return
}
// -----
#rows = #block.layout<register: 32*(0,2); lane: 2*(0,1) 16*(1,0); warp: 4*(16,0) -> 64x64>
tile.kernel @k(%a: !block.shared<64x64xbf16>, %b: !block.shared<64x64xbf16>) {
  %c = block.none : !block.pending<tensor<64x64xf32, #rows>>
  // expected-error @+1 {{gives a sum that lies in registers otherwise}}
  %d = block.mma_start %c, %a, %b  : !block.pending<tensor<64x64xf32, #rows>>, !block.shared<64x64xbf16>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32, #rows>>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32, #rows>> -> tensor<64x64xf32, #rows>
  tile.return
}
// -----
#rows = #block.layout<register: 32*(0,2); lane: 2*(0,1) 16*(1,0); warp: 4*(16,0) -> 64x64>
tile.kernel @k(%a: tensor<64x64xbf16, #rows>, %b: !block.shared<64x64xbf16>) {
  %c = block.none : !block.pending<tensor<64x64xf32>>
  // expected-error @+1 {{cannot read a from registers that hold it so}}
  %d = block.mma_start %c, %a, %b : !block.pending<tensor<64x64xf32>>, tensor<64x64xbf16, #rows>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<64x64xbf16>) {
  %c = block.none : !block.pending<tensor<64x64xf32>>
  // expected-error @+1 {{gives a product that nothing waits for on some path}}
  %d = block.mma_start %c, %a, %a : !block.pending<tensor<64x64xf32>>, !block.shared<64x64xbf16>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32>>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<64x64xbf16>, %x: i1) {
  %c = block.none : !block.pending<tensor<64x64xf32>>
  // expected-error @+1 {{gives a product that nothing waits for on some path}}
  %d = block.mma_start %c, %a, %a : !block.pending<tensor<64x64xf32>>, !block.shared<64x64xbf16>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32>>
  scf.if %x {
    %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  }
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<64x64xbf16>) {
  %c = block.none : !block.pending<tensor<64x64xf32>>
  // expected-error @+1 {{gives a product that is used more than once on some path}}
  %d = block.mma_start %c, %a, %a : !block.pending<tensor<64x64xf32>>, !block.shared<64x64xbf16>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  %s = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<64x64xbf16>) {
  %c = block.none : !block.pending<tensor<64x64xf32>>
  %d = block.mma_start %c, %a, %a : !block.pending<tensor<64x64xf32>>, !block.shared<64x64xbf16>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32>>
  // expected-error @+1 {{gives}}
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf16>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<64x64xbf16>, %c: tensor<64x32xf32>) {
  // expected-error @+1 {{shapes do not match}}
  %r = block.mma %c, %a, %a : tensor<64x32xf32>, !block.shared<64x64xbf16>, !block.shared<64x64xbf16>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<64x64xbf16>, %c: tensor<64x64xf16>) {
  // expected-error @+1 {{adds to 'tensor<64x64xf16>', but gives 'tensor<64x64xf32>'}}
  %d = block.mma_start %c, %a, %a : tensor<64x64xf16>, !block.shared<64x64xbf16>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32>>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  tile.return
}
