// Kernels that exercise every op of the tile IR, against the oracle.
#include "differential.h"

using namespace tilery;
using namespace tilery::test;

namespace {
// Text of a strided access to a whole R x C array behind an argument.
std::string access(const std::string &name, const std::string &pointer, const std::string &type, int rows, int cols,
                   const std::string &mut = "") {
  std::string shape = rows ? std::to_string(rows) + "x" + std::to_string(cols) : std::to_string(cols);
  std::string s = "  %" + name + "_z = arith.constant 0 : i64\n  %" + name + "_one = arith.constant 1 : i64\n";
  if (rows)
    s += "  %" + name + "_row = arith.constant " + std::to_string(cols) + " : i64\n";
  s += "  %" + name + " = tile.access %" + pointer + ", %" + name + "_z steps(" + (rows ? "%" + name + "_row, " : "") + "%" +
       name + "_one) bounds [" + (rows ? "0, 0" : "0") + "] () : !tile.ptr<" + type + mut + ">, (" + (rows ? "i64, i64" : "i64") +
       "), () -> !tile.access<" + shape + "x" + type + ">\n";
  return s;
}
std::string tensor(int rows, int cols, const std::string &type) {
  return "tensor<" + (rows ? std::to_string(rows) + "x" : "") + std::to_string(cols) + "x" + type + ">";
}
std::string load(const std::string &name, const std::string &place, int rows, int cols, const std::string &type) {
  std::string shape = (rows ? std::to_string(rows) + "x" : "") + std::to_string(cols) + "x" + type;
  return "  %" + name + " = tile.load %" + place + " : !tile.access<" + shape + "> -> tensor<" + shape + ">\n";
}
std::string store(const std::string &place, const std::string &value, int rows, int cols, const std::string &type) {
  std::string shape = (rows ? std::to_string(rows) + "x" : "") + std::to_string(cols) + "x" + type;
  return "  tile.store %" + place + ", %" + value + " : !tile.access<" + shape + ">, tensor<" + shape + ">\n";
}
std::string kernel(const std::string &args, const std::string &body) {
  return "tile.kernel @k(" + args + ") {\n" + body + "  tile.return\n}\n";
}
std::string unaryKernel(int rows, int cols, const std::string &in, const std::string &out, const std::string &body, int outRows,
                        int outCols) {
  return kernel("%x: !tile.ptr<" + in + ">, %o: !tile.ptr<" + out + ">",
                access("xa", "x", in, rows, cols) + load("v", "xa", rows, cols, in) + body +
                    access("oa", "o", out, outRows, outCols) + store("oa", "r", outRows, outCols, out));
}
} // namespace

TEST(CpuDifferential, ReduceLastAxis) {
  for (int cols : {1, 2, 3, 7, 8, 40, 63, 64, 65, 100, 128, 333})
    for (const char *type : {"f32", "f64", "bf16", "f16"}) {
      std::string t = type;
      std::string body = "  %r = tile.reduce %v axis 1 {\n  ^bb0(%a: " + t + ", %b: " + t +
                         "):\n    %s = arith.addf %a, %b : " + t + "\n    tile.yield %s : " + t +
                         "\n  } : " + tensor(3, cols, t) + " -> " + tensor(0, 3, t) + "\n";
      SCOPED_TRACE(t + " " + std::to_string(cols));
      differential(unaryKernel(3, cols, t, t, body, 0, 3), 1, {{t, size_t(3 * cols)}, {t, 3}});
      if (HasFatalFailure())
        return;
    }
}

TEST(CpuDifferential, ArgMaxTwoOperands) {
  for (int cols : {5, 64, 100, 200}) {
    std::string n = std::to_string(cols);
    std::string body =
        "  %i = tile.range 0 to " + n + " : tensor<" + n + "xi32>\n  %e = tile.expand_dims %i axis 0 : tensor<" + n +
        "xi32> -> tensor<1x" + n + "xi32>\n  %ib = tile.broadcast %e : tensor<1x" + n + "xi32> -> tensor<4x" + n +
        "xi32>\n  %m, %r = tile.reduce %v, %ib axis 1 {\n"
        "  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):\n    %g = arith.cmpf ogt, %a, %b : f32\n    %eq = arith.cmpf oeq, %a, %b "
        ": f32\n"
        "    %lt = arith.cmpi slt, %ai, %bi : i32\n    %and = arith.andi %eq, %lt : i1\n    %or = arith.ori %g, %and : i1\n"
        "    %s = arith.select %or, %a, %b : f32\n    %si = arith.select %or, %ai, %bi : i32\n    tile.yield %s, %si : f32, "
        "i32\n  } : tensor<4x" +
        n + "xf32>, tensor<4x" + n + "xi32> -> tensor<4xf32>, tensor<4xi32>\n";
    differential(unaryKernel(4, cols, "f32", "i32", body, 0, 4), 1, {{"f32", size_t(4 * cols)}, {"i32", 4}});
  }
}

