// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(order-sums))' | FileCheck %s
// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(order-sums,choose-schedule))' | FileCheck %s --check-prefix=SCHEDULE

// Four times 64 registers of sums are too many: the product that is only stored goes first. Loads stay in front of the store.
// CHECK-LABEL: tile.kernel @stored_first
// CHECK-COUNT-5: tile.load
// CHECK: %[[C:.*]] = tile.dot
// CHECK-NEXT: %[[SHORT:.*]] = arith.truncf %[[C]]
// CHECK: tile.store %{{.*}}, %[[SHORT]]
// CHECK-NEXT: %[[A:.*]] = tile.dot
// CHECK-NEXT: %[[B:.*]] = tile.dot
// CHECK-NEXT: %[[D:.*]] = tile.dot
// CHECK-NEXT: arith.addf %[[A]], %[[B]]
// SCHEDULE-LABEL: tile.kernel @stored_first
// SCHEDULE: block.schedule
tile.kernel @stored_first(%p: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
                          %u: !tile.ptr<bf16> {tile.divisibility = 16 : i64}) {
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %c8192 = arith.constant 8192 : i64
  %id = tile.program_id 0
  %wide = arith.extsi %id : i32 to i64
  %row = arith.muli %wide, %c64 overflow<nsw> : i64
  %first = arith.muli %row, %c128 overflow<nsw> : i64
  %none = arith.constant dense<0.0> : tensor<64x128xf32>
  %atx = arith.addi %first, %c8192 overflow<nsw> : i64
  %aty = arith.addi %atx, %c8192 overflow<nsw> : i64
  %atz = arith.addi %aty, %c8192 overflow<nsw> : i64
  %ah = tile.access %p, %first steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <128x128xbf16>
  %h = tile.load %ah : !tile.access<128x128xbf16> -> tensor<128x128xbf16>
  %ax = tile.access %p, %first steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  %x = tile.load %ax : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
  %ay = tile.access %p, %atx steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  %y = tile.load %ay : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
  %az = tile.access %p, %aty steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  %z = tile.load %az : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
  %aw = tile.access %p, %atz steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  %w = tile.load %aw : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
  %a = tile.dot %x, %h, %none {precision = 1 : i32} : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
  %b = tile.dot %y, %h, %none {precision = 1 : i32} : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
  %d = tile.dot %z, %h, %none {precision = 1 : i32} : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
  %c = tile.dot %w, %h, %none {precision = 1 : i32} : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
  %sc = arith.truncf %c : tensor<64x128xf32> to tensor<64x128xbf16>
  %toc = tile.access %o, %first steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  tile.store %toc, %sc : !tile.access<64x128xbf16>, tensor<64x128xbf16>
  %e = arith.addf %a, %b : tensor<64x128xf32>
  %f = arith.mulf %e, %d : tensor<64x128xf32>
  %sf = arith.truncf %f : tensor<64x128xf32> to tensor<64x128xbf16>
  %tof = tile.access %u, %first steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  tile.store %tof, %sf : !tile.access<64x128xbf16>, tensor<64x128xbf16>
  tile.return
}

