// RUN: tilery-opt %s | tilery-opt | FileCheck %s
// CHECK-LABEL: tile.kernel @empty()
tile.kernel @empty() {
  tile.return
}
// CHECK: tile.kernel @coordinates(%{{.*}}: !tile.ptr<f32> {tile.divisibility = 16 : i64, tile.name = "x"}, %{{.*}}: i64, %{{.*}}: f16)
tile.kernel @coordinates(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64, tile.name = "x"}, %n: i64, %a: f16) {
  // CHECK: tile.program_id 0
  %0 = tile.program_id 0
  // CHECK: tile.program_id 2
  %1 = tile.program_id 2
  // CHECK: tile.num_programs 1
  %2 = tile.num_programs 1
  tile.return
}
