// RUN: tilery-opt %s --pad-rows | FileCheck %s
// Rows that are added are loaded as nothing and stored nowhere; tiles that other rows use, too, are each one's own.
// CHECK-LABEL: tile.kernel @few
// CHECK: %[[FOUR:.*]] = arith.constant 4 : i64
// CHECK: %[[AQ:.*]] = tile.access %arg0, %{{.*}} steps(%{{.*}}, %{{.*}}) bounds [1, 0](%{{.*}}, %[[END:.*]]) : {{.*}} -> <64x64xf16>
// CHECK: tile.load %[[AQ]] : !tile.access<64x64xf16> -> tensor<64x64xf16>
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32>, tensor<64xf32>)
// CHECK: tile.access %arg1, {{.*}} -> <64x16xf16>
// CHECK: %[[S:.*]] = tile.dot {{.*}} : tensor<64x64xf16>, tensor<64x16xf16> -> tensor<64x16xf32>
// CHECK: tile.reduce %[[S]] axis 1
// CHECK: } : tensor<64x16xf32> -> tensor<64xf32>
// CHECK: tile.dot {{.*}} : tensor<64x16xf16>, tensor<16x64xf16> -> tensor<64x64xf32>
// CHECK: %[[SIXTEEN:.*]] = arith.constant 16 : i64
// CHECK: tile.access %arg3, {{.*}} bounds [1, 0](%{{.*}}, %[[SIXTEEN]]) : {{.*}} -> <64x64xf32>
// CHECK: tile.store {{.*}} : !tile.access<64x64xf32>, tensor<64x64xf32>
tile.kernel @few(%q: !tile.ptr<f16>, %k: !tile.ptr<f16>, %v: !tile.ptr<f16>, %o: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i16 = arith.constant 16 : i32
  %scores = arith.constant dense<0.0> : tensor<16x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x64xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [1, 0](%c0, %c4) : <f16>, (i64, i64), (i64, i64) -> <16x64xf16>
  %tq = tile.load %aq : !tile.access<16x64xf16> -> tensor<16x64xf16>
  %sum, %total = scf.for %i = %i0 to %n step %i16 iter_args(%acc = %zeros, %old = %zero) -> (tensor<16x64xf32>, tensor<16xf32>) : i32 {
    %w = arith.extsi %i : i32 to i64
    %at = arith.muli %w, %c64 : i64
    %ak = tile.access %k, %at steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x16xf16>
    %tk = tile.load %ak : !tile.access<64x16xf16> -> tensor<64x16xf16>
    %s = tile.dot %tq, %tk, %scores : tensor<16x64xf16>, tensor<64x16xf16> -> tensor<16x16xf32>
    %part = tile.reduce %s axis 1 {
    ^bb0(%a: f32, %b: f32):
      %x = arith.addf %a, %b : f32
      tile.yield %x : f32
    } : tensor<16x16xf32> -> tensor<16xf32>
    %more = arith.addf %old, %part : tensor<16xf32>
    %h = arith.truncf %s : tensor<16x16xf32> to tensor<16x16xf16>
    %av = tile.access %v, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <16x64xf16>
    %tv = tile.load %av : !tile.access<16x64xf16> -> tensor<16x64xf16>
    %next = tile.dot %h, %tv, %acc : tensor<16x16xf16>, tensor<16x64xf16> -> tensor<16x64xf32>
    scf.yield %next, %more : tensor<16x64xf32>, tensor<16xf32>
  }
  %column = tile.expand_dims %total axis 1 : tensor<16xf32> -> tensor<16x1xf32>
  %all = tile.broadcast %column : tensor<16x1xf32> -> tensor<16x64xf32>
  %result = arith.divf %sum, %all : tensor<16x64xf32>
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <16x64xf32>
  tile.store %ao, %result : !tile.access<16x64xf32>, tensor<16x64xf32>
  tile.return
}

// A sum over rows takes those that are added as what changes nothing.
// CHECK-LABEL: tile.kernel @summed
// CHECK: tile.dot {{.*}} -> tensor<64x64xf32>
// CHECK: %[[ROWS:.*]] = tile.range 0 to 64 : tensor<64xi32>
// CHECK: %[[THERE:.*]] = arith.cmpi slt, %[[ROWS]], %{{.*}} : tensor<64xi32>
// CHECK: %[[MASK:.*]] = tile.broadcast %{{.*}} : tensor<64x1xi1> -> tensor<64x64xi1>
// CHECK: %[[SUMMED:.*]] = arith.select %[[MASK]]
// CHECK: tile.reduce %[[SUMMED]] axis 0
tile.kernel @summed(%q: !tile.ptr<f16>, %v: !tile.ptr<f16>, %o: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.0> : tensor<16x64xf32>
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <16x64xf16>
  %tq = tile.load %aq : !tile.access<16x64xf16> -> tensor<16x64xf16>
  %sum = scf.for %i = %i0 to %n step %i64 iter_args(%acc = %zeros) -> (tensor<16x64xf32>) : i32 {
    %w = arith.extsi %i : i32 to i64
    %at = arith.muli %w, %c64 : i64
    %av = tile.access %v, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %tq, %tv, %acc : tensor<16x64xf16>, tensor<64x64xf16> -> tensor<16x64xf32>
    scf.yield %next : tensor<16x64xf32>
  }
  %line = tile.reduce %sum axis 0 {
  ^bb0(%a: f32, %b: f32):
    %x = arith.addf %a, %b : f32
    tile.yield %x : f32
  } : tensor<16x64xf32> -> tensor<64xf32>
  %ao = tile.access %o, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <64xf32>
  tile.store %ao, %line : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}

