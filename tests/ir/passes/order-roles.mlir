// RUN: tilery-opt %s --order-roles --canonicalize --cse --split-input-file | FileCheck %s

// Loops over the same range are executed turn by turn; every wait is over when it is reached, so that barriers go.
// CHECK-LABEL: tile.kernel @turn_by_turn
// CHECK-NOT:     tile.roles
// CHECK-NOT:     tile.barrier
// CHECK:         scf.for
// CHECK:           %[[IN:.*]] = tile.load
// CHECK:           tile.buffer_store %{{.*}}, %[[IN]]
// CHECK:           %[[OUT:.*]] = tile.buffer_load
// CHECK:           tile.store %{{.*}}, %[[OUT]]
// CHECK-NOT:     scf.for
// CHECK:         tile.return
tile.kernel @turn_by_turn(%in: !tile.ptr<f32>, %out: !tile.ptr<f32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %eight = arith.constant 8 : i32
  %step = arith.constant 1 : i64
  %n = arith.constant 32 : i64
  %c4 = arith.constant 4 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [128] : !tile.barrier<1>
  %empty = tile.barrier_alloc [128] : !tile.barrier<1>
  %from = tile.root %in[%n] strides [%step] : !tile.ptr<f32> -> !tile.root<1xf32>
  %to = tile.root %out[%n] strides [%step] : !tile.ptr<f32> -> !tile.root<1xf32>
  tile.roles [128, 128] {
    scf.for %k = %zero to %eight step %one : i32 {
      %next = arith.addi %k, %one : i32
      %parity = tile.rem floor %next, %two : i32
      tile.barrier_wait %empty[%zero], %parity : !tile.barrier<1>, i32, i32
      %at = arith.muli %k, %c4 : i32
      %wide = arith.extsi %at : i32 to i64
      %v = tile.view %from[%wide] dims [0] dilations [%step] limits [] : !tile.root<1xf32> -> !tile.view<4xf32>
      %t = tile.load %v : !tile.view<4xf32> -> tensor<4xf32>
      tile.buffer_store %buffer, %t : !tile.buffer<4xf32, shared>, tensor<4xf32>
      tile.barrier_arrive %full[%zero] {count = 128} : !tile.barrier<1>, i32
    }
  }, {
    scf.for %k = %zero to %eight step %one : i32 {
      %parity = tile.rem floor %k, %two : i32
      tile.barrier_wait %full[%zero], %parity : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      %at = arith.muli %k, %c4 : i32
      %wide = arith.extsi %at : i32 to i64
      %v = tile.view %to[%wide] dims [0] dilations [%step] limits [] : !tile.root<1xf32> -> !tile.view<4xf32>
      tile.store %v, %t : !tile.view<4xf32>, tensor<4xf32>
      tile.barrier_arrive %empty[%zero] {count = 128} : !tile.barrier<1>, i32
    }
  }
  tile.return
}

// -----

// A variable that was written in front of roles is a number in all of them: their loops end at one end, which only the launch knows.
// CHECK-LABEL: tile.kernel @counted_before
// CHECK-SAME:      %[[N:[a-z0-9]+]]: i32
// CHECK-NOT:     tile.roles
// CHECK-NOT:     tile.barrier
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[N]] step
// CHECK:           tile.buffer_store
// CHECK:           tile.buffer_load
// CHECK-NOT:     scf.for
// CHECK:         tile.return
tile.kernel @counted_before(%in: !tile.access<4xf32>, %out: !tile.access<4xf32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %count = tile.alloc : !tile.buffer<1xi32, local>
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [128] : !tile.barrier<1>
  %empty = tile.barrier_alloc [128] : !tile.barrier<1>
  tile.element_store %count[%zero], %n : !tile.buffer<1xi32, local>, (i32), i32
  tile.roles [128, 128] {
    %turns = tile.element_load %count[%zero] : !tile.buffer<1xi32, local>, i32 -> i32
    scf.for %k = %zero to %turns step %one : i32 {
      %next = arith.addi %k, %one : i32
      %parity = tile.rem floor %next, %two : i32
      tile.barrier_wait %empty[%zero], %parity : !tile.barrier<1>, i32, i32
      %t = tile.load %in : !tile.access<4xf32> -> tensor<4xf32>
      tile.buffer_store %buffer, %t : !tile.buffer<4xf32, shared>, tensor<4xf32>
      tile.barrier_arrive %full[%zero] {count = 128} : !tile.barrier<1>, i32
    }
  }, {
    %turns = tile.element_load %count[%zero] : !tile.buffer<1xi32, local>, i32 -> i32
    scf.for %k = %zero to %turns step %one : i32 {
      %parity = tile.rem floor %k, %two : i32
      tile.barrier_wait %full[%zero], %parity : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.store %out, %t : !tile.access<4xf32>, tensor<4xf32>
      tile.barrier_arrive %empty[%zero] {count = 128} : !tile.barrier<1>, i32
    }
  }
  tile.return
}

