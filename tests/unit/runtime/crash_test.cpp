// A fault in generated code is reported with the kernel's name and line; any other is left alone.
#include "runtime/crash.h"
#include "kernels.h"
#include "tilery/crash_report.h"
#include <csignal>
#include <thread>
#include <unistd.h>

using namespace tilery;
using namespace tilery::test;

namespace {
/// Stores to the address in slot 0.
const char *storeBody = R"(
  %where = load ptr, ptr %args
  store i32 1, ptr %where
  br label %next
)";
void storeTo(uint64_t address) {
  const int64_t grid[3] = {1, 1, 1};
  launch(*kernelOf(programLoop(storeBody)), grid, &address);
}
} // namespace

TEST(Crash, LoadedCodeIsFoundByItsAddresses) {
  KernelPtr kernel = kernelOf(programLoop(storeBody));
  auto address = reinterpret_cast<uint64_t>(kernel->entry());
  const ElfCode *code = codeAt(address);
  ASSERT_TRUE(code);
  EXPECT_TRUE(std::any_of(code->functions().begin(), code->functions().end(),
                          [&](const CodeSymbol &f) { return f.name == "k" && f.address == address && f.size > 0; }));
  EXPECT_FALSE(codeAt(reinterpret_cast<uint64_t>(&storeTo)));
  KernelPtr second = kernelOf(programLoop(incrementBody));
  EXPECT_NE(codeAt(reinterpret_cast<uint64_t>(second->entry())), code);
  EXPECT_EQ(codeAt(address), code);
  kernel.reset();
  EXPECT_FALSE(codeAt(address)) << "unloaded";
}

TEST(CrashDeathTest, NamesKernelAddressAndLine) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setSourceLineFinder([](std::string_view object, uint64_t address) {
          return std::string(object.substr(1, 3) == "ELF" && codeAt(address) ? "here.py:7" : "wrong");
        });
        storeTo(24);
      },
      testing::KilledBySignal(SIGSEGV),
      "^tilery: kernel k touched memory that is not there \\(address 0x18\\)\n  at here.py:7\n  hint: the same kernel "
      ".*debug=True");
  EXPECT_EXIT(
      {
        setSourceLineFinder(nullptr);
        storeTo(uint64_t(1) << 63); // no address at all: the processor does not tell it
      },
      testing::KilledBySignal(SIGSEGV), "^tilery: kernel k touched memory that is not there\n  hint: ");
}

TEST(CrashDeathTest, OtherFaultsAreNotOurs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        watchCrashes();
        *reinterpret_cast<volatile int *>(24) = 1;
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

TEST(CrashDeathTest, SignalsOfOthersAreHandedOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        watchCrashes();
        kill(getpid(), SIGSEGV);
        std::exit(0);
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

namespace {
__attribute__((noinline)) int deep(volatile int *outer) {
  volatile int inner[100] = {*outer};
  return inner[0] < 0 ? 0 : deep(inner) + inner[1];
}
} // namespace

TEST(CrashDeathTest, GuardedCodeEndsAlone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        auto fails = [](int wanted, const std::function<void()> &work) {
          if (int signal = guarded(work); signal != wanted) {
            std::fprintf(stderr, "%d instead of %d\n", signal, wanted);
            std::exit(2);
          }
        };
        auto all = [&] {
          for (int round = 0; round < 3; ++round) {
            fails(0, [] {});
            fails(SIGSEGV, [] { *reinterpret_cast<volatile int *>(24) = 1; });
            fails(SIGABRT, [] { std::abort(); });
            fails(SIGILL, [] { __builtin_trap(); });
            fails(SIGSEGV, [] {
              int zero = 0;
              deep(&zero);
            });
            fails(SIGSEGV, [&] {
              fails(SIGABRT, [] { std::abort(); });
              *reinterpret_cast<volatile int *>(24) = 1;
            });
          }
        };
        all();
        std::thread(all).join();
        try {
          guarded([] { throw 7; });
        } catch (int) {
          std::exit(0);
        }
      },
      testing::ExitedWithCode(0), "^$");
}

TEST(CrashDeathTest, WhatIsNotGuardedEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT((guarded([] {}), std::abort()), testing::KilledBySignal(SIGABRT), "^$");
  EXPECT_EXIT(guarded([] { kill(getpid(), SIGSEGV), sleep(5); }), testing::KilledBySignal(SIGSEGV), "^$") << "somebody else's";
  EXPECT_EXIT(guarded([] {
                Unguarded handler;
                std::abort();
              }),
              testing::KilledBySignal(SIGABRT), "^$");
  EXPECT_EXIT(guarded([] { std::thread([] { std::abort(); }).join(); }), testing::KilledBySignal(SIGABRT), "^$")
      << "another thread";
}
