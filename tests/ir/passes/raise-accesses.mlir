// RUN: tilery-opt --pass-pipeline='builtin.module(tile.kernel(raise-accesses,canonicalize,cse))' %s | FileCheck %s

// CHECK-LABEL: tile.kernel @vector
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK: %[[HI:.*]] = arith.subi %[[N:.*]], %[[START:.*]] overflow<nsw> : i64
// CHECK: tile.access %{{.*}}, %[[START]] steps(%[[ONE]]) bounds [1](%[[ZERO]], %[[HI]])
tile.kernel @vector(%x: !tile.ptr<f32>, %n: i32) {
  %c = arith.constant 1024 : i32
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %pid = tile.program_id 0
  %s = arith.muli %pid, %c overflow<nsw> : i32
  %r = tile.range 0 to 1024 : tensor<1024xi32>
  %ss = tile.splat %s : i32 -> tensor<1024xi32>
  %o = arith.addi %ss, %r overflow<nsw> : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %o, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %p = tile.add_ptr %xs, %o : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %a = tile.pointer_access %p mask %m : tensor<1024xi1> : tensor<1024x!tile.ptr<f32>> -> !tile.access<1024xf32>
  tile.store %a, %one : !tile.access<1024xf32>, tensor<1024xf32>
  tile.return
}

// Both orders of a comparison, a lower bound, a step of -2 and equality.
// 100 - 2i > n: i < ceil((100 - n) / 2). n <= i. i == n: [n, n + 1).
// CHECK-LABEL: tile.kernel @comparisons
// CHECK: %[[N:.*]] = arith.extsi
// CHECK: %[[A:.*]] = arith.subi %[[N]], %{{.*}} overflow<nsw> : i64
// CHECK: %[[FLOOR:.*]] = tile.div floor %[[A]], %{{.*}} : i64
// CHECK: %[[CEIL:.*]] = arith.subi %{{.*}}, %[[FLOOR]] overflow<nsw> : i64
// CHECK: tile.access {{.*}} bounds [1](%{{.*}}, %[[CEIL]])
// CHECK: tile.access {{.*}} bounds [1](%[[N]], %{{.*}})
// CHECK: %[[NEXT:.*]] = arith.{{(addi|subi)}} {{.*}} : i64
// CHECK: tile.access {{.*}} bounds [1](%[[N]], %[[NEXT]])
tile.kernel @comparisons(%x: !tile.ptr<f32>, %n: i32) {
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %c100 = arith.constant dense<100> : tensor<8xi32>
  %c2 = arith.constant dense<2> : tensor<8xi32>
  %r = tile.range 0 to 8 : tensor<8xi32>
  %ns = tile.splat %n : i32 -> tensor<8xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %p = tile.add_ptr %xs, %r : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %r2 = arith.muli %r, %c2 overflow<nsw> : tensor<8xi32>
  %d = arith.subi %c100, %r2 overflow<nsw> : tensor<8xi32>
  %m0 = arith.cmpi sgt, %d, %ns : tensor<8xi32>
  %a0 = tile.pointer_access %p mask %m0 : tensor<8xi1> : tensor<8x!tile.ptr<f32>> -> !tile.access<8xf32>
  tile.store %a0, %one : !tile.access<8xf32>, tensor<8xf32>
  %m1 = arith.cmpi sle, %ns, %r : tensor<8xi32>
  %a1 = tile.pointer_access %p mask %m1 : tensor<8xi1> : tensor<8x!tile.ptr<f32>> -> !tile.access<8xf32>
  tile.store %a1, %one : !tile.access<8xf32>, tensor<8xf32>
  %m2 = arith.cmpi eq, %r, %ns : tensor<8xi32>
  %a2 = tile.pointer_access %p mask %m2 : tensor<8xi1> : tensor<8x!tile.ptr<f32>> -> !tile.access<8xf32>
  tile.store %a2, %one : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}

