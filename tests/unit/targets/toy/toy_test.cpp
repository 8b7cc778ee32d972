// A target that the product does not know, in a list of its own: what compiles, runs and is refused.
#include "toy_backend.h"
#include "compiler/driver.h"
#include "tilery/diagnostic.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace tilery;

namespace {
Compiled compileForToy(const std::string &text, const std::string &target = "toy") {
  static const toy::ToyBackend toy;
  llvm::SmallVector<const Backend *> list(backends());
  list.push_back(&toy);
  CompileOptions options;
  options.target = target;
  return compileWith(list, *Module::parse(text), options);
}

std::string message(llvm::function_ref<void()> action) {
  try {
    action();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

// out = a b + out for 4 x 8 times 8 x 4, and the sums of the rows of a; each program has its own a, out and sums.
const char *product = R"(
tile.kernel @k(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %out: !tile.ptr<f32>, %sums: !tile.ptr<f32>) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %p = tile.program_id 0
  %p64 = arith.extsi %p : i32 to i64
  %c16 = arith.constant 16 : i64
  %c32 = arith.constant 32 : i64
  %fromA = arith.muli %p64, %c32 overflow<nsw> : i64
  %fromOut = arith.muli %p64, %c16 overflow<nsw> : i64
  %fromSums = arith.muli %p64, %four overflow<nsw> : i64
  %aa = tile.access %a, %fromA steps(%eight, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<4x8xf32>
  %ba = tile.access %b, %z steps(%four, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<8x4xf32>
  %oa = tile.access %out, %fromOut steps(%four, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<4x4xf32>
  %sa = tile.access %sums, %fromSums steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<4xf32>
  %av = tile.load %aa : !tile.access<4x8xf32> -> tensor<4x8xf32>
  %bv = tile.load %ba : !tile.access<8x4xf32> -> tensor<8x4xf32>
  %ov = tile.load %oa : !tile.access<4x4xf32> -> tensor<4x4xf32>
  %d = tile.dot %av, %bv, %ov : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  tile.store %oa, %d : !tile.access<4x4xf32>, tensor<4x4xf32>
  %s = tile.reduce %av axis 1 {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tile.yield %t : f32
  } : tensor<4x8xf32> -> tensor<4xf32>
  tile.store %sa, %s : !tile.access<4xf32>, tensor<4xf32>
  tile.return
}
)";
} // namespace

TEST(ToyTarget, RunsProductsAndReductions) {
  constexpr int programs = 3;
  Compiled compiled = compileForToy(product);
  EXPECT_NE(compiled.plan.find("tile.dot: element after element"), std::string::npos) << compiled.plan;
  std::vector<float> a(programs * 32), b(32), out(programs * 16), sums(programs * 4);
  std::iota(a.begin(), a.end(), -20.0f);
  std::iota(b.begin(), b.end(), 1.0f);
  std::iota(out.begin(), out.end(), 100.0f);
  std::vector<float> expected = out, expectedSums(sums.size());
  for (int row = 0; row < programs * 4; ++row)
    for (int k = 0; k < 8; ++k) {
      expectedSums[row] += a[row * 8 + k];
      for (int column = 0; column < 4; ++column)
        expected[row * 4 + column] += a[row * 8 + k] * b[k * 4 + column]; // integers: exact
    }
  uint64_t slots[] = {reinterpret_cast<uint64_t>(a.data()), reinterpret_cast<uint64_t>(b.data()),
                      reinterpret_cast<uint64_t>(out.data()), reinterpret_cast<uint64_t>(sums.data())};
  int64_t grid[] = {programs, 1, 1};
  launch(*load(compiled.image).front(), grid, slots);
  EXPECT_EQ(out, expected);
  EXPECT_EQ(sums, expectedSums);
}

TEST(ToyTarget, PricesBlockSizes) {
  arrange::Symbol block = arrange::Symbol::named("B", arrange::Role::meta);
  arrange::Tensor vector = arrange::Tensor(arrange::Source{}, {std::nullopt}).tile({block});
  std::string size = vector.source().shape[0].name().text;
  auto chosen = [&](const std::string &target, int64_t elements) {
    static const toy::ToyBackend toy;
    llvm::SmallVector<const Backend *> list(backends());
    list.push_back(&toy);
    arrange::Symbol::Values values =
        arrange::choose({{vector, 4}}, {block}, {{size, elements}}, backendFor(list, target).blockCost(-1));
    return *values.at(block.name().text).constant();
  };
  EXPECT_EQ(chosen("toy", 4096 + 32), 32);  // a larger block's last program moves what nobody asked for
  EXPECT_EQ(chosen("host", 1 << 20), 1024); // where each program costs something, too
}

TEST(ToyTarget, RefusesInItsOwnName) {
  std::string text = "tile.kernel @k(%x: i32) {\n  tile.print \"x\", %x : i32 {is_signed = array<i1: true>}\n  tile.return\n}\n";
  EXPECT_NE(message([&] { compileForToy(text); }).find("the toy target cannot run tile.print yet"), std::string::npos);
}

TEST(ToyTarget, IsOneOfTheNamesThatAreKnown) {
  std::string said = message([&] { compileForToy(product, "nothing"); });
  EXPECT_NE(said.find("there is no target named 'nothing'"), std::string::npos) << said;
  EXPECT_NE(said.find("host, avx2"), std::string::npos) << said;
  EXPECT_NE(said.find("toy"), std::string::npos) << said;
}