TEST(CpuDifferential, ReduceFirstAxisAndScan) {
  for (int cols : {1, 5, 8, 19, 64}) {
    std::string in = tensor(7, cols, "f32"), out = tensor(0, cols, "f32");
    differential(unaryKernel(7, cols, "f32", "f32",
                             "  %r = tile.reduce %v axis 0 {\n  ^bb0(%a: f32, %b: f32):\n    %s = arith.addf %a, %b : f32\n    "
                             "tile.yield %s : f32\n  } : " +
                                 in + " -> " + out + "\n",
                             0, cols),
                 1, {{"f32", size_t(7 * cols)}, {"f32", size_t(cols)}});
    for (int axis : {0, 1})
      for (const char *reverse : {"", " {reverse}"})
        differential(
            unaryKernel(7, cols, "f32", "f32",
                        "  %r = tile.scan %v axis " + std::to_string(axis) +
                            " {\n  ^bb0(%a: f32, %b: f32):\n    %s = arith.addf %a, %b : f32\n    tile.yield %s : f32\n  }" +
                            reverse + " : " + in + " -> " + in + "\n",
                        7, cols),
            1, {{"f32", size_t(7 * cols)}, {"f32", size_t(7 * cols)}});
  }
}

TEST(CpuDifferential, Shapes) {
  // reshape across rows, permute, cat, join, split, take, sort, histogram
  differential(unaryKernel(6, 10, "f32", "f32", "  %r = tile.reshape %v : tensor<6x10xf32> -> tensor<4x15xf32>\n", 4, 15), 1,
               {{"f32", 60}, {"f32", 60}});
  differential(unaryKernel(8, 32, "f32", "f32", "  %r = tile.reshape %v : tensor<8x32xf32> -> tensor<16x16xf32>\n", 16, 16), 1,
               {{"f32", 256}, {"f32", 256}});
  differential(unaryKernel(6, 10, "i16", "i16", "  %r = tile.permute %v [1, 0] : tensor<6x10xi16> -> tensor<10x6xi16>\n", 10, 6),
               1, {{"i16", 60}, {"i16", 60}});
  differential(unaryKernel(5, 9, "f32", "f32",
                           "  %w = arith.mulf %v, %v : tensor<5x9xf32>\n  %r = tile.cat %v, %w axis 1 : tensor<5x9xf32>, "
                           "tensor<5x9xf32> -> tensor<5x18xf32>\n",
                           5, 18),
               1, {{"f32", 45}, {"f32", 90}});
  differential(unaryKernel(5, 9, "f32", "f32",
                           "  %w = arith.mulf %v, %v : tensor<5x9xf32>\n  %r = tile.cat %v, %w axis 0 : tensor<5x9xf32>, "
                           "tensor<5x9xf32> -> tensor<10x9xf32>\n",
                           10, 9),
               1, {{"f32", 45}, {"f32", 90}});
  differential(unaryKernel(0, 20, "f32", "f32",
                           "  %w = arith.mulf %v, %v : tensor<20xf32>\n  %r = tile.join %v, %w : tensor<20xf32>, tensor<20xf32> "
                           "-> tensor<20x2xf32>\n",
                           20, 2),
               1, {{"f32", 20}, {"f32", 40}});
  differential(unaryKernel(20, 2, "f32", "f32",
                           "  %a, %b = tile.split %v : tensor<20x2xf32> -> tensor<20xf32>, tensor<20xf32>\n  %r = arith.subf %a, "
                           "%b : tensor<20xf32>\n",
                           0, 20),
               1, {{"f32", 40}, {"f32", 20}});
  differential(unaryKernel(3, 17, "f32", "f32", "  %r = tile.sort %v axis 1 : tensor<3x17xf32> -> tensor<3x17xf32>\n", 3, 17), 1,
               {{"f32", 51}, {"f32", 51}});
  differential(
      unaryKernel(3, 17, "i32", "i32", "  %r = tile.sort %v axis 0 {descending} : tensor<3x17xi32> -> tensor<3x17xi32>\n", 3, 17),
      1, {{"i32", 51, -9, 9}, {"i32", 51}});
  differential(unaryKernel(0, 100, "i32", "i32", "  %r = tile.histogram %v : tensor<100xi32> -> tensor<8xi32>\n", 0, 8), 1,
               {{"i32", 100, -2, 10}, {"i32", 8}});
  differential(unaryKernel(4, 12, "i32", "i32",
                           "  %r = tile.take %v, %v axis 1 : tensor<4x12xi32>, tensor<4x12xi32> -> tensor<4x12xi32>\n", 4, 12),
               1, {{"i32", 48, -3, 15}, {"i32", 48}});
}

