// What debug mode finds, and where it says it is.
#include "program.h"

using namespace tilery;
using namespace tilery::oracle;

namespace {

// x[pid + shift] = value of y[pid]
const char *copyText = R"(
tile.kernel @copy(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %shift: i32, %scale: i32) {
  %pid = tile.program_id 0
  %at = arith.muli %pid, %scale overflow<nsw> : i32
  %to = arith.addi %at, %shift overflow<nsw> : i32
  %yp = tile.add_ptr %y, %pid : !tile.ptr<f32>, i32
  %xp = tile.add_ptr %x, %to : !tile.ptr<f32>, i32
  %ya = tile.pointer_access %yp : !tile.ptr<f32> -> !tile.access<f32>
  %xa = tile.pointer_access %xp : !tile.ptr<f32> -> !tile.access<f32>
  %v = tile.load %ya : !tile.access<f32> -> f32 loc("kernel.py":7:9)
  tile.store %xa, %v : !tile.access<f32>, f32 loc("store"("kernel.py":8:5))
  tile.return
})";

struct Copy {
  Program program{copyText};
  std::vector<float> x = std::vector<float>(4), y = std::vector<float>(4, 1.0f);
  Options options;
  Copy() {
    options.debug = true;
    options.allocations = {allocation(x, "x"), allocation(y, "y")};
  }
  std::optional<Diagnostic> run(uint32_t programs, int shift = 0, int scale = 1) {
    try {
      program.run({programs, 1, 1}, {slot(x), slot(y), uint64_t(int64_t(shift)), uint64_t(scale)}, options);
      return std::nullopt;
    } catch (const Error &error) {
      return error.diagnostic();
    }
  }
};

TEST(OracleDebug, AnHonestProgramPasses) {
  Copy copy;
  EXPECT_FALSE(copy.run(4));
  EXPECT_EQ(copy.x, copy.y);
}

TEST(OracleDebug, WritesBesideAnArgument) {
  Copy copy;
  auto d = copy.run(4, 1);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->message, "program (3, 0, 0) writes outside every argument: element 4 of 'x', whose elements are 0 to 3");
  EXPECT_EQ(d->kind, Diagnostic::Kind::Index);
  ASSERT_EQ(d->chain.size(), 1u);
  EXPECT_EQ(d->chain[0].line, 8);
  EXPECT_EQ(d->chain[0].function, "store");
  auto before = copy.run(1, -1);
  ASSERT_TRUE(before);
}

TEST(OracleDebug, ReadsBesideAnArgument) {
  Copy copy;
  copy.x.resize(8);
  copy.options.allocations = {allocation(copy.x, "x"), allocation(copy.y, "y")};
  auto d = copy.run(5);
  ASSERT_TRUE(d);
  EXPECT_NE(d->message.find("reads outside every argument"), std::string::npos) << d->message;
  EXPECT_EQ(d->chain[0].line, 7);
}

TEST(OracleDebug, TwoProgramsWriteOneElement) {
  Copy copy;
  copy.y[1] = 2;
  auto d = copy.run(2, 1, 0);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->message,
            "program (1, 0, 0) writes element 1 of 'x', which program 0 also writes: the result depends on which runs last");
}

TEST(OracleDebug, UnwrittenInputIsReportedWhereItIsRead) {
  Copy copy;
  copy.options.allocations[1].initialised = false;
  auto d = copy.run(1);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->message, "program (0, 0, 0) uses element 0 of 'y', which nothing has written before it is read here");
  EXPECT_EQ(d->chain[0].line, 7);
}

