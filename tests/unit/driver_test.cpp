// From a module to an image: which texts are made, what is refused and how.
#include "compiler/builder/module_impl.h"
#include "tilery/compile.h"
#include "tilery/diagnostic.h"
#include "tilery/module.h"
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace tilery;

namespace {
const char *copy = R"(
tile.kernel @k(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ax = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %ao = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %a = tile.load %ax : !tile.access<64xf32> -> tensor<64xf32>
  tile.store %ao, %a : !tile.access<64xf32>, tensor<64xf32>
  tile.return
})";
Diagnostic refusal(const std::string &text, const CompileOptions &options) {
  try {
    compile(*Module::parse(text), options);
  } catch (const Error &error) {
    return error.diagnostic();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}
} // namespace

TEST(Driver, TextsAreMadeWhereTheyAreWanted) {
  auto module = Module::parse(copy);
  Compiled plain = compile(*module);
  EXPECT_FALSE(plain.image.object.empty());
  ASSERT_EQ(plain.image.kernels.size(), 1u);
  EXPECT_EQ(plain.image.kernels[0].name, "k");
  EXPECT_TRUE(plain.tile.empty() && plain.llvm.empty() && plain.assembly.empty() && plain.plan.empty());
  CompileOptions options;
  options.wantLLVM = options.wantAsm = options.wantPlan = true;
  Compiled all = compile(*module, options);
  EXPECT_NE(all.tile.find("tile.kernel @k"), std::string::npos);
  EXPECT_NE(all.llvm.find("define"), std::string::npos);
  EXPECT_NE(all.assembly.find("k:"), std::string::npos);
  EXPECT_NE(all.plan.find("plan @k"), std::string::npos);
}

TEST(Driver, EveryTargetHasItsCode) {
  auto module = Module::parse(copy);
  for (const char *target : {"avx2", "avx512", "sapphirerapids", "aarch64-neon", "aarch64-dotprod"}) {
    CompileOptions options;
    options.target = target;
    EXPECT_EQ(compile(*module, options).image.object.substr(1, 3), "ELF") << target;
  }
  CompileOptions options;
  options.target = "sm_80";
  Compiled gpu = compile(*module, options);
  EXPECT_NE(gpu.image.object.find(".target sm_80"), std::string::npos);
}

TEST(Driver, ThreadsThatShareAModuleWaitForEachOther) {
  auto module = Module::parse(copy);
  const std::string text = module->text(), object = compile(*module).image.object;
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  {
    std::lock_guard reading(module->get().mutex);
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        CompileOptions options;
        options.target = i % 2 ? "sm_90a" : "host";
        if (i < 4)
          EXPECT_EQ(module->text(), text);
        Compiled compiled = compile(*module, options);
        ++done;
        EXPECT_EQ(compiled.image.object == object, options.target == "host");
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(200)); // each takes 10
    EXPECT_EQ(done, 0);
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(done, 8);
}

TEST(Driver, UnknownTargetsAreNamed) {
  CompileOptions options;
  options.target = "vax";
  Diagnostic error = refusal(copy, options);
  EXPECT_EQ(error.kind, Diagnostic::Kind::Value);
  EXPECT_EQ(error.message, "there is no target named 'vax'");
  EXPECT_NE(error.hint.find("avx512"), std::string::npos);
  options.target = "sm_10";
  EXPECT_EQ(refusal(copy, options).message, "there is no GPU target named 'sm_10'");
}

TEST(Driver, TheModuleStaysAsItIs) {
  auto module = Module::parse(copy);
  std::string before = module->text();
  compile(*module);
  EXPECT_EQ(module->text(), before);
}

TEST(Driver, TextThatIsNoIrIsRefused) {
  EXPECT_THROW(Module::parse("tile.kernel @k("), Error);
  try {
    Module::parse("tile.nothing");
  } catch (const Error &error) {
    EXPECT_NE(error.diagnostic().message.find("not tile IR"), std::string::npos);
  }
}

TEST(Driver, CachesAreKeyedByTarget) {
  EXPECT_NE(targetId("avx2"), targetId("avx512"));
  EXPECT_NE(targetId("sm_80"), targetId("sm_90a"));
  EXPECT_EQ(targetId("host"), targetId());
}
