#pragma once
// The barrier events of an emitted kernel, by running the part of its code that decides them.
#include "compiler/barriers/model.h"
#include "tilery/runtime.h"
#include "llvm/IR/Function.h"

namespace tilery::cuda {

/// A launch to run: enough to go around the ring a few times.
struct TracedLaunch {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t blocks = 1;  // that run at once; those of one cluster are traced
  int64_t argument = 0; // the value of every integer argument of the kernel
};

struct BarrierTrace {
  std::vector<barriers::Agent> agents;
  std::string unknown; // not empty: what the model does not know, so that the trace says nothing
};

/// `function`: a kernel as it leaves the emitter, not yet optimised; its first info.maps.size() parameters are tensor maps, its last three
/// the grid. The first thread of each warpgroup speaks for the warpgroup, the next ones arrive at other blocks of the cluster.
BarrierTrace traceBarriers(const llvm::Function &function, const GpuInfo &info, const TracedLaunch &launch);

/// What is wrong with the kernel's barriers (compiler/barriers/model.h) in launches of few and of many steps, where it has any; `unknown` receives
/// what kept it from being checked.
std::optional<std::string> checkBarriers(const llvm::Function &function, const GpuInfo &info, int64_t depth, unsigned stages,
                                         std::string *unknown = nullptr);

} // namespace tilery::cuda
