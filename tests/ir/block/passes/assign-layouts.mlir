// RUN: tilery-opt %S/choose-schedule.mlir -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,stage-stores,order-programs,split-roles,canonicalize,cse,assign-layouts,verify-layouts))' | FileCheck %s
// RUN: tilery-opt %S/choose-schedule.mlir -pass-pipeline='builtin.module(tile.kernel(assign-layouts))' | FileCheck %s --check-prefix=ALONE
// The sums' layout spreads to all that is computed with them: a bias loaded by columns, constants. Shared tiles lie as boxes do.

// CHECK-DAG: #[[ACC:.*]] = #block.layout<register: 2*(0,1) 2*(8,0) 32*(0,8); lane: 4*(0,2) 8*(1,0); warp: 8*(16,0) -> 128x256>
// CHECK-DAG: #[[LINE:.*]] = #block.layout<register: 2*(1) 32*(8); lane: 4*(2) 8*(0); warp: 8*(0) -> 256>
// CHECK-LABEL: tile.kernel @wide
// CHECK: block.ring takers 2 : <4, [128x64xbf16 #[[SW:.*]], 64x256xbf16 #[[SWN:.*]]]>
// CHECK-COUNT-2: block.alloc : <128x64xbf16, #[[SW]]>
// CHECK-NOT: block.none : !block.pending<tensor<128x256xf32>>
// CHECK: block.mma_start {{.*}} !block.shared<128x64xbf16, #[[SW]]>, <64x256xbf16, #[[SWN]]> -> <tensor<128x256xf32, #[[ACC]]>>
// CHECK: tile.load {{.*}} -> tensor<256xf32, #[[LINE]]>
// CHECK: tile.broadcast {{.*}} -> tensor<128x256xf32, #[[ACC]]>
// CHECK: arith.maximumf {{.*}} : tensor<128x256xf32, #[[ACC]]>
// CHECK: block.write %{{.*}}, %{{.*}} at [0, 192] : <128x64xbf16, #[[SW]]>, tensor<128x256xbf16, #[[ACC]]>

// ALONE-NOT: #block.layout
