// Rows whose elements the threads of several blocks hold in registers, and what their warps tell each other.
#include "tests/unit/targets/with.h"
#include "compiler/targets/cuda/simt/simt_plan.h"
#include "compiler/targets/cuda/ptx/lowering.h"
#include "compiler/targets/cuda/simt/simt.h"
#include "tests/unit/targets/cuda/on_emulator.h"
#include <numeric>

using namespace tilery;
using namespace tilery::test;

namespace {
/// Of each row of n numbers: x * (its sum) + (its largest) to out, and its sum to sums. `attributes`: the kernel's; `aligned`: those of
/// pointers and n.
std::string rows(const std::string &type, const std::string &add, const std::string &multiply, const std::string &larger,
                 int64_t size, const std::string &attributes = "", const std::string &aligned = "") {
  std::string text = "tile.kernel @k(%in: !tile.ptr<$E>" + aligned + ", %out: !tile.ptr<$E>" + aligned +
                     ", %sums: !tile.ptr<$E>, %n: i64" + aligned + ") " + attributes + R"( {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %row = tile.program_id 0
  %wide = arith.extsi %row : i32 to i64
  %first = arith.muli %wide, %n : i64
  %px = tile.add_ptr %in, %first : !tile.ptr<$E>, i64
  %pz = tile.add_ptr %out, %first : !tile.ptr<$E>, i64
  %from = tile.access %px, %c0 steps(%c1) bounds [1](%c0, %n) : !tile.ptr<$E>, (i64), (i64, i64) -> !tile.access<$Sx$E>
  %x = tile.load %from : !tile.access<$Sx$E> -> tensor<$Sx$E>
  %sum = tile.reduce %x axis 0 {
  ^bb0(%a: $E, %b: $E):
    %s = $ADD %a, %b : $E
    tile.yield %s : $E
  } : tensor<$Sx$E> -> $E
  %largest = tile.reduce %x axis 0 {
  ^bb0(%a: $E, %b: $E):
    %m = $LARGER %a, %b : $E
    tile.yield %m : $E
  } : tensor<$Sx$E> -> $E
  %ss = tile.splat %sum : $E -> tensor<$Sx$E>
  %ls = tile.splat %largest : $E -> tensor<$Sx$E>
  %y = $MUL %x, %ss : tensor<$Sx$E>
  %z = $ADD %y, %ls : tensor<$Sx$E>
  %to = tile.access %pz, %c0 steps(%c1) bounds [1](%c0, %n) : !tile.ptr<$E>, (i64), (i64, i64) -> !tile.access<$Sx$E>
  tile.store %to, %z : !tile.access<$Sx$E>, tensor<$Sx$E>
  %ps = tile.add_ptr %sums, %row : !tile.ptr<$E>, i32
  %place = tile.pointer_access %ps : !tile.ptr<$E> -> !tile.access<$E>
  tile.store %place, %sum : !tile.access<$E>, $E
  tile.return
})";
  return with(std::move(text),
              {{"$ADD", add}, {"$MUL", multiply}, {"$LARGER", larger}, {"$E", type}, {"$S", std::to_string(size)}});
}

const char *aligned = " {tile.divisibility = 16 : i64}";

/// On integers, which any order of the warps gives the same sum of.
template <typename T>
void expectRows(const std::string &type, int64_t size, int64_t n, const std::string &attributes = "",
                const std::string &aligned = "", int64_t rowElements = cuda::longestOwnRow) {
  constexpr int programs = 3;
  std::vector<T> in(programs * n), out(programs * n, -7), sums(programs, -7), expected(programs * n), expectedSums(programs, 0);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = T(int64_t(i * 7919 % 1009) - 500);
  for (int p = 0; p < programs; ++p) {
    T largest = in[p * n];
    for (int64_t i = 0; i < n; ++i) {
      expectedSums[p] += in[p * n + i];
      largest = std::max(largest, in[p * n + i]);
    }
    for (int64_t i = 0; i < n; ++i)
      expected[p * n + i] = in[p * n + i] * expectedSums[p] + largest;
  }
  onEmulator(rows(type, "arith.addi", "arith.muli", "arith.maxsi", size, attributes, aligned), true, {programs, 1, 1},
             {slot(in.data()), slot(out.data()), slot(sums.data()), uint64_t(n)}, rowElements);
  EXPECT_EQ(sums, expectedSums);
  EXPECT_EQ(out, expected);
}
} // namespace

