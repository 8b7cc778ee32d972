#pragma once
// Kernels from text, run by the oracle on vectors.
#include "compiler/block/ir/Block.h"
#include "compiler/oracle/oracle.h"
#include <gtest/gtest.h>

namespace tilery::oracle {

class Program {
public:
  explicit Program(const std::string &text, bool verify = true) {
    context.loadDialect<tile::TileDialect, block::BlockDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                        mlir::scf::SCFDialect, mlir::ub::UBDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context, verify));
    if (!module)
      throw std::runtime_error("the test program does not parse");
  }
  tile::KernelOp kernel() { return *module->getOps<tile::KernelOp>().begin(); }
  tile::HostOp host() { return *module->getOps<tile::HostOp>().begin(); }
  /// Adds passes over kernels to a manager by `add`, and runs them.
  template <typename F> void apply(F add) {
    mlir::PassManager manager(&context);
    add(manager.nest<tile::KernelOp>());
    if (failed(manager.run(*module)))
      throw std::runtime_error("the passes fail on the test program");
  }
  template <typename Op> unsigned count() {
    unsigned found = 0;
    module->walk([&](Op) { ++found; });
    return found;
  }
  void run(std::array<uint32_t, 3> grid, std::vector<uint64_t> args, const Options &options = {}) {
    runKernel(kernel(), grid, args, options);
  }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

template <typename T> uint64_t slot(std::vector<T> &data) { return reinterpret_cast<uint64_t>(data.data()); }
template <typename T> Allocation allocation(std::vector<T> &data, std::string name) {
  return {slot(data), data.size() * sizeof(T), std::move(name), true, sizeof(T)};
}

} // namespace tilery::oracle
