// How a launch is cut into claims, who works on it, and the memory of threads.
#include "runtime/pool.h"
#include "kernels.h"
#include <cstdlib>
#include <numeric>
#include <thread>
#include <unistd.h>

using namespace tilery;
using namespace tilery::test;

namespace {
struct Counted {
  explicit Counted(int64_t programs) : array(programs, 0), grid{programs, 1, 1}, args{uint64_t(array.data())} {}
  KernelPtr kernel = kernelOf(programLoop(incrementBody));
  std::vector<int32_t> array;
  int64_t grid[3];
  uint64_t args[1];
  LaunchOptions options;
  Job job{*kernel, grid, args, options};
};
} // namespace

TEST(Pool, ClaimsAreContiguousAndShrink) {
  Counted launch(1000);
  launch.job.share = 4;
  launch.job.smallest = 10;
  int64_t at = 0, begin, end, before = INT64_MAX;
  while (launch.job.claim(begin, end)) {
    EXPECT_FALSE(begin == 0 && end != 250) << end;
    EXPECT_EQ(begin, at);
    EXPECT_LE(end - begin, before);
    EXPECT_GE(end - begin, std::min<int64_t>(10, 1000 - begin));
    before = end - begin;
    at = end;
  }
  EXPECT_EQ(at, 1000);
  EXPECT_TRUE(launch.job.finished());
}

TEST(Pool, AFailureStopsTheLaunchAndTheFirstIsKept) {
  Counted launch(100);
  int64_t begin, end;
  EXPECT_TRUE(launch.job.claim(begin, end));
  EXPECT_FALSE(launch.job.finished());
  launch.job.fail({Diagnostic::Kind::Assertion, "first", "", {}});
  launch.job.fail({Diagnostic::Kind::Assertion, "second", "", {}});
  EXPECT_TRUE(launch.job.finished());
  EXPECT_FALSE(launch.job.claim(begin, end));
  ASSERT_TRUE(launch.job.failure);
  EXPECT_EQ(launch.job.failure->message, "first");
}

TEST(Pool, WorkersTakeWhatIsPosted) {
  Counted launch(1000);
  launch.job.threads = 2; // this thread, which does nothing, and one worker
  launch.job.smallest = 7;
  Pool &pool = Pool::instance();
  pool.post(launch.job, 1);
  for (int tries = 0; !launch.job.finished() && tries < 20000; ++tries)
    usleep(1000);
  pool.withdraw(launch.job);
  ASSERT_TRUE(pool.wait(launch.job, 20000));
  EXPECT_EQ(launch.array, std::vector<int32_t>(1000, 1));
}

TEST(Pool, NobodyJoinsWhatIsForOneThread) {
  Counted launch(1000);
  launch.job.threads = 1;
  Pool &pool = Pool::instance();
  pool.post(launch.job, 1);
  usleep(20000);
  EXPECT_EQ(launch.array, std::vector<int32_t>(1000, 0));
  while (workOnce(launch.job)) {
  }
  pool.withdraw(launch.job);
  EXPECT_TRUE(pool.wait(launch.job, 0));
  EXPECT_EQ(launch.array, std::vector<int32_t>(1000, 1));
}

TEST(Pool, ScratchGrowsAndIsEachThreadsOwn) {
  std::thread([] {
    auto *small = static_cast<char *>(threadScratch(100));
    EXPECT_EQ(uintptr_t(small) % 64, 0u);
    EXPECT_EQ(threadScratch(50), small);
    auto *large = static_cast<char *>(threadScratch(3 << 20));
    EXPECT_EQ(uintptr_t(large) % (2 << 20), 0u) << "huge pages";
    std::fill(large, large + (3 << 20), 1);
    EXPECT_EQ(threadScratch(100), large);
    std::thread([large] {
      auto *other = static_cast<char *>(threadScratch(100));
      EXPECT_TRUE(other + 100 <= large || other >= large + (3 << 20));
    }).join();
  }).join();
}

TEST(PoolDeathTest, TheNumberOfThreadsIsANumber) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process that has not asked yet
  auto ask = [](const char *text) {
    setenv("TILERY_NUM_THREADS", text, 1);
    try {
      std::fprintf(stderr, "%u threads", numThreads());
    } catch (const Error &error) {
      std::fprintf(stderr, "%s", error.diagnostic().message.c_str());
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(ask("7"), testing::ExitedWithCode(0), "^7 threads$");
  for (const char *text : {"0", "-2", "many", "3x", "5000"})
    EXPECT_EXIT(ask(text), testing::ExitedWithCode(0),
                "^the environment variable TILERY_NUM_THREADS is '" + std::string(text) + "'; expected a number from 1 to 4096$");
}
