// What debug mode knows about memory: bounds, what nobody wrote, who wrote last.
#include "compiler/oracle/memory.h"
#include <gtest/gtest.h>

using namespace tilery::oracle;

namespace {
struct OracleMemory : testing::Test {
  std::vector<float> x = std::vector<float>(8, 1.0f), y = std::vector<float>(4, 2.0f);
  Element f32{Format::F32, 32, &llvm::APFloat::IEEEsingle()};
  Options options;
  void SetUp() override {
    options.debug = true;
    options.allocations = {{address(x, 0), 32, "x", true, 4}, {address(y, 0), 16, "y", false, 4}};
  }
  static uint64_t address(std::vector<float> &data, int64_t index) { return reinterpret_cast<uint64_t>(data.data() + index); }
  /// What a load or a store of one element has against it.
  std::string load(Memory &memory, uint64_t at, Tile *into = nullptr) {
    std::string problem;
    Tile tile(f32, {});
    memory.load(into ? *into : tile, 0, at, reinterpret_cast<mlir::Operation *>(8), problem);
    return problem;
  }
  std::string store(Memory &memory, uint64_t at, float value, int64_t program = 0, Memory::Kind kind = Memory::Kind::Plain) {
    std::string problem;
    Tile tile(f32, {});
    tile.lanes[0] = encode(f32, value);
    memory.store(at, tile, 0, kind, program, problem);
    return problem;
  }
};

TEST_F(OracleMemory, ElementsInsideAreReadAndWritten) {
  Memory memory(options);
  EXPECT_EQ(store(memory, address(x, 3), 7), "");
  EXPECT_EQ(x[3], 7);
  Tile tile(f32, {});
  EXPECT_EQ(load(memory, address(x, 3), &tile), "");
  EXPECT_EQ(decode(f32, tile.lanes[0]), 7);
}

TEST_F(OracleMemory, AccessesOutsideNameTheNearestArgument) {
  options.allocations.pop_back();
  Memory memory(options);
  EXPECT_EQ(load(memory, address(x, 8)), "reads outside every argument: element 8 of 'x', whose elements are 0 to 7");
  EXPECT_EQ(store(memory, address(x, -1), 0), "writes outside every argument: element -1 of 'x', whose elements are 0 to 7");
  EXPECT_EQ(load(memory, address(x, 7) + 2).substr(0, 28), "reads outside every argument") << "the last bytes are not there";
  options.debug = false;
  Memory careless(options);
  EXPECT_EQ(load(careless, address(x, 2)), "");
}

TEST_F(OracleMemory, WhatNobodyWroteIsMarked) {
  Memory memory(options);
  Tile before(f32, {}), after(f32, {}), input(f32, {});
  load(memory, address(y, 1), &before);
  EXPECT_NE(before.undefinedAt(0), nullptr);
  store(memory, address(y, 1), 3);
  load(memory, address(y, 1), &after);
  EXPECT_EQ(after.undefinedAt(0), nullptr);
  load(memory, address(x, 1), &input);
  EXPECT_EQ(input.undefinedAt(0), nullptr);
}

TEST_F(OracleMemory, TwoProgramsMustNotWriteOneElement) {
  Memory memory(options);
  EXPECT_EQ(store(memory, address(x, 2), 1, 4), "");
  EXPECT_EQ(store(memory, address(x, 2), 1, 4), "");
  EXPECT_EQ(store(memory, address(x, 3), 1, 5), "");
  EXPECT_EQ(store(memory, address(x, 2), 1, 5),
            "writes element 2 of 'x', which program 4 also writes: the result depends on which runs last");
}

TEST_F(OracleMemory, AtomicsMayMeet) {
  Memory memory(options);
  EXPECT_EQ(store(memory, address(x, 2), 1, 4, Memory::Kind::Atomic), "");
  EXPECT_EQ(store(memory, address(x, 2), 1, 5, Memory::Kind::Atomic), "");
}

TEST_F(OracleMemory, ArgumentsThatOverlapAreOne) {
  options.allocations = {{address(x, 0), 16, "a", false, 4}, {address(x, 2), 24, "b", true, 4}};
  Memory memory(options);
  EXPECT_EQ(store(memory, address(x, 7), 1), "");
  Tile tile(f32, {});
  load(memory, address(x, 0), &tile);
  EXPECT_EQ(tile.undefinedAt(0), nullptr) << "one of them is an input";
  EXPECT_EQ(store(memory, address(x, 3), 1, 1), "");
  EXPECT_NE(store(memory, address(x, 3), 1, 2), "") << "their writers are known together";
}
} // namespace
