// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(decide-masks,choose-schedule,pipeline,canonicalize,cse))' | FileCheck %s
// RUN: tilery-opt %s --block-pipeline | FileCheck %s --check-prefix=ROLES
// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' | FileCheck %s --check-prefix=JOINED
// RUN: env TILERY_EXPLAIN=1 tilery-opt %s -mlir-disable-threading -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: env TILERY_SCHEDULE="cluster=2" not tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' 2>&1 | FileCheck %s --check-prefix=ALONE
// A factor that is no box is computed in the loop and written into its slot by the role that starts the other one's copies.

// WHY: bound by the threads that fetch factors
// ALONE: error: blocks of a cluster cannot share steps in which threads fetch factors

// Rows of an odd number of elements go elsewhere one by one: they lie in the slot so that threads write several at once. Windows that always
// lie inside ask nothing.
// CHECK-LABEL: tile.kernel @windows
// CHECK: %[[RING:.*]] = block.ring takers 1 : <{{[0-9]+}}, [64x128xf16, 64x64xf16]>
// CHECK: scf.for
// CHECK: %[[S:.*]] = block.acquire %[[RING]]
// CHECK: block.copy %{{.*}} -> %{{.*}} : <64x64xf16, 128>
// CHECK: %[[A:.*]] = block.part %[[S]][0]
// CHECK: %[[PLACE:.*]] = tile.access %arg0, %{{.*}} steps(%{{.*}}, %{{.*}}) bounds [0, 1](
// CHECK-NOT: residual
// CHECK: %[[T:.*]] = tile.load %[[PLACE]]
// CHECK: %[[DOUBLE:.*]] = arith.addf %[[T]], %[[T]]
// CHECK: %[[ROWS:.*]] = tile.permute %[[DOUBLE]] [1, 0]
// CHECK: block.write %[[A]], %[[ROWS]] : <64x128xf16>, tensor<64x128xf16>
// CHECK: block.publish %[[S]]
// CHECK: block.take %[[RING]]

// ROLES-LABEL: tile.kernel @windows
// ROLES: block.role @load warps 8
// ROLES: %[[S:.*]] = block.acquire
// ROLES: block.copy
// ROLES: tile.load {{.*}} -> tensor<128x64xf16, #{{.*}}>
// ROLES: block.write
// ROLES: block.fence
// ROLES-NEXT: block.publish %[[S]]
// ROLES: block.role @math
// ROLES-NOT: tile.load
// ROLES: block.mma_start
tile.kernel @windows(%a: !tile.ptr<f16>, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %c: !tile.ptr<f32>, %K: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c1023 = arith.constant 1023 : i64
  %c1024 = arith.constant 1024 : i64
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %rows = tile.range 0 to 128 : tensor<128xi32>
  %limit = arith.constant dense<128> : tensor<128xi32>
  %inside = arith.cmpi slt, %rows, %limit : tensor<128xi32>
  %sum = tile.contract %K, %zero {
  ^bb0(%step: i64):
    %at = arith.muli %step, %c64 overflow<nsw> : i64
    %left = arith.subi %c1023, %at overflow<nsw> : i64
    %place = tile.access %a, %at steps(%c1023, %c1) bounds [2, 1](%inside, %c0, %left) : <f16>, (i64, i64), (tensor<128xi1>, i64, i64) -> <128x64xf16>
    %once = tile.load %place : !tile.access<128x64xf16> -> tensor<128x64xf16>
    %twice = arith.addf %once, %once : tensor<128x64xf16>
    %b_at = arith.muli %at, %c64 overflow<nsw> : i64
    %b_place = tile.access %b, %b_at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tb = tile.load %b_place : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %twice, %tb : tensor<128x64xf16>, tensor<64x64xf16>
  } : tensor<128x64xf32>
  %c_place = tile.access %c, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <128x64xf32>
  tile.store %c_place, %sum : !tile.access<128x64xf32>, tensor<128x64xf32>
  tile.return
}

