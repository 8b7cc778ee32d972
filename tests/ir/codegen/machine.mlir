// What asks the machine: by the runtime on a CPU; on a GPU by the block's first thread, for all of them.
// RUN: tilery-translate --target=avx512 --print=llvm %s | FileCheck %s --check-prefix=CPU
// RUN: tilery-translate --target=sm_90a --print=asm %s | FileCheck %s --check-prefix=GPU

// CPU: call i64 @tilery_rt_clock()
// CPU: call i32 @tilery_rt_thread()
// CPU: call i64 @tilery_rt_clock()
// GPU: mov.u64 {{.*}}, %globaltimer;
// GPU: st.shared
// GPU: bar.sync
// GPU: ld.shared
// GPU: mov.u32 {{.*}}, %smid;
// GPU: mov.u64 {{.*}}, %globaltimer;
tile.kernel @k(%t: !tile.ptr<i64>, %p: !tile.ptr<i32>) {
  %at = tile.pointer_access %t : !tile.ptr<i64> -> <i64>
  %ap = tile.pointer_access %p : !tile.ptr<i32> -> <i32>
  %a = tile.clock
  %where = tile.processor
  tile.store %ap, %where : !tile.access<i32>, i32
  %b = tile.clock
  %d = arith.subi %b, %a : i64
  tile.store %at, %d : !tile.access<i64>, i64
  tile.return
}