// A dimension of few rows that another product sums over: what is computed is 0 behind it.
// CHECK-LABEL: tile.kernel @backward
// CHECK: %[[S:.*]] = tile.dot {{.*}} : tensor<64x64xf16>, tensor<64x16xf16> -> tensor<64x16xf32>
// CHECK: %[[W:.*]] = math.exp %[[S]] : tensor<64x16xf32>
// CHECK: %[[T:.*]] = tile.permute
// CHECK: %[[LEFT:.*]] = arith.select %{{.*}}, %[[T]], %{{.*}} : tensor<16x64xi1>, tensor<16x64xf32>
// CHECK: tile.dot %[[LEFT]], %{{.*}}, {{.*}} : tensor<16x64xf32>, tensor<64x64xf16> -> tensor<16x64xf32>
tile.kernel @backward(%q: !tile.ptr<f16>, %k: !tile.ptr<f16>, %o: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i32 = arith.constant 32 : i32
  %scores = arith.constant dense<0.0> : tensor<32x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x64xf32>
  %aq = tile.access %q, %c0 steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x16xf16>
  %tq = tile.load %aq : !tile.access<64x16xf16> -> tensor<64x16xf16>
  %sum = scf.for %i = %i0 to %n step %i32 iter_args(%acc = %zeros) -> (tensor<16x64xf32>) : i32 {
    %w = arith.extsi %i : i32 to i64
    %at = arith.muli %w, %c64 : i64
    %ak = tile.access %k, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <32x64xf16>
    %tk = tile.load %ak : !tile.access<32x64xf16> -> tensor<32x64xf16>
    %s = tile.dot %tk, %tq, %scores : tensor<32x64xf16>, tensor<64x16xf16> -> tensor<32x16xf32>
    %e = math.exp %s : tensor<32x16xf32>
    %t = tile.permute %e [1, 0] : tensor<32x16xf32> -> tensor<16x32xf32>
    %next = tile.dot %t, %tk, %acc : tensor<16x32xf32>, tensor<32x64xf16> -> tensor<16x64xf32>
    scf.yield %next : tensor<16x64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <16x64xf32>
  tile.store %ao, %sum : !tile.access<16x64xf32>, tensor<16x64xf32>
  tile.return
}

// Columns are fewer that are missing: 128 of them are rows of the turned product, and what the first product sums over has as many, of which the
// last are loaded as 0.
// CHECK-LABEL: tile.kernel @few_rows_few_columns
// CHECK: tile.access %{{.*}} : <f16>, {{.*}} -> <128x128xf16>
// CHECK: tile.dot {{.*}} : tensor<128x128xf16>, tensor<128x32xf16> -> tensor<128x32xf32>
// CHECK: tile.dot {{.*}} : tensor<32x128xf16>, tensor<128x128xf16> -> tensor<32x128xf32>
// CHECK: tile.store {{.*}} : !tile.access<32x128xf32>, tensor<32x128xf32>
tile.kernel @few_rows_few_columns(%q: !tile.ptr<f16>, %k: !tile.ptr<f16>, %o: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c96 = arith.constant 96 : i64
  %i0 = arith.constant 0 : i32
  %i32 = arith.constant 32 : i32
  %scores = arith.constant dense<0.0> : tensor<128x32xf32>
  %zeros = arith.constant dense<0.0> : tensor<32x96xf32>
  %ak = tile.access %k, %c0 steps(%c96, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x96xf16>
  %tk = tile.load %ak : !tile.access<128x96xf16> -> tensor<128x96xf16>
  scf.for %i = %i0 to %n step %i32 : i32 {
    %w = arith.extsi %i : i32 to i64
    %at = arith.muli %w, %c96 : i64
    %aq = tile.access %q, %at steps(%c96, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <32x96xf16>
    %tq = tile.load %aq : !tile.access<32x96xf16> -> tensor<32x96xf16>
    %across = tile.permute %tq [1, 0] : tensor<32x96xf16> -> tensor<96x32xf16>
    %s = tile.dot %tk, %across, %scores : tensor<128x96xf16>, tensor<96x32xf16> -> tensor<128x32xf32>
    %h = arith.truncf %s : tensor<128x32xf32> to tensor<128x32xf16>
    %t = tile.permute %h [1, 0] : tensor<128x32xf16> -> tensor<32x128xf16>
    %y = tile.dot %t, %tk, %zeros : tensor<32x128xf16>, tensor<128x96xf16> -> tensor<32x96xf32>
    %ao = tile.access %o, %at steps(%c96, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <32x96xf32>
    tile.store %ao, %y : !tile.access<32x96xf32>, tensor<32x96xf32>
  }
  tile.return
}

// Rows of the programs that follow, where nothing but places of rows tells them apart. What the launch has no programs for is neither
// loaded, of which memory may end before the program's own bound, nor stored.
// CHECK-LABEL: tile.kernel @joined
// CHECK-SAME: block.joined = array<i64: 0, 4>
// CHECK: %[[ID:.*]] = tile.program_id 0
// CHECK: %[[FIRST:.*]] = arith.muli %[[ID]], %{{.*}} overflow<nsw> : i32
// CHECK: %[[COUNT:.*]] = tile.num_programs 0
// CHECK: %[[LEFT:.*]] = arith.subi
// CHECK: %[[THERE:.*]] = arith.muli %[[LEFT]], %{{.*}} overflow<nsw> : i64
// CHECK: %[[READ:.*]] = arith.minsi %[[END:.*]], %[[THERE]] : i64
// CHECK: tile.access %arg0, {{.*}} bounds [1, 0](%{{.*}}, %[[READ]]) : {{.*}} -> <64x64xf16>
// CHECK: tile.dot {{.*}} -> tensor<64x64xf32>
// CHECK: %[[LEAST:.*]] = arith.minsi %[[END]], %[[THERE]] : i64
// CHECK: tile.access %arg2, {{.*}} bounds [1, 0](%{{.*}}, %[[LEAST]]) : {{.*}} -> <64x64xf32>
tile.kernel @joined(%q: !tile.ptr<f16>, %v: !tile.ptr<f16>, %o: !tile.ptr<f32>, %n: i32, %m: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.0> : tensor<16x64xf32>
  %id = tile.program_id 0
  %p = arith.extsi %id : i32 to i64
  %row = arith.muli %p, %c16 overflow<nsw> : i64
  %end = arith.subi %m, %row overflow<nsw> : i64
  %first = arith.muli %row, %c64 overflow<nsw> : i64
  %aq = tile.access %q, %first steps(%c64, %c1) bounds [1, 0](%c0, %end) : <f16>, (i64, i64), (i64, i64) -> <16x64xf16>
  %tq = tile.load %aq : !tile.access<16x64xf16> -> tensor<16x64xf16>
  %sum = scf.for %i = %i0 to %n step %i64 iter_args(%acc = %zeros) -> (tensor<16x64xf32>) : i32 {
    %w = arith.extsi %i : i32 to i64
    %at = arith.muli %w, %c64 : i64
    %av = tile.access %v, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %tq, %tv, %acc : tensor<16x64xf16>, tensor<64x64xf16> -> tensor<16x64xf32>
    scf.yield %next : tensor<16x64xf32>
  }
  %ao = tile.access %o, %first steps(%c64, %c1) bounds [1, 0](%c0, %end) : <f32>, (i64, i64), (i64, i64) -> <16x64xf32>
  tile.store %ao, %sum : !tile.access<16x64xf32>, tensor<16x64xf32>
  tile.return
}

// Programs whose numbers of steps differ stay apart.
// CHECK-LABEL: tile.kernel @differ(
// CHECK-NOT: block.joined
// CHECK: tile.dot {{.*}} -> tensor<64x64xf32>
tile.kernel @differ(%q: !tile.ptr<f16>, %v: !tile.ptr<f16>, %o: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c1024 = arith.constant 1024 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.0> : tensor<16x64xf32>
  %id = tile.program_id 0
  %p = arith.extsi %id : i32 to i64
  %first = arith.muli %p, %c1024 overflow<nsw> : i64
  %aq = tile.access %q, %first steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <16x64xf16>
  %tq = tile.load %aq : !tile.access<16x64xf16> -> tensor<16x64xf16>
  %until = arith.muli %id, %i64 : i32
  %sum = scf.for %i = %i0 to %until step %i64 iter_args(%acc = %zeros) -> (tensor<16x64xf32>) : i32 {
    %w = arith.extsi %i : i32 to i64
    %at = arith.muli %w, %c64 : i64
    %av = tile.access %v, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %tq, %tv, %acc : tensor<16x64xf16>, tensor<64x64xf16> -> tensor<16x64xf32>
    scf.yield %next : tensor<16x64xf32>
  }
  %ao = tile.access %o, %first steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <16x64xf32>
  tile.store %ao, %sum : !tile.access<16x64xf32>, tensor<16x64xf32>
  tile.return
}