// The seed as printed: offs_k moves on and k * 64 is subtracted, so the bound shrinks by 128 a step.
// CHECK-LABEL: tile.kernel @carried_offsets
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NOT: tensor<64xi32>
// CHECK-DAG: %[[IV:.*]] = arith.extsi %[[K]] : i32 to i64
// CHECK-DAG: %[[DONE:.*]] = arith.muli %[[IV]], %c64_i64 overflow<nsw> : i64
// CHECK-DAG: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[DONE]] overflow<nsw> : i64
// CHECK-DAG: %[[HI:.*]] = arith.subi %[[LEFT]], %[[DONE]] overflow<nsw> : i64
// CHECK: tile.access %{{.*}}, %[[DONE]] steps(%{{.*}}) bounds [1](%{{.*}}, %[[HI]])
tile.kernel @carried_offsets(%x: !tile.ptr<f32>, %n: i32, %trips: i32) {
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c64s = arith.constant dense<64> : tensor<64xi32>
  %r = tile.range 0 to 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %p0 = tile.add_ptr %xs, %r : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %u:2 = scf.for %k = %c0 to %trips step %c1 iter_args(%p = %p0, %o = %r) -> (tensor<64x!tile.ptr<f32>>, tensor<64xi32>) : i32 {
    %done = arith.muli %k, %c64 overflow<nsw> : i32
    %left = arith.subi %n, %done overflow<nsw> : i32
    %ls = tile.splat %left : i32 -> tensor<64xi32>
    %m = arith.cmpi slt, %o, %ls : tensor<64xi32>
    %a = tile.pointer_access %p mask %m : tensor<64xi1> : tensor<64x!tile.ptr<f32>> -> !tile.access<64xf32>
    tile.store %a, %one : !tile.access<64xf32>, tensor<64xf32>
    %p2 = tile.add_ptr %p, %c64s : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %o2 = arith.addi %o, %c64s overflow<nsw> : tensor<64xi32>
    scf.yield %p2, %o2 : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  }
  tile.return
}

// What wraps is not rebuilt in i64: the offsets are read as they are.
// CHECK-LABEL: tile.kernel @wrapping
// CHECK: %[[O:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<8xi32>
// CHECK: %[[W:.*]] = arith.extsi %[[O]]
// CHECK: tile.access %{{.*}}, %{{.*}} steps(%[[W]]) bounds [0]() : <f32>, (tensor<8xi64>)
tile.kernel @wrapping(%x: !tile.ptr<f32>, %n: i32) {
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %r = tile.range 0 to 8 : tensor<8xi32>
  %ns = tile.splat %n : i32 -> tensor<8xi32>
  %o = arith.addi %r, %ns : tensor<8xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %p = tile.add_ptr %xs, %o : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %a = tile.pointer_access %p : tensor<8x!tile.ptr<f32>> -> !tile.access<8xf32>
  tile.store %a, %one : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}

// A mask of two dimensions at once stays a residual tile; offsets of two dimensions at once stay one address a lane.
// CHECK-LABEL: tile.kernel @not_separable
// CHECK: tile.access %{{.*}} bounds [0, 0]() residual %{{.*}} : tensor<4x8xi1>
// CHECK: tile.pointer_access
tile.kernel @not_separable(%x: !tile.ptr<f32>) {
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %two = arith.constant dense<2> : tensor<4x8xi32>
  %r = tile.range 0 to 4 : tensor<4xi32>
  %c = tile.range 0 to 8 : tensor<8xi32>
  %r2 = tile.expand_dims %r axis 1 : tensor<4xi32> -> tensor<4x1xi32>
  %c2 = tile.expand_dims %c axis 0 : tensor<8xi32> -> tensor<1x8xi32>
  %rb = tile.broadcast %r2 : tensor<4x1xi32> -> tensor<4x8xi32>
  %cb = tile.broadcast %c2 : tensor<1x8xi32> -> tensor<4x8xi32>
  %o = arith.addi %rb, %cb overflow<nsw> : tensor<4x8xi32>
  %m = arith.cmpi sge, %rb, %cb : tensor<4x8xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<4x8x!tile.ptr<f32>>
  %p = tile.add_ptr %xs, %o : tensor<4x8x!tile.ptr<f32>>, tensor<4x8xi32>
  %a = tile.pointer_access %p mask %m : tensor<4x8xi1> : tensor<4x8x!tile.ptr<f32>> -> !tile.access<4x8xf32>
  tile.store %a, %one : !tile.access<4x8xf32>, tensor<4x8xf32>
  %h = tile.div floor %o, %two : tensor<4x8xi32>
  %q = tile.add_ptr %xs, %h : tensor<4x8x!tile.ptr<f32>>, tensor<4x8xi32>
  %a2 = tile.pointer_access %q : tensor<4x8x!tile.ptr<f32>> -> !tile.access<4x8xf32>
  tile.store %a2, %one : !tile.access<4x8xf32>, tensor<4x8xf32>
  tile.return
}

