// RUN: tilery-opt --place-choices --split-input-file %s | FileCheck %s

// Where the load's mask holds the choice is decided.
// CHECK-LABEL: tile.kernel @decided
// CHECK-SAME:    %[[P:.*]]: !tile.ptr<f32>, %[[I:.*]]: tensor<4xi32>
// CHECK:         %[[PTRS:.*]] = tile.add_ptr %{{.*}}, %[[I]]
// CHECK:         tile.pointer_access %[[PTRS]] mask
// CHECK-NOT:     pointer_access
tile.kernel @decided(%p: !tile.ptr<f32>, %i: tensor<4xi32>, %a: tensor<4xi1>, %b: tensor<4xi1>, %c: tensor<4xi1>, %out: !tile.access<4xf32>) {
  %zero = arith.constant dense<0> : tensor<4xi32>
  %ab = arith.andi %a, %b : tensor<4xi1>
  %all = arith.andi %ab, %c : tensor<4xi1>
  %bc = arith.andi %b, %c : tensor<4xi1>
  %place = arith.select %bc, %i, %zero : tensor<4xi1>, tensor<4xi32>
  %base = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %ptrs = tile.add_ptr %base, %place : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %access = tile.pointer_access %ptrs mask %all : tensor<4xi1> : tensor<4x!tile.ptr<f32>> -> !tile.access<4xf32>
  %x = tile.load %access : !tile.access<4xf32> -> tensor<4xf32>
  tile.store %out, %x : !tile.access<4xf32>, tensor<4xf32>
  tile.return
}

// -----

// So it is where both have been shaped alike since, and a quotient without a rest is the same downwards; of others nothing is known.
// CHECK-LABEL: tile.kernel @shaped
// CHECK-SAME:    %[[P:.*]]: !tile.ptr<f32>, %[[I:.*]]: tensor<4xi32>
// CHECK:         %[[HALF:.*]] = tile.div floor %[[I]],
// CHECK:         %[[LINE:.*]] = tile.expand_dims %[[HALF]] axis 0
// CHECK:         %[[WIDE:.*]] = tile.broadcast %[[LINE]]
// CHECK:         %[[PTRS:.*]] = tile.add_ptr %{{.*}}, %[[WIDE]]
// CHECK:         tile.pointer_access %[[PTRS]] mask
// CHECK:         %[[OTHER:.*]] = tile.div trunc %[[I]],
// CHECK:         arith.select %{{.*}}, %[[OTHER]]
tile.kernel @shaped(%p: !tile.ptr<f32>, %i: tensor<4xi32>, %m: tensor<2x4xi1>, %out: !tile.access<2x4xf32>, %second: !tile.access<2x4xf32>) {
  %zero = arith.constant dense<0> : tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %three = arith.constant dense<3> : tensor<4xi32>
  %rest = tile.rem trunc %i, %two : tensor<4xi32>
  %even = arith.cmpi eq, %rest, %zero : tensor<4xi32>
  %half = tile.div trunc %i, %two : tensor<4xi32>
  %chosen = arith.select %even, %half, %zero : tensor<4xi1>, tensor<4xi32>
  %line = tile.expand_dims %chosen axis 0 : tensor<4xi32> -> tensor<1x4xi32>
  %wide = tile.broadcast %line : tensor<1x4xi32> -> tensor<2x4xi32>
  %evens = tile.expand_dims %even axis 0 : tensor<4xi1> -> tensor<1x4xi1>
  %mask = tile.broadcast %evens : tensor<1x4xi1> -> tensor<2x4xi1>
  %both = arith.andi %m, %mask : tensor<2x4xi1>
  %base = tile.splat %p : !tile.ptr<f32> -> tensor<2x4x!tile.ptr<f32>>
  %ptrs = tile.add_ptr %base, %wide : tensor<2x4x!tile.ptr<f32>>, tensor<2x4xi32>
  %access = tile.pointer_access %ptrs mask %both : tensor<2x4xi1> : tensor<2x4x!tile.ptr<f32>> -> !tile.access<2x4xf32>
  %x = tile.load %access : !tile.access<2x4xf32> -> tensor<2x4xf32>
  tile.store %out, %x : !tile.access<2x4xf32>, tensor<2x4xf32>
  %third = tile.div trunc %i, %three : tensor<4xi32>
  %thirds = arith.select %even, %third, %zero : tensor<4xi1>, tensor<4xi32>
  %row = tile.expand_dims %thirds axis 0 : tensor<4xi32> -> tensor<1x4xi32>
  %rows = tile.broadcast %row : tensor<1x4xi32> -> tensor<2x4xi32>
  %places = tile.add_ptr %base, %rows : tensor<2x4x!tile.ptr<f32>>, tensor<2x4xi32>
  %unknown = tile.pointer_access %places mask %m : tensor<2x4xi1> : tensor<2x4x!tile.ptr<f32>> -> !tile.access<2x4xf32>
  %y = tile.load %unknown : !tile.access<2x4xf32> -> tensor<2x4xf32>
  tile.store %second, %y : !tile.access<2x4xf32>, tensor<2x4xf32>
  tile.return
}