TEST(CpuDifferential, IntegersAreTotal) {
  for (const char *type : {"i8", "i16", "i32", "i64"}) {
    std::string t = type, ten = tensor(0, 37, t);
    std::string args = "%x: !tile.ptr<" + t + ">, %y: !tile.ptr<" + t + ">, %o: !tile.ptr<" + t + ">";
    for (const char *op : {"tile.div trunc", "tile.div floor", "tile.div unsigned", "tile.rem trunc", "tile.rem floor",
                           "tile.rem unsigned", "tile.shift left", "tile.shift right_signed", "tile.shift right_unsigned",
                           "tile.mul_high", "arith.addi", "arith.muli", "arith.maxsi", "arith.minui", "arith.xori"}) {
      SCOPED_TRACE(t + " " + op);
      differential(kernel(args, access("xa", "x", t, 0, 37) + load("a", "xa", 0, 37, t) + access("ya", "y", t, 0, 37) +
                                    load("b", "ya", 0, 37, t) + "  %r = " + op + " %a, %b : " + ten + "\n" +
                                    access("oa", "o", t, 0, 37) + store("oa", "r", 0, 37, t)),
                   1, {{t, 37, -100, 100}, {t, 37, -3, 12}, {t, 37}});
      if (HasFatalFailure())
        return;
    }
  }
}

// Vectors divide in double: numerators at and next to multiples of large divisors.
TEST(CpuDifferential, QuotientsNextToIntegers) {
  std::string ten = tensor(0, 500, "i32");
  for (const char *op : {"tile.div trunc", "tile.div floor", "tile.div unsigned", "tile.rem trunc", "tile.rem unsigned"})
    differential(kernel("%x: !tile.ptr<i32>, %y: !tile.ptr<i32>, %z: !tile.ptr<i32>, %o: !tile.ptr<i32>",
                        access("xa", "x", "i32", 0, 500) + load("a", "xa", 0, 500, "i32") + access("ya", "y", "i32", 0, 500) +
                            load("b", "ya", 0, 500, "i32") + access("za", "z", "i32", 0, 500) + load("c", "za", 0, 500, "i32") +
                            "  %p = arith.muli %a, %b : " + ten + "\n  %n = arith.addi %p, %c : " + ten + "\n  %r = " + op +
                            " %n, %b : " + ten + "\n" + access("oa", "o", "i32", 0, 500) + store("oa", "r", 0, 500, "i32")),
                 1, {{"i32", 500, -46000, 46000}, {"i32", 500, -46000, 46000}, {"i32", 500, -1.99, 1.99}, {"i32", 500}});
}

TEST(CpuDifferential, LoopsCarryTiles) {
  // Fibonacci-like swap: both carried tiles change places every step.
  std::string body = R"(
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %w = arith.mulf %v, %v : tensor<4x33xf32>
  %a, %b, %s = scf.for %i = %c0 to %n step %c1 iter_args(%p = %v, %q = %w, %k = %c0) -> (tensor<4x33xf32>, tensor<4x33xf32>, i32) : i32 {
    %half = arith.constant dense<0.5> : tensor<4x33xf32>
    %d = arith.mulf %p, %half : tensor<4x33xf32>
    %k2 = arith.addi %k, %i : i32
    scf.yield %q, %d, %k2 : tensor<4x33xf32>, tensor<4x33xf32>, i32
  }
  %sf = arith.sitofp %s : i32 to f32
  %st = tile.splat %sf : f32 -> tensor<4x33xf32>
  %ab = arith.addf %a, %b : tensor<4x33xf32>
  %r = arith.addf %ab, %st : tensor<4x33xf32>
)";
  for (int n : {0, 1, 2, 5})
    differential(kernel("%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i32",
                        access("xa", "x", "f32", 4, 33) + load("v", "xa", 4, 33, "f32") + body + access("oa", "o", "f32", 4, 33) +
                            store("oa", "r", 4, 33, "f32")),
                 1, {{"f32", 132}, {"f32", 132}}, {n});
}

