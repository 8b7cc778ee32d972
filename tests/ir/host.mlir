// RUN: tilery-opt %s | tilery-opt | FileCheck %s
tile.kernel @copy(%x: !tile.ptr<f32, const>, %y: !tile.ptr<f32>, %n: i64) {
  tile.return
}
tile.kernel @nothing() {
  tile.return
}
// CHECK: tile.host @call(%{{.*}}: !tile.tensor_arg<2xf32> {tile.name = "x"}, %{{.*}}: i64) -> !tile.tensor_arg<1xf32>
tile.host @call(%x: !tile.tensor_arg<2xf32> {tile.name = "x"}, %n: i64) -> !tile.tensor_arg<1xf32> {
  // CHECK: tile.host_extent %{{.*}}, 0 : <2xf32>
  %rows = tile.host_extent %x, 0 : !tile.tensor_arg<2xf32>
  // CHECK: tile.host_stride %{{.*}}, 1 : <2xf32>
  %stride = tile.host_stride %x, 1 : !tile.tensor_arg<2xf32>
  // CHECK: tile.host_check %{{.*}} equals %{{.*}}, "x has {0} rows, expected {1}"
  tile.host_check %rows equals %n, "x has {0} rows, expected {1}"
  // CHECK: tile.host_empty[%{{.*}}] : <1xf32>
  %y = tile.host_empty[%rows] : !tile.tensor_arg<1xf32>
  %w = tile.host_empty[%rows] {workspace} : !tile.tensor_arg<1xf32>
  // CHECK: tile.host_pointer
  %px = tile.host_pointer %x : !tile.tensor_arg<2xf32> -> !tile.ptr<f32>
  %py = tile.host_pointer %y : !tile.tensor_arg<1xf32> -> !tile.ptr<f32>
  // CHECK: tile.launch @copy grid(%{{.*}}, %{{.*}}) args(%{{.*}}, %{{.*}}, %{{.*}})
  tile.launch @copy grid(%rows, %n) args(%px, %py, %n) : !tile.ptr<f32>, !tile.ptr<f32>, i64
  // CHECK: tile.return %{{.*}} : !tile.tensor_arg<1xf32>
  tile.return %y : !tile.tensor_arg<1xf32>
}
