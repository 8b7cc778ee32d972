#include "compiler/record.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace tilery;

namespace {

struct RecordTest : testing::Test {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallString<128> folder;

  void SetUp() override {
    context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect>();
    module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("record", folder));
  }
  void TearDown() override {
    unsetenv("TILERY_RECORD");
    llvm::sys::fs::remove_directories(folder);
  }
  std::vector<std::string> files() {
    std::vector<std::string> texts;
    std::error_code failure;
    for (llvm::sys::fs::directory_iterator file(folder, failure), end; file != end && !failure; file.increment(failure))
      texts.push_back((*llvm::MemoryBuffer::getFile(file->path()))->getBuffer().str());
    return texts;
  }
};

TEST_F(RecordTest, EachModuleWithItsOptionsOnce) {
  setenv("TILERY_RECORD", folder.c_str(), 1);
  record(*module, {});
  record(*module, {});
  EXPECT_EQ(files().size(), 1u);
  record(*module, {/*disjoint=*/true, /*fpContract=*/false, /*passes=*/false});
  EXPECT_EQ(files().size(), 2u);
  int disjoint = 0;
  for (const std::string &text : files()) {
    RecordedOptions options = recordedOptions(text);
    disjoint += options.disjoint;
    EXPECT_EQ(options.fpContract, !options.disjoint);
    EXPECT_EQ(options.passes, !options.disjoint);
    EXPECT_TRUE(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
  }
  EXPECT_EQ(disjoint, 1);
}

TEST_F(RecordTest, NothingUnlessAsked) {
  record(*module, {});
  EXPECT_TRUE(files().empty());
}

TEST_F(RecordTest, TextWithoutOptionsHasTheDefaults) {
  RecordedOptions options = recordedOptions("module {}");
  EXPECT_FALSE(options.disjoint);
  EXPECT_TRUE(options.fpContract && options.passes);
}

} // namespace