// -----

// A variable that a role writes stays one.
// CHECK-LABEL: tile.kernel @counted_inside
// CHECK:         tile.element_load
// CHECK:         tile.return
tile.kernel @counted_inside(%in: !tile.access<4xf32>, %out: !tile.access<4xf32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %count = tile.alloc : !tile.buffer<1xi32, local>
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [128] : !tile.barrier<1>
  tile.roles [128, 128] {
    %t = tile.load %in : !tile.access<4xf32> -> tensor<4xf32>
    tile.buffer_store %buffer, %t : !tile.buffer<4xf32, shared>, tensor<4xf32>
    tile.element_store %count[%zero], %n : !tile.buffer<1xi32, local>, (i32), i32
    tile.barrier_arrive %full[%zero] {count = 128} : !tile.barrier<1>, i32
  }, {
    tile.barrier_wait %full[%zero], %zero : !tile.barrier<1>, i32, i32
    %turns = tile.element_load %count[%zero] : !tile.buffer<1xi32, local>, i32 -> i32
    scf.for %k = %zero to %turns step %one : i32 {
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.store %out, %t : !tile.access<4xf32>, tensor<4xf32>
    }
  }
  tile.return
}

// -----

// The second role is first.
// CHECK-LABEL: tile.kernel @other_order
// CHECK-NOT:     tile.roles
// CHECK:         tile.buffer_store
// CHECK:         tile.buffer_load
// CHECK-NOT:     tile.barrier
tile.kernel @other_order(%out: !tile.access<4xf32>, %x: tensor<4xf32>) {
  %zero = arith.constant 0 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] : !tile.barrier<1>
  tile.roles [128, 128] {
    tile.barrier_wait %full[%zero], %zero : !tile.barrier<1>, i32, i32
    %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
    tile.store %out, %t : !tile.access<4xf32>, tensor<4xf32>
  }, {
    tile.buffer_store %buffer, %x : !tile.buffer<4xf32, shared>, tensor<4xf32>
    tile.barrier_arrive %full[%zero] : !tile.barrier<1>, i32
  }
  tile.return
}

// -----

// How many turns there are is known at run time only, but in none of them anybody waits.
// CHECK-LABEL: tile.kernel @any_number
// CHECK-NOT:     tile.roles
// CHECK-NOT:     tile.barrier
// CHECK:         scf.for
// CHECK:           tile.buffer_store
// CHECK:           tile.buffer_load
// CHECK-NOT:     tile.assert
// CHECK:         tile.return
tile.kernel @any_number(%out: !tile.access<4xf32>, %x: tensor<4xf32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] : !tile.barrier<1>
  %empty = tile.barrier_alloc [1] : !tile.barrier<1>
  tile.roles [128, 128] {
    scf.for %k = %zero to %n step %one : i32 {
      %next = arith.addi %k, %one : i32
      %parity = tile.rem floor %next, %two : i32
      tile.barrier_wait %empty[%zero], %parity : !tile.barrier<1>, i32, i32
      tile.buffer_store %buffer, %x : !tile.buffer<4xf32, shared>, tensor<4xf32>
      tile.barrier_arrive %full[%zero] : !tile.barrier<1>, i32
    }
  }, {
    scf.for %k = %zero to %n step %one : i32 {
      %parity = tile.rem floor %k, %two : i32
      tile.barrier_wait %full[%zero], %parity : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.store %out, %t : !tile.access<4xf32>, tensor<4xf32>
      tile.barrier_arrive %empty[%zero] : !tile.barrier<1>, i32
    }
  }
  tile.return
}

// -----

