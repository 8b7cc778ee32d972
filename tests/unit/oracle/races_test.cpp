// Which accesses of programs nothing orders.
#include "compiler/oracle/races.h"
#include <gtest/gtest.h>

using namespace tilery::oracle;

namespace {
constexpr AccessKind plain = AccessKind::Plain, atomic = AccessKind::Atomic;

struct OracleRaces : testing::Test {
  Races races;
  Cell cell;
  /// Who writes beside this program; then it writes, too.
  int64_t write(int64_t program, AccessKind kind = plain, bool changes = true) {
    int64_t found = races.writerBesideWrite(cell, program, kind, changes);
    races.write(cell, program, kind, changes);
    return found;
  }
  int64_t read(int64_t program, AccessKind kind = plain) {
    int64_t found = races.writerBesideRead(cell, program, kind);
    races.read(cell, program, kind);
    return found;
  }
};

TEST_F(OracleRaces, WhoWritesTheSameDoesNotHideWhoWroteAnother) {
  EXPECT_EQ(write(4), -1);
  EXPECT_EQ(write(5, plain, false), -1);
  EXPECT_EQ(read(6), 4);
  EXPECT_EQ(write(7), 4);
}

TEST_F(OracleRaces, WhoPollsByAnAtomicThatChangesNothingWritesNothing) {
  EXPECT_EQ(write(1, atomic, false), -1);
  EXPECT_EQ(write(2), -1);
  EXPECT_EQ(write(3, atomic), 2);
}

TEST_F(OracleRaces, ManyReadersAreKnownAsTwo) {
  for (int64_t program : {1, 2, 1, 3, 3})
    EXPECT_EQ(read(program), -1);
  EXPECT_NE(races.readerBesideWrite(cell, 3, plain, true), -1);
  EXPECT_EQ(races.readerBesideWrite(cell, 1, plain, true), 3);
  EXPECT_EQ(races.readerBesideWrite(cell, 1, atomic, true), -1);
  EXPECT_EQ(races.readerBesideWrite(cell, 1, plain, false), -1);
}

TEST_F(OracleRaces, OrderIsTransitiveAndEndsAtTheRelease) {
  write(9);
  races.release(100, 9);
  races.acquire(100, 2, nullptr);
  races.release(200, 2);
  races.acquire(200, 5, nullptr);
  EXPECT_EQ(read(5), -1) << "9 before 2 before 5";
  EXPECT_EQ(read(6), 9);
  races.write(cell, 9, plain, true);
  EXPECT_EQ(read(5), 9) << "after the release";
}

TEST_F(OracleRaces, AReleaseKeepsWhatOthersReleasedThere) {
  Cell other;
  races.write(cell, 1, plain, true);
  races.release(100, 1);
  races.write(other, 2, plain, true);
  races.release(100, 2); // without having acquired
  races.acquire(100, 3, nullptr);
  EXPECT_EQ(read(3), -1);
  EXPECT_EQ(races.writerBesideRead(other, 3, plain), -1);
}

TEST_F(OracleRaces, ClocksThatAreSharedAreNotChanged) {
  // 1 takes over the clock at 100; what 2 releases there later is not known to 1.
  races.begin(true);
  races.write(cell, 0, plain, true);
  races.release(100, 0);
  races.acquire(100, 1, nullptr);
  races.acquire(100, 2, nullptr);
  EXPECT_EQ(write(2), -1);
  races.release(100, 2);
  EXPECT_EQ(read(1), 2);
}

TEST_F(OracleRaces, APlainWriteIsASignalWhereProgramsWait) {
  for (bool wait : {false, true}) {
    races.begin(wait);
    Cell data, flag;
    races.write(data, 1, plain, true);
    races.write(flag, 1, plain, true);
    races.acquire(300, 2, &flag);
    EXPECT_EQ(races.writerBesideRead(data, 2, plain), wait ? -1 : 1);
    races.write(data, 1, plain, true);
    EXPECT_EQ(races.writerBesideRead(data, 2, plain), 1);
  }
}

TEST_F(OracleRaces, ManyProgramsAtOneCounterTakeNoTimeThatGrowsWithTheirSquare) {
  for (int64_t program = 0; program < 20000; ++program) {
    write(program, atomic);
    races.acquire(100, program, nullptr);
    races.release(100, program);
    races.end(program);
  }
  races.acquire(100, 20000, nullptr);
  EXPECT_EQ(races.writerBesideWrite(cell, 20000, plain, true), -1);
}
} // namespace
