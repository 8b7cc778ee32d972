// The table of environment variables: what each takes, what is refused in which words, and which names are taken for misspelt.
#include "tilery/environment.h"
#include "tilery/diagnostic.h"
#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace tilery;

namespace {
/// Sets a variable until the end of the scope.
struct Set {
  Set(const char *name, const std::string &text) : name(name) {
    if (const char *there = std::getenv(name))
      before = there;
    setenv(name, text.c_str(), 1);
  }
  ~Set() { before ? setenv(name, before->c_str(), 1) : unsetenv(name); }
  const char *name;
  std::optional<std::string> before;
};

/// What is said where `name` holds `text`; empty: nothing.
std::string said(const char *name, const std::string &text) {
  Set set(name, text);
  try {
    environmentText(name);
  } catch (const Error &error) {
    EXPECT_EQ(error.diagnostic().kind, Diagnostic::Kind::Value);
    EXPECT_THROW(checkEnvironment(), Error);
    return error.diagnostic().message;
  }
  return "";
}
} // namespace

TEST(Environment, TheTableIsSortedAndWorded) {
  auto variables = environmentVariables();
  EXPECT_TRUE(std::ranges::is_sorted(variables, {}, [](auto &variable) { return std::string_view(variable.name); }));
  for (const EnvironmentVariable &variable : variables) {
    EXPECT_TRUE(std::string_view(variable.name).starts_with("TILERY_"));
    EXPECT_NE(std::string_view(variable.takes), "");
    EXPECT_NE(std::string_view(variable.meaning), "");
    EXPECT_EQ(std::string_view(variable.takes).find('|'), std::string_view::npos) << "it stands in a table of Markdown";
    EXPECT_EQ(std::string_view(variable.meaning).find('|'), std::string_view::npos);
  }
}

TEST(Environment, SwitchesAreOnOrOff) {
  for (const char *name :
       {"TILERY_EXPLAIN", "TILERY_ORACLE", "TILERY_PERF", "TILERY_TEST_SHOW", "TILERY_TUNE", "TILERY_VERIFY"}) {
    for (const char *text : {"1", "true", "ON", "Yes", "y"}) {
      EXPECT_EQ(said(name, text), "");
      Set on(name, text);
      EXPECT_TRUE(environmentSwitch(name));
    }
    for (const char *text : {"0", "false", "OFF", "No", "n", ""}) {
      EXPECT_EQ(said(name, text), "");
      Set off(name, text);
      EXPECT_FALSE(environmentSwitch(name));
    }
    for (const char *text : {"2", "-1", "maybe", " 1", "1 ", "nan", "1e0"})
      EXPECT_EQ(said(name, text), std::string("the environment variable ") + name + " is '" + text +
                                      "'; expected 1 (true, on, yes, y) or 0 (false, off, no, n)");
  }
}

TEST(Environment, NumbersAreWholeAndWithinBounds) {
  for (const char *text : {"1", "3", "4096", "0003"})
    EXPECT_EQ(said("TILERY_NUM_THREADS", text), "");
  for (const char *text :
       {"0", "-2", "many", "3x", "3 ", " 3", "+3", "0x3", "3.0", "3e2", "4097", "nan", "inf", "18446744073709551617"})
    EXPECT_EQ(said("TILERY_NUM_THREADS", text),
              std::string("the environment variable TILERY_NUM_THREADS is '") + text + "'; expected a number from 1 to 4096");
  for (const char *text : {"", "0", "512", "1000000000"})
    EXPECT_EQ(said("TILERY_CACHE_MB", text), "");
  for (const char *text : {"-1", "512MB", "1000000001", "99999999999999999999999999"})
    EXPECT_NE(said("TILERY_CACHE_MB", text), "");
  Set number("TILERY_CACHE_MB", "17");
  EXPECT_EQ(environmentNumber("TILERY_CACHE_MB"), 17);
  Set none("TILERY_CACHE_MB", "");
  EXPECT_EQ(environmentNumber("TILERY_CACHE_MB"), std::nullopt);
}

TEST(Environment, WordsAreThoseThatThereAre) {
  for (auto [name, text] :
       std::initializer_list<std::pair<const char *, const char *>>{{"TILERY_DUMP", "tile"},
                                                                    {"TILERY_DUMP", "plan,llvm,all"},
                                                                    {"TILERY_DEVICE", "cpu"},
                                                                    {"TILERY_DEVICE", "cuda"},
                                                                    {"TILERY_COMPAT", "1"},
                                                                    {"TILERY_COMPAT", "told"},
                                                                    {"TILERY_GPU_TARGET", "sm_80"},
                                                                    {"TILERY_GPU_TARGET", "sm_90a"},
                                                                    {"TILERY_CPU_TARGET", "avx2"},
                                                                    {"TILERY_CRASH", "fault LLVM: EarlyCSEPass"}})
    EXPECT_EQ(said(name, text), "");
  for (auto [name, text] : std::initializer_list<std::pair<const char *, const char *>>{{"TILERY_DUMP", "tiles"},
                                                                                        {"TILERY_DUMP", "tile,"},
                                                                                        {"TILERY_DUMP", "tile, plan"},
                                                                                        {"TILERY_DUMP", ","},
                                                                                        {"TILERY_DUMP", "1"},
                                                                                        {"TILERY_DEVICE", "CPU"},
                                                                                        {"TILERY_DEVICE", "cuda:0"},
                                                                                        {"TILERY_COMPAT", "0"},
                                                                                        {"TILERY_GPU_TARGET", "sm_75"},
                                                                                        {"TILERY_GPU_TARGET", "sm_"},
                                                                                        {"TILERY_GPU_TARGET", "sm_90b"},
                                                                                        {"TILERY_GPU_TARGET", "90"},
                                                                                        {"TILERY_CPU_TARGET", "host"},
                                                                                        {"TILERY_CPU_TARGET", "avx3"},
                                                                                        {"TILERY_CRASH", "fault"},
                                                                                        {"TILERY_CRASH", "fault "},
                                                                                        {"TILERY_CRASH", "crash planning"}})
    EXPECT_NE(said(name, text), "") << name << " " << text;
}

TEST(Environment, WhateverStandsThereIsQuotedInOneLine) {
  EXPECT_EQ(said("TILERY_ORACLE", "a\nb\xff\t"),
            "the environment variable TILERY_ORACLE is 'a\\x0ab\\xff\\x09'; expected 1 (true, on, "
            "yes, y) or 0 (false, off, no, n)");
  std::string message = said("TILERY_NUM_THREADS", std::string(100000, '9'));
  EXPECT_LT(message.size(), 200u);
  EXPECT_NE(message.find("99...'"), std::string::npos) << message;
}

TEST(EnvironmentDeathTest, MisspeltNamesAreNamedOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process that has not looked yet
  auto ask = [] {
    setenv("TILERY_CACHEDIR", "x", 1);
    warnOfUnknownVariables();
    checkEnvironment();
    std::_Exit(0);
  };
  EXPECT_EXIT(
      ask(), testing::ExitedWithCode(0),
      "^tilery: the environment variable 'TILERY_CACHEDIR' is not known and does nothing; did you mean TILERY_CACHE_DIR\\?\n$");
}

TEST(Environment, AskingForTheEmulatorWhereThereIsNoneIsToldOnce) {
  Set set("TILERY_EMULATE", "sm_90a");
  testing::internal::CaptureStderr();
  checkEnvironment();
  checkEnvironment();
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("TILERY_EMULATE does nothing here"), std::string::npos) << text;
  EXPECT_EQ(text.find("TILERY_EMULATE"), text.rfind("TILERY_EMULATE")) << text;
}