// A scalar condition bounds dimension 0; a scalar access keeps it as its residual.
// CHECK-LABEL: tile.kernel @uniform_mask
// CHECK: %[[HI:.*]] = arith.select %[[OK:.*]], %{{.*}}, %{{.*}} : i64
// CHECK: tile.access {{.*}} bounds [1](%{{.*}}, %[[HI]])
// CHECK: tile.access %{{.*}}, %{{.*}} steps() bounds []() residual %[[OK]] : i1
tile.kernel @uniform_mask(%x: !tile.ptr<f32>, %ok: i1) {
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %f = arith.constant 1.0 : f32
  %r = tile.range 0 to 8 : tensor<8xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %p = tile.add_ptr %xs, %r : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %m = tile.splat %ok : i1 -> tensor<8xi1>
  %a = tile.pointer_access %p mask %m : tensor<8xi1> : tensor<8x!tile.ptr<f32>> -> !tile.access<8xf32>
  tile.store %a, %one : !tile.access<8xf32>, tensor<8xf32>
  %s = tile.pointer_access %x mask %ok : i1 : !tile.ptr<f32> -> !tile.access<f32>
  tile.store %s, %f : !tile.access<f32>, f32
  tile.return
}

// A dimension of one element decides nothing. Digits: 8*i + j < n, where 8 divides n, is i < n / 8.
// CHECK-LABEL: tile.kernel @digits
// CHECK: tile.access {{.*}} bounds [1, 0]({{%[^,]*, %[^,]*}}) :
// CHECK: tile.access {{.*}} bounds [1, 0]({{%[^,]*, %[^,]*}}) :
// CHECK: tile.access {{.*}} bounds [0, 0]() residual
tile.kernel @digits(%x: !tile.ptr<f32>, %n: i32 {tile.divisibility = 16 : i64}, %m: i32) {
  %one = arith.constant dense<1.0> : tensor<64x8xf32>
  %thin = arith.constant dense<1.0> : tensor<64x1xf32>
  %eight = arith.constant dense<8> : tensor<64x1xi32>
  %r = tile.range 0 to 64 : tensor<64xi32>
  %c = tile.range 0 to 8 : tensor<8xi32>
  %zero = tile.range 0 to 1 : tensor<1xi32>
  %r1 = tile.expand_dims %r axis 1 : tensor<64xi32> -> tensor<64x1xi32>
  %z1 = tile.expand_dims %zero axis 0 : tensor<1xi32> -> tensor<1x1xi32>
  %zb = tile.broadcast %z1 : tensor<1x1xi32> -> tensor<64x1xi32>
  %o1 = arith.addi %r1, %zb overflow<nsw> : tensor<64x1xi32>
  %n1 = tile.splat %n : i32 -> tensor<64x1xi32>
  %m1 = arith.cmpi slt, %o1, %n1 : tensor<64x1xi32>
  %xs1 = tile.splat %x : !tile.ptr<f32> -> tensor<64x1x!tile.ptr<f32>>
  %p1 = tile.add_ptr %xs1, %o1 : tensor<64x1x!tile.ptr<f32>>, tensor<64x1xi32>
  %a1 = tile.pointer_access %p1 mask %m1 : tensor<64x1xi1> : tensor<64x1x!tile.ptr<f32>> -> !tile.access<64x1xf32>
  tile.store %a1, %thin : !tile.access<64x1xf32>, tensor<64x1xf32>
  %r8 = arith.muli %r1, %eight overflow<nsw> : tensor<64x1xi32>
  %c1 = tile.expand_dims %c axis 0 : tensor<8xi32> -> tensor<1x8xi32>
  %rb = tile.broadcast %r8 : tensor<64x1xi32> -> tensor<64x8xi32>
  %cb = tile.broadcast %c1 : tensor<1x8xi32> -> tensor<64x8xi32>
  %o = arith.addi %rb, %cb overflow<nsw> : tensor<64x8xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x8x!tile.ptr<f32>>
  %p = tile.add_ptr %xs, %o : tensor<64x8x!tile.ptr<f32>>, tensor<64x8xi32>
  %ns = tile.splat %n : i32 -> tensor<64x8xi32>
  %whole = arith.cmpi sgt, %ns, %o : tensor<64x8xi32>
  %a = tile.pointer_access %p mask %whole : tensor<64x8xi1> : tensor<64x8x!tile.ptr<f32>> -> !tile.access<64x8xf32>
  tile.store %a, %one : !tile.access<64x8xf32>, tensor<64x8xf32>
  %ms = tile.splat %m : i32 -> tensor<64x8xi32>
  %ragged = arith.cmpi slt, %o, %ms : tensor<64x8xi32>
  %b = tile.pointer_access %p mask %ragged : tensor<64x8xi1> : tensor<64x8x!tile.ptr<f32>> -> !tile.access<64x8xf32>
  tile.store %b, %one : !tile.access<64x8xf32>, tensor<64x8xf32>
  tile.return
}

