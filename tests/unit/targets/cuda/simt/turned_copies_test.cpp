// Copies that read memory along one dimension and write it along another, on the emulator.
#include "tests/unit/targets/cuda/on_emulator.h"
#include "compiler/targets/cuda/simt/simt_plan.h"
#include "compiler/targets/cuda/ptx/lowering.h"
#include "compiler/targets/cuda/simt/simt.h"
#include <numeric>

using namespace tilery;
using namespace tilery::test;

namespace {
struct Turn {
  std::vector<int64_t> shape, exists; // of the tile; elements that there are
  std::vector<unsigned> from, to;     // dimensions in memory, outermost first
  bool permuted = false;              // the tile itself is permuted (from `shape` to its reverse) instead of the result's steps
};

std::string join(const std::vector<std::string> &parts, const char *between) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : between) + part;
  return text;
}

/// Elements from neighbour to neighbour along each dimension.
std::vector<int64_t> stepsOf(const std::vector<int64_t> &extents, const std::vector<unsigned> &order) {
  std::vector<int64_t> steps(extents.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0; step *= extents[order[i]])
    steps[order[i]] = step;
  return steps;
}

std::string kernelOf(const Turn &turn, const std::string &element) {
  size_t rank = turn.shape.size();
  std::string text = "tile.kernel @k(%x: !tile.ptr<" + element + "> {tile.divisibility = 16 : i64}, %y: !tile.ptr<" + element +
                     "> {tile.divisibility = 16 : i64}) {\n  %zero = arith.constant 0 : i64\n";
  auto access = [&](const std::string &name, const std::string &pointer, std::vector<int64_t> shape, std::vector<int64_t> exists,
                    std::vector<int64_t> steps) {
    std::vector<std::string> stepNames, bounds, sizes, types(shape.size(), "i64"), two(2 * shape.size(), "i64"),
        ones(shape.size(), "1");
    for (size_t d = 0; d < rank; ++d) {
      std::string n = name + std::to_string(d);
      text += "  %s" + n + " = arith.constant " + std::to_string(steps[d]) + " : i64\n  %e" + n + " = arith.constant " +
              std::to_string(exists[d]) + " : i64\n";
      stepNames.push_back("%s" + n);
      bounds.push_back("%zero, %e" + n);
      sizes.push_back(std::to_string(shape[d]));
    }
    std::string type = join(sizes, "x") + "x" + element;
    text += "  %" + name + " = tile.access " + pointer + ", %zero steps(" + join(stepNames, ", ") + ") bounds [" +
            join(ones, ", ") + "](" + join(bounds, ", ") + ") : <" + element + ">, (" + join(types, ", ") + "), (" +
            join(two, ", ") + ") -> <" + type + ">\n";
    return type;
  };
  std::vector<int64_t> shape = turn.shape, exists = turn.exists, to = stepsOf(exists, turn.to);
  std::string in = access("a", "%x", shape, exists, stepsOf(exists, turn.from)), out = in, value = "%v";
  if (turn.permuted) {
    for (auto *of : {&shape, &exists, &to})
      std::reverse(of->begin(), of->end());
  }
  out = access("b", "%y", shape, exists, to);
  text += "  %v = tile.load %a : !tile.access<" + in + "> -> tensor<" + in + ">\n";
  if (turn.permuted) {
    std::vector<std::string> order;
    for (size_t d = rank; d-- > 0;)
      order.push_back(std::to_string(d));
    text += "  %w = tile.permute %v [" + join(order, ", ") + "] : tensor<" + in + "> -> tensor<" + out + ">\n";
    value = "%w";
  }
  return text + "  tile.store %b, " + value + " : !tile.access<" + out + ">, tensor<" + out + ">\n  tile.return\n}\n";
}

template <typename T> void expectTurned(const Turn &turn, const std::string &element) {
  std::string text = kernelOf(turn, element);
  SCOPED_TRACE(text);
  std::vector<int64_t> from = stepsOf(turn.exists, turn.from), to = stepsOf(turn.exists, turn.to);
  int64_t count = std::accumulate(turn.exists.begin(), turn.exists.end(), int64_t(1), std::multiplies<>());
  struct alignas(16) Memory {
    std::vector<T> all;
    explicit Memory(int64_t count) : all(size_t(count) + 16, T(-1)) {}
    T *first() { return reinterpret_cast<T *>((reinterpret_cast<uintptr_t>(all.data()) + 15) / 16 * 16); }
  } x(count), y(count);
  for (int64_t i = 0; i < count; ++i)
    x.first()[i] = T(i * 7 + i / 251);
  onEmulator(text, true, {1, 1, 1}, {slot(x.first()), slot(y.first())});
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = 0, into = 0;
    for (size_t d = turn.exists.size(); d-- > 0; rest /= turn.exists[d]) {
      at += rest % turn.exists[d] * from[d];
      into += rest % turn.exists[d] * to[d];
    }
    ASSERT_EQ(y.first()[into], x.first()[at]) << "element " << i;
  }
}

