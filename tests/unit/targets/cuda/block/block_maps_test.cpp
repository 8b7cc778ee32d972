// Maps that the device makes, on the CPU: problems of a table, of many sizes, in blocks that go from one to the next.
#include "tests/unit/targets/cpu/run_kernel.h"
#include "tests/emulator/emulator.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace tilery;
using namespace tilery::test;
using emulator::Timing;

namespace {
mlir::OwningOpRef<mlir::ModuleOp> problemsProgram() {
  std::string here = __FILE__, up = here.substr(0, here.find("tests/unit"));
  auto text = llvm::MemoryBuffer::getFile(up + "tests/ir/block/passes/made-maps.mlir");
  return text ? mlir::parseSourceString<mlir::ModuleOp>((*text)->getBuffer(), &context()) : nullptr;
}

/// Rows of `pitch` elements; small integers, so that sums are exact in f16.
struct Matrix {
  int64_t rows, columns, pitch, shift; // elements behind a multiple of 16 bytes
  std::vector<_Float16> memory;

  Matrix(int64_t rows, int64_t columns, int64_t pitch, int64_t shift, int seed)
      : rows(rows), columns(columns), pitch(pitch), shift(shift), memory(size_t(rows * pitch + 32), _Float16(99)) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        at(i, j) = _Float16(float((i * 7 + j * 3 + seed) % 5 - 2));
  }
  _Float16 *first() { return reinterpret_cast<_Float16 *>((reinterpret_cast<uintptr_t>(memory.data()) + 15) / 16 * 16) + shift; }
  _Float16 &at(int64_t i, int64_t j) { return first()[i * pitch + j]; }
};

struct Problem {
  int64_t m, n, k;
  int64_t pitchC, shiftC; // a result may begin anywhere: threads store it then
};

void expectProblems(const std::vector<Problem> &problems, uint32_t programs) {
  auto module = problemsProgram();
  ASSERT_TRUE(module);
  auto kernel = emulator::Kernel::translate(*module, emulator::Path::Block, true, 0);
  ASSERT_TRUE(kernel);
  for (Timing timing : {Timing::CopiesAtOnce, Timing::CopiesLate}) {
    std::vector<Matrix> a, b, c;
    std::vector<int32_t> sizes;
    for (const Problem &p : problems) {
      auto whole = [](int64_t n) { return (n + 7) / 8 * 8 + 8; };
      a.emplace_back(p.m, p.k, whole(p.k), 0, 1), b.emplace_back(p.k, p.n, whole(p.n), 0, 2);
      c.emplace_back(p.m, p.n, p.pitchC, p.shiftC, 3);
      for (int64_t number : {p.m, p.n, p.k, a.back().pitch, b.back().pitch, p.pitchC})
        sizes.push_back(int32_t(number));
    }
    alignas(16) uint64_t tables[64];
    for (size_t i = 0; i < problems.size(); ++i)
      tables[3 * i] = slot(a[i].first()), tables[3 * i + 1] = slot(b[i].first()), tables[3 * i + 2] = slot(c[i].first());
    sizes.insert(sizes.end(), 4, 0);
    uint32_t grid[] = {programs, 1, 1};
    std::vector<uint64_t> slots = {slot(tables), slot(sizes.data()), slot(int64_t(problems.size()))};
    ASSERT_EQ(kernel->run(grid, slots.data(), timing), "");
    for (size_t p = 0; p < problems.size(); ++p)
      for (int64_t i = 0; i < problems[p].m; ++i)
        for (int64_t j = 0; j < problems[p].pitchC; ++j) {
          float expected = j < problems[p].n ? 0 : 99; // nothing is written behind a row's end
          for (int64_t k = 0; j < problems[p].n && k < problems[p].k; ++k)
            expected += float(a[p].at(i, k)) * float(b[p].at(k, j));
          ASSERT_EQ(float(c[p].at(i, j)), expected) << "problem " << p << ": " << i << ", " << j;
        }
  }
}

TEST(MadeMaps, ProblemsOfManySizes) {
  expectProblems({{128, 64, 64, 64, 0}, {200, 136, 72, 136, 0}, {0, 64, 64, 64, 0}, {64, 64, 0, 72, 0}, {130, 64, 300, 64, 0}},
                 2);
}
TEST(MadeMaps, AProgramForEachTile) { expectProblems({{256, 128, 64, 128, 0}, {128, 64, 128, 64, 0}}, 5); }
TEST(MadeMaps, ManyProblemsOfOneStep) {
  std::vector<Problem> problems;
  for (int i = 0; i < 12; ++i)
    problems.push_back({128, 64, i % 3 ? 16 + i : 0, 64, 0});
  expectProblems(problems, 1);
}
TEST(MadeMaps, ResultsThatAreNoBoxes) { expectProblems({{100, 40, 64, 48, 1}, {70, 33, 64, 35, 0}, {64, 64, 64, 64, 0}}, 1); }
} // namespace
