// Plans of CPUs say how each nest is walked and how lanes of memory are moved: what its code has become.
// RUN: tilery-translate --target=avx2 --print=plan %S/row-reduction.mlir | FileCheck %s --check-prefix=ROWS
// RUN: tilery-translate --target=avx2 --print=plan %S/gpu-picks.mlir | FileCheck %s --check-prefix=COLUMNS
// RUN: tilery-translate --target=avx2 --print=plan %S/turned-factor.mlir | FileCheck %s --check-prefix=SQUARES
// RUN: tilery-translate --target=avx2 --print=plan %S/factors-of-rows.mlir | FileCheck %s --check-prefix=SEGMENTS
// RUN: tilery-translate --target=avx2 --print=plan %S/waits-before-loops.mlir | FileCheck %s --check-prefix=SHORT
// RUN: tilery-translate --target=avx2 --print=plan %S/uneven-turns.mlir | FileCheck %s --check-prefix=APART

// ROWS: nest 1024: in vectors of 8, along rows, reads contiguous{{$}}
// COLUMNS: nest 512 64: in vectors of 8, down columns, reads contiguous{{$}}
// SQUARES: nest 128 24: in vectors of 8, squares{{$}}
// SEGMENTS: nest 512: in vectors of 8, segments, reads contiguous{{$}}
// SHORT: nest 32 4: in vectors of 8, through rows{{$}}
// APART: nest 30001: in vectors of 4, reads one by one{{$}}
// APART: nest 30001: in vectors of 4, writes scattered{{$}}