TEST(CpuDifferential, LoopCarriesTransposed) {
  std::string body = R"(
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %v) -> (tensor<16x16xf32>) : i32 {
    %t = tile.permute %p [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
    %d = arith.subf %t, %v : tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
)";
  for (int n : {0, 1, 3})
    differential(kernel("%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i32",
                        access("xa", "x", "f32", 16, 16) + load("v", "xa", 16, 16, "f32") + body +
                            access("oa", "o", "f32", 16, 16) + store("oa", "r", 16, 16, "f32")),
                 1, {{"f32", 256}, {"f32", 256}}, {n});
}

TEST(CpuDifferential, IfAndWhile) {
  std::string body = R"(
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %pos = arith.cmpi sgt, %n, %c1 : i32
  %y = scf.if %pos -> tensor<50xf32> {
    %d = arith.addf %v, %v : tensor<50xf32>
    scf.yield %d : tensor<50xf32>
  } else {
    scf.yield %v : tensor<50xf32>
  }
  %r, %m = scf.while (%p = %y, %k = %c0) : (tensor<50xf32>, i32) -> (tensor<50xf32>, i32) {
    %go = arith.cmpi slt, %k, %n : i32
    scf.condition(%go) %p, %k : tensor<50xf32>, i32
  } do {
  ^bb0(%p: tensor<50xf32>, %k: i32):
    %q = arith.mulf %p, %v : tensor<50xf32>
    %k2 = arith.addi %k, %c1 : i32
    scf.yield %q, %k2 : tensor<50xf32>, i32
  }
)";
  for (int n : {0, 1, 2, 4})
    differential(kernel("%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i32",
                        access("xa", "x", "f32", 0, 50) + load("v", "xa", 0, 50, "f32") + body + access("oa", "o", "f32", 0, 50) +
                            store("oa", "r", 0, 50, "f32")),
                 1, {{"f32", 50}, {"f32", 50}}, {n});
}

TEST(CpuDifferential, StoresAndLoadsKeepTheirOrder) {
  // Shift in place: the load completes before the store, also where they overlap.
  std::string body = R"(
  %one = arith.constant 1 : i64
  %z = arith.constant 0 : i64
  %a = tile.access %x, %z steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<100xf32>
  %b = tile.access %x, %one steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<100xf32>
  %v = tile.load %a : !tile.access<100xf32> -> tensor<100xf32>
  tile.store %b, %v : !tile.access<100xf32>, tensor<100xf32>
  %w = tile.load %a : !tile.access<100xf32> -> tensor<100xf32>
  %d = arith.addf %w, %v : tensor<100xf32>
  tile.store %a, %d : !tile.access<100xf32>, tensor<100xf32>
)";
  differential(kernel("%x: !tile.ptr<f32>", body), 1, {{"f32", 101}});
}

TEST(CpuDifferential, RaggedSoftmaxRows) {
  std::string body = R"(
  %pid = tile.program_id 0
  %p64 = arith.extsi %pid : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %start = arith.muli %p64, %n64 overflow<nsw> : i64
  %a = tile.access %x, %start steps(%one) bounds [1] (%z, %n64) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<256xf32>
  %inf = arith.constant dense<0xFF800000> : tensor<256xf32>
  %v = tile.load %a other %inf : tensor<256xf32> : !tile.access<256xf32> -> tensor<256xf32>
  %m = tile.reduce %v axis 0 {
  ^bb0(%l: f32, %q: f32):
    %s = arith.maxnumf %l, %q : f32
    tile.yield %s : f32
  } : tensor<256xf32> -> f32
  %ms = tile.splat %m : f32 -> tensor<256xf32>
  %d = arith.subf %v, %ms : tensor<256xf32>
  %e = math.exp %d : tensor<256xf32>
  %sum = tile.reduce %e axis 0 {
  ^bb0(%l: f32, %q: f32):
    %s = arith.addf %l, %q : f32
    tile.yield %s : f32
  } : tensor<256xf32> -> f32
  %ss = tile.splat %sum : f32 -> tensor<256xf32>
  %r = arith.divf %e, %ss : tensor<256xf32>
  %oa = tile.access %o, %start steps(%one) bounds [1] (%z, %n64) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<256xf32>
  tile.store %oa, %r : !tile.access<256xf32>, tensor<256xf32>
)";
  for (int n : {1, 5, 63, 64, 200, 255, 256})
    differential(kernel("%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i32", body), 3,
                 {{"f32", size_t(3 * n)}, {"f32", size_t(3 * n)}}, {n});
}

