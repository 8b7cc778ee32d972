// tile.host into the runtime's program: what it becomes, and what is refused where.
#include "compiler/host_program.h"
#include "tests/unit/targets/cpu/run_kernel.h"
#include "tilery/host.h"

using namespace tilery;
using namespace tilery::test;

namespace {
std::string errors;
/// The program of a host function over a 2-D tensor %x and %n: i64, beside a kernel @copy of one pointer and one i64.
std::optional<HostProgram> compiled(const std::string &body) {
  errors.clear();
  mlir::ScopedDiagnosticHandler handler(&context(), [](mlir::Diagnostic &d) {
    errors += d.str();
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "tile.kernel @copy(%p: !tile.ptr<f32>, %n: i64) {\n  tile.return\n}\n"
      "tile.host @copy_host(%x: !tile.tensor_arg<2xf32> {tile.name = \"x\"}, %n: i64 {tile.name = \"n\"}) {\n" +
          body + "  tile.return\n}\n",
      &context());
  if (!module)
    return std::nullopt;
  KernelInfo kernel;
  kernel.name = "copy";
  kernel.args.resize(2);
  auto bytes = compileHost(*module, kernel);
  return mlir::succeeded(bytes) ? std::optional(HostProgram::parse(*bytes, {&kernel, 1})) : std::nullopt;
}
const char *pointer = "  %p = tile.host_pointer %x : !tile.tensor_arg<2xf32> -> !tile.ptr<f32>\n";
} // namespace

TEST(HostCompiler, ParametersHaveNamesAndRanks) {
  auto program = compiled("");
  ASSERT_TRUE(program) << errors;
  EXPECT_EQ(program->name, "copy");
  ASSERT_EQ(program->parameters.size(), 2u);
  EXPECT_EQ(program->parameters[0].name, "x");
  EXPECT_EQ(program->parameters[0].rank, 2);
  EXPECT_EQ(program->parameters[0].dtype, DType::F32);
  EXPECT_EQ(program->parameters[1].rank, -1);
  EXPECT_EQ(program->parameters[1].dtype, DType::I64);
}

TEST(HostCompiler, ChecksKeepTheirText) {
  auto program = compiled("  %rows = tile.host_extent %x, 0 : !tile.tensor_arg<2xf32>\n"
                          "  tile.host_check %rows equals %n, \"x has {0} rows, expected {1}\"\n");
  ASSERT_TRUE(program) << errors;
  EXPECT_EQ(program->texts, std::vector<std::string>{"x has {0} rows, expected {1}"});
}

TEST(HostCompiler, LaunchesFitTheirKernel) {
  EXPECT_TRUE(compiled(std::string(pointer) + "  tile.launch @copy grid(%n) args(%p, %n) : !tile.ptr<f32>, i64\n")) << errors;
  EXPECT_FALSE(compiled(std::string(pointer) + "  tile.launch @copy grid(%n) args(%p) : !tile.ptr<f32>\n"));
  EXPECT_NE(errors, "");
  EXPECT_FALSE(compiled(std::string(pointer) + "  tile.launch @other grid(%n) args(%p, %n) : !tile.ptr<f32>, i64\n"));
  EXPECT_NE(errors, "");
}

TEST(HostCompiler, WhatTheHostCannotComputeIsNamed) {
  EXPECT_FALSE(compiled("  %f = arith.constant 1.0 : f32\n  %g = arith.addf %f, %f : f32\n"));
  EXPECT_EQ(errors, "host functions cannot compute arith.addf");
}

TEST(HostCompiler, AModuleWithoutAHostFunctionGivesNothing) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>("tile.kernel @k() {\n  tile.return\n}\n", &context());
  auto bytes = compileHost(*module, {});
  ASSERT_TRUE(mlir::succeeded(bytes));
  EXPECT_TRUE(bytes->empty());
}
