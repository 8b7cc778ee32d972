#include "emulator.h"
#include "compiler/lower/kernel_info.h"
#include "compiler/targets/cpu/emit_object.h"
#include "compiler/targets/cuda/block/emit_block.h"
#include "compiler/targets/cuda/block/lower_to_blocks.h"
#include "compiler/targets/cuda/ptx/lowering.h"
#include "compiler/targets/cuda/simt/simt.h"
#include "machine.h"
#include "runtime/cuda/reports.h"
#include "watch.h"
#include "tilery/abi.h"
#include "llvm/IR/Verifier.h"
#include <cstring>

using namespace mlir;

namespace tilery::emulator {
namespace {
constexpr uintptr_t workspaceAlignment = 256; // as the driver's allocations have it
} // namespace

std::unique_ptr<Kernel> Kernel::emit(tile::KernelOp kernel, const Emit &emit, bool disjoint) {
  llvm::LLVMContext context;
  llvm::Module module("blocks", context);
  cuda::GpuLowering lowering(cuda::CudaTarget{}, /*instructions=*/false);
  lower::Options options{lowering, disjoint, /*fpContract=*/false};
  const cpu::CpuTarget &host = cpu::hostTarget();
  cpu::prepareModule(module, host);
  lower::Emitter e(module, options);
  EmulatedMachine machine;
  auto result = std::make_unique<Kernel>();
  FailureOr<KernelInfo> info = lower::describe(kernel);
  if (failed(info))
    return nullptr;
  FailureOr<GpuInfo> gpu = emit(e, machine);
  if (failed(gpu))
    return nullptr;
  result->info = std::move(*info);
  result->info.gpu = std::move(*gpu);
  result->asynchronous = !result->info.gpu.maps.empty();
  watchAccesses(*module.getFunction(kernel.getSymName()));
  if (llvm::verifyModule(module, &llvm::errs()))
    return nullptr;
  cpu::EmitOptions emitOptions;
  emitOptions.fpContract = false;
  result->code = std::make_unique<ElfCode>(cpu::emitObject(module, host, emitOptions));
  std::string name = kernel.getSymName().str();
  result->entry = reinterpret_cast<void (*)(Thread *)>(result->code->find(name));
  result->facts = factsOf(*result->code, name);
  return result;
}

std::unique_ptr<Kernel> Kernel::translate(ModuleOp source, Path path, bool disjoint, uint64_t tileBytes, int64_t rowElements,
                                          bool mayAsk) {
  cuda::CudaTarget gpu;
  cuda::GpuLowering lowering(gpu, /*instructions=*/false);
  lower::Options lanes{lowering, disjoint, /*fpContract=*/false};
  tile::KernelOp kernel = *source.getOps<tile::KernelOp>().begin();
  if (path == Path::General) {
    cuda::SimtPlan plan = cuda::planSimt(kernel, lanes, tileBytes, rowElements);
    auto code = [&](lower::Emitter &e, cuda::BlockMachine &machine) {
      return cuda::SimtEmitter(e, kernel, plan, gpu, machine, mayAsk).emit();
    };
    return emit(kernel, code, disjoint);
  }
  std::string why;
  block::Gpu older{false, cuda::targetNamed("sm_80")->sharedBytes, 2048};
  FailureOr<OwningOpRef<ModuleOp>> lowered =
      cuda::lowerToBlocks(kernel, why, disjoint, true, 1, path == Path::Warps ? older : block::Gpu());
  if (failed(lowered) || !*lowered)
    return nullptr;
  tile::KernelOp blocks = *(*lowered)->getOps<tile::KernelOp>().begin();
  auto code = [&](lower::Emitter &e, cuda::BlockMachine &machine) { return cuda::emitBlock(e, blocks, machine); };
  return emit(blocks, code, disjoint);
}

bool Kernel::allows(const uint32_t grid[3], const uint64_t *slots) const {
  const int64_t extents[] = {grid[0], grid[1], grid[2]};
  return llvm::all_of(info.gpu.conditions,
                      [&](const ConditionInfo &condition) { return holds(condition, {info, slots, extents}); });
}

std::string Kernel::run(const uint32_t grid[3], const uint64_t *slots, Timing timing) const {
  const GpuInfo &gpu = info.gpu;
  const int64_t extents[] = {grid[0], grid[1], grid[2]};
  std::vector<TensorMap> maps;
  for (const TensorMapInfo &map : gpu.maps)
    maps.emplace_back(map, LaunchValues{info, slots, extents});
  std::string reports(gpu.sites.empty() ? 0 : TILERY_REPORT_BYTES, '\0');
  if (!reports.empty())
    std::memset(reports.data() + offsetof(TileryReports, failure), 0xff, 8);
  uint32_t programs = uint32_t(gpu.programs(extents));
  Launch launch{entry, gpu.threads, gpu.sharedBytes, gpu.cluster, facts.registers, gpu.workspaceBytes, timing, /*watches=*/true};
  launch.like.slots = slots;
  std::copy(grid, grid + 3, launch.like.grid);
  launch.like.blocks =
      gpu.cluster * (gpu.persistent ? (programs + 2) / 3 : programs); // persistent ones run three programs, most of them
  std::vector<char> workspace(launch.like.blocks * gpu.workspaceBytes + workspaceAlignment);
  launch.like.workspace = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(workspace.data()) + workspaceAlignment - 1) /
                                                   workspaceAlignment * workspaceAlignment);
  launch.like.reports = reports.data();
  launch.like.maps = maps.data();
  if (std::string wrong = emulator::run(launch); !wrong.empty())
    return wrong;
  if (!reports.empty()) {
    TileryReports head;
    std::memcpy(&head, reports.data(), sizeof head);
    std::string_view records = std::string_view(reports).substr(sizeof head);
    cuda::deliverReports(info, head, records.substr(0, head.used), grid);
  }
  return "";
}

std::string runBlocks(ModuleOp source, bool disjoint, const uint32_t grid[3], const uint64_t *slots, std::string &unsupported,
                      int64_t rowElements) {
  uint64_t tileBytes = grid[0] % 2 ? 512 : cuda::tileBytes({}); // in half of the runs the larger tiles go to the workspace
  std::unique_ptr<Kernel> kernel = Kernel::translate(source, Path::General, disjoint, tileBytes, rowElements, true);
  if (kernel && !kernel->allows(grid, slots))
    kernel = Kernel::translate(source, Path::General, disjoint, tileBytes, rowElements, false);
  if (!kernel) {
    unsupported = "the general GPU path cannot run it";
    return "";
  }
  return kernel->run(grid, slots);
}

} // namespace tilery::emulator