// Rows whose numbers are loaded: threads copy them 16 bytes at a time, with zeros behind their ends and where a choice says so.
// CHECK-LABEL: tile.kernel @gathered
// CHECK: block.acquire
// CHECK: %[[PLACE:.*]] = tile.access %arg0, %{{.*}} steps(%{{.*}}, %{{.*}}) bounds [0, 1]({{.*}}) residual %{{.*}} :
// CHECK-NOT: tile.load
// CHECK: block.fetch %[[PLACE]] -> %{{.*}} : !tile.access<64x64xf16>, <64x64xf16>
// CHECK: block.publish
// ROLES-LABEL: tile.kernel @gathered
// ROLES: block.role @load warps 4
// ROLES: block.fetch {{.*}} by #{{.*}} : !tile.access<64x64xf16>, <64x64xf16, #{{.*}}>
// ROLES-NOT: block.fence
// ROLES: block.publish
// ROLES: block.role @math
// ROLES: block.take
// ROLES-NEXT: block.fence
tile.kernel @gathered(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %rows: !tile.ptr<i32>, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                      %c: !tile.ptr<f32>, %K: i64 {tile.divisibility = 16 : i64}, %used: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %steps = arith.constant 5 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf16>
  %list = tile.access %rows, %c0 steps(%c1) bounds [0]() : <i32>, (i64), () -> <64xi32>
  %numbers = tile.load %list : !tile.access<64xi32> -> tensor<64xi32>
  %wide = arith.extsi %numbers : tensor<64xi32> to tensor<64xi64>
  %pitch = tile.splat %K : i64 -> tensor<64xi64>
  %lines = arith.muli %wide, %pitch overflow<nsw> : tensor<64xi64>
  %most = tile.splat %used : i32 -> tensor<64xi32>
  %real = arith.cmpi slt, %numbers, %most : tensor<64xi32>
  %column = tile.expand_dims %real axis 1 : tensor<64xi1> -> tensor<64x1xi1>
  %exists = tile.broadcast %column : tensor<64x1xi1> -> tensor<64x64xi1>
  %sum = tile.contract %steps, %zero {
  ^bb0(%step: i64):
    %at = arith.muli %step, %c64 overflow<nsw> : i64
    %left = arith.subi %K, %at overflow<nsw> : i64
    %place = tile.access %a, %at steps(%lines, %c1) bounds [0, 1](%c0, %left) : <f16>, (tensor<64xi64>, i64), (i64, i64) -> <64x64xf16>
    %all = tile.load %place : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %ta = arith.select %exists, %all, %nothing : tensor<64x64xi1>, tensor<64x64xf16>
    %b_at = arith.muli %at, %c64 overflow<nsw> : i64
    %b_place = tile.access %b, %b_at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tb = tile.load %b_place : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %ta, %tb : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf32>
  %c_place = tile.access %c, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %c_place, %sum : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// What threads cannot compute element by element stays tile IR.
// WHY: sums ({{.*}}): no blocks, for the first operand is no box of a tensor in memory: it is computed, not loaded; nor can threads fetch it: it is computed by tile.sort, not element by element
// ROLES-LABEL: tile.kernel @sums
// ROLES-NOT: block.roles
// ROLES: tile.return
tile.kernel @sums(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %c: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %place = tile.access %a, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tile = tile.load %place : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %most = tile.sort %tile axis 1 : tensor<64x64xf16> -> tensor<64x64xf16>
  %less = arith.subf %tile, %most : tensor<64x64xf16>
  %sum = tile.dot %less, %tile, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %c_place = tile.access %c, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %c_place, %sum : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// Bytes that lie side by side along k are loaded eight at a time, into two registers: those of two steps find place beside another block.
// Where columns begin anywhere each byte takes a register, and they find none.
// JOINED-LABEL: tile.kernel @bytes
// JOINED-SAME: fetchers = 2 : i64, {{.*}} joined = 2 : i64, {{.*}} resident = 2 : i64
// JOINED-LABEL: tile.kernel @apart
// JOINED-SAME: joined = 0 : i64
tile.kernel @bytes(%a: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<i8> {tile.divisibility = 16 : i64}, %c: !tile.ptr<bf16>,
                   %K: i64 {tile.divisibility = 16 : i64}, %table: !tile.ptr<i64>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %numbers_place = tile.access %table, %c0 steps(%c1) bounds [0]() : <i64>, (i64), () -> <64xi64>
  %numbers = tile.load %numbers_place : !tile.access<64xi64> -> tensor<64xi64>
  %pitch = tile.splat %K : i64 -> tensor<64xi64>
  %lines = arith.muli %numbers, %pitch : tensor<64xi64>
  %steps = tile.div trunc %K, %c64 : i64
  %sum = tile.contract %steps, %zero {
  ^bb0(%step: i64):
    %k = arith.muli %step, %c64 overflow<nsw> : i64
    %left = arith.subi %K, %k overflow<nsw> : i64
    %a_place = tile.access %a, %k steps(%lines, %c1) bounds [0, 1](%c0, %left) : <bf16>, (tensor<64xi64>, i64), (i64, i64) -> <64x64xbf16>
    %ta = tile.load %a_place : !tile.access<64x64xbf16> -> tensor<64x64xbf16>
    %b_place = tile.access %b, %k steps(%c1, %K) bounds [1, 0](%c0, %left) : <i8>, (i64, i64), (i64, i64) -> <64x128xi8>
    %bytes = tile.load %b_place : !tile.access<64x128xi8> -> tensor<64x128xi8>
    %tb = arith.sitofp %bytes : tensor<64x128xi8> to tensor<64x128xbf16>
    tile.yield %ta, %tb : tensor<64x64xbf16>, tensor<64x128xbf16>
  } : tensor<64x128xf32>
  %result = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xbf16>
  %c_place = tile.access %c, %c0 steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  tile.store %c_place, %result : !tile.access<64x128xbf16>, tensor<64x128xbf16>
  tile.return
}

tile.kernel @apart(%a: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<i8> {tile.divisibility = 16 : i64}, %c: !tile.ptr<bf16>,
                   %K: i64 {tile.divisibility = 16 : i64}, %table: !tile.ptr<i64>, %P: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %numbers_place = tile.access %table, %c0 steps(%c1) bounds [0]() : <i64>, (i64), () -> <64xi64>
  %numbers = tile.load %numbers_place : !tile.access<64xi64> -> tensor<64xi64>
  %pitch = tile.splat %K : i64 -> tensor<64xi64>
  %lines = arith.muli %numbers, %pitch : tensor<64xi64>
  %steps = tile.div trunc %K, %c64 : i64
  %sum = tile.contract %steps, %zero {
  ^bb0(%step: i64):
    %k = arith.muli %step, %c64 overflow<nsw> : i64
    %left = arith.subi %K, %k overflow<nsw> : i64
    %a_place = tile.access %a, %k steps(%lines, %c1) bounds [0, 1](%c0, %left) : <bf16>, (tensor<64xi64>, i64), (i64, i64) -> <64x64xbf16>
    %ta = tile.load %a_place : !tile.access<64x64xbf16> -> tensor<64x64xbf16>
    %b_place = tile.access %b, %k steps(%c1, %P) bounds [1, 0](%c0, %left) : <i8>, (i64, i64), (i64, i64) -> <64x128xi8>
    %bytes = tile.load %b_place : !tile.access<64x128xi8> -> tensor<64x128xi8>
    %tb = arith.sitofp %bytes : tensor<64x128xi8> to tensor<64x128xbf16>
    tile.yield %ta, %tb : tensor<64x64xbf16>, tensor<64x128xbf16>
  } : tensor<64x128xf32>
  %result = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xbf16>
  %c_place = tile.access %c, %c0 steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  tile.store %c_place, %result : !tile.access<64x128xbf16>, tensor<64x128xbf16>
  tile.return
}
