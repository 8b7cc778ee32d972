#pragma once
// Compiles tile IR text for this processor and runs it.
#include "compiler/targets/cpu/cpu.h"
#include "compiler/passes/passes.h"
#include "compiler/record.h"
#include "tilery/runtime.h"
#include <cstring>
#include <gtest/gtest.h>

namespace tilery::test {

struct Compiled {
  Translation code;
  std::vector<KernelPtr> kernels;
  std::string errors;
};

inline mlir::MLIRContext &context() {
  static mlir::MLIRContext *c = [] {
    auto *context = new mlir::MLIRContext(mlir::MLIRContext::Threading::DISABLED);
    context->loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                         mlir::ub::UBDialect>();
    return context;
  }();
  return *c;
}

inline Compiled compileText(const std::string &text, cpu::Options options = {}, bool passes = false) {
  Compiled result;
  mlir::ScopedDiagnosticHandler handler(&context(), [&](mlir::Diagnostic &d) {
    result.errors += d.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  if (!module) {
    ADD_FAILURE() << result.errors;
    return result;
  }
  record(*module, {options.disjoint, options.fpContract, passes});
  if (passes) {
    mlir::PassManager manager(&context());
    buildPipeline(manager);
    if (mlir::failed(manager.run(*module)))
      ADD_FAILURE() << result.errors;
  }
  auto code = cpu::compileModule(*module, options);
  if (mlir::failed(code))
    return result;
  result.code = std::move(*code);
  if (cpu::hostRuns(options.target))
    result.kernels = load(CodeImage{result.code.object, result.code.kernels, ""});
  return result;
}

inline uint64_t slot(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }
inline uint64_t slot(int64_t value) { return uint64_t(value); }
inline uint64_t slot(int value) { return uint64_t(int64_t(value)); }
inline uint64_t slot(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

/// Runs the first kernel on a grid of `programs` x 1 x 1.
template <typename... Args> void run(const Compiled &compiled, int64_t programs, Args... args) {
  ASSERT_FALSE(compiled.kernels.empty()) << compiled.errors;
  uint64_t slots[] = {slot(args)...};
  int64_t grid[] = {programs, 1, 1};
  launch(*compiled.kernels[0], grid, slots);
}

} // namespace tilery::test
