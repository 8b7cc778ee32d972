// What several threads do to the runtime at once. A thread sanitizer sees more here than the expectations say (./run test sanitize): what
// programs do to memory is done by functions of this file, which it sees, too.
#include "kernels.h"
#include "runtime/block_pool.h"
#include "runtime/panels.h"
#include "tilery/bundle.h"
#include "tilery/cache.h"
#include "tilery/diagnostic.h"
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <thread>
#include <unistd.h>

using namespace tilery;
using namespace tilery::test;

namespace {
constexpr int callers = 8;

/// work(number) on eight threads at once.
void onThreads(const std::function<void(int)> &work) {
  std::vector<std::thread> threads;
  for (int number = 0; number < callers; ++number)
    threads.emplace_back(work, number);
  for (std::thread &thread : threads)
    thread.join();
}

struct Threads {
  explicit Threads(unsigned count) { setNumThreads(count); }
  ~Threads() { setNumThreads(0); }
};

/// Calls the function in slot 1 as f(array in slot 0, id, scratch).
const std::string callBody = R"(
  %array = load ptr, ptr %args
  %slot = getelementptr i64, ptr %args, i64 1
  %f = load ptr, ptr %slot
  call void %f(ptr %array, i64 %id, ptr %scratch)
  br label %next
)";
using Program = void (*)(int64_t *array, int64_t id, void *scratch);
/// Makes a launch long enough for workers to come.
void rest(int64_t id) {
  if (id % 16 == 0)
    usleep(50);
}
void add(int64_t *array, int64_t id, void *scratch) {
  rest(id);
  auto *own = static_cast<int64_t *>(scratch);
  own[id % 8] = id;
  array[id] += own[id % 8];
}
void subtract(int64_t *array, int64_t id, void *) {
  rest(id);
  array[id] -= id;
}

bool run(const Kernel &kernel, std::vector<int64_t> &array, Program program) {
  const int64_t grid[3] = {int64_t(array.size()), 1, 1};
  const uint64_t args[] = {uint64_t(array.data()), uint64_t(program)};
  return launch(kernel, grid, args) == LaunchResult::Done;
}
} // namespace