// Numbers of 64 bits of which nothing is known: a bound far away stands for all that are farther, and a difference of two such numbers does
// not wrap.
// CHECK-LABEL: tile.kernel @far
// CHECK-DAG: %[[LEAST:.*]] = arith.constant -4611686018427387904 : i64
// CHECK-DAG: %[[MOST:.*]] = arith.constant 4611686018427387904 : i64
// CHECK: %[[ABOVE:.*]] = arith.maxsi %[[N:.*]], %[[LEAST]] : i64
// CHECK: %[[NEAR:.*]] = arith.minsi %[[ABOVE]], %[[MOST]] : i64
// CHECK: tile.access {{.*}} bounds [1](%{{.*}}, %[[NEAR]])
// CHECK: arith.subi %[[M:.*]], %[[N]] : i64
// CHECK: arith.select
// CHECK: %[[APART:.*]] = arith.select
// CHECK: %[[HI:.*]] = arith.subi %{{.*}}, %[[APART]] overflow<nsw> : i64
// CHECK: tile.access {{.*}} bounds [1](%{{.*}}, %[[HI]])
tile.kernel @far(%x: !tile.ptr<f32>, %n: i64, %m: i64) {
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %r = tile.range 0 to 8 : tensor<8xi32>
  %w = arith.extsi %r : tensor<8xi32> to tensor<8xi64>
  %ns = tile.splat %n : i64 -> tensor<8xi64>
  %ms = tile.splat %m : i64 -> tensor<8xi64>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %p = tile.add_ptr %xs, %r : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %m0 = arith.cmpi slt, %w, %ns : tensor<8xi64>
  %a0 = tile.pointer_access %p mask %m0 : tensor<8xi1> : tensor<8x!tile.ptr<f32>> -> !tile.access<8xf32>
  tile.store %a0, %one : !tile.access<8xf32>, tensor<8xf32>
  %o = arith.addi %ms, %w overflow<nsw> : tensor<8xi64>
  %m1 = arith.cmpi slt, %o, %ns : tensor<8xi64>
  %a1 = tile.pointer_access %p mask %m1 : tensor<8xi1> : tensor<8x!tile.ptr<f32>> -> !tile.access<8xf32>
  tile.store %a1, %one : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}

// Columns that stay below what they are divided by are themselves, and their quotients 0; others are numbers a lane.
// CHECK-LABEL: tile.kernel @columns
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK: tile.access %{{.*}}, %[[ZERO]] steps(%[[ONE]]) bounds [0]()
// CHECK: tile.access %{{.*}}, %[[ZERO]] steps(%[[ZERO]]) bounds [0]()
// CHECK: %[[REST:.*]] = arith.extsi {{.*}} : tensor<64xi32> to tensor<64xi64>
// CHECK: tile.access %{{.*}}, %[[ZERO]] steps(%[[REST]]) bounds [0]()
// CHECK: %[[BELOW:.*]] = arith.extsi {{.*}} : tensor<64xi32> to tensor<64xi64>
// CHECK: tile.access %{{.*}}, %[[ZERO]] steps(%[[BELOW]]) bounds [0]()
tile.kernel @columns(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
  %n = arith.constant dense<64> : tensor<64xi32>
  %most = arith.constant dense<63> : tensor<64xi32>
  %r = tile.range 0 to 64 : tensor<64xi32>
  %s = tile.range -1 to 63 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %same = tile.rem trunc %r, %n : tensor<64xi32>
  %p0 = tile.add_ptr %xs, %same : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a0 = tile.pointer_access %p0 : tensor<64x!tile.ptr<f32>> -> !tile.access<64xf32>
  %v0 = tile.load %a0 : !tile.access<64xf32> -> tensor<64xf32>
  %none = tile.div floor %r, %n : tensor<64xi32>
  %p1 = tile.add_ptr %xs, %none : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a1 = tile.pointer_access %p1 : tensor<64x!tile.ptr<f32>> -> !tile.access<64xf32>
  %v1 = tile.load %a1 : !tile.access<64xf32> -> tensor<64xf32>
  %around = tile.rem trunc %r, %most : tensor<64xi32>
  %p2 = tile.add_ptr %xs, %around : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a2 = tile.pointer_access %p2 : tensor<64x!tile.ptr<f32>> -> !tile.access<64xf32>
  %v2 = tile.load %a2 : !tile.access<64xf32> -> tensor<64xf32>
  %negative = tile.rem floor %s, %n : tensor<64xi32>
  %p3 = tile.add_ptr %ys, %negative : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %a3 = tile.pointer_access %p3 : tensor<64x!tile.ptr<f32>> -> !tile.access<64xf32>
  %v01 = arith.addf %v0, %v1 : tensor<64xf32>
  %sum = arith.addf %v01, %v2 : tensor<64xf32>
  tile.store %a3, %sum : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}
