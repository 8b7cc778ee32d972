// RUN: tilery-opt %s | tilery-opt | FileCheck %s
#rows = #block.layout<register: 4*(0,1); lane: 4*(0,4) 8*(1,0) -> 8x16>
#wide = #block.layout<register: 4*(0,1) 2*(0,16); lane: 4*(0,4) 8*(1,0) -> 8x32>
!slot = !block.slot<[8x16xf32]>
!ring = !block.ring<3, [8x16xf32]>

// CHECK-LABEL: tile.kernel @others
tile.kernel @others(%p: !tile.ptr<f32>, %n: i64, %x: i32) attributes {block.cluster = 2 : i64} {
  // CHECK: %[[m:.*]] = block.map %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}] : <f32> -> <8x16xf32, 16>
  %m = block.map %p, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x16xf32, 16>
  // CHECK: block.map %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}] : <i32> -> <8x16xi32, 16>
  %bits = tile.ptr_cast %p : !tile.ptr<f32> -> !tile.ptr<i32>
  %seen = block.map %bits, [%n, %n], [%n] : !tile.ptr<i32> -> !block.map<8x16xi32, 16>
  // CHECK: block.require %{{.*}}
  block.require %n
  // CHECK: block.require %{{.*}} divides_by 8
  block.require %n divides_by 8
  %ring = block.ring takers 4 : !ring
  %flat = block.ring takers 1 : !block.ring<1, [64xf32]>
  %out = block.alloc : !block.shared<8x16xf32>
  // CHECK: %[[baton:.*]] = block.baton
  %baton = block.baton
  %one = arith.constant 1 : i64
  %piece = block.alloc : !block.shared<8x16xf32>
  %wide0 = arith.constant dense<0.0> : tensor<8x32xf32>
  %bytes = arith.constant 128 : i32
  block.roles {
    block.role @load warps 4 {
      // CHECK: block.remap %[[m]], %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}] : <8x16xf32, 16>, <f32>
      %other = block.remap %m, %p, [%n, %n], [%n] : !block.map<8x16xf32, 16>, !tile.ptr<f32>
      %s = block.acquire %ring[%x] : !ring
      %t = block.part %s[0] : !slot
      block.copy %other[%x, %x] -> %t : !block.map<8x16xf32, 16>, !block.shared<8x16xf32>
      block.publish %s : !slot
      %s2 = block.acquire %ring[%x] : !ring
      %t2 = block.part %s2[0] : !slot
      %root = tile.root %p[%n, %n] strides [%n, %one] : !tile.ptr<f32> -> !tile.root<2xf32>
      %view = tile.view %root[%n, %n] dims [0, 1] dilations [%one, %one] limits [] : !tile.root<2xf32> -> !tile.view<8x16xf32>
      // CHECK: block.fetch %{{.*}} -> %{{.*}} : !tile.view<8x16xf32>, <8x16xf32>
      block.fetch %view -> %t2 : !tile.view<8x16xf32>, !block.shared<8x16xf32>
      block.publish %s2 : !slot
      %s3 = block.acquire %flat[%x] : !block.ring<1, [64xf32]>
      %t3 = block.part %s3[0] : !block.slot<[64xf32]>
      // CHECK: block.copy_flat %{{.*}}, %{{.*}} -> %{{.*}} : <f32>, <64xf32>
      block.copy_flat %p, %bytes -> %t3 : !tile.ptr<f32>, !block.shared<64xf32>
      block.publish %s3 : !block.slot<[64xf32]>
    }
    // CHECK: block.role @rows warps 4 registers 120 instances 2 {
    block.role @rows warps 4 registers 120 instances 2 {
    // CHECK: ^bb0(%{{.*}}: i32):
    ^bb0(%who: i32):
      // CHECK: block.turn %[[baton]] {
      %s = block.turn %baton {
        %u = block.take %ring[%who] : !ring
        // CHECK: block.yield %{{.*}} : !block.slot<[8x16xf32]>
        block.yield %u : !slot
      // CHECK: } : !block.slot<[8x16xf32]>
      } : !slot
      %t = block.part %s[0] : !slot
      // CHECK: block.read %{{.*}} : <8x16xf32> -> tensor<8x16xf32, #registers>
      %v = block.read %t : !block.shared<8x16xf32> -> tensor<8x16xf32, #rows>
      block.release %s : !slot
      // CHECK: block.convert %{{.*}} : tensor<8x16xf32, #registers> -> tensor<8x16xf32>
      %w = block.convert %v : tensor<8x16xf32, #rows> -> tensor<8x16xf32>
      // CHECK: block.join %{{.*}}, %{{.*}} : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x32xf32>
      %both = block.join %w, %w : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x32xf32>
      block.write %out, %w : !block.shared<8x16xf32>, tensor<8x16xf32>
      // CHECK: block.write %{{.*}}, %{{.*}} at [0, 16] : <8x16xf32>, tensor<8x32xf32, #registers{{[0-9]*}}>
      %wide = block.convert %wide0 : tensor<8x32xf32> -> tensor<8x32xf32, #wide>
      block.write %piece, %wide at [0, 16] : !block.shared<8x16xf32>, tensor<8x32xf32, #wide>
      // CHECK: block.sync warps 2
      block.sync warps 2
      // CHECK: block.store_box %{{.*}} -> %[[m]][%{{.*}}, %{{.*}}] add : <8x16xf32>, <8x16xf32, 16>
      block.store_box %out -> %m[%x, %x] add : !block.shared<8x16xf32>, !block.map<8x16xf32, 16>
      // CHECK: block.store_wait 0
      block.store_wait 0
      // CHECK: block.cluster_rank
      %rank = block.cluster_rank
      // CHECK: block.cluster_sync
      block.cluster_sync
      // CHECK: block.peer %{{.*}}[%{{.*}}] : <8x16xf32>
      %peer = block.peer %out[%rank] : !block.shared<8x16xf32>
      // CHECK: block.transpose %{{.*}} : <8x16xf32>
      %turned = block.transpose %peer : !block.shared<8x16xf32>
      %acc = arith.constant dense<0.0> : tensor<8x8xf32>
      // CHECK: block.mma %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x8xf32>, tensor<8x16xf32>, !block.shared<16x8xf32>
      %r = block.mma %acc, %w, %turned : tensor<8x8xf32>, tensor<8x16xf32>, !block.shared<16x8xf32>
    }
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @returns
tile.kernel @returns(%some: i1) {
  // CHECK: block.return_if %{{.*}}
  block.return_if %some
  tile.return
}

// CHECK-LABEL: tile.kernel @ordered
tile.kernel @ordered(%n: i32) {
  %rows = arith.constant true
  %x = tile.num_programs 0
  // CHECK: block.programs grouped by 8 order(%{{.*}}, %{{.*}}, %{{.*}}) iter(%{{.*}} : i32) {
  %end = block.programs grouped by 8 order(%x, %rows, %x) iter(%n : i32) {
  ^bb0(%px: i32, %py: i32, %pz: i32, %p: i32):
    block.yield %p : i32
  }
  tile.return
}
