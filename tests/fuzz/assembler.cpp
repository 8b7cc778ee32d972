#include "assembler.h"
#include "compiler/targets/cuda/cuda.h"
#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace mlir;

namespace tilery::fuzz {
namespace {

std::string complaintOf(const std::string &ptx, const char *arch) {
  char name[] = "/tmp/tilery-fuzzXXXXXX.ptx";
  close(mkstemps(name, 4));
  std::ofstream(name) << ptx;
  // Of a part of a program (`-c`), ptxas takes calls of its own subroutines for calls of others, around which it serialises products.
  bool isPart = ptx.find("wgmma") == std::string::npos || ptx.find(".extern .func") != std::string::npos;
  std::string said, command = "ptxas -v -arch=" + std::string(arch) + (isPart ? " -c" : "") + " -o /dev/null " + name + " 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  for (char buffer[512]; pipe && fgets(buffer, sizeof buffer, pipe);)
    said += buffer;
  bool isRefused = !pipe || pclose(pipe) != 0;
  std::remove(name);
  size_t code = said.find("(C75");
  if (isRefused || code == std::string::npos)
    return isRefused ? "ptxas refuses it: " + said : "";
  return "ptxas: " + said.substr(code, said.find('\n', code) - code);
}
} // namespace

std::string assemblersComplaint(ModuleOp module, bool disjoint, std::string &unsupported) {
  struct {
    const char *arch;
    bool boxes;
  } images[] = {{"sm_90a", true}, {"sm_90a", false}, {"sm_80", false}};
  bool hasBoxes = true;
  for (auto [arch, boxes] : images) {
    bool isSecond = !boxes && std::string_view(arch) == images[0].arch;
    if (isSecond && !hasBoxes)
      continue;
    OwningOpRef<ModuleOp> copy = module.clone();
    cuda::Options options;
    options.target = *cuda::targetNamed(arch);
    options.disjoint = disjoint;
    options.fpContract = false;
    options.boxes = boxes;
    FailureOr<Translation> compiled = cuda::compileModule(*copy, options);
    if (failed(compiled)) {
      unsupported = "the GPU cannot run it";
      return "";
    }
    if (std::string complaint = complaintOf(compiled->object, arch); !complaint.empty())
      return complaint + " (" + arch + (boxes ? ")" : ", without boxes)");
    hasBoxes = !compiled->kernels[0].gpu.maps.empty();
  }
  return "";
}

} // namespace tilery::fuzz
