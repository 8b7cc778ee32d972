#pragma once
// What a compilation left for the launches that share its specialisation.
#include "launch_key.h"
#include "tilery/host.h"
#include <nanobind/nanobind.h>
#include <map>
#include <vector>

namespace tilery::python {

/// Where GPU kernels run.
struct GpuPlace {
  int device = -1; ///< the GPU's number; -1: the CPU
  void *stream = nullptr;
};

/// What a launch knows when its plan runs.
struct Call {
  const char *kernelName;
  const Argument *arguments;
  const std::vector<Parameter> &parameters;
  const int64_t *grid; ///< three extents; null: called without a grid
  GpuPlace gpu;
};

/// Other code for a plan's kernels, compiled when the first launch needs it: one that breaks a condition (GpuInfo::conditions), or has so few
/// programs that the blocks of a cluster share each (GpuInfo::split).
struct OtherImages {
  nanobind::object compile; ///< () -> CodeImage without boxes, (blocks) -> one for clusters of so many; None: there are no others
  std::map<unsigned, std::vector<KernelPtr>> kernels; ///< by blocks; 0: without boxes

  /// The kernel of the same name. Throws Error, or PythonRaised when a Python exception is set.
  const Kernel &kernel(const std::string &name, unsigned blocks);
};

/// Launches one kernel over the caller's grid.
struct KernelPlan {
  KernelPtr kernel;
  std::vector<uint32_t> slots; ///< parameter position of each kernel argument
  nanobind::object result;     ///< what the launch returns
  mutable OtherImages others;

  /// TILERY_DISJOINT and TILERY_STREAM for these arguments.
  uint32_t flags(const Argument *arguments) const;
  /// A new reference, or null with a Python exception set. Throws Error. The caller keeps the plan alive.
  PyObject *run(const Call &call, uint32_t flags) const;
};

/// Runs a host program: checks, allocations, launches.
struct HostPlan {
  HostProgram program;
  std::vector<KernelPtr> kernels;
  nanobind::object allocate; ///< allocate(extents, dtype, like) -> tensor; None: programs that make no tensors
  mutable OtherImages others;

  /// Parameter position of each argument of the program, by name. Throws Error.
  std::vector<uint32_t> bind(const std::vector<Parameter> &parameters) const;
  /// What the program returns: None, a tensor, or a list of them. A new reference, or null with a Python exception set. Throws
  /// Error.
  PyObject *run(const Call &call, const std::vector<uint32_t> &slots) const;
};
void bindHostPlan(nanobind::module_ &m);

/// Runs a kernel, on a CPU with the GIL released; Ctrl-C stops it. False: a Python exception is set.
bool launchReleased(const Kernel &kernel, const int64_t grid[3], const uint64_t *args, uint32_t flags, GpuPlace gpu,
                    OtherImages &others);
/// The argument as the bits of a kernel slot; a tensor of no dimensions counts as the number it holds now. Throws Error if it is of
/// another kind.
uint64_t slotBits(const Argument &argument, const ArgInfo &info, const char *parameterName, const char *kernelName, GpuPlace gpu);
/// Throws Error for a tensor that the kernel is to reach on the GPU and that lies elsewhere: one of no dimensions, since others decide
/// where a launch runs.
void checkPlace(const Argument &argument, const char *parameterName, const char *kernelName, GpuPlace gpu);

void bindPlans(nanobind::module_ &m);

} // namespace tilery::python