// -----

// Another mask's lanes are at a row or at one place: two loads. Stores are in order, and stay.
// CHECK-LABEL: tile.kernel @split
// CHECK-SAME:    %{{.*}}: !tile.ptr<f32>, %[[C:.*]]: tensor<4xi1>, %[[M:.*]]: tensor<4xi1>
// CHECK:         %[[HERE:.*]] = arith.andi %[[M]], %[[C]]
// CHECK:         %[[ROW:.*]] = tile.pointer_access %{{.*}} mask %[[HERE]]
// CHECK:         %[[NOT:.*]] = arith.xori %[[C]],
// CHECK:         %[[ELSE:.*]] = arith.andi %[[M]], %[[NOT]]
// CHECK:         %[[ONE:.*]] = tile.pointer_access %{{.*}} mask %[[ELSE]]
// CHECK:         %[[X:.*]] = tile.load %[[ROW]] other %[[OTHER:.*]] : tensor<4xf32>
// CHECK:         %[[Y:.*]] = tile.load %[[ONE]] other %[[X]] : tensor<4xf32>
// CHECK:         tile.store %{{.*}}, %[[Y]]
tile.kernel @split(%p: !tile.ptr<f32>, %c: tensor<4xi1>, %m: tensor<4xi1>, %other: tensor<4xf32>) {
  %zero = arith.constant dense<0> : tensor<4xi32>
  %i = tile.range 0 to 4 : tensor<4xi32>
  %place = arith.select %c, %i, %zero : tensor<4xi1>, tensor<4xi32>
  %base = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %ptrs = tile.add_ptr %base, %place : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %access = tile.pointer_access %ptrs mask %m : tensor<4xi1> : tensor<4x!tile.ptr<f32>> -> !tile.access<4xf32>
  %x = tile.load %access other %other : tensor<4xf32> : !tile.access<4xf32> -> tensor<4xf32>
  %same = tile.pointer_access %ptrs : tensor<4x!tile.ptr<f32>> -> !tile.access<4xf32>
  tile.store %same, %x : !tile.access<4xf32>, tensor<4xf32>
  tile.return
}

// -----

// Gathered places stay so: two gathers are slower than one.
// CHECK-LABEL: tile.kernel @gathered
// CHECK-COUNT-1: tile.load
// CHECK-NOT:     tile.load
tile.kernel @gathered(%p: !tile.ptr<f32>, %i: tensor<4xi32>, %c: tensor<4xi1>, %out: !tile.access<4xf32>) {
  %zero = arith.constant dense<0> : tensor<4xi32>
  %place = arith.select %c, %i, %zero : tensor<4xi1>, tensor<4xi32>
  %base = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %ptrs = tile.add_ptr %base, %place : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %access = tile.pointer_access %ptrs : tensor<4x!tile.ptr<f32>> -> !tile.access<4xf32>
  %x = tile.load %access : !tile.access<4xf32> -> tensor<4xf32>
  tile.store %out, %x : !tile.access<4xf32>, tensor<4xf32>
  tile.return
}
