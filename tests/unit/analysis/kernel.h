#pragma once
// A kernel from text, whose values tests ask about.
#include "compiler/ir/Tile.h"

struct Kernel {
  explicit Kernel(llvm::StringRef text) {
    context.loadDialect<tilery::tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  mlir::Block &body() { return (*module->getOps<tilery::tile::KernelOp>().begin()).getBody().front(); }
  /// Of the body's number-th op.
  mlir::Value result(unsigned number) { return std::next(body().begin(), number)->getResult(0); }
  mlir::Value argument(unsigned number) { return body().getArgument(number); }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