TEST(SimtMapped, WarpsOfABlock) {
  for (int warps : {1, 4, 8, 16, 32})
    expectRows<int32_t>("i32", 8192, 8000, "attributes {tile.num_warps = " + std::to_string(warps) + " : i64}");
  expectRows<int64_t>("i64", 8192, 8192, "attributes {tile.num_warps = 32 : i64}", aligned);
}

TEST(SimtMapped, BlocksThatShareARow) {
  expectRows<int32_t>("i32", 65536, 40001);
  expectRows<int64_t>("i64", 65536, 65000);
  expectRows<int32_t>("i32", 65536, 65536, "attributes {tile.num_warps = 32 : i64}");
  expectRows<int32_t>("i32", 131072, 100);
  expectRows<int32_t>("i32", 65536, 40000, "", aligned);
}

// Parts of a few elements: fewer than threads, so that several have the same one, and ends within a part.
TEST(SimtMapped, BlocksThatShareShortRows) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(rows("i32", "arith.addi", "arith.muli", "arith.maxsi", 1000), &context());
  cuda::GpuLowering lowering(cuda::CudaTarget(), /*instructions=*/false);
  tile::KernelOp kernel = *module->getOps<tile::KernelOp>().begin();
  EXPECT_EQ(cuda::planSimt(kernel, lower::Options{lowering}, cuda::tileBytes(cuda::CudaTarget()), 32).cluster, 8u);
  for (int64_t size : {33, 96, 1000, 4096}) {
    for (int64_t n : {size, size - 7, int64_t(5)}) {
      SCOPED_TRACE(std::to_string(n) + " of " + std::to_string(size));
      expectRows<int32_t>("i32", size, n, "", "", 32);
      expectRows<int64_t>("i64", size, n, "attributes {tile.num_warps = 1 : i64}", "", 32);
      expectRows<int16_t>("i16", size, n, "attributes {tile.num_warps = 4 : i64}", "", 32);
    }
    expectRows<int32_t>("i32", size, size / 16 * 16, "", aligned, 32);
  }
}

// Several rows a program: those of a warp's threads, and those that warps of two blocks share.
TEST(SimtMapped, BlocksThatShareSeveralRows) {
  for (auto [rows, columns] : {std::pair(4, 16), {16, 4}, {2, 128}, {4, 512}, {1, 64}, {8, 64}}) {
    std::string shape = std::to_string(rows) + "x" + std::to_string(columns);
    std::string text = R"(
tile.kernel @k(%in: !tile.ptr<i32>, %out: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %m = arith.constant $M : i64
  %n = arith.constant $N : i64
  %from = tile.access %in, %c0 steps(%n, %c1) bounds [1, 1](%c0, %m, %c0, %n) : <i32>, (i64, i64), (i64, i64, i64, i64) -> <$Sxi32>
  %x = tile.load %from : !tile.access<$Sxi32> -> tensor<$Sxi32>
  %sum = tile.reduce %x axis 1 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  } : tensor<$Sxi32> -> tensor<$Mxi32>
  %column = tile.expand_dims %sum axis 1 : tensor<$Mxi32> -> tensor<$Mx1xi32>
  %sums = tile.broadcast %column : tensor<$Mx1xi32> -> tensor<$Sxi32>
  %y = arith.muli %x, %sums : tensor<$Sxi32>
  %to = tile.access %out, %c0 steps(%n, %c1) bounds [1, 1](%c0, %m, %c0, %n) : <i32>, (i64, i64), (i64, i64, i64, i64) -> <$Sxi32>
  tile.store %to, %y : !tile.access<$Sxi32>, tensor<$Sxi32>
  tile.return
})";
    text = with(std::move(text), {{"$S", shape}, {"$M", std::to_string(rows)}, {"$N", std::to_string(columns)}});
    std::vector<int32_t> in(rows * columns), out(in.size(), -7), expected(in.size());
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = int32_t(i * 7919 % 1009) - 500;
    for (int r = 0; r < rows; ++r) {
      int32_t sum = std::accumulate(in.begin() + r * columns, in.begin() + (r + 1) * columns, 0);
      for (int c = 0; c < columns; ++c)
        expected[r * columns + c] = in[r * columns + c] * sum;
    }
    onEmulator(text, true, {1, 1, 1}, {slot(in.data()), slot(out.data())}, 32);
    EXPECT_EQ(out, expected) << shape;
  }
}