// Slots of a ring, and a branch that the last turn does not take.
// CHECK-LABEL: tile.kernel @slots
// CHECK-NOT:     tile.barrier
// CHECK:         scf.for
// CHECK-NOT:     tile.assert
// CHECK:         tile.return
tile.kernel @slots(%out: !tile.access<4xf32>, %x: tensor<4xf32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1, 1, 1] : !tile.barrier<3>
  %empty = tile.barrier_alloc [1, 1, 1] : !tile.barrier<3>
  tile.roles [128, 128] {
    scf.for %k = %zero to %n step %one : i32 {
      %slot = tile.rem floor %k, %three : i32
      %round = tile.div floor %k, %three : i32
      %odd = arith.andi %round, %one : i32
      %parity = arith.xori %odd, %one : i32
      tile.barrier_wait %empty[%slot], %parity : !tile.barrier<3>, i32, i32
      tile.buffer_store %buffer, %x : !tile.buffer<4xf32, shared>, tensor<4xf32>
      tile.barrier_arrive %full[%slot] : !tile.barrier<3>, i32
    }
  }, {
    scf.for %k = %zero to %n step %one : i32 {
      %slot = tile.rem floor %k, %three : i32
      %round = tile.div floor %k, %three : i32
      %parity = arith.andi %round, %one : i32
      tile.barrier_wait %full[%slot], %parity : !tile.barrier<3>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.store %out, %t : !tile.access<4xf32>, tensor<4xf32>
      %last = arith.subi %n, %one overflow<nsw> : i32
      %goes = arith.cmpi ne, %k, %last : i32
      scf.if %goes {
        tile.barrier_arrive %empty[%slot] : !tile.barrier<3>, i32
      }
    }
  }
  tile.return
}

// -----

// A parity that is wrong from the fortieth turn on only: a few turns do not show it.
// CHECK-LABEL: tile.kernel @late
// CHECK:         scf.while
tile.kernel @late(%out: !tile.access<4xf32>, %x: tensor<4xf32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %forty = arith.constant 40 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] : !tile.barrier<1>
  tile.roles [128, 128] {
    scf.for %k = %zero to %n step %one : i32 {
      tile.buffer_store %buffer, %x : !tile.buffer<4xf32, shared>, tensor<4xf32>
      tile.barrier_arrive %full[%zero] : !tile.barrier<1>, i32
    }
  }, {
    scf.for %k = %zero to %n step %one : i32 {
      %round = tile.div floor %k, %forty : i32
      %turned = arith.addi %round, %k overflow<nsw> : i32
      %parity = arith.andi %turned, %one : i32
      tile.barrier_wait %full[%zero], %parity : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.store %out, %t : !tile.access<4xf32>, tensor<4xf32>
    }
  }
  tile.return
}

// -----

// Nobody arrives in the tenth turn.
// CHECK-LABEL: tile.kernel @in_the_middle
// CHECK:         scf.while
tile.kernel @in_the_middle(%out: !tile.access<4xf32>, %x: tensor<4xf32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %nine = arith.constant 9 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] : !tile.barrier<1>
  tile.roles [128, 128] {
    scf.for %k = %zero to %n step %one : i32 {
      %is = arith.cmpi ne, %k, %nine : i32
      scf.if %is {
        tile.buffer_store %buffer, %x : !tile.buffer<4xf32, shared>, tensor<4xf32>
        tile.barrier_arrive %full[%zero] : !tile.barrier<1>, i32
      }
    }
  }, {
    scf.for %k = %zero to %n step %one : i32 {
      %parity = arith.andi %k, %one : i32
      tile.barrier_wait %full[%zero], %parity : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.store %out, %t : !tile.access<4xf32>, tensor<4xf32>
    }
  }
  tile.return
}

// -----

// Each hands the other something within a turn, so that neither can go first: their pieces between waits take turns, also those in a branch.
// CHECK-LABEL: tile.kernel @to_and_fro
// CHECK-NOT:     tile.roles
// CHECK-NOT:     tile.barrier
// CHECK:         scf.for
// CHECK:           tile.buffer_store %[[MINE:.*]], %{{.*}}
// CHECK:           %[[READ:.*]] = tile.buffer_load %[[MINE]]
// CHECK:           tile.buffer_store %[[OTHER:.*]], %[[READ]]
// CHECK:           scf.if
// CHECK-NEXT:        %[[BACK:.*]] = tile.buffer_load %[[OTHER]]
// CHECK:             tile.store %{{.*}}, %[[BACK]]
// CHECK-NOT:     scf.for
// CHECK:         tile.return
tile.kernel @to_and_fro(%out: !tile.access<4xf32>, %x: tensor<4xf32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %mine = tile.alloc : !tile.buffer<4xf32, shared>
  %other = tile.alloc : !tile.buffer<4xf32, shared>
  %there = tile.barrier_alloc [128] : !tile.barrier<1>
  %back = tile.barrier_alloc [128] : !tile.barrier<1>
  tile.roles [128, 128] {
    scf.for %k = %zero to %n step %one : i32 {
      %parity = tile.rem floor %k, %two : i32
      tile.buffer_store %mine, %x : !tile.buffer<4xf32, shared>, tensor<4xf32>
      tile.barrier_arrive %there[%zero] {count = 128} : !tile.barrier<1>, i32
      %last = arith.subi %n, %one : i32
      %more = arith.cmpi slt, %k, %last : i32
      scf.if %more {
        tile.barrier_wait %back[%zero], %parity : !tile.barrier<1>, i32, i32
        %t = tile.buffer_load %other : !tile.buffer<4xf32, shared> -> tensor<4xf32>
        tile.store %out, %t : !tile.access<4xf32>, tensor<4xf32>
      }
    }
  }, {
    scf.for %k = %zero to %n step %one : i32 {
      %parity = tile.rem floor %k, %two : i32
      tile.barrier_wait %there[%zero], %parity : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %mine : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.buffer_store %other, %t : !tile.buffer<4xf32, shared>, tensor<4xf32>
      tile.barrier_arrive %back[%zero] {count = 128} : !tile.barrier<1>, i32
    }
  }
  tile.return
}

