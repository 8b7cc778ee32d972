#include "kernels.h"
#include "runtime/pool.h"
#include "tilery/diagnostic.h"
#include <numeric>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <xmmintrin.h>

using namespace tilery;
using namespace tilery::test;

namespace {
struct Threads {
  explicit Threads(unsigned count) { setNumThreads(count); }
  ~Threads() { setNumThreads(0); }
};
LaunchResult run(const Kernel &kernel, std::array<int64_t, 3> grid, std::vector<uint64_t> args, LaunchOptions options = {}) {
  return launch(kernel, grid.data(), args.data(), options);
}
/// Calls the function in slot 1 as f(id, scratch) for each program.
const char *callBody = R"(
  %slot = getelementptr i64, ptr %args, i64 1
  %f = load ptr, ptr %slot
  call void %f(i64 %id, ptr %scratch)
  br label %next
)";
} // namespace

class LaunchSizes : public ::testing::TestWithParam<int64_t> {};
TEST_P(LaunchSizes, RunsEachProgramOnce) {
  int64_t programs = GetParam();
  KernelPtr kernel = kernelOf(programLoop(incrementBody));
  for (unsigned threads : {1u, 2u, 5u}) {
    Threads pool(threads);
    for (int round = 0; round < 3; ++round) { // later rounds know the cost and take other ways
      std::vector<int32_t> array(programs + 1, 7);
      run(*kernel, {programs, 1, 1}, {uint64_t(array.data())});
      for (int64_t i = 0; i < programs; ++i)
        ASSERT_EQ(array[i], 8) << i;
      EXPECT_EQ(array[programs], 7);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, LaunchSizes, ::testing::Values(1, 2, 3, 7, 64, 1000, 300001));

TEST(Launch, GridIsThreeDimensionalAndMayBeEmpty) {
  KernelPtr kernel = kernelOf(programLoop(incrementBody));
  std::vector<int32_t> array(3 * 5 * 7, 0);
  run(*kernel, {3, 5, 7}, {uint64_t(array.data())});
  EXPECT_EQ(std::accumulate(array.begin(), array.end(), 0), 3 * 5 * 7);
  for (auto grid : {std::array<int64_t, 3>{0, 1, 1}, {1, 0, 1}, {5, 5, 0}, {-1, 1, 1}})
    EXPECT_EQ(run(*kernel, grid, {uint64_t(array.data())}), LaunchResult::Done);
  EXPECT_EQ(std::accumulate(array.begin(), array.end(), 0), 3 * 5 * 7);
  EXPECT_THROW(run(*kernel, {int64_t(1) << 31, 1, 1}, {uint64_t(array.data())}), Error);
  EXPECT_THROW(run(*kernel, {INT32_MAX, INT32_MAX, INT32_MAX}, {uint64_t(array.data())}), Error);
}

static std::mutex seenMutex;
static std::set<std::thread::id> seenThreads;
static void slowProgram(int64_t, void *) {
  usleep(2000);
  std::lock_guard lock(seenMutex);
  seenThreads.insert(std::this_thread::get_id());
}
TEST(Launch, UsesAsManyThreadsAsAsked) {
  KernelPtr kernel = kernelOf(programLoop(callBody));
  for (unsigned threads : {1u, 3u}) {
    Threads pool(threads);
    seenThreads.clear();
    run(*kernel, {30, 1, 1}, {0, uint64_t(&slowProgram)});
    EXPECT_EQ(seenThreads.size(), threads);
  }
  Threads pool(3);
  seenThreads.clear();
  run(*kernel, {1, 1, 1}, {0, uint64_t(&slowProgram)});
  EXPECT_EQ(seenThreads, std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST(Launch, AKernelOnceShortIsSpreadWhenItIsLong) {
  KernelPtr kernel = kernelOf(programLoop(callBody));
  Threads pool(2);
  kernel->setCost(1); // it looked as if it took a nanosecond
  seenThreads.clear();
  run(*kernel, {64, 1, 1}, {0, uint64_t(&slowProgram)});
  EXPECT_EQ(seenThreads.size(), 2u);
}

static std::atomic<int> wrongModes;
static void checkMode(int64_t, void *) {
  usleep(500);
  if ((_mm_getcsr() & 0xffc0) != (0x1f80 | _MM_ROUND_UP | _MM_FLUSH_ZERO_ON))
    ++wrongModes;
}
TEST(Launch, WorkersRoundAsTheCallerDoes) {
  KernelPtr kernel = kernelOf(programLoop(callBody));
  Threads pool(3);
  unsigned before = _mm_getcsr();
  wrongModes = 0;
  _mm_setcsr(0x1f80 | _MM_ROUND_UP | _MM_FLUSH_ZERO_ON);
  run(*kernel, {40, 1, 1}, {0, uint64_t(&checkMode)});
  _mm_setcsr(before);
  EXPECT_EQ(wrongModes, 0);
}

static std::atomic<int> badScratch;
static void fillScratch(int64_t id, void *scratch) {
  if (uintptr_t(scratch) % 64)
    ++badScratch;
  auto *bytes = static_cast<unsigned char *>(scratch);
  constexpr size_t size = 3 << 20;
  for (size_t i = 0; i < size; i += 512)
    bytes[i] = (unsigned char)id;
  bytes[size - 1] = (unsigned char)id;
  for (size_t i = 0; i < size; i += 512)
    if (bytes[i] != (unsigned char)id)
      ++badScratch;
}
TEST(Launch, ScratchIsAlignedAndEachThreadsOwn) {
  Threads pool(4);
  badScratch = 0;
  for (uint64_t bytes : {uint64_t(100), uint64_t(3 << 20)}) {
    KernelPtr kernel = kernelOf(programLoop(callBody), bytes);
    if (bytes < 1000)
      run(*kernel, {8, 1, 1}, {0, uint64_t(+[](int64_t, void *scratch) { badScratch += uintptr_t(scratch) % 64 != 0; })});
    else
      run(*kernel, {64, 1, 1}, {0, uint64_t(&fillScratch)});
  }
  EXPECT_EQ(badScratch, 0);
}

TEST(Launch, TooMuchScratchIsAnError) {
  KernelPtr kernel = kernelOf(programLoop(callBody), uint64_t(1) << 60);
  try {
    run(*kernel, {4, 1, 1}, {0, uint64_t(&slowProgram)});
    FAIL();
  } catch (const Error &error) {
    EXPECT_NE(error.diagnostic().message.find("not enough memory"), std::string::npos);
  }
}

TEST(Launch, SeveralThreadsLaunchAtOnce) {
  KernelPtr kernel = kernelOf(programLoop(incrementBody));
  Threads pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 60; ++round) {
        std::vector<int32_t> array(5000 + round, round);
        run(*kernel, {int64_t(array.size()), 1, 1}, {uint64_t(array.data())});
        wrong += std::count(array.begin(), array.end(), round + 1) != int64_t(array.size());
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Launch, WorksAfterFork) {
  KernelPtr kernel = kernelOf(programLoop(callBody));
  Threads pool(2);
  run(*kernel, {16, 1, 1}, {0, uint64_t(&slowProgram)}); // workers exist in the parent
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    seenThreads.clear();
    run(*kernel, {16, 1, 1}, {0, uint64_t(&slowProgram)});
    _exit(seenThreads.size() == 2 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  seenThreads.clear();
  run(*kernel, {16, 1, 1}, {0, uint64_t(&slowProgram)});
  EXPECT_EQ(seenThreads.size(), 2u);
}

TEST(Launch, ForkWhileAnotherThreadLaunches) {
  KernelPtr kernel = kernelOf(programLoop(callBody));
  Threads pool(2);
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop)
      run(*kernel, {8, 1, 1}, {0, uint64_t(&slowProgram)});
  });
  for (int round = 0; round < 5; ++round) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      std::vector<int32_t> array(1000, 0);
      KernelPtr mine = kernel; // not compiled here: the compiler's own locks are not this test's matter
      static std::atomic<int> count;
      count = 0;
      run(*mine, {100, 1, 1}, {0, uint64_t(+[](int64_t, void *) {
                                 ++count;
                                 usleep(100);
                               })});
      _exit(count == 100 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  other.join();
}

TEST(Launch, AnInterruptedLaunchEndsSoon) {
  KernelPtr kernel = kernelOf(programLoop(callBody));
  for (unsigned threads : {1u, 2u}) {
    Threads pool(threads);
    static std::atomic<int> started;
    started = 0;
    LaunchOptions options;
    options.interrupted = [](void *) { return true; };
    auto begin = nowNanoseconds();
    auto result = run(*kernel, {100000, 1, 1}, {0, uint64_t(+[](int64_t, void *) {
                                                  ++started;
                                                  usleep(1000);
                                                })},
                      options);
    EXPECT_EQ(result, LaunchResult::Interrupted);
    EXPECT_LT(nowNanoseconds() - begin, 2'000'000'000);
    int count = started;
    usleep(20000);
    EXPECT_EQ(started, count); // nothing runs on behind the caller's back
  }
}

TEST(Launch, AFailedAssertionStopsTheLaunchAndNamesTheProgram) {
  std::string declarations = R"(
declare void @tilery_rt_assert(ptr, i64, ptr, ptr, i32, i32)
@message = private constant [9 x i8] c"x is bad\00"
@file = private constant [8 x i8] c"none.py\00"
)";
  std::string body = R"(
  %bad = icmp eq i64 %id, 7
  br i1 %bad, label %fail, label %next
fail:
  call void @tilery_rt_assert(ptr %launch, i64 %id, ptr @message, ptr @file, i32 12, i32 3)
  br label %exit
)";
  KernelPtr kernel = kernelOf(programLoop(body, declarations));
  try {
    run(*kernel, {4, 3, 1}, {0});
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.diagnostic().kind, Diagnostic::Kind::Assertion);
    EXPECT_EQ(error.diagnostic().message, "x is bad (program (3, 1, 0) of k)");
    ASSERT_EQ(error.diagnostic().chain.size(), 1u);
    EXPECT_EQ(error.diagnostic().chain[0].line, 12);
  }
  EXPECT_EQ(run(*kernel, {2, 3, 1}, {0}), LaunchResult::Done);
}
