// What debug mode knows about memory: bounds, what nobody wrote, who wrote last.
#include "compiler/oracle/memory.h"
#include "compiler/oracle/unwritten.h"
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
  std::string load(Memory &memory, uint64_t at, Tile *into = nullptr, int64_t program = 0, AccessKind kind = AccessKind::Plain) {
    Memory::Problem problem;
    Tile tile(f32, {});
    auto *op = into ? reinterpret_cast<mlir::Operation *>(8) : nullptr;
    memory.load(into ? *into : tile, 0, at, op, kind, program, problem);
    return problem.text;
  }
  std::string store(Memory &memory, uint64_t at, float value, int64_t program = 0, AccessKind kind = AccessKind::Plain) {
    Memory::Problem problem;
    Tile tile(f32, {});
    tile.lanes[0] = encode(f32, value);
    memory.store(at, tile, 0, nullptr, kind, program, problem);
    return problem.text;
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
  EXPECT_TRUE(bool(before.undefinedAt(0)));
  EXPECT_EQ(before.undefinedAt(0).address, address(y, 1));
  store(memory, address(y, 1), 3);
  load(memory, address(y, 1), &after);
  EXPECT_FALSE(bool(after.undefinedAt(0)));
  load(memory, address(x, 1), &input);
  EXPECT_FALSE(bool(input.undefinedAt(0)));
}

TEST_F(OracleMemory, TwoProgramsMustNotWriteOneElement) {
  Memory memory(options);
  EXPECT_EQ(store(memory, address(x, 2), 1, 4), "");
  EXPECT_EQ(store(memory, address(x, 2), 1, 4), "");
  EXPECT_EQ(store(memory, address(x, 3), 1, 5), "");
  EXPECT_EQ(store(memory, address(x, 2), 1, 5), "") << "the same bits: no order matters";
  EXPECT_EQ(store(memory, address(x, 2), 2, 6),
            "writes element 2 of 'x', which program 5 also writes: the result depends on which runs last");
}

TEST_F(OracleMemory, ProgramsMustNotReadWhatOthersWrite) {
  Memory memory(options);
  EXPECT_EQ(store(memory, address(x, 2), 5, 4), "");
  EXPECT_EQ(load(memory, address(x, 2), nullptr, 4), "");
  EXPECT_EQ(load(memory, address(x, 2), nullptr, 5),
            "reads element 2 of 'x', which program 4 writes: the result depends on which runs first");
  for (int64_t program : {1, 2, 3})
    EXPECT_EQ(load(memory, address(x, 3), nullptr, program), "");
  EXPECT_EQ(store(memory, address(x, 3), 1, 3), "") << "what was there";
  EXPECT_EQ(store(memory, address(x, 3), 5, 3),
            "writes element 3 of 'x', which program 2 reads: the result depends on which runs first");
}

TEST_F(OracleMemory, AtomicsMayMeet) {
  Memory memory(options);
  EXPECT_EQ(store(memory, address(x, 2), 5, 4, AccessKind::Atomic), "");
  EXPECT_EQ(load(memory, address(x, 2), nullptr, 5, AccessKind::Atomic), "");
  EXPECT_EQ(store(memory, address(x, 2), 6, 5, AccessKind::Atomic), "");
  EXPECT_EQ(load(memory, address(x, 2), nullptr, 6), "") << "one that anybody may see at any time";
  EXPECT_NE(store(memory, address(x, 2), 7, 7), "") << "but nobody may write plainly beside them";
}

TEST_F(OracleMemory, WhatIsReleasedIsOrderedBeforeWhoAcquiresIt) {
  Memory memory(options);
  memory.races.begin(true);
  uint64_t lock = address(x, 7), data = address(x, 0);
  for (int64_t program : {3, 1, 2}) { // one after the other through a lock
    memory.acquire(lock, program);
    EXPECT_EQ(load(memory, data, nullptr, program), "");
    EXPECT_EQ(store(memory, data, float(program) + 10, program), "");
    memory.release(lock, program);
  }
  EXPECT_EQ(store(memory, data, 5, 2).substr(0, 6), "") << "its own";
  memory.acquire(lock, 4);
  EXPECT_NE(load(memory, data, nullptr, 4), "") << "written after the release";
}

TEST_F(OracleMemory, NarrowAccessesOfAWiderArgumentAreKnownByteForByte) {
  Memory memory(options);
  Memory::Problem problem;
  Tile byte({Format::Int, 8}, {});
  byte.lanes[0] = 77;
  store(memory, address(x, 4), 9, 8);
  for (int64_t i = 0; i < 4; ++i)
    memory.store(address(x, 3) + i, byte, 0, nullptr, AccessKind::Plain, i, problem);
  EXPECT_EQ(problem.text, "");
  memory.store(address(x, 4) + 3, byte, 0, nullptr, AccessKind::Plain, 1, problem);
  EXPECT_NE(problem.text.find("which program 8 also writes"), std::string::npos) << problem.text;
}

TEST_F(OracleMemory, WhatHoldsThePatternIsUnwritten) {
  alignas(16) float data[9];
  uint64_t base = reinterpret_cast<uint64_t>(data);
  fillUnwritten(base, sizeof data);
  data[5] = 1; // and so no one can tell about its neighbours to 7
  options.allocations = {{base, sizeof data, "z", true, 4}};
  Memory memory(options);
  for (int i = 0; i < 9; ++i) {
    Tile tile(f32, {});
    load(memory, base + 4 * i, &tile);
    EXPECT_EQ(bool(tile.undefinedAt(0)), i < 4 || i == 8) << i;
  }
  store(memory, base, 1);
  Tile tile(f32, {});
  load(memory, base, &tile);
  EXPECT_FALSE(bool(tile.undefinedAt(0)));
}

TEST_F(OracleMemory, ArgumentsThatOverlapAreOne) {
  options.allocations = {{address(x, 0), 16, "a", false, 4}, {address(x, 2), 24, "b", true, 4}};
  Memory memory(options);
  EXPECT_EQ(store(memory, address(x, 7), 1), "");
  Tile tile(f32, {});
  load(memory, address(x, 0), &tile);
  EXPECT_FALSE(bool(tile.undefinedAt(0))) << "one of them is an input";
  EXPECT_EQ(store(memory, address(x, 3), 5, 1), "");
  EXPECT_EQ(load(memory, address(x, 3), nullptr, 2),
            "reads element 3 of 'a' (in the same memory: element 1 of 'b'), which program 1 writes: the result depends on which "
            "runs first");
}
} // namespace