// -----

// Data decide whether somebody arrives: roles take turns, barriers count, and roles that all wait stop the launch.
// CHECK-LABEL: tile.kernel @at_run_time
// CHECK-NOT:     tile.roles
// CHECK:         scf.while
// CHECK:           tile.assert %{{.*}}, "the barrier of line {{[0-9]+}} gets more arrivals than its phase lacks"
// CHECK:           tile.assert %{{.*}}, "role 0 waits for ever for the barrier of line {{[0-9]+}}, which nobody completes"
// CHECK:           tile.assert %{{.*}}, "role 1 waits for ever for the barrier of line {{[0-9]+}}, which nobody completes"
// CHECK-NOT:     tile.barrier
tile.kernel @at_run_time(%out: !tile.access<4xf32>, %x: tensor<4xf32>, %n: i32, %flag: i1) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %buffer = tile.alloc : !tile.buffer<4xf32, shared>
  %full = tile.barrier_alloc [1] : !tile.barrier<1>
  %empty = tile.barrier_alloc [1] : !tile.barrier<1>
  tile.roles [128, 128] {
    scf.for %k = %zero to %n step %one : i32 {
      %next = arith.addi %k, %one : i32
      %parity = tile.rem floor %next, %two : i32
      tile.barrier_wait %empty[%zero], %parity : !tile.barrier<1>, i32, i32
      tile.buffer_store %buffer, %x : !tile.buffer<4xf32, shared>, tensor<4xf32>
      tile.barrier_arrive %full[%zero] : !tile.barrier<1>, i32
    }
  }, {
    scf.for %k = %zero to %n step %one : i32 {
      %parity = tile.rem floor %k, %two : i32
      tile.barrier_wait %full[%zero], %parity : !tile.barrier<1>, i32, i32
      %t = tile.buffer_load %buffer : !tile.buffer<4xf32, shared> -> tensor<4xf32>
      tile.store %out, %t : !tile.access<4xf32>, tensor<4xf32>
      scf.if %flag {
        tile.barrier_arrive %empty[%zero] : !tile.barrier<1>, i32
      }
    }
  }
  tile.return
}

// -----

// Without roles there is one thread of control: what it waits for must have come.
// CHECK-LABEL: tile.kernel @alone
// CHECK-NOT:     tile.barrier
// CHECK-NOT:     tile.assert
// CHECK:         tile.return
tile.kernel @alone() {
  %zero = arith.constant 0 : i32
  %b = tile.barrier_alloc [128, 128] : !tile.barrier<2>
  tile.barrier_arrive %b[%zero] {count = 128} : !tile.barrier<2>, i32
  tile.barrier_wait %b[%zero], %zero : !tile.barrier<2>, i32, i32
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @waits_for_ever
// CHECK:         tile.assert %{{.*}}, "waits for ever for the barrier of line {{[0-9]+}}, which nobody completes"
tile.kernel @waits_for_ever() {
  %zero = arith.constant 0 : i32
  %b = tile.barrier_alloc [128] : !tile.barrier<1>
  tile.barrier_wait %b[%zero], %zero : !tile.barrier<1>, i32, i32
  tile.return
}

// -----

// Threads that all arrive and all wait meet.
// CHECK-LABEL: tile.kernel @threads
// CHECK:         tile.threads 64
// CHECK-NOT:     tile.barrier
// CHECK:           tile.sync
// CHECK-NOT:     tile.barrier
tile.kernel @threads(%out: !tile.access<i32>) {
  %zero = arith.constant 0 : i32
  %b = tile.barrier_alloc [64] : !tile.barrier<1>
  tile.threads 64 {
  ^bb0(%t: i32):
    tile.barrier_arrive %b[%zero] : !tile.barrier<1>, i32
    tile.barrier_wait %b[%zero], %zero : !tile.barrier<1>, i32, i32
    tile.store %out, %t : !tile.access<i32>, i32
  }
  tile.return
}
