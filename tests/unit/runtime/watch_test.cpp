// Launches that are interrupted in the midst of a program.
#include "runtime/watch.h"
#include "kernels.h"
#include "runtime/pool.h"
#include "tilery/abi.h"
#include "tilery/diagnostic.h"
#include <csignal>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace tilery;
using namespace tilery::test;

namespace {
const std::string declarations = R"(
declare i32 @tilery_rt_poll(ptr)
declare void @tilery_rt_assert(ptr, i64, ptr, ptr, i32, i32)
@message = private constant [9 x i8] c"x is bad\00"
)";
/// A loop that never ends, with the poll that the compiler writes at its back edge. Program 1 fails where slot 0 is 1.
const std::string spinBody = R"(
  %wrong = load i64, ptr %args
  %is.first = icmp eq i64 %id, 1
  %is.wrong = icmp eq i64 %wrong, 1
  %fails = and i1 %is.first, %is.wrong
  br i1 %fails, label %fail, label %spin
fail:
  call void @tilery_rt_assert(ptr %launch, i64 %id, ptr @message, ptr null, i32 0, i32 0)
  br label %exit
spin:
  %place = getelementptr i8, ptr %launch, i64 40
  %poll = load volatile i32, ptr %place
  %quiet = icmp eq i32 %poll, 0
  br i1 %quiet, label %spin, label %ask
ask:
  %leave = call i32 @tilery_rt_poll(ptr %launch)
  %stay = icmp eq i32 %leave, 0
  br i1 %stay, label %spin, label %exit
)";
static_assert(offsetof(TileryLaunch, poll) == 40);

LaunchResult run(const Kernel &kernel, int64_t programs, uint64_t wrong, const LaunchOptions &options) {
  const int64_t grid[3] = {programs, 1, 1};
  return launch(kernel, grid, &wrong, options);
}

struct WatchTest : testing::Test {
  KernelPtr kernel = kernelOf(programLoop(spinBody, declarations));
  ~WatchTest() override { setNumThreads(0); }
};
using WatchDeathTest = WatchTest;
} // namespace

TEST_F(WatchTest, ALoopThatDoesNotEndIsLeft) {
  for (unsigned threads : {1u, 2u, 3u})
    for (int64_t programs : {1, 2, 1000}) {
      setNumThreads(threads);
      static int asked;
      asked = 0;
      LaunchOptions options;
      options.interrupted = [](void *) { return ++asked == 3; };
      int64_t begin = nowNanoseconds();
      EXPECT_EQ(run(*kernel, programs, 0, options), LaunchResult::Interrupted);
      EXPECT_EQ(asked, 3);
      EXPECT_LT(nowNanoseconds() - begin, 2'000'000'000);
    }
}

TEST_F(WatchTest, AFailedAssertionEndsTheOtherPrograms) {
  setNumThreads(3);
  EXPECT_THROW(run(*kernel, 3, 1, {}), Error);
}

TEST_F(WatchTest, WhoIsAskedMayLaunch) {
  static KernelPtr other, increments;
  other = kernel;
  increments = kernelOf(programLoop(incrementBody), /*scratchBytes=*/4 << 20);
  static int asked;
  asked = 0;
  LaunchOptions options;
  options.interrupted = [](void *) {
    ++asked;
    LaunchOptions inner;
    inner.interrupted = [](void *) { return true; };
    EXPECT_EQ(run(*other, 4, 0, inner), LaunchResult::Interrupted);
    int array[4] = {1, 2, 3, 4};
    EXPECT_EQ(run(*increments, 4, uint64_t(array), {}), LaunchResult::Done);
    EXPECT_EQ(array[3], 5);
    return asked == 2;
  };
  EXPECT_EQ(run(*kernel, 1, 0, options), LaunchResult::Interrupted);
  EXPECT_EQ(asked, 2);
}

TEST_F(WatchTest, HandlersStayTheProgram) {
  static std::atomic<int> handled;
  handled = 0;
  struct sigaction own = {}, after;
  own.sa_handler = [](int) { ++handled; };
  struct sigaction before;
  sigaction(SIGINT, &own, &before);
  LaunchOptions options;
  options.interrupted = [](void *) {
    struct sigaction now;
    sigaction(SIGINT, nullptr, &now); // the program's own while its code runs
    EXPECT_FALSE(now.sa_flags & SA_SIGINFO);
    raise(SIGINT);
    return handled == 3;
  };
  EXPECT_EQ(run(*kernel, 4, 0, options), LaunchResult::Interrupted);
  EXPECT_EQ(handled, 3);
  sigaction(SIGINT, &before, &after);
  EXPECT_EQ(after.sa_handler, own.sa_handler);
}

TEST_F(WatchDeathTest, WithoutAHandlerASignalEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        signal(SIGINT, SIG_DFL);
        static bool sent = false;
        LaunchOptions options;
        options.interrupted = [](void *) {
          if (!std::exchange(sent, true))
            kill(getpid(), SIGINT);
          return false;
        };
        run(*kernel, 4, 0, options);
      },
      testing::KilledBySignal(SIGINT), "^$");
}

TEST_F(WatchDeathTest, TheSecondInterruptWithoutAnAnswerEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        signal(SIGINT, [](int) {});
        KernelPtr deaf = kernelOf(programLoop("\n  br label %spin\nspin:\n  br label %spin\nnever:\n  br label %next\n"));
        std::thread([] {
          usleep(300'000);
          kill(getpid(), SIGINT);
          usleep(1'500'000);
          kill(getpid(), SIGINT);
        }).detach();
        LaunchOptions options;
        options.interrupted = [](void *) { return false; };
        run(*deaf, 1, 0, options);
      },
      testing::KilledBySignal(SIGINT),
      "^tilery: interrupted; a program of kernel k must end first; interrupt again \\(Ctrl-C\\) to end the process\n$");
}
