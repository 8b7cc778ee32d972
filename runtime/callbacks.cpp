// What programs ask of the runtime: printing and assertions.
#include "runtime/callbacks.h"
#include "runtime/pool.h"
#include "runtime/print.h"

using namespace tilery;

void tilery_rt_print(const TileryLaunch *launch, int64_t pid, const char *prefix, uint32_t hex, uint32_t count,
                     const TileryPrinted *values) {
  writePrinted(printedTiles(*launch, pid, prefix, hex, {values, count}));
}

Diagnostic tilery::assertionFailure(const uint32_t grid[3], int64_t pid, const std::string &message,
                                    const SourceLocation &place) {
  Diagnostic diagnostic{
      Diagnostic::Kind::Assertion, message + " (program " + programName(grid, pid) + " of " + place.function + ")", "", {}};
  if (!place.file.empty())
    diagnostic.chain.push_back(place);
  return diagnostic;
}

void tilery_rt_assert(const TileryLaunch *launch, int64_t pid, const char *message, const char *file, uint32_t line,
                      uint32_t column) {
  Job &job = *static_cast<Job *>(launch->job);
  job.fail(assertionFailure(launch->grid, pid, message, {file ? file : "", int(line), int(column), job.kernel.info().name}));
}
