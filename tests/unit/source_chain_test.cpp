#include "compiler/source_chain.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace tilery;

TEST(SourceChain, OfAnInlinedHelper) {
  mlir::MLIRContext context;
  auto file = [&](const char *name, int line, int col, const char *function) {
    return mlir::NameLoc::get(mlir::StringAttr::get(&context, function), mlir::FileLineColLoc::get(&context, name, line, col));
  };
  auto chain = sourceChain(mlir::CallSiteLoc::get(file("helper.py", 3, 10, "add"), file("main.py", 12, 2, "kernel")));
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[0].file, "helper.py");
  EXPECT_EQ(chain[0].function, "add");
  EXPECT_EQ(chain[1].line, 12);
  EXPECT_EQ(chain[1].col, 2);
  EXPECT_EQ(chain[1].function, "kernel");
  EXPECT_TRUE(sourceChain(mlir::UnknownLoc::get(&context)).empty());
}