// What waits for another product does not go in front of it: the two that nobody needs yet stand behind the first store.
// CHECK-LABEL: tile.kernel @sum_of_two
// CHECK-COUNT-5: tile.load
// CHECK: %[[A:.*]] = tile.dot
// CHECK-NEXT: %[[C:.*]] = tile.dot
// CHECK-NEXT: arith.addf %[[A]], %[[C]]
// CHECK: tile.store
// CHECK-NEXT: tile.dot
// CHECK-NEXT: tile.dot
tile.kernel @sum_of_two(%p: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
                        %u: !tile.ptr<bf16> {tile.divisibility = 16 : i64}) {
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %c8192 = arith.constant 8192 : i64
  %id = tile.program_id 0
  %wide = arith.extsi %id : i32 to i64
  %row = arith.muli %wide, %c64 overflow<nsw> : i64
  %first = arith.muli %row, %c128 overflow<nsw> : i64
  %none = arith.constant dense<0.0> : tensor<64x128xf32>
  %atx = arith.addi %first, %c8192 overflow<nsw> : i64
  %aty = arith.addi %atx, %c8192 overflow<nsw> : i64
  %atz = arith.addi %aty, %c8192 overflow<nsw> : i64
  %ah = tile.access %p, %first steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <128x128xbf16>
  %h = tile.load %ah : !tile.access<128x128xbf16> -> tensor<128x128xbf16>
  %ax = tile.access %p, %first steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  %x = tile.load %ax : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
  %ay = tile.access %p, %atx steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  %y = tile.load %ay : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
  %az = tile.access %p, %aty steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  %z = tile.load %az : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
  %aw = tile.access %p, %atz steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  %w = tile.load %aw : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
  %a = tile.dot %x, %h, %none {precision = 1 : i32} : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
  %b = tile.dot %y, %h, %none {precision = 1 : i32} : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
  %d = tile.dot %z, %h, %none {precision = 1 : i32} : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
  %c = tile.dot %w, %h, %none {precision = 1 : i32} : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
  %g = arith.addf %a, %c : tensor<64x128xf32>
  %sg = arith.truncf %g : tensor<64x128xf32> to tensor<64x128xbf16>
  %tog = tile.access %o, %first steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  tile.store %tog, %sg : !tile.access<64x128xbf16>, tensor<64x128xbf16>
  %e = arith.addf %d, %b : tensor<64x128xf32>
  %se = arith.truncf %e : tensor<64x128xf32> to tensor<64x128xbf16>
  %toe = tile.access %u, %first steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  tile.store %toe, %se : !tile.access<64x128xbf16>, tensor<64x128xbf16>
  tile.return
}

// Registers hold three: nothing moves.
// CHECK-LABEL: tile.kernel @all_fit
// CHECK-COUNT-5: tile.load
// CHECK: tile.dot
// CHECK-NEXT: tile.dot
// CHECK-NEXT: tile.dot
// CHECK: tile.store
// CHECK-NOT: tile.dot
tile.kernel @all_fit(%p: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
                     %u: !tile.ptr<bf16> {tile.divisibility = 16 : i64}) {
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %c8192 = arith.constant 8192 : i64
  %id = tile.program_id 0
  %wide = arith.extsi %id : i32 to i64
  %row = arith.muli %wide, %c64 overflow<nsw> : i64
  %first = arith.muli %row, %c128 overflow<nsw> : i64
  %none = arith.constant dense<0.0> : tensor<64x128xf32>
  %atx = arith.addi %first, %c8192 overflow<nsw> : i64
  %aty = arith.addi %atx, %c8192 overflow<nsw> : i64
  %atz = arith.addi %aty, %c8192 overflow<nsw> : i64
  %ah = tile.access %p, %first steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <128x128xbf16>
  %h = tile.load %ah : !tile.access<128x128xbf16> -> tensor<128x128xbf16>
  %ax = tile.access %p, %first steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  %x = tile.load %ax : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
  %ay = tile.access %p, %atx steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  %y = tile.load %ay : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
  %az = tile.access %p, %aty steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  %z = tile.load %az : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
  %aw = tile.access %p, %atz steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  %w = tile.load %aw : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
  %a = tile.dot %x, %h, %none {precision = 1 : i32} : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
  %b = tile.dot %y, %h, %none {precision = 1 : i32} : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
  %c = tile.dot %w, %h, %none {precision = 1 : i32} : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
  %sc = arith.truncf %c : tensor<64x128xf32> to tensor<64x128xbf16>
  %toc = tile.access %o, %first steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  tile.store %toc, %sc : !tile.access<64x128xbf16>, tensor<64x128xbf16>
  %e = arith.addf %a, %b : tensor<64x128xf32>
  %se = arith.truncf %e : tensor<64x128xf32> to tensor<64x128xbf16>
  %toe = tile.access %u, %first steps(%c128, %c1) bounds [0, 0]() : <bf16>, (i64, i64), () -> <64x128xbf16>
  tile.store %toe, %se : !tile.access<64x128xbf16>, tensor<64x128xbf16>
  tile.return
}