TEST(CpuDifferential, Dot) {
  for (const char *type : {"f32", "f16", "bf16"}) {
    std::string t = type;
    std::string text = kernel("%a: !tile.ptr<" + t + ">, %b: !tile.ptr<" + t + ">, %o: !tile.ptr<f32>",
                              access("aa", "a", t, 9, 21) + load("x", "aa", 9, 21, t) + access("ba", "b", t, 21, 35) +
                                  load("y", "ba", 21, 35, t) + access("oa", "o", "f32", 9, 35) + load("acc", "oa", 9, 35, "f32") +
                                  "  %r = tile.dot %x, %y, %acc : tensor<9x21x" + t + ">, tensor<21x35x" + t +
                                  "> -> tensor<9x35xf32>\n" + store("oa", "r", 9, 35, "f32"));
    differential(text, 1, {{t, 189}, {t, 735}, {"f32", 315}});
  }
}

// The rows of a buffer seen in another shape are others than its own.
TEST(CpuDifferential, TurnedReinterpretedBuffers) {
  for (const char *type : {"i32", "i16", "i64"}) {
    std::string body = R"(
  %ids = tile.range 0 to 32 : tensor<32xi32>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ax = tile.access %x, %zero steps(%one) bounds [0]() : !tile.ptr<TYPE>, (i64), () -> !tile.access<32xTYPE>
  %v = tile.load %ax : !tile.access<32xTYPE> -> tensor<32xTYPE>
  %line = tile.alloc : !tile.buffer<32xTYPE, shared>
  tile.buffer_store %line, %v : !tile.buffer<32xTYPE, shared>, tensor<32xTYPE>
  %rows = tile.reinterpret %line : !tile.buffer<32xTYPE, shared> -> !tile.buffer<8x2x2xTYPE, shared>
  %t = tile.buffer_load %rows : !tile.buffer<8x2x2xTYPE, shared> -> tensor<8x2x2xTYPE>
  %turned = tile.permute %t [1, 2, 0] : tensor<8x2x2xTYPE> -> tensor<2x2x8xTYPE>
  %result = tile.reshape %turned : tensor<2x2x8xTYPE> -> tensor<32xTYPE>
  %ao = tile.access %o, %zero steps(%one) bounds [0]() : !tile.ptr<TYPE>, (i64), () -> !tile.access<32xTYPE>
  tile.store %ao, %result : !tile.access<32xTYPE>, tensor<32xTYPE>
)";
    for (size_t at; (at = body.find("TYPE")) != body.npos;)
      body.replace(at, 4, type);
    differential(kernel("%x: !tile.ptr<" + std::string(type) + ">, %o: !tile.ptr<" + type + ">", body), 1,
                 {{type, 32}, {type, 32}});
  }
}

TEST(CpuDifferential, AtomicsAndBuffers) {
  std::string body = R"(
  %old = tile.atomic_rmw fadd %oa, %v : !tile.access<40xf32>, tensor<40xf32> -> tensor<40xf32>
  %buf = tile.alloc : !tile.buffer<2x40xf32, shared>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s0 = tile.subview %buf[%c0, %c0] dims [1] : !tile.buffer<2x40xf32, shared>, i32, i32 -> !tile.buffer<40xf32, shared>
  %s1 = tile.subview %buf[%c1, %c0] dims [1] : !tile.buffer<2x40xf32, shared>, i32, i32 -> !tile.buffer<40xf32, shared>
  tile.buffer_store %s0, %old : !tile.buffer<40xf32, shared>, tensor<40xf32>
  tile.buffer_store %s1, %v : !tile.buffer<40xf32, shared>, tensor<40xf32>
  %c40 = arith.constant 40 : i32
  tile.parallel (%c40) {
  ^bb0(%i: i32):
    %p = tile.element_load %buf[%c0, %i] : !tile.buffer<2x40xf32, shared>, i32, i32 -> f32
    %q = tile.element_load %buf[%c1, %i] : !tile.buffer<2x40xf32, shared>, i32, i32 -> f32
    %m = arith.mulf %p, %q : f32
    tile.element_store %buf[%c0, %i], %m : !tile.buffer<2x40xf32, shared>, (i32, i32), f32
    tile.yield
  } : i32
  %all = tile.buffer_load %buf : !tile.buffer<2x40xf32, shared> -> tensor<2x40xf32>
  %r = tile.reduce %all axis 0 {
  ^bb0(%l: f32, %q: f32):
    %s = arith.subf %l, %q : f32
    tile.yield %s : f32
  } : tensor<2x40xf32> -> tensor<40xf32>
)";
  differential(kernel("%x: !tile.ptr<f32>, %o: !tile.ptr<f32>", access("xa", "x", "f32", 0, 40) + load("v", "xa", 0, 40, "f32") +
                                                                    access("oa", "o", "f32", 0, 40) + body +
                                                                    store("xa", "r", 0, 40, "f32")),
               1, {{"f32", 40}, {"f32", 40}});
}