TEST(OracleDebug, UnwrittenBufferCountsOnlyWhereItIsUsed) {
  // The accumulator is read before it is written, but `clear` drops it: no error. Without clear: one.
  Program program(R"(
tile.kernel @gemm(%out: !tile.ptr<f32>, %clear: i1) {
  %acc = tile.alloc : !tile.buffer<2x2xf32, fragment>
  %a = arith.constant dense<1.0> : tensor<2x2xf32>
  %old = tile.buffer_load %acc : !tile.buffer<2x2xf32, fragment> -> tensor<2x2xf32>
  %new = tile.dot %a, %a, %old clear %clear : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  %zero = arith.constant 0 : i32
  %v = tile.extract %new[%zero, %zero] : tensor<2x2xf32>, i32, i32 -> f32
  %o = tile.pointer_access %out : !tile.ptr<f32> -> !tile.access<f32>
  tile.store %o, %v : !tile.access<f32>, f32
  tile.return
})");
  std::vector<float> out(1);
  Options options;
  options.debug = true;
  options.allocations = {allocation(out, "out")};
  program.run({1, 1, 1}, {slot(out), 1}, options);
  EXPECT_EQ(out[0], 2);
  EXPECT_THROW(program.run({1, 1, 1}, {slot(out), 0}, options), Error);
}

TEST(OracleDebug, AssertionsAndPrints) {
  Program program(R"(
tile.kernel @k(%n: i32) {
  %c = arith.constant 3 : i32
  %t = tile.range 0 to 2 : tensor<2xi32>
  tile.print "t = ", %t : tensor<2xi32> {is_signed = array<i1: true>}
  %ok = arith.cmpi slt, %n, %c : i32
  tile.assert %ok, "n is too large" : i1
  tile.return
})");
  std::vector<std::string> lines;
  Options options;
  options.print = [&](const std::string &line) { lines.push_back(line); };
  program.run({1, 1, 1}, {2}, options);
  EXPECT_EQ(lines, (std::vector<std::string>{"pid (0, 0, 0) idx (0) t = 0", "pid (0, 0, 0) idx (1) t = 1"}));
  try {
    program.run({1, 1, 1}, {3}, options);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.diagnostic().kind, Diagnostic::Kind::Assertion);
    EXPECT_EQ(error.diagnostic().message, "n is too large (program (0, 0, 0))");
  }
}

TEST(OracleDebug, EndlessAndDeadlockedRunsAreStopped) {
  Program endless(R"(
tile.kernel @k(%n: i32) {
  %t = arith.constant true
  scf.while : () -> () {
    scf.condition(%t)
  } do {
    scf.yield
  }
  tile.return
})");
  Options options;
  options.maxSteps = 1000;
  EXPECT_THROW(endless.run({1, 1, 1}, {0}, options), Error);
  Program deadlock(R"(
tile.kernel @k(%n: i32) {
  %b = tile.barrier_alloc [1] : !tile.barrier<1>
  tile.roles [1, 1] {
    tile.barrier_wait %b[%n], %n : !tile.barrier<1>, i32, i32
  }, {
    tile.sync
  }
  tile.return
})");
  EXPECT_THROW(deadlock.run({1, 1, 1}, {0}), Error);
}

TEST(OracleDebug, ProgramsThatWaitForEachOtherTakeTurns) {
  // Program 0 waits for the flag that program 1 sets.
  Program program(R"(
tile.kernel @k(%flag: !tile.ptr<i32>, %out: !tile.ptr<i32>) {
  %pid = tile.program_id 0
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %f = tile.pointer_access %flag : !tile.ptr<i32> -> !tile.access<i32>
  %first = arith.cmpi eq, %pid, %zero : i32
  scf.if %first {
    scf.while : () -> () {
      %seen = tile.atomic_rmw add %f, %zero : !tile.access<i32>, i32 -> i32
      %again = arith.cmpi eq, %seen, %zero : i32
      scf.condition(%again)
    } do {
      scf.yield
    }
    %o = tile.pointer_access %out : !tile.ptr<i32> -> !tile.access<i32>
    tile.store %o, %one : !tile.access<i32>, i32
  } else {
    %old = tile.atomic_rmw exchange %f, %one : !tile.access<i32>, i32 -> i32
  }
  tile.return
})");
  std::vector<int32_t> flag(1), out(1);
  Options options;
  options.maxSteps = 100000;
  program.run({2, 1, 1}, {slot(flag), slot(out)}, options);
  EXPECT_EQ(out[0], 1);
}

} // namespace
