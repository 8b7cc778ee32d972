#include "runtime/cuda/reports.h"
#include "tilery/diagnostic.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace tilery;

namespace {
/// A kernel that prints one int32 a program ("x = ") and asserts.
KernelInfo kernel() {
  KernelInfo info{"k", 0, {}, {}};
  info.gpu.sites = {{false, "x = ", "", 0, 0, false, {{{}, unsigned(DType::I32)}}}, {true, "n is odd", "a.py", 7, 3, false, {}}};
  return info;
}

std::string record(uint64_t program, int32_t value) {
  TileryReport head{program, 0, uint32_t(sizeof(TileryReport) + 8)};
  std::string bytes(head.bytes, '\0');
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, &value, sizeof value);
  return bytes;
}

const uint32_t grid[3] = {2, 2, 1};
} // namespace

TEST(Reports, ComeProgramAfterProgramEachInItsOwnOrder) {
  std::string records = record(3, 10) + record(0, 20) + record(3, 5) + record(0, 21);
  testing::internal::CaptureStdout();
  cuda::deliverReports(kernel(), {records.size(), UINT64_MAX}, records, grid);
  EXPECT_EQ(
      testing::internal::GetCapturedStdout(),
      "pid (0, 0, 0) idx () x = 20\npid (0, 0, 0) idx () x = 21\npid (1, 1, 0) idx () x = 10\npid (1, 1, 0) idx () x = 5\n");
}

TEST(Reports, SayHowMuchDidNotFit) {
  std::string first = record(0, 1), second = record(1, 2);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  cuda::deliverReports(kernel(), {first.size() + second.size(), UINT64_MAX}, first + second.substr(0, second.size() - 8), grid);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "pid (0, 0, 0) idx () x = 1\n");
  std::string lost = std::to_string(second.size());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tilery: " + lost + " bytes that k printed did not fit into the " +
                                                        std::to_string(TILERY_REPORT_BYTES) + " that a launch may print\n");
}

TEST(Reports, WhatNoCodeOfTheKernelsWroteIsAnError) {
  auto refused = [](TileryReport head, uint64_t failure = UINT64_MAX) {
    std::string bytes(sizeof head + 8, '\0');
    std::memcpy(bytes.data(), &head, sizeof head);
    EXPECT_THROW(cuda::deliverReports(kernel(), {bytes.size(), failure}, bytes, grid), Error);
  };
  refused({0, 2, sizeof(TileryReport) + 8}); // a site that is not there
  refused({0, 0, sizeof(TileryReport)});     // no room for what the site prints
  testing::internal::CaptureStdout();
  refused({0, 0, sizeof(TileryReport) + 8}, 2); // a failed assertion that is not there
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "pid (0, 0, 0) idx () x = 0\n");
}

TEST(Reports, AFailedAssertionIsAnErrorWithItsPlace) {
  try {
    cuda::deliverReports(kernel(), {0, uint64_t(2) << 16 | 1}, "", grid);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.diagnostic().kind, Diagnostic::Kind::Assertion);
    EXPECT_EQ(error.diagnostic().message, "n is odd (program (0, 1, 0) of k)");
    ASSERT_EQ(error.diagnostic().chain.size(), 1u);
    EXPECT_EQ(error.diagnostic().chain[0].file, "a.py");
    EXPECT_EQ(error.diagnostic().chain[0].line, 7);
  }
}