void expectTurned(const Turn &turn) {
  expectTurned<int8_t>(turn, "i8");
  expectTurned<int16_t>(turn, "i16");
  expectTurned<int32_t>(turn, "i32");
  expectTurned<int64_t>(turn, "i64");
}

std::string planOf(const Turn &turn, const std::string &element) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kernelOf(turn, element), &context());
  cuda::CudaTarget target = *cuda::targetNamed("sm_90a");
  cuda::GpuLowering lowering(target);
  lower::Options options{lowering, true};
  auto kernel = *module->getOps<tile::KernelOp>().begin();
  std::string text;
  llvm::raw_string_ostream stream(text);
  cuda::planSimt(kernel, options, cuda::tileBytes(target)).print(stream, kernel);
  return text;
}
} // namespace

TEST(TurnedCopies, MemoryOfTwoDimensions) {
  expectTurned({{64, 64}, {64, 64}, {0, 1}, {1, 0}});
  expectTurned({{64, 64}, {64, 64}, {1, 0}, {0, 1}});
  expectTurned({{64, 64}, {64, 64}, {1, 0}, {1, 0}});
  expectTurned({{128, 32}, {128, 32}, {0, 1}, {1, 0}, true});
}

TEST(TurnedCopies, EndsWithinVectorsAndExtentsThatAreNoPowersOfTwo) {
  expectTurned({{64, 128}, {50, 99}, {0, 1}, {1, 0}});
  expectTurned({{48, 80}, {48, 80}, {0, 1}, {1, 0}});
  expectTurned({{80, 48}, {33, 47}, {1, 0}, {0, 1}, true});
}

TEST(TurnedCopies, SmallElementsInWords) {
  expectTurned({{128, 128}, {128, 128}, {0, 1}, {1, 0}});
  expectTurned({{128, 128}, {128, 128}, {1, 0}, {0, 1}});
  expectTurned({{128, 128}, {117, 101}, {0, 1}, {1, 0}, true});
  expectTurned({{128, 256}, {128, 256}, {0, 1}, {1, 0}, true});
  expectTurned({{256, 128}, {250, 128}, {1, 0}, {0, 1}});
  Turn turn = {{128, 128}, {128, 128}, {0, 1}, {1, 0}, true}, narrow = {{64, 64}, {64, 64}, {0, 1}, {1, 0}, true};
  EXPECT_NE(planOf(turn, "i8").find("4 vectors of 16 a thread, 4 side by side"), std::string::npos) << planOf(turn, "i8");
  EXPECT_NE(planOf(turn, "f16").find("4 vectors of 8 a thread, 2 side by side"), std::string::npos) << planOf(turn, "f16");
  EXPECT_EQ(planOf(turn, "f32").find("side by side"), std::string::npos);
  EXPECT_EQ(planOf(narrow, "i8").find("side by side"), std::string::npos); // words of these would meet in banks
}

TEST(TurnedCopies, MoreDimensions) {
  expectTurned({{4, 32, 32}, {4, 32, 32}, {0, 1, 2}, {0, 2, 1}});
  expectTurned({{16, 8, 32}, {16, 8, 32}, {0, 1, 2}, {2, 1, 0}, true});
  expectTurned({{16, 16, 16}, {15, 13, 16}, {1, 2, 0}, {0, 2, 1}}); // along neither is the last dimension
  expectTurned({{2, 16, 1, 32}, {2, 16, 1, 32}, {0, 1, 2, 3}, {3, 2, 0, 1}});
}

TEST(TurnedCopies, BothSidesMoveSixteenBytes) {
  std::string plan = planOf({{128, 128}, {128, 128}, {0, 1}, {1, 0}}, "f32");
  EXPECT_NE(plan.find("  nest 128 128\n    define"), plan.npos) << plan;
  EXPECT_NE(plan.find("vectors of 4 a thread\n"), plan.npos) << plan;
  EXPECT_NE(plan.find("vectors of 4 a thread along dimension 0\n"), plan.npos) << plan;
}

TEST(TurnedCopies, WhatLiesTheSameWayOnBothSidesStaysInRegisters) {
  std::string plan = planOf({{128, 128}, {128, 128}, {1, 0}, {1, 0}}, "f32");
  EXPECT_EQ(plan.find("define"), plan.npos) << plan;
  EXPECT_NE(plan.find("vectors of 4 a thread along dimension 0\n"), plan.npos) << plan;
}

TEST(TurnedCopies, TilesThatSharedMemoryCannotHoldAreReadInTheirPlace) {
  std::string plan = planOf({{512, 128}, {512, 128}, {0, 1}, {1, 0}}, "f32");
  EXPECT_EQ(plan.find("define"), plan.npos) << plan;
}
