// RUN: tilery-translate --target=sm_90a --print=asm %s | FileCheck %s
// The low bits of a float are stored from a register of their size: ptxas takes those of a wider one for the number, and converts it.

// CHECK-LABEL: .entry low_bits
// CHECK-NOT: st.global.b{{(8|16)}} {{.*}}, %r{{[0-9d]}}
// CHECK-NOT: st.global.b32 {{.*}}, %rd
// CHECK: .reg .b16 %narrow0; cvt.u16.u32 %narrow0, %r{{[0-9]+}}; st.global.b8 {{.*}}, %narrow0; }
// CHECK: ret;
tile.kernel @low_bits(%x: !tile.ptr<f32>, %a: !tile.ptr<i8>) {
  %magic = arith.constant 12582912.0 : f32
  tile.threads 64 {
  ^bb0(%thread: i32):
    %at = arith.extsi %thread : i32 to i64
    %from = tile.access %x, %at steps() bounds []() : <f32>, (), () -> <f32>
    %v = tile.load %from : !tile.access<f32> -> f32
    %sum = arith.addf %v, %magic : f32
    %bits = arith.bitcast %sum : f32 to i32
    %low = arith.trunci %bits : i32 to i8
    %to = tile.access %a, %at steps() bounds []() : <i8>, (), () -> <i8>
    tile.store %to, %low : !tile.access<i8>, i8
  }
  tile.return
}
