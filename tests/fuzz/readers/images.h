#pragma once
// Images for seeds.
#include "tilery/host.h"

namespace tilery::readers {
/// A GPU's kernel that has one of everything.
inline KernelInfo gpuKernel() {
  KernelInfo kernel{"k", 0, {{"a", DType::BF16, true, true}, {"m", DType::I32, false, false}, {"k", DType::I64, false, false}}};
  kernel.gpu.threads = 384;
  kernel.gpu.sharedBytes = 1 << 17;
  kernel.cooperative = kernel.gpu.persistent = kernel.gpu.programmatic = true;
  kernel.gpu.cluster = 2;
  kernel.gpu.workspaceBytes = 1 << 20;
  PolynomialInfo rows;
  rows.terms = {{3, {}}, {-2, {1}}, {1, {1, 2, PolynomialInfo::gridExtent + 2}}};
  TensorMapInfo map;
  map.dtype = DType::BF16;
  map.offset = rows;
  map.dimensions = {{64, 1, 64}, {rows, 128, 32}, {2, rows, 1}};
  map.swizzle = 128;
  kernel.gpu.maps = {map};
  kernel.gpu.conditions = {{rows, 0}, {rows, 16}};
  kernel.gpu.split = {0, 2, 64};
  kernel.gpu.sites = {{true, "n > 0", "file.py", 3, 4, false, {}},
                      {false, "x = ", "", 0, 0, true, {{{2, 3}, uint32_t(DType::I32)}, {{}, TILERY_POINTER}}}};
  return kernel;
}

/// scale(x, n): checks, a workspace, a grid, a launch, a result. Its only kernel takes two pointers and a number.
inline HostProgram hostProgram() {
  using enum HostOp;
  HostProgram program;
  program.name = "scale";
  program.parameters = {{"x", DType::F32, 2}, {"n", DType::I32, -1}};
  program.registers = 8;
  program.tensors = 4;
  program.texts = {"x has {0} columns, n is {1}"};
  auto add = [&](HostOp op, std::initializer_list<int64_t> operands) {
    program.code.push_back(int64_t(op));
    program.code.insert(program.code.end(), operands);
  };
  add(Extent, {0, 0, 0}), add(Extent, {1, 0, 1}), add(Scalar, {2, 1}), add(SignExtend, {2, 2, 32});
  add(Check, {1, 2, 0, 1}), add(Stride, {3, 0, 0}), add(Constant, {4, 64}), add(DivFloor, {5, 3, 4}), add(RemTrunc, {5, 5, 4});
  add(Select, {5, 2, 3, 4}), add(Empty, {2, int64_t(DType::F32), 0, 2, 0, 1}), add(Empty, {3, int64_t(DType::F16), 1, 1, 1});
  add(Pointer, {6, 0}), add(Pointer, {7, 2}), add(Launch, {0, 2, 0, 5, 3, 6, 0, 7, 2, 3, -1}), add(Return, {1, 2});
  return program;
}
inline std::vector<KernelInfo> hostKernels() {
  return {{"scale", 0, {{"x", DType::F32, true, false}, {"y", DType::F32, true, true}, {"n", DType::I64, false, false}}}};
}
} // namespace tilery::readers
