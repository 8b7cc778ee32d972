// RUN: tilery-opt --flatten-stores --canonicalize --split-input-file %s | FileCheck %s

// CHECK-LABEL: tile.kernel @rows
// CHECK:         %[[BUFFER:.*]] = tile.alloc : <4x32x8xf16, local>
// CHECK:         %[[FLAT:.*]] = tile.reinterpret %[[BUFFER]] : <4x32x8xf16, local> -> <4x256xf16, local>
// CHECK:         tile.buffer_store %[[FLAT]], %{{.*}} : <4x256xf16, local>, tensor<4x256xf16>
// CHECK:         %[[ROW:.*]] = tile.expand_dims %{{.*}} axis 0 : tensor<256xf16> -> tensor<1x256xf16>
// CHECK:         %[[ROWS:.*]] = tile.broadcast %[[ROW]] : tensor<1x256xf16> -> tensor<4x256xf16>
// CHECK:         tile.buffer_store %{{.*}}, %[[ROWS]] : <4x256xf16, local>, tensor<4x256xf16>
tile.kernel @rows(%a: !tile.access<4x256xf16>, %b: !tile.access<256xf16>, %out: !tile.access<4x32x8xf16>) {
  %buffer = tile.alloc : <4x32x8xf16, local>
  %loaded = tile.load %a : !tile.access<4x256xf16> -> tensor<4x256xf16>
  %cut = tile.reshape %loaded : tensor<4x256xf16> -> tensor<4x32x8xf16>
  tile.buffer_store %buffer, %cut : <4x32x8xf16, local>, tensor<4x32x8xf16>
  %row = tile.load %b : !tile.access<256xf16> -> tensor<256xf16>
  %short = tile.reshape %row : tensor<256xf16> -> tensor<32x8xf16>
  %one = tile.expand_dims %short axis 0 : tensor<32x8xf16> -> tensor<1x32x8xf16>
  %all = tile.broadcast %one : tensor<1x32x8xf16> -> tensor<4x32x8xf16>
  tile.buffer_store %buffer, %all : <4x32x8xf16, local>, tensor<4x32x8xf16>
  %read = tile.buffer_load %buffer : <4x32x8xf16, local> -> tensor<4x32x8xf16>
  tile.store %out, %read : !tile.access<4x32x8xf16>, tensor<4x32x8xf16>
  tile.return
}

// -----

// Parts of rows, masks, and tiles that were no longer before stay.
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT:     tile.reinterpret
tile.kernel @others(%a: !tile.access<32x8xf16>, %b: !tile.access<8x32xf16>, %out: !tile.access<32x8xf16>, %m: tensor<32x8xi1>) {
  %buffer = tile.alloc : <32x8xf16, local>
  %plain = tile.load %a : !tile.access<32x8xf16> -> tensor<32x8xf16>
  tile.buffer_store %buffer, %plain : <32x8xf16, local>, tensor<32x8xf16>
  %other = tile.load %b : !tile.access<8x32xf16> -> tensor<8x32xf16>
  %moved = tile.reshape %other : tensor<8x32xf16> -> tensor<32x8xf16>
  tile.buffer_store %buffer, %moved : <32x8xf16, local>, tensor<32x8xf16>
  %read = tile.buffer_load %buffer : <32x8xf16, local> -> tensor<32x8xf16>
  tile.store %out, %read : !tile.access<32x8xf16>, tensor<32x8xf16>
  tile.return
}

// -----

// So does what is computed from such tiles, and from buffers of such rows.
// CHECK-LABEL: tile.kernel @products
// CHECK:         %[[ROWS:.*]] = tile.load %{{.*}} : !tile.access<256xf16>
// CHECK:         tile.buffer_load %{{.*}} : <256xf16, local> -> tensor<256xf16>
// CHECK:         %[[WIDE:.*]] = arith.extf %[[ROWS]] : tensor<256xf16> to tensor<256xf32>
// CHECK:         %[[PRODUCT:.*]] = arith.mulf %[[WIDE]], %{{.*}} : tensor<256xf32>
// CHECK:         tile.buffer_store %{{.*}}, %[[PRODUCT]] : <256xf32, local>, tensor<256xf32>
tile.kernel @products(%a: !tile.access<256xf16>, %b: !tile.access<32x8xf16>, %out: !tile.access<32x8xf32>) {
  %factor = tile.alloc : <32x8xf16, local>
  %plain = tile.load %b : !tile.access<32x8xf16> -> tensor<32x8xf16>
  tile.buffer_store %factor, %plain : <32x8xf16, local>, tensor<32x8xf16>
  %buffer = tile.alloc : <32x8xf32, local>
  %loaded = tile.load %a : !tile.access<256xf16> -> tensor<256xf16>
  %cut = tile.reshape %loaded : tensor<256xf16> -> tensor<32x8xf16>
  %x = arith.extf %cut : tensor<32x8xf16> to tensor<32x8xf32>
  %other = tile.buffer_load %factor : <32x8xf16, local> -> tensor<32x8xf16>
  %y = arith.extf %other : tensor<32x8xf16> to tensor<32x8xf32>
  %product = arith.mulf %x, %y : tensor<32x8xf32>
  tile.buffer_store %buffer, %product : <32x8xf32, local>, tensor<32x8xf32>
  %read = tile.buffer_load %buffer : <32x8xf32, local> -> tensor<32x8xf32>
  tile.store %out, %read : !tile.access<32x8xf32>, tensor<32x8xf32>
  tile.return
}
