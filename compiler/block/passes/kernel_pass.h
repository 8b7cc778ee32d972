#pragma once
// Passes over kernels in block IR are functions: lists say what they are called and what they do.
#include "compiler/block/ir/Block.h"
#include "compiler/ir/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace tilery::block {

class KernelPass;

/// A pass of a list.
struct PassRow {
  constexpr PassRow(const char *name, const char *description, void (*run)(tile::KernelOp))
      : name(name), description(description), change(run) {}
  /// One that asks more than the kernel, or may fail.
  constexpr PassRow(const char *name, const char *description, void (*run)(KernelPass &))
      : name(name), description(description), run(run) {}
  /// One that is no function over kernels.
  constexpr PassRow(std::unique_ptr<mlir::Pass> (*create)()) : create(create) {}

  std::unique_ptr<mlir::Pass> make() const;

  const char *name = nullptr, *description = nullptr;
  void (*change)(tile::KernelOp) = nullptr;
  void (*run)(KernelPass &) = nullptr;
  std::unique_ptr<mlir::Pass> (*create)() = nullptr;
};

class KernelPass : public mlir::PassWrapper<KernelPass, mlir::OperationPass<tile::KernelOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelPass)
  explicit KernelPass(const PassRow &row) : row(row) {}

  llvm::StringRef getArgument() const final { return row.name; }
  llvm::StringRef getDescription() const final { return row.description; }
  void getDependentDialects(mlir::DialectRegistry &registry) const final {
    registry.insert<BlockDialect, mlir::arith::ArithDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  }
  void runOnOperation() final { row.change ? row.change(getOperation()) : row.run(*this); }

  using OperationPass::getOperation;
  using Pass::getAnalysis;
  using Pass::markAllAnalysesPreserved;
  using Pass::signalPassFailure;

private:
  PassRow row;
};

} // namespace tilery::block
