// RUN: tilery-opt --branch-loads --canonicalize --split-input-file %s | FileCheck %s

// Where the block ends within the tensor, its mask leaves all lanes: one load, and no branch.
// CHECK-LABEL: tile.kernel @last_block
// CHECK-NOT:     scf.if
// CHECK:         %[[PLACE:.*]] = tile.pointer_access %{{.*}} mask %{{.*}}
// CHECK:         %[[X:.*]] = tile.load %[[PLACE]] other
// CHECK:         tile.store %{{.*}}, %[[X]]
tile.kernel @last_block(%ptrs: tensor<32x!tile.ptr<f16>>, %start: i32, %end: i32, %out: !tile.access<32xf16>) {
  %zero = arith.constant dense<0.0> : tensor<32xf16>
  %c32 = arith.constant 32 : i32
  %range = tile.range 0 to 32 : tensor<32xi32>
  %first = tile.splat %start : i32 -> tensor<32xi32>
  %at = arith.addi %first, %range : tensor<32xi32>
  %all = tile.splat %end : i32 -> tensor<32xi32>
  %inside = arith.cmpi slt, %at, %all : tensor<32xi32>
  %next = arith.addi %start, %c32 : i32
  %edge = arith.cmpi sgt, %next, %end : i32
  %x = scf.if %edge -> (tensor<32xf16>) {
    %p = tile.pointer_access %ptrs mask %inside : tensor<32xi1> : tensor<32x!tile.ptr<f16>> -> !tile.access<32xf16>
    %v = tile.load %p other %zero : tensor<32xf16> : !tile.access<32xf16> -> tensor<32xf16>
    scf.yield %v : tensor<32xf16>
  } else {
    %p = tile.pointer_access %ptrs : tensor<32x!tile.ptr<f16>> -> !tile.access<32xf16>
    %v = tile.load %p : !tile.access<32xf16> -> tensor<32xf16>
    scf.yield %v : tensor<32xf16>
  }
  tile.store %out, %x : !tile.access<32xf16>, tensor<32xf16>
  tile.return
}

// -----

// A page of as many as the block has is a whole one.
// CHECK-LABEL: tile.kernel @whole_pages
// CHECK-NOT:     scf.if
// CHECK:         tile.load %{{.*}} other
tile.kernel @whole_pages(%ptrs: tensor<32x!tile.ptr<f16>>, %end: i32, %out: !tile.access<32xf16>) {
  %zero = arith.constant dense<0.0> : tensor<32xf16>
  %c32 = arith.constant 32 : i32
  %range = tile.range 0 to 32 : tensor<32xi32>
  %all = tile.splat %end : i32 -> tensor<32xi32>
  %inside = arith.cmpi slt, %range, %all : tensor<32xi32>
  %edge = arith.cmpi ne, %end, %c32 : i32
  %x = scf.if %edge -> (tensor<32xf16>) {
    %p = tile.pointer_access %ptrs mask %inside : tensor<32xi1> : tensor<32x!tile.ptr<f16>> -> !tile.access<32xf16>
    %v = tile.load %p other %zero : tensor<32xf16> : !tile.access<32xf16> -> tensor<32xf16>
    scf.yield %v : tensor<32xf16>
  } else {
    %p = tile.pointer_access %ptrs : tensor<32x!tile.ptr<f16>> -> !tile.access<32xf16>
    %v = tile.load %p : !tile.access<32xf16> -> tensor<32xf16>
    scf.yield %v : tensor<32xf16>
  }
  tile.store %out, %x : !tile.access<32xf16>, tensor<32xf16>
  tile.return
}

// -----

// Nothing is loaded where a sequence begins: zeros, in the type that they are converted to.
// CHECK-LABEL: tile.kernel @zeros
// CHECK-NOT:     scf.if
// CHECK:         %[[ELSE:.*]] = arith.xori %arg2, %true
// CHECK:         %[[ALL:.*]] = tile.splat %[[ELSE]] : i1 -> tensor<32xi1>
// CHECK:         %[[MASK:.*]] = arith.andi %arg1, %[[ALL]]
// CHECK:         tile.pointer_access %arg0 mask %[[MASK]]
// CHECK:         %[[X:.*]] = tile.load %{{.*}} other
// CHECK:         %[[Y:.*]] = arith.truncf %[[X]]
// CHECK:         tile.store %{{.*}}, %[[Y]]
tile.kernel @zeros(%ptrs: tensor<32x!tile.ptr<f32>>, %mask: tensor<32xi1>, %begins: i1, %out: !tile.access<32xf16>) {
  %zero = arith.constant dense<0.0> : tensor<32xf16>
  %x = scf.if %begins -> (tensor<32xf16>) {
    scf.yield %zero : tensor<32xf16>
  } else {
    %p = tile.pointer_access %ptrs mask %mask : tensor<32xi1> : tensor<32x!tile.ptr<f32>> -> !tile.access<32xf32>
    %v = tile.load %p : !tile.access<32xf32> -> tensor<32xf32>
    %h = arith.truncf %v : tensor<32xf32> to tensor<32xf16>
    scf.yield %h : tensor<32xf16>
  }
  tile.store %out, %x : !tile.access<32xf16>, tensor<32xf16>
  tile.return
}

