#include "compiler/targets/cuda/gemm_schedule.h"
#include "tilery/diagnostic.h"
#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace tilery::cuda {
namespace {
constexpr unsigned pieceBytes = 64 * 128;

struct Field {
  const char *name;
  unsigned GemmSchedule::*value;
};
constexpr Field fields[] = {{"consumers", &GemmSchedule::consumers},
                            {"k", &GemmSchedule::k},
                            {"stages", &GemmSchedule::stages},
                            {"group", &GemmSchedule::group},
                            {"stage_output", &GemmSchedule::stageOutput},
                            {"general", &GemmSchedule::general}};

[[noreturn]] void refuse(std::string message, std::string hint) {
  throw Error({Diagnostic::Kind::Value, std::move(message), std::move(hint), {}});
}

unsigned stagesThatFit(const GemmProblem &problem, GemmSchedule schedule, unsigned bytes) {
  schedule.stages = 0;
  unsigned fixed = sharedBytes(problem, schedule);
  return fixed < bytes ? (bytes - fixed) / stagePitch(problem, schedule) : 0;
}

/// Overrides may ask for what the emitter has no code for.
void check(const GemmProblem &problem, const GemmSchedule &schedule) {
  unsigned rows = problem.m / 64, held = schedule.stageOutput;
  if (schedule.consumers < 1 || schedule.consumers > 3 || rows % schedule.consumers)
    refuse("a tile of " + std::to_string(problem.m) + " rows cannot be shared by " + std::to_string(schedule.consumers) +
               " consumers",
           "each takes a multiple of 64 rows");
  if (schedule.k < 32 / problem.elementBytes || schedule.k > 128 / problem.elementBytes || problem.k % schedule.k ||
      (schedule.k & (schedule.k - 1)))
    refuse("a stage cannot be " + std::to_string(schedule.k) + " deep where a step is " + std::to_string(problem.k), "");
  if (schedule.stages < 2)
    refuse("a schedule needs two stages", "");
  unsigned pieces = outputPieces(problem, schedule);
  if (held && (!problem.outputBytes || (held != pieces && (held % 2 || pieces % held))))
    refuse("the result has " + std::to_string(pieces) + " pieces, which " + std::to_string(held) + " places cannot take",
           "all of them, or an even number that divides them");
}
} // namespace

std::string GemmSchedule::print() const {
  std::ostringstream out;
  for (const Field &field : fields)
    out << (&field == fields ? "" : " ") << field.name << "=" << this->*field.value;
  return out.str();
}

void GemmSchedule::override(const std::string &text) {
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    auto field = std::find_if(std::begin(fields), std::end(fields), [&](const Field &field) { return field.name == name; });
    if (field == std::end(fields))
      refuse("a schedule has no field '" + name + "'", "fields: consumers, k, stages, group, stage_output, general");
    this->*field->value = equals == std::string::npos ? 1 : unsigned(std::atoi(word.c_str() + equals + 1));
  }
}

unsigned outputPieces(const GemmProblem &p, const GemmSchedule &s) {
  return p.m / 64 / s.consumers * (p.n * p.outputBytes / 128);
}

unsigned stagePitch(const GemmProblem &p, const GemmSchedule &s) {
  return ((p.m + p.n) * s.k * p.elementBytes + 1023) / 1024 * 1024;
}

unsigned sharedBytes(const GemmProblem &p, const GemmSchedule &s) {
  return 1024 + s.stages * stagePitch(p, s) + s.consumers * s.stageOutput * pieceBytes;
}

GemmSchedule chooseSchedule(const GemmProblem &problem, const CudaTarget &target) {
  GemmSchedule schedule;
  schedule.consumers = problem.m % 128 ? problem.m / 64 : 2;
  schedule.k = std::min(problem.k, 128 / problem.elementBytes); // a swizzled row of shared memory
  schedule.group = problem.reorder ? 8 : 1;
  unsigned wanted = problem.stagesHint > 1 ? problem.stagesHint : 8;
  // The whole result beside four stages; else parts of it by turns, as many as leave four stages.
  schedule.stageOutput = problem.outputBytes ? outputPieces(problem, schedule) : 0;
  while (stagesThatFit(problem, schedule, target.sharedBytes) < std::min(wanted, 4u) && schedule.stageOutput % 4 == 0 &&
         schedule.stageOutput > 2)
    schedule.stageOutput /= 2;
  schedule.stages = std::clamp(stagesThatFit(problem, schedule, target.sharedBytes), 2u, wanted);
  if (const char *text = std::getenv("TILERY_SCHEDULE"))
    schedule.override(text);
  check(problem, schedule);
  if (unsigned bytes = sharedBytes(problem, schedule); bytes > target.sharedBytes)
    refuse("a matrix product of tiles " + std::to_string(problem.m) + "x" + std::to_string(problem.n) + " needs " +
               std::to_string(bytes) + " bytes of shared memory, the device has " + std::to_string(target.sharedBytes),
           "use a smaller tile or fewer stages");
  return schedule;
}

} // namespace tilery::cuda
