// NEON's register tile of a product: 13 x 8 of 32 registers, an element of A times vectors of B by one instruction, no spills in the loop.
// RUN: tilery-translate --disjoint --target=aarch64-neon --print=plan %S/../matmul/tileon.mlir | FileCheck %s --check-prefix=PLAN
// RUN: tilery-translate --disjoint --target=aarch64-neon --print=llvm %S/../matmul/tileon.mlir | FileCheck %s --check-prefix=LLVM
// RUN: tilery-translate --disjoint --target=aarch64-neon --print=asm %S/../matmul/tileon.mlir | FileCheck %s --check-prefix=ASM

// PLAN: tile.contract {{.*}}: 13x8, K 32

// LLVM: target triple = "aarch64-unknown-linux-gnu"
// LLVM-NOT: x86

// ASM: tilery.dot.float.13x8.u4:
// ASM: ldp{{.*}}q{{[0-9]+}}, q{{[0-9]+}}, [x1]
// ASM: fmla{{.*}}v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v{{[0-9]+}}.s[0]
// ASM-NOT: Folded
// ASM: b.lt
