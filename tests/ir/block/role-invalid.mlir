// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{holds roles, not arith.addi}}
  block.roles {
    %y = arith.addi %x, %x : i32
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{needs a role}}
  block.roles {
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{needs 98304 registers, a block has 65536}}
  block.roles {
    block.role @a warps 4 registers 24 {
    }
    block.role @b warps 4 registers 248 instances 3 {
    }
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{has 36 warps, a block has at most 32}}
  block.roles {
    block.role @a warps 12 instances 3 {
    }
  }
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<64x64xbf16>) {
  block.roles {
    block.role @load warps 1 {
    }
    // expected-error @+1 {{multiplies in whole warpgroups, but has warps 1 to 4}}
    block.role @math warps 4 {
      %c = block.none : !block.pending<tensor<64x64xf32>>
      %d = block.mma_start %c, %a, %a : !block.pending<tensor<64x64xf32>>, !block.shared<64x64xbf16>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32>>
      %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
    }
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  block.roles {
    block.role @a warps 1 {
      block.programs grid {
      ^bb0(%i: i32, %j: i32, %k: i32):
      }
    }
    // expected-error @+1 {{runs the programs in another order than the roles before it}}
    block.role @b warps 1 {
      block.programs grouped by 8 {
      ^bb0(%i: i32, %j: i32, %k: i32):
      }
    }
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  block.roles {
  // expected-error @+1 {{has a multiple of 8 registers a thread, from 24 to 248, not 100}}
    block.role @a warps 1 registers 100 {
    }
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  block.roles {
  // expected-error @+1 {{needs a region without arguments, or with the number of the instance, an i32}}
    block.role @a warps 1 {
    ^bb0(%i: i64):
    }
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  block.roles {
  // expected-error @+1 {{yields nothing}}
    block.role @a warps 1 {
      block.yield %x : i32
    }
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{needs a region of three i32, the program's coordinates, and the carried values}}
  block.programs grid {
  ^bb0(%i: i32):
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{needs a region that yields the carried values}}
  %r = block.programs grid iter(%x : i32) {
  ^bb0(%i: i32, %j: i32, %k: i32, %c: i32):
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{needs the number of rows of a group for order `grouped`, and for no other}}
  block.programs grid by 8 {
  ^bb0(%i: i32, %j: i32, %k: i32):
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  block.programs grid {
  ^bb0(%i: i32, %j: i32, %k: i32):
  // expected-error @+1 {{cannot stand inside another `programs`}}
    block.programs grid {
    ^bb0(%l: i32, %m: i32, %o: i32):
    }
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  %b = block.baton
  // expected-error @+1 {{holds the others up while it waits: block.sync inside, where only block.take and block.mma_settle may wait}}
  block.turn %b {
    block.sync
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  %b = block.baton
  // expected-error @+1 {{needs a region that yields its results}}
  %r = block.turn %b {
    block.yield
  } : i32
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  block.roles {
    block.role @a warps 1 {
    }
  }
  // expected-error @+1 {{stands in a role where the kernel has roles}}
  block.sync
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{needs a kernel with `block.cluster` of 2 or more}}
  block.cluster_sync
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{needs a kernel with `block.cluster` of 2 or more}}
  %r = block.cluster_rank
  tile.return
}
// -----
tile.kernel @k(%n: i32, %rows: i1) {
  // expected-error @+1 {{is told how programs run over tiles, which order `grid` does not ask for}}
  block.programs grid order(%n, %rows, %n) {
  ^bb0(%x: i32, %y: i32, %z: i32):
    block.yield
  }
  tile.return
}
// -----
tile.kernel @k() {
  block.roles {
    block.role @one warps 4 {
      // expected-error @+1 {{stands in a role that is made of so many warps, several times}}
      block.sync warps 3
    }
  }
  tile.return
}
// -----
tile.kernel @k(%some: i1, %n: i32) {
  block.programs grid {
  ^bb0(%x: i32, %y: i32, %z: i32):
    // expected-error @+1 {{expects parent op 'tile.kernel'}}
    block.return_if %some
    block.yield
  }
  tile.return
}