TEST(EightThreads, LaunchTheSameKernel) {
  Threads pool(3);
  KernelPtr kernel = kernelOf(programLoop(callBody), 64);
  std::atomic<int> wrong = 0;
  onThreads([&](int caller) {
    for (int round = 0; round < 20; ++round) {
      std::vector<int64_t> array(200 + caller, round);
      wrong += !run(*kernel, array, add);
      for (size_t i = 0; i < array.size(); ++i)
        wrong += array[i] != round + int64_t(i);
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(EightThreads, LoadLaunchAndLetGoOfKernels) {
  Threads pool(3);
  CodeImage image;
  image.object = objectOf(programLoop(callBody));
  image.kernels = {{"k", 64, {{"array", DType::I64, true, true}, {"f", DType::I64, false, false}}}};
  const std::string bytes = serialize(image);
  std::atomic<int> wrong = 0;
  onThreads([&](int caller) {
    for (int round = 0; round < 20; ++round) {
      KernelPtr kernel = load(deserialize(bytes)).at(0);
      std::vector<int64_t> array(64, 0);
      wrong += !run(*kernel, array, caller % 2 ? add : subtract);
      for (size_t i = 0; i < array.size(); ++i)
        wrong += array[i] != (caller % 2 ? int64_t(i) : -int64_t(i));
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(EightThreads, FailAndAreInterruptedEachAlone) {
  Threads pool(3);
  KernelPtr fails = kernelOf(programLoop(R"(
  %bad = icmp eq i64 %id, 37
  br i1 %bad, label %fail, label %next
fail:
  call void @tilery_rt_assert(ptr %launch, i64 %id, ptr @message, ptr null, i32 1, i32 1)
  br label %exit
)",
                                         R"(
declare void @tilery_rt_assert(ptr, i64, ptr, ptr, i32, i32)
@message = private constant [4 x i8] c"bad\00"
)"));
  KernelPtr works = kernelOf(programLoop(callBody), 64);
  std::atomic<int> wrong = 0;
  onThreads([&](int caller) {
    for (int round = 0; round < 10; ++round) {
      std::vector<int64_t> array(200, 0);
      if (caller % 2) {
        wrong += !run(*works, array, subtract);
        continue;
      }
      try {
        run(*fails, array, nullptr);
        ++wrong;
      } catch (const Error &error) {
        wrong += error.diagnostic().message != "bad (program (37, 0, 0) of k)";
      }
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(EightThreads, ChangeTheNumberOfThreadsWhileOthersLaunch) {
  Threads pool(2);
  KernelPtr kernel = kernelOf(programLoop(callBody), 64);
  std::atomic<int> wrong = 0;
  onThreads([&](int caller) {
    for (int round = 0; round < 20; ++round) {
      if (caller < 2)
        setNumThreads(unsigned(1 + (round + caller) % 4));
      std::vector<int64_t> array(100, 0);
      wrong += !run(*kernel, array, add);
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(EightThreads, UpdateAloneAndTogether) {
  Threads pool(3);
  CodeImage image;
  image.object = objectOf(programLoop(callBody));
  image.kernels = {{"k", 64, {{"array", DType::I64, true, true}, {"f", DType::I64, false, false}}}};
  image.kernels[0].updates = Updates::Alone;
  KernelPtr alone = load(image).at(0);
  image.kernels[0].updates = Updates::Shared;
  KernelPtr shared = load(image).at(0);
  static std::atomic<int64_t> sum;
  sum = 0;
  onThreads([&](int caller) {
    for (int round = 0; round < 10; ++round) {
      std::vector<int64_t> array(50, 0);
      run(caller % 2 ? *alone : *shared, array, [](int64_t *, int64_t id, void *) { sum += id; });
    }
  });
  EXPECT_EQ(sum, callers * 10 * (49 * 50 / 2));
}

// The other mode is tried again after some hundred launches, however many parts each of them has.
TEST(Threads, DoubtTheOtherModeOnceALaunch) {
  Threads pool(4);
  CodeImage image;
  image.object = objectOf(programLoop(callBody));
  image.kernels = {{"k", 64, {{"array", DType::I64, true, true}, {"f", DType::I64, false, false}}}};
  image.kernels[0].updates = Updates::Alone;
  KernelPtr kernel = load(image).at(0);
  constexpr double shared = 1e9; // far slower than alone
  kernel->setCost(shared, false);
  kernel->setCost(1, true);
  std::vector<int64_t> array(400, 0);
  for (int launches = 1; launches <= 3; ++launches) {
    ASSERT_TRUE(run(*kernel, array, add));
    EXPECT_NEAR(kernel->cost(false), shared * std::pow(0.99, launches), 1) << launches;
  }
}

TEST(EightThreads, ShareAndReplacePanels) {
  TileryLaunch launch{};
  std::atomic<int64_t> wrong = 0;
  const int64_t bytes = panelBudget() / 3, words = 16;
  onThreads([&](int) {
    for (int64_t round = 0; round < 60; ++round) {
      const int64_t key[] = {round / 3 % 5};
      TileryPanel *panel = tilery_rt_panel(&launch, key, 1, bytes, words);
      int64_t *memory = *reinterpret_cast<int64_t **>(panel);
      for (int64_t piece = tilery_rt_panel_piece(panel, -1); piece >= 0; piece = tilery_rt_panel_piece(panel, piece))
        memory[piece] = key[0] + piece;
      for (int64_t piece = 0; piece < words; ++piece)
        wrong += memory[piece] != key[0] + piece;
      tilery_rt_panel_release(&launch, panel);
    }
  });
  freePanels(launch.panels);
  EXPECT_EQ(wrong, 0);
}

TEST(EightThreads, TakeAndGiveBlocks) {
  BlockPool blocks(16 << 20);
  std::atomic<int> wrong = 0;
  onThreads([&](int caller) {
    for (int round = 0; round < 40; ++round) {
      const size_t bytes = size_t(64 << 10) << ((round + caller) % 6);
      auto *block = static_cast<int *>(blocks.take(bytes));
      block[0] = block[bytes / sizeof(int) - 1] = caller;
      wrong += block[0] != caller || block[bytes / sizeof(int) - 1] != caller;
      blocks.give(block);
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(EightThreads, UseTheDiskCache) {
  char name[] = "/tmp/tilery-threads-XXXXXX";
  const std::string folder = mkdtemp(name);
  std::atomic<int> wrong = 0;
  DiskCache shared(folder, 64 << 10);
  onThreads([&](int caller) {
    DiskCache own(folder, 64 << 10);
    for (int round = 0; round < 40; ++round) {
      DiskCache &cache = caller % 2 ? shared : own;
      const std::string key = "key " + std::to_string(round % 5), value(size_t(1000 + round % 5), 'x');
      cache.put("code", key, value);
      if (auto found = cache.get("code", key))
        wrong += *found != value;
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(std::system(("rm -r " + folder).c_str()), 0);
}

TEST(EightThreads, CallABundle) {
  CodeImage image;
  image.object = objectOf(programLoop(callBody));
  image.kernels = {{"k", 64, {{"array", DType::I64, true, true}, {"f", DType::I64, false, false}}}};
  BundleEntry entry{"k", {{"array", DType::I64, 1, false, DType::I64}, {"f", DType::I64, -1, false, DType::I64}}, true, {}};
  for (int64_t multiple : {64, 1}) // two kinds of call
    entry.variants.push_back({{{BundleCondition::ExtentDivisible, 0, 0, multiple}}, serialize(image), ""});
  Bundle bundle(serialize({entry}));
  std::atomic<int> wrong = 0;
  onThreads([&](int caller) {
    for (int round = 0; round < 10; ++round) {
      std::vector<int64_t> array(size_t(caller % 2 ? 64 : 65), 0);
      const int64_t extents[] = {int64_t(array.size())}, strides[] = {1}, grid[] = {extents[0], 1, 1};
      Tensor tensor{array.data(), DType::I64, 1, extents, strides, {}};
      const std::vector<HostArgument> arguments{{&tensor, 0}, {nullptr, uint64_t(&add)}};
      wrong += !bundle.call(0, arguments, grid, {});
      wrong += array[5] != 5;
    }
  });
  EXPECT_EQ(wrong, 0);
}
