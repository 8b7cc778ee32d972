#pragma once
#include "../cpu/run_kernel.h"
#include "tests/emulator/emulator.h"

namespace tilery::test {

/// Runs a kernel as the GPU's general code does on a grid, its threads as fibers; with `disjoint`, no argument overlaps another.
/// `rowElements`: as for planSimt.
inline void onEmulator(const std::string &text, bool disjoint, std::array<uint32_t, 3> grid, std::vector<uint64_t> slots,
                       int64_t rowElements = cuda::longestOwnRow) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  ASSERT_TRUE(module);
  std::string unsupported;
  EXPECT_EQ(emulator::runBlocks(*module, disjoint, grid.data(), slots.data(), unsupported, rowElements), "");
  EXPECT_EQ(unsupported, "");
}

} // namespace tilery::test
