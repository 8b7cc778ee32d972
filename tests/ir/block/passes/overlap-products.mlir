// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,canonicalize,cse))' | FileCheck %s --check-prefix=RINGS
// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,overlap-products,canonicalize,cse))' | FileCheck %s
// RUN: env TILERY_SCHEDULE="overlap=0" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,overlap-products,canonicalize,cse))' | FileCheck %s --check-prefix=RINGS
// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,overlap-products,stage-stores,order-programs,canonicalize,cse))' | FileCheck %s --check-prefix=ORDER

// A loop and a step behind it read the same tensors: they share rings, and positions go on.
// RINGS-LABEL: tile.kernel @chain
// RINGS-COUNT-3: block.ring takers 1
// RINGS-NOT: block.ring
// RINGS: %[[LAST:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[AT:.*]] = %c0{{.*}})
// RINGS: block.acquire %[[K:.*]][%[[AT]]]
// RINGS: block.mma_start
// RINGS-NEXT: block.mma_wait
// RINGS: block.acquire %[[V:.*]][%[[AT]]]
// RINGS: block.mma_start
// RINGS-NEXT: block.mma_wait
// RINGS: }
// RINGS: block.acquire %[[K]][%[[LAST]]#1]
// RINGS: block.acquire %[[V]][%[[LAST]]#1]

// The first step without its late product; then both products under way together, what the sums need last; the last product.
// CHECK-LABEL: tile.kernel @chain
// CHECK: %[[N:.*]] = arith.muli
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[N]], %c0{{.*}} : i32
// CHECK: scf.if %[[SOME]]
// CHECK: block.acquire %[[K:.*]][%c0
// CHECK: block.mma_wait
// CHECK: %[[SCALED:.*]] = arith.mulf
// CHECK: %[[P:.*]] = arith.truncf
// CHECK-NOT: block.mma_start
// CHECK: scf.for %{{.*}} = %c64{{.*}} to %[[N]] step {{.*}} iter_args(%[[C:.*]] = %[[SCALED]], %[[AT:.*]] = %c1{{.*}}, %[[A:.*]] = %[[P]])
// CHECK: %[[S:.*]] = block.mma_start
// CHECK: %[[BEFORE:.*]] = arith.subi %[[AT]]
// CHECK: %[[SLOT:.*]] = block.take %[[V:.*]][%[[BEFORE]]]
// CHECK: %[[R:.*]] = block.mma_start %[[C]], %[[A]]
// CHECK: block.mma_wait %[[S]]
// CHECK: arith.truncf
// CHECK: %[[SUM:.*]] = block.mma_wait %[[R]]
// CHECK: block.release %[[SLOT]]
// CHECK: arith.mulf %[[SUM]]
// CHECK: scf.yield
// CHECK: block.take %[[V]]
// CHECK: block.mma_start
// CHECK: } else {

// Positions go from branches to what follows, and from program to program.
// ORDER-LABEL: tile.kernel @chain
// The loop is longer in later programs: those come first, in sections.
// ORDER: block.programs longest order(%{{.*}}, %true{{.*}}, %{{.*}}) iter(%c0{{.*}}, %c0{{.*}} : i32, i32)
// ORDER: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[QAT:.*]]: i32, %[[START:.*]]: i32):
// ORDER: %[[BRANCH:.*]]:2 = scf.if
// ORDER: } else {
// ORDER: scf.yield %{{.*}}, %[[START]]
// ORDER: block.acquire %{{.*}}[%[[BRANCH]]#1]
// ORDER: %[[NEXT:.*]] = arith.addi %[[BRANCH]]#1, %c1
// ORDER: block.yield %{{.*}}, %[[NEXT]]
tile.kernel @chain(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                   %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %f: f32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %id = tile.program_id 0
  %m = arith.constant 64 : i32
  %n = arith.muli %id, %m overflow<nsw> : i32
  %i64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %fs = tile.splat %f : f32 -> tensor<64x64xf32>
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %r = scf.for %i = %i0 to %n step %i64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %w = arith.extsi %i : i32 to i64
    %first = arith.muli %w, %c64 overflow<nsw> : i64
    %ak = tile.access %k, %first steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tq, %tk, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %scaled = arith.mulf %acc, %fs : tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %av = tile.access %v, %first steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %p, %tv, %scaled : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %w = arith.extsi %n : i32 to i64
  %first = arith.muli %w, %c64 overflow<nsw> : i64
  %ak = tile.access %k, %first steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %s = tile.dot %tq, %tk, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %av = tile.access %v, %first steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %sum = tile.dot %p, %tv, %r : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %h = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  tile.store %ao, %h : !tile.access<64x64xf16>, tensor<64x64xf16>
  tile.return
}

// Sums that the step itself reads are not late.
// CHECK-LABEL: tile.kernel @read
// CHECK-NOT: scf.if
// CHECK: block.mma_start
// CHECK-NEXT: block.mma_wait
// CHECK: block.mma_start
// CHECK-NEXT: block.mma_wait
// CHECK: tile.return
tile.kernel @read(%k: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %i0 to %n step %i64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %w = arith.extsi %i : i32 to i64
    %first = arith.muli %w, %c64 overflow<nsw> : i64
    %ak = tile.access %k, %first steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %a = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
    %s = tile.dot %a, %tk, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %next = tile.dot %p, %tk, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %h = arith.truncf %r : tensor<64x64xf32> to tensor<64x64xf16>
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  tile.store %ao, %h : !tile.access<64x64xf16>, tensor<64x64xf16>
  tile.return
}

// A factor that two products take: the other one starts while the late one is under way.
// CHECK-LABEL: tile.kernel @twice
// CHECK: scf.for
// CHECK: %[[S2:.*]] = block.mma_start
// CHECK: %[[LATE:.*]] = block.mma_start
// CHECK: block.mma_wait %[[S2]]
// CHECK: arith.truncf
// CHECK: block.mma_start
// CHECK: block.mma_wait %[[LATE]]
// CHECK: scf.yield
tile.kernel @twice(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                   %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c4096 = arith.constant 4096 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %r:2 = scf.for %i = %i0 to %n step %i64 iter_args(%acc = %zero, %other = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %w = arith.extsi %i : i32 to i64
    %first = arith.muli %w, %c64 overflow<nsw> : i64
    %ak = tile.access %k, %first steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %turned = tile.permute %tk [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tq, %turned, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %av = tile.access %v, %first steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %x = tile.dot %p, %tk, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %y = tile.dot %p, %tv, %other : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %x, %y : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %h = arith.truncf %r#0 : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %ao, %h : !tile.access<64x64xf16>, tensor<64x64xf16>
  %ap = tile.access %o, %c4096 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %g = arith.truncf %r#1 : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %ap, %g : !tile.access<64x64xf16>, tensor<64x64xf16>
  tile.return
}
