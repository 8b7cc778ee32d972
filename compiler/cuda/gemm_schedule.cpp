#include "compiler/cuda/gemm_schedule.h"
#include "tilery/diagnostic.h"
#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace tilery::cuda {

std::string GemmSchedule::print() const {
  std::ostringstream out;
  out << "consumers=" << consumers << " k=" << k << " stages=" << stages << " group=" << group << " stage_output=" << stageOutput;
  return out.str();
}

void GemmSchedule::override(const std::string &text) {
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    unsigned value = equals == std::string::npos ? 1 : unsigned(std::atoi(word.c_str() + equals + 1));
    if (name == "consumers")
      consumers = value;
    else if (name == "k")
      k = value;
    else if (name == "stages")
      stages = value;
    else if (name == "group")
      group = value;
    else if (name == "stage_output")
      stageOutput = value;
    else if (name == "general")
      general = value;
    else
      throw Error({Diagnostic::Kind::Value,
                   "a schedule has no field '" + name + "'",
                   "fields: consumers, k, stages, group, stage_output, general",
                   {}});
  }
}

unsigned sharedBytes(const GemmProblem &p, const GemmSchedule &s) {
  return 1024 + s.stages * (p.m + p.n) * s.k * p.elementBytes + (s.stageOutput ? p.m * p.n * p.outputBytes : 0);
}

GemmSchedule chooseSchedule(const GemmProblem &problem, const CudaTarget &target) {
  GemmSchedule schedule;
  schedule.consumers = std::clamp(problem.m / 64, 1u, 2u);
  schedule.k = 128 / problem.elementBytes; // a swizzled row of shared memory
  schedule.group = problem.reorder ? 8 : 1;
  schedule.stageOutput = problem.outputBytes != 0;
  schedule.stages = problem.stagesHint > 1 ? problem.stagesHint : 8;
  while (schedule.stages > 2 && sharedBytes(problem, schedule) > target.sharedBytes)
    --schedule.stages;
  if (const char *text = std::getenv("TILERY_SCHEDULE"))
    schedule.override(text);
  if (unsigned bytes = sharedBytes(problem, schedule); bytes > target.sharedBytes)
    throw Error({Diagnostic::Kind::Value,
                 "a matrix product of tiles " + std::to_string(problem.m) + "x" + std::to_string(problem.n) + " needs " +
                     std::to_string(bytes) + " bytes of shared memory, the device has " + std::to_string(target.sharedBytes),
                 "use a smaller tile or fewer stages",
                 {}});
  return schedule;
}

} // namespace tilery::cuda
