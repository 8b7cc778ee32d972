// RUN: tilery-translate --target=sm_80 --print=asm %s | FileCheck %s --check-prefix=PTX
// RUN: tilery-translate --target=sm_90a --print=asm %s | FileCheck %s --check-prefix=PTX
// RUN: tilery-translate --target=avx2 --print=llvm %s | FileCheck %s --check-prefix=CPU
// RUN: tilery-translate --target=avx512 --print=llvm %s | FileCheck %s --check-prefix=CPU
// A program tells another process what it has written, and waits until that one has: everybody's stores are before the release, everybody's
// loads behind the acquire, and what was read before is read again, from where others write.

// PTX-LABEL: signal(
// PTX: ld.global.{{[^n]}}
// PTX: st.global
// PTX: bar.sync
// PTX-NOT: {{ld|st}}.global
// PTX: atom.global.release.sys.cas.b32
// PTX: bar.sync
// PTX: ld.shared
// PTX-NOT: {{ld|st}}.global
// PTX: bar.sync
// PTX: bra [[BEHIND:\$L__BB[0-9_]+]]
// PTX: atom.global.acquire.sys.cas.b32
// PTX-NOT: {{ld|st}}.global
// PTX: [[BEHIND]]:
// PTX-NOT: ld.global.nc
// PTX: ld.global
// PTX-NOT: ld.global.nc

// CPU-LABEL: @signal(
// CPU: load <{{[0-9]+}} x float>
// CPU: store <{{[0-9]+}} x float>
// CPU: cmpxchg ptr %{{.*}}, i32 0, i32 1 release monotonic
// CPU-NOT: {{(load|store) <}}
// CPU: cmpxchg ptr %{{.*}}, i32 1, i32 0 acquire acquire
// CPU: load <{{[0-9]+}} x float>
// CPU: store <{{[0-9]+}} x float>
tile.kernel @signal(%addresses: !tile.ptr<i64>, %flag: !tile.ptr<i32>, %out: !tile.ptr<f32>) {
  %a = tile.pointer_access %addresses : !tile.ptr<i64> -> <i64>
  %address = tile.load %a : !tile.access<i64> -> i64
  %peer = tile.int_to_ptr %address : i64 -> !tile.ptr<f32>
  %i = tile.range 0 to 1024 : tensor<1024xi32>
  %t = tile.splat %peer : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.add_ptr %t, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %x = tile.pointer_access %q : tensor<1024x!tile.ptr<f32>> -> <1024xf32>
  %before = tile.load %x : !tile.access<1024xf32> -> tensor<1024xf32>
  %two = arith.constant dense<2.0> : tensor<1024xf32>
  %twice = arith.mulf %before, %two : tensor<1024xf32>
  tile.store %x, %twice : !tile.access<1024xf32>, tensor<1024xf32>
  %f = tile.pointer_access %flag : !tile.ptr<i32> -> <i32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.while : () -> () {
    %old = tile.atomic_cas %f, %c0, %c1 {order = 2 : i32, scope = 2 : i32} : !tile.access<i32>, i32 -> i32
    %again = arith.cmpi ne, %old, %c0 : i32
    scf.condition(%again)
  } do {
    scf.yield
  }
  scf.while : () -> () {
    %old = tile.atomic_cas %f, %c1, %c0 {order = 1 : i32, scope = 2 : i32} : !tile.access<i32>, i32 -> i32
    %again = arith.cmpi ne, %old, %c1 : i32
    scf.condition(%again)
  } do {
    scf.yield
  }
  %after = tile.load %x : !tile.access<1024xf32> -> tensor<1024xf32>
  %ot = tile.splat %out : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %oq = tile.add_ptr %ot, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %o = tile.pointer_access %oq : tensor<1024x!tile.ptr<f32>> -> <1024xf32>
  tile.store %o, %after : !tile.access<1024xf32>, tensor<1024xf32>
  tile.return
}

// A number that is polled acquires; another volatile access orders nothing.
// PTX-LABEL: poll(
// PTX: ld.acquire.sys.global.b32
// PTX: ld.volatile.global.b16
// PTX: bar.sync
// PTX: ld.global.{{[^n]}}
// CPU-LABEL: @poll(
// CPU: load atomic volatile i32, ptr %{{.*}} acquire
// CPU: load volatile i16
// CPU: load <{{[0-9]+}} x float>
tile.kernel @poll(%x: !tile.ptr<f32>, %flag: !tile.ptr<i32>, %half: !tile.ptr<i16>, %out: !tile.ptr<f32>) {
  %f = tile.pointer_access %flag : !tile.ptr<i32> -> <i32>
  %h = tile.pointer_access %half : !tile.ptr<i16> -> <i16>
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 1 : i16
  scf.while : () -> () {
    %now = tile.load %f {is_volatile} : !tile.access<i32> -> i32
    %small = tile.load %h {is_volatile} : !tile.access<i16> -> i16
    %again = arith.cmpi ne, %now, %c1 : i32
    %also = arith.cmpi ne, %small, %c2 : i16
    %either = arith.ori %again, %also : i1
    scf.condition(%either)
  } do {
    scf.yield
  }
  %i = tile.range 0 to 1024 : tensor<1024xi32>
  %xt = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xq = tile.add_ptr %xt, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %xa = tile.pointer_access %xq : tensor<1024x!tile.ptr<f32>> -> <1024xf32>
  %v = tile.load %xa : !tile.access<1024xf32> -> tensor<1024xf32>
  %ot = tile.splat %out : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %oq = tile.add_ptr %ot, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %o = tile.pointer_access %oq : tensor<1024x!tile.ptr<f32>> -> <1024xf32>
  tile.store %o, %v : !tile.access<1024xf32>, tensor<1024xf32>
  tile.return
}