// -----

// So is what is not 0 there, chosen behind the load; lanes that its mask leaves out are what they were.
// CHECK-LABEL: tile.kernel @numbers
// CHECK-NOT:     scf.if
// CHECK:         %[[ALL:.*]] = tile.splat %arg2 : i1 -> tensor<32xi1>
// CHECK:         %[[MASK:.*]] = arith.andi %arg1, %[[ALL]]
// CHECK:         tile.pointer_access %arg0 mask %[[MASK]]
// CHECK:         %[[X:.*]] = tile.load %{{.*}} other %arg3
// CHECK:         %[[Y:.*]] = arith.extf %[[X]]
// CHECK:         %[[Z:.*]] = arith.select %[[ALL]], %[[Y]], %cst{{.*}} : tensor<32xi1>, tensor<32xf32>
// CHECK:         tile.store %{{.*}}, %[[Z]]
tile.kernel @numbers(%ptrs: tensor<32x!tile.ptr<f16>>, %mask: tensor<32xi1>, %resume: i1, %edge: tensor<32xf16>, %out: !tile.access<32xf32>) {
  %least = arith.constant dense<0xFF800000> : tensor<32xf32>
  %x = scf.if %resume -> (tensor<32xf32>) {
    %p = tile.pointer_access %ptrs mask %mask : tensor<32xi1> : tensor<32x!tile.ptr<f16>> -> !tile.access<32xf16>
    %v = tile.load %p other %edge : tensor<32xf16> : !tile.access<32xf16> -> tensor<32xf16>
    %h = arith.extf %v : tensor<32xf16> to tensor<32xf32>
    scf.yield %h : tensor<32xf32>
  } else {
    scf.yield %least : tensor<32xf32>
  }
  tile.store %out, %x : !tile.access<32xf32>, tensor<32xf32>
  tile.return
}

// -----

// A block may end behind the tensor in the other arm, too (one more lane than it asks for); what is no number stays elsewhere; a store stays.
// CHECK-LABEL: tile.kernel @left
// CHECK-COUNT-3: scf.if
tile.kernel @left(%ptrs: tensor<32x!tile.ptr<f16>>, %start: i32, %end: i32, %whether: i1, %other: tensor<32xf16>, %out: !tile.access<32xf16>) {
  %zero = arith.constant dense<0.0> : tensor<32xf16>
  %one = arith.constant dense<1.0> : tensor<32xf16>
  %c31 = arith.constant 31 : i32
  %range = tile.range 0 to 32 : tensor<32xi32>
  %first = tile.splat %start : i32 -> tensor<32xi32>
  %at = arith.addi %first, %range : tensor<32xi32>
  %all = tile.splat %end : i32 -> tensor<32xi32>
  %inside = arith.cmpi slt, %at, %all : tensor<32xi32>
  %next = arith.addi %start, %c31 : i32
  %edge = arith.cmpi sgt, %next, %end : i32
  %x = scf.if %edge -> (tensor<32xf16>) {
    %p = tile.pointer_access %ptrs mask %inside : tensor<32xi1> : tensor<32x!tile.ptr<f16>> -> !tile.access<32xf16>
    %v = tile.load %p other %zero : tensor<32xf16> : !tile.access<32xf16> -> tensor<32xf16>
    scf.yield %v : tensor<32xf16>
  } else {
    %p = tile.pointer_access %ptrs : tensor<32x!tile.ptr<f16>> -> !tile.access<32xf16>
    %v = tile.load %p : !tile.access<32xf16> -> tensor<32xf16>
    scf.yield %v : tensor<32xf16>
  }
  tile.store %out, %x : !tile.access<32xf16>, tensor<32xf16>
  %y = scf.if %whether -> (tensor<32xf16>) {
    %p = tile.pointer_access %ptrs : tensor<32x!tile.ptr<f16>> -> !tile.access<32xf16>
    %v = tile.load %p : !tile.access<32xf16> -> tensor<32xf16>
    scf.yield %v : tensor<32xf16>
  } else {
    scf.yield %other : tensor<32xf16>
  }
  tile.store %out, %y : !tile.access<32xf16>, tensor<32xf16>
  %z = scf.if %whether -> (tensor<32xf16>) {
    tile.store %out, %one : !tile.access<32xf16>, tensor<32xf16>
    scf.yield %zero : tensor<32xf16>
  } else {
    %p = tile.pointer_access %ptrs : tensor<32x!tile.ptr<f16>> -> !tile.access<32xf16>
    %v = tile.load %p : !tile.access<32xf16> -> tensor<32xf16>
    scf.yield %v : tensor<32xf16>
  }
  tile.store %out, %z : !tile.access<32xf16>, tensor<32xf16>
  tile.return
}
